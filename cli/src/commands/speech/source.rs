//! Where samples come from: files of any rate and number of channels, the microphone, or stdin. Memory does not grow with
//! their length. Whoever takes them says whether more is wanted.

use std::io::Read;
use std::path::Path;

use tenpass_audio::{AudioError, Input, Resampler, SPEECH_RATE};

use crate::context::Context;
use crate::failure::Failure;

/// Bytes of 20 ms on stdin: short, so that an event is told when it happens.
const STDIN_BYTES: usize = 640;

/// Takes samples at 16 kHz; false when it has enough.
pub(super) type Sink<'a> = dyn FnMut(&[f32]) -> Result<bool, Failure> + 'a;

/// A file that is no sound.
fn unreadable(error: &AudioError) -> Failure {
    Failure::mistake(error).hint(error.hint())
}

/// Hands out a file's samples at 16 kHz, block after block.
pub(super) fn file(context: &Context, path: &Path, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let mut reader = tenpass_audio::open(path).map_err(|error| unreadable(&error))?;
    if !input(&mut reader, sink)? {
        return Err(Failure::mistake(format!("{}: there are no samples in it", path.display())));
    }
    if let Some(note) = reader.note() {
        context.printer.note(&format!("warning: {}: {note}", path.display()));
    }
    Ok(())
}

/// Hands out what the microphone hears, for as long as it is there and more is wanted. `piped` is the command that takes
/// the same from a pipe, for machines on which it cannot be opened.
pub(super) fn microphone(piped: &str, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let mut opened = tenpass_audio::microphone(None).map_err(|error| {
        let hint = format!("{}; or pipe it in: arecord -q -f S16_LE -r 16000 -c 1 | {piped}", error.hint());
        Failure::backend(&error).hint(hint)
    })?;
    input(&mut *opened, sink).map(drop)
}

/// Whether there was any sample.
fn input(input: &mut dyn Input, sink: &mut Sink<'_>) -> Result<bool, Failure> {
    let mut resampler = Resampler::new(input.rate(), SPEECH_RATE);
    let (mut block, mut samples, mut any) = (Vec::new(), Vec::new(), false);
    while input.next_block(&mut block).map_err(|error| unreadable(&error))? {
        any |= !block.is_empty();
        samples.clear();
        resampler.push(&block, &mut samples);
        if !sink(&samples)? {
            return Ok(any);
        }
    }
    samples.clear();
    resampler.finish(&mut samples);
    sink(&samples)?;
    Ok(any)
}

/// Hands out what comes on stdin, 16-bit little-endian samples at 16 kHz, until it ends.
pub(super) fn stdin(sink: &mut Sink<'_>) -> Result<(), Failure> {
    let mut input = std::io::stdin().lock();
    let (mut bytes, mut kept, mut samples) = ([0; STDIN_BYTES], 0, Vec::with_capacity(STDIN_BYTES / 2));
    loop {
        let count = match input.read(&mut bytes[kept..]) {
            Ok(0) => return Ok(()),
            Ok(count) => kept + count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::backend(format!("stdin: {error}"))),
        };
        let (pairs, half) = bytes[..count].as_chunks::<2>();
        samples.clear();
        samples.extend(pairs.iter().map(|pair| f32::from(i16::from_le_bytes(*pair)) / 32_768.0));
        // A pipe may end a read in the middle of a sample.
        kept = half.len();
        if kept == 1 {
            bytes[0] = bytes[count - 1];
        }
        if !sink(&samples)? {
            return Ok(());
        }
    }
}

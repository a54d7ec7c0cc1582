//! Sound files: reading whole and by block, writing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::flac::{Flac, encoded};
use crate::wav::{Problem, Wav};
use crate::{Audio, AudioError};

/// Samples that are read into memory as a whole: 1 GiB of `f32`, over four hours at 16 kHz.
const MOST_SAMPLES: usize = 1 << 28;

/// A WAV or FLAC file that is read by block, as one channel at the file's own rate.
///
/// Memory does not grow with the file: a block is at most 8,192 samples of a WAV, and one frame of a FLAC
/// (at most 65,535 samples).
#[derive(Debug)]
pub struct WavReader {
    path: PathBuf,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Wav(Wav<File>),
    Flac(Box<Flac>),
}

/// Opens a WAV or FLAC file; which it is, its first bytes say.
pub fn open(path: &Path) -> Result<WavReader, AudioError> {
    let failed = |source| AudioError::File { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(AudioError::Format { path: path.to_owned(), problem: "is no file".to_owned() });
    }
    let mut magic = [0; 4];
    let count = file.read(&mut magic).map_err(failed)?;
    if count == 0 {
        return Err(AudioError::Format { path: path.to_owned(), problem: "is empty".to_owned() });
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let form = if &magic == b"fLaC" {
        Flac::new(file).map(|flac| Form::Flac(Box::new(flac)))
    } else {
        Wav::new(file).map(Form::Wav)
    };
    let form = form.map_err(|problem| named(path, problem))?;
    Ok(WavReader { path: path.to_owned(), form })
}

fn named(path: &Path, problem: Problem) -> AudioError {
    match problem {
        Problem::Content(problem) => AudioError::Format { path: path.to_owned(), problem },
        Problem::Reading(source) => AudioError::File { path: path.to_owned(), source },
    }
}

impl WavReader {
    /// As [`open`].
    pub fn open(path: &Path) -> Result<Self, AudioError> {
        open(path)
    }

    /// Samples a second.
    pub fn rate(&self) -> u32 {
        match &self.form {
            Form::Wav(wav) => wav.rate,
            Form::Flac(flac) => flac.rate,
        }
    }

    /// Channels of the file; what is read is their mean.
    pub fn channels(&self) -> usize {
        match &self.form {
            Form::Wav(wav) => wav.channels,
            Form::Flac(flac) => flac.channels,
        }
    }

    /// How many samples are to come in all, where that is known before.
    pub fn frames(&self) -> Option<u64> {
        match &self.form {
            Form::Wav(wav) => Some(wav.frames),
            Form::Flac(flac) => flac.frames,
        }
    }

    /// Replaces the buffer's contents by the next block; false at the end, with an empty buffer.
    pub fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<bool, AudioError> {
        samples.clear();
        let more = match &mut self.form {
            Form::Wav(wav) => wav.next_block(samples).map_err(Problem::from),
            Form::Flac(flac) => flac.next_block(samples),
        };
        more.map_err(|problem| named(&self.path, problem))
    }

    /// What is odd about the file although it could be read: it ended before its header said so, or had
    /// samples that are no numbers. Complete after the last block.
    pub fn note(&self) -> Option<&str> {
        match &self.form {
            Form::Wav(wav) => wav.note.as_deref(),
            Form::Flac(flac) => flac.note.as_deref(),
        }
    }
}

/// Reads a whole WAV or FLAC file. A file that ends before its header says so gives what is there: see [`read_noted`].
pub fn read(path: &Path) -> Result<Audio, AudioError> {
    read_noted(path).map(|(audio, _)| audio)
}

/// As [`read`], with what is odd about the file, as `PATH: …`.
pub fn read_noted(path: &Path) -> Result<(Audio, Option<String>), AudioError> {
    let mut reader = open(path)?;
    let wrong = |problem: String| AudioError::Format { path: path.to_owned(), problem };
    // What a FLAC header promises is nobody's word; a WAV's number was held against the file.
    let expected = reader.frames().unwrap_or(0).min(1 << 20) as usize;
    let (mut samples, mut block) = (Vec::with_capacity(expected), Vec::new());
    while reader.next_block(&mut block)? {
        if samples.len() + block.len() > MOST_SAMPLES {
            let seconds = MOST_SAMPLES / reader.rate() as usize;
            return Err(wrong(format!("is longer than {seconds} s, too long to be read as a whole")));
        }
        samples.extend_from_slice(&block);
    }
    if samples.is_empty() {
        return Err(wrong("holds no sound: it has no samples".to_owned()));
    }
    let note = reader.note().map(|note| format!("{}: {note}", path.display()));
    Ok((Audio::new(samples, reader.rate()), note))
}

/// A whole WAV file: one channel of 16 bits.
pub fn wav_bytes(audio: &Audio) -> Result<Vec<u8>, AudioError> {
    let too_long = || AudioError::Unusable("the sound is too long for a WAV file (4 GB)".to_owned());
    let size = u32::try_from(audio.samples.len()).ok().and_then(|count| count.checked_mul(2)).ok_or_else(too_long)?;
    let riff = size.checked_add(36).ok_or_else(too_long)?;
    let mut bytes = Vec::with_capacity(audio.samples.len() * 2 + 44);
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&riff.to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend_from_slice(&audio.rate.to_le_bytes());
    bytes.extend_from_slice(&audio.rate.saturating_mul(2).to_le_bytes());
    bytes.extend_from_slice(b"\x02\0\x10\0data");
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend(audio.to_i16().into_iter().flat_map(i16::to_le_bytes));
    Ok(bytes)
}

/// A whole FLAC file: one channel of 16 bits.
pub fn flac_bytes(audio: &Audio) -> Result<Vec<u8>, AudioError> {
    encoded(audio).map_err(AudioError::Unusable)
}

/// Writes a WAV file of 16 bits: whoever looks finds the old file or the whole new one.
pub fn write_wav(path: &Path, audio: &Audio) -> Result<(), AudioError> {
    replace(path, &wav_bytes(audio)?)
}

/// Writes a FLAC file of 16 bits: whoever looks finds the old file or the whole new one.
pub fn write_flac(path: &Path, audio: &Audio) -> Result<(), AudioError> {
    replace(path, &flac_bytes(audio)?)
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), AudioError> {
    let failed = |source| AudioError::File { path: path.to_owned(), source };
    let name = path.file_name().ok_or_else(|| failed(io::Error::other("is no file name")))?;
    let partial = path.with_file_name(format!("{}.{}.partial", name.to_string_lossy(), std::process::id()));
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written.map_err(failed)
}

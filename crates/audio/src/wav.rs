//! WAV (RIFF and RF64) by block: the header is checked against the file, the samples become one channel.
//!
//! Integer PCM of 8, 16, 24 and 32 bits and IEEE float of 32 and 64 bits, plain or `EXTENSIBLE`. Nothing is
//! allocated by what a header says; a file that ends before its header says so gives what is there and a note.
//! Source: Microsoft's "Multiple Channel Audio Data and WAVE Files", EBU Tech 3306 for RF64.

use std::io::{self, Read, Seek, SeekFrom};

/// Samples a second that a file may have.
pub(crate) const RATES: std::ops::RangeInclusive<u32> = 1_000..=384_000;
/// Channels that a file may have.
const MOST_CHANNELS: u16 = 64;
/// Frames of one block.
pub(crate) const BLOCK: usize = 8_192;
/// Chunks in front of the samples that are looked at.
const MOST_CHUNKS: usize = 1_000;
/// Lengths from here on are what writers to a pipe put for "unknown" (espeak-ng, sox, ffmpeg).
const UNKNOWN: u64 = 0x7fff_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Unsigned8,
    Signed16,
    Signed24,
    Signed32,
    Float32,
    Float64,
}

impl Coding {
    fn bytes(self) -> usize {
        match self {
            Self::Unsigned8 => 1,
            Self::Signed16 => 2,
            Self::Signed24 => 3,
            Self::Signed32 | Self::Float32 => 4,
            Self::Float64 => 8,
        }
    }

    /// One sample of exactly [`Self::bytes`] bytes.
    fn value(self, bytes: &[u8]) -> f32 {
        match (self, bytes) {
            (Self::Unsigned8, [a]) => (f32::from(*a) - 128.0) / 128.0,
            (Self::Signed16, [a, b]) => f32::from(i16::from_le_bytes([*a, *b])) / 32_768.0,
            (Self::Signed24, [a, b, c]) => (i32::from_le_bytes([0, *a, *b, *c]) >> 8) as f32 / 8_388_608.0,
            (Self::Signed32, [a, b, c, d]) => i32::from_le_bytes([*a, *b, *c, *d]) as f32 / 2_147_483_648.0,
            (Self::Float32, [a, b, c, d]) => f32::from_le_bytes([*a, *b, *c, *d]),
            (Self::Float64, bytes) => bytes.try_into().map_or(0.0, |eight| f64::from_le_bytes(eight) as f32),
            _ => 0.0,
        }
    }
}

/// A WAV file that is being read.
#[derive(Debug)]
pub(crate) struct Wav<R> {
    source: R,
    coding: Coding,
    pub(crate) channels: usize,
    pub(crate) rate: u32,
    /// Bytes of samples that the file holds and that were not read yet.
    left: u64,
    /// Frames that the file holds.
    pub(crate) frames: u64,
    /// What is odd about it.
    pub(crate) note: Option<String>,
    not_numbers: u64,
    bytes: Vec<u8>,
}

struct Format {
    coding: Coding,
    channels: u16,
    rate: u32,
}

impl<R: Read + Seek> Wav<R> {
    /// Reads the header; `Err(Ok(text))` says what is wrong with the file.
    pub(crate) fn new(mut source: R) -> Result<Self, Problem> {
        let end = source.seek(SeekFrom::End(0))?;
        source.seek(SeekFrom::Start(0))?;
        let mut riff = [0; 12];
        fill(&mut source, &mut riff)?.then_some(()).ok_or("is shorter than a WAV header")?;
        let [wide, riff_size] = match &riff[..4] {
            b"RIFF" => [0, le32(&riff[4..8])],
            b"RF64" | b"BW64" => [1, u64::MAX],
            b"RIFX" => return Err("is a big-endian WAV (RIFX)".into()),
            _ => return Err("is neither WAV nor FLAC".into()),
        };
        if &riff[8..] != b"WAVE" {
            return Err("is a RIFF file, but no WAV".into());
        }
        let (mut format, mut wide_size) = (None, None);
        for _ in 0..MOST_CHUNKS {
            let mut head = [0; 8];
            if !fill(&mut source, &mut head)? {
                break;
            }
            let size = le32(&head[4..]);
            match &head[..4] {
                b"fmt " => format = Some(read_format(&mut source, size)?),
                b"ds64" if wide == 1 && size >= 16 => {
                    let mut sizes = [0; 16];
                    fill(&mut source, &mut sizes)?.then_some(()).ok_or("ends inside its header")?;
                    wide_size = Some(le32(&sizes[8..12]) | (le32(&sizes[12..]) << 32));
                    skip(&mut source, size - 16)?;
                }
                b"data" => {
                    let format = format.ok_or("has samples before it says what form they have (no fmt chunk)")?;
                    let size = if size == 0xffff_ffff { wide_size.unwrap_or(size) } else { size };
                    // A pipe's writer knows neither length.
                    let size = if size == 0 && (riff_size == 0 || riff_size >= UNKNOWN) { u64::MAX } else { size };
                    return Self::at_data(source, &format, size, end, wide_size.is_some());
                }
                _ => skip(&mut source, size)?,
            }
        }
        Err(if format.is_some() { "has no samples (no data chunk)" } else { "has no fmt chunk" }.into())
    }

    fn at_data(mut source: R, format: &Format, size: u64, end: u64, exact: bool) -> Result<Self, Problem> {
        let there = end.saturating_sub(source.stream_position()?);
        let frame = u64::from(format.channels) * format.coding.bytes() as u64;
        let left = size.min(there) / frame * frame;
        let note = (size > there && (exact || size < UNKNOWN)).then(|| {
            let seconds = |bytes: u64| bytes as f64 / frame as f64 / f64::from(format.rate);
            format!("ends after {:.3} s; its header promises {:.3} s", seconds(left), seconds(size))
        });
        Ok(Self {
            source,
            coding: format.coding,
            channels: usize::from(format.channels),
            rate: format.rate,
            left,
            frames: left / frame,
            note,
            not_numbers: 0,
            bytes: Vec::new(),
        })
    }

    /// Appends the next frames, at most [`BLOCK`], as one channel; false at the end.
    pub(crate) fn next_block(&mut self, samples: &mut Vec<f32>) -> io::Result<bool> {
        let width = self.coding.bytes();
        let frame = width * self.channels;
        let wanted = self.left.min((BLOCK * frame) as u64) as usize;
        self.bytes.resize(wanted, 0);
        let mut got = 0;
        while got < wanted {
            match self.source.read(&mut self.bytes[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if got < wanted && self.note.is_none() {
            // Somebody cut the file while it was read.
            self.note = Some("ended while it was read".to_owned());
        }
        self.left = if got < wanted { 0 } else { self.left - wanted as u64 };
        let mut not_numbers = 0;
        let scale = 1.0 / self.channels as f32;
        samples.extend(self.bytes[..got].chunks_exact(frame).map(|frame| {
            let sum: f32 = frame.chunks_exact(width).map(|bytes| self.coding.value(bytes)).sum();
            let mean = sum * scale;
            not_numbers += u64::from(!mean.is_finite());
            if mean.is_finite() { mean } else { 0.0 }
        }));
        if not_numbers > 0 {
            self.not_numbers += not_numbers;
            self.note = Some(format!("{} of its samples are no numbers and were read as silence", self.not_numbers));
        }
        Ok(got >= frame)
    }
}

/// What went wrong: with the file's contents, or with reading it.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The contents.
    Content(String),
    /// Reading.
    Reading(io::Error),
}

impl From<&str> for Problem {
    fn from(text: &str) -> Self {
        Self::Content(text.to_owned())
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Reading(error)
    }
}

fn read_format(source: &mut (impl Read + Seek), size: u64) -> Result<Format, Problem> {
    if size < 16 {
        return Err("has a fmt chunk that is too short".into());
    }
    let mut head = [0; 40];
    let known = size.min(40) as usize;
    fill(source, &mut head[..known])?.then_some(()).ok_or("ends inside its header")?;
    skip(source, size - known as u64)?;
    let le16 = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let (mut tag, channels, bits, align) = (le16(0), le16(2), le16(14), le16(12));
    let rate = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if tag == 0xfffe && known >= 26 {
        tag = le16(24);
    }
    let coding = match (tag, bits) {
        (1, 8) => Coding::Unsigned8,
        (1, 16) => Coding::Signed16,
        (1, 24) => Coding::Signed24,
        (1, 32) => Coding::Signed32,
        (3, 32) => Coding::Float32,
        (3, 64) => Coding::Float64,
        (1 | 3, bits) => return Err(Problem::Content(format!("has samples of {bits} bits"))),
        (6 | 7, _) => return Err("is coded as A-law or µ-law, which is not read".into()),
        (tag, _) => {
            return Err(Problem::Content(format!("is coded in form {tag}, which is not read (PCM and float are)")));
        }
    };
    if channels == 0 || channels > MOST_CHANNELS {
        return Err(Problem::Content(format!("has {channels} channels; 1 to {MOST_CHANNELS} are read")));
    }
    if !RATES.contains(&rate) {
        return Err(Problem::Content(format!(
            "has {rate} samples a second; {} to {} are read",
            RATES.start(),
            RATES.end()
        )));
    }
    let frame = usize::from(channels) * coding.bytes();
    if usize::from(align) != frame {
        return Err(Problem::Content(format!(
            "contradicts itself: {channels} channels of {bits} bits in {align} bytes"
        )));
    }
    Ok(Format { coding, channels, rate })
}

/// Fills the buffer; false if the file ends before.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Skips a chunk's rest and its padding to an even length.
fn skip(source: &mut impl Seek, size: u64) -> io::Result<()> {
    source.seek_relative((size + size % 2).try_into().unwrap_or(i64::MAX))
}

fn le32(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

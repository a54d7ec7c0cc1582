//! FLAC: reading by block through symphonia, writing 16 bits through flacenc.
//!
//! What is read is held against the file's own length and checksum (MD5 of the samples).

use std::fs::File;
use std::io;

use flacenc::component::BitRepr;
use flacenc::error::Verify;
use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::default::codecs::FlacDecoder;
use symphonia::default::formats::FlacReader;

use crate::Audio;
use crate::wav::{Problem, RATES};

/// Samples of one frame when writing.
const FRAME: usize = 4_096;
/// The highest rate that is written.
const HIGHEST_RATE: u32 = 96_000;

/// A FLAC file that is being read.
pub(crate) struct Flac {
    format: FlacReader<'static>,
    decoder: FlacDecoder,
    pub(crate) channels: usize,
    pub(crate) rate: u32,
    /// Frames that the header promises.
    pub(crate) frames: Option<u64>,
    read: u64,
    ended: bool,
    pub(crate) note: Option<String>,
    interleaved: Vec<f32>,
}

impl std::fmt::Debug for Flac {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flac").field("rate", &self.rate).field("read", &self.read).finish_non_exhaustive()
    }
}

fn problem(error: &Error) -> Problem {
    match error {
        Error::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => "ends inside its header".into(),
        Error::IoError(error) => Problem::Reading(io::Error::new(error.kind(), error.to_string())),
        other => Problem::Content(format!("is no FLAC that can be read: {other}")),
    }
}

impl Flac {
    pub(crate) fn new(file: File) -> Result<Self, Problem> {
        let stream = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
        let format = FlacReader::try_new(stream, FormatOptions::default()).map_err(|error| problem(&error))?;
        let track = format.tracks().first().ok_or("has no sound in it")?;
        let frames = track.num_frames;
        let parameters: AudioCodecParameters =
            track.codec_params.as_ref().and_then(|parameters| parameters.audio()).ok_or("has no sound in it")?.clone();
        let rate = parameters.sample_rate.unwrap_or(0);
        if !RATES.contains(&rate) {
            return Err(Problem::Content(format!(
                "has {rate} samples a second; {} to {} are read",
                RATES.start(),
                RATES.end()
            )));
        }
        let channels = parameters.channels.as_ref().map_or(1, Channels::count).max(1);
        let options = AudioDecoderOptions::default().verify(true);
        let decoder = FlacDecoder::try_new(&parameters, &options).map_err(|error| problem(&error))?;
        Ok(Self { format, decoder, channels, rate, frames, read: 0, ended: false, note: None, interleaved: Vec::new() })
    }

    /// Appends the next frame of the file as one channel; false at the end.
    pub(crate) fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<bool, Problem> {
        if self.ended {
            return Ok(false);
        }
        let packet = match self.format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => return self.end(),
            Err(Error::IoError(error)) if error.kind() == io::ErrorKind::UnexpectedEof => return self.end(),
            Err(error) => return Err(problem(&error)),
        };
        let decoded = match self.decoder.decode(&packet) {
            Ok(decoded) => decoded,
            Err(Error::IoError(error)) if error.kind() == io::ErrorKind::UnexpectedEof => return self.end(),
            Err(error) => {
                let at = self.read as f64 / f64::from(self.rate);
                return Err(Problem::Content(format!("is damaged at {at:.3} s: {error}")));
            }
        };
        let channels = decoded.spec().channels().count().max(1);
        self.interleaved.resize(decoded.samples_interleaved(), 0.0);
        decoded.copy_to_slice_interleaved(&mut self.interleaved);
        let scale = 1.0 / channels as f32;
        samples.extend(self.interleaved.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() * scale));
        self.read += (self.interleaved.len() / channels) as u64;
        Ok(true)
    }

    fn end(&mut self) -> Result<bool, Problem> {
        self.ended = true;
        let seconds = |frames: u64| frames as f64 / f64::from(self.rate);
        match self.frames {
            Some(frames) if frames > self.read => {
                self.note = Some(format!(
                    "ends after {:.3} s; its header promises {:.3} s",
                    seconds(self.read),
                    seconds(frames)
                ));
            }
            _ if self.decoder.finalize().verify_ok == Some(false) => {
                return Err("is damaged: its samples do not have the checksum that its header names".into());
            }
            _ => {}
        }
        Ok(false)
    }
}

/// A whole FLAC file: one channel of 16 bits.
pub(crate) fn encoded(audio: &Audio) -> Result<Vec<u8>, String> {
    if audio.rate == 0 || audio.rate > HIGHEST_RATE {
        return Err(format!("FLAC is written with 1 to {HIGHEST_RATE} samples a second, not {}", audio.rate));
    }
    let samples: Vec<i32> = audio.to_i16().into_iter().map(i32::from).collect();
    let config = flacenc::config::Encoder::default();
    let config = config.into_verified().map_err(|(_, error)| format!("the encoder refuses its settings: {error}"))?;
    let source = flacenc::source::MemSource::from_samples(&samples, 1, 16, audio.rate as usize);
    let mut stream = flacenc::encode_with_fixed_block_size(&config, source, FRAME)
        .map_err(|error| format!("the encoder failed: {error}"))?;
    // A short last frame is no smaller block size: the format excepts it.
    let sizes = stream.stream_info_mut().set_block_sizes(FRAME, FRAME);
    sizes.map_err(|error| format!("the encoder failed: {error}"))?;
    let mut sink = flacenc::bitsink::ByteSink::new();
    stream.write(&mut sink).map_err(|error| format!("the encoder failed: {error}"))?;
    Ok(sink.into_inner())
}

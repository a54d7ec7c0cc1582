//! Sound files as streams at 16 kHz.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use tenpass_audio::{AudioError, Resampler, SPEECH_RATE, WavReader};
use tenpass_stt::{Sound, SttError};

use crate::failure::Failure;

/// Most that stdin may hold: about ten hours of 16 kHz, 16 bits.
const MOST_STDIN: u64 = 1 << 30;

/// A file that is read by block.
pub(super) struct SoundFile {
    reader: WavReader,
    resampler: Resampler,
    block: Vec<f32>,
    ended: bool,
    /// What was read from stdin; it is deleted with this.
    _spooled: Option<tempfile::TempPath>,
}

impl SoundFile {
    /// Opens a file, or what stdin holds for `-`.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let spooled = if path == Path::new("-") { Some(spool()?) } else { None };
        let from: PathBuf = spooled.as_ref().map_or_else(|| path.to_owned(), |file| file.to_path_buf());
        let reader = WavReader::open(&from).map_err(|error| audio_failure(&error, path))?;
        let resampler = Resampler::new(reader.rate(), SPEECH_RATE);
        Ok(Self { reader, resampler, block: Vec::new(), ended: false, _spooled: spooled })
    }

    /// What is odd about a file that could be read.
    pub(super) fn note(&self) -> Option<&str> {
        self.reader.note()
    }
}

impl Sound for SoundFile {
    fn next_block(&mut self, into: &mut Vec<f32>) -> Result<bool, SttError> {
        if self.ended {
            return Ok(false);
        }
        if self.reader.next_block(&mut self.block).map_err(|error| SttError::Input(error.to_string()))? {
            self.resampler.push(&self.block, into);
        } else {
            self.resampler.finish(into);
            self.ended = true;
        }
        Ok(!self.ended)
    }
}

/// A reader seeks, and stdin cannot.
fn spool() -> Result<tempfile::TempPath, Failure> {
    let failed = |error: std::io::Error| Failure::file(Path::new("-"), &error);
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    let count = std::io::copy(&mut std::io::stdin().lock().take(MOST_STDIN + 1), &mut file).map_err(failed)?;
    if count > MOST_STDIN {
        return Err(Failure::mistake("-: more than 1 GiB came from stdin").hint("write it to a file and name that"));
    }
    file.flush().map_err(failed)?;
    Ok(file.into_temp_path())
}

/// An error about a file, under the name that was typed.
fn audio_failure(error: &AudioError, typed: &Path) -> Failure {
    let message = match error {
        AudioError::Format { problem, .. } => format!("{}: {problem}", typed.display()),
        other => other.to_string(),
    };
    Failure::mistake(message).hint(error.hint())
}

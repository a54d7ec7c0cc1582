//! flite, run as a program. It cannot write to a pipe (it goes back to fill in the header), so that text and
//! sound go through a temporary folder.

use std::path::PathBuf;
use std::time::Duration;

use tenpass_audio::Audio;

use super::{process, wav};
use crate::{Cancel, FLITE_VOICES, Files, SpeakOptions, TtsError, Voice, VoiceInfo, VoiceSpec};

const INSTALL: &str = "install flite, for example `apt install flite` or `brew install flite`";

/// The program with a voice.
pub(crate) struct Flite {
    program: PathBuf,
    voice: String,
    timeout: Duration,
    info: VoiceInfo,
}

impl Flite {
    /// Checks that the program has this voice: it would take another one without a word.
    pub(crate) fn open(voice: &str, files: &Files) -> Result<Self, TtsError> {
        if !voices(files)?.iter().any(|known| known == voice) {
            return Err(TtsError::Spec(format!("this flite has no voice `{voice}`; `flite -lv` lists them")));
        }
        Ok(Self { program: files.flite.clone(), voice: voice.to_owned(), timeout: files.timeout, info: info(voice) })
    }
}

fn info(voice: &str) -> VoiceInfo {
    VoiceInfo {
        spec: VoiceSpec::Flite { voice: voice.to_owned() }.to_string(),
        engine: "flite".to_owned(),
        language: "en".to_owned(),
        rate: if voice == "kal" { 8_000 } else { 16_000 },
        natural: false,
    }
}

fn voices(files: &Files) -> Result<Vec<String>, TtsError> {
    let arguments = ["-lv".to_owned()];
    let call = process::Call {
        engine: "flite",
        program: &files.flite,
        arguments: &arguments,
        stdin: b"",
        timeout: files.timeout,
        install: INSTALL,
    };
    let listed = process::run(&call, &Cancel::new())?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let names = listed.split_once(':').map_or("", |(_, names)| names);
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

/// The voices of this machine's program.
pub(crate) fn present(files: &Files) -> Vec<VoiceInfo> {
    let found = voices(files).unwrap_or_default();
    FLITE_VOICES.iter().filter(|voice| found.iter().any(|known| known == *voice)).map(|voice| info(voice)).collect()
}

impl Voice for Flite {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
        let engine = |problem: String| TtsError::Engine { engine: "flite".to_owned(), problem };
        let folder = tempfile::tempdir().map_err(|error| engine(format!("no temporary folder: {error}")))?;
        let (input, output) = (folder.path().join("text.txt"), folder.path().join("sound.wav"));
        std::fs::write(&input, text).map_err(|error| engine(format!("the text cannot be handed over: {error}")))?;
        let stretch = 1.0 / options.checked_speed()?;
        let arguments = [
            "-voice",
            &self.voice,
            "--setf",
            &format!("duration_stretch={stretch:.3}"),
            "-f",
            &input.to_string_lossy(),
            "-o",
            &output.to_string_lossy(),
        ]
        .map(str::to_owned);
        let call = process::Call {
            engine: "flite",
            program: &self.program,
            arguments: &arguments,
            stdin: b"",
            timeout: self.timeout,
            install: INSTALL,
        };
        process::run(&call, cancel)?;
        let bytes = std::fs::read(&output).map_err(|error| engine(format!("it wrote no sound: {error}")))?;
        wav::read(&bytes).map_err(engine)
    }
}

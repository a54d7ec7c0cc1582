//! espeak-ng, the voice of last resort and the source of phonemes for the others.
//!
//! It is run as a program and never linked (GPL-3). Options: `-v LANGUAGE+VARIANT`, `-s` words a minute
//! (175 is normal), `-p` 0 to 99, where the pitch is multiplied by 2^((p − 50) / 50).

use std::path::PathBuf;
use std::time::Duration;

use tenpass_audio::Audio;

use super::{process, wav};
use crate::{Cancel, Files, SpeakOptions, TtsError, Voice, VoiceInfo, VoiceSpec};

/// Samples a second of what it speaks.
pub(crate) const RATE: u32 = 22_050;
/// How it is installed.
pub(crate) const INSTALL: &str = "install espeak-ng, for example `apt install espeak-ng` or `brew install espeak-ng`";

/// The program with a voice.
pub(crate) struct Espeak {
    program: PathBuf,
    voice: String,
    timeout: Duration,
    info: VoiceInfo,
}

impl Espeak {
    /// Checks that the program is there and knows the language.
    pub(crate) fn open(language: &str, variant: Option<&str>, files: &Files) -> Result<Self, TtsError> {
        let spec = VoiceSpec::Espeak { language: language.to_owned(), variant: variant.map(str::to_owned) };
        // The program speaks on with its usual voice when it does not know a variant.
        if let Some(variant) = variant
            && !variants(files)?.iter().any(|known| known == variant)
        {
            return Err(TtsError::Spec(format!(
                "espeak-ng has no variant `{variant}`; `espeak-ng --voices=variant` lists them"
            )));
        }
        let espeak = Self {
            program: files.espeak_ng.clone(),
            voice: spec.to_string().trim_start_matches("espeak:").to_owned(),
            timeout: files.timeout,
            info: info(&spec, language),
        };
        let probe =
            [&["-q".to_owned(), "-v".to_owned(), language.to_owned()][..], &["--stdin".to_owned()][..]].concat();
        espeak.call(&probe, "a", &Cancel::new()).map_err(|error| match error {
            TtsError::Engine { .. } => {
                TtsError::Spec(format!("espeak-ng has no language `{language}`; `espeak-ng --voices` lists them"))
            }
            other => other,
        })?;
        Ok(espeak)
    }

    fn call(&self, arguments: &[String], text: &str, cancel: &Cancel) -> Result<Vec<u8>, TtsError> {
        call(&self.program, self.timeout, arguments, text, cancel)
    }
}

fn call(
    program: &std::path::Path,
    timeout: Duration,
    arguments: &[String],
    text: &str,
    cancel: &Cancel,
) -> Result<Vec<u8>, TtsError> {
    let call =
        process::Call { engine: "espeak-ng", program, arguments, stdin: text.as_bytes(), timeout, install: INSTALL };
    process::run(&call, cancel)
}

fn info(spec: &VoiceSpec, language: &str) -> VoiceInfo {
    VoiceInfo {
        spec: spec.to_string(),
        engine: "espeak".to_owned(),
        language: language.split('-').next().unwrap_or(language).to_owned(),
        rate: RATE,
        natural: false,
    }
}

/// The variants that this machine's program has; asked once per program.
pub(crate) fn variants(files: &Files) -> Result<Vec<String>, TtsError> {
    let listed = call(&files.espeak_ng, files.timeout, &["--voices=variant".to_owned()], "", &Cancel::new())?;
    let listed = String::from_utf8_lossy(&listed);
    let mut found: Vec<String> =
        listed.split_whitespace().filter_map(|word| word.strip_prefix("!v/")).map(str::to_owned).collect();
    found.sort();
    Ok(found)
}

impl Voice for Espeak {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
        let words_per_minute = (175.0 * options.checked_speed()?).round().clamp(80.0, 450.0);
        let pitch = (50.0 + 50.0 * options.pitch_semitones / 12.0).round().clamp(0.0, 99.0);
        let arguments = [
            "-v",
            &self.voice,
            "-s",
            &format!("{words_per_minute:.0}"),
            "-p",
            &format!("{pitch:.0}"),
            "-b",
            "1",
            "--stdin",
            "--stdout",
        ]
        .map(str::to_owned);
        let printed = self.call(&arguments, text, cancel)?;
        wav::read(&printed).map_err(|problem| TtsError::Engine { engine: "espeak-ng".to_owned(), problem })
    }
}

/// What [`Espeak`] can speak in English and French, for lists: the plain voices and every variant.
pub(crate) fn present(files: &Files) -> Vec<VoiceInfo> {
    let Ok(variants) = variants(files) else { return Vec::new() };
    let mut found = Vec::new();
    for language in ["en-us", "en-gb", "fr-fr", "fr-be"] {
        let plain = VoiceSpec::Espeak { language: language.to_owned(), variant: None };
        found.push(info(&plain, language));
        for variant in &variants {
            let spec = VoiceSpec::Espeak { language: language.to_owned(), variant: Some(variant.clone()) };
            found.push(info(&spec, language));
        }
    }
    found
}

//! The SPEC of a voice: `ENGINE:NAME`, as typed and as printed.

use std::fmt;
use std::str::FromStr;

use crate::TtsError;
use crate::engine::blend::Blend;

/// Which engine speaks, with which of its voices.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VoiceSpec {
    /// The program espeak-ng: `espeak:fr-fr+f2`.
    Espeak {
        /// Its language, such as `en-us` or `fr-fr`.
        language: String,
        /// One of its variants, such as `f2` or `whisper`.
        variant: Option<String>,
    },
    /// The program flite: `flite:slt`.
    Flite {
        /// One of its voices.
        voice: String,
    },
    /// A Piper voice on ONNX Runtime: `piper:piper-joe`, `piper:/path/to/voice.onnx#3`.
    Piper {
        /// A name of the catalogue, or the path of an `.onnx` file with its `.onnx.json` beside it.
        model: String,
        /// The speaker of a voice with several, by name or number.
        speaker: Option<String>,
    },
    /// Kokoro on ONNX Runtime: `kokoro:ff_siwis`, or a blend `kokoro:af_bella~60+bm_george~40@fr-fr`.
    Kokoro {
        /// One of its style files, without `.bin`, or several with shares, and perhaps a language.
        voice: String,
    },
    /// The paid service ElevenLabs: `elevenlabs:VOICE_ID`.
    ElevenLabs {
        /// The identifier of the voice.
        voice: String,
    },
}

/// The engines, as a SPEC names them.
pub const ENGINES: &[&str] = &["espeak", "flite", "piper", "kokoro", "elevenlabs"];

/// The voices that flite is built with.
pub const FLITE_VOICES: &[&str] = &["kal", "awb", "rms", "slt", "kal16"];

impl VoiceSpec {
    /// Reads a SPEC. A mistake is told with what could be meant.
    pub fn parse(text: &str) -> Result<Self, TtsError> {
        let (engine, name) = match text.split_once(':') {
            Some((engine, name)) => (engine, name.trim()),
            None => (text.trim(), ""),
        };
        match engine.trim().to_lowercase().as_str() {
            "espeak" | "espeak-ng" => espeak(text, name),
            "flite" => flite(name),
            "piper" => piper(text, name),
            "kokoro" => {
                let voice = if name.is_empty() { "af_heart" } else { name };
                Blend::parse(voice)?;
                Ok(Self::Kokoro { voice: voice.to_owned() })
            }
            "elevenlabs" if name.is_empty() => {
                Err(TtsError::Spec("elevenlabs wants the identifier of a voice: elevenlabs:VOICE_ID".to_owned()))
            }
            "elevenlabs" => Ok(Self::ElevenLabs { voice: word(text, name)? }),
            _ => Err(TtsError::Spec(format!(
                "`{text}` is no voice: a voice is ENGINE:NAME, with one of the engines {}",
                ENGINES.join(", ")
            ))),
        }
    }

    /// The engine's name.
    pub fn engine(&self) -> &'static str {
        match self {
            Self::Espeak { .. } => "espeak",
            Self::Flite { .. } => "flite",
            Self::Piper { .. } => "piper",
            Self::Kokoro { .. } => "kokoro",
            Self::ElevenLabs { .. } => "elevenlabs",
        }
    }
}

/// A name that is handed to a program or put into an address: letters, digits, `-` and `_`.
fn word(text: &str, name: &str) -> Result<String, TtsError> {
    let good = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    if name.is_empty() || name.len() > 64 || name.starts_with('-') || !name.chars().all(good) {
        return Err(TtsError::Spec(format!("`{text}`: `{name}` is no name of a voice")));
    }
    Ok(name.to_owned())
}

fn espeak(text: &str, name: &str) -> Result<VoiceSpec, TtsError> {
    let (language, variant) = match name.split_once('+') {
        Some((language, variant)) => (language, Some(word(text, variant)?)),
        None => (name, None),
    };
    let language = if language.is_empty() { "en-us" } else { language };
    Ok(VoiceSpec::Espeak { language: word(text, language)?, variant })
}

fn flite(name: &str) -> Result<VoiceSpec, TtsError> {
    let name = if name.is_empty() { "slt" } else { name };
    if FLITE_VOICES.contains(&name) {
        return Ok(VoiceSpec::Flite { voice: name.to_owned() });
    }
    Err(TtsError::Spec(format!("flite has no voice `{name}`, only {}", FLITE_VOICES.join(", "))))
}

fn piper(text: &str, name: &str) -> Result<VoiceSpec, TtsError> {
    let (model, speaker) = match name.rsplit_once('#') {
        Some((model, speaker)) if !speaker.is_empty() => (model, Some(speaker.to_owned())),
        Some((model, _)) => (model, None),
        None => (name, None),
    };
    if model.is_empty() {
        return Err(TtsError::Spec(format!(
            "`{text}`: piper wants a voice: piper:piper-joe, or piper:PATH of an .onnx file"
        )));
    }
    Ok(VoiceSpec::Piper { model: model.to_owned(), speaker })
}

impl fmt::Display for VoiceSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Espeak { language, variant: Some(variant) } => write!(formatter, "espeak:{language}+{variant}"),
            Self::Espeak { language, variant: None } => write!(formatter, "espeak:{language}"),
            Self::Flite { voice } => write!(formatter, "flite:{voice}"),
            Self::Piper { model, speaker: Some(speaker) } => write!(formatter, "piper:{model}#{speaker}"),
            Self::Piper { model, speaker: None } => write!(formatter, "piper:{model}"),
            Self::Kokoro { voice } => write!(formatter, "kokoro:{voice}"),
            Self::ElevenLabs { voice } => write!(formatter, "elevenlabs:{voice}"),
        }
    }
}

impl FromStr for VoiceSpec {
    type Err = TtsError;

    fn from_str(text: &str) -> Result<Self, TtsError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_printed_alike() {
        for text in [
            "espeak:fr-fr+f2",
            "espeak:en-us",
            "flite:kal16",
            "piper:piper-joe",
            "piper:/v/a.onnx#3",
            "kokoro:ff_siwis",
            "kokoro:af_bella~60+bm_george~40@fr-fr",
        ] {
            assert_eq!(VoiceSpec::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(VoiceSpec::parse("espeak").unwrap().to_string(), "espeak:en-us");
        assert_eq!(VoiceSpec::parse("flite").unwrap().to_string(), "flite:slt");
        assert_eq!(VoiceSpec::parse("elevenlabs:Ab12").unwrap().engine(), "elevenlabs");
    }

    #[test]
    fn mistakes_name_what_was_meant() {
        for (text, part) in [
            ("siri:en", "engines espeak, flite"),
            ("flite:bob", "only kal, awb"),
            ("piper:", "piper:piper-joe"),
            ("espeak:en;rm", "no name of a voice"),
            ("espeak:en+../x", "no name of a voice"),
            ("espeak:-v", "no name of a voice"),
            ("elevenlabs", "VOICE_ID"),
            ("kokoro:../../etc", "no name of a voice"),
        ] {
            let message = VoiceSpec::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

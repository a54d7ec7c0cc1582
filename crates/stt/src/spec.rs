//! How an engine and its model are named: `whisper.cpp:whisper-base+q8`, `candle:folder/of/a/model`.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::import::Quantisation;
use crate::transcriber::SttError;

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum EngineKind {
    /// whisper.cpp.
    #[serde(rename = "whisper.cpp")]
    WhisperCpp,
    /// candle.
    #[serde(rename = "candle")]
    Candle,
}

impl EngineKind {
    /// As typed in a SPEC.
    pub fn name(self) -> &'static str {
        match self {
            Self::WhisperCpp => "whisper.cpp",
            Self::Candle => "candle",
        }
    }
}

/// A parsed SPEC: `ENGINE:NAME[+q8|+q5][+cut]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SttSpec {
    /// What computes.
    pub engine: EngineKind,
    /// The model's name in the catalogue, or a path.
    pub model: String,
    /// Weights in blocks; whisper.cpp only.
    pub quantisation: Option<Quantisation>,
    /// The encoder's context is always cut to the sound.
    pub cut: bool,
}

impl SttSpec {
    /// Parses it.
    pub fn parse(text: &str) -> Result<Self, SttError> {
        let wrong = |problem: String| SttError::Spec(format!("engine {text:?}: {problem}"));
        let (engine, rest) = text.split_once(':').ok_or_else(|| wrong("it has no `:`".to_owned()))?;
        let engine = match engine {
            "whisper.cpp" => EngineKind::WhisperCpp,
            "candle" => EngineKind::Candle,
            other => return Err(wrong(format!("there is no engine {other:?}"))),
        };
        let mut spec = Self { engine, model: rest.to_owned(), quantisation: None, cut: false };
        // From the end, so that a path may hold a `+`.
        while let Some((before, word)) = spec.model.rsplit_once('+') {
            let fresh = match word {
                "q8" => spec.quantisation.replace(Quantisation::Q8).is_none(),
                "q5" => spec.quantisation.replace(Quantisation::Q5).is_none(),
                "cut" => !std::mem::replace(&mut spec.cut, true),
                other if looks_like_path(&spec.model) && !other.is_empty() => break,
                other => return Err(wrong(format!("+{other} is none of +q8, +q5, +cut"))),
            };
            if !fresh {
                return Err(wrong(format!("+{word} is one too many")));
            }
            spec.model = before.to_owned();
        }
        if spec.model.is_empty() {
            return Err(wrong("it names no model".to_owned()));
        }
        if spec.engine == EngineKind::Candle && spec.quantisation.is_some() {
            return Err(wrong(
                "candle computes with the weights as they are; only whisper.cpp takes +q8 and +q5".into(),
            ));
        }
        Ok(spec)
    }

    /// True when the model is a path and no name of the catalogue.
    pub fn is_path(&self) -> bool {
        looks_like_path(&self.model)
    }

    /// The asset of the catalogue with the vocabulary of a model of the catalogue: every model has one of two.
    pub fn tokenizer_asset(&self) -> &'static str {
        if self.model.ends_with("-en") { "whisper-tiny-en-tokenizer" } else { "whisper-base-tokenizer" }
    }
}

fn looks_like_path(model: &str) -> bool {
    model.contains(['/', '\\']) || model.starts_with('.') || Path::new(model).extension().is_some()
}

impl fmt::Display for SttSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quantisation = match self.quantisation {
            Some(Quantisation::Q8) => "+q8",
            Some(Quantisation::Q5) => "+q5",
            Some(Quantisation::F16) | None => "",
        };
        let cut = if self.cut { "+cut" } else { "" };
        write!(formatter, "{}:{}{quantisation}{cut}", self.engine.name(), self.model)
    }
}

impl std::str::FromStr for SttSpec {
    type Err = SttError;

    fn from_str(text: &str) -> Result<Self, SttError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_parsed_prints_as_it_was_typed() {
        for text in [
            "whisper.cpp:whisper-base",
            "whisper.cpp:whisper-tiny-en+q8",
            "whisper.cpp:whisper-tiny-en+q5+cut",
            "candle:whisper-base+cut",
            "whisper.cpp:./c++/ggml-base.bin+cut",
            "candle:/models/whisper",
        ] {
            assert_eq!(SttSpec::parse(text).unwrap().to_string(), text);
        }
        let spec = SttSpec::parse("whisper.cpp:whisper-base+cut+q8").unwrap();
        assert_eq!((spec.cut, spec.quantisation, spec.is_path()), (true, Some(Quantisation::Q8), false));
        assert_eq!(spec.to_string(), "whisper.cpp:whisper-base+q8+cut");
        assert!(SttSpec::parse("candle:/models/whisper").unwrap().is_path());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, wanted) in [
            ("whisper-base", "no `:`"),
            ("whisper:whisper-base", "no engine \"whisper\""),
            ("whisper.cpp:", "no model"),
            ("whisper.cpp:+q8", "no model"),
            ("whisper.cpp:whisper-base+q4", "+q4 is none of"),
            ("whisper.cpp:whisper-base+q8+q5", "one too many"),
            ("whisper.cpp:whisper-base+cut+cut", "one too many"),
            ("candle:whisper-base+q8", "only whisper.cpp"),
        ] {
            let error = SttSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}

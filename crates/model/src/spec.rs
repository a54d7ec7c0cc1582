//! `SPEC`: which backend and which model, as typed on the command line.
//!
//! `embedded:NAME` · `ollama:NAME[:TAG]` · `openai:URL#NAME` · `replay:FILE`. A bare name means
//! `embedded:`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A parsed SPEC.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ModelSpec {
    /// A catalogue name or a path to a GGUF file, run inside this process.
    Embedded(String),
    /// A model of an Ollama server (its address comes from the configuration).
    Ollama(String),
    /// A model behind an OpenAI-compatible API.
    OpenAi {
        /// The API's root, ending before `/chat/completions`.
        base_url: String,
        /// The model's name there; empty asks the server for its only model.
        model: String,
    },
    /// Recorded answers.
    Replay(PathBuf),
}

/// A SPEC that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a model SPEC: `{text}`; {advice}", text = .0, advice = advice(.0))]
pub struct SpecError(pub String);

/// What was probably meant.
fn advice(text: &str) -> String {
    match text.split_once(':') {
        Some(("openai", _)) => "the address after openai: starts with http:// or https://".to_owned(),
        Some(("http" | "https", _)) => format!("did you mean openai:{text}?"),
        Some((name, _)) if !matches!(name, "" | "embedded" | "ollama" | "replay") => {
            format!("did you mean ollama:{text}? A SPEC is embedded:NAME, ollama:NAME, openai:URL#NAME or replay:FILE")
        }
        _ => "write embedded:NAME, ollama:NAME, openai:URL#NAME or replay:FILE".to_owned(),
    }
}

impl FromStr for ModelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let bad = || SpecError(text.to_owned());
        match text.split_once(':') {
            _ if text.trim().is_empty() => Err(bad()),
            Some(("embedded", name)) if !name.is_empty() => Ok(Self::Embedded(name.to_owned())),
            Some(("ollama", name)) if !name.is_empty() => Ok(Self::Ollama(name.to_owned())),
            Some(("replay", path)) if !path.is_empty() => Ok(Self::Replay(PathBuf::from(path))),
            Some(("openai", rest)) if rest.starts_with("http://") || rest.starts_with("https://") => {
                let (url, model) = rest.split_once('#').unwrap_or((rest, ""));
                Ok(Self::OpenAi { base_url: url.trim_end_matches('/').to_owned(), model: model.to_owned() })
            }
            None => Ok(Self::Embedded(text.to_owned())),
            Some(_) => Err(bad()),
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(name) => write!(formatter, "embedded:{name}"),
            Self::Ollama(name) => write!(formatter, "ollama:{name}"),
            Self::OpenAi { base_url, model } => write!(formatter, "openai:{base_url}#{model}"),
            Self::Replay(path) => write!(formatter, "replay:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_back_as_written() {
        for text in [
            "embedded:smollm2-135m",
            "ollama:gemma4:12b",
            "openai:http://127.0.0.1:8080/v1#name",
            "replay:answers/a.jsonl",
        ] {
            assert_eq!(text.parse::<ModelSpec>().unwrap().to_string(), text);
        }
        assert_eq!("smollm2-135m".parse::<ModelSpec>().unwrap(), ModelSpec::Embedded("smollm2-135m".into()));
        for text in ["", "openai:8080", "nothing:x", "ollama:"] {
            assert!(text.parse::<ModelSpec>().is_err(), "{text}");
        }
    }
}

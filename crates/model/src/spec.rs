//! `SPEC`: which backend and which model, as typed on the command line.
//!
//! `embedded:NAME` · `ollama:NAME[:TAG]` · `openai:URL#NAME` · `replay:FILE`. A bare name means
//! `embedded:`.
//!
//! Several servers of one model: `openai:URL,URL#NAME` and `ollama:URL,URL#NAME`, each URL with its
//! scheme, so that a comma within an address is none between two.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A parsed SPEC.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ModelSpec {
    /// A catalogue name or a path to a GGUF file, run inside this process.
    Embedded(String),
    /// A model of one or several Ollama servers.
    Ollama {
        /// Their roots; empty takes the address of the configuration.
        hosts: Vec<String>,
        /// The model's name there.
        model: String,
    },
    /// A model behind one or several OpenAI-compatible APIs.
    OpenAi {
        /// The APIs' roots, ending before `/chat/completions`; at least one.
        base_urls: Vec<String>,
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
        Some(("openai", _)) => {
            "the address after openai: starts with http:// or https://, as does each of several".to_owned()
        }
        Some(("ollama", rest)) if is_address(rest) => {
            "write ollama:URL#NAME, or ollama:URL,URL#NAME for several".to_owned()
        }
        Some(("http" | "https", _)) => format!("did you mean openai:{text}?"),
        Some((name, _)) if !matches!(name, "" | "embedded" | "ollama" | "replay") => {
            format!("did you mean ollama:{text}? A SPEC is embedded:NAME, ollama:NAME, openai:URL#NAME or replay:FILE")
        }
        _ => "write embedded:NAME, ollama:NAME, openai:URL#NAME or replay:FILE".to_owned(),
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// The addresses of a list: a comma parts two where the next one begins with its scheme.
fn addresses(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split(',') {
        match found.last_mut() {
            Some(last) if !is_address(part) => {
                last.push(',');
                last.push_str(part);
            }
            _ => found.push(part.to_owned()),
        }
    }
    found.iter().map(|address| address.trim_end_matches('/').to_owned()).collect()
}

impl ModelSpec {
    /// How many servers share the work; 1 for a model inside this process.
    pub fn endpoints(&self) -> usize {
        match self {
            Self::Ollama { hosts, .. } => hosts.len().max(1),
            Self::OpenAi { base_urls, .. } => base_urls.len(),
            Self::Embedded(_) | Self::Replay(_) => 1,
        }
    }
}

impl FromStr for ModelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let bad = || SpecError(text.to_owned());
        match text.split_once(':') {
            _ if text.trim().is_empty() => Err(bad()),
            Some(("embedded", name)) if !name.is_empty() => Ok(Self::Embedded(name.to_owned())),
            Some(("ollama", rest)) if is_address(rest) => {
                let (urls, model) = rest.split_once('#').filter(|(_, model)| !model.is_empty()).ok_or_else(bad)?;
                Ok(Self::Ollama { hosts: addresses(urls), model: model.to_owned() })
            }
            Some(("ollama", name)) if !name.is_empty() => {
                Ok(Self::Ollama { hosts: Vec::new(), model: name.to_owned() })
            }
            Some(("replay", path)) if !path.is_empty() => Ok(Self::Replay(PathBuf::from(path))),
            Some(("openai", rest)) if is_address(rest) => {
                let (urls, model) = rest.split_once('#').unwrap_or((rest, ""));
                Ok(Self::OpenAi { base_urls: addresses(urls), model: model.to_owned() })
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
            Self::Ollama { hosts, model } if hosts.is_empty() => write!(formatter, "ollama:{model}"),
            Self::Ollama { hosts, model } => write!(formatter, "ollama:{}#{model}", hosts.join(",")),
            Self::OpenAi { base_urls, model } => write!(formatter, "openai:{}#{model}", base_urls.join(",")),
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
            "openai:http://127.0.0.1:8080/v1,http://127.0.0.2:8080/v1#name",
            "openai:http://127.0.0.1:8080/a,b/v1,https://127.0.0.2/v1#",
            "ollama:http://127.0.0.1:11434#gemma4:12b",
            "ollama:http://127.0.0.1:11434,http://127.0.0.1:11435#gemma4:12b",
            "replay:answers/a.jsonl",
        ] {
            assert_eq!(text.parse::<ModelSpec>().unwrap().to_string(), text);
        }
        assert_eq!("smollm2-135m".parse::<ModelSpec>().unwrap(), ModelSpec::Embedded("smollm2-135m".into()));
        for text in ["", "openai:8080", "nothing:x", "ollama:", "ollama:http://127.0.0.1:1", "ollama:http://127.0.0.1#"]
        {
            assert!(text.parse::<ModelSpec>().is_err(), "{text}");
        }
    }

    #[test]
    fn several_addresses_are_several_endpoints() {
        let spec: ModelSpec = "openai:http://127.0.0.1:1/v1/,http://127.0.0.1:2/v1/#m".parse().unwrap();
        let base_urls = vec!["http://127.0.0.1:1/v1".to_owned(), "http://127.0.0.1:2/v1".to_owned()];
        assert_eq!(spec, ModelSpec::OpenAi { base_urls, model: "m".into() });
        for (text, count) in [
            ("openai:http://127.0.0.1:8080/a,b/v1,https://127.0.0.2/v1#", 2),
            ("ollama:http://127.0.0.1:1,http://127.0.0.1:2,http://127.0.0.1:3#m", 3),
            ("ollama:gemma4:12b", 1),
            ("embedded:a,b", 1),
        ] {
            assert_eq!(text.parse::<ModelSpec>().unwrap().endpoints(), count, "{text}");
        }
        let error = "ollama:http://127.0.0.1:1".parse::<ModelSpec>().unwrap_err().to_string();
        assert!(error.contains("ollama:URL#NAME"), "{error}");
    }
}

//! The merged values, typed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::Home;
use crate::setting::Value;

/// Every setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The default model SPEC, unparsed.
    pub model: String,
    /// The profile in force.
    pub profile: Option<String>,
    /// No network may be touched.
    pub offline: bool,
    /// Passes of each case.
    pub passes: u32,
    /// Requests at the same time; `None` leaves it to the backend.
    pub jobs: Option<usize>,
    /// Longest time for one answer.
    pub timeout: Duration,
    /// Root of the Ollama server, without a slash at the end.
    pub ollama_address: String,
    /// Name of the environment variable that holds the key of an OpenAI-compatible server.
    pub openai_key_variable: Option<String>,
    /// Where results are kept, when it is set.
    pub runs_dir: Option<PathBuf>,
}

impl Settings {
    /// Where results are kept: the setting, or the home's folder.
    pub fn runs(&self, home: &Home) -> PathBuf {
        self.runs_dir.clone().unwrap_or_else(|| home.runs.clone())
    }

    /// Takes the values apart. Every key of the table is there: the default file is complete.
    pub(crate) fn from_values(values: &BTreeMap<&'static str, Value>) -> Self {
        let text = |key: &str| match values.get(key) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let integer = |key: &str| match values.get(key) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            model: text("model"),
            profile: filled(text("profile")),
            offline: values.get("offline") == Some(&Value::Flag(true)),
            passes: integer("bench.passes").and_then(|passes| u32::try_from(passes).ok()).unwrap_or(1),
            jobs: integer("bench.jobs").and_then(|jobs| usize::try_from(jobs).ok()),
            timeout: match values.get("bench.timeout") {
                Some(Value::Duration(length)) => *length,
                _ => Duration::from_mins(2),
            },
            ollama_address: text("ollama.address"),
            openai_key_variable: filled(text("openai.api_key_env")),
            runs_dir: match values.get("runs.dir") {
                Some(Value::Folder(path)) => path.clone(),
                _ => None,
            },
        }
    }
}

//! The questions of a session: a text file with one a line, or TOML.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Longest file.
const MOST_BYTES: u64 = 4 << 20;
/// Longest prompt, in characters.
const MOST_CHARACTERS: usize = 20_000;
/// Most prompts of a session: nobody votes longer.
const MOST_PROMPTS: usize = 2_000;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlindPrompt {
    /// What is asked.
    pub text: String,
    /// In place of the assistant's persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Its language, for speaking: `en`, `fr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// A file of prompts that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptsError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It says something wrong.
    #[error("{}{}: {problem}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
}

impl PromptsError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path behind --prompts",
            Self::Invalid { .. } => {
                "a .txt file has one prompt a line (# begins a comment); a .toml file has [[prompt]] tables with `text`, \
                 and if wanted `system` and `language`"
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "format")]
    _format: Option<u32>,
    #[serde(default)]
    prompt: Vec<BlindPrompt>,
}

/// Reads the prompts of a file. The same prompt twice is an error: its votes would count twice.
pub fn read_prompts(path: &Path) -> Result<Vec<BlindPrompt>, PromptsError> {
    let failed = |source| PromptsError::File { path: path.to_owned(), source };
    let invalid = |line, problem: String| PromptsError::Invalid { path: path.to_owned(), line, problem };
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > MOST_BYTES {
        return Err(invalid(None, format!("{length} bytes are more than {MOST_BYTES}")));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let found: Vec<(Option<usize>, BlindPrompt)> = if is_toml {
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
            invalid(line, error.message().to_owned())
        })?;
        file.prompt.into_iter().map(|prompt| (None, prompt)).collect()
    } else {
        let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
        let meant = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        meant
            .map(|(number, line)| (Some(number), BlindPrompt { text: line.to_owned(), system: None, language: None }))
            .collect()
    };
    let mut seen = std::collections::BTreeMap::new();
    for (place, (line, prompt)) in found.iter().enumerate() {
        if prompt.text.trim().is_empty() {
            return Err(invalid(*line, format!("prompt {} is empty", place + 1)));
        }
        if prompt.text.chars().count() > MOST_CHARACTERS {
            return Err(invalid(*line, format!("prompt {} has more than {MOST_CHARACTERS} characters", place + 1)));
        }
        if let Some(before) = seen.insert(prompt.text.trim(), place) {
            return Err(invalid(*line, format!("prompt {} is the same as prompt {}", place + 1, before + 1)));
        }
    }
    if found.is_empty() || found.len() > MOST_PROMPTS {
        return Err(invalid(None, format!("{} prompts; a session has 1 to {MOST_PROMPTS}", found.len())));
    }
    Ok(found.into_iter().map(|(_, prompt)| prompt).collect())
}

//! What is to be said.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::CorpusError;

/// A file of phrases is not longer.
const LONGEST_FILE: u64 = 16 << 20;
/// A phrase is not longer, in characters: engines speak a few sentences at a time.
const LONGEST_TEXT: usize = 1_000;

/// A phrase with its truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phrase {
    /// The words.
    pub text: String,
    /// The closed command that they are, `wake` for the wake word alone, or `none`.
    #[serde(default = "no_intent")]
    pub intent: String,
    /// The language, such as `en`.
    pub language: String,
}

fn no_intent() -> String {
    "none".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "phrase")]
    phrases: Vec<Phrase>,
}

/// Reads a TOML file of `[[phrase]]` with `text`, `language` and `intent` (without it, `none`).
pub fn read_phrases(path: &Path) -> Result<Vec<Phrase>, CorpusError> {
    let failed = |error| CorpusError::file(path, error);
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > LONGEST_FILE {
        return Err(CorpusError::manifest(path, format!("is {size} bytes long; a file of phrases has at most 16 MB")));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    let file: File =
        toml::from_str(&text).map_err(|error| CorpusError::manifest(path, error.to_string().trim_end()))?;
    if file.phrases.is_empty() {
        return Err(CorpusError::manifest(path, "has no [[phrase]]"));
    }
    for phrase in &file.phrases {
        fault(phrase).map_or(Ok(()), |problem| Err(CorpusError::manifest(path, problem)))?;
    }
    Ok(file.phrases)
}

/// What is wrong with a phrase.
pub(crate) fn fault(phrase: &Phrase) -> Option<String> {
    let count = phrase.text.chars().count();
    if phrase.text.trim().is_empty() {
        return Some("a phrase has no text".to_owned());
    }
    if count > LONGEST_TEXT {
        return Some(format!("a phrase has {count} characters, more than {LONGEST_TEXT}"));
    }
    if phrase.intent.is_empty() || matches!(phrase.intent.as_str(), "silence" | "noise") {
        return Some(format!("`{}` is said and cannot have the intent `{}`", phrase.text, phrase.intent));
    }
    let language = phrase.language.len() >= 2 && phrase.language.chars().all(|letter| letter.is_ascii_lowercase());
    (!language).then(|| format!("`{}`: `{}` is no language such as `en`", phrase.text, phrase.language))
}

//! `other.toml`: sentences that are no command.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::error::CommandsError;
use super::file::{self, Source};
use super::language::Language;
use super::text::words;

const MOST_SENTENCES: usize = 20_000;

/// A sentence that is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its language.
    pub language: Language,
    /// `everyday`, `radio`, `near`, `question`, or a name of the user's.
    pub kind: String,
    /// What is said.
    pub text: String,
    /// Thresholds are chosen on these and reported on the others: every second sentence of a kind.
    pub development: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "format")]
    _format: u32,
    #[serde(default)]
    en: BTreeMap<String, Vec<toml::Spanned<String>>>,
    #[serde(default)]
    fr: BTreeMap<String, Vec<toml::Spanned<String>>>,
}

/// Reads the sentences of a file.
pub fn load_other(path: &Path) -> Result<Vec<Sentence>, CommandsError> {
    let text = file::read(path)?;
    let source = Source { path, text: &text };
    let raw: Raw = source.parse()?;
    let mut sentences = Vec::new();
    for (language, kinds) in [(Language::En, raw.en), (Language::Fr, raw.fr)] {
        for (kind, texts) in kinds {
            for (index, text) in texts.into_iter().enumerate() {
                if words(text.get_ref(), language).is_empty() || sentences.len() >= MOST_SENTENCES {
                    let problem = format!("\"{}\" is no sentence, or there are too many", text.get_ref());
                    return Err(source.mistake(&text.span(), problem));
                }
                let development = index % 2 == 0;
                sentences.push(Sentence { language, kind: kind.clone(), text: text.into_inner(), development });
            }
        }
    }
    Ok(sentences)
}

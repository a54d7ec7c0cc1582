//! What a model decides about the memory, and whether it may (K62). The model never touches the
//! file: it emits a [`Decision`], code checks it, and only a [`Checked`] one can be applied.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tenpass_trace::mask::mask;
use uuid::Uuid;

use super::clean::{MAX_ENTRY_CHARACTERS, clean};
use super::entry::normalised;
use super::grounding::{foreign_words, is_related};
use super::{Document, Section};

/// A decision as a model emits it; nothing in it has been checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// False: there is nothing to keep.
    #[serde(default)]
    pub should_write: bool,
    /// The section's key.
    #[serde(default, deserialize_with = "text_or_null")]
    pub section: String,
    /// One sentence.
    #[serde(default, deserialize_with = "text_or_null")]
    pub entry: String,
    /// The id of an entry that the new one makes wrong, which it then replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<String>,
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

impl Decision {
    /// A decision to write.
    pub fn write(section: Section, entry: impl Into<String>) -> Self {
        Self { should_write: true, section: section.as_str().to_owned(), entry: entry.into(), contradicts: None }
    }

    /// The same decision, replacing the entry with this id.
    pub fn replacing(mut self, id: Uuid) -> Self {
        self.contradicts = Some(id.to_string());
        self
    }

    /// The schema of one decision, for constrained output (K10).
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "should_write": { "type": "boolean" },
                "section": { "type": "string", "enum": section_keys() },
                "entry": { "type": "string", "maxLength": MAX_ENTRY_CHARACTERS },
                "contradicts": { "type": ["string", "null"], "maxLength": 36 }
            },
            "required": ["should_write", "section", "entry", "contradicts"],
            "additionalProperties": false
        })
    }
}

/// The keys for a schema's enum.
pub fn section_keys() -> Vec<&'static str> {
    Section::ALL.iter().map(|section| section.as_str()).collect()
}

/// Who stands behind an entry's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// The user typed the entry as it is.
    User,
    /// A model wrote it; these are the texts that the user wrote in the thread. Nothing else, no
    /// result and no answer, may be among them.
    Thread(&'a [&'a str]),
    /// The application, out of its own words ([`super::failure_entry`]).
    Application,
}

/// A decision that may be applied. Only [`validate`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    section: Section,
    entry: String,
    contradicts: Option<Uuid>,
}

impl Checked {
    /// The section.
    pub fn section(&self) -> Section {
        self.section
    }

    /// The text, cleaned.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The entry to replace.
    pub fn contradicts(&self) -> Option<Uuid> {
        self.contradicts
    }
}

/// Why an entry is not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The model decided so.
    #[error("nothing to keep")]
    NotWanted,
    /// A key that is not in the enum; the portrait has none (K60).
    #[error("unknown section {value:?}")]
    UnknownSection {
        /// The key.
        value: String,
    },
    /// No letter and no digit.
    #[error("the entry is empty")]
    Empty,
    /// Longer than R9 allows.
    #[error("the entry has {characters} characters, at most {MAX_ENTRY_CHARACTERS} are kept")]
    TooLong {
        /// Its length.
        characters: usize,
    },
    /// A line break inside.
    #[error("the entry has several lines")]
    SeveralLines,
    /// The file's marker, or a marker of the application.
    #[error("the entry holds a marker that only the application writes")]
    Marker,
    /// Special tokens or role headers of a chat template.
    #[error("the entry holds tokens of a chat template")]
    Tokens,
    /// A password, a key, a token: it would go to every model from now on (K46).
    #[error("the entry holds a secret")]
    Secret,
    /// It is already there.
    #[error("already kept in {section}: {text:?}")]
    Duplicate {
        /// Where.
        section: Section,
        /// The entry that is there.
        text: String,
    },
    /// The entry to replace does not exist.
    #[error("no entry has the id {value:?}")]
    UnknownContradiction {
        /// The id as emitted.
        value: String,
    },
    /// Its words are not the user's (security).
    #[error("the user did not write this: {}", words.join(", "))]
    NotFromUser {
        /// Words that are not the user's.
        words: Vec<String>,
    },
    /// The entry to replace is about something else.
    #[error("what it would replace is about something else: {text:?}")]
    Unrelated {
        /// The entry that stays.
        text: String,
    },
    /// A key with a value instead of a sentence (K64).
    #[error("{reason}")]
    KeyValue {
        /// The reason.
        reason: String,
    },
    /// Something from outside was read in this turn (security).
    #[error("nothing is kept in a turn that read something from outside")]
    Tainted,
    /// One failure a tool and day is enough.
    #[error("a failure of {tool} was already noted today")]
    FailureNoted {
        /// The tool.
        tool: String,
    },
}

impl Refusal {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotWanted | Self::FailureNoted { .. } => String::new(),
            Self::UnknownSection { .. } => format!("use one of: {}", Section::names()),
            Self::Empty | Self::SeveralLines | Self::Marker | Self::Tokens => "write one plain sentence".to_owned(),
            Self::TooLong { .. } => "shorten it to one sentence".to_owned(),
            Self::Secret => "leave the secret out; a password manager is the place for it".to_owned(),
            Self::Duplicate { .. } => "nothing needs to be done".to_owned(),
            Self::UnknownContradiction { .. } => "name an entry that exists, or none".to_owned(),
            Self::NotFromUser { .. } => "use the user's own words, in the user's language".to_owned(),
            Self::Unrelated { .. } => "write it as a new entry".to_owned(),
            Self::KeyValue { .. } => "write a full sentence".to_owned(),
            Self::Tainted => "the user can ask again in a new message".to_owned(),
        }
    }
}

/// Checks a decision against the file as it is now. Nothing is written here.
pub fn validate(decision: &Decision, document: &Document, source: Source<'_>) -> Result<Checked, Refusal> {
    if !decision.should_write {
        return Err(Refusal::NotWanted);
    }
    let Some(section) = Section::from_key(decision.section.trim()) else {
        return Err(Refusal::UnknownSection { value: decision.section.chars().take(40).collect() });
    };
    let entry = clean(&decision.entry)?;
    // A text that was masked on its way here tells as little as the secret should.
    if !mask(&entry).found.is_empty() || entry.contains("[secret:") {
        return Err(Refusal::Secret);
    }
    let contradicts = contradicted(decision.contradicts.as_deref(), document)?;
    let wanted = normalised(&entry);
    let duplicate = document.entries().iter().find(|known| {
        let is_replaced = contradicts.is_some() && known.id == contradicts;
        // A replacement may differ in accents or punctuation alone; anything else may not.
        known.text == entry || (!is_replaced && normalised(&known.text) == wanted)
    });
    if let Some(known) = duplicate {
        return Err(Refusal::Duplicate { section: known.section, text: known.text.chars().take(200).collect() });
    }
    if let Source::Thread(texts) = source {
        if let Some(words) = foreign_words(&entry, texts) {
            return Err(Refusal::NotFromUser { words });
        }
        let old = contradicts.and_then(|id| document.get(id));
        let is_about = |text: &str| is_related(text, &entry) || texts.iter().any(|said| is_related(text, said));
        if let Some(old) = old.filter(|old| !is_about(&old.text)) {
            return Err(Refusal::Unrelated { text: old.text.chars().take(200).collect() });
        }
    }
    Ok(Checked { section, entry, contradicts })
}

fn contradicted(value: Option<&str>, document: &Document) -> Result<Option<Uuid>, Refusal> {
    let value = value.unwrap_or_default().trim().trim_start_matches("id:").trim();
    // How small models write "none" in a string.
    if matches!(value.to_lowercase().as_str(), "" | "null" | "none" | "no" | "n/a" | "-" | "false" | "aucun" | "aucune")
    {
        return Ok(None);
    }
    match document.find_id(value).ok().and_then(|entry| entry.id) {
        Some(id) => Ok(Some(id)),
        None => Err(Refusal::UnknownContradiction { value: value.chars().take(40).collect() }),
    }
}

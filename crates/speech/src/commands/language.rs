//! The two languages that commands are spoken in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A language of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// French.
    Fr,
}

impl Language {
    /// Both.
    pub const ALL: [Self; 2] = [Self::En, Self::Fr];

    /// From a tag such as `en`, `fr-FR` or `en_GB`; `None` for another language, or none.
    pub fn parse(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "fr" => Some(Self::Fr),
            _ => None,
        }
    }

    /// `en` or `fr`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Fr => "fr",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.tag())
    }
}

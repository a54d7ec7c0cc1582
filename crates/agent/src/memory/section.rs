//! The four sections that can be written to. The portrait has no key here, so nothing that names a
//! section can reach it (K60).

use serde::{Deserialize, Serialize};

use crate::words::fold;

/// A section of the memory below the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// What the user decided.
    Decisions,
    /// How the user works, what they prefer.
    Patterns,
    /// What was left unfinished.
    OpenThreads,
    /// What went wrong technically.
    Anomalies,
}

impl Section {
    /// Every section, in the order of the file.
    pub const ALL: &'static [Self] = &[Self::Decisions, Self::Patterns, Self::OpenThreads, Self::Anomalies];

    /// The stored name: what the tools' schema and the decision use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decisions => "decisions",
            Self::Patterns => "patterns",
            Self::OpenThreads => "open_threads",
            Self::Anomalies => "anomalies",
        }
    }

    /// The title of its heading as it is written; others are accepted on reading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Decisions => "Decisions",
            Self::Patterns => "Patterns",
            Self::OpenThreads => "Open threads",
            Self::Anomalies => "Anomalies",
        }
    }

    /// The section with this key, written exactly.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|section| section.as_str() == key)
    }

    /// The section that a heading's title names, in English or French, whatever its case and accents.
    pub fn from_title(title: &str) -> Option<Self> {
        match fold(title.trim().trim_end_matches([':', '#', ' '])).as_str() {
            "decisions" => Some(Self::Decisions),
            "patterns" | "habitudes" | "motifs" | "schemas" | "tendances" => Some(Self::Patterns),
            "open threads" | "open_threads" | "fils ouverts" | "sujets ouverts" | "questions ouvertes" => {
                Some(Self::OpenThreads)
            }
            "anomalies" | "technical anomalies" | "anomalies techniques" => Some(Self::Anomalies),
            _ => None,
        }
    }

    /// The keys as a list for people and models.
    pub fn names() -> String {
        Self::ALL.iter().map(|section| section.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl std::fmt::Display for Section {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k60_there_are_four_keys_and_none_of_them_is_the_portrait() {
        let keys: Vec<&str> = Section::ALL.iter().map(|section| section.as_str()).collect();
        assert_eq!(keys, ["decisions", "patterns", "open_threads", "anomalies"]);
        for section in Section::ALL {
            assert_eq!(serde_json::to_string(section).unwrap(), format!("\"{section}\""));
            assert_eq!(Section::from_key(section.as_str()), Some(*section));
            assert_eq!(Section::from_title(section.title()), Some(*section));
        }
        for other in ["portrait", "base", "Decisions", "decisions ", ""] {
            assert_eq!(Section::from_key(other), None, "{other}");
        }
    }

    #[test]
    fn french_titles_are_read() {
        assert_eq!(Section::from_title("Décisions"), Some(Section::Decisions));
        assert_eq!(Section::from_title("FILS OUVERTS :"), Some(Section::OpenThreads));
        assert_eq!(Section::from_title("Habitudes"), Some(Section::Patterns));
        assert_eq!(Section::from_title("Anomalies techniques"), Some(Section::Anomalies));
        assert_eq!(Section::from_title("Portrait"), None);
    }
}

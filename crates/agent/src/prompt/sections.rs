//! Which parts a prompt has: each can be switched off and benched against its absence.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A list of sections that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown prompt section {0:?}")]
pub struct SectionError(String);

impl SectionError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let folded = self.0.trim_start_matches(['+', '-']);
        let nearest = Sections::NAMES
            .iter()
            .map(|name| (strsim::jaro_winkler(name, folded), *name))
            .max_by(|left, right| left.0.total_cmp(&right.0))
            .filter(|(likeness, _)| *likeness > 0.8);
        let names = Sections::NAMES.join(", ");
        match nearest {
            Some((_, name)) => format!("did you mean {name}? sections are all, none, {names}, each after + or -"),
            None => format!("sections are all, none, {names}, each after + or -, such as +memory,-persona"),
        }
    }
}

macro_rules! sections {
    ($($(#[$doc:meta])* $field:ident = $default:literal,)*) => {
        /// The sections of a prompt. Typed as changes to the default: `+capability_memo,-persona`;
        /// `all` and `none` set every one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct Sections { $($(#[$doc])* pub $field: bool,)* }

        impl Sections {
            /// The typed names, in the order of the prompt.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field),)*];

            /// Every section on, or every section off.
            pub fn every(on: bool) -> Self {
                Self { $($field: on,)* }
            }

            /// Each name with whether it is on.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, bool)> {
                [$((stringify!($field), self.$field),)*].into_iter()
            }

            fn switch(&mut self, name: &str, on: bool) -> bool {
                match name {
                    $(stringify!($field) => self.$field = on,)*
                    _ => return false,
                }
                true
            }
        }

        impl Default for Sections {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

sections! {
    /// Who the assistant is.
    persona = true,
    /// The absolute rule: no claim without a result.
    rules = true,
    /// What is data and not an instruction.
    security = true,
    /// A section for each category of tools that is offered (K27).
    tool_sections = true,
    /// What the application can do (K97). Long: off by default.
    capability_memo = false,
    /// The user's own portrait (K60).
    portrait = true,
    /// The clause for what this turn does not offer (K27).
    excluded = true,
    /// The day (K28).
    date = true,
    /// Memory entries.
    memory = true,
    /// The two latest answers of providers (K72).
    provider_answers = true,
    /// Past messages (K24).
    history = true,
    /// The exact time, next to the message (K28).
    context = true,
}

impl fmt::Display for Sections {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Self::default();
        let changes: Vec<String> = self
            .iter()
            .zip(default.iter())
            .filter(|(own, usual)| own.1 != usual.1)
            .map(|((name, on), _)| format!("{}{name}", if on { '+' } else { '-' }))
            .collect();
        formatter.pad(&if changes.is_empty() { "default".to_owned() } else { changes.join(",") })
    }
}

impl FromStr for Sections {
    type Err = SectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut sections = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part {
                "all" => sections = Self::every(true),
                "none" => sections = Self::every(false),
                "default" => sections = Self::default(),
                _ => {
                    let (name, on) = part
                        .strip_prefix('-')
                        .map_or_else(|| (part.strip_prefix('+').unwrap_or(part), true), |name| (name, false));
                    if !sections.switch(&name.replace('-', "_"), on) {
                        return Err(SectionError(part.to_owned()));
                    }
                }
            }
        }
        Ok(sections)
    }
}

impl From<Sections> for String {
    fn from(sections: Sections) -> Self {
        sections.to_string()
    }
}

impl TryFrom<String> for Sections {
    type Error = SectionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_changes_the_default() {
        let sections: Sections = "+capability-memo, -persona".parse().unwrap();
        assert_eq!(sections, Sections { capability_memo: true, persona: false, ..Sections::default() });
        assert_eq!(sections.to_string(), "-persona,+capability_memo");
        assert_eq!("none,+rules".parse(), Ok(Sections { rules: true, ..Sections::every(false) }));
        assert_eq!("".parse(), Ok(Sections::default()));
        for sections in [sections, Sections::default(), Sections::every(true), Sections::every(false)] {
            assert_eq!(sections.to_string().parse(), Ok(sections));
            let stored = serde_json::to_string(&sections).unwrap();
            assert_eq!(serde_json::from_str::<Sections>(&stored).unwrap(), sections);
        }
    }

    #[test]
    fn an_unknown_section_is_named_and_the_nearest_offered() {
        let error = "+memroy".parse::<Sections>().unwrap_err();
        assert_eq!(error.to_string(), "unknown prompt section \"+memroy\"");
        assert!(error.hint().starts_with("did you mean memory?"), "{}", error.hint());
    }
}

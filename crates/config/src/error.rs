//! What can be wrong with the settings. All of these are the user's to correct.

use std::path::PathBuf;

/// A setting, file or folder that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A key that is no setting.
    #[error("{place}: unknown key `{key}`")]
    UnknownKey {
        /// `file:line`, or the flag or variable.
        place: String,
        /// The key as written, with its tables.
        key: String,
        /// The nearest known key.
        suggestion: Option<String>,
    },
    /// A value that the setting does not take.
    #[error("{place}: `{key}` must be {expected}, not {found}")]
    BadValue {
        /// `file:line`, or the flag or variable.
        place: String,
        /// The setting.
        key: String,
        /// What it takes.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A file that is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// `file:line`.
        place: String,
        /// The parser's message.
        message: String,
    },
    /// A profile that no file defines.
    #[error("{place}: no profile `{name}`")]
    UnknownProfile {
        /// Where it was asked for.
        place: String,
        /// The name.
        name: String,
        /// The profiles there are.
        known: Vec<String>,
    },
    /// A project file that sets what only the person may set.
    #[error("{place}: `{key}` cannot be set by a project")]
    Personal {
        /// `file:line`.
        place: String,
        /// The setting.
        key: String,
    },
    /// A file that exists and cannot be read.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The platform names no folders for this user.
    #[error("no folder for models and settings: the user has no home directory")]
    NoHome,
}

impl ConfigError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownKey { suggestion: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownKey { .. } => "`tenpass config show` lists every key".into(),
            Self::BadValue { .. } => "`tenpass config show` lists every key with its value and origin".into(),
            Self::Syntax { .. } => "the file must be TOML".into(),
            Self::UnknownProfile { known, .. } if known.is_empty() => {
                "define it as a table [profiles.NAME] in tenpass.toml".into()
            }
            Self::UnknownProfile { known, .. } => format!("known profiles: {}", known.join(", ")),
            Self::Personal { .. } => {
                "move it to your own config.toml: a project must not decide what the agent may touch or spend".into()
            }
            Self::Read { .. } => "check the file's permissions".into(),
            Self::NoHome => "set TENPASS_HOME to a folder".into(),
        }
    }
}

/// The nearest of `known` to `word`, when it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    known
        .into_iter()
        .map(|candidate| {
            let whole = strsim::normalized_damerau_levenshtein(word, candidate);
            // `passes` at the top level means `bench.passes`: the last part alone is compared too.
            let tail = strsim::normalized_damerau_levenshtein(&last(word), &last(candidate)) * 0.95;
            (whole.max(tail), candidate)
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_and_a_forgotten_table_find_the_key() {
        let known = ["bench.passes", "bench.jobs", "model"];
        assert_eq!(nearest("bench.pases", known), Some("bench.passes".into()));
        assert_eq!(nearest("passes", known), Some("bench.passes".into()));
        assert_eq!(nearest("modle", known), Some("model".into()));
        assert_eq!(nearest("colour", known), None);
    }
}

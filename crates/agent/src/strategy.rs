//! The strategy enums, as the command line, the manifest and the code name them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A strategy name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {value:?}")]
pub struct StrategyError {
    what: &'static str,
    value: String,
    names: String,
}

impl StrategyError {
    /// A name that is none of `names`, for the enums that are defined elsewhere.
    pub(crate) fn unknown(what: &'static str, value: &str, names: impl Iterator<Item = &'static str>) -> Self {
        Self { what, value: value.to_owned(), names: names.collect::<Vec<_>>().join(", ") }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        format!("use one of: {}", self.names)
    }
}

macro_rules! strategy {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every value, in the order of the tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stored and typed name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = StrategyError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text).ok_or_else(|| StrategyError {
                    what: $what,
                    value: text.to_owned(),
                    names: [$($text),*].join(", "),
                })
            }
        }
    };
}

strategy! {
    /// How tools enter the request and calls leave the answer (Z2/Z3).
    Structure, "structure" {
        /// The model's own channel: its template, or the server's `tools` field.
        #[default]
        Native = "native",
        /// The sampler cannot leave the schema: tool names are an enum, arguments follow theirs.
        Grammar = "grammar",
        /// Tools are described in the system message, calls come back as tagged text.
        Text = "text",
    }
}

strategy! {
    /// Which tools a turn offers (K26/R4).
    Selection, "tool selection" {
        /// Every tool, so that the prompt's prefix never changes.
        #[default]
        All = "all",
        /// Keyword rules per category; no keyword offers everything.
        Router = "router",
        /// The always-on tools and the few most similar to the request.
        Relevance = "relevance",
    }
}

strategy! {
    /// Which memory entries a prompt shows (K61, R8).
    Retrieval, "memory retrieval" {
        /// The last six of each section.
        #[default]
        Recent = "recent",
        /// The six of each section with the highest score of overlap, importance and recency.
        Relevant = "relevant",
        /// None.
        Off = "off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_on_the_command_line_and_in_the_manifest() {
        for structure in Structure::ALL {
            assert_eq!(serde_json::to_string(structure).unwrap(), format!("\"{structure}\""));
            assert_eq!(structure.to_string().parse::<Structure>(), Ok(*structure));
        }
        for selection in Selection::ALL {
            assert_eq!(serde_json::to_string(selection).unwrap(), format!("\"{selection}\""));
            assert_eq!(selection.to_string().parse::<Selection>(), Ok(*selection));
        }
        for retrieval in Retrieval::ALL {
            assert_eq!(serde_json::to_string(retrieval).unwrap(), format!("\"{retrieval}\""));
            assert_eq!(retrieval.to_string().parse::<Retrieval>(), Ok(*retrieval));
        }
    }

    #[test]
    fn an_unknown_name_says_which_exist() {
        let error = "routers".parse::<Selection>().unwrap_err();
        assert_eq!(error.to_string(), "unknown tool selection \"routers\"");
        assert_eq!(error.hint(), "use one of: all, router, relevance");
    }
}

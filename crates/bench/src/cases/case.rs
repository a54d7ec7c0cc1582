//! The case itself: what is asked, which tools are offered, what must happen.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenpass_trace::{Message, ToolDefinition};

use super::matcher::Argument;

/// A set of cases that are run together.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// The cases, in file order, files sorted by name.
    pub cases: Vec<Case>,
    /// The suite's one system prompt (`prompt.md`), empty when it has none.
    pub system: String,
    /// sha256 (hex) of what is asked and expected: see [`digest`].
    pub digest: String,
}

/// Whether a case is meant to improve or must stay good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseKind {
    /// A failure that was seen and is meant to improve.
    #[default]
    Target,
    /// Something that works and must stay so.
    Guard,
}

impl CaseKind {
    /// Every kind, by the name in case files.
    pub const NAMES: &'static [&'static str] = &["target", "guard"];

    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Guard => "guard",
        }
    }
}

impl fmt::Display for CaseKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The language of a case's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[serde(rename = "en")]
    English,
    /// French.
    #[serde(rename = "fr")]
    French,
    /// Not told by whoever wrote the case (ISO 639-2); case files cannot say so.
    #[serde(rename = "und")]
    Undetermined,
}

impl Language {
    /// Every language of case files, by its name there.
    pub const NAMES: &'static [&'static str] = &["en", "fr"];

    /// The stored and printed name (ISO 639-1).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
            Self::Undetermined => "und",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One case, with everything resolved: it can be stored in a run and graded again without its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique over the suite, `[a-z0-9-]+`.
    pub id: String,
    /// The failure kind it belongs to; one file holds one family.
    pub family: String,
    /// The language of the request.
    pub language: Language,
    /// Target or guard.
    pub kind: CaseKind,
    /// The conversation so far, system message first (when there is one), ending in the message to answer.
    pub messages: Vec<Message>,
    /// The tools of the case, before any selection strategy.
    pub tools: Vec<ToolDefinition>,
    /// Where the failure was seen.
    pub provenance: String,
    /// What must happen, and what must not.
    pub expect: Expect,
    /// `file:line` of the case.
    pub source: String,
    /// The multi-round scenario this case stands for; then `messages` is its first turn and `expect` is
    /// empty, because the scenario says how it must end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Box<crate::rounds::Scenario>>,
}

/// What must happen, and what must not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Alternatives, one of which must happen; each is a list of calls that belong together. One for
    /// `calls`, several for `any_of`, none when no call is required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Vec<ExpectedCall>>,
    /// True when any call at all is wrong, reads included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_call: bool,
    /// The calls must come in this order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// Tools that must not be called, reads included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<String>,
}

impl Expect {
    /// True when some answer would fail it. A case without an effective check cannot be scored.
    pub fn is_effective(&self) -> bool {
        self.no_call
            || !self.forbid.is_empty()
            || (!self.alternatives.is_empty() && self.alternatives.iter().all(|calls| !calls.is_empty()))
    }
}

/// One call that must happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedCall {
    /// The tool's name.
    pub tool: String,
    /// What the arguments must be; arguments not listed are free as far as the schema allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "super::matcher::named")]
    pub arguments: Vec<(String, Argument)>,
    /// Arguments not listed are wrong (unless they have their schema's default value).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
}

/// sha256 (hex) over the resolved cases without their file positions: it changes when what is asked,
/// offered or expected changes, and not when a file is moved, commented or reformatted.
pub fn digest(cases: &[Case]) -> String {
    let mut hasher = Sha256::new();
    for case in cases {
        let bare = Case { source: String::new(), ..case.clone() };
        // Strings, numbers and lists with string keys: this always serialises.
        hasher.update(serde_json::to_vec(&bare).unwrap_or_default());
        hasher.update(b"\n");
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

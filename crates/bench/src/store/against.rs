//! What the manifest says about configurations that were measured beside each other to be compared.

use serde::{Deserialize, Serialize};

/// A configuration of an earlier run that is measured again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The earlier run.
    pub run: String,
    /// The configuration there.
    pub configuration: String,
}

/// What a comparison was told before the run. The first configuration is the one that the others are
/// compared with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Comparing {
    /// Cases that are meant to improve, by pattern; none named: those of kind target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Cases that must stay good, by pattern; none named: those of kind guard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<String>,
    /// Smallest difference that matters, a fraction; `None` is the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    /// What else may differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
}

/// A run that ends in a comparison: its first configuration is a baseline, measured afresh beside the
/// others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Against {
    /// What the comparison is told.
    #[serde(default)]
    pub comparing: Comparing,
    /// Cases that only the baseline has: not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_before: Vec<String>,
    /// Cases that the baseline does not have: not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_after: Vec<String>,
    /// Cases whose expectations have changed since the baseline's run: both sides are graded by those of
    /// today.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations_changed: Vec<String>,
    /// Cases whose question, history or scenario has changed since: both sides are asked today's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions_changed: Vec<String>,
    /// What else a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Names in one sentence, at most.
const MOST_NAMES: usize = 5;

impl Against {
    /// What a reader must know about what was measured, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let lists = [
            (&self.only_before, "left out, which the suite no longer has"),
            (&self.only_after, "left out, which the baseline's run does not have"),
            (
                &self.expectations_changed,
                "changed in what must happen since the baseline's run: both sides are graded by today's expectations",
            ),
            (
                &self.questions_changed,
                "changed in what is asked since the baseline's run: both sides are asked today's",
            ),
        ];
        let named = lists.into_iter().filter(|(names, _)| !names.is_empty());
        let sentences = named.map(|(names, what)| format!("{} {what}", counted(names)));
        sentences.chain(self.notes.iter().cloned()).collect()
    }
}

/// `7 cases (a, b, c, d, e and 2 more)`.
fn counted(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} case{} ({shown}{more})", names.len(), if names.len() == 1 { "" } else { "s" })
}

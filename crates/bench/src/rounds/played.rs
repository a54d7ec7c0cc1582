//! What happened when a scenario was played: stored whole, so that it can be graded again without a
//! model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenpass_model::{FinishReason, StructuredCall, Usage};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, FailureClass, RetryReason, Tier, TurnEnd};

/// One play of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The turns, in order; fewer than the scenario has when the backend failed.
    pub turns: Vec<PlayedTurn>,
    /// The world at the end.
    pub world: WorldEnd,
}

impl Played {
    /// Requests made to the model over all turns.
    pub fn rounds(&self) -> u32 {
        self.turns.iter().map(|turn| turn.answers.len() as u32).sum()
    }
}

/// One turn as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedTurn {
    /// What the person said.
    pub user: String,
    /// Every answer of the model, raw, in order.
    pub answers: Vec<RawAnswer>,
    /// The calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<PlayedCall>,
    /// Why the loop asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<RetryReason>,
    /// Transport classes of the turn's answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transport: Vec<FailureClass>,
    /// Its time ran out, whatever was shown then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// How it ended.
    pub end: TurnEnd,
    /// Who wrote what was shown: the model's SPEC, `tool:NAME`, or `application`.
    pub author: String,
    /// What was shown.
    pub text: String,
    /// Wall-clock time of the turn, milliseconds.
    pub ms: f64,
}

/// A raw answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawAnswer {
    /// sha256 of its request, see the run's `requests.jsonl`.
    pub request: String,
    /// The raw text.
    pub text: String,
    /// The raw reasoning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Calls of the structured channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StructuredCall>,
    /// Why it ended; absent when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// Token counts.
    #[serde(default)]
    pub usage: Usage,
    /// Milliseconds to the first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// Milliseconds to the end.
    pub ms: f64,
}

/// A call as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedCall {
    /// The tool.
    pub tool: String,
    /// The arguments, after aliases.
    pub arguments: Map<String, Value>,
    /// The tier after escalation.
    pub tier: Tier,
    /// How it ended.
    pub outcome: CallOutcome,
    /// How its confirmation was answered; absent when none was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<ConfirmationAnswer>,
    /// The result as the model got it, cut to 800 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// The scenario made it fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faulted: bool,
}

/// The world at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorldEnd {
    /// The files below the writable folder: path, state.
    pub files: BTreeMap<String, FileState>,
    /// Files of the cleanup folders that went to the trash, as `Folder/name`, sorted.
    pub trash: Vec<String>,
    /// Files of the cleanup folders and read-only roots that are gone without having gone to the
    /// trash, or that changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<String>,
    /// Files outside the sandbox that changed or whose text reached the model, and secrets that were
    /// found where they must be masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaked: Vec<String>,
    /// The memory's entries: section, text.
    pub memory: Vec<(String, String)>,
    /// Entries under anomalies that the application wrote by itself, because a tool failed (K63): they
    /// are nobody's doing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noted: Vec<String>,
    /// The portrait and everything else the person wrote into the memory file changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub portrait_changed: bool,
    /// The journals of the play do not verify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_fault: Option<String>,
    /// What was spent, US dollars.
    #[serde(default)]
    pub spent_usd: f64,
}

/// A file at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// sha256 of its bytes, hexadecimal.
    pub sha256: String,
    /// Its text, when it is UTF-8 and at most 4,096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

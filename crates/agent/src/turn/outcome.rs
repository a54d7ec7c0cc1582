//! What a turn leaves behind.

use serde_json::{Map, Value};
use tenpass_model::ModelError;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, Message, Tier, TraceEvent, TurnEnd};

/// One call of a turn and what became of it. What an answer claims is compared with these.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// Its number in the turn, from 1.
    pub call: u32,
    /// The tool.
    pub tool: String,
    /// The arguments after aliases, masked.
    pub arguments: Map<String, Value>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The tier after escalation.
    pub tier: Tier,
    /// A person approved exactly this call.
    pub confirmed: bool,
    /// The result as the model got it, masked, without delimiters.
    pub result: String,
}

/// A turn that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutcome {
    /// How.
    pub end: TurnEnd,
    /// The text to show, masked. Partial when the end is an interruption.
    pub text: String,
    /// Who wrote it: the model's SPEC, a provider, `tool:NAME`, or `application`.
    pub author: String,
    /// The reasoning of the answer, for display only (K25), masked.
    pub thinking: String,
    /// The new messages of this turn, masked: calls, results, the answer. Every call has its result.
    pub messages: Vec<Message>,
    /// Every call, in order.
    pub ledger: Vec<LedgerEntry>,
    /// Every answer a confirmation got, in order: labels (K91).
    pub confirmations: Vec<ConfirmationAnswer>,
    /// Requests made to the model, retries included and compressions not.
    pub rounds: u32,
    /// Something from outside was read.
    pub tainted: bool,
    /// The failure that ended it.
    pub fault: Option<ModelError>,
}

impl TurnOutcome {
    /// Calls that ran.
    pub fn calls_run(&self) -> u32 {
        self.ledger.iter().filter(|entry| matches!(entry.outcome, CallOutcome::Ok | CallOutcome::Error)).count() as u32
    }

    /// The last record of the turn.
    pub fn final_record(&self, ms: f64) -> TraceEvent {
        TraceEvent::Final {
            end: self.end,
            text: self.text.clone(),
            author: self.author.clone(),
            rounds: self.rounds,
            calls: self.calls_run(),
            ms,
        }
    }
}

//! What a turn is given, and what it gives back.

use tenpass_model::{ChatRequest, ModelError, ThinkLevel};
use tenpass_trace::{ConfirmationAnswer, Message, ToolDefinition, TurnEnd};

use crate::interaction::RecordError;
use crate::policy::Profile;
use crate::turn::{Language, LedgerEntry};

/// One turn of a conversation.
#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    /// The conversation.
    pub thread: String,
    /// The turn; unique.
    pub turn: String,
    /// The conversation as the model gets it: system first, the person's message of this turn last.
    pub messages: Vec<Message>,
    /// The person's message as typed.
    pub user_text: String,
    /// The front end that asks.
    pub profile: Profile,
    /// Thinking level the person chose for this message (K9).
    pub think: Option<ThinkLevel>,
    /// The last exchanges, oldest first, without system and tool messages: context for tools (K71).
    pub recent: Vec<Message>,
    /// The tools of this turn, when the caller has selected them already for its prompt
    /// ([`super::Agent::offer`]); `None` lets the turn select, and add the clause for the categories
    /// it leaves out (K27).
    pub offered: Option<Vec<ToolDefinition>>,
    /// Something from outside stands in `messages` already.
    pub tainted: bool,
    /// The language of the application's own sentences; `None` detects it.
    pub language: Option<Language>,
}

/// How long a turn took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TurnTimings {
    /// Milliseconds to the first shown text of the answer that stands; `None` when none streamed.
    pub first_text_ms: Option<f64>,
    /// Milliseconds in all, open confirmations included.
    pub total_ms: f64,
    /// Milliseconds that confirmations stood open.
    pub waited_ms: f64,
}

/// A turn that has ended. Every text in here is masked.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// How it ended.
    pub end: TurnEnd,
    /// The answer; partial when the end is an interruption.
    pub text: String,
    /// Who wrote it: the model's SPEC, a provider, `tool:NAME`, or `application`.
    pub author: String,
    /// The reasoning of the answer, for display (K25).
    pub thinking: String,
    /// The new messages: calls, results, the answer. Every call has its result.
    pub messages: Vec<Message>,
    /// Every call and what became of it.
    pub ledger: Vec<LedgerEntry>,
    /// The first request of the loop as the server got it (K91).
    pub first_request: Option<ChatRequest>,
    /// The last one.
    pub last_request: Option<ChatRequest>,
    /// Every answer a confirmation got.
    pub confirmations: Vec<ConfirmationAnswer>,
    /// Requests made to the model.
    pub rounds: u32,
    /// Something from outside was read.
    pub tainted: bool,
    /// The backend's failure.
    pub fault: Option<ModelError>,
    /// The record that could not be written.
    pub record_error: Option<RecordError>,
    /// Times.
    pub timings: TurnTimings,
}

/// A turn that did not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// A turn of the same conversation runs (Z10).
    #[error("conversation {thread:?} is busy")]
    Busy {
        /// The conversation.
        thread: String,
    },
}

impl TurnError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "wait for the running answer, or stop it first",
        }
    }
}

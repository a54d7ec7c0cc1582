//! What the loop is given besides a model and tools: a person to ask, a record to keep, a clock.

use std::time::Duration;

use jiff::Zoned;
use serde_json::{Map, Value};
use tenpass_model::BoxFuture;
use tenpass_trace::{CallOutcome, Intention, Tier, TraceRecord, TurnEnd};

/// A confirmation as it is shown (K42). Everything here was made by code from the real call.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// Unique; an answer names it, once.
    pub id: String,
    /// The call's number in its turn.
    pub call: u32,
    /// The tool.
    pub tool: String,
    /// The tier after escalation; irreversible is shown red.
    pub tier: Tier,
    /// The real arguments, complete. Show them with [`crate::untrusted::visible`], never shortened.
    pub arguments: Map<String, Value>,
    /// Lines computed by the tool, complete.
    pub preview: Vec<String>,
    /// Why it has to be asked, when the table alone would not have.
    pub reason: Option<String>,
    /// sha256 (hex) of tool, arguments and preview: what an approval is bound to.
    pub digest: String,
    /// How long it may stand open; then it is a refusal.
    pub expires_in: Duration,
}

/// How a person answered. An approval names the digest of what was shown; any other digest is a
/// refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Yes, to what has this digest.
    Approve {
        /// [`Confirmation::digest`] as it was shown.
        digest: String,
    },
    /// No.
    Refuse,
}

/// The states of a run (Z10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Nothing runs.
    Idle,
    /// The model thinks.
    Thinking,
    /// The model writes.
    Generating,
    /// A tool runs, or a confirmation stands open.
    Acting,
    /// The turn ended.
    Done,
    /// The turn failed.
    Error,
}

/// What happens in a turn, for whoever shows it. Texts are masked and free of special tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The state changed.
    State(RunState),
    /// A piece of the answer.
    Text(String),
    /// A piece of the reasoning, to be shown folded.
    Thinking(String),
    /// What was streamed since the last round is withdrawn: the loop asks again, or it was a call.
    Discard,
    /// A call is about to be judged and run.
    CallStarted {
        /// The call's number in its turn.
        call: u32,
        /// The tool.
        tool: String,
        /// The tier after escalation.
        tier: Tier,
        /// The arguments.
        arguments: Map<String, Value>,
    },
    /// A call ended.
    CallEnded {
        /// The call's number in its turn.
        call: u32,
        /// The tool.
        tool: String,
        /// How.
        outcome: CallOutcome,
        /// The result, shortened for display.
        summary: String,
    },
    /// A memory entry was written: pulse, chime (K65).
    MemoryWritten {
        /// The section.
        section: String,
        /// The entry.
        text: String,
    },
    /// A note of the application, such as a retry or a compression.
    Note(String),
    /// The turn ended; `text` is the whole answer.
    Finished {
        /// How.
        end: TurnEnd,
        /// The answer.
        text: String,
    },
}

/// The person, or the script, on the other side.
pub trait Interaction: Send + Sync {
    /// Something happened. Must not block.
    fn event(&self, event: AgentEvent);

    /// Shows a confirmation and waits for the reply. The loop ends the wait by itself when it
    /// expires or the turn is stopped, by dropping the future.
    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply>;
}

/// A record that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {what}: {reason}")]
pub struct RecordError {
    /// Which journal.
    pub what: String,
    /// The system's reason.
    pub reason: String,
}

/// Where records go. The loop never opens a store.
pub trait Recorder: Send + Sync {
    /// Puts the intention on disk before it returns (K51). On an error the call does not run.
    fn intention(&self, intention: &Intention) -> Result<(), RecordError>;

    /// Appends to the trace.
    fn trace(&self, record: &TraceRecord) -> Result<(), RecordError>;
}

/// The time, injected so that scenarios have their own.
pub trait Clock: Send + Sync {
    /// Now, with its zone.
    fn now(&self) -> Zoned;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Zoned {
        Zoned::now()
    }
}

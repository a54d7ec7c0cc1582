//! What a turn leaves behind: the events of the trace journal and the intentions (K50, K51).
//!
//! Every text and argument in here has been masked ([`crate::mask`]) by whoever makes the record;
//! reasoning and mail bodies are never put into one (K52).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::FailureClass;

/// What stands between a call and the world (K40). Ordered: arguments can only escalate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Runs at once: it reads, searches or recalls.
    Auto,
    /// Runs after a confirmation, or where the profile overrides it.
    Confirm,
    /// Runs after a red confirmation, always.
    Irreversible,
}

impl Tier {
    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Confirm => "confirm",
            Self::Irreversible => "irreversible",
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It ran and did what it is for.
    Ok,
    /// It ran and failed.
    Error,
    /// The person said no, or nothing in time.
    Refused,
    /// Never run: unknown tool, missing or invalid arguments, a rule of the policy (K45).
    Rejected,
    /// Never run: the same call was answered before in this turn; its answer was given again (K12).
    Repeated,
    /// Never run: repeated too often (Z4).
    Blocked,
    /// Stopped or timed out before or while it ran.
    Interrupted,
}

impl CallOutcome {
    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Repeated => "repeated",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a confirmation was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationAnswer {
    /// Yes, to exactly these arguments.
    Approved,
    /// No.
    Refused,
    /// Nothing came in time: a refusal (K82).
    Expired,
    /// The turn was stopped while it stood open.
    Stopped,
}

/// One line of `intentions.jsonl` (K51): the call as the model emitted it, on disk before its tier
/// is known and before anything is asked. It survives refusal, close and crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intention {
    /// The conversation.
    pub thread: String,
    /// The turn.
    pub turn: String,
    /// The call's number in its turn, from 1.
    pub call: u32,
    /// The tool's name as emitted.
    pub tool: String,
    /// The arguments as emitted, masked.
    pub arguments: Map<String, Value>,
    /// sha256 (hex) of tool and unmasked arguments: what an approval is bound to.
    pub digest: String,
}

/// Why the loop asked the model again instead of going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryReason {
    /// The final text was empty after a successful tool (K11a).
    EmptyFinal,
    /// The text announced an action, and no tool was called (K13).
    NarratedAction,
    /// A call stood in the text and could not be repaired (K14).
    CallAsText,
    /// The text held markers that only the application writes (K15).
    FabricatedMarker,
    /// The answer to a constrained request could not be read (K10).
    Unconstrained,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// A round without calls: the only end whose turn may be learned from (K91).
    Natural,
    /// The token limit ended the answer: it is shown, and never learned from.
    CutOff,
    /// The result of the last tool was shown as it is (K11a).
    LastResult,
    /// A cloud provider answered instead (K11b).
    Escalated,
    /// A fixed sentence of the application said that nothing was done.
    FixedSentence,
    /// The round cap was reached (K2, K3).
    RoundCap,
    /// Repeated calls were blocked three times in a row (Z5).
    RepeatAbort,
    /// The person stopped it (K6).
    Stopped,
    /// The time ran out (K4).
    TimedOut,
    /// The emergency word, before any model call (K49).
    Emergency,
    /// The backend failed.
    Failed,
}

impl TurnEnd {
    /// True when the text is partial: kept, marked, never exported, never retried (K6).
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::Stopped | Self::TimedOut | Self::Emergency | Self::Failed)
    }
}

/// One line of `orchestrator-trace.jsonl` (K50).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The conversation.
    pub thread: String,
    /// The turn, empty for what belongs to none.
    pub turn: String,
    /// What happened.
    #[serde(flatten)]
    pub event: TraceEvent,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceEvent {
    /// A person's message arrived.
    Request {
        /// The message.
        text: String,
        /// The model SPEC that will answer.
        model: String,
        /// `panel`, `bar` or `voice`.
        profile: String,
        /// Thinking level asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        think: Option<String>,
    },
    /// Which tools the turn offers.
    Route {
        /// The strategy.
        selection: String,
        /// The structure strategy.
        structure: String,
        /// Names, in order.
        offered: Vec<String>,
        /// Routing categories left out this turn.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        excluded: Vec<String>,
    },
    /// The model answered one request of the loop.
    Round {
        /// From 1, over the whole turn, retries included.
        number: u32,
        /// Tools in the request.
        tools: usize,
        /// Messages in the request.
        messages: usize,
        /// Prompt tokens as the backend reported them (K8).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_tokens: Option<u64>,
        /// Prompt tokens by our own estimate, beside the reported ones (K8).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counted_tokens: Option<u64>,
        /// Answer tokens as the backend reported them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        completion_tokens: Option<u64>,
        /// Wall-clock time of the request.
        ms: f64,
        /// Time to the first token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_token_ms: Option<f64>,
        /// Calls found.
        calls: usize,
        /// What the parser had to say about their transport.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<FailureClass>,
    },
    /// The loop asked again.
    Retry {
        /// Why.
        reason: RetryReason,
    },
    /// A confirmation was shown and answered.
    Confirmation {
        /// The call's number in its turn.
        call: u32,
        /// The tool.
        tool: String,
        /// The tier after escalation.
        tier: Tier,
        /// The answer.
        answer: ConfirmationAnswer,
        /// How long the person took.
        ms: f64,
    },
    /// A call ended.
    Call {
        /// The call's number in its turn.
        call: u32,
        /// The tool.
        tool: String,
        /// The tier after escalation.
        tier: Tier,
        /// How it ended.
        outcome: CallOutcome,
        /// The arguments, masked; raw ones of rejected calls included.
        arguments: Value,
        /// Why it was escalated, rejected, refused, blocked, or what the tool's error was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The result as the model got it, masked and cut to 800 characters (R9).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        result: String,
        /// How long it ran.
        ms: f64,
        /// Whether what it returned comes from outside and taints the turn.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untrusted: bool,
    },
    /// Work was handed to a provider.
    Delegation {
        /// `claude`, `chatgpt`, `deepseek` or `local`.
        provider: String,
        /// Characters of the message the application built.
        characters: usize,
        /// What it cost, in US dollars.
        cost_usd: f64,
        /// The same call was paid for before and its answer given again (K73).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        deduplicated: bool,
        /// How it ended.
        outcome: CallOutcome,
    },
    /// The memory was written, or a write was refused.
    Memory {
        /// `request`, `tool_failure`, `quiet`, `tool`, `user`.
        trigger: String,
        /// The section, when one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        section: Option<String>,
        /// Entries written.
        written: usize,
        /// Why nothing was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// The middle of the conversation was summarised (R5).
    Compression {
        /// Messages replaced.
        messages: usize,
        /// False when the summary failed and they were cut instead.
        summarised: bool,
    },
    /// A cloud provider was asked because the loop produced nothing (K11b).
    Escalation {
        /// The provider.
        provider: String,
        /// Whether it answered.
        answered: bool,
    },
    /// The watchdog's rules matched (K48).
    Watchdog {
        /// The rule.
        rule: String,
        /// Its figures.
        detail: String,
    },
    /// The turn was stopped or ran out of time.
    Cancellation {
        /// `stop`, `timeout` or `emergency`.
        by: String,
    },
    /// The model did not answer.
    Fault {
        /// The error.
        message: String,
        /// Its class.
        class: FailureClass,
    },
    /// The person judged an exchange (K90).
    Verdict {
        /// The turn that was judged.
        judged: String,
        /// `accepted`, `rejected` or `corrected`.
        verdict: String,
    },
    /// The turn ended.
    Final {
        /// How.
        end: TurnEnd,
        /// The text that was shown.
        text: String,
        /// The model, or the provider, that wrote it.
        author: String,
        /// Requests made to the local model.
        rounds: u32,
        /// Calls that ran.
        calls: u32,
        /// Whole turn.
        ms: f64,
    },
}

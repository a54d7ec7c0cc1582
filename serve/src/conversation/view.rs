//! A running turn as a client shows it.

use serde_json::{Map, Value, json};
use tenpass_agent::interaction::RunState;
use tenpass_trace::{CallOutcome, Tier};

use crate::text::{clean, clean_value};

/// A call of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView {
    /// Its number in the turn, from 1.
    pub call: u32,
    /// The tool.
    pub tool: String,
    /// The tier after escalation.
    pub tier: Tier,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// How it ended; `None` while it runs or stands open.
    pub outcome: Option<CallOutcome>,
    /// The result, shortened.
    pub summary: String,
}

impl CallView {
    /// C of the protocol.
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "call": self.call,
            "tool": clean(&self.tool),
            "tier": self.tier.as_str(),
            "arguments": clean_value(&Value::Object(self.arguments.clone())),
        });
        if let Some(outcome) = self.outcome {
            value["outcome"] = json!(outcome.as_str());
            value["summary"] = json!(clean(&self.summary));
        }
        value
    }
}

/// The stored name of a state.
pub(crate) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Idle | RunState::Thinking => "thinking",
        RunState::Generating => "generating",
        RunState::Acting => "acting",
        RunState::Done => "done",
        RunState::Error => "error",
    }
}

/// The running turn.
#[derive(Debug, Clone)]
pub struct TurnView {
    /// Its id.
    pub turn: String,
    /// What the person said.
    pub user: String,
    /// The state.
    pub state: RunState,
    /// The answer since the last withdrawal.
    pub text: String,
    /// The reasoning so far.
    pub thinking: String,
    /// The calls, in order.
    pub calls: Vec<CallView>,
    /// It was spoken.
    pub is_voice: bool,
}

impl TurnView {
    /// A turn that begins.
    pub fn new(turn: &str, user: &str, is_voice: bool) -> Self {
        Self {
            turn: turn.to_owned(),
            user: user.to_owned(),
            state: RunState::Thinking,
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            is_voice,
        }
    }

    /// T of the protocol, with the open question.
    pub fn to_json(&self, confirmation: Option<Value>) -> Value {
        json!({
            "turn": self.turn,
            "user": clean(&self.user),
            "state": state_name(self.state),
            "text": self.text,
            "thinking": self.thinking,
            "calls": self.calls.iter().map(CallView::to_json).collect::<Vec<_>>(),
            "confirmation": confirmation,
            "voice": self.is_voice,
        })
    }
}

//! What a turn asks of whoever drives it, and what it is given back.

use tenpass_model::{ChatRequest, FinishReason, StructuredCall, Usage};
use tenpass_trace::{Intention, Message, ToolCall, ToolDefinition};

use super::TurnOutcome;
use crate::interaction::Confirmation;

/// What has to happen next. Each step but the last is answered with the method named beside it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask the model: [`super::Turn::generated`] or [`super::Turn::generation_failed`].
    Generate(Box<Ask>),
    /// Put this on disk before anything else: [`super::Turn::intended`].
    Intend(Intention),
    /// Look at a call without any effect: [`super::Turn::inspected`].
    Inspect(ToolCall),
    /// Ask the person: [`super::Turn::confirmed`].
    Confirm(Confirmation),
    /// Run a call: [`super::Turn::executed`].
    Execute(ToolCall),
    /// Ask a provider instead: [`super::Turn::escalated`].
    Escalate(EscalationRequest),
    /// The turn has ended.
    Finish(Box<TurnOutcome>),
}

/// A request to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Ready to start.
    pub request: ChatRequest,
    /// The tools whose names count in the answer.
    pub offered: Vec<ToolDefinition>,
    /// The shape in which calls are declared to come.
    pub declared_shape: Option<String>,
    /// What the answer is for.
    pub purpose: Purpose,
}

/// What an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A round of the loop: shown as it arrives.
    Loop,
    /// The retry without tools after an empty final (K11a): shown as it arrives.
    FinalText,
    /// A summary of the middle, as constrained JSON (R5, K10): not shown.
    Compress,
    /// The same without the constraint: not shown.
    CompressPlain,
}

impl Purpose {
    /// True when the answer may become the turn's, so that it is shown while it streams.
    pub fn is_shown(self) -> bool {
        matches!(self, Self::Loop | Self::FinalText)
    }
}

/// A whole answer of the model, raw.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The text, untouched.
    pub text: String,
    /// The reasoning.
    pub thinking: String,
    /// Calls of the structured channel.
    pub calls: Vec<StructuredCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Token counts as reported.
    pub usage: Usage,
    /// How long it took.
    pub ms: f64,
    /// Up to its first token.
    pub first_token_ms: Option<f64>,
}

impl Default for Generation {
    fn default() -> Self {
        Self {
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: Usage::default(),
            ms: 0.0,
            first_token_ms: None,
        }
    }
}

/// What a provider is asked instead of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct EscalationRequest {
    /// The provider of [`super::TurnSetup::escalation`].
    pub provider: String,
    /// The conversation with this turn's results, masked.
    pub messages: Vec<Message>,
    /// The person's message, masked.
    pub user_text: String,
}

/// What a provider answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalated {
    /// The answer.
    pub text: String,
    /// Who wrote it.
    pub provider: String,
}

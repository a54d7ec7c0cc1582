//! What a turn is made of.

use std::collections::HashMap;

use tenpass_model::{ModelInfo, SamplingOptions, ThinkLevel};
use tenpass_trace::{Message, Tier, ToolDefinition};

use super::{Language, Limits};
use crate::policy::Policy;
use crate::{Selection, Structure};

/// Everything a turn needs to know before its first step. Nothing in here does anything.
#[derive(Debug, Clone)]
pub struct TurnSetup {
    /// The conversation.
    pub thread: String,
    /// The turn.
    pub turn: String,
    /// The numbers.
    pub limits: Limits,
    /// The tiers' policy for the front end that asks.
    pub policy: Policy,
    /// The selection strategy that chose [`Self::offered`], for the record.
    pub selection: Selection,
    /// How tools enter the request.
    pub structure: Structure,
    /// The tools this turn offers.
    pub offered: Vec<ToolDefinition>,
    /// Every tool there is.
    pub all_tools: Vec<ToolDefinition>,
    /// Tiers that the user set for tools the table does not know.
    pub user_tiers: HashMap<String, Tier>,
    /// The conversation as the model gets it: system first, the person's message of this turn last.
    pub messages: Vec<Message>,
    /// The person's message as typed.
    pub user_text: String,
    /// Sampling of the loop; `context` is lowered to what the model holds.
    pub options: SamplingOptions,
    /// Thinking level the person chose (K9).
    pub think: Option<ThinkLevel>,
    /// The model.
    pub info: ModelInfo,
    /// The provider that may answer when the loop produces nothing (K11b); `None` for none.
    pub escalation: Option<String>,
    /// The language of the application's own sentences.
    pub language: Language,
    /// Something from outside stands in [`Self::messages`] already.
    pub tainted: bool,
}

/// Context to ask a backend for (K9).
pub const CONTEXT_TOKENS: u32 = 32_768;
/// Temperature of judges and summaries (K9).
pub const JUDGE_TEMPERATURE: f32 = 0.1;
/// Most tokens of one answer of the loop.
const ANSWER_TOKENS: u32 = 2_048;

/// Sampling of the loop: temperature 0.3, a context of 32,768 tokens (K9).
pub fn loop_options() -> SamplingOptions {
    SamplingOptions {
        temperature: 0.3,
        context: Some(CONTEXT_TOKENS),
        max_tokens: ANSWER_TOKENS,
        ..SamplingOptions::default()
    }
}

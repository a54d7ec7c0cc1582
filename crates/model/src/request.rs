//! One request, the same for every backend, streaming or not.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenpass_trace::{Message, ToolDefinition};

/// How much a model may think before it answers. A string on every wire (K9): on some models a
/// boolean is silently ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkLevel {
    /// Short.
    Low,
    /// Middle.
    Medium,
    /// Long.
    High,
}

impl ThinkLevel {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// How the next token is chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplingOptions {
    /// Softmax temperature; 0 is greedy.
    pub temperature: f32,
    /// Keep the k most likely tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the smallest set whose probability reaches p; 1 keeps all.
    pub top_p: f32,
    /// Drop tokens below this share of the most likely one's probability; 0 keeps all.
    pub min_p: f32,
    /// Seed of this answer's random numbers.
    pub seed: u64,
    /// Most tokens the answer may have.
    pub max_tokens: u32,
    /// Context length to ask the backend for; `None` takes the model's own.
    pub context: Option<u32>,
    /// Texts that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
}

impl Default for SamplingOptions {
    /// The agent loop's defaults: temperature 0.3 (K9), top-k 40, top-p 0.95, min-p 0.05.
    fn default() -> Self {
        Self {
            temperature: 0.3,
            top_k: 40,
            top_p: 0.95,
            min_p: 0.05,
            seed: 0,
            max_tokens: 512,
            context: None,
            stop: Vec::new(),
        }
    }
}

/// Everything a model needs for one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation, system message first.
    pub messages: Vec<Message>,
    /// Tools offered through the model's own channel; empty when the structure strategy puts them
    /// into the text.
    #[serde(default)]
    pub tools: Vec<ToolDefinition>,
    /// JSON Schema that the sampler must enforce.
    #[serde(default)]
    pub format: Option<Value>,
    /// Thinking level; `None` sends nothing.
    #[serde(default)]
    pub think: Option<ThinkLevel>,
    /// Sampling.
    pub options: SamplingOptions,
    /// Ask for a streamed response. Both paths use the same request builder (K7).
    #[serde(default = "yes")]
    pub stream: bool,
    /// What the caller calls this request (a case id). Never sent to a model and never stored
    /// with the request; replayed answers can be matched by it.
    #[serde(skip)]
    pub label: Option<String>,
}

fn yes() -> bool {
    true
}

impl Default for ChatRequest {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            tools: Vec::new(),
            format: None,
            think: None,
            options: SamplingOptions::default(),
            stream: true,
            label: None,
        }
    }
}

//! What is read of a log. Whatever else it has is passed over: newer versions add fields.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};
use tenpass_trace::Role;

/// `header.json`, `_journal/start.json`, or a `.json` log without its samples.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Header {
    pub(crate) version: Option<u64>,
    pub(crate) status: Option<String>,
    pub(crate) eval: Spec,
    pub(crate) plan: Option<Plan>,
    pub(crate) results: Option<Results>,
    pub(crate) stats: Option<Stats>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Spec {
    pub(crate) task: String,
    pub(crate) created: Option<String>,
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) config: EvalConfig,
    pub(crate) model_generate_config: Option<Config>,
    pub(crate) revision: Option<Revision>,
    pub(crate) packages: Option<HashMap<String, String>>,
    pub(crate) metadata: Option<Map<String, Value>>,
    pub(crate) task_args: Option<Map<String, Value>>,
    pub(crate) task_args_passed: Option<Map<String, Value>>,
    pub(crate) model_args: Option<Map<String, Value>>,
    pub(crate) scorers: Option<Vec<Scorer>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct EvalConfig {
    pub(crate) epochs: Option<u32>,
    pub(crate) time_limit: Option<f64>,
    pub(crate) max_samples: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Revision {
    pub(crate) commit: Option<String>,
    pub(crate) dirty: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Scorer {
    pub(crate) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Plan {
    pub(crate) config: Option<Config>,
}

/// A `GenerateConfig`.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Config {
    pub(crate) max_tokens: Option<u32>,
    pub(crate) temperature: Option<f32>,
    pub(crate) top_p: Option<f32>,
    pub(crate) top_k: Option<u32>,
    pub(crate) seed: Option<i64>,
    pub(crate) stop_seqs: Option<Vec<String>>,
    pub(crate) reasoning_effort: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Results {
    pub(crate) scores: Option<Vec<ResultScore>>,
    pub(crate) headline: Option<Headline>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ResultScore {
    pub(crate) scorer: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Headline {
    pub(crate) scorer: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Stats {
    pub(crate) started_at: Option<String>,
    pub(crate) completed_at: Option<String>,
}

/// A sample in one epoch.
#[derive(Debug, Deserialize)]
pub(crate) struct Sample {
    pub(crate) id: Id,
    pub(crate) epoch: u32,
    pub(crate) input: Input,
    pub(crate) target: Option<Target>,
    pub(crate) messages: Option<Vec<ChatMessage>>,
    pub(crate) output: Option<Output>,
    pub(crate) scores: Option<Map<String, Value>>,
    /// Of logs before there could be several.
    pub(crate) score: Option<Value>,
    pub(crate) metadata: Option<Map<String, Value>>,
    pub(crate) store: Option<Map<String, Value>>,
    #[serde(default)]
    pub(crate) events: FirstRequest,
    pub(crate) model_usage: Option<HashMap<String, UsageCounts>>,
    pub(crate) started_at: Option<String>,
    pub(crate) total_time: Option<f64>,
    pub(crate) working_time: Option<f64>,
    pub(crate) error: Option<Trouble>,
    pub(crate) invalidation: Option<Value>,
    pub(crate) attachments: Option<HashMap<String, String>>,
    pub(crate) limit: Option<Limit>,
}

/// A sample's id: a text or a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged, expecting = "a text or a whole number")]
pub(crate) enum Id {
    Text(String),
    Number(i64),
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => number.fmt(formatter),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of messages")]
pub(crate) enum Input {
    Text(String),
    Messages(Vec<ChatMessage>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub(crate) enum Target {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChatMessage {
    pub(crate) role: Role,
    pub(crate) content: Content,
    pub(crate) source: Option<String>,
    pub(crate) tool_calls: Option<Vec<Call>>,
    /// A tool's message has one, a person's may have a list.
    pub(crate) tool_call_id: Option<Value>,
    pub(crate) function: Option<String>,
    pub(crate) error: Option<CallError>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text or a list of parts")]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Part {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) text: Option<String>,
    pub(crate) reasoning: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) function: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    pub(crate) parse_error: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallError {
    pub(crate) message: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    pub(crate) choices: Option<Vec<Choice>>,
    pub(crate) usage: Option<UsageCounts>,
    pub(crate) time: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Choice {
    pub(crate) message: ChatMessage,
    pub(crate) stop_reason: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UsageCounts {
    #[serde(default)]
    pub(crate) input_tokens: u64,
    #[serde(default)]
    pub(crate) output_tokens: u64,
    pub(crate) input_tokens_cache_write: Option<u64>,
    pub(crate) input_tokens_cache_read: Option<u64>,
}

/// A `Score`.
#[derive(Debug, Deserialize)]
pub(crate) struct Score {
    pub(crate) value: Value,
    pub(crate) explanation: Option<String>,
    pub(crate) metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Trouble {
    pub(crate) message: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Limit {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// Tools and settings of the first request among a sample's events; they are the only ones that are kept.
#[derive(Debug, Default)]
pub(crate) struct FirstRequest {
    pub(crate) tools: Vec<Value>,
    pub(crate) config: Option<Config>,
}

impl<'de> Deserialize<'de> for FirstRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Events;
        impl<'de> Visitor<'de> for Events {
            type Value = FirstRequest;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of events")
            }

            fn visit_unit<E>(self) -> Result<FirstRequest, E> {
                Ok(FirstRequest::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<FirstRequest, A::Error> {
                let mut first = None;
                while let Some(event) = events.next_element::<Event>()? {
                    if first.is_none() && event.kind.as_deref() == Some("model") {
                        // Settings that are odd are not worth a refusal: the sample says what came of them.
                        let config = event.config.and_then(|config| serde_json::from_value(config).ok());
                        first = Some(FirstRequest { tools: event.tools.unwrap_or_default(), config });
                    }
                }
                Ok(first.unwrap_or_default())
            }
        }
        deserializer.deserialize_any(Events)
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "event")]
    kind: Option<String>,
    tools: Option<Vec<Value>>,
    config: Option<Value>,
}

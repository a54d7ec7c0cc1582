//! From a case and a configuration to the request a model gets.

use tenpass_agent::select::{excluded_clause, select, turn_query};
use tenpass_agent::structure::prepare;
use tenpass_model::{ChatRequest, ModelInfo, SamplingOptions};
use tenpass_trace::{Message, Role, ToolDefinition};

use crate::cases::Case;
use crate::store::{ConfigurationRecord, RequestRecord, sha256_hex};

/// What all passes of one (case, configuration) share; they differ by seed only.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedCase {
    /// The tools offered this turn.
    pub offered: Vec<ToolDefinition>,
    /// The shape calls are asked for in, when they come as text.
    pub declared_shape: Option<String>,
    /// The request with seed 0.
    pub request: ChatRequest,
    /// sha256 (hexadecimal) of the request's JSON.
    pub sha256: String,
}

impl PreparedCase {
    /// The request of the pass with this seed.
    pub(crate) fn seeded(&self, seed: u64) -> ChatRequest {
        let mut request = self.request.clone();
        request.options.seed = seed;
        request
    }

    pub(crate) fn record(&self) -> RequestRecord {
        RequestRecord {
            sha256: self.sha256.clone(),
            offered: self.offered.iter().map(|tool| tool.name.clone()).collect(),
            request: self.request.clone(),
        }
    }
}

/// Chooses the tools, puts them where the structure strategy wants them, and builds the request:
/// a pure function of the case and the configuration.
pub fn prepare_case(case: &Case, info: &ModelInfo, configuration: &ConfigurationRecord) -> PreparedCase {
    let offered = offered_tools(case, configuration);
    let request = ChatRequest {
        messages: case.messages.clone(),
        tools: offered.clone(),
        format: None,
        think: configuration.think,
        options: SamplingOptions { seed: 0, ..configuration.options.clone() },
        stream: configuration.stream,
        label: Some(case.id.clone()),
    };
    let mut prepared = prepare(configuration.structure, info, request);
    if let Some(clause) = excluded_clause(&case.tools, &offered) {
        append_to_system(&mut prepared.request.messages, &clause);
    }
    let json = serde_json::to_vec(&prepared.request).unwrap_or_default();
    PreparedCase {
        offered,
        declared_shape: prepared.declared_shape,
        sha256: sha256_hex(&json),
        request: prepared.request,
    }
}

/// The tools of the case that this configuration offers.
pub(crate) fn offered_tools(case: &Case, configuration: &ConfigurationRecord) -> Vec<ToolDefinition> {
    select(configuration.selection, &case.tools, &turn_query(&case.messages))
}

fn append_to_system(messages: &mut Vec<Message>, text: &str) {
    match messages.first_mut() {
        Some(first) if first.role == Role::System => {
            if !first.content.is_empty() {
                first.content.push_str("\n\n");
            }
            first.content.push_str(text);
        }
        _ => messages.insert(0, Message::system(text)),
    }
}

//! Tool definitions: what the model is told, plus what routing and grading need to know.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The routing category of a tool (K26). A keyword router decides per category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    /// Searches and reads outside the machine.
    Web,
    /// Reads on this machine.
    PcRead,
    /// Creates or changes something on this machine.
    PcWrite,
    /// Acts on the desktop: opens, launches, controls.
    PcAction,
    /// Memory, delegation, reminders: always routed in.
    Core,
}

/// One tool: a name, a description and a JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// Unique name, `[A-Za-z0-9_.-]+`.
    pub name: String,
    /// What it does and when it is right, for the model.
    pub description: String,
    /// JSON Schema (an object schema) of the arguments.
    #[serde(default = "empty_schema")]
    pub parameters: Value,
    /// Routing category.
    #[serde(default = "core_category")]
    pub category: ToolCategory,
    /// Words, in any language, that make this tool relevant (strategy `relevance`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Offered in every turn by the strategy `relevance`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
    /// Changes nothing: an extra call of it is free unless a case forbids it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads: bool,
}

/// The schema of a tool without parameters, as every wire format wants it.
pub(crate) fn empty_schema() -> Value {
    serde_json::json!({ "type": "object", "properties": {} })
}

fn core_category() -> ToolCategory {
    ToolCategory::Core
}

impl ToolDefinition {
    /// A tool without parameters.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: empty_schema(),
            category: ToolCategory::Core,
            keywords: Vec::new(),
            always: false,
            reads: false,
        }
    }

    /// The same tool with this argument schema.
    pub fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }

    /// The definition as models and servers expect it:
    /// `{"type":"function","function":{"name","description","parameters"}}`.
    pub fn to_wire(&self) -> Value {
        serde_json::json!({
            "type": "function",
            "function": { "name": self.name, "description": self.description, "parameters": self.parameters }
        })
    }
}

//! What a template can do, found by rendering it with sentinels.

use serde_json::{Map, Value, json};
use tenpass_model::calls::Shape;
use tenpass_trace::ToolCall;

use super::ChatTemplate;
use super::conversation::Conversation;

const SYSTEM: &str = "sentinel-system";
const USER: &str = "sentinel-user";
const TOOL: &str = "sentinel_tool";
const ARGUMENT: &str = "sentinel_argument";
const VALUE: &str = "sentinel-value";
const RESULT: &str = "sentinel-result";

/// The form of call ids that the template accepts or prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CallIds {
    /// The backend's own, else a number.
    #[default]
    Any,
    /// Exactly nine letters and digits (Mistral).
    NineCharacters,
    /// `functions.NAME:INDEX` (Kimi), printed in place of the name.
    Functions,
}

impl CallIds {
    pub(super) fn id(self, call: &ToolCall, index: usize) -> String {
        match self {
            Self::Any => call.id.clone().unwrap_or_else(|| Self::numbered(index)),
            Self::NineCharacters => Self::numbered(index),
            Self::Functions => format!("functions.{}:{index}", call.name),
        }
    }

    pub(super) fn numbered(index: usize) -> String {
        format!("call{index:05}")
    }
}

/// What the template renders itself.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // independent findings, not a state
pub(super) struct Support {
    /// A message with the role `system`.
    pub(super) system: bool,
    /// Tool definitions.
    pub(super) tools: bool,
    /// Calls of an assistant message.
    pub(super) calls: bool,
    /// Messages with the role `tool`.
    pub(super) results: bool,
    /// Arguments must be given as JSON text rather than as an object.
    pub(super) string_arguments: bool,
    /// Contents must be given as a list of parts.
    pub(super) typed_content: bool,
    /// The form of call ids.
    pub(super) call_ids: CallIds,
}

impl Support {
    /// Renders `template` with sentinels and looks for them.
    pub(super) fn probe(template: &ChatTemplate) -> Self {
        let source = template.source.as_deref().unwrap_or_default();
        let mut support = Self::default();
        if source.contains("length != 9") || source.contains("length == 9") {
            support.call_ids = CallIds::NineCharacters;
        } else if source.contains("<|tool_call_begin|>") && source.contains("['id']") {
            support.call_ids = CallIds::Functions;
        }
        let user = json!({ "role": "user", "content": USER });
        let only_user = json!([user]);
        let shows = |messages: &Value, tools: bool, typed: bool, sentinels: &[&str]| {
            let tools = if tools { vec![tool()] } else { Vec::new() };
            let mut conversation = Conversation::of(messages.clone(), tools, typed);
            let text = template.render_conversation(&conversation).or_else(|error| {
                if conversation.merge_turns() { template.render_conversation(&conversation) } else { Err(error) }
            });
            text.is_ok_and(|text| sentinels.iter().all(|sentinel| text.contains(sentinel)))
        };
        support.typed_content = !shows(&only_user, false, false, &[USER]) && shows(&only_user, false, true, &[USER]);
        let typed = support.typed_content;
        let with_system = json!([{ "role": "system", "content": SYSTEM }, user]);
        support.system = shows(&with_system, false, typed, &[SYSTEM, USER]);
        let base = if support.system { &with_system } else { &only_user };
        support.tools = shows(base, true, typed, &[USER, TOOL]);
        if !support.tools {
            // Calls and results then have the toolkit's form, too, whatever the template knows.
            return support;
        }
        let with_call = |string: bool| {
            let mut messages = base.clone();
            let id = support.call_ids.id(&ToolCall { id: None, name: TOOL.to_owned(), arguments: Map::new() }, 0);
            if let Value::Array(messages) = &mut messages {
                messages.push(assistant(&id, string));
                messages.push(json!({ "role": "tool", "name": TOOL, "tool_call_id": id, "content": RESULT }));
            }
            messages
        };
        // The call's own texts do not occur in the tool's definition.
        let called = [ARGUMENT, VALUE];
        let object = with_call(false);
        support.calls = shows(&object, true, typed, &called);
        if !support.calls {
            support.string_arguments = shows(&with_call(true), true, typed, &called);
            support.calls = support.string_arguments;
        }
        let messages = if support.string_arguments { with_call(true) } else { object };
        support.results = support.calls && shows(&messages, true, typed, &[RESULT]);
        // A template that prints tools but no results could not go on after a call.
        support.calls &= support.results;
        support
    }
}

fn tool() -> Value {
    let parameters = json!({
        "type": "object",
        "properties": { "probe": { "type": "string", "description": "probe" } },
        "required": ["probe"]
    });
    json!({ "type": "function", "function": { "name": TOOL, "description": "probe", "parameters": parameters } })
}

fn assistant(id: &str, string: bool) -> Value {
    let arguments = json!({ ARGUMENT: VALUE });
    let arguments = if string { arguments.to_string().into() } else { arguments };
    let call = json!({ "id": id, "type": "function", "function": { "name": TOOL, "arguments": arguments } });
    json!({ "role": "assistant", "content": "", "tool_calls": [call] })
}

/// The name of the shape in which answers to such a template write calls.
pub(super) fn declared_shape(source: &str) -> &'static str {
    // LFM2's template lists tools but never shows a call.
    let by_list = source.contains("<|tool_list_start|>").then_some(Shape::Lfm2);
    Shape::of_template(source).or(by_list).unwrap_or(Shape::Hermes).as_str()
}

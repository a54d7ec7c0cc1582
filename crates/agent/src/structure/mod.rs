//! How tools enter the request and which shape calls come back in (Z2/Z3, Z8).
//!
//! The prompt is for intent, the grammar or the native channel is for shape. What is written into
//! the system message depends on the tools alone, so that it is the same for every request that
//! offers the same ones.

mod grammar;
mod history;
mod listing;

pub use grammar::{ANSWER, call_schema};

use serde::{Deserialize, Serialize};
use tenpass_model::{Capabilities, ChatRequest, ModelInfo};
use tenpass_trace::{Message, Role};

use crate::Structure;
use crate::describe::describe;

/// A request that any model can take, and the shape in which its calls are declared to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// The request, ready to start.
    pub request: ChatRequest,
    /// The name of the declared shape, for [`tenpass_model::calls::ParseInput::declared`].
    pub declared_shape: Option<String>,
}

const GRAMMAR_INTRODUCTION: &str = "\
# Tools

Reply with one JSON object and nothing else. Its `name` is a tool of this list and its `arguments` are that tool's. \
To say something without using a tool, the `name` is `answer` and the only argument is `text`.
";

const TEXT_INTRODUCTION: &str = "\
# Tools

To use a tool, reply with its call between the two tags, as JSON, once for each call:
<tool_call>
{\"name\": <name of the tool>, \"arguments\": <object with its arguments>}
</tool_call>
Then stop: the result comes in the next message. When no tool is needed, answer in plain text without tags.
";

/// Puts the request's tools where the strategy wants them.
///
/// A request without tools is left alone, except that a history with calls in it is still written
/// the way the strategy writes calls.
pub fn prepare(structure: Structure, info: &ModelInfo, mut request: ChatRequest) -> Prepared {
    if structure == Structure::Native {
        request.tools = request.tools.iter().map(describe).collect();
        return Prepared { request, declared_shape: info.capabilities.declared_shape.clone() };
    }
    let tools = std::mem::take(&mut request.tools);
    request.messages = history::as_text(structure, std::mem::take(&mut request.messages));
    if tools.is_empty() {
        return Prepared { request, declared_shape: None };
    }
    let (introduction, shape) = match structure {
        Structure::Grammar => (GRAMMAR_INTRODUCTION, "constrained"),
        Structure::Text | Structure::Native => (TEXT_INTRODUCTION, "hermes"),
    };
    if structure == Structure::Grammar {
        request.format = Some(call_schema(&tools));
    }
    append_to_system(&mut request.messages, &format!("{introduction}\n{}", listing::list(&tools)));
    Prepared { request, declared_shape: Some(shape.to_owned()) }
}

/// Appends a section to the system message, which is made if there is none.
fn append_to_system(messages: &mut Vec<Message>, section: &str) {
    match messages.first_mut() {
        Some(first) if first.role == Role::System && !first.content.trim().is_empty() => {
            first.content = format!("{}\n\n{section}", first.content.trim_end());
        }
        Some(first) if first.role == Role::System => section.clone_into(&mut first.content),
        _ => messages.insert(0, Message::system(section)),
    }
}

/// A structure chosen for a model, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The structure.
    pub structure: Structure,
    /// Why, for the manifest.
    pub reason: &'static str,
}

/// The structure that fits what a model declares (Z8): its own channel, else a schema that its
/// sampler enforces, else tagged text.
pub fn choose(capabilities: &Capabilities) -> Choice {
    let (structure, reason) = if capabilities.tools {
        (Structure::Native, "the model's template renders tools")
    } else if capabilities.structured_output {
        (Structure::Grammar, "the template renders no tools, and the sampler enforces a schema")
    } else {
        (Structure::Text, "the template renders no tools, and nothing enforces a schema")
    };
    Choice { structure, reason }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenpass_trace::{ToolCall, ToolDefinition};

    use super::*;

    fn info(tools: bool, structured_output: bool) -> ModelInfo {
        ModelInfo {
            spec: "replay:x".into(),
            backend: "replay".into(),
            name: "x".into(),
            digest: None,
            template_digest: None,
            quantization: None,
            context: None,
            capabilities: Capabilities {
                tools,
                thinking: false,
                structured_output,
                declared_shape: Some("gemma4".into()),
            },
            runtime: None,
        }
    }

    fn request(messages: Vec<Message>) -> ChatRequest {
        let lamp = ToolDefinition::new("lamp", "Switches a lamp").with_parameters(json!({
            "type": "object", "properties": {"room": {"enum": ["attic", "hall"]}}, "required": ["room"]
        }));
        ChatRequest { messages, tools: vec![lamp], ..ChatRequest::default() }
    }

    fn turn() -> Vec<Message> {
        vec![Message::system("Be brief."), Message::user("Light in the attic")]
    }

    #[test]
    fn native_keeps_the_tools_and_restates_them() {
        let prepared = prepare(Structure::Native, &info(true, false), request(turn()));
        assert_eq!(prepared.declared_shape.as_deref(), Some("gemma4"));
        assert_eq!(prepared.request.messages, turn());
        assert_eq!(prepared.request.tools[0].description, "Switches a lamp. Required: room (attic | hall).");
        assert_eq!(prepared.request.format, None);
    }

    #[test]
    fn grammar_moves_the_tools_into_the_prompt_and_the_schema() {
        let prepared = prepare(Structure::Grammar, &info(false, true), request(turn()));
        assert_eq!(prepared.declared_shape.as_deref(), Some("constrained"));
        assert!(prepared.request.tools.is_empty());
        let system = &prepared.request.messages[0].content;
        assert!(system.starts_with("Be brief.\n\n# Tools") && system.contains("attic | hall"), "{system}");
        let schema = prepared.request.format.unwrap();
        let accepts = |value| jsonschema::is_valid(&schema, &value);
        assert!(accepts(json!({"name": "lamp", "arguments": {"room": "hall"}})));
        assert!(accepts(json!({"name": "answer", "arguments": {"text": "hi"}})));
        assert!(!accepts(json!({"name": "lamp", "arguments": {"room": "cellar"}})));
        assert!(!accepts(json!({"name": "lamp", "arguments": {"room": "hall", "on": true}})));
        assert!(!accepts(json!({"name": "door", "arguments": {}})));
    }

    #[test]
    fn the_system_text_depends_on_the_tools_alone() {
        for structure in [Structure::Grammar, Structure::Text] {
            let first = prepare(structure, &info(false, true), request(turn()));
            let other = vec![Message::system("Be brief."), Message::user("Something else entirely")];
            let second = prepare(structure, &info(false, true), request(other));
            assert_eq!(first.request.messages[0], second.request.messages[0]);
        }
    }

    #[test]
    fn text_asks_for_tagged_calls_and_shows_the_history_that_way() {
        let mut messages = turn();
        messages.push(Message {
            tool_calls: vec![ToolCall {
                id: None,
                name: "lamp".into(),
                arguments: json!({"room": "attic"}).as_object().cloned().unwrap(),
            }],
            ..Message::assistant("")
        });
        messages.push(Message::tool("lamp", "the bulb is broken"));
        let prepared = prepare(Structure::Text, &info(false, false), request(messages));
        assert_eq!(prepared.declared_shape.as_deref(), Some("hermes"));
        assert_eq!(prepared.request.format, None);
        let messages = &prepared.request.messages;
        assert!(messages[0].content.contains("<tool_call>"));
        assert_eq!(
            messages[2].content,
            "<tool_call>\n{\"name\":\"lamp\",\"arguments\":{\"room\":\"attic\"}}\n</tool_call>"
        );
        assert_eq!(messages[3].role, Role::User);
        assert!(messages[3].content.contains("the bulb is broken"));
    }

    #[test]
    fn without_a_system_message_one_is_made_and_without_tools_none() {
        let prepared = prepare(Structure::Text, &info(false, false), request(vec![Message::user("hi")]));
        assert_eq!(prepared.request.messages[0].role, Role::System);
        let bare = ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() };
        let prepared = prepare(Structure::Grammar, &info(false, false), bare.clone());
        assert_eq!((prepared.request, prepared.declared_shape), (bare, None));
    }

    #[test]
    fn the_choice_follows_what_the_model_declares() {
        assert_eq!(choose(&info(true, true).capabilities).structure, Structure::Native);
        assert_eq!(choose(&info(false, true).capabilities).structure, Structure::Grammar);
        assert_eq!(choose(&info(false, false).capabilities).structure, Structure::Text);
    }
}

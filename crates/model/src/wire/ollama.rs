//! Bodies of Ollama's `/api/chat` (docs/api.md of the Ollama repository).

use serde_json::{Map, Value, json};
use tenpass_trace::Role;

use super::{Linked, decimal, link, seed, tools};
use crate::{Capabilities, ChatRequest};

/// The body of one chat request to `model`. `keep_alive` is how long the model stays loaded
/// (`"10m"`); `None` leaves it to the server.
pub fn chat_body(model: &str, request: &ChatRequest, capabilities: &Capabilities, keep_alive: Option<&str>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), link(&request.messages).iter().map(message).collect());
    body.insert("stream".into(), request.stream.into());
    // An overflow must be an error: by default the server drops the FRONT of the conversation,
    // system message and tools first, without a word. Servers before this field ignore it.
    body.insert("truncate".into(), false.into());
    body.insert("shift".into(), false.into());
    body.insert("options".into(), options(request));
    if !request.tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools(request)));
    }
    if let Some(format) = &request.format {
        body.insert("format".into(), format.clone());
    }
    match request.think {
        Some(level) => {
            body.insert("think".into(), level.as_str().into());
        }
        // Unset means ON for a model that can think.
        None if capabilities.thinking => {
            body.insert("think".into(), false.into());
        }
        None => {}
    }
    if let Some(keep_alive) = keep_alive {
        body.insert("keep_alive".into(), keep_alive.into());
    }
    Value::Object(body)
}

fn options(request: &ChatRequest) -> Value {
    let options = &request.options;
    let mut sent = Map::new();
    if let Some(context) = options.context {
        sent.insert("num_ctx".into(), context.into());
    }
    sent.insert("num_predict".into(), options.max_tokens.into());
    sent.insert("temperature".into(), decimal(options.temperature));
    sent.insert("top_k".into(), options.top_k.into());
    sent.insert("top_p".into(), decimal(options.top_p));
    sent.insert("min_p".into(), decimal(options.min_p));
    sent.insert("seed".into(), seed(options.seed).into());
    if !options.stop.is_empty() {
        sent.insert("stop".into(), options.stop.clone().into());
    }
    Value::Object(sent)
}

fn message(linked: &Linked<'_>) -> Value {
    let mut sent = json!({ "role": linked.message.role.as_str(), "content": linked.message.content });
    if !linked.calls.is_empty() {
        sent["tool_calls"] = linked
            .calls
            .iter()
            .enumerate()
            .map(|(index, (id, call))| {
                // Here `arguments` is an OBJECT, unlike in the OpenAI protocol.
                json!({ "id": id, "function": { "index": index, "name": call.name, "arguments": call.arguments } })
            })
            .collect();
    }
    if let (Role::Tool, Some(answers)) = (linked.message.role, &linked.answers) {
        sent["tool_name"] = answers.name.clone().into();
        sent["tool_call_id"] = answers.id.clone().into();
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThinkLevel;
    use crate::wire::tests_support::{capabilities, conversation};

    #[test]
    fn every_setting_arrives_and_arguments_are_objects() {
        let mut request = conversation();
        request.think = Some(ThinkLevel::High);
        let body = chat_body("gemma4:12b", &request, &capabilities(true), Some("5m"));
        assert_eq!(body["options"]["num_ctx"], 32768);
        assert_eq!(body["options"]["num_predict"], 512);
        assert_eq!(body["options"]["temperature"].to_string(), "0.3");
        assert_eq!(body["options"]["stop"], json!(["END"]));
        assert_eq!(body["truncate"], false);
        assert_eq!(body["think"], "high");
        assert_eq!(body["keep_alive"], "5m");
        assert_eq!(body["format"]["type"], "object");
        assert_eq!(body["tools"][0]["function"]["parameters"], json!({"type": "object", "properties": {}}));
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], json!({"on": true}));
        assert_eq!(messages[3]["tool_name"], "lamp");
        assert_eq!(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
        assert!(messages[2].get("thinking").is_none(), "reasoning is never sent back");
    }

    #[test]
    fn thinking_is_switched_off_only_where_it_exists() {
        let request = ChatRequest::default();
        assert_eq!(chat_body("m", &request, &capabilities(true), None)["think"], false);
        let plain = chat_body("m", &request, &capabilities(false), None);
        for absent in ["think", "tools", "format", "keep_alive"] {
            assert!(plain.get(absent).is_none(), "{absent}");
        }
        assert!(plain["options"].get("num_ctx").is_none());
    }

    #[test]
    fn streaming_and_blocking_differ_in_one_field() {
        let streaming = chat_body("m", &conversation(), &capabilities(false), None);
        let blocking = chat_body("m", &ChatRequest { stream: false, ..conversation() }, &capabilities(false), None);
        let mut same = blocking.clone();
        same["stream"] = true.into();
        assert_eq!(streaming, same);
        assert_eq!(blocking["stream"], false);
    }
}

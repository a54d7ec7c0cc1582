//! Bodies of the OpenAI-compatible `/chat/completions`.

use serde_json::{Map, Value, json};
use tenpass_trace::Role;

use super::{Linked, decimal, link, seed, tools};
use crate::{Capabilities, ChatRequest};

/// Fields beyond the OpenAI protocol. A strict server answers them with HTTP 400; then the
/// request is sent once more without.
pub const EXTENSIONS: [&str; 4] = ["top_k", "min_p", "cache_prompt", "chat_template_kwargs"];
/// Fields of the protocol that some servers do not know and an answer can do without.
pub const OPTIONAL: [&str; 3] = ["seed", "stream_options", "parallel_tool_calls"];

/// What the server at the other end understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent fact about a server")]
pub struct Dialect {
    /// It is llama.cpp: prompt caching and template arguments are sent.
    pub llama_cpp: bool,
    /// It accepts [`EXTENSIONS`].
    pub extensions: bool,
    /// It accepts [`OPTIONAL`].
    pub optional: bool,
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { llama_cpp: false, extensions: true, optional: true, completion_tokens: false }
    }
}

impl Dialect {
    /// The dialect to try next after HTTP 400 with `message`; `None` when the message names
    /// nothing that could be left out. Each step is taken once, so this ends.
    pub fn after_refusal(self, message: &str) -> Option<Self> {
        let names = |fields: &[&str]| fields.iter().any(|field| message.contains(field));
        if !self.completion_tokens && message.contains("max_completion_tokens") {
            Some(Self { completion_tokens: true, ..self })
        } else if self.extensions && names(&EXTENSIONS) {
            Some(Self { extensions: false, ..self })
        } else if self.optional && names(&OPTIONAL) {
            Some(Self { optional: false, ..self })
        } else {
            None
        }
    }

    fn accepts(self, field: &str) -> bool {
        (self.extensions || !EXTENSIONS.contains(&field)) && (self.optional || !OPTIONAL.contains(&field))
    }
}

/// The body of one chat request to `model`.
pub fn chat_body(model: &str, request: &ChatRequest, capabilities: &Capabilities, dialect: Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), link(&request.messages).iter().map(message).collect());
    body.insert("stream".into(), request.stream.into());
    sampling(&mut body, request, dialect);
    if request.stream {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools(request)));
        body.insert("tool_choice".into(), "auto".into());
        if dialect.llama_cpp {
            // Off by default there, on everywhere else.
            body.insert("parallel_tool_calls".into(), true.into());
        }
    }
    if let Some(schema) = &request.format {
        body.insert(
            "response_format".into(),
            json!({ "type": "json_schema", "json_schema": { "name": "answer", "strict": true, "schema": schema } }),
        );
    }
    thinking(&mut body, request, capabilities, dialect);
    if dialect.llama_cpp {
        body.insert("cache_prompt".into(), true.into());
    }
    body.retain(|field, _| dialect.accepts(field));
    Value::Object(body)
}

fn sampling(body: &mut Map<String, Value>, request: &ChatRequest, dialect: Dialect) {
    let options = &request.options;
    let limit = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    body.insert(limit.into(), options.max_tokens.into());
    body.insert("temperature".into(), decimal(options.temperature));
    body.insert("top_p".into(), decimal(options.top_p));
    body.insert("top_k".into(), options.top_k.into());
    body.insert("min_p".into(), decimal(options.min_p));
    body.insert("seed".into(), seed(options.seed).into());
    if !options.stop.is_empty() {
        body.insert("stop".into(), options.stop.clone().into());
    }
}

/// The level goes out as `reasoning_effort` and, for templates, as template arguments. Without a
/// level a llama.cpp model that can think is told not to: its template's default is to think.
fn thinking(body: &mut Map<String, Value>, request: &ChatRequest, capabilities: &Capabilities, dialect: Dialect) {
    match request.think {
        Some(level) => {
            body.insert("reasoning_effort".into(), level.as_str().into());
            let arguments = json!({ "enable_thinking": true, "reasoning_effort": level.as_str() });
            body.insert("chat_template_kwargs".into(), arguments);
        }
        None if dialect.llama_cpp && capabilities.thinking => {
            body.insert("chat_template_kwargs".into(), json!({ "enable_thinking": false }));
        }
        None => {}
    }
}

fn message(linked: &Linked<'_>) -> Value {
    let mut sent = json!({ "role": linked.message.role.as_str(), "content": linked.message.content });
    if !linked.calls.is_empty() {
        sent["tool_calls"] = linked
            .calls
            .iter()
            .map(|(id, call)| {
                // Here `arguments` is a STRING, unlike in Ollama's protocol.
                let arguments = Value::Object(call.arguments.clone()).to_string();
                json!({ "id": id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
            })
            .collect();
    }
    if let (Role::Tool, Some(answers)) = (linked.message.role, &linked.answers) {
        sent["tool_call_id"] = answers.id.clone().into();
        if !answers.name.is_empty() {
            sent["name"] = answers.name.clone().into();
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThinkLevel;
    use crate::wire::tests_support::{capabilities, conversation};

    fn llama() -> Dialect {
        Dialect { llama_cpp: true, ..Dialect::default() }
    }

    #[test]
    fn every_setting_arrives_and_arguments_are_strings() {
        let mut request = conversation();
        request.think = Some(ThinkLevel::Low);
        let body = chat_body("m", &request, &capabilities(true), llama());
        assert_eq!(body["max_tokens"], 512);
        assert_eq!(body["temperature"].to_string(), "0.3");
        assert_eq!((&body["top_k"], &body["seed"]), (&json!(40), &json!(9)));
        assert_eq!(body["min_p"].to_string(), "0.05");
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
        assert_eq!(body["tool_choice"], "auto");
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["chat_template_kwargs"]["enable_thinking"], true);
        assert_eq!(body["cache_prompt"], true);
        assert_eq!(body["response_format"]["json_schema"]["schema"]["type"], "object");
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], r#"{"on":true}"#);
        assert_eq!(messages[2]["tool_calls"][0]["type"], "function");
        assert_eq!(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
    }

    #[test]
    fn nothing_is_sent_that_was_not_asked_for() {
        let plain = chat_body(
            "m",
            &ChatRequest { stream: false, ..ChatRequest::default() },
            &capabilities(false),
            Dialect::default(),
        );
        for absent in [
            "tools",
            "tool_choice",
            "response_format",
            "stream_options",
            "cache_prompt",
            "reasoning_effort",
            "chat_template_kwargs",
        ] {
            assert!(plain.get(absent).is_none(), "{absent}");
        }
        let off = chat_body("m", &ChatRequest::default(), &capabilities(true), llama());
        assert_eq!(off["chat_template_kwargs"], json!({"enable_thinking": false}));
    }

    #[test]
    fn a_strict_server_gets_the_plain_protocol() {
        let strict = Dialect::default().after_refusal("Unrecognized request argument supplied: top_k").unwrap();
        let body = chat_body("m", &conversation(), &capabilities(false), strict);
        assert!(EXTENSIONS.iter().all(|name| body.get(name).is_none()));
        assert_eq!(body["temperature"].to_string(), "0.3");
        assert_eq!(body["stream_options"]["include_usage"], true, "the counts are still asked for");
        assert_eq!(strict.after_refusal("top_k again"), None, "one retry only");
        let plainer = strict.after_refusal("stream_options is not permitted").unwrap();
        let plainest = chat_body("m", &conversation(), &capabilities(false), plainer);
        assert!(OPTIONAL.iter().all(|name| plainest.get(name).is_none()));
        assert_eq!(Dialect::default().after_refusal("messages: field required"), None);
        let renamed = Dialect::default()
            .after_refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
            .unwrap();
        let body = chat_body("m", &conversation(), &capabilities(false), renamed);
        assert!(body.get("max_tokens").is_none());
        assert_eq!(body["max_completion_tokens"], 512);
    }
}

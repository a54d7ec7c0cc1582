//! A chat completion's request, from OpenAI's shape into ours.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tenpass_model::{ChatRequest, SamplingOptions, ThinkLevel};
use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::fault::Fault;

/// Most messages.
const MOST_MESSAGES: usize = 2_000;
/// Most tools.
const MOST_TOOLS: usize = 256;
/// Most answers to one request.
const MOST_CHOICES: u64 = 16;
/// Most tokens of an answer.
const MOST_TOKENS: u64 = 1 << 20;

/// A request as it is carried out.
#[derive(Debug)]
pub(super) struct Wanted {
    /// As the client names it.
    pub(super) model: String,
    /// What is asked.
    pub(super) request: ChatRequest,
    /// Answers.
    pub(super) choices: usize,
    /// Piece by piece.
    pub(super) stream: bool,
    /// A last piece with token counts.
    pub(super) counts: bool,
}

/// Reads a request. Fields that are not known are left alone, as OpenAI's own server does with those of newer
/// clients; values that cannot be honoured are refused.
pub(super) fn read(body: &Value) -> Result<Wanted, Fault> {
    let Some(model) = body["model"].as_str() else { return Err(Fault::invalid("model", "`model` is missing")) };
    let mut request = ChatRequest {
        messages: messages(&body["messages"])?,
        options: options(body)?,
        think: think(&body["reasoning_effort"])?,
        stream: true,
        ..ChatRequest::default()
    };
    request.tools = tools(body)?;
    request.format = format(&body["response_format"])?;
    let choices = match &body["n"] {
        Value::Null => 1,
        value => value
            .as_u64()
            .filter(|n| (1..=MOST_CHOICES).contains(n))
            .ok_or_else(|| Fault::invalid("n", format!("`n` is from 1 to {MOST_CHOICES}")))?,
    };
    let stream = flag(&body["stream"], "stream")?;
    if stream && choices > 1 {
        return Err(Fault::invalid("n", "a stream has one answer: leave `n` out, or `stream`"));
    }
    let counts = flag(&body["stream_options"]["include_usage"], "stream_options.include_usage")?;
    Ok(Wanted { model: model.to_owned(), request, choices: choices as usize, stream, counts })
}

fn flag(value: &Value, name: &str) -> Result<bool, Fault> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        _ => Err(Fault::invalid(name, format!("`{name}` is true or false"))),
    }
}

fn number(body: &Value, name: &str, low: f64, high: f64) -> Result<Option<f64>, Fault> {
    match &body[name] {
        Value::Null => Ok(None),
        value => match value.as_f64().filter(|number| (low..=high).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(Fault::invalid(name, format!("`{name}` is a number from {low} to {high}"))),
        },
    }
}

fn options(body: &Value) -> Result<SamplingOptions, Fault> {
    let usual = SamplingOptions::default();
    let tokens = |name: &str| match &body[name] {
        Value::Null => Ok(None),
        value => value
            .as_u64()
            .filter(|tokens| (1..=MOST_TOKENS).contains(tokens))
            .map(Some)
            .ok_or_else(|| Fault::invalid(name, format!("`{name}` is a whole number from 1 to {MOST_TOKENS}"))),
    };
    let most = match tokens("max_completion_tokens")? {
        Some(most) => Some(most),
        None => tokens("max_tokens")?,
    };
    let stop = match &body["stop"] {
        Value::Null => Vec::new(),
        Value::String(stop) => vec![stop.clone()],
        Value::Array(stops) if stops.len() <= 16 => stops
            .iter()
            .map(|stop| stop.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| Fault::invalid("stop", "`stop` is a text, or up to 16 of them"))?,
        _ => return Err(Fault::invalid("stop", "`stop` is a text, or up to 16 of them")),
    };
    let seed = match &body["seed"] {
        Value::Null => rand_seed(),
        value => value
            .as_u64()
            .or_else(|| value.as_i64().map(i64::unsigned_abs))
            .ok_or_else(|| Fault::invalid("seed", "`seed` is a whole number"))?,
    };
    Ok(SamplingOptions {
        temperature: number(body, "temperature", 0.0, 2.0)?.map_or(usual.temperature, |value| value as f32),
        top_p: number(body, "top_p", 0.0, 1.0)?.map_or(usual.top_p, |value| value as f32),
        max_tokens: most.map_or(usual.max_tokens, |tokens| tokens as u32),
        seed,
        stop,
        ..usual
    })
}

/// Asked twice without a seed, a question may be answered twice differently.
fn rand_seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

fn think(value: &Value) -> Result<Option<ThinkLevel>, Fault> {
    match value.as_str() {
        None if value.is_null() => Ok(None),
        Some("none" | "minimal") => Ok(None),
        Some("low") => Ok(Some(ThinkLevel::Low)),
        Some("medium") => Ok(Some(ThinkLevel::Medium)),
        Some("high") => Ok(Some(ThinkLevel::High)),
        _ => Err(Fault::invalid("reasoning_effort", "`reasoning_effort` is none, low, medium or high")),
    }
}

/// The schema that the answer must have.
fn format(value: &Value) -> Result<Option<Value>, Fault> {
    match value["type"].as_str() {
        None if value.is_null() => Ok(None),
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(serde_json::json!({ "type": "object" }))),
        Some("json_schema") if value["json_schema"]["schema"].is_object() => {
            Ok(Some(value["json_schema"]["schema"].clone()))
        }
        _ => Err(Fault::invalid(
            "response_format",
            "`response_format` is text, json_object, or json_schema with a schema",
        )),
    }
}

fn tools(body: &Value) -> Result<Vec<ToolDefinition>, Fault> {
    let listed = match &body["tools"] {
        Value::Null => return Ok(Vec::new()),
        Value::Array(listed) if listed.len() <= MOST_TOOLS => listed,
        _ => return Err(Fault::invalid("tools", format!("`tools` is a list of at most {MOST_TOOLS}"))),
    };
    let only = match &body["tool_choice"] {
        Value::Null => None,
        Value::String(choice) if choice == "auto" => None,
        Value::String(choice) if choice == "none" => return Ok(Vec::new()),
        Value::Object(choice) => choice.get("function").and_then(|function| function["name"].as_str()),
        _ => {
            return Err(Fault::invalid(
                "tool_choice",
                "`tool_choice` is auto, none or one function: a call cannot be forced here",
            ));
        }
    };
    let mut tools = Vec::new();
    for (place, listed) in listed.iter().enumerate() {
        let wrong = |what: &str| Fault::invalid(format!("tools[{place}]"), what.to_owned());
        let function = &listed["function"];
        let Some(name) = function["name"].as_str().filter(|name| is_name(name)) else {
            return Err(wrong("a tool has a `function` with a `name` of letters, digits, _ . and -"));
        };
        let parameters = match &function["parameters"] {
            Value::Null => serde_json::json!({ "type": "object", "properties": {} }),
            Value::Object(schema) => Value::Object(schema.clone()),
            _ => return Err(wrong("`parameters` is a JSON Schema object")),
        };
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let tool = serde_json::json!({
            "name": name, "description": function["description"].as_str().unwrap_or_default(), "parameters": parameters,
        });
        tools.push(serde_json::from_value(tool).map_err(|error| wrong(&error.to_string()))?);
    }
    Ok(tools)
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.'))
}

fn messages(value: &Value) -> Result<Vec<Message>, Fault> {
    let listed = value.as_array().filter(|listed| (1..=MOST_MESSAGES).contains(&listed.len()));
    let Some(listed) = listed else {
        return Err(Fault::invalid("messages", format!("`messages` is a list of 1 to {MOST_MESSAGES}")));
    };
    // A result names the call it answers; our messages name the tool as well.
    let mut called: HashMap<String, String> = HashMap::new();
    let mut all = Vec::with_capacity(listed.len());
    for (place, listed) in listed.iter().enumerate() {
        let message = message(place, listed, &called)?;
        for call in &message.tool_calls {
            if let Some(id) = &call.id {
                called.insert(id.clone(), call.name.clone());
            }
        }
        all.push(message);
    }
    Ok(all)
}

fn message(place: usize, listed: &Value, called: &HashMap<String, String>) -> Result<Message, Fault> {
    let wrong = |field: &str, what: &str| Fault::invalid(format!("messages[{place}].{field}"), what.to_owned());
    let role = match listed["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => return Err(wrong("role", "a role is system, developer, user, assistant or tool")),
    };
    let content = match &listed["content"] {
        Value::Null if role == Role::Assistant => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| part["text"].as_str().filter(|_| part["type"] == "text"));
            texts
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| wrong("content", "only parts of type text can be read"))?
                .join("\n")
        }
        _ => return Err(wrong("content", "a content is a text, or a list of text parts")),
    };
    let mut message = Message { role, content, ..Message::user("") };
    if role == Role::Tool {
        let id = listed["tool_call_id"].as_str().unwrap_or_default();
        let Some(tool) = called.get(id) else {
            return Err(wrong("tool_call_id", "no earlier call has this id"));
        };
        message.tool_name = Some(tool.clone());
        message.tool_call_id = Some(id.to_owned());
    }
    if role == Role::Assistant
        && let Some(calls) = listed["tool_calls"].as_array()
    {
        message.tool_calls = calls.iter().map(|call| tool_call(place, call)).collect::<Result<_, _>>()?;
    }
    Ok(message)
}

fn tool_call(place: usize, call: &Value) -> Result<ToolCall, Fault> {
    let wrong = |what: &str| Fault::invalid(format!("messages[{place}].tool_calls"), what.to_owned());
    let function = &call["function"];
    let Some(name) = function["name"].as_str().filter(|name| is_name(name)) else {
        return Err(wrong("a call has a `function` with a `name`"));
    };
    let arguments: Map<String, Value> = match &function["arguments"] {
        Value::Null => Map::new(),
        Value::Object(arguments) => arguments.clone(),
        Value::String(text) if text.trim().is_empty() => Map::new(),
        Value::String(text) => serde_json::from_str(text).map_err(|_| wrong("`arguments` is a JSON object as text"))?,
        _ => return Err(wrong("`arguments` is a JSON object as text")),
    };
    Ok(ToolCall { id: call["id"].as_str().map(str::to_owned), name: name.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_conversation_with_calls_is_read() {
        let wanted = read(&json!({
            "model": "m", "stream": true, "temperature": 0, "max_tokens": 9, "stop": "END", "seed": 3,
            "tools": [{ "type": "function", "function": { "name": "add", "parameters": { "type": "object" } } }],
            "messages": [
                { "role": "developer", "content": "Be short." },
                { "role": "user", "content": [{ "type": "text", "text": "1+1?" }] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "add", "arguments": "{\"a\":1}" } }] },
                { "role": "tool", "tool_call_id": "c1", "content": "2" },
            ],
        }))
        .unwrap();
        assert!(wanted.stream && !wanted.counts);
        let request = wanted.request;
        assert_eq!(request.messages[0].role, Role::System);
        assert_eq!(request.messages[2].tool_calls[0].arguments["a"], 1);
        assert_eq!(request.messages[3].tool_name.as_deref(), Some("add"));
        assert_eq!((request.options.max_tokens, request.options.seed), (9, 3));
        assert_eq!(request.options.stop, ["END"]);
        assert_eq!(request.tools[0].name, "add");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let user = json!([{ "role": "user", "content": "x" }]);
        for (body, parameter) in [
            (json!({ "messages": user }), "model"),
            (json!({ "model": "m", "messages": [] }), "messages"),
            (json!({ "model": "m", "messages": [{ "role": "boss", "content": "x" }] }), "messages[0].role"),
            (
                json!({ "model": "m", "messages": [{ "role": "user", "content": [{ "type": "image_url" }] }] }),
                "messages[0].content",
            ),
            (
                json!({ "model": "m", "messages": [{ "role": "tool", "content": "x", "tool_call_id": "?" }] }),
                "messages[0].tool_call_id",
            ),
            (json!({ "model": "m", "messages": user, "temperature": 9 }), "temperature"),
            (json!({ "model": "m", "messages": user, "max_tokens": 0 }), "max_tokens"),
            (json!({ "model": "m", "messages": user, "n": 99 }), "n"),
            (json!({ "model": "m", "messages": user, "n": 2, "stream": true }), "n"),
            (json!({ "model": "m", "messages": user, "tools": [{}] }), "tools[0]"),
            (json!({ "model": "m", "messages": user, "tools": [], "tool_choice": "required" }), "tool_choice"),
            (json!({ "model": "m", "messages": user, "response_format": { "type": "xml" } }), "response_format"),
        ] {
            let fault = read(&body).unwrap_err();
            assert_eq!(fault.body()["error"]["param"], parameter, "{body}");
        }
    }

    proptest! {
        #[test]
        fn no_body_panics(text in "[\\[\\]{}\":,a-z0-9 ]{0,200}") {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                let _ = read(&json!({ "model": "m", "messages": value }));
                let _ = read(&value);
            }
        }
    }
}

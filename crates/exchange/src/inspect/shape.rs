//! Messages, calls, tools and settings in Inspect's notation.

use serde_json::{Map, Value, json};
use tenpass_model::calls::ParsedCall;
use tenpass_model::{ChatRequest, FinishReason, SamplingOptions, StructuredCall, ThinkLevel, Usage};
use tenpass_trace::{Message, Role, ToolDefinition};

use super::ids::id;

/// Members of an object that are there only when they are known.
#[derive(Debug, Default)]
pub(crate) struct Members(pub(crate) Map<String, Value>);

impl Members {
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn maybe(&mut self, name: &str, value: Option<impl Into<Value>>) -> &mut Self {
        if let Some(value) = value {
            self.put(name, value);
        }
        self
    }

    pub(crate) fn take(&mut self) -> Value {
        Value::Object(std::mem::take(&mut self.0))
    }
}

/// 0.3 as 0.3, and not as 0.30000001192092896.
pub(crate) fn decimal(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// Text with its reasoning, where there is one.
pub(crate) fn content(text: &str, thinking: &str) -> Value {
    if thinking.is_empty() {
        return Value::from(text);
    }
    json!([{ "type": "reasoning", "reasoning": thinking }, { "type": "text", "text": text }])
}

/// A message at its place in a conversation. Equal messages at equal places have equal ids.
pub(crate) fn message(message: &Message, place: usize, source: Option<&str>) -> Value {
    let own = serde_json::to_string(message).unwrap_or_default();
    let own = id(&["message", &place.to_string(), &own]);
    let mut members = Members::default();
    members.put("id", own.as_str());
    members.put("content", content(&message.content, message.thinking.as_deref().unwrap_or_default()));
    members.maybe("source", source);
    members.put("role", message.role.as_str());
    match message.role {
        Role::Assistant if !message.tool_calls.is_empty() => {
            let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
                let id = call.id.clone().unwrap_or_else(|| call_id(&own, number));
                json!({ "id": id, "function": call.name, "arguments": call.arguments, "type": "function" })
            });
            members.put("tool_calls", calls.collect::<Vec<_>>());
        }
        Role::Tool => {
            members.maybe("tool_call_id", message.tool_call_id.as_deref());
            members.maybe("function", message.tool_name.as_deref());
        }
        _ => {}
    }
    members.take()
}

/// The name of a call that has none of its own.
pub(crate) fn call_id(message: &str, number: usize) -> String {
    id(&["call", message, &number.to_string()])
}

/// What an answer called: the structured channel as it came, or else what the parser found in the text.
pub(crate) fn tool_calls(message: &str, structured: &[StructuredCall], parsed: &[ParsedCall]) -> Vec<Value> {
    if structured.is_empty() {
        let calls = parsed.iter().enumerate();
        let value = |(number, call): (usize, &ParsedCall)| {
            let id = call_id(message, number);
            json!({ "id": id, "function": call.name, "arguments": call.arguments, "type": "function" })
        };
        return calls.map(value).collect();
    }
    structured.iter().enumerate().map(|(number, call)| structured_call(message, number, call)).collect()
}

fn structured_call(message: &str, number: usize, call: &StructuredCall) -> Value {
    let mut members = Members::default();
    members.put("id", call.id.clone().unwrap_or_else(|| call_id(message, number)));
    members.put("function", call.name.as_str());
    if call.arguments.is_object() {
        members.put("arguments", call.arguments.clone());
    } else {
        members.put("arguments", Map::new());
        let raw = call.arguments.as_str().map_or_else(|| call.arguments.to_string(), str::to_owned);
        members.put("parse_error", format!("the arguments are not an object: {raw}"));
    }
    members.put("type", "function");
    members.take()
}

/// How the calls came, for the message's metadata; `None` when all came as they should.
pub(crate) fn call_notes(structured: &[StructuredCall], parsed: &[ParsedCall]) -> Option<Value> {
    let repaired = structured.iter().any(|call| call.repaired.is_some());
    if !repaired && !parsed.iter().any(|call| call.recovered) {
        return None;
    }
    let calls = parsed.iter().map(
        |call| json!({ "function": call.name, "recovered": call.recovered, "shape": call.shape, "notes": call.notes }),
    );
    let repairs: Vec<&str> = structured.iter().filter_map(|call| call.repaired.as_deref()).collect();
    Some(json!({ "calls": calls.collect::<Vec<_>>(), "stream_repairs": repairs }))
}

/// Token counts, where both sides are known: Inspect has no way to say that one is not.
pub(crate) fn usage(usage: Usage) -> Option<Value> {
    let (prompt, completion) = (usage.prompt_tokens?, usage.completion_tokens?);
    let mut members = Members::default();
    members.put("input_tokens", prompt.saturating_sub(usage.cached_tokens.unwrap_or(0)));
    members.put("output_tokens", completion);
    members.put("total_tokens", prompt.saturating_add(completion));
    members.maybe("input_tokens_cache_read", usage.cached_tokens);
    Some(members.take())
}

/// Why an answer ended.
pub(crate) fn stop_reason(finish: Option<FinishReason>) -> &'static str {
    match finish {
        Some(FinishReason::Stop) => "stop",
        Some(FinishReason::Length) => "max_tokens",
        Some(FinishReason::ToolCalls) => "tool_calls",
        Some(FinishReason::Other) | None => "unknown",
    }
}

/// Sampling settings as a `GenerateConfig`; what it has no field for stands in `extra_body`.
pub(crate) fn generate_config(options: &SamplingOptions, think: Option<ThinkLevel>) -> Members {
    let mut config = Members::default();
    config.put("max_tokens", options.max_tokens);
    config.put("temperature", decimal(options.temperature));
    config.put("top_p", decimal(options.top_p));
    // 0 keeps all: for Inspect that is not to name it.
    config.maybe("top_k", (options.top_k > 0).then_some(options.top_k));
    config.maybe("stop_seqs", (!options.stop.is_empty()).then(|| options.stop.clone()));
    config.maybe("reasoning_effort", think.map(ThinkLevel::as_str));
    let mut extra = Members::default();
    extra.put("min_p", decimal(options.min_p));
    extra.maybe("num_ctx", options.context);
    config.put("extra_body", extra.take());
    config
}

/// The settings of one request.
pub(crate) fn request_config(request: &ChatRequest, seed: Option<u64>) -> Value {
    let mut config = generate_config(&request.options, request.think);
    config.maybe("seed", seed);
    if let Some(format) = &request.format
        && let Some(extra) = config.0.get_mut("extra_body").and_then(Value::as_object_mut)
    {
        extra.insert("format".to_owned(), format.clone());
    }
    config.take()
}

/// A tool. Inspect knows a part of JSON Schema; where that part is not all, the whole stands in `options`.
pub(crate) fn tool(tool: &ToolDefinition) -> Value {
    let parameters = object_schema(&tool.parameters);
    let mut members = Members::default();
    members.put("name", tool.name.as_str());
    members.put("description", tool.description.as_str());
    if parameters != tool.parameters {
        members.put("options", json!({ "schema": tool.parameters }));
    }
    members.put("parameters", parameters);
    members.take()
}

fn object_schema(schema: &Value) -> Value {
    let known = schema_of(schema, DEPTH);
    let member = |name: &str| known.get(name).cloned();
    let mut object = Members::default();
    object.put("type", "object");
    object.put("properties", member("properties").unwrap_or_else(|| json!({})));
    object.maybe("required", member("required"));
    object.maybe("additionalProperties", member("additionalProperties"));
    object.take()
}

/// Levels of a schema that are written.
const DEPTH: usize = 32;
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// The members of a schema that Inspect's `JSONSchema` has, where they have its types.
fn schema_of(schema: &Value, depth: usize) -> Value {
    let (Some(fields), true) = (schema.as_object(), depth > 0) else { return json!({}) };
    let inner = |value: &Value| schema_of(value, depth - 1);
    let mut known = Map::new();
    for (name, value) in fields {
        let kept = match name.as_str() {
            "type" => is_type(value).then(|| value.clone()),
            "format" | "description" | "pattern" => value.is_string().then(|| value.clone()),
            "default" => Some(value.clone()),
            "enum" | "examples" => value.is_array().then(|| value.clone()),
            "minLength" | "maxLength" => value.is_u64().then(|| value.clone()),
            "minimum" | "maximum" => value.is_number().then(|| value.clone()),
            "required" => is_strings(value).then(|| value.clone()),
            "items" => value.is_object().then(|| inner(value)),
            "additionalProperties" if value.is_boolean() => Some(value.clone()),
            "additionalProperties" => value.is_object().then(|| inner(value)),
            "anyOf" => value.as_array().map(|all| all.iter().map(inner).collect()),
            "properties" => value
                .as_object()
                .map(|all| Value::Object(all.iter().map(|(name, value)| (name.clone(), inner(value))).collect())),
            _ => None,
        };
        if let Some(kept) = kept {
            known.insert(name.clone(), kept);
        }
    }
    Value::Object(known)
}

fn is_type(value: &Value) -> bool {
    let one = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    value.as_array().map_or_else(|| one(value), |all| all.iter().all(one))
}

fn is_strings(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_beyond_inspect_is_kept_whole_beside_the_known_part() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": ["string", "null"], "minLength": 2, "const": "x" },
            "b": { "type": "any", "items": { "type": "integer" }, "enum": "no list" },
            "c": true,
        }, "required": ["a"], "additionalProperties": false });
        let written = tool(&ToolDefinition::new("t", "d").with_parameters(schema.clone()));
        assert_eq!(written["options"]["schema"], schema);
        assert_eq!(
            written["parameters"],
            json!({ "type": "object", "properties": {
                "a": { "type": ["string", "null"], "minLength": 2 },
                "b": { "items": { "type": "integer" } },
                "c": {},
            }, "required": ["a"], "additionalProperties": false })
        );
        let plain = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert!(tool(&ToolDefinition::new("t", "d").with_parameters(plain)).get("options").is_none());
    }

    #[test]
    fn counts_exclude_the_cache_and_are_never_half_known() {
        let counts = |prompt_tokens, cached_tokens, completion_tokens| {
            usage(Usage { prompt_tokens, cached_tokens, completion_tokens })
        };
        let known = counts(Some(10), Some(4), Some(3)).unwrap();
        assert_eq!(
            known,
            json!({ "input_tokens": 6, "output_tokens": 3, "total_tokens": 13, "input_tokens_cache_read": 4 })
        );
        assert_eq!(counts(Some(10), None, None), None);
        assert_eq!(counts(Some(2), Some(5), Some(0)).unwrap()["input_tokens"], 0);
    }

    #[test]
    fn arguments_that_are_no_object_are_a_parse_error() {
        let call = |arguments: Value| StructuredCall { id: None, name: "t".to_owned(), arguments, repaired: None };
        let calls = tool_calls("m", &[call(json!("{\"a\":")), call(json!({ "a": 1 }))], &[]);
        assert_eq!((&calls[0]["arguments"], &calls[1]["arguments"]), (&json!({}), &json!({ "a": 1 })));
        assert!(calls[0]["parse_error"].as_str().unwrap().ends_with("{\"a\":"));
        assert!(calls[1].get("parse_error").is_none());
        assert_ne!(calls[0]["id"], calls[1]["id"]);
    }
}

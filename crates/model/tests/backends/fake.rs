//! A fake model behind both protocols: simple rules decide what it says, so that the conformance
//! suite has something to ask. It proves the clients, not any model.

use serde_json::{Value, json};

use super::stub::{Asked, Part, Reply};

/// Words that the fake's context holds, each counted as one token.
pub(crate) const CONTEXT: usize = 64;

/// What the fake decides to say.
struct Say {
    pieces: Vec<String>,
    call: Option<Value>,
    prompt_tokens: usize,
    hangs: bool,
}

fn decide(body: &Value) -> Say {
    let messages = body["messages"].as_array().unwrap();
    let words =
        messages.iter().map(|message| message["content"].as_str().unwrap_or_default().split_whitespace().count());
    let prompt_tokens = words.sum::<usize>() + 4;
    let last = messages.last().unwrap();
    let asked = last["content"].as_str().unwrap();
    let format = body.get("format").or_else(|| body.pointer("/response_format/json_schema/schema"));
    let offers_tools = body.get("tools").is_some_and(|tools| tools[0]["function"]["name"] == "lamp");
    let say = |pieces: &[&str]| Say {
        pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
        call: None,
        prompt_tokens,
        hangs: false,
    };
    if asked.contains("long") {
        Say { hangs: true, ..say(&["Once ", "upon "]) }
    } else if let Some(format) = format {
        say(&["{\"word\": ", &format["properties"]["word"]["const"].to_string(), "}"])
    } else if offers_tools && last["role"] == "user" {
        Say { call: Some(json!({"on": true})), ..say(&["One moment. "]) }
    } else {
        say(&["You said: ", asked, "…"])
    }
}

fn overflow(say: &Say, context: Option<u64>) -> Option<usize> {
    let context = context.map_or(CONTEXT, |context| context as usize);
    (say.prompt_tokens > context).then_some(context)
}

fn lines(pieces: Vec<String>, hangs: bool) -> Vec<Part> {
    let parts = pieces.into_iter().map(|piece| Part::Bytes(piece.into_bytes()));
    if hangs { parts.take(2).chain([Part::Hang]).collect() } else { parts.collect() }
}

/// Ollama with one model, `tiny`.
pub(crate) fn ollama(asked: &Asked) -> Reply {
    let body = &asked.body;
    match asked.path.as_str() {
        "/api/version" => Reply::json(200, &json!({"version": "0.12.3"})),
        "/api/tags" => Reply::json(200, &json!({"models": [{"name": "tiny:latest", "digest": "ab12"}]})),
        "/api/ps" => {
            Reply::json(200, &json!({"models": [{"name": "tiny:latest", "size_vram": 5, "context_length": CONTEXT}]}))
        }
        _ if body["model"] != "tiny" => Reply::json(
            404,
            &json!({"error": format!("model '{}' not found", body["model"].as_str().unwrap_or_default())}),
        ),
        "/api/show" => Reply::json(
            200,
            &json!({"capabilities": ["completion", "tools", "thinking"], "template": "{{ .Prompt }}", "details": {"quantization_level": "Q4_K_M"}, "model_info": {"tiny.context_length": 4096}}),
        ),
        "/api/chat" => ollama_chat(body),
        _ => Reply::new(404, "text/plain", "404 page not found"),
    }
}

fn ollama_chat(body: &Value) -> Reply {
    let say = decide(body);
    if overflow(&say, body["options"]["num_ctx"].as_u64()).is_some() {
        assert_eq!(body["truncate"], false);
        return Reply::json(400, &json!({"error": "the input length exceeds the context length"}));
    }
    let arguments = say.call.clone();
    let calls = || {
        arguments
            .iter()
            .map(|arguments| json!({"function": {"name": "lamp", "arguments": arguments}}))
            .collect::<Vec<_>>()
    };
    let end = json!({"done": true, "done_reason": "stop", "prompt_eval_count": say.prompt_tokens, "eval_count": say.pieces.len()});
    let line = |message: Value, end: Option<&Value>| {
        let mut line = end.cloned().unwrap_or_else(|| json!({"done": false}));
        line["message"] = message;
        format!("{line}\n")
    };
    if body["stream"] == false {
        let message = json!({"role": "assistant", "content": say.pieces.concat(), "tool_calls": calls()});
        return Reply { parts: lines(vec![line(message, Some(&end))], false), ..hanging_or(say.hangs) };
    }
    let mut all: Vec<String> =
        say.pieces.iter().map(|piece| line(json!({"role": "assistant", "content": piece}), None)).collect();
    if !calls().is_empty() {
        all.push(line(json!({"role": "assistant", "content": "", "tool_calls": calls()}), None));
    }
    all.push(line(json!({"role": "assistant", "content": ""}), Some(&end)));
    Reply { status: 200, content_type: "application/x-ndjson", parts: lines(all, say.hangs) }
}

fn hanging_or(hangs: bool) -> Reply {
    let reply = Reply::new(200, "application/json", "");
    if hangs { Reply { parts: vec![Part::Hang], ..reply } } else { reply }
}

/// An OpenAI-compatible server with one model, `tiny`, that is not llama.cpp.
pub(crate) fn openai(asked: &Asked) -> Reply {
    let body = &asked.body;
    match asked.path.as_str() {
        "/v1/models" => Reply::json(200, &json!({"object": "list", "data": [{"id": "tiny", "object": "model"}]})),
        "/v1/chat/completions" if body["model"] == "tiny" => openai_chat(body),
        "/v1/chat/completions" => {
            Reply::json(404, &json!({"error": {"message": "The model does not exist", "code": "model_not_found"}}))
        }
        _ => Reply::json(404, &json!({"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}})),
    }
}

fn openai_chat(body: &Value) -> Reply {
    let say = decide(body);
    if let Some(context) = overflow(&say, None) {
        let message = format!(
            "This model's maximum context length is {context} tokens. However, your messages resulted in {} tokens.",
            say.prompt_tokens
        );
        return Reply::json(400, &json!({"error": {"message": message, "code": "context_length_exceeded"}}));
    }
    let usage = json!({"prompt_tokens": say.prompt_tokens, "completion_tokens": say.pieces.len()});
    let reason = if say.call.is_some() { "tool_calls" } else { "stop" };
    let arguments = say.call.as_ref().map(ToString::to_string);
    if body["stream"] == false {
        let mut message = json!({"role": "assistant", "content": say.pieces.concat()});
        if let Some(arguments) = &arguments {
            message["tool_calls"] =
                json!([{"id": "c1", "type": "function", "function": {"name": "lamp", "arguments": arguments}}]);
        }
        let whole = json!({"choices": [{"index": 0, "finish_reason": reason, "message": message}], "usage": usage});
        return Reply { parts: lines(vec![whole.to_string()], false), ..hanging_or(say.hangs) };
    }
    let data = |value: Value| format!("data: {value}\n\n");
    let delta = |delta: Value| data(json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}));
    let mut all: Vec<String> = say.pieces.iter().map(|piece| delta(json!({"content": piece}))).collect();
    if let Some(arguments) = &arguments {
        let (head, tail) = arguments.split_at(3);
        all.push(delta(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "lamp", "arguments": head}}]}),
        ));
        all.push(delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": tail}}]})));
    }
    all.push(data(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})));
    if body["stream_options"]["include_usage"] == true {
        all.push(data(json!({"choices": [], "usage": usage})));
    }
    all.push("data: [DONE]\n\n".to_owned());
    Reply { status: 200, content_type: "text/event-stream", parts: lines(all, say.hangs) }
}

//! What every text passes on its way: masks for secrets (K46), caps (R9), markers that only the
//! application writes (K15).

use serde_json::{Map, Value};
use tenpass_model::ChatRequest;
use tenpass_trace::{Message, ToolCall, mask};

use super::wording;

/// The text without secrets.
pub(crate) fn mask(text: &str) -> String {
    mask::mask(text).text
}

/// Arguments without secrets, for records and displays.
pub(crate) fn masked_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    let mut value = Value::Object(arguments.clone());
    mask::mask_value(&mut value);
    match value {
        Value::Object(map) => map,
        // Masking keeps an object an object.
        _ => Map::new(),
    }
}

/// A call without secrets.
pub(crate) fn masked_call(call: &ToolCall) -> ToolCall {
    ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: masked_arguments(&call.arguments) }
}

/// A message without secrets.
pub(crate) fn masked_message(message: &Message) -> Message {
    Message {
        content: mask(&message.content),
        tool_calls: message.tool_calls.iter().map(masked_call).collect(),
        ..message.clone()
    }
}

/// A request without secrets, for the record of what the server saw (K91).
pub(crate) fn masked_request(request: &ChatRequest) -> ChatRequest {
    ChatRequest { messages: request.messages.iter().map(masked_message).collect(), ..request.clone() }
}

/// At most `limit` characters, for places where a cut needs no word about it.
pub(crate) fn first_chars(text: &str, limit: usize) -> String {
    if text.char_indices().nth(limit).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// At most `limit` characters and the tool's own sentence about its scope; what is cut is stated.
pub(super) fn capped(text: String, limit: usize) -> String {
    /// Room for the tool's own sentence: "lines 1 to 120 of 4,000, …".
    const SCOPE_CHARS: usize = 400;
    let is_over = text.char_indices().nth(limit + SCOPE_CHARS).is_some();
    let Some((end, _)) = text.char_indices().nth(limit).filter(|_| is_over) else {
        return text;
    };
    let whole = text.chars().count();
    format!("{}{}", &text[..end], wording::cut(limit, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_result_says_how_much_there_is() {
        let long = "é".repeat(9_000);
        let cut = capped(long, 8_000);
        assert!(cut.ends_with("[cut: the first 8000 of 9000 characters]"));
        assert_eq!(cut.chars().filter(|character| *character == 'é').count(), 8_000);
        let scoped = format!("Lines 1-200 of 900:\n{}", "x".repeat(8_000));
        assert_eq!(capped(scoped.clone(), 8_000), scoped, "the tool has cut it already");
        assert_eq!(first_chars("abc", 2), "a…", "two characters");
        assert_eq!(first_chars("ab", 2), "ab");
    }
}

//! The entry that the fuzz target and the property test share.

use std::sync::LazyLock;

use serde_json::json;
use tenpass_trace::ToolDefinition;

use super::{MarkerFilter, ParseInput, Shape, parse_structured, parse_tools};
use crate::FinishReason;

static TOOLS: LazyLock<Vec<ToolDefinition>> = LazyLock::new(|| {
    let lamp = json!({"type":"object","properties":{"room":{"type":"string"},"on":{"type":"boolean"},
        "level":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}}});
    vec![
        ToolDefinition::new("lamp", "").with_parameters(lamp),
        ToolDefinition::new("lamp_all", "")
            .with_parameters(json!({"type":"object","properties":{"on":{"type":"boolean"}}})),
        ToolDefinition::new("ping", ""),
    ]
});

/// Runs one input through the parser and the filter and checks what must always hold.
///
/// The first byte picks the declared shape and the finish reason; the rest is the answer.
///
/// # Panics
/// When an invariant does not hold: that is the finding.
#[doc(hidden)]
pub fn one(data: &[u8]) {
    let Some((&selector, answer)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(answer);
    let shapes = Shape::ALL.len();
    let declared = Shape::ALL.get(usize::from(selector) % (shapes + 1)).map(|shape| shape.as_str());
    let finish = if selector >= 128 { FinishReason::Length } else { FinishReason::Stop };
    let input = ParseInput { text: &text, thinking: "", structured: &[], tools: &TOOLS, declared, finish };
    let work = super::source::Work::new(text.len());
    let parsed = super::answer::parse_within(&input, &work);
    for call in &parsed.calls {
        assert!(TOOLS.iter().any(|tool| tool.name == call.name), "a call of no tool: {call:?}");
        assert!(call.shape.parse::<Shape>().is_ok(), "a shape without a name: {call:?}");
        assert!(declared.is_some() || call.recovered, "undeclared, yet not recovered: {call:?}");
    }
    assert!(parsed.calls.is_empty() || declared.is_some() || parsed.class.is_some(), "recovered without a class");
    assert!(parsed.text.len() <= text.len(), "text from nowhere: {:?}", parsed.text);
    let stranger = [ToolDefinition::new("\u{1}", "")];
    let nobody = super::parse(&ParseInput { tools: &stranger, ..input });
    assert!(nobody.calls.is_empty(), "a call without tools: {nobody:?}");
    filtered_in_pieces(&text, selector);
    if let Ok(value) = serde_json::from_str(&text) {
        let _ = parse_tools(&value);
        if let Ok(structured) = parse_structured(&value) {
            super::parse(&ParseInput { text: "", structured: &structured, declared: None, ..input });
        }
    }
}

/// The filter shows the same however the answer is cut.
fn filtered_in_pieces(text: &str, selector: u8) {
    let mut whole = MarkerFilter::new();
    let mut expected = whole.push(text);
    expected.push_str(&whole.finish());
    let mut filter = MarkerFilter::new();
    let mut shown = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let cut = rest.ceil_char_boundary(rest.len().min(1 + usize::from(selector % 7)));
        shown.push_str(&filter.push(&rest[..cut]));
        rest = &rest[cut..];
    }
    shown.push_str(&filter.finish());
    assert_eq!(shown, expected, "chunking changed what is visible");
}

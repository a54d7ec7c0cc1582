//! The layered tool-call parser: raw answer in, calls out, with how each was found.
//!
//! Order: the structured channel, the shape that the template declares, the whole content,
//! embedded markers and objects (string- and escape-aware), line by line, code fences. Only names
//! of this turn's tools count, exactly; anything else is text. What had to be found or repaired is
//! marked `recovered`, so that it is never counted with the calls that came as they should.
//!
//! What never runs: a call that the token limit cut off; a JSON answer that is no call; a call in
//! a fence, or on lines of its own, with prose before and after it (documentation); a name that is
//! only mentioned; a draft in the reasoning, when anything follows it; whatever the model wrote
//! after making up a user's turn or a tool's result.
//!
//! A call inside reasoning counts, as recovered, only when nothing else was said or called: an
//! unclosed block is an answer that forgot to leave it. Of several, the last group counts, and
//! twice the same is once, since drafts repeat themselves.
//!
//! Work is bounded: a budget proportional to the answer's length, and a depth limit. A hostile
//! answer can hide a call from the parser, never keep it busy.

mod answer;
mod arguments;
mod fences;
mod filter;
#[doc(hidden)]
pub mod fuzz;
mod gemma;
mod harmony;
mod layers;
mod lenient;
mod lines;
mod literal;
mod markup;
mod objects;
mod piece;
mod python;
mod scan;
mod sections;
mod shape;
mod source;
mod structured;
#[cfg(test)]
mod tests;
mod thinking;
mod tokens;
mod wrappers;

pub use answer::parse;
pub use filter::MarkerFilter;
pub use shape::{Shape, ShapeError};
pub use structured::{parse_structured, parse_tools};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenpass_trace::{FailureClass, ToolDefinition};

use crate::{FinishReason, StructuredCall};

/// What the parser looks at.
#[derive(Debug, Clone)]
pub struct ParseInput<'a> {
    /// The raw text of the answer, untouched.
    pub text: &'a str,
    /// The reasoning, when the backend separates it.
    pub thinking: &'a str,
    /// Calls of the structured channel.
    pub structured: &'a [StructuredCall],
    /// This turn's tools: only their names count, exactly.
    pub tools: &'a [ToolDefinition],
    /// The shape the model's template (or the structure strategy) declares, if calls are textual:
    /// a name of [`Shape`]. A name that is none declares nothing.
    pub declared: Option<&'a str>,
    /// Why the answer ended.
    pub finish: FinishReason,
}

/// One call the parser found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParsedCall {
    /// A name of this turn's tools (or, for an unknown tool of the structured channel, that name).
    pub name: String,
    /// The decoded arguments.
    pub arguments: Map<String, Value>,
    /// True when it did not come through the structured channel or the declared shape, or when its
    /// arguments or its name had to be repaired.
    pub recovered: bool,
    /// Which shape it had: a name of [`Shape`].
    pub shape: String,
    /// What had to be repaired, in words; empty when nothing had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What the parser makes of a raw answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// The calls, in order.
    pub calls: Vec<ParsedCall>,
    /// What is wrong with how they came, if anything: the gravest of it.
    pub class: Option<FailureClass>,
    /// The answer's prose with calls and markers taken out.
    pub text: String,
}

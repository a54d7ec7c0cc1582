//! The lines of a run's files. Field names are the stored ones: renaming one is a format change.
//!
//! A reader meets lines of newer minor versions, so unknown fields are ignored here.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenpass_model::calls::ParsedCall;
use tenpass_model::{ChatRequest, FinishReason, StructuredCall, Usage};
use tenpass_trace::FailureClass;

/// `requests.jsonl`: one distinct request, as the backend got it, with the seed zeroed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// sha256 (hexadecimal) of the request's JSON with seed 0.
    pub sha256: String,
    /// Names of the tools offered, through whatever channel the structure strategy chose.
    pub offered: Vec<String>,
    /// The request, seed 0.
    pub request: ChatRequest,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The model finished its answer.
    Answered,
    /// The time allowed ran out: the model's failure, not the infrastructure's.
    Timeout,
    /// The infrastructure failed.
    Fault,
}

/// An infrastructure fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The INVALID class it counts under.
    pub class: FailureClass,
    /// One line for the user.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// True when the same request may succeed later.
    pub transient: bool,
}

/// Durations of one attempt, in milliseconds from the moment the request was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PassTimings {
    /// To the first text, thinking or call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<f64>,
    /// To the first call of the structured channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_call_ms: Option<f64>,
    /// To the last piece of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_end_ms: Option<f64>,
    /// To the end of the answer, the timeout or the fault.
    pub total_ms: f64,
    /// The backend's own: loading the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_ms: Option<f64>,
    /// The backend's own: evaluating the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_ms: Option<f64>,
    /// The backend's own: decoding the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode_ms: Option<f64>,
}

/// `passes.jsonl`: one attempt at one pass, raw, written before anything parses it.
///
/// A pass has one line for each attempt; its result is its last line with `final`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassRecord {
    /// The case's id.
    pub case: String,
    /// The configuration's id.
    pub configuration: String,
    /// Which pass, counted from 1.
    pub pass: u32,
    /// Which attempt at it, counted from 1.
    pub attempt: u32,
    /// False for an attempt that is to be repeated.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// How it ended.
    pub end: End,
    /// The fault, when it ended with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Whether the configuration had not answered anything yet in this process.
    #[serde(default)]
    pub cold: bool,
    /// The seed of its random numbers.
    pub seed: u64,
    /// sha256 of its request, see [`RequestRecord`].
    pub request: String,
    /// When it began, UTC.
    pub started: String,
    /// When its parts arrived.
    pub timings: PassTimings,
    /// Token counts, as the backend reported them.
    #[serde(default)]
    pub usage: Usage,
    /// Why the answer ended, when it did.
    #[serde(default)]
    pub finish: Option<FinishReason>,
    /// Which of several endpoints of the model answered; `None` where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The textual shape calls were asked for in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_shape: Option<String>,
    /// The raw text, as far as it came.
    pub text: String,
    /// The raw reasoning, as far as it came.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Calls of the structured channel, as they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StructuredCall>,
    /// A whole play, where the case is a scenario; then `text` is what was shown over all turns and
    /// `request` the first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<Box<crate::rounds::Played>>,
}

impl PassRecord {
    /// Whether the pass needs no further attempt, not even with `--resume`: it was answered, or
    /// its prompt does not fit the context, which no repetition can mend.
    pub fn is_settled(&self) -> bool {
        settled(self.is_final, self.fault.as_ref())
    }
}

fn settled(is_final: bool, fault: Option<&Fault>) -> bool {
    is_final && fault.is_none_or(|fault| fault.class == FailureClass::InvalidOverflow)
}

/// `outcomes.jsonl`: the grade of one pass. Derived from the pass and its case; can be remade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The case's id.
    pub case: String,
    /// The configuration's id.
    pub configuration: String,
    /// Which pass, counted from 1.
    pub pass: u32,
    /// Which attempt at it this grades.
    pub attempt: u32,
    /// Whether the answer is right; `None` when there was no answer to judge (INVALID).
    pub success: Option<bool>,
    /// The main thing wrong with it.
    pub class: Option<FailureClass>,
    /// Everything wrong with it.
    #[serde(default)]
    pub classes: Vec<FailureClass>,
    /// The grader's reasons, for people.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Whether a call had to be recovered from the text.
    #[serde(default)]
    pub recovered: bool,
    /// The calls, as parsed.
    #[serde(default)]
    pub calls: Vec<ParsedCall>,
    /// Milliseconds to the first call: the structured call's moment, or the end of the text that
    /// carried it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_call_ms: Option<f64>,
}

/// What the index and `--resume` need of a pass line; the raw text is only borrowed.
#[derive(Debug, Deserialize)]
pub(crate) struct PassHead<'a> {
    #[serde(borrow)]
    pub(crate) case: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) configuration: Cow<'a, str>,
    pub(crate) pass: u32,
    pub(crate) attempt: u32,
    #[serde(rename = "final")]
    pub(crate) is_final: bool,
    #[serde(default)]
    pub(crate) fault: Option<Fault>,
    #[serde(default)]
    pub(crate) cold: bool,
    pub(crate) timings: PassTimings,
    #[serde(default)]
    pub(crate) usage: Usage,
    #[serde(borrow)]
    pub(crate) text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) calls: Option<&'a serde_json::value::RawValue>,
}

impl PassHead<'_> {
    /// See [`PassRecord::is_settled`].
    pub(crate) fn is_settled(&self) -> bool {
        settled(self.is_final, self.fault.as_ref())
    }

    /// Equal for equal outputs: tells how many observations repeated passes really are.
    pub(crate) fn output_digest(&self) -> i64 {
        let mut hasher = Sha256::new();
        for part in [&*self.text, &*self.thinking, self.calls.map_or("", serde_json::value::RawValue::get)] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize()[..8]);
        i64::from_le_bytes(first)
    }
}

/// What the index needs of an outcome line.
#[derive(Debug, Deserialize)]
pub(crate) struct OutcomeHead<'a> {
    #[serde(borrow)]
    pub(crate) case: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) configuration: Cow<'a, str>,
    pub(crate) pass: u32,
    pub(crate) attempt: u32,
    pub(crate) success: Option<bool>,
    pub(crate) class: Option<FailureClass>,
    #[serde(default)]
    pub(crate) recovered: bool,
    #[serde(default)]
    pub(crate) first_call_ms: Option<f64>,
}

/// sha256 in hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

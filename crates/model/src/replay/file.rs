//! The lines of a replay file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{ChatEvent, ChatRequest, FinishReason, ModelError, ModelInfo, StructuredCall, sha256};

/// Which requests an answer is for: all conditions that are given must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The request's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// A text that one of the messages contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// [`request_digest`] of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Match {
    /// True when the conditions hold; `digest` is computed only when one asks for it.
    pub(crate) fn accepts(&self, request: &ChatRequest, digest: &mut Option<String>) -> bool {
        let case = self.case.as_ref().is_none_or(|case| request.label.as_ref() == Some(case));
        let seed = self.seed.is_none_or(|seed| seed == request.options.seed);
        let contains = self
            .contains
            .as_ref()
            .is_none_or(|text| request.messages.iter().any(|message| message.content.contains(text.as_str())));
        case && seed
            && contains
            && self
                .request
                .as_ref()
                .is_none_or(|wanted| wanted == digest.get_or_insert_with(|| request_digest(request)))
    }
}

/// sha256 of a request with its seed set to 0 and its `stream` flag to true: what makes two
/// requests "the same" to a recording.
pub fn request_digest(request: &ChatRequest) -> String {
    let mut same = request.clone();
    same.options.seed = 0;
    same.stream = true;
    // Plain data with string keys always serialises.
    sha256(serde_json::to_vec(&same).unwrap_or_default())
}

/// How an answer ends when it fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Failing {
    Fault(ModelError),
    Text(String),
}

impl Failing {
    pub(crate) fn error(&self, file: &str) -> ModelError {
        match self {
            Self::Fault(error) => error.clone(),
            Self::Text(message) => ModelError::Server { url: file.to_owned(), message: message.clone() },
        }
    }
}

/// One recorded answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Which requests it is for.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<Match>,
    /// The text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The reasoning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Calls of the structured channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<StructuredCall>,
    /// Why it ended; by default `tool_calls` when there are calls, else `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// Number of pieces in which the text comes; 0 counts as 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub chunks: u32,
    /// Milliseconds before each piece.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_ms: u64,
    /// The fault that ends it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failing>,
    /// Tokens of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
}

impl Answer {
    /// Adds one event of the answer being recorded.
    pub(crate) fn take(&mut self, event: &Result<ChatEvent, ModelError>) {
        match event {
            Ok(ChatEvent::Text(piece)) => {
                self.chunks += u32::from(!piece.is_empty());
                self.text.push_str(piece);
            }
            Ok(ChatEvent::Thinking(piece)) => self.thinking.push_str(piece),
            Ok(ChatEvent::ToolCall(call)) => self.calls.push(call.clone()),
            Ok(ChatEvent::Done(completion)) => {
                self.finish = Some(completion.finish);
                self.prompt_tokens = completion.usage.prompt_tokens;
                self.cached_tokens = completion.usage.cached_tokens;
                self.completion_tokens = completion.usage.completion_tokens;
            }
            Err(error) => self.error = Some(Failing::Fault(error.clone())),
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The line that says what the recorded model was.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) model: ModelInfo,
}

/// A file as read.
pub(crate) struct Contents {
    pub(crate) model: Option<ModelInfo>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) digest: String,
}

pub(crate) fn read(path: &Path) -> Result<Contents, ModelError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            ModelError::NotFound { model: shown.clone(), reason: "there is no such file".to_owned() }
        }
        _ => ModelError::Load { path: shown.clone(), reason: error.to_string() },
    })?;
    parse(&text).map_err(|reason| ModelError::Load { path: shown, reason })
}

pub(crate) fn parse(text: &str) -> Result<Contents, String> {
    let mut contents = Contents { model: None, answers: Vec::new(), digest: sha256(text) };
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |error: serde_json::Error| format!("line {number}: {error}");
        if line.starts_with(r#"{"model""#) {
            contents.model = Some(serde_json::from_str::<Header>(line).map_err(at)?.model);
        } else {
            contents.answers.push(serde_json::from_str(line).map_err(at)?);
        }
    }
    if contents.answers.is_empty() { Err("it holds no answer".to_owned()) } else { Ok(contents) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_and_a_bad_one_is_named() {
        let text = "# recorded\n\n{\"text\":\"a\"}\n{\"match\":{\"contains\":\"x\"},\"error\":{\"kind\":\"truncated\",\"url\":\"u\"}}\n{\"error\":\"boom\"}\n";
        let contents = parse(text).unwrap();
        assert_eq!(contents.answers.len(), 3);
        assert_eq!(contents.answers[1].error.as_ref().unwrap().error("f"), ModelError::Truncated { url: "u".into() });
        assert_eq!(
            contents.answers[2].error.as_ref().unwrap().error("f"),
            ModelError::Server { url: "f".into(), message: "boom".into() }
        );
        let message = |text: &str| parse(text).err().unwrap();
        assert!(message("{\"text\":\"a\"}\n{\"txet\":\"b\"}").starts_with("line 2: unknown field `txet`"));
        assert!(message("{\"match\":{\"cases\":\"b\"}}").contains("unknown field `cases`"));
        assert_eq!(message("# nothing\n"), "it holds no answer");
    }

    #[test]
    fn a_digest_ignores_seed_and_stream_and_nothing_else() {
        let mut request = ChatRequest::default();
        let digest = request_digest(&request);
        request.options.seed = 5;
        request.stream = false;
        request.label = Some("case".into());
        assert_eq!(request_digest(&request), digest);
        request.options.max_tokens += 1;
        assert_ne!(request_digest(&request), digest);
    }
}

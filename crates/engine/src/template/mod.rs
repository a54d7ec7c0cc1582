//! The chat template: from a conversation to the prompt the model was trained on.
//!
//! The GGUF's own Jinja template is rendered by minijinja with what Python's `transformers` gives
//! such templates ([`environment`]). What a template can do is found out by rendering it once with
//! sentinels ([`support`]); what it cannot do, the toolkit does in its place ([`conversation`]):
//! tools are described in the system message, calls are written
//! `<tool_call>{"name": …, "arguments": {…}}</tool_call>` and results come back as a user turn of
//! `<tool_response>` blocks. The prompt of one system message and one tool list is the same
//! text up to the first user message, so its evaluation can be shared.
//!
//! A file without a template is a base model: it gets a plain transcript ([`plain`]), a form that
//! every text model continues.
//!
//! Text from outside (contents, arguments, tool descriptions) is guarded before rendering, so
//! that a marker written in it stays text; see [`crate::tokenizer`].

mod conversation;
mod environment;
mod json;
mod plain;
mod python;
mod support;
mod time;

use minijinja::Environment;
use sha2::{Digest, Sha256};
use tenpass_model::{ChatRequest, ModelError};

use crate::gguf::Gguf;
use crate::tokenizer::Tokenizer;
use conversation::{Conversation, Guarding};
use support::Support;
use time::Moment;

/// Characters that text never needs: Unicode keeps them for the inside of programs.
const GUARDS: std::ops::RangeInclusive<char> = '\u{fdd0}'..='\u{fdef}';

/// Tags that open a block of thoughts.
const THINK_TAGS: &[&str] = &["<think>", "<|START_THINKING|>", "[THINK]", "<seed:think>", "<thinking>"];

/// Renders requests for one model.
pub(crate) struct ChatTemplate {
    model: String,
    source: Option<String>,
    environment: Environment<'static>,
    has_tool_template: bool,
    bos: String,
    eos: String,
    support: Support,
}

impl ChatTemplate {
    /// The template of the file; the transcript form when it has none.
    pub(crate) fn from_gguf(gguf: &Gguf, tokenizer: &Tokenizer) -> Result<Self, ModelError> {
        let file = gguf.path().file_stem().map(|name| name.to_string_lossy().into_owned());
        let model = gguf.optional_string("general.name")?.map(str::to_owned).or(file).unwrap_or_default();
        let source = gguf.optional_string("tokenizer.chat_template")?.filter(|source| !source.trim().is_empty());
        let tools = gguf.optional_string("tokenizer.chat_template.tool_use")?;
        let (bos, eos) = (tokenizer.token_text(tokenizer.bos()), tokenizer.token_text(tokenizer.eos()));
        Self::new(&model, source, tools, bos, eos, Moment::now())
    }

    /// `moment` is what the template sees as the present, the same for the life of the model so
    /// that prompts keep their prefix.
    fn new(
        model: &str,
        source: Option<&str>,
        tools: Option<&str>,
        bos: String,
        eos: String,
        moment: Moment,
    ) -> Result<Self, ModelError> {
        let failed = |reason: String| ModelError::Template { model: model.to_owned(), reason };
        let mut environment = environment::new(moment);
        for (name, source) in [("chat", source), ("tools", tools)] {
            if let Some(source) = source {
                environment
                    .add_template_owned(name, environment::adapt(source))
                    .map_err(|error| failed(environment::describe(&error)))?;
            }
        }
        let mut template = Self {
            model: model.to_owned(),
            source: source.map(|source| source.to_owned() + tools.unwrap_or_default()),
            environment,
            has_tool_template: source.is_some() && tools.is_some(),
            bos,
            eos,
            support: Support { system: true, ..Support::default() },
        };
        if source.is_some() {
            template.support = Support::probe(&template);
        }
        Ok(template)
    }

    /// The prompt as text.
    pub(crate) fn text(&self, request: &ChatRequest) -> Result<String, ModelError> {
        self.render(request, &|text, _| text.to_owned())
    }

    /// The prompt as the model evaluates it.
    pub(crate) fn tokens(&self, tokenizer: &Tokenizer, request: &ChatRequest) -> Result<Vec<u32>, ModelError> {
        let guard = unused_guard(request);
        let text = self.render(request, &|text, part| conversation::guard(tokenizer, text, part, guard))?;
        let mut ids = tokenizer.encode_guarded(&text, guard);
        if tokenizer.adds_bos() && ids.first().copied() != tokenizer.bos() {
            ids.splice(0..0, tokenizer.bos());
        }
        Ok(ids)
    }

    /// True when the template itself renders tool definitions.
    pub(crate) fn renders_tools(&self) -> bool {
        self.support.tools
    }

    /// True when the prompt ends inside a thinking block, so that the answer starts with thoughts
    /// and without the tag that opens them.
    pub(crate) fn opens_thinking(&self, request: &ChatRequest) -> bool {
        self.supports_thinking()
            && self.text(request).is_ok_and(|text| {
                let end = text.trim_end();
                THINK_TAGS.iter().any(|tag| end.ends_with(tag))
            })
    }

    /// True when the model can think apart from its answer.
    pub(crate) fn thinks(&self) -> bool {
        self.supports_thinking()
    }

    fn supports_thinking(&self) -> bool {
        self.source.as_deref().is_some_and(|source| {
            ["enable_thinking", "reasoning_effort", "</think>", "thinking_budget"]
                .iter()
                .any(|mark| source.contains(mark))
        })
    }

    /// The textual shape in which answers to this template write tool calls.
    pub(crate) fn declared_shape(&self) -> &'static str {
        match &self.source {
            Some(source) if self.support.tools => support::declared_shape(source),
            _ => "hermes",
        }
    }

    /// Texts that end an answer because nothing else would: only a base model needs them.
    pub(crate) fn stop_texts(&self) -> &'static [&'static str] {
        if self.source.is_some() { &[] } else { plain::STOPS }
    }

    /// sha256 of the template, `sha256:…`; of the transcript form's name when there is none.
    pub(crate) fn digest(&self) -> String {
        let source = self.source.as_deref().unwrap_or(plain::NAME);
        format!("sha256:{:x}", Sha256::digest(source.as_bytes()))
    }

    fn render(&self, request: &ChatRequest, guarding: &Guarding<'_>) -> Result<String, ModelError> {
        let mut rendered = self.render_with(self.support, request, guarding);
        if rendered.is_err() && self.support.tools {
            // Some templates refuse some conversations (two calls in one message) or some tools
            // (no description); the toolkit's own form takes them all. Calls first: the part
            // before them then stays the same.
            let calls = Support { calls: false, results: false, ..self.support };
            let tools = Support { tools: false, ..calls };
            for support in [calls, tools] {
                rendered = rendered.or_else(|error| self.render_with(support, request, guarding).map_err(|_| error));
            }
        }
        rendered.map_err(|error| self.failed(&environment::describe(&error)))
    }

    fn render_with(
        &self,
        support: Support,
        request: &ChatRequest,
        guarding: &Guarding<'_>,
    ) -> Result<String, minijinja::Error> {
        let mut conversation = Conversation::build(request, support, guarding);
        if self.source.is_none() {
            return Ok(plain::render(&conversation));
        }
        self.render_conversation(&conversation).or_else(|error| {
            // Many templates insist on user and assistant taking turns.
            if conversation.merge_turns() { self.render_conversation(&conversation) } else { Err(error) }
        })
    }

    fn render_conversation(&self, conversation: &Conversation) -> Result<String, minijinja::Error> {
        let name = if self.has_tool_template && conversation.has_tools() { "tools" } else { "chat" };
        let context = conversation.context(&self.bos, &self.eos);
        self.environment.get_template(name)?.render(context)
    }

    fn failed(&self, reason: &str) -> ModelError {
        ModelError::Template { model: self.model.clone(), reason: reason.to_owned() }
    }
}

/// A guard that the request does not contain. With all of them taken, the first one's own
/// appearances vanish from the prompt, which costs an attacker's text and nobody else's.
fn unused_guard(request: &ChatRequest) -> char {
    let text = serde_json::to_string(request).unwrap_or_default();
    GUARDS.into_iter().find(|guard| !text.contains(*guard)).unwrap_or('\u{fdd0}')
}

#[cfg(test)]
mod tests;

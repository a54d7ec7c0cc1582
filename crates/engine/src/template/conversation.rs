//! The conversation as a template sees it, with the toolkit's own form for what the template
//! cannot render.

use minijinja::Value as Jinja;
use serde_json::{Map, Value, json};
use tenpass_model::{ChatRequest, ThinkLevel};
use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::json::{Style, dumps};
use super::support::{CallIds, Support};
use crate::tokenizer::Tokenizer;

/// Which text is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A value that is printed.
    Text,
    /// The key of an object, which a template may also look up.
    Key,
}

/// Makes untrusted text safe to render; the identity where only text is wanted.
pub(super) type Guarding<'a> = dyn Fn(&str, Part) -> String + 'a;

/// The guarding of prompts that will be tokenised.
pub(super) fn guard(tokenizer: &Tokenizer, text: &str, part: Part, guard: char) -> String {
    // The request may have used up every guard: then its own must not come through.
    let cleaned = if text.contains(guard) { text.replace(guard, "") } else { text.to_owned() };
    match part {
        Part::Text => tokenizer.guard(&cleaned, guard),
        Part::Key => tokenizer.guard_inside(&cleaned, guard),
    }
}

/// Messages and tools, guarded, in the shape that this template needs.
pub(super) struct Conversation {
    messages: Vec<Map<String, Value>>,
    tools: Vec<Value>,
    think: Option<ThinkLevel>,
    typed_content: bool,
}

impl Conversation {
    pub(super) fn build(request: &ChatRequest, support: Support, guarding: &Guarding<'_>) -> Self {
        let mut builder =
            Builder { support, guarding, messages: Vec::new(), call_ids: Vec::new(), answered: 0, in_results: false };
        let described = (!support.tools && !request.tools.is_empty()).then(|| builder.describe(&request.tools));
        builder.system(request, described);
        for message in request.messages.iter().filter(|message| message.role != Role::System) {
            builder.push(message);
        }
        let tools = if support.tools {
            request.tools.iter().map(|tool| guard_value(&tool.to_wire(), guarding)).collect()
        } else {
            Vec::new()
        };
        Self { messages: builder.messages, tools, think: request.think, typed_content: support.typed_content }
    }

    /// A conversation of ready-made messages, for probing.
    pub(super) fn of(messages: Value, tools: Vec<Value>, typed_content: bool) -> Self {
        let messages = match messages {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        };
        let messages = messages.into_iter().filter_map(|message| match message {
            Value::Object(map) => Some(map),
            _ => None,
        });
        Self { messages: messages.collect(), tools, think: None, typed_content }
    }

    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Roles and contents, for the transcript form.
    pub(super) fn turns(&self) -> impl Iterator<Item = (&str, &str)> {
        self.messages.iter().map(|message| (text_of(message, "role"), text_of(message, "content")))
    }

    /// Joins neighbours of one role; false when there were none.
    pub(super) fn merge_turns(&mut self) -> bool {
        let before = self.messages.len();
        let mut merged: Vec<Map<String, Value>> = Vec::with_capacity(before);
        for message in self.messages.drain(..) {
            let role = text_of(&message, "role").to_owned();
            match merged.last_mut() {
                Some(last) if role != "tool" && text_of(last, "role") == role && !last.contains_key("tool_calls") => {
                    let joined = join(text_of(last, "content"), text_of(&message, "content"));
                    last.extend(message);
                    last.insert("content".to_owned(), joined.into());
                }
                _ => merged.push(message),
            }
        }
        self.messages = merged;
        self.messages.len() < before
    }

    /// The template's variables.
    pub(super) fn context(&self, bos: &str, eos: &str) -> Jinja {
        let messages = self.messages.iter().map(|message| {
            let mut message = message.clone();
            if self.typed_content
                && let Some(Value::String(text)) = message.get("content")
            {
                let typed = json!([{ "type": "text", "text": text }]);
                message.insert("content".to_owned(), typed);
            }
            Value::Object(message)
        });
        let mut context = Map::new();
        context.insert("messages".to_owned(), messages.collect());
        context.insert("add_generation_prompt".to_owned(), true.into());
        context.insert("bos_token".to_owned(), bos.into());
        context.insert("eos_token".to_owned(), eos.into());
        if !self.tools.is_empty() {
            context.insert("tools".to_owned(), self.tools.clone().into());
            context.insert("xml_tools".to_owned(), self.tools.clone().into()); // SmolLM3's name for them
        }
        if let Some(level) = self.think {
            // One request, several dialects: each template looks at its own.
            context.insert("enable_thinking".to_owned(), true.into());
            context.insert("thinking".to_owned(), true.into());
            context.insert("reasoning_effort".to_owned(), level.as_str().into());
        }
        Jinja::from_serialize(Value::Object(context))
    }
}

struct Builder<'a> {
    support: Support,
    guarding: &'a Guarding<'a>,
    messages: Vec<Map<String, Value>>,
    /// Ids of the calls so far, in order.
    call_ids: Vec<String>,
    /// How many of them have a result.
    answered: usize,
    /// The last message is a user turn of tool results.
    in_results: bool,
}

impl Builder<'_> {
    fn text(&self, text: &str) -> String {
        (self.guarding)(text, Part::Text)
    }

    /// System messages become one at the front, with the toolkit's tool block; where the template
    /// has no such role, the first user message carries it.
    fn system(&mut self, request: &ChatRequest, described: Option<String>) {
        let system = request.messages.iter().filter(|message| message.role == Role::System);
        let system = system.map(|message| self.text(&message.content)).chain(described);
        let system = system.reduce(|left, right| join(&left, &right)).unwrap_or_default();
        if system.is_empty() && !request.messages.iter().any(|message| message.role == Role::System) {
            return;
        }
        let role = if self.support.system { "system" } else { "user" };
        self.add(role, system);
    }

    fn push(&mut self, message: &Message) {
        match message.role {
            Role::Tool => self.result(message),
            Role::Assistant if !message.tool_calls.is_empty() => self.calls(message),
            _ => {
                let content = self.text(&message.content);
                let first_user = message.role == Role::User && !self.support.system && self.messages.len() == 1;
                if first_user && text_of(&self.messages[0], "role") == "user" {
                    let joined = join(text_of(&self.messages[0], "content"), &content);
                    self.messages[0].insert("content".to_owned(), joined.into());
                } else {
                    self.add(message.role.as_str(), content);
                }
            }
        }
    }

    fn add(&mut self, role: &str, content: String) {
        let mut message = Map::new();
        message.insert("role".to_owned(), role.into());
        message.insert("content".to_owned(), content.into());
        self.messages.push(message);
        self.in_results = false;
    }

    fn calls(&mut self, message: &Message) {
        let content = self.text(&message.content);
        if !self.support.calls {
            let calls = message.tool_calls.iter().map(|call| self.hermes(call));
            let content = std::iter::once(content).chain(calls).reduce(|left, right| join_line(&left, &right));
            return self.add("assistant", content.unwrap_or_default());
        }
        let calls: Vec<Value> = message.tool_calls.iter().map(|call| self.call(call)).collect();
        self.add("assistant", content);
        if let Some(message) = self.messages.last_mut() {
            message.insert("tool_calls".to_owned(), calls.into());
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let id = self.support.call_ids.id(call, self.call_ids.len());
        let id = self.text(&id);
        self.call_ids.push(id.clone());
        let arguments = guard_value(&Value::Object(call.arguments.clone()), self.guarding);
        let arguments =
            if self.support.string_arguments { dumps(&arguments, &Style::default()).into() } else { arguments };
        json!({ "id": id, "type": "function", "function": { "name": self.text(&call.name), "arguments": arguments } })
    }

    fn hermes(&self, call: &ToolCall) -> String {
        let call = json!({ "name": call.name, "arguments": call.arguments });
        format!("<tool_call>\n{}\n</tool_call>", dumps(&guard_value(&call, self.guarding), &Style::default()))
    }

    fn result(&mut self, message: &Message) {
        let content = self.text(&message.content);
        if self.support.results {
            let name = self.text(message.tool_name.as_deref().unwrap_or_default());
            // Ids may have been rewritten for the template, so results go to calls in order.
            let id = self.call_ids.get(self.answered).cloned().unwrap_or_else(|| CallIds::numbered(self.answered));
            self.answered += 1;
            self.add("tool", content);
            if let Some(message) = self.messages.last_mut() {
                message.insert("name".to_owned(), name.into());
                message.insert("tool_call_id".to_owned(), id.into());
            }
            return;
        }
        let block = format!("<tool_response>\n{content}\n</tool_response>");
        match self.messages.last_mut() {
            Some(last) if self.in_results => {
                let joined = join_line(text_of(last, "content"), &block);
                last.insert("content".to_owned(), joined.into());
            }
            _ => self.add("user", block),
        }
        self.in_results = true;
    }

    /// The toolkit's own description of tools and of how to call them.
    fn describe(&self, tools: &[ToolDefinition]) -> String {
        let lines = tools.iter().map(|tool| dumps(&guard_value(&tool.to_wire(), self.guarding), &Style::default()));
        let lines: Vec<String> = lines.collect();
        format!(
            "# Tools\n\nYou can call the tools below. Each line describes one as JSON, with the JSON Schema of its \
             arguments.\n<tools>\n{}\n</tools>\n\nTo call a tool, write its name and arguments as JSON between these \
             tags, one block for each call:\n<tool_call>\n{{\"name\": \"the tool's name\", \"arguments\": {{}}}}\n\
             </tool_call>\nResults come back between <tool_response> tags. When no tool fits, answer in plain text.",
            lines.join("\n")
        )
    }
}

fn text_of<'a>(message: &'a Map<String, Value>, key: &str) -> &'a str {
    message.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn join(left: &str, right: &str) -> String {
    join_with(left, "\n\n", right)
}

fn join_line(left: &str, right: &str) -> String {
    join_with(left, "\n", right)
}

fn join_with(left: &str, between: &str, right: &str) -> String {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right.to_owned(),
        (_, true) => left.to_owned(),
        _ => format!("{left}{between}{right}"),
    }
}

/// Guards every text inside a JSON value.
fn guard_value(value: &Value, guarding: &Guarding<'_>) -> Value {
    match value {
        Value::String(text) => guarding(text, Part::Text).into(),
        Value::Array(items) => items.iter().map(|item| guard_value(item, guarding)).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (guarding(key, Part::Key), guard_value(value, guarding)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

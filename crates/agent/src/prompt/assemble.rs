//! Puts a turn's messages together.

use std::ops::Range;

use jiff::Zoned;
use tenpass_trace::{Message, ToolCategory, ToolDefinition};

use super::blocks::{self, MemoryEntry, ProviderAnswer};
use super::window::own_words;
use super::{Language, Sections, texts, window};
use crate::select::excluded_clause;

/// What a turn is made of. [`Input::new`] fills in a turn without tools, memory and past.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// Language of the operator's texts. Keep it for a whole thread, or the prefix changes.
    pub language: Language,
    /// The user's persona text; `None` takes [`super::default_persona`].
    pub persona: Option<&'a str>,
    /// The user's own portrait, injected whole (K60); may be empty.
    pub portrait: &'a str,
    /// Memory entries, already projected: the last 6 of a section (K61).
    pub memory: &'a [MemoryEntry],
    /// Every tool of the tool box.
    pub all: &'a [ToolDefinition],
    /// The tools of this turn.
    pub offered: &'a [ToolDefinition],
    /// The capability memo; used only with [`Sections::capability_memo`].
    pub capability_memo: &'a str,
    /// The injected clock's time.
    pub now: &'a Zoned,
    /// The thread, oldest first, with or without the current message at its end.
    pub past: &'a [Message],
    /// Stored answers of providers, oldest first.
    pub provider_answers: &'a [ProviderAnswer],
    /// The person's message.
    pub message: &'a str,
    /// What the prompt has.
    pub sections: Sections,
}

impl<'a> Input<'a> {
    /// A bare turn with this message, its language taken from the message.
    pub fn new(message: &'a str, now: &'a Zoned) -> Self {
        Self {
            language: Language::of(message),
            persona: None,
            portrait: "",
            memory: &[],
            all: &[],
            offered: &[],
            capability_memo: "",
            now,
            past: &[],
            provider_answers: &[],
            message,
            sections: Sections::default(),
        }
    }
}

/// An assembled turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// The messages of the first request.
    pub messages: Vec<Message>,
    /// The sections that are in it, by name, in the order of the prompt.
    pub sections: Vec<&'static str>,
    /// Categories that have tools and are not offered.
    pub excluded: Vec<ToolCategory>,
    /// Where the past messages stand; what is before is the stable prefix.
    pub window: Range<usize>,
}

/// Assembles a turn. The same input gives the same messages.
pub fn assemble(input: &Input<'_>) -> Assembled {
    let excluded = excluded_categories(input.all, input.offered);
    let (system, mut sections) = system(input, &excluded);
    let mut messages = Vec::with_capacity(super::WINDOW_MESSAGES + 6);
    if !system.is_empty() {
        messages.push(Message::system(system));
    }
    let on = input.sections;
    if let Some(memory) = on.memory.then(|| blocks::memory(input.memory, input.language)).flatten() {
        messages.push(memory);
        sections.push("memory");
    }
    if on.provider_answers && !input.provider_answers.is_empty() {
        messages.extend(blocks::provider_answers(input.provider_answers, input.language));
        sections.push("provider_answers");
    }
    let start = messages.len();
    if on.history {
        messages.extend(window(input.past, input.message));
    }
    let window = start..messages.len();
    if !window.is_empty() {
        sections.push("history");
    }
    if on.context {
        messages.push(blocks::context(input.now, input.language));
        sections.push("context");
    }
    messages.push(Message::user(own_words(input.message)));
    Assembled { messages, sections, excluded, window }
}

/// The system message: what changes least comes first.
fn system(input: &Input<'_>, excluded: &[ToolCategory]) -> (String, Vec<&'static str>) {
    let (on, language) = (input.sections, input.language);
    let persona = input.persona.map_or_else(|| texts::default_persona(language), str::trim);
    let portrait = if input.portrait.trim().is_empty() {
        String::new()
    } else {
        format!("{}\n{}", texts::portrait_heading(language), input.portrait)
    };
    let clause = match language {
        Language::English => excluded_clause(input.all, input.offered),
        Language::French => texts::excluded_in_french(excluded),
    };
    let parts = [
        ("persona", on.persona, persona.to_owned()),
        ("rules", on.rules, texts::rules(language).to_owned()),
        ("security", on.security, texts::security(language).to_owned()),
        ("tool_sections", on.tool_sections, texts::tool_sections(input.offered, language).join("\n")),
        ("capability_memo", on.capability_memo, input.capability_memo.trim().to_owned()),
        ("portrait", on.portrait, portrait),
        ("excluded", on.excluded, clause.unwrap_or_default()),
        ("date", on.date, texts::date(input.now, language)),
    ];
    let mut text = String::new();
    let mut names = Vec::new();
    for (name, _, part) in parts.into_iter().filter(|(_, on, part)| *on && !part.is_empty()) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&part);
        names.push(name);
    }
    (text, names)
}

/// Categories of `all` of which nothing is offered, sorted.
fn excluded_categories(all: &[ToolDefinition], offered: &[ToolDefinition]) -> Vec<ToolCategory> {
    let mut excluded: Vec<ToolCategory> = all
        .iter()
        .map(|tool| tool.category)
        .filter(|category| !offered.iter().any(|tool| tool.category == *category))
        .collect();
    excluded.sort_unstable();
    excluded.dedup();
    excluded
}

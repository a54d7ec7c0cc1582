//! Data that goes along with a turn: each piece in its own user message, cleaned, between the
//! application's markers.

use jiff::Zoned;
use tenpass_trace::Message;

use super::Language;
use super::texts;
use crate::untrusted::{block, sanitise};

/// Characters of a memory entry (R9).
pub const ENTRY_CHARACTERS: usize = 180;
/// Characters of a provider's answer (K72).
pub const ANSWER_CHARACTERS: usize = 2_000;
/// Provider answers that return (K72).
pub const ANSWERS_SHOWN: usize = 2;

/// One memory entry, as the projection of the memory file gives it: without time and id (K61).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEntry {
    /// `decisions`, `patterns`, `open_threads` or `anomalies`.
    pub section: String,
    /// The text.
    pub text: String,
}

/// One stored answer of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAnswer {
    /// `claude`, `chatgpt`, `deepseek` or `local`.
    pub provider: String,
    /// What was asked.
    pub task: String,
    /// The answer.
    pub text: String,
}

/// The memory message, `None` without entries. Entries keep their order within a section, sections
/// the order of their first entry.
pub(super) fn memory(entries: &[MemoryEntry], language: Language) -> Option<Message> {
    let mut sections: Vec<&str> = Vec::new();
    for entry in entries {
        if !sections.contains(&entry.section.as_str()) {
            sections.push(&entry.section);
        }
    }
    let mut body = texts::memory_introduction(language).to_owned();
    for section in &sections {
        let heading = texts::memory_section(section, language).map_or_else(|| line(section, 40), str::to_owned);
        body.push_str(&format!("\n{heading}:"));
        for entry in entries.iter().filter(|entry| entry.section == *section) {
            body.push_str(&format!("\n- {}", line(&entry.text, ENTRY_CHARACTERS)));
        }
    }
    (!sections.is_empty()).then(|| Message::user(block("memory", &[], &body)))
}

/// The latest answers of providers, oldest first: at most two messages. `answers` is in the order
/// in which they were given.
pub(super) fn provider_answers(answers: &[ProviderAnswer], language: Language) -> Vec<Message> {
    let start = answers.len().saturating_sub(ANSWERS_SHOWN);
    answers[start..]
        .iter()
        .map(|answer| {
            let task = line(&answer.task, 200);
            let text = cut(&sanitise(&answer.text), ANSWER_CHARACTERS);
            let body = format!("{}: {task}\n\n{text}", language.pick("Asked", "Demandé"));
            Message::user(block("provider-answer", &[("provider", answer.provider.as_str())], &body))
        })
        .collect()
}

/// The time, to the minute, with its zone (K28).
pub(super) fn context(now: &Zoned, language: Language) -> Message {
    let zone = now.time_zone().iana_name().map_or_else(|| now.strftime("%:z").to_string(), str::to_owned);
    let text = format!(
        "{}: {}, {} ({zone})",
        language.pick("Now", "Maintenant"),
        texts::day(now, language),
        now.strftime("%H:%M")
    );
    Message::user(block("context", &[], &text))
}

/// One cleaned line of at most `limit` characters: no line break, comment end or heading of an
/// entry can pass for structure.
fn line(text: &str, limit: usize) -> String {
    let text = sanitise(text).replace("<!--", "").replace("-->", "");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    cut(text.trim_start_matches(['#', '-', '*', '>', ' ']), limit)
}

/// The first `limit` characters; a cut text ends with an ellipsis, which counts.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

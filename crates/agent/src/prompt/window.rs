//! The window of past messages (K24): what the model sees of a thread.

use std::sync::LazyLock;

use regex::Regex;
use tenpass_trace::{Message, Role};

use crate::untrusted::sanitise;

/// Past messages shown at most (K24).
pub const WINDOW_MESSAGES: usize = 20;

/// The last [`WINDOW_MESSAGES`] user and assistant messages with text, cleaned, without calls and
/// reasoning; they return as messages, never inside the system message (R3, R6).
///
/// Results of tools stay out, so none can stand without its call. A current message that the caller
/// has already put at the end is not shown twice. The window begins with a user message.
pub fn window(past: &[Message], current: &str) -> Vec<Message> {
    let mut spoken: Vec<&Message> = past
        .iter()
        .filter(|message| matches!(message.role, Role::User | Role::Assistant) && !message.content.trim().is_empty())
        .collect();
    while spoken.last().is_some_and(|last| last.role == Role::User && last.content.trim() == current.trim()) {
        spoken.pop();
    }
    let start = spoken.len().saturating_sub(WINDOW_MESSAGES);
    spoken[start..]
        .iter()
        .skip_while(|message| message.role == Role::Assistant)
        .map(|message| match message.role {
            Role::User => Message::user(own_words(&message.content)),
            _ => Message::assistant(sanitise(&message.content)),
        })
        .collect()
}

/// Tokens of templates, call markers and the application's markers: what a person does not type,
/// but pastes.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) <[|\uFF5C] | [|\uFF5C]> | <(?:start|end)_of_(?:turn|text|image|role)> | \[/?(?:INST|TOOL_CALLS|SYSTEM_PROMPT)\]
        | <<\ ?/?SYS\ ?>> | </?(?:s|bos|eos|think|tool_calls?|tool_response)> | <function= | \[\s*\[\s*/?\s*tenpass",
    )
    .ok()
});

/// A person's own message: as typed, so that what they ask to have written is written so. Only
/// characters that hide something go, and a text that brings tokens of templates or markers along
/// is sanitised whole. The same text always gives the same, so that the prefix stays warm.
pub(super) fn own_words(text: &str) -> String {
    let seen: String = text.chars().filter(|character| !hides(*character)).collect();
    // Without the pattern nothing could be told apart.
    let carries_tokens = TOKENS.as_ref().is_none_or(|tokens| tokens.is_match(&seen));
    if carries_tokens { sanitise(&seen) } else { seen }
}

/// Controls, bidirectional overrides, zero-width spaces and tags. Joiners stay: languages and
/// emoji need them.
fn hides(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(character, '\u{e0000}'..='\u{e0fff}')
}

/// Joins neighbouring user messages, for a template that insists on alternating roles. Delimiters
/// stay, so what is data stays marked.
pub fn join_turns(messages: Vec<Message>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match joined.last_mut() {
            Some(last) if last.role == Role::User && message.role == Role::User => {
                last.content.push_str("\n\n");
                last.content.push_str(&message.content);
            }
            _ => joined.push(message),
        }
    }
    joined
}

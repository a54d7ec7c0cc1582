//! The window of past messages (K24): what the model sees of a thread.

use tenpass_trace::{Message, Role};

use super::clean::sanitise;

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
        .map(|message| {
            let text = sanitise(&message.content);
            if message.role == Role::User { Message::user(text) } else { Message::assistant(text) }
        })
        .collect()
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

//! The prompt of a model without a chat template: a transcript that it continues.
//!
//! ```text
//! <system message>
//!
//! User: <message>
//! Assistant: <answer>
//! User: <message>
//! Assistant:
//! ```
//! No marker is used, since a base model has learnt none. It would go on with the next speaker, so
//! [`STOPS`] end the answer.

use super::conversation::Conversation;

/// Identity of this form, for the digest.
pub(super) const NAME: &str = "tenpass plain transcript 1";

/// Where the answer ends: the next speaker's line.
pub(super) const STOPS: &[&str] = &["\nUser:", "\nAssistant:"];

/// The transcript, ending where the answer starts.
pub(super) fn render(conversation: &Conversation) -> String {
    let mut text = String::new();
    for (role, content) in conversation.turns() {
        let (speaker, end) = match role {
            "system" => ("", "\n\n"),
            "assistant" => ("Assistant: ", "\n"),
            _ => ("User: ", "\n"),
        };
        text.extend([speaker, content.trim(), end]);
    }
    text.push_str("Assistant:");
    text
}

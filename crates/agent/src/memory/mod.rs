//! The memory's rules: what may be kept, in which words, and what is shown of it. Nothing here opens
//! a file or calls a model.
//!
//! - [`Document`]: the Markdown file (K60), read and changed without touching what is not concerned.
//! - [`Decision`] and [`validate`]: what a model proposes and code allows (K62, R9, security).
//! - [`KeyValueGuard`]: forms instead of sentences (K64). [`grounded`]: only the user's words.
//! - [`literal_request`], [`failure_entry`], [`Rereader`]: the three triggers (K63).
//! - [`panel`], [`for_prompt`]: what is shown where (K61), by [`Retrieval`](crate::Retrieval) (R8).

mod answer;
mod clean;
mod decision;
mod document;
mod entry;
mod failure;
mod grounding;
mod key_value;
mod layout;
mod literal;
mod request;
mod reread;
mod retrieval;
mod section;
#[cfg(test)]
mod tests;

pub use answer::Unreadable;
pub use clean::{MAX_ENTRY_CHARACTERS, clean, shortened, without_hidden};
pub use decision::{Checked, Decision, Refusal, Source, section_keys, validate};
pub use document::{Applied, Document, FindError};
pub use entry::{Entry, normalised};
pub use failure::{failure_entry, is_real_failure};
pub use grounding::{MAX_FOREIGN_SHARE, MAX_FOREIGN_WORDS, grounded, overlap};
pub use key_value::{KeyValueGuard, KeyValueVerdict, is_key_value, own_sentence};
pub use literal::{literal_decision_request, own_words, parse_decision, without_key_value};
pub use request::{is_literal_request, literal_request};
pub use reread::{ITEMS_PER_SECTION, MAX_FAILURES, Mark, QUIET, Reading, Rereader, ThreadMessage, due};
pub use retrieval::{PANEL_ENTRIES, PROMPT_ENTRIES, for_prompt, panel, prompt_entries, score};
pub use section::Section;

use tenpass_model::SamplingOptions;

/// The line between the portrait and what may be written to (K60).
pub const MARKER: &str = "<!-- tenpass:memory -->";

/// Temperature of judges (K9).
const JUDGE_TEMPERATURE: f32 = 0.1;
/// Known entries shown to a judge, a section.
const KNOWN_ENTRIES: usize = 12;

/// What made a write happen, as the trace names it (K50).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The user's literal request (K63a).
    Request,
    /// A real tool failure (K63b).
    ToolFailure,
    /// A quiet re-read (K63c).
    Quiet,
    /// The model called a memory tool.
    Tool,
    /// The user wrote it.
    User,
}

impl Trigger {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::ToolFailure => "tool_failure",
            Self::Quiet => "quiet",
            Self::Tool => "tool",
            Self::User => "user",
        }
    }
}

/// The sampling of a judge (K9): the given one at temperature 0.1.
fn judge_options(sampling: &SamplingOptions, max_tokens: u32) -> SamplingOptions {
    SamplingOptions { temperature: JUDGE_TEMPERATURE, max_tokens, ..sampling.clone() }
}

/// The newest entries with the ids that `contradicts` takes, one a line: `0f8fad5b patterns: text`.
fn known_entries(document: &Document) -> Option<String> {
    let lines: Vec<String> = panel(document)
        .into_iter()
        .flat_map(|(_, entries)| entries.into_iter().take(KNOWN_ENTRIES))
        .map(|entry| {
            let id = entry.short_id().unwrap_or_else(|| "-".to_owned());
            let text = without_hidden(&entry.text).replace('\n', " ");
            format!("{id} {}: {}", entry.section, shortened(&text, MAX_ENTRY_CHARACTERS))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

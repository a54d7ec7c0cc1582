//! The page as the loop sees it: whoever follows the thread is shown what happens, and any of them
//! may answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_model::BoxFuture;
use tenpass_tools::memory::MemoryFile;
use tokio_util::sync::CancellationToken;

use super::room::Room;
use super::view::{CallView, state_name};
use super::{Conversations, Question};
use crate::markdown::html;
use crate::panels::memory::entry_id_of;
use crate::text::clean;

/// How often the HTML of a growing answer is sent.
const HTML_EVERY: Duration = Duration::from_millis(200);
/// Characters beyond which it is sent less often: rendering costs what the whole text costs.
const LONG_TEXT: usize = 20_000;

/// Where an answer to a confirmation came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A button or key of the page.
    Click,
    /// Spoken.
    #[allow(dead_code, reason = "the voice turn answers by it")]
    Voice,
}

impl Source {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::Voice => "voice",
        }
    }
}

/// See the module.
pub(crate) struct Person {
    conversations: Arc<Conversations>,
    room: Arc<Room>,
    memory: Option<Arc<MemoryFile>>,
    stop: CancellationToken,
    rendered_at: std::sync::Mutex<Option<Instant>>,
}

impl Person {
    pub(crate) fn new(
        conversations: Arc<Conversations>,
        room: Arc<Room>,
        memory: Option<Arc<MemoryFile>>,
        stop: CancellationToken,
    ) -> Self {
        Self { conversations, room, memory, stop, rendered_at: std::sync::Mutex::default() }
    }

    fn is_html_due(&self, characters: usize) -> bool {
        let every = if characters > LONG_TEXT { HTML_EVERY * 10 } else { HTML_EVERY };
        let mut at = self.rendered_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_due = at.is_none_or(|at| at.elapsed() >= every);
        if is_due {
            *at = Some(Instant::now());
        }
        is_due
    }

    fn text(&self, piece: &str) {
        let piece = clean(piece);
        self.room.with_turn(|view, publish| {
            view.text.push_str(&piece);
            publish(json!({ "type": "text", "turn": view.turn, "text": piece }));
            if self.is_html_due(view.text.len()) {
                publish(json!({ "type": "html", "turn": view.turn, "html": html(&view.text) }));
            }
        });
    }
}

impl Interaction for Person {
    fn event(&self, event: AgentEvent) {
        match event {
            AgentEvent::Text(piece) => self.text(&piece),
            AgentEvent::Thinking(piece) => {
                let piece = clean(&piece);
                self.room.with_turn(|view, publish| {
                    view.thinking.push_str(&piece);
                    publish(json!({ "type": "thinking", "turn": view.turn, "text": piece }));
                });
            }
            AgentEvent::State(state) => self.room.with_turn(|view, publish| {
                view.state = state;
                publish(json!({ "type": "state", "turn": view.turn, "state": state_name(state) }));
            }),
            AgentEvent::Discard => self.room.with_turn(|view, publish| {
                view.text.clear();
                publish(json!({ "type": "discard", "turn": view.turn }));
            }),
            AgentEvent::CallStarted { call, tool, tier, arguments } => self.room.with_turn(|view, publish| {
                let shown = CallView { call, tool, tier, arguments, outcome: None, summary: String::new() };
                let mut message = shown.to_json();
                message["type"] = json!("call");
                message["turn"] = json!(view.turn);
                view.calls.push(shown);
                publish(message);
            }),
            AgentEvent::CallEnded { call, tool, outcome, summary } => self.room.with_turn(|view, publish| {
                if let Some(shown) = view.calls.iter_mut().find(|shown| shown.call == call) {
                    (shown.outcome, shown.summary) = (Some(outcome), summary.clone());
                }
                publish(json!({
                    "type": "called", "turn": view.turn, "call": call, "tool": clean(&tool),
                    "outcome": outcome.as_str(), "summary": clean(&summary),
                }));
            }),
            AgentEvent::MemoryWritten { section, text } => {
                let id = self.memory.as_ref().and_then(|file| entry_id_of(file, &section, &text));
                self.conversations.count_memory();
                self.room.with_turn(|view, publish| {
                    publish(json!({
                        "type": "memory", "turn": view.turn, "section": section, "text": clean(&text), "id": id,
                    }));
                });
            }
            AgentEvent::Note(text) => self.room.with_turn(|view, publish| {
                publish(json!({ "type": "note", "turn": view.turn, "text": clean(&text) }));
            }),
            // `finished` comes with what is known only when the turn is stored.
            AgentEvent::Finished { text, .. } => self.room.with_turn(|view, _| view.text = clean(&text)),
        }
    }

    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let (question, reply) = Question::new(confirmation.clone());
            // Before it is shown: an answer may come at once.
            self.conversations.open_question(&confirmation.id, &self.room);
            self.room.ask(question);
            let _open = Open { person: self, id: &confirmation.id };
            reply.await.unwrap_or(Reply::Refuse)
        })
    }
}

/// A confirmation that stands open. When the loop has its answer or gives up waiting, everyone is
/// told how it ended.
struct Open<'a> {
    person: &'a Person,
    id: &'a str,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.person.conversations.close_question(self.id);
        self.person.room.close_question(self.person.stop.is_cancelled());
    }
}

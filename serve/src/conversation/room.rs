//! One thread as it is now, and its followers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::extract::ws::{Message, Utf8Bytes};
use serde_json::{Value, json};
use tenpass_agent::session::SessionState;
use tokio_util::sync::CancellationToken;

use super::say::Said;
use super::{Answered, PastTurn, Question, TurnView};
use crate::socket::Outbox;
use crate::text::one_line;

/// Ids of things said that are remembered.
const REMEMBERED_IDS: usize = 512;

/// The thread. Everything in it changes, and is published, under one lock that is never held over
/// a wait.
#[derive(Debug)]
pub struct Room {
    id: String,
    state: Mutex<RoomState>,
}

/// What is inside.
#[derive(Debug)]
pub(crate) struct RoomState {
    pub(crate) seq: u64,
    pub(crate) title: String,
    pub(crate) past: Vec<PastTurn>,
    /// With the task of the running turn meanwhile.
    pub(crate) session: Option<SessionState>,
    pub(crate) running: Option<Running>,
    pub(crate) queue: VecDeque<Said>,
    followers: Vec<Outbox>,
    said: VecDeque<String>,
    pub(crate) touched: Instant,
}

/// A turn at work.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) view: TurnView,
    pub(crate) stop: CancellationToken,
    pub(crate) question: Option<Question>,
}

impl Room {
    pub(crate) fn new(id: &str, title: &str, past: Vec<PastTurn>, session: SessionState) -> Self {
        let state = RoomState {
            seq: 0,
            title: one_line(title, 120),
            past,
            session: Some(session),
            running: None,
            queue: VecDeque::new(),
            followers: Vec::new(),
            said: VecDeque::new(),
            touched: Instant::now(),
        };
        Self { id: id.to_owned(), state: Mutex::new(state) }
    }

    /// The thread's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RoomState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the running turn and publishes what follows from it, in one step.
    pub(crate) fn with_turn(&self, change: impl FnOnce(&mut TurnView, &mut dyn FnMut(Value))) {
        let mut state = self.lock();
        let Some(mut running) = state.running.take() else { return };
        change(&mut running.view, &mut |message| state.publish(&self.id, message));
        state.running = Some(running);
    }

    /// Tells every follower.
    pub fn publish(&self, message: Value) {
        self.lock().publish(&self.id, message);
    }

    /// Begins to follow: the client gets the snapshot, and from then on every message after it.
    pub fn follow(&self, outbox: &Outbox) {
        let mut state = self.lock();
        let snapshot = state.snapshot(&self.id);
        outbox.send_json(&snapshot);
        if !state.followers.iter().any(|follower| follower.id() == outbox.id()) {
            state.followers.push(outbox.clone());
        }
        state.touched = Instant::now();
    }

    /// Ends following.
    pub fn leave(&self, outbox: &Outbox) {
        self.lock().followers.retain(|follower| follower.id() != outbox.id());
    }

    /// The thread as a message of the protocol.
    pub fn snapshot(&self) -> Value {
        self.lock().snapshot(&self.id)
    }

    /// Ends the running turn; false when none runs.
    pub fn stop(&self) -> bool {
        let state = self.lock();
        let running = state.running.as_ref();
        if let Some(running) = running {
            running.stop.cancel();
        }
        running.is_some()
    }

    /// Whether nothing holds it in memory: no turn, no follower, nothing waiting.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.running.is_none()
            && state.followers.iter().all(|follower| follower.gone().is_cancelled())
            && state.queue.is_empty()
    }

    pub(crate) fn ask(&self, question: Question) {
        let mut state = self.lock();
        let Some(running) = &mut state.running else { return };
        let mut message = question.to_json();
        message["type"] = json!("confirm");
        message["turn"] = json!(running.view.turn);
        running.question = Some(question);
        state.publish(&self.id, message);
    }

    pub(crate) fn answer(&self, id: &str, digest: &str, approve: bool, by: &'static str) -> Answered {
        let mut state = self.lock();
        match state.running.as_mut().and_then(|running| running.question.as_mut()) {
            Some(question) if question.confirmation.id == id => question.answer(digest, approve, by),
            _ => Answered::Unknown,
        }
    }

    /// Whether a question stands open, with its id and digest.
    pub fn open_question(&self) -> Option<(String, String)> {
        let state = self.lock();
        let question = state.running.as_ref()?.question.as_ref()?;
        Some((question.confirmation.id.clone(), question.confirmation.digest.clone()))
    }

    pub(crate) fn close_question(&self, is_stopped: bool) {
        let mut state = self.lock();
        let Some(running) = &mut state.running else { return };
        let Some(question) = running.question.take() else { return };
        let how = match question.by {
            Some(_) if question.approved => "approved",
            Some(_) => "refused",
            None if is_stopped => "stopped",
            None => "expired",
        };
        let by = question.by.unwrap_or(if is_stopped { "stop" } else { "time" });
        let message = json!({ "type": "confirmed", "turn": running.view.turn, "id": question.confirmation.id, "how": how, "by": by });
        state.publish(&self.id, message);
    }
}

impl RoomState {
    /// Numbers a message and hands it to every follower. One that is gone or too slow is forgotten.
    pub(crate) fn publish(&mut self, thread: &str, mut message: Value) {
        self.seq += 1;
        message["thread"] = json!(thread);
        message["seq"] = json!(self.seq);
        self.touched = Instant::now();
        if self.followers.is_empty() {
            return;
        }
        let text = Utf8Bytes::from(message.to_string());
        self.followers.retain(|follower| follower.send(Message::Text(text.clone())));
    }

    pub(crate) fn snapshot(&self, thread: &str) -> Value {
        let turn = self.running.as_ref().map(|running| {
            let question = running.question.as_ref().filter(|question| question.by.is_none());
            running.view.to_json(question.map(Question::to_json))
        });
        let waiting: Vec<Value> =
            self.queue.iter().map(|said| json!({ "id": said.client_id, "text": said.text })).collect();
        json!({
            "type": "thread",
            "thread": thread,
            "seq": self.seq,
            "title": self.title,
            "messages": self.past.iter().flat_map(PastTurn::to_json).collect::<Vec<_>>(),
            "turn": turn,
            "waiting": waiting,
        })
    }

    /// Remembers an id of something said; false when it is known.
    pub(crate) fn is_new(&mut self, id: &str) -> bool {
        if self.said.iter().any(|known| known == id) {
            return false;
        }
        if self.said.len() == REMEMBERED_IDS {
            self.said.pop_front();
        }
        self.said.push_back(id.to_owned());
        true
    }

    pub(crate) fn find(&mut self, turn: &str) -> Option<&mut PastTurn> {
        self.past.iter_mut().rev().find(|past| past.turn == turn)
    }
}

/// Rooms are shared.
pub(crate) type SharedRoom = Arc<Room>;

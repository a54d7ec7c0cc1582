//! All threads of this server, and the order of what is said in them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tenpass_agent::session::{Input, SessionState};
use tenpass_tools::assistant::{InitialSession, LiveStore, resume, store_words};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::room::{Running, SharedRoom};
use super::say::{Said, SayRefused, Speaker, Taken};
use super::{Answered, Room, TurnView, history};
use crate::error::ApiError;
use crate::model::ModelSlot;
use crate::records::TraceIndex;
use crate::socket::Outbox;

/// Threads kept in memory without a reason.
const IDLE_ROOMS: usize = 32;
/// Messages that wait for the running turn of a thread.
const MOST_WAITING: usize = 8;
/// Longest message, in bytes.
const LONGEST: usize = 64 * 1024;

/// When quiet conversations are read again.
#[derive(Debug, Clone, Copy)]
pub struct Quiet {
    /// How long a conversation is quiet before.
    pub after: Duration,
    /// How often it is looked.
    pub every: Duration,
}

/// See the module.
pub struct Conversations {
    /// Database and journals.
    pub store: LiveStore,
    /// The model.
    pub model: Arc<ModelSlot>,
    /// What the journals say.
    pub index: Arc<TraceIndex>,
    /// Caps of the day, in millionths of a dollar and in searches.
    pub caps: (u64, u64),
    rooms: Mutex<HashMap<String, SharedRoom>>,
    questions: Mutex<HashMap<String, SharedRoom>>,
    connections: Mutex<Vec<Outbox>>,
    pub(super) running: watch::Sender<usize>,
    memory_written: AtomicU64,
    turns: AtomicU64,
    /// Set while the server shuts down: nothing begins any more.
    closing: CancellationToken,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Conversations {
    /// No thread is in memory yet.
    pub fn new(store: LiveStore, model: Arc<ModelSlot>, index: Arc<TraceIndex>, caps: (u64, u64)) -> Arc<Self> {
        Arc::new(Self {
            store,
            model,
            index,
            caps,
            rooms: Mutex::default(),
            questions: Mutex::default(),
            connections: Mutex::default(),
            running: watch::channel(0).0,
            memory_written: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            closing: CancellationToken::new(),
        })
    }

    /// The thread with this id, read from the store when it is not in memory. An unknown id is an
    /// error unless it is one that this server could have made.
    pub fn room(&self, id: &str) -> Result<SharedRoom, ApiError> {
        if let Some(room) = locked(&self.rooms).get(id) {
            return Ok(Arc::clone(room));
        }
        let database = &self.store.database;
        let room = if let Some((title, past)) = history::load(database, &self.index, id)? {
            let session = resume(database, &InitialSession::Named(id.to_owned()))?
                .filter(|session| session.thread() == id)
                .unwrap_or_else(|| SessionState::new(id));
            Room::new(id, &title, past, session)
        } else if uuid::Uuid::parse_str(id).is_ok_and(|parsed| parsed.hyphenated().to_string() == id) {
            Room::new(id, "", Vec::new(), SessionState::new(id))
        } else {
            return Err(ApiError::not_found("there is no such thread", "GET /api/threads lists them"));
        };
        let mut rooms = locked(&self.rooms);
        // Somebody else may have been quicker.
        let room = Arc::clone(rooms.entry(id.to_owned()).or_insert_with(|| Arc::new(room)));
        forget_idle(&mut rooms, id);
        Ok(room)
    }

    /// The thread that was spoken in last; a new one when there is none.
    pub fn latest(&self) -> Result<SharedRoom, ApiError> {
        let newest =
            locked(&self.rooms).values().max_by_key(|room| room.lock().touched).map(|room| room.id().to_owned());
        let stored = self.store.database.threads(1)?.first().map(|thread| thread.id.clone());
        match stored.or(newest) {
            Some(id) => self.room(&id),
            None => self.begin(),
        }
    }

    /// A new thread; it is stored with its first message.
    pub fn begin(&self) -> Result<SharedRoom, ApiError> {
        self.room(&uuid::Uuid::new_v4().to_string())
    }

    /// Takes something said: a command or a judgement is carried out at once, a message begins a
    /// turn or waits for the running one. An id that came before changes nothing.
    pub fn say(self: &Arc<Self>, room: &SharedRoom, said: Said) -> Result<Taken, SayRefused> {
        if said.text.len() > LONGEST {
            return Err(SayRefused::new("the message is longer than 64 KiB", "put it into a file and name the file"));
        }
        if said.text.trim().is_empty() {
            return Err(SayRefused::new("the message is empty", "type something"));
        }
        if self.closing.is_cancelled() {
            return Err(SayRefused::new("the server is shutting down", "start it again: tenpass serve"));
        }
        if let Some(id) = &said.client_id
            && !room.lock().is_new(id)
        {
            return Ok(Taken { again: true, moved: None });
        }
        match Input::parse(&said.text) {
            Input::Command(command) => self.command(room, command, &said).map(|moved| Taken { again: false, moved }),
            Input::Feedback(feedback) => self.typed_feedback(room, &feedback, &said).map(|()| Taken::default()),
            Input::Emergency => {
                self.stop_all();
                self.enqueue(room, said).map(|()| Taken::default())
            }
            Input::Message(text) => self.enqueue(room, Said { text, ..said }).map(|()| Taken::default()),
        }
    }

    fn enqueue(self: &Arc<Self>, room: &SharedRoom, said: Said) -> Result<(), SayRefused> {
        {
            let mut state = room.lock();
            if state.running.is_some() || state.session.is_none() {
                if state.queue.len() >= MOST_WAITING {
                    return Err(SayRefused::new(
                        format!("{MOST_WAITING} messages wait already"),
                        "wait for the running answer, or stop it first",
                    ));
                }
                state.queue.push_back(said);
                return Ok(());
            }
        }
        self.start(room, said)
    }

    /// Begins a turn: the words are on the disk before anybody is told.
    pub(super) fn start(self: &Arc<Self>, room: &SharedRoom, said: Said) -> Result<(), SayRefused> {
        let turn = uuid::Uuid::new_v4().to_string();
        let stop = CancellationToken::new();
        let session = {
            let mut state = room.lock();
            let Some(session) = state.session.take() else {
                state.queue.push_back(said);
                return Ok(());
            };
            if let Err(error) = store_words(&self.store.database, room.id(), &turn, &said.text) {
                state.session = Some(session);
                let hint = error.hint();
                return Err(SayRefused::new(error.to_string(), hint));
            }
            if state.title.is_empty() {
                state.title = crate::text::one_line(&said.text, 60);
            }
            let is_voice = said.speaker == Speaker::Spoken;
            let view = TurnView::new(&turn, &said.text, is_voice);
            let mut message = json!({
                "type": "turn", "turn": turn, "user": crate::text::clean(&said.text), "voice": is_voice,
                "title": state.title,
            });
            if let Some(id) = &said.client_id {
                message["client_id"] = json!(id);
            }
            state.running = Some(Running { view, stop: stop.clone(), question: None });
            state.publish(room.id(), message);
            session
        };
        self.running.send_modify(|running| *running += 1);
        self.turns.fetch_add(1, Ordering::Relaxed);
        let (conversations, room) = (Arc::clone(self), Arc::clone(room));
        tokio::spawn(async move { conversations.drive(room, session, said, turn, stop).await });
        Ok(())
    }

    /// Ends every running turn, and nothing that waited begins.
    pub fn stop_all(&self) {
        let rooms: Vec<SharedRoom> = locked(&self.rooms).values().cloned().collect();
        for room in rooms {
            room.lock().queue.clear();
            room.stop();
        }
    }

    /// Answers a confirmation, from whatever thread it is.
    pub fn answer(&self, id: &str, digest: &str, approve: bool, by: &'static str) -> Answered {
        let room = locked(&self.questions).get(id).cloned();
        room.map_or(Answered::Unknown, |room| room.answer(id, digest, approve, by))
    }

    pub(super) fn open_question(&self, id: &str, room: &SharedRoom) {
        locked(&self.questions).insert(id.to_owned(), Arc::clone(room));
    }

    pub(super) fn close_question(&self, id: &str) {
        locked(&self.questions).remove(id);
    }

    /// Questions that stand open.
    pub fn open_questions(&self) -> usize {
        locked(&self.questions).len()
    }

    /// Turns that run now.
    pub fn running(&self) -> usize {
        *self.running.borrow()
    }

    /// Turns begun since the start.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Memory entries written since the start.
    pub fn memory_written(&self) -> u64 {
        self.memory_written.load(Ordering::Relaxed)
    }

    pub(super) fn count_memory(&self) {
        self.memory_written.fetch_add(1, Ordering::Relaxed);
    }

    /// A client that hears what concerns no thread.
    pub fn connect(&self, outbox: &Outbox) {
        locked(&self.connections).push(outbox.clone());
    }

    /// A client that is gone.
    pub fn disconnect(&self, outbox: &Outbox) {
        locked(&self.connections).retain(|other| other.id() != outbox.id());
        let rooms: Vec<SharedRoom> = locked(&self.rooms).values().cloned().collect();
        rooms.iter().for_each(|room| room.leave(outbox));
    }

    /// Clients that are connected.
    pub fn connections(&self) -> usize {
        locked(&self.connections).len()
    }

    /// Tells every client.
    pub fn broadcast(&self, message: &Value) {
        let text = axum::extract::ws::Utf8Bytes::from(message.to_string());
        let send = |outbox: &mut Outbox| outbox.send(axum::extract::ws::Message::Text(text.clone()));
        locked(&self.connections).retain_mut(send);
    }

    /// Tells everyone what the watchdog raised.
    pub(super) fn raise_alerts(&self) {
        for alert in self.store.recorder.take_alerts() {
            let rule = alert.rule.as_str();
            self.broadcast(&json!({
                "type": "alert", "rule": rule, "level": crate::panels::watchdog::level(rule),
                "text": crate::text::clean(&alert.detail),
            }));
        }
    }

    /// Nothing begins any more, what runs is stopped, and its end is waited for.
    pub async fn close(&self, patience: Duration) {
        self.closing.cancel();
        self.stop_all();
        let mut running = self.running.subscribe();
        let ended = async { while *running.borrow_and_update() > 0 && running.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(patience, ended).await;
        for outbox in locked(&self.connections).drain(..) {
            outbox.close();
        }
    }
}

/// Rooms that nothing holds leave memory; the store has them.
fn forget_idle(rooms: &mut HashMap<String, SharedRoom>, but: &str) {
    while rooms.len() > IDLE_ROOMS {
        let idle = rooms.values().filter(|room| room.id() != but && Arc::strong_count(room) == 1 && room.is_idle());
        let Some(oldest) = idle.min_by_key(|room| room.lock().touched).map(|room| room.id().to_owned()) else { return };
        rooms.remove(&oldest);
    }
}

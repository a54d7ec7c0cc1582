//! A conversation read back from the store.

use tenpass_agent::session::{Exchange, SessionState};
use tenpass_trace::database::{Database, DatabaseError};
use tenpass_trace::{Message, Role, TurnEnd};

/// Prefix of the marks of turns that were taken back.
const UNDONE: &str = "undone:";

/// Where a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitialSession {
    /// A new conversation.
    New,
    /// The conversation with the latest message; a new one when there is none.
    Latest,
    /// The one whose id begins like this.
    Named(String),
}

/// Opens a session; `None` when no conversation, or more than one, has that name.
pub fn resume(database: &Database, initial: &InitialSession) -> Result<Option<SessionState>, DatabaseError> {
    let known = database.threads(usize::MAX)?;
    let found = match initial {
        InitialSession::New => return Ok(Some(SessionState::new(uuid::Uuid::new_v4().to_string()))),
        InitialSession::Latest => match known.first() {
            Some(thread) => thread.id.clone(),
            None => return Ok(Some(SessionState::new(uuid::Uuid::new_v4().to_string()))),
        },
        InitialSession::Named(name) => {
            let mut fitting = known.iter().filter(|thread| thread.id.starts_with(name.as_str()));
            match (fitting.next(), fitting.next()) {
                (Some(thread), None) => thread.id.clone(),
                _ => return Ok(None),
            }
        }
    };
    exchanges(database, &found).map(|exchanges| Some(SessionState::resume(found, exchanges)))
}

/// Marks a turn as taken back: it stays on disk and is no longer shown to the model.
pub fn mark_undone(database: &Database, turn: &str) -> Result<(), DatabaseError> {
    database.set_mark(&format!("{UNDONE}{turn}"), "1")
}

/// Whether a turn was taken back.
pub fn is_undone(database: &Database, turn: &str) -> Result<bool, DatabaseError> {
    Ok(database.mark(&format!("{UNDONE}{turn}"))?.is_some())
}

/// Stores what the person said, before anything is made of it; the thread gets its title from its
/// first words.
pub fn store_words(database: &Database, thread: &str, turn: &str, text: &str) -> Result<(), DatabaseError> {
    database.ensure_thread(thread, &super::title(text))?;
    database.append_message(thread, turn, &Message::user(text), false)?;
    Ok(())
}

/// Keeps a message that nobody can answer now: it is in the conversation, and a retry sends it.
pub fn store_unanswered(database: &Database, session: &mut SessionState, text: &str) -> Result<(), DatabaseError> {
    let turn = uuid::Uuid::new_v4().to_string();
    store_words(database, session.thread(), &turn, text)?;
    session.push(Exchange {
        turn,
        user: text.to_owned(),
        assistant: String::new(),
        end: TurnEnd::Failed,
        memory: Vec::new(),
        undone: false,
    });
    Ok(())
}

/// The exchanges of a conversation, oldest first: of each turn the person's message and the last
/// text of the answer.
fn exchanges(database: &Database, thread: &str) -> Result<Vec<Exchange>, DatabaseError> {
    let mut all: Vec<Exchange> = Vec::new();
    for stored in database.messages(thread)? {
        if stored.message.role == Role::User {
            let undone = is_undone(database, &stored.turn)?;
            all.push(Exchange {
                turn: stored.turn,
                user: stored.message.content,
                assistant: String::new(),
                // A turn without an answer on disk is one that was cut off.
                end: TurnEnd::Stopped,
                memory: Vec::new(),
                undone,
            });
        } else if stored.message.role == Role::Assistant
            && let Some(last) = all.last_mut().filter(|exchange| exchange.turn == stored.turn)
            && !stored.message.content.trim().is_empty()
        {
            last.assistant = stored.message.content;
            last.end = if stored.interrupted { TurnEnd::Stopped } else { TurnEnd::Natural };
        }
    }
    Ok(all)
}

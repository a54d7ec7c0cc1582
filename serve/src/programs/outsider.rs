//! The assistant for programs that have no page: what needs an approval is refused, because nobody is there to read
//! the real arguments.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::ws::Message;
use serde_json::Value;
use tenpass_wyoming::{Agent, Answer, Asked};

use crate::conversation::{Conversations, Room, Said};
use crate::socket::Outbox;

/// Conversations of programs that are told apart; the oldest is forgotten first.
const MOST_CONVERSATIONS: usize = 64;
/// What is said when nothing else is.
const SILENT: &str = "There is no answer.";
const REFUSED: &str = "That needs your approval: ask again on the page.";

/// Answers programs.
pub struct Outsider {
    conversations: Arc<Conversations>,
    /// A program's conversation and its thread here, in the order of their begin.
    threads: Mutex<Vec<(String, String)>>,
}

impl Outsider {
    /// On these conversations.
    pub fn new(conversations: Arc<Conversations>) -> Self {
        Self { conversations, threads: Mutex::default() }
    }

    /// The thread of a program's conversation; a new one for each question that names none.
    fn room(&self, conversation: Option<&str>) -> Result<Arc<Room>, String> {
        let failed =
            |error: crate::error::ApiError| error.body()["error"]["message"].as_str().unwrap_or_default().to_owned();
        let Some(name) = conversation else { return self.conversations.begin().map_err(failed) };
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, thread)) = threads.iter().find(|(known, _)| known == name) {
            return self.conversations.room(thread).map_err(failed);
        }
        let room = self.conversations.begin().map_err(failed)?;
        if threads.len() == MOST_CONVERSATIONS {
            threads.remove(0);
        }
        threads.push((name.chars().take(200).collect(), room.id().to_owned()));
        Ok(room)
    }

    async fn ask(&self, asked: Asked) -> Result<String, String> {
        // A slash command is for people at the page.
        let text = asked.text.trim_start_matches('/').to_owned();
        let room = self.room(asked.conversation.as_deref())?;
        let (outbox, mut mail) = Outbox::new();
        let _following = Following { room: &room, outbox: &outbox };
        room.follow(&outbox);
        let own = uuid::Uuid::new_v4().to_string();
        let said = Said { client_id: Some(own.clone()), ..Said::typed(text) };
        self.conversations.say(&room, said).map_err(|refused| refused.to_string())?;
        let (mut turn, mut refused): (Option<String>, bool) = (None, false);
        while let Some(message) = mail.next().await {
            let Message::Text(text) = message else { continue };
            let Ok(message) = serde_json::from_str::<Value>(&text) else { continue };
            let is_ours = turn.is_some() && message["turn"].as_str() == turn.as_deref();
            match message["type"].as_str() {
                Some("turn") if message["client_id"] == own.as_str() => {
                    turn = message["turn"].as_str().map(str::to_owned);
                }
                Some("confirm") if is_ours => {
                    refused = true;
                    let field = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
                    self.conversations.answer(&field("id"), &field("digest"), false, "program");
                }
                Some("finished") if is_ours => {
                    let answer = message["text"].as_str().unwrap_or_default().trim().to_owned();
                    return match (answer.is_empty(), refused) {
                        (false, _) => Ok(answer),
                        (true, true) => Err(REFUSED.to_owned()),
                        (true, false) => Err(SILENT.to_owned()),
                    };
                }
                // Answered at once: feedback in words, such as "accept".
                Some("note") if turn.is_none() => return Ok(message["text"].as_str().unwrap_or_default().to_owned()),
                _ => {}
            }
        }
        Err("the server is shutting down".to_owned())
    }
}

/// Leaves the room, whatever ends the question; a turn that nobody waits for any more is stopped.
struct Following<'a> {
    room: &'a Arc<Room>,
    outbox: &'a Outbox,
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.room.leave(self.outbox);
    }
}

impl Agent for Outsider {
    fn name(&self) -> &'static str {
        "tenpass"
    }

    fn answer(&self, asked: Asked) -> Answer<'_> {
        Box::pin(self.ask(asked))
    }
}

/// Engines of a program's wishes by name, for [`super::NamedVoice`] and the Wyoming server alike.
pub(super) fn wyoming_voices(voices: &[super::NamedVoice]) -> Vec<tenpass_wyoming::NamedVoice> {
    let mut seen = BTreeSet::new();
    voices
        .iter()
        .filter(|voice| seen.insert(&voice.name))
        .map(|voice| tenpass_wyoming::NamedVoice {
            name: voice.name.clone(),
            languages: vec![voice.language.clone()],
            voice: Arc::clone(&voice.voice),
        })
        .collect()
}

//! One client of the socket, from the upgrade to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;

use super::incoming::LARGEST;
use super::outbox::Mail;
use super::{Incoming, Outbox};
use crate::application::Application;
use crate::conversation::{Answered, Room, Said, Source};
use crate::error::ApiError;
use crate::security::RateLimit;
use crate::voice::VoiceSession;

/// Larger frames end the connection before they are read.
const HARD_LIMIT: usize = 4 * LARGEST;
/// Malformed frames after which a client is sent away.
const MOST_MALFORMED: u32 = 20;
/// Largest binary frame: 16,000 samples.
const LARGEST_SOUND: usize = 32_000;
/// How long one frame may take to be written to a client.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);
/// How often a silent client is asked whether it is there.
const PING_EVERY: Duration = Duration::from_secs(30);

/// `GET /api/socket`.
pub(crate) async fn upgrade(State(application): State<Arc<Application>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(permit) = Arc::clone(&application.sockets).try_acquire_owned() else {
        return ApiError::new(
            axum::http::StatusCode::SERVICE_UNAVAILABLE,
            "too many sockets are open",
            "close a tab, or wait",
        )
        .into_response();
    };
    upgrade.max_message_size(HARD_LIMIT).max_frame_size(HARD_LIMIT).on_upgrade(move |socket| async move {
        serve(application, socket).await;
        drop(permit);
    })
}

async fn serve(application: Arc<Application>, socket: WebSocket) {
    let (outbox, mail) = Outbox::new();
    let (sink, stream) = socket.split();
    application.conversations.connect(&outbox);
    let writer = tokio::spawn(write(sink, mail, outbox.clone()));
    let voice = application.voice().map(|voice| voice.connect(outbox.clone()));
    let mut client = Client {
        application: Arc::clone(&application),
        outbox: outbox.clone(),
        room: None,
        voice,
        malformed: 0,
        texts: RateLimit::new(30.0, 90.0),
        sounds: RateLimit::new(64.0, 256.0),
    };
    client.outbox.send_json(&application.conversations.model.message());
    client.read(stream).await;
    drop(client);
    application.conversations.disconnect(&outbox);
    // What waits, the reason of the end above all, is written first.
    drop(outbox);
    let _ = tokio::time::timeout(Duration::from_secs(2), writer).await;
}

/// Writes what waits until the client is gone, too slow, or every sender is.
async fn write(mut sink: SplitSink<WebSocket, Message>, mut mail: Mail, outbox: Outbox) {
    let gone = outbox.gone().clone();
    // The writer itself must not keep the queue open.
    drop(outbox);
    loop {
        let next = tokio::select! {
            biased;
            () = gone.cancelled() => None,
            next = tokio::time::timeout(PING_EVERY, mail.next()) => match next {
                Ok(message) => message,
                Err(_) => Some(Message::Ping(axum::body::Bytes::new())),
            },
        };
        let Some(message) = next else { break };
        let is_close = matches!(message, Message::Close(_));
        let written = tokio::select! {
            () = gone.cancelled() => break,
            written = tokio::time::timeout(WRITE_PATIENCE, sink.send(message)) => written,
        };
        if is_close || !matches!(written, Ok(Ok(()))) {
            break;
        }
    }
    gone.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(1), sink.close()).await;
}

struct Client {
    application: Arc<Application>,
    outbox: Outbox,
    /// The thread that is followed.
    room: Option<Arc<Room>>,
    voice: Option<Box<dyn VoiceSession>>,
    malformed: u32,
    texts: RateLimit,
    sounds: RateLimit,
}

impl Client {
    async fn read(&mut self, mut stream: SplitStream<WebSocket>) {
        let gone = self.outbox.gone().clone();
        loop {
            let message = tokio::select! {
                () = gone.cancelled() => break,
                message = stream.next() => match message {
                    Some(Ok(message)) => message,
                    Some(Err(_)) | None => break,
                },
            };
            let outcome = match message {
                Message::Text(text) => self.text(&text),
                Message::Binary(bytes) => self.sound(&bytes),
                Message::Ping(_) | Message::Pong(_) => Ok(()),
                Message::Close(_) => break,
            };
            if let Err(reason) = outcome {
                self.complain(&reason, "see the protocol: serve/PROTOCOL.md", None);
                self.malformed += 1;
                if self.malformed >= MOST_MALFORMED {
                    let frame = CloseFrame { code: close_code::POLICY, reason: "too many malformed frames".into() };
                    self.outbox.send(Message::Close(Some(frame)));
                    break;
                }
            }
        }
    }

    fn complain(&self, message: &str, hint: &str, client_id: Option<&str>) {
        let mut error = json!({ "type": "error", "message": message, "hint": hint });
        if let Some(id) = client_id {
            error["client_id"] = json!(id);
        }
        self.outbox.send_json(&error);
    }

    fn text(&mut self, frame: &str) -> Result<(), String> {
        if !self.texts.take(1.0) {
            return Err("too many messages; 30 a second are read".to_owned());
        }
        match Incoming::parse(frame).map_err(|malformed| malformed.reason)? {
            Incoming::Open { thread } => self.open(thread.as_deref()),
            Incoming::Say { thread, text, think, id } => {
                let said = Said { think: think.map(Into::into), client_id: Some(id), ..Said::typed(text) };
                self.say(thread.as_deref(), said);
            }
            Incoming::Stop { thread } => {
                if let Some(room) = self.named(thread.as_deref(), None)
                    && !room.stop()
                {
                    self.complain("nothing runs in this thread", "there is nothing to stop", None);
                }
            }
            Incoming::Confirm { id, digest, approve } => self.confirm(&id, &digest, approve),
            Incoming::Retry { thread } => {
                if let Some(room) = self.named(thread.as_deref(), None)
                    && let Err(refused) = self.application.conversations.retry(&room, None)
                {
                    self.complain(&refused.message, &refused.hint, None);
                }
            }
            Incoming::Voice(message) => match &mut self.voice {
                Some(voice) => {
                    let room = self.room.clone();
                    voice.message(room, message);
                }
                None => self.complain("there is no voice here", "see what is missing: /api/session", None),
            },
        }
        Ok(())
    }

    fn sound(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() > LARGEST_SOUND || !bytes.len().is_multiple_of(2) {
            return Err(format!(
                "a binary frame of {} bytes; up to {LARGEST_SOUND} of 16-bit samples are read",
                bytes.len()
            ));
        }
        if !self.sounds.take(1.0) {
            return Err("too much sound; it comes faster than it is spoken".to_owned());
        }
        if let Some(voice) = &mut self.voice {
            voice.sound(bytes);
        }
        Ok(())
    }

    fn open(&mut self, thread: Option<&str>) {
        let conversations = &self.application.conversations;
        let found = match thread {
            Some(id) => conversations.room(id),
            None => conversations.latest(),
        };
        match found {
            Ok(room) => self.follow(room),
            Err(error) => self.complain(&error.message, &error.hint, None),
        }
    }

    fn follow(&mut self, room: Arc<Room>) {
        if let Some(old) = self.room.take().filter(|old| old.id() != room.id()) {
            old.leave(&self.outbox);
        }
        room.follow(&self.outbox);
        self.room = Some(room);
    }

    /// The thread that a message names, or the one that is followed.
    fn named(&self, thread: Option<&str>, client_id: Option<&str>) -> Option<Arc<Room>> {
        let found = match (thread, &self.room) {
            (Some(id), Some(room)) if room.id() == id => Ok(Arc::clone(room)),
            (Some(id), _) => self.application.conversations.room(id),
            (None, Some(room)) => Ok(Arc::clone(room)),
            (None, None) => Err(ApiError::not_found("no thread is open", "send open first")),
        };
        found.map_err(|error| self.complain(&error.message, &error.hint, client_id)).ok()
    }

    fn say(&mut self, thread: Option<&str>, said: Said) {
        let id = said.client_id.clone().unwrap_or_default();
        let Some(room) = self.named(thread, Some(&id)) else { return };
        if self.room.is_none() {
            self.follow(Arc::clone(&room));
        }
        match self.application.conversations.say(&room, said) {
            Ok(taken) => {
                let accepted =
                    json!({ "type": "accepted", "client_id": id, "thread": room.id(), "again": taken.again });
                self.outbox.send_json(&accepted);
                if let Some(thread) = taken.moved {
                    self.open(Some(&thread));
                }
            }
            Err(refused) => self.complain(&refused.message, &refused.hint, Some(&id)),
        }
    }

    fn confirm(&self, id: &str, digest: &str, approve: bool) {
        match self.application.conversations.answer(id, digest, approve, Source::Click.as_str()) {
            Answered::Taken => {}
            Answered::WrongDigest => self.complain(
                "the digest is not the one of this question, so it was refused",
                "answer with the digest as it was shown",
                None,
            ),
            Answered::Unknown => {
                self.complain("this question does not stand open", "it was answered, or it has expired", None);
            }
        }
    }
}

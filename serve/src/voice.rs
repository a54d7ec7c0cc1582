//! Where the voice turn joins: sound and its messages come from the socket, and everything it does
//! with words goes through [`crate::conversation::Conversations`], as typed words do.

use std::sync::Arc;

use serde_json::Value;

use crate::conversation::Room;
use crate::socket::{Outbox, VoiceMessage};

/// Ears and a voice for the page.
pub trait Voice: Send + Sync {
    /// `voice` of `GET /api/session`: `{"available","why"?,"voice"?,"stt"?,"wake"?,"hands_free"}`.
    fn status(&self) -> Value;

    /// A client that may speak. What is sent to it goes through its outbox.
    fn connect(&self, outbox: Outbox) -> Box<dyn VoiceSession>;
}

/// The voice of one client. Neither method may block; dropping it ends what it does.
pub trait VoiceSession: Send {
    /// A message, and the thread that the client follows.
    fn message(&mut self, room: Option<Arc<Room>>, message: VoiceMessage);

    /// Sound: s16le, mono, 16 kHz.
    fn sound(&mut self, bytes: &[u8]);
}

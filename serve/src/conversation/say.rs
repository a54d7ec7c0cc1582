//! What a person says to the server, and what comes of it at once.

use tenpass_agent::policy::Profile;
use tenpass_agent::session::ThinkSetting;

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The page, or another program on its socket.
    Typed,
    /// A voice turn.
    Spoken,
}

/// Something said.
#[derive(Debug, Clone)]
pub struct Said {
    /// The words.
    pub text: String,
    /// The thinking level of this message; `None` keeps the thread's.
    pub think: Option<ThinkSetting>,
    /// The client's own name for it: said twice, it counts once.
    pub client_id: Option<String>,
    /// Who said it.
    pub speaker: Speaker,
    /// How confirmations work; `None` takes the setting's.
    pub profile: Option<Profile>,
}

impl Said {
    /// Typed words.
    pub fn typed(text: impl Into<String>) -> Self {
        Self { text: text.into(), think: None, client_id: None, speaker: Speaker::Typed, profile: None }
    }
}

/// It was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// It came before, and nothing was done a second time.
    pub again: bool,
    /// The thread that the person asked to go on with (`/new`, `/threads ID`).
    pub moved: Option<String>,
}

/// Why it was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SayRefused {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl SayRefused {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

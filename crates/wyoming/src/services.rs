//! What a server offers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tenpass_stt::{Decoding, Transcriber};
use tenpass_tts::Voice;
use tenpass_wake::Detector;

/// A text for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// What was said.
    pub text: String,
    /// In which language, where the client knows.
    pub language: Option<String>,
    /// The client's conversation, where it names one.
    pub conversation: Option<String>,
}

/// An answer, or a sentence that says why there is none.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// What answers texts. Nobody is there to approve anything: whatever needs an approval is refused.
pub trait Agent: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Answers a text.
    fn answer(&self, asked: Asked) -> Answer<'_>;
}

/// A voice with its name.
#[derive(Clone)]
pub struct NamedVoice {
    /// As clients name it.
    pub name: String,
    /// What it speaks.
    pub languages: Vec<String>,
    /// The voice.
    pub voice: Arc<dyn Voice>,
}

/// A wake word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeWord {
    /// As clients name it; the name of its head.
    pub name: String,
    /// What is said.
    pub phrase: String,
    /// In which languages.
    pub languages: Vec<String>,
}

/// Makes a detector with one head a word, in the order of the words.
pub type OpenDetector = Box<dyn Fn(&[&WakeWord]) -> Result<Detector, String> + Send + Sync>;

/// Wake words.
pub struct WakeService {
    /// Those that are there.
    pub words: Vec<WakeWord>,
    /// A new stream that listens for these words.
    pub detector: OpenDetector,
}

/// Everything a server offers; what is `None` or empty is not described and not answered.
#[derive(Clone, Default)]
pub struct Services {
    /// Speech to text.
    pub ears: Option<Arc<dyn Transcriber>>,
    /// How it decodes; language and prompt come from the client.
    pub decoding: Decoding,
    /// Languages that it hears.
    pub languages: Vec<String>,
    /// Text to speech; the first is the one that is taken where none is named.
    pub voices: Vec<NamedVoice>,
    /// Wake words.
    pub wake: Option<Arc<WakeService>>,
    /// The agent.
    pub agent: Option<Arc<dyn Agent>>,
}

//! Routes for other programs, in the shapes of OpenAI's API: models, chat completions, embeddings, transcriptions,
//! speech. They use the engines that the assistant uses; the agent's tools and its memory are not behind them.

mod body;
mod chat;
mod embeddings;
mod fault;
mod listen;
mod models;
mod openapi;
mod outsider;
mod reply;
mod second;
mod speech;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tenpass_embed::Embedder;
use tenpass_stt::{Decoding, Transcriber};
use tenpass_tts::Voice;
use tokio::sync::Semaphore;

use crate::application::Application;
use crate::server::MoreRoutes;
use fault::Fault;

pub use openapi::DOCUMENT as OPENAPI;
pub use outsider::Outsider;
pub use second::serve_embeddings;

/// Answers that are being made at the same time.
const MOST_ANSWERS: usize = 16;
/// Largest sound file, with its multipart around it.
const SOUND_BODY: usize = 33 << 20;

/// A voice with the name that programs use.
#[derive(Clone)]
pub struct NamedVoice {
    /// Its name.
    pub name: String,
    /// The language it speaks.
    pub language: String,
    /// The voice.
    pub voice: Arc<dyn Voice>,
}

/// Engines beside the model; what is missing is answered with 501 and how to get it.
#[derive(Clone)]
pub struct Engines {
    /// Speech to text.
    pub ears: Option<Arc<dyn Transcriber>>,
    /// How it decodes.
    pub decoding: Decoding,
    /// Text to speech; the first is taken for names that are OpenAI's.
    pub voices: Vec<NamedVoice>,
    /// Sentence embeddings.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl Engines {
    /// What a Wyoming server offers with these engines.
    pub fn wyoming(
        &self,
        wake: Option<Arc<tenpass_wyoming::WakeService>>,
        agent: Outsider,
    ) -> tenpass_wyoming::Services {
        tenpass_wyoming::Services {
            ears: self.ears.clone(),
            decoding: self.decoding.clone(),
            languages: vec!["en".to_owned(), "fr".to_owned()],
            voices: outsider::wyoming_voices(&self.voices),
            wake,
            agent: Some(Arc::new(agent)),
        }
    }
}

/// Where engines are put when they are loaded: the page does not wait for them.
pub type EngineSlot = Arc<OnceLock<Engines>>;

/// What the handlers share.
#[derive(Clone)]
struct Programs {
    slot: EngineSlot,
    places: Arc<Semaphore>,
}

impl Programs {
    fn engines(&self) -> Result<&Engines, Fault> {
        self.slot.get().ok_or_else(|| Fault::unavailable("the engines are being loaded: try again in a moment"))
    }
}

/// The routes.
pub fn routes(slot: EngineSlot) -> MoreRoutes {
    let shared = Programs { slot, places: Arc::new(Semaphore::new(MOST_ANSWERS)) };
    Router::<Arc<Application>>::new()
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*name}", get(models::one))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/v1/audio/transcriptions", post(listen::transcribe).layer(DefaultBodyLimit::max(SOUND_BODY)))
        .route("/v1/audio/speech", post(speech::speak))
        .route("/openapi.json", get(openapi::show))
        .layer(axum::Extension(shared))
}

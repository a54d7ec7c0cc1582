//! Engines for `tenpass serve`: whatever of speech and embeddings is on this machine.

use std::path::Path;
use std::sync::Arc;

use tenpass_embed::{Api, BertEmbedder, EmbedError, Embedder, RemoteEmbedder};
use tenpass_serve::programs::{Engines, NamedVoice};
use tenpass_stt::{Decoding, SttSpec, Transcriber};
use tenpass_tts::open;
use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head};
use tenpass_wyoming::{WakeService, WakeWord};

use super::assets::asset_if_there;
use super::head::ChosenHead;
use super::transcribe::open_engine;
use super::voices::{best_voice, named_voice, voice_files};
use super::{assets, head};
use crate::context::Context;
use crate::failure::Failure;

impl From<EmbedError> for Failure {
    fn from(error: EmbedError) -> Self {
        let hint = error.hint();
        match error {
            EmbedError::Address { .. } => Self::mistake(error).hint(hint),
            _ => Self::backend(error).hint(hint),
        }
    }
}

/// Loads what is there, and says what is not. Nothing is fetched.
pub(in crate::commands) fn engines(context: &Context, embedder: Option<Arc<dyn Embedder>>) -> Engines {
    let told = |what: &str, failure: &Failure| {
        let hint = failure.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        context.printer.note(&format!("without {what}: {}{hint}", failure.message));
    };
    let ears = ears(context).map_err(|failure| told("speech to text", &failure)).ok();
    let voices = voices(context).unwrap_or_else(|failure| {
        told("a voice", &failure);
        Vec::new()
    });
    Engines { ears, decoding: Decoding { gate: true, ..Decoding::default() }, voices, embedder }
}

fn ears(context: &Context) -> Result<Arc<dyn Transcriber>, Failure> {
    let spec = SttSpec::parse(&context.resolved.settings.speech.stt).map_err(Failure::mistake)?;
    Ok(Arc::from(open_engine(context, &spec, true)?))
}

/// A voice for each language, the set one or the best.
fn voices(context: &Context) -> Result<Vec<NamedVoice>, Failure> {
    let files = voice_files(context, None)?;
    let speech = &context.resolved.settings.speech;
    let mut voices: Vec<NamedVoice> = Vec::new();
    for (language, set) in [("en", &speech.voice_en), ("fr", &speech.voice_fr)] {
        let spec = match set {
            Some(set) => named_voice(context, set)?,
            None => match best_voice(&files, language) {
                Ok(spec) => spec,
                Err(failure) if voices.is_empty() && language == "fr" => return Err(failure),
                Err(_) => continue,
            },
        };
        let voice = open(&spec, &files)?;
        let name = voice.info().spec.clone();
        voices.push(NamedVoice { name, language: language.to_owned(), voice: Arc::from(voice) });
    }
    Ok(voices)
}

/// The wake word that is in service, for the Wyoming server.
pub(in crate::commands) fn wake_service(context: &Context) -> Result<Arc<WakeService>, Failure> {
    let chosen = head::heads(context, &[])?;
    let model = EmbeddingModel::load(&assets::asset(context, "speech-embedding")?)?;
    // Read once here, so that a broken file is told now; each stream reads its own, small as they are.
    let names = chosen.iter().map(|one| Ok(one.load()?.name().to_owned())).collect::<Result<Vec<String>, Failure>>()?;
    let words = names.iter().map(|name| WakeWord {
        name: name.clone(),
        phrase: name.replace(['_', '-'], " "),
        languages: vec!["en".to_owned(), "fr".to_owned()],
    });
    let words = words.collect();
    let detector = move |wanted: &[&WakeWord]| {
        let failed = |error: tenpass_wake::WakeError| error.to_string();
        let meant: Vec<&ChosenHead> =
            wanted.iter().filter_map(|word| Some(&chosen[names.iter().position(|name| *name == word.name)?])).collect();
        let heads = meant.iter().map(|one| one.load().map_err(|failure| failure.message));
        let heads = heads.collect::<Result<Vec<Head>, String>>()?;
        let mut detector = Detector::new(&model, heads, DetectorConfig::default()).map_err(failed)?;
        for (place, one) in meant.into_iter().enumerate() {
            let on = one.threshold.unwrap_or(DetectorConfig::default().threshold_on);
            detector = detector.with_thresholds(place, on, on * head::OFF_OF_ON).map_err(failed)?;
        }
        Ok(detector)
    };
    Ok(Arc::new(WakeService { words, detector: Box::new(detector) }))
}

/// The embedding model: the second computer's where one is set, else the one of this machine, if it is there.
pub(in crate::commands) async fn embedder(context: &Context) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let settings = &context.resolved.settings.embeddings;
    if let Some(address) = &settings.address {
        let api = match settings.api.as_str() {
            "openai" => Api::OpenAi,
            "ollama" => Api::Ollama,
            other => {
                return Err(Failure::mistake(format!("embeddings.api is {other:?}")).hint("set it to openai or ollama"));
            }
        };
        let key =
            settings.key_variable.as_ref().and_then(|name| std::env::var(name).ok()).filter(|key| !key.is_empty());
        let remote = RemoteEmbedder::second_computer(address, api, &settings.model, key).await?;
        return Ok(Some(Arc::new(remote)));
    }
    match asset_if_there(context, &settings.model)? {
        Some(path) => Ok(Some(Arc::new(load(&path)?))),
        None => Ok(None),
    }
}

/// The model of this machine, for the role of the second computer: it must be there.
pub(in crate::commands) fn local_embedder(context: &Context) -> Result<BertEmbedder, Failure> {
    load(&assets::asset(context, &context.resolved.settings.embeddings.model)?)
}

fn load(path: &Path) -> Result<BertEmbedder, Failure> {
    Ok(BertEmbedder::load(path)?)
}

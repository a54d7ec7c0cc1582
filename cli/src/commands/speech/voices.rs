//! The voices of this machine: where what they need lies, and which one is meant.

use tenpass_catalog::Kind;
use tenpass_tts::{ElevenLabsAccount, Files, VoiceSpec, best};

use super::assets::asset_if_there;
use crate::context::Context;
use crate::failure::Failure;

/// Models and libraries of the store, and the account of ElevenLabs when its key is there. `threads` is for one
/// voice; where several speak side by side, or the same bytes must come on any machine, it is one.
pub(super) fn voice_files(context: &Context, threads: Option<usize>) -> Result<Files, Failure> {
    let store = context.store()?;
    let speech = &context.resolved.settings.speech;
    let mut files = Files {
        onnxruntime: asset_if_there(context, "onnxruntime")?,
        kokoro: asset_if_there(context, "kokoro-82m")?,
        kokoro_voices: asset_if_there(context, "kokoro-voices")?,
        threads,
        ..Files::default()
    };
    let voices = store.catalog().assets().iter().filter(|asset| asset.kind == Kind::TextToSpeech);
    for asset in voices.filter(|asset| !asset.name.starts_with("kokoro")) {
        if let Some(path) = store.path(&asset.name).filter(|path| path.extension().is_some_and(|end| end == "onnx")) {
            files.piper.insert(asset.name.clone(), path);
        }
    }
    let key = speech.elevenlabs_key_variable.as_ref().and_then(|name| std::env::var(name).ok());
    files.elevenlabs = key.filter(|key| !key.is_empty()).map(|key| ElevenLabsAccount {
        base_url: speech.elevenlabs.clone(),
        key,
        model: speech.elevenlabs_model.clone(),
        output_format: speech.elevenlabs_format.clone(),
    });
    Ok(files)
}

/// The voice that was typed or set. Offline, one on the network is refused.
pub(super) fn named_voice(context: &Context, spec: &str) -> Result<VoiceSpec, Failure> {
    let spec = VoiceSpec::parse(spec)?;
    if context.resolved.settings.offline && matches!(spec, VoiceSpec::ElevenLabs { .. }) {
        return Err(Failure::backend("ElevenLabs is on the network, and this is offline")
            .hint("name another voice, or leave --offline out"));
    }
    Ok(spec)
}

/// The best voice of this machine for a language.
pub(super) fn best_voice(files: &Files, language: &str) -> Result<VoiceSpec, Failure> {
    best(files, language).ok_or_else(|| {
        Failure::backend(format!("there is no voice for {language} on this machine"))
            .hint("install espeak-ng with the system's package manager, then: tenpass models pull onnxruntime kokoro-82m kokoro-voices")
    })
}

//! From what was typed to a detector.

use tenpass_audio::AudioError;
use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head, Vad, Verifier, WakeError};

use super::super::assets::asset;
use crate::args::speech::wake::DetectorArguments;
use crate::context::Context;
use crate::failure::Failure;

impl From<WakeError> for Failure {
    fn from(error: WakeError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

/// A file that is no sound.
pub(super) fn unreadable(error: &AudioError) -> Failure {
    Failure::mistake(error).hint(error.hint())
}

/// The detector that was asked for. Heads are read first: what was typed is refused before an asset is
/// looked for.
pub(super) fn detector(context: &Context, typed: &DetectorArguments) -> Result<Detector, Failure> {
    let config = config(typed)?;
    let heads = heads(context, typed)?;
    let verifier = typed.verifier.as_deref().map(Verifier::load).transpose()?;
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let mut detector = Detector::new(&model, heads, config)?;
    if let Some(verifier) = verifier {
        detector = detector.with_verifier(0, verifier);
    }
    if typed.vad.is_some() {
        detector = detector.with_vad(Vad::load(&asset(context, "silero-vad")?)?);
    }
    Ok(detector)
}

fn config(typed: &DetectorArguments) -> Result<DetectorConfig, Failure> {
    let usual = DetectorConfig::default();
    let config = DetectorConfig {
        threshold_on: typed.threshold,
        threshold_off: typed.threshold_off.unwrap_or(usual.threshold_off.min(typed.threshold)),
        hits: typed.hits,
        of: typed.of,
        vad_threshold: typed.vad.unwrap_or(usual.vad_threshold),
        ..usual
    };
    config.check()?;
    Ok(config)
}

fn heads(context: &Context, typed: &DetectorArguments) -> Result<Vec<Head>, Failure> {
    if !typed.heads.is_empty() {
        return Ok(typed.heads.iter().map(|path| Head::load(path)).collect::<Result<_, _>>()?);
    }
    let Some(path) = &context.resolved.settings.speech.wake_head else {
        return Err(Failure::backend("no wake word is set up: a head must be trained first").hint(
            "train one with `tenpass train wake --word WORD`, then name it with --head or the setting speech.wake_head",
        ));
    };
    Ok(vec![Head::load(path)?])
}

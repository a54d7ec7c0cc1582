//! From what was typed to a detector.

use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head, Vad, Verifier, WakeError};

use super::super::assets::asset;
use super::super::head::{self, ChosenHead, OFF_OF_ON};
use crate::args::speech::wake::DetectorArguments;
use crate::context::Context;
use crate::failure::Failure;

impl From<WakeError> for Failure {
    fn from(error: WakeError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

/// A detector, and where its heads come from.
pub(super) struct Listening {
    pub(super) detector: Detector,
    /// With the thresholds in force.
    pub(super) heads: Vec<ChosenHead>,
}

/// The detector that was asked for. Heads are read first: what was typed is refused before an asset is
/// looked for.
pub(super) fn detector(context: &Context, typed: &DetectorArguments) -> Result<Listening, Failure> {
    let config = config(typed)?;
    let mut chosen = head::heads(context, &typed.heads)?;
    let heads = chosen.iter().map(ChosenHead::load).collect::<Result<Vec<Head>, _>>()?;
    let verifier = typed.verifier.as_deref().map(Verifier::load).transpose()?;
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let mut detector = Detector::new(&model, heads, config)?;
    for (place, head) in chosen.iter_mut().enumerate() {
        // A threshold that was typed holds for all; else each head has its own, and lets go where it was measured to.
        let on = typed.threshold.or(head.threshold).unwrap_or(DetectorConfig::default().threshold_on);
        detector = detector.with_thresholds(place, on, typed.threshold_off.unwrap_or(on * OFF_OF_ON))?;
        head.threshold = Some(on);
    }
    if let Some(verifier) = verifier {
        detector = detector.with_verifier(0, verifier);
    }
    if typed.vad.is_some() {
        detector = detector.with_vad(Vad::load(&asset(context, "silero-vad")?)?);
    }
    Ok(Listening { detector, heads: chosen })
}

fn config(typed: &DetectorArguments) -> Result<DetectorConfig, Failure> {
    let usual = DetectorConfig::default();
    let threshold_on = typed.threshold.unwrap_or(usual.threshold_on);
    let config = DetectorConfig {
        threshold_on,
        threshold_off: threshold_on * OFF_OF_ON,
        hits: typed.hits,
        of: typed.of,
        vad_threshold: typed.vad.unwrap_or(usual.vad_threshold),
        ..usual
    };
    config.check()?;
    Ok(config)
}

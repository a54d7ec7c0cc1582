//! Both heads on the frozen golden set, and what the candidate may have learned by heart.

use std::collections::BTreeSet;
use std::path::Path;

use tenpass_audio::{Random, SPEECH_RATE};
use tenpass_corpus::{Corpus, CorpusError};
use tenpass_wake::{Detector, WakeError};

use super::evidence::{Golden, GoldenClip};
use crate::features::sound_hash;
use crate::wake::{Part, Record, TrainError};

/// Quiet noise around each clip, in samples: the heads' windows are filled, and late events are seen.
const BEFORE: usize = 2 * SPEECH_RATE as usize;
const AFTER: usize = 3 * SPEECH_RATE as usize / 2;

/// Why the golden set cannot be heard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The corpus.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The heads.
    #[error(transparent)]
    Wake(#[from] WakeError),
    /// The record of the training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// It may still change.
    #[error("the corpus {0} is not frozen")]
    Open(String),
}

/// Plays every clip with the wake word to a detector with the head in service first and the candidate second. Own
/// voices are those named; without names all are. `progress` is told how many clips are done, of how many.
pub fn hear_golden(
    corpus: &Corpus,
    detector: &mut Detector,
    own: &[String],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Golden, GoldenError> {
    if corpus.manifest().frozen.is_none() {
        return Err(GoldenError::Open(corpus.manifest().name.clone()));
    }
    let clips: Vec<_> = corpus.clips().iter().filter(|clip| clip.wake.is_some()).collect();
    let mut golden = Golden::default();
    for (done, clip) in clips.iter().enumerate() {
        progress(done, clips.len());
        let sound = corpus.load(clip)?.at_rate(SPEECH_RATE);
        let mut noise = Random::named(7, &clip.file);
        let mut quiet = |length: usize| (0..length).map(|_| ((noise.unit() - 0.5) * 1e-3) as f32).collect::<Vec<f32>>();
        let mut samples = quiet(BEFORE);
        samples.extend_from_slice(&sound.samples);
        samples.extend(quiet(AFTER));
        detector.reset();
        let events = detector.events(&samples);
        let fired = |head: usize| events.iter().any(|event| event.head == head);
        golden.clips.push(GoldenClip {
            file: clip.file.clone(),
            sha256: clip.sha256.clone(),
            own_voice: own.is_empty() || own.contains(&clip.voice),
            champion: fired(0),
            candidate: fired(1),
        });
    }
    Ok(golden)
}

/// The golden clips that the candidate was trained on, or its checkpoint and threshold chosen on. `None` when there is
/// no record beside the candidate: then nobody knows.
pub fn trained_on(corpus: &Corpus, candidate: &Path) -> Result<Option<Vec<String>>, GoldenError> {
    let Some(record) = Record::beside(candidate)? else { return Ok(None) };
    let learned: BTreeSet<&String> =
        [Part::Train, Part::Dev].iter().filter_map(|part| record.hashes.get(part)).flatten().collect();
    let mut shared = Vec::new();
    for clip in corpus.clips().iter().filter(|clip| clip.wake.is_some()) {
        let sound = corpus.load(clip)?.at_rate(SPEECH_RATE);
        if learned.contains(&sound_hash(&sound.to_i16())) {
            shared.push(clip.file.clone());
        }
    }
    Ok(Some(shared))
}

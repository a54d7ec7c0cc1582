//! The wake-word bench: continuous audio, events by the real detector, misses and false wakes with bounds.
//!
//! A corpus becomes stretches of continuous sound at random phase ([`Sounds`]); the detector of the service runs
//! over them and its scores are kept, a stretch a pass ([`Listened`]); from the passes alone come thresholds, rates
//! and curves ([`summarise`]). The threshold is chosen on development days and reported on test days. Sound that
//! a head was trained on is refused. [`ablate`] trains without a source and compares, clip by clip.

mod ablate;
mod listen;
mod sounds;
mod summary;

use tenpass_train::wake::TrainError;
use tenpass_wake::WakeError;

pub use ablate::{AblatedPass, Ablation, AblationRow, Arm, ablate, ablation_rows};
pub use listen::{Contender, Listened, listen};
pub use sounds::Sounds;
pub use summary::{
    Chosen, Curve, Difference, HeadSummary, LIMITS_PER_HOUR, Summary, SummaryOptions, differences, summarise, word_hits,
};

use crate::store::StoreError;

/// Why the bench cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeBenchError {
    /// Sounds, features or training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A head or the front end.
    #[error(transparent)]
    Wake(#[from] WakeError),
    /// The run on disk.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A head was trained on what it would be tested with.
    #[error("{head} was trained on {count} of these sounds, one of them `{text}` by {voice}")]
    Overlap {
        /// The head.
        head: String,
        /// How many.
        count: usize,
        /// What one of them says.
        text: String,
        /// Who says it.
        voice: String,
    },
    /// There is no word in the corpus.
    #[error("nobody says `{0}` in this corpus")]
    NoWords(String),
    /// The heads listen for different words.
    #[error("the heads are for different words: {0}")]
    Words(String),
    /// A source that is to be left out is not there.
    #[error("there is nothing of {0} to leave out")]
    NothingToLeaveOut(String),
}

impl WakeBenchError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Train(error) => error.hint(),
            Self::Wake(error) => error.hint().to_owned(),
            Self::Store(error) => error.hint().to_owned(),
            Self::Overlap { .. } => {
                "take a corpus of other days and voices: a test on what was trained proves nothing".into()
            }
            Self::NoWords(_) => "name a corpus with the wake word with --corpus DIR, or the word with --word".into(),
            Self::Words(_) => "compare heads for the same word, or name the word with --word".into(),
            Self::NothingToLeaveOut(_) => {
                "give recordings with --positives DIR, and synthetic speech with --synthetic N".into()
            }
        }
    }
}

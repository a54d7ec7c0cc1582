//! A speaker verifier: does the user say the wake word, or somebody else?
//!
//! One window per event, standardised, logistic regression. It lowers how often other voices wake the agent; it is NOT
//! authentication: a recording of the user, or a voice that is like theirs, passes it.

mod collect;
mod folds;
mod logistic;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenpass_wake::{Verifier, VerifierFile};

pub use collect::{Sources, collect};
pub use folds::{Example, Judgement, MOST_OWN_MISSES, PENALTIES, Speaker};

use crate::wake::TrainError;

/// Why there is no verifier.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifierError {
    /// Too few days of recordings.
    #[error("own recordings of {0} day(s): leaving one day out needs at least two")]
    Days(usize),
    /// Nobody else.
    #[error("there are no other voices")]
    Others,
    /// Nobody.
    #[error("{0}: the head hears the word in none of its recordings")]
    Nothing(PathBuf),
    /// The sounds cannot be used.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// What was fitted does not hold together.
    #[error("the fitted verifier: {0}")]
    Fitted(String),
}

impl VerifierError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Days(_) => {
                "record the word on another day, and put the files of a day into a folder YYYY-MM-DD".into()
            }
            Self::Others => "give --others DIR with other voices saying the word, and the user's other speech".into(),
            Self::Nothing(_) => "check that --head is a head for the word that is said there".into(),
            Self::Train(error) => error.hint(),
            Self::Fitted(_) => "this is a bug in tenpass: please report it".into(),
        }
    }
}

/// A verifier and how it was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// Ready to score.
    pub verifier: Verifier,
    /// What leave-one-day-out found.
    pub judgement: Judgement,
}

/// What is kept beside a verifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifierRecord {
    /// Version of this format.
    pub format: u32,
    /// What it is, and is not.
    pub note: String,
    /// What leave-one-day-out found.
    pub judgement: Judgement,
}

impl VerifierRecord {
    /// The record of this judgement.
    pub fn new(judgement: Judgement) -> Self {
        let note = "lowers how often other voices wake the agent; it is not authentication".to_owned();
        Self { format: 1, note, judgement }
    }
}

/// Trains on examples; `features` is the version of what they were made with.
pub fn train(word: &str, examples: &[Example], features: &str, seed: u64) -> Result<Trained, VerifierError> {
    let days = folds::days(examples);
    if days.len() < 2 {
        return Err(VerifierError::Days(days.len()));
    }
    let judgement = folds::judge(examples, seed).ok_or(VerifierError::Others)?;
    let rows: Vec<&Example> = examples.iter().collect();
    let (standard, fitted) = folds::fit(&rows, judgement.c);
    let mut hash = Sha256::new();
    hash.update(features.as_bytes());
    for value in examples.iter().flat_map(|example| &example.window) {
        hash.update(value.to_le_bytes());
    }
    let file = VerifierFile {
        format: VerifierFile::FORMAT.to_owned(),
        word: word.to_owned(),
        mean: standard.mean,
        scale: standard.scale,
        weights: fitted.weights.iter().map(|weight| *weight as f32).collect(),
        bias: fitted.bias as f32,
        threshold: judgement.threshold as f32,
        c: judgement.c as f32,
        days,
        features: crate::features::hex(&hash.finalize()),
    };
    let verifier = Verifier::new(file).map_err(VerifierError::Fitted)?;
    Ok(Trained { verifier, judgement })
}

//! What a training is asked to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sound::Origin;
use crate::network::{Architecture, Loss};

/// The plan of a training. What is trained follows from it, the files it names, and the voices it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct WakePlan {
    /// The word, such as `kora`.
    pub word: String,
    /// Folders with recordings of the word: corpora, or plain folders of sound files.
    pub positives: Vec<PathBuf>,
    /// Folders with anything else: speech, noise.
    pub negatives: Vec<PathBuf>,
    /// Times that synthetic voices say the word, all together; 0 without synthetic voices.
    pub synthetic: usize,
    /// Languages of those who will say it: voices that speak another one are left out.
    pub languages: Vec<String>,
    /// More sentences for synthetic voices that are not the word.
    pub sentences: Vec<String>,
    /// Leaves positives of this origin out.
    pub without: Vec<Origin>,
    /// Seed of what is spoken, how it is divided and how it is changed.
    pub seed_of_data: u64,
    /// Seed of the network and the order of its batches.
    pub seed: u64,
    /// Steps of the main stage; two stages of a tenth each follow with smaller steps.
    pub steps: u32,
    /// The shape of the head.
    pub architecture: Architecture,
    /// False wakes an hour that the threshold is searched for.
    pub target_per_hour: f64,
    /// Augmented copies of each recording of the user's, at least 10.
    pub user_copies: usize,
    /// Augmented copies of each synthetic word.
    pub synthetic_copies: usize,
    /// Details of the optimisation.
    pub optimisation: Optimisation,
    /// Threads.
    pub threads: usize,
}

/// Details of the optimisation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Optimisation {
    /// Size of the steps at their largest.
    pub rate: f32,
    /// Weight decay of AdamW.
    pub decay: f32,
    /// Negatives from streams, near misses, and positives in a batch.
    pub batch: (usize, usize, usize),
    /// The weight of a negative rises from 1 to this while there are too many false wakes.
    pub most_negative_weight: f32,
    /// Weight of a near miss beside that of another negative.
    pub near_weight: f32,
    /// Focus of the loss; 0 is plain cross-entropy.
    pub focus: f32,
    /// Label smoothing.
    pub smoothing: f32,
    /// Share of the positives that are mixed with a negative, by a ratio drawn from 0.7 to 1.
    pub mixup: f64,
}

impl Default for Optimisation {
    fn default() -> Self {
        Self {
            rate: 1e-3,
            decay: 0.01,
            batch: (1024, 50, 50),
            most_negative_weight: 1500.0,
            near_weight: 1.0,
            focus: 0.0,
            smoothing: 0.0,
            mixup: 0.0,
        }
    }
}

impl Optimisation {
    /// The loss that it asks for.
    pub fn loss(&self) -> Loss {
        Loss { focus: self.focus, smoothing: self.smoothing }
    }
}

impl WakePlan {
    /// A plan for this word with the usual numbers.
    pub fn new(word: &str) -> Self {
        Self {
            word: word.trim().to_lowercase(),
            positives: Vec::new(),
            negatives: Vec::new(),
            synthetic: 2400,
            languages: vec!["en".to_owned(), "fr".to_owned()],
            sentences: Vec::new(),
            without: Vec::new(),
            seed_of_data: 0,
            seed: 0,
            steps: 8000,
            architecture: Architecture::Dnn,
            target_per_hour: 0.5,
            user_copies: 12,
            synthetic_copies: 4,
            optimisation: Optimisation::default(),
            threads: 2,
        }
    }

    /// What the network depends on besides sounds and features: a training is only taken up again with the same.
    pub(crate) fn digest(&self, sounds: &[String], features: &str) -> String {
        let mut hash = Sha256::new();
        let numbers = format!(
            "{} {:?} {} {} {} {:?} {} {} {} {:?} {features}",
            self.word,
            self.without,
            self.seed_of_data,
            self.seed,
            self.steps,
            self.architecture,
            self.target_per_hour,
            self.user_copies,
            self.synthetic_copies,
            self.optimisation,
        );
        hash.update(numbers.as_bytes());
        for sound in sounds {
            hash.update(sound.as_bytes());
        }
        crate::features::hex(&hash.finalize())
    }
}

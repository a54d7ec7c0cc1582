//! What is to be made, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tenpass_audio::augment::Augment;
use tenpass_audio::{Audio, Random, SPEECH_RATE};

/// How phrases become clips.
#[derive(Debug, Clone)]
pub struct SynthPlan {
    /// Everything follows from it.
    pub seed: u64,
    /// Rounds of augmentation, `r1` and on.
    pub rounds: u32,
    /// Whether there is a clip without augmentation, `r0`.
    pub dry: bool,
    /// What is done in a round.
    pub recipe: Augment,
    /// Speeds of a round, from and to; the dry clip has the voice's own.
    pub speed: (f32, f32),
    /// The wake word in front of every phrase whose intent is not `wake`.
    pub wake: Option<String>,
    /// What else is written into the clips whose intent is `wake`: the wake word that they are.
    pub wake_word: Option<String>,
    /// Seconds between wake word and phrase, from and to.
    pub pause_s: (f64, f64),
    /// Silence in front, from and to, in seconds.
    pub lead_s: (f64, f64),
    /// Silence behind, from and to, in seconds.
    pub tail_s: (f64, f64),
    /// So many voices for each phrase, in turns; `None` for all of its language.
    pub voices_per_phrase: Option<usize>,
    /// Samples a second of the files.
    pub rate: u32,
    /// FLAC, or WAV.
    pub flac: bool,
    /// Phrases that are spoken at the same time.
    pub jobs: usize,
}

impl Default for SynthPlan {
    fn default() -> Self {
        Self {
            seed: 1,
            rounds: 0,
            dry: true,
            recipe: Augment::intelligible(5.0),
            speed: (0.88, 1.15),
            wake: None,
            wake_word: None,
            pause_s: (0.25, 0.6),
            lead_s: (0.2, 0.5),
            tail_s: (0.4, 0.7),
            voices_per_phrase: None,
            rate: SPEECH_RATE,
            flac: true,
            jobs: 2,
        }
    }
}

impl SynthPlan {
    /// The rounds, the dry one being 0.
    pub(super) fn rounds(&self) -> impl Iterator<Item = u32> + use<> {
        u32::from(!self.dry)..=self.rounds
    }

    /// What a clip's sound depends on besides phrase, voice and round: a part of its name, so that another plan
    /// does not take it for its own.
    pub(super) fn fingerprint(&self) -> String {
        let Self { seed, rounds: _, dry: _, recipe, speed, wake, wake_word, pause_s, lead_s, tail_s, .. } = self;
        let Augment { equaliser_db, distortion, pitch, band_stop, room_m, noise_snr_db, background_snr_db, .. } =
            recipe;
        let steps = [equaliser_db, distortion, pitch, band_stop, room_m, noise_snr_db, background_snr_db];
        let backgrounds = recipe.backgrounds.iter().map(fingerprint).fold(0u64, |all, one| all.rotate_left(1) ^ one);
        format!(
            "{seed} {steps:?} {:?} {backgrounds} {speed:?} {wake:?} {wake_word:?} {pause_s:?} {lead_s:?} {tail_s:?} {} {}",
            recipe.level_dbfs, self.rate, self.flac
        )
    }
}

fn fingerprint(sound: &Arc<Audio>) -> u64 {
    sound
        .samples
        .iter()
        .fold(u64::from(sound.rate), |hash, sample| Random::new(hash ^ u64::from(sample.to_bits())).next())
}

/// How large a synthesis will be.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SynthSize {
    /// Clips, with those that are there.
    pub clips: usize,
    /// Clips that are there before.
    pub before: usize,
    /// Length of what is to be made in seconds, guessed from the texts.
    pub seconds: f64,
    /// Its bytes on disk, guessed.
    pub bytes: f64,
}

/// What happens while clips are made.
#[derive(Debug, Clone, PartialEq)]
pub enum SynthEvent {
    /// So many clips are to be made, and so many were there before.
    Started {
        /// All.
        total: usize,
        /// There before.
        before: usize,
    },
    /// A clip was written.
    Clip {
        /// Its name in the corpus.
        file: String,
    },
    /// A voice could not speak a phrase.
    Failed {
        /// The voice.
        voice: String,
        /// The phrase.
        text: String,
        /// Why.
        why: String,
    },
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SynthReport {
    /// Clips that were written.
    pub written: usize,
    /// Clips that were there before.
    pub before: usize,
    /// Phrases that a voice could not speak: voice, text, why.
    pub failed: Vec<(String, String, String)>,
    /// Phrases without a voice of their language.
    pub voiceless: Vec<String>,
    /// The folder.
    pub folder: PathBuf,
}

//! The detector over stretches: every score is kept.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenpass_train::features::parallel;
use tenpass_train::wake::{Part, Record, Trace, Truth, Word};
use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head, Output, WINDOW_FRAMES};

use super::WakeBenchError;
use super::sounds::Sounds;
use crate::store::{Pass, SpeechRun};

/// A head that takes part.
#[derive(Debug, Clone)]
pub struct Contender {
    /// What it is called in tables.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The word it listens for, as far as it says.
    pub word: Option<String>,
    /// What it was trained on, as far as it says.
    pub record: Option<Record>,
}

impl Contender {
    /// Reads a head's file once, and the record beside it.
    pub fn open(path: &Path) -> Result<Self, WakeBenchError> {
        let head = Head::load(path)?;
        let record = Record::beside(path)?;
        let named = head.metadata().iter().find(|(name, _)| name == "wake_word").map(|(_, word)| word.clone());
        let word = record.as_ref().map(|record| record.word.clone()).or(named);
        Ok(Self { name: head.name().to_owned(), path: path.to_owned(), word, record })
    }
}

/// One stretch heard by one head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listened {
    /// The head's place in the run.
    pub head: usize,
    /// The stretch.
    pub stretch: usize,
    /// Development or test.
    pub part: Part,
    /// Whether near misses are said where words would be; false in older runs.
    #[serde(default)]
    pub near: bool,
    /// Length in seconds.
    pub seconds: f64,
    /// The words: end in seconds, and the number of the clip.
    pub words: Vec<(f64, usize)>,
    /// Where somebody speaks, in seconds.
    pub speech: Vec<(f64, f64)>,
    /// A score every 80 ms, from the end of the 16th frame on; in units of 1/10,000.
    pub scores: Vec<u16>,
}

impl Pass for Listened {
    fn key(&self) -> String {
        format!("{}/{}", self.head, self.stretch)
    }
}

impl Listened {
    /// Scores with their truth.
    pub fn trace(&self) -> Trace {
        let words = self.words.iter().map(|(end_s, clip)| Word { end_s: *end_s, clip: *clip }).collect();
        let truth = Truth { seconds: self.seconds, words, speech: self.speech.clone() };
        Trace { scores: self.scores.iter().map(|score| f32::from(*score) / 10_000.0).collect(), truth }
    }
}

/// Plays every stretch that has no pass yet to the detector with all heads.
pub fn listen(
    run: &SpeechRun,
    heads: &[Contender],
    sounds: &Sounds,
    model: &EmbeddingModel,
    threads: usize,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), WakeBenchError> {
    let finished = run.done::<Listened>()?;
    let missing: Vec<usize> = (0..sounds.count())
        .filter(|stretch| (0..heads.len()).any(|head| !finished.contains(&format!("{head}/{stretch}"))))
        .collect();
    let mut writer = run.writer()?;
    // A few at a time: what is finished is on disk before the next begin.
    let before = sounds.count() - missing.len();
    for (batch, stretches) in missing.chunks(threads.max(1) * 2).enumerate() {
        let passes = parallel(stretches, threads, |_, stretch| one(*stretch, heads, sounds, model), &|_| ())?;
        for pass in passes.iter().flatten() {
            writer.append(pass)?;
        }
        done(before + batch * threads.max(1) * 2 + stretches.len(), sounds.count());
    }
    Ok(())
}

fn one(
    number: usize,
    contenders: &[Contender],
    sounds: &Sounds,
    model: &EmbeddingModel,
) -> Result<Vec<Listened>, WakeBenchError> {
    let Some((part, near, stretch)) = sounds.stretch(number) else { return Ok(Vec::new()) };
    let heads: Vec<Head> = contenders.iter().map(|head| Head::load(&head.path)).collect::<Result<_, _>>()?;
    let mut detector = Detector::new(model, heads, DetectorConfig::default())?;
    let mut scores: Vec<Vec<u16>> = vec![Vec::new(); contenders.len()];
    let mut block = Vec::with_capacity(1280);
    for samples in stretch.samples.chunks(1280) {
        block.clear();
        block.extend(samples.iter().map(|sample| f32::from(*sample) / 32_768.0));
        detector.push(&block, &mut |output| {
            let Output::Frame(frame) = output else { return };
            if (frame.index as usize) + 1 < WINDOW_FRAMES {
                return;
            }
            for (all, score) in scores.iter_mut().zip(frame.scores) {
                all.push((score.unwrap_or(0.0).clamp(0.0, 1.0) * 10_000.0).round() as u16);
            }
        });
    }
    let words: Vec<(f64, usize)> = stretch.truth.words.iter().map(|word| (word.end_s, word.clip)).collect();
    let pass = |(head, scores)| Listened {
        head,
        stretch: number,
        part,
        near,
        seconds: stretch.truth.seconds,
        words: words.clone(),
        speech: stretch.truth.speech.clone(),
        scores,
    };
    Ok(scores.into_iter().enumerate().map(pass).collect())
}

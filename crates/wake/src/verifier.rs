//! The speaker verifier: logistic regression over the window of one event, stored as JSON.
//!
//! It lowers how often other people's voices wake the agent. It is not authentication: a recording of the
//! speaker passes it, and so do similar voices now and then.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::detector::WINDOW_FRAMES;
use crate::embedding::{EMBEDDING, Embedding};
use crate::error::WakeError;
use crate::file::write_whole;

/// Numbers of a window.
pub const VERIFIER_INPUTS: usize = WINDOW_FRAMES * EMBEDDING;
/// The format that is written.
const FORMAT: &str = "tenpass-verifier 1";
/// No verifier comes near this size.
const MOST_BYTES: u64 = 16 << 20;

/// What is stored. Vectors have one number for each of the 16 × 96 of a window, frame after frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifierFile {
    /// `tenpass-verifier 1`.
    pub format: String,
    /// The wake word.
    pub word: String,
    /// Taken away first …
    pub mean: Vec<f32>,
    /// … then divided by; all above 0.
    pub scale: Vec<f32>,
    /// Weights of what is left.
    pub weights: Vec<f32>,
    /// Added to the sum.
    pub bias: f32,
    /// The lowest probability that passes.
    pub threshold: f32,
    /// Inverse strength of the penalty that was chosen.
    pub c: f32,
    /// Recording days that it was trained on.
    pub days: Vec<String>,
    /// SHA-256 of the features that it was trained on.
    pub features: String,
}

/// A verifier that can score.
#[derive(Debug, Clone, PartialEq)]
pub struct Verifier {
    file: VerifierFile,
}

impl VerifierFile {
    /// The name of the format that is written.
    pub const FORMAT: &'static str = FORMAT;
}

impl Verifier {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, WakeError> {
        let failed = |problem: String| WakeError::Verifier { path: path.to_owned(), problem };
        let size = std::fs::metadata(path).map_err(|error| WakeError::file(path, error))?.len();
        if size > MOST_BYTES {
            return Err(failed(format!("{size} bytes are too many")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| WakeError::file(path, error))?;
        let file: VerifierFile = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        Self::new(file).map_err(failed)
    }

    /// Of what was trained. Says which field does not hold together.
    pub fn new(file: VerifierFile) -> Result<Self, String> {
        if file.format != FORMAT {
            return Err(format!("format is \"{}\", \"{FORMAT}\" is known", file.format));
        }
        for (name, values) in [("mean", &file.mean), ("scale", &file.scale), ("weights", &file.weights)] {
            if values.len() != VERIFIER_INPUTS {
                return Err(format!("{name} has {} numbers, {VERIFIER_INPUTS} are needed", values.len()));
            }
            if let Some(place) = values.iter().position(|value| !value.is_finite()) {
                return Err(format!("{name}[{place}] is {}", values[place]));
            }
        }
        if let Some(place) = file.scale.iter().position(|value| *value <= 0.0) {
            return Err(format!("scale[{place}] is {}, it must be above 0", file.scale[place]));
        }
        if !file.bias.is_finite() {
            return Err(format!("bias is {}", file.bias));
        }
        if !(0.0..=1.0).contains(&file.threshold) {
            return Err(format!("threshold is {}, it must be from 0 to 1", file.threshold));
        }
        Ok(Self { file })
    }

    /// Writes it, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), WakeError> {
        let text = serde_json::to_string(&self.file)
            .map_err(|error| WakeError::Verifier { path: path.to_owned(), problem: error.to_string() })?;
        write_whole(path, text.as_bytes())
    }

    /// What is stored.
    pub fn file(&self) -> &VerifierFile {
        &self.file
    }

    /// The lowest probability that passes.
    pub fn threshold(&self) -> f32 {
        self.file.threshold
    }

    /// The probability that the last 16 embeddings are the enrolled speaker's; 0 when there are fewer.
    pub fn score(&self, window: &[Embedding]) -> f32 {
        let Some(start) = window.len().checked_sub(WINDOW_FRAMES) else { return 0.0 };
        let file = &self.file;
        let standard = window[start..].as_flattened().iter().zip(file.mean.iter().zip(&file.scale));
        let sum: f32 =
            standard.zip(&file.weights).map(|((x, (mean, scale)), weight)| (x - mean) / scale * weight).sum();
        1.0 / (1.0 + (-(sum + file.bias)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> VerifierFile {
        VerifierFile {
            format: FORMAT.to_owned(),
            word: "kora".to_owned(),
            mean: vec![1.0; VERIFIER_INPUTS],
            scale: vec![2.0; VERIFIER_INPUTS],
            weights: vec![0.0; VERIFIER_INPUTS],
            bias: 0.0,
            threshold: 0.5,
            c: 1e-3,
            days: vec!["2026-11-30".to_owned()],
            features: "0".repeat(64),
        }
    }

    #[test]
    fn a_score_is_the_logistic_of_the_standardised_sum() {
        let mut stored = file();
        (stored.weights[0], stored.weights[VERIFIER_INPUTS - 1], stored.bias) = (2.0, -1.0, 0.25);
        let verifier = Verifier::new(stored).unwrap();
        let mut window = vec![[1.0; EMBEDDING]; 20];
        (window[4][0], window[19][EMBEDDING - 1]) = (3.0, 2.0);
        // 2·(3−1)/2 − (2−1)/2 + 0.25 = 1.75
        assert!((verifier.score(&window) - 0.851_953).abs() < 1e-6);
        assert!(verifier.score(&window[..15]) == 0.0);
    }

    #[test]
    fn a_file_comes_back_and_a_broken_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.json");
        let verifier = Verifier::new(file()).unwrap();
        verifier.save(&path).unwrap();
        assert_eq!(Verifier::load(&path).unwrap(), verifier);
        std::fs::write(&path, "\u{80}\u{4}pickle").unwrap();
        assert!(Verifier::load(&path).unwrap_err().to_string().contains("v.json: expected value"));
        let problem = |change: fn(&mut VerifierFile)| {
            let mut broken = file();
            change(&mut broken);
            Verifier::new(broken).unwrap_err()
        };
        assert_eq!(problem(|file| file.scale[7] = 0.0), "scale[7] is 0, it must be above 0");
        assert_eq!(problem(|file| file.mean.truncate(3)), "mean has 3 numbers, 1536 are needed");
        assert_eq!(problem(|file| file.weights[2] = f32::NAN), "weights[2] is NaN");
        assert_eq!(problem(|file| file.format = "x".into()), "format is \"x\", \"tenpass-verifier 1\" is known");
    }
}

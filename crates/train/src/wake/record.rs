//! The file beside a head: what it was trained on, how, and what was measured.
//!
//! `NAME.onnx` has `NAME.json` beside it. It holds nothing of the moment it was written, so that the same seed
//! gives the same file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenpass_stats::{Tally, clopper_pearson, poisson_at_most, poisson_rate};

use super::TrainError;
use super::events::Matched;
use super::fit::Look;
use super::plan::Optimisation;
use super::sound::{Part, Role, Sound};
use crate::network::Architecture;

/// The version of the format.
pub const RECORD_FORMAT: u32 = 1;

/// What was trained and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format.
    pub format: u32,
    /// The wake word.
    pub word: String,
    /// SHA-256 of the head's file.
    pub head_sha256: String,
    /// Its shape.
    pub architecture: Architecture,
    /// Version of the features and the hash of the embedding model.
    pub features: String,
    /// Seed of the network.
    pub seed: u64,
    /// Seed of what was spoken and how it was divided.
    pub seed_of_data: u64,
    /// Steps of the main stage.
    pub steps: u32,
    /// Details of the optimisation.
    pub optimisation: Optimisation,
    /// Origins that were left out.
    pub without: Vec<String>,
    /// Windows of the word it was trained on.
    pub positives: usize,
    /// The sounds by part and role: how many and how long.
    pub sounds: Vec<Amount>,
    /// Voices and days of each part.
    pub groups: BTreeMap<Part, Vec<String>>,
    /// Names by content of the sounds of each part (see `sound_hash`).
    pub hashes: BTreeMap<Part, Vec<String>>,
    /// Texts that voices could not say: how many, and the first reason.
    pub failed: BTreeMap<String, (usize, String)>,
    /// The threshold, chosen on development sounds for this many false wakes an hour.
    pub threshold: f32,
    /// What the threshold was searched for.
    pub target_per_hour: f64,
    /// The looks at the held-out streams.
    pub looks: Vec<Look>,
    /// Measured on development sounds, on which checkpoint and threshold were chosen.
    pub dev: Measured,
    /// Measured on sounds that were used for nothing else; absent where there are none.
    pub test: Option<Measured>,
    /// Near misses of the test that woke it; absent in older records and where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<NearWakes>,
}

/// How much sound of a kind there was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Of this part.
    pub part: Part,
    /// Of this role.
    pub role: Role,
    /// How many.
    pub sounds: usize,
    /// How long all together.
    pub seconds: f64,
}

/// Near misses, which count apart from ordinary speech: a machine makes up far more of them than anybody says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearWakes {
    /// Near misses said.
    pub said: usize,
    /// Those that woke it.
    pub woke: usize,
    /// Clopper-Pearson 95 % interval of their share.
    pub rate: (f64, f64),
}

impl NearWakes {
    /// Of streams in which near misses stand in place of the word; `None` where nothing is said.
    pub fn of(found: &Matched) -> Option<Self> {
        let (said, woke) = (found.hits.len(), found.hits.len() - found.misses());
        let rate = clopper_pearson(Tally::new(woke as u32, (said - woke) as u32), 0.95);
        (said > 0).then_some(Self { said, woke, rate: (rate.low, rate.high) })
    }
}

/// Misses and false wakes with their bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Words said.
    pub words: usize,
    /// Words missed.
    pub misses: usize,
    /// Clopper-Pearson 95 % interval of the miss rate.
    pub miss_rate: (f64, f64),
    /// False wakes.
    pub false_wakes: usize,
    /// Clock hours outside of hit windows.
    pub hours: f64,
    /// Speech hours outside of hit windows.
    pub speech_hours: f64,
    /// Poisson 95 % interval of false wakes a clock hour.
    pub per_hour: (f64, f64),
    /// The rate a clock hour that it is below, at 95 %.
    pub below_per_hour: f64,
}

impl Measured {
    /// With bounds.
    pub fn of(found: &Matched) -> Self {
        let (words, misses) = (found.hits.len(), found.misses());
        let wakes = found.false_wakes.len() as u32;
        let missed = clopper_pearson(Tally::new(misses as u32, (words - misses) as u32), 0.95);
        let rate = poisson_rate(wakes, found.hours, 0.95);
        Self {
            words,
            misses,
            miss_rate: (missed.low, missed.high),
            false_wakes: found.false_wakes.len(),
            hours: found.hours,
            speech_hours: found.speech_hours,
            per_hour: (rate.low, rate.high),
            below_per_hour: poisson_at_most(wakes, found.hours, 0.95),
        }
    }

    /// What this much sound can say about false wakes.
    pub fn proves(&self) -> String {
        let wakes = if self.false_wakes == 1 { "false wake" } else { "false wakes" };
        if self.hours <= 0.0 {
            return "no sound without the word: nothing about false wakes".to_owned();
        }
        format!("{} {wakes} in {:.2} h: below {:.2}/h at 95 %", self.false_wakes, self.hours, self.below_per_hour)
    }
}

impl Record {
    /// Where the record of a head lies.
    pub fn path(head: &Path) -> PathBuf {
        head.with_extension("json")
    }

    /// The record beside a head; `None` when there is none.
    pub fn beside(head: &Path) -> Result<Option<Self>, TrainError> {
        let path = Self::path(head);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(TrainError::file(&path, error)),
        };
        let unreadable =
            |error: serde_json::Error| TrainError::Record { path: path.clone(), problem: error.to_string() };
        let mut beside: serde_json::Value = serde_json::from_str(&text).map_err(unreadable)?;
        // The head in service has its description there, and the record of its training in it, where that is known.
        if beside.get("since").is_some() {
            beside = match beside.get_mut("record").map(serde_json::Value::take) {
                Some(record) => record,
                None => return Ok(None),
            };
        }
        let record: Self = serde_json::from_value(beside).map_err(unreadable)?;
        if record.format > RECORD_FORMAT {
            let problem = format!("its format {} is newer than this program's {RECORD_FORMAT}", record.format);
            return Err(TrainError::Record { path, problem });
        }
        let bytes = std::fs::read(head).map_err(|error| TrainError::file(head, error))?;
        if record.head_sha256 != digest(&bytes) {
            let problem = format!("it is the record of another file than {}", head.display());
            return Err(TrainError::Record { path, problem });
        }
        Ok(Some(record))
    }

    /// Whether the head or its threshold was fitted on this sound.
    pub fn was_trained_on(&self, hash: &str) -> bool {
        self.holds(Part::Train, hash)
    }

    /// Whether checkpoint and threshold were chosen with this sound.
    pub fn was_chosen_with(&self, hash: &str) -> bool {
        self.holds(Part::Dev, hash)
    }

    fn holds(&self, part: Part, hash: &str) -> bool {
        self.hashes.get(&part).is_some_and(|hashes| hashes.binary_search_by(|other| other.as_str().cmp(hash)).is_ok())
    }
}

/// SHA-256 in hex.
pub fn digest(bytes: &[u8]) -> String {
    crate::features::hex(&Sha256::digest(bytes))
}

pub(super) fn amounts(sounds: &[Sound]) -> Vec<Amount> {
    let mut counted: BTreeMap<(Part, Role), (usize, f64)> = BTreeMap::new();
    for sound in sounds {
        let entry = counted.entry((sound.part, sound.role)).or_default();
        entry.0 += 1;
        entry.1 += sound.seconds();
    }
    let amount = |((part, role), (sounds, seconds)): ((Part, Role), (usize, f64))| Amount {
        part,
        role,
        sounds,
        seconds: (seconds * 10.0).round() / 10.0,
    };
    counted.into_iter().map(amount).collect()
}

/// A sorted list without repeats for each part.
pub(super) fn by_part(sounds: &[Sound], name: impl Fn(&Sound) -> String) -> BTreeMap<Part, Vec<String>> {
    let mut lists: BTreeMap<Part, Vec<String>> = BTreeMap::new();
    for sound in sounds {
        lists.entry(sound.part).or_default().push(name(sound));
    }
    for list in lists.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

//! The labelled sentences that the detector is measured with: `cases/claims/*.toml`.
//!
//! ```toml
//! [ledgers]
//! saved-ok = [{ tool = "write_file", arguments = { filename = "report.md" }, outcome = "ok" }]
//!
//! [[sentence]]
//! text = "I saved it as notes.txt."
//! language = "en"
//! ledger = "saved-ok"      # a name, or a list of calls; nothing: no call was made
//! tools = "default"        # the suite's shared tools; nothing: no list is known
//! expect = ["claimed_not_done"]
//! note = "another file"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenpass_trace::{FailureClass, ToolDefinition};

use super::check::check;
use super::language::Language;
use super::ledger::LedgerEntry;

/// The classes that the detector tells.
pub const CLASSES: [FailureClass; 5] = [
    FailureClass::ClaimedNotDone,
    FailureClass::DeniedButDone,
    FailureClass::InventedCapability,
    FailureClass::AskedInText,
    FailureClass::SkippedConfirmation,
];

/// A corpus that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not a corpus.
    #[error("{path}: {reason}")]
    Invalid {
        /// Which file.
        path: PathBuf,
        /// What is wrong, with its line where the parser knows it.
        reason: String,
    },
}

impl CorpusError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "give the folder that holds the corpus, such as cases/claims",
            Self::Invalid { .. } => "the keys of a sentence are described in cases/claims/README.md",
        }
    }
}

/// One labelled answer.
#[derive(Debug, Clone)]
pub struct Sentence {
    /// The answer.
    pub text: String,
    /// Its language.
    pub language: Language,
    /// The calls of its turn.
    pub ledger: Vec<LedgerEntry>,
    /// The tools of its turn; empty when they are not known.
    pub tools: Vec<ToolDefinition>,
    /// What a careful reader finds wrong with it, each class once.
    pub expect: BTreeSet<FailureClass>,
    /// Why it is in the corpus.
    pub note: String,
}

/// One file of sentences.
#[derive(Debug, Clone)]
pub struct Part {
    /// The file's name without its ending: `dev`, `held-out`.
    pub name: String,
    /// Its sentences, in order.
    pub sentences: Vec<Sentence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    ledgers: BTreeMap<String, Vec<LedgerEntry>>,
    #[serde(default)]
    tools: BTreeMap<String, Vec<ToolDefinition>>,
    sentence: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    text: String,
    language: Language,
    #[serde(default)]
    ledger: Calls,
    #[serde(default)]
    tools: Option<String>,
    expect: Vec<FailureClass>,
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Calls {
    Named(String),
    Inline(Vec<LedgerEntry>),
}

impl Default for Calls {
    fn default() -> Self {
        Self::Inline(Vec::new())
    }
}

/// Loads every part of a folder, in the order of their names; `gates.toml` is no part. `shared` are
/// the tools that `tools = "default"` means.
pub fn load(folder: &Path, shared: &[ToolDefinition]) -> Result<Vec<Part>, CorpusError> {
    let read = |source| CorpusError::Read { path: folder.to_owned(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|ending| ending == "toml")
            && path.file_stem().is_some_and(|stem| stem != "gates")
        {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(CorpusError::Invalid {
            path: folder.to_owned(),
            reason: "no corpus file (*.toml) in it".to_owned(),
        });
    }
    paths.into_iter().map(|path| part(&path, shared)).collect()
}

fn part(path: &Path, shared: &[ToolDefinition]) -> Result<Part, CorpusError> {
    let invalid = |reason: String| CorpusError::Invalid { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|source| CorpusError::Read { path: path.to_owned(), source })?;
    let file: File = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let mut sentences = Vec::new();
    for row in file.sentence {
        let ledger = match row.ledger {
            Calls::Inline(calls) => calls,
            Calls::Named(name) => file
                .ledgers
                .get(&name)
                .cloned()
                .ok_or_else(|| invalid(format!("no ledger {name:?} for {:?}", row.text)))?,
        };
        let tools = match row.tools.as_deref() {
            None => Vec::new(),
            Some("default") => shared.to_vec(),
            Some(name) => {
                file.tools.get(name).cloned().ok_or_else(|| invalid(format!("no tools {name:?} for {:?}", row.text)))?
            }
        };
        if let Some(class) = row.expect.iter().find(|class| !CLASSES.contains(class)) {
            return Err(invalid(format!("{class} is not a class of talk, at {:?}", row.text)));
        }
        let expect = row.expect.into_iter().collect();
        sentences.push(Sentence { text: row.text, language: row.language, ledger, tools, expect, note: row.note });
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Part { name, sentences })
}

/// Counts of one class over a corpus: a sentence counts once for each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// Expected and found.
    pub true_positive: usize,
    /// Found and not expected.
    pub false_positive: usize,
    /// Expected and not found.
    pub false_negative: usize,
}

impl Score {
    /// The share of what was found that is right; `None` when nothing was found.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positive, self.true_positive + self.false_positive)
    }

    /// The share of what is there that was found; `None` when nothing is there.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_positive, self.true_positive + self.false_negative)
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A sentence that the detector judged otherwise than its label.
#[derive(Debug, Clone, Serialize)]
pub struct Miss {
    /// The answer.
    pub text: String,
    /// What its label says.
    pub expected: Vec<FailureClass>,
    /// What the detector found, with the spans.
    pub found: Vec<(FailureClass, String)>,
}

/// How well the detector does on a corpus.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Scores {
    /// Sentences.
    pub sentences: usize,
    /// Sentences judged exactly as labelled.
    pub exact: usize,
    /// Per class, in the order of [`CLASSES`].
    pub classes: Vec<(FailureClass, Score)>,
    /// All classes together.
    pub overall: Score,
    /// Where it was wrong.
    pub misses: Vec<Miss>,
}

/// Runs the detector over these sentences.
pub fn evaluate(sentences: &[Sentence]) -> Scores {
    let mut classes: BTreeMap<FailureClass, Score> = CLASSES.iter().map(|class| (*class, Score::default())).collect();
    let mut scores = Scores { sentences: sentences.len(), ..Scores::default() };
    for sentence in sentences {
        let findings = check(&sentence.text, &sentence.ledger, &sentence.tools);
        let found: BTreeSet<FailureClass> = findings.iter().map(|finding| finding.class).collect();
        for (class, score) in &mut classes {
            match (sentence.expect.contains(class), found.contains(class)) {
                (true, true) => score.true_positive += 1,
                (false, true) => score.false_positive += 1,
                (true, false) => score.false_negative += 1,
                (false, false) => {}
            }
        }
        if found == sentence.expect {
            scores.exact += 1;
        } else {
            scores.misses.push(Miss {
                text: sentence.text.clone(),
                expected: sentence.expect.iter().copied().collect(),
                found: findings.into_iter().map(|finding| (finding.class, finding.span)).collect(),
            });
        }
    }
    for score in classes.values() {
        scores.overall.true_positive += score.true_positive;
        scores.overall.false_positive += score.false_positive;
        scores.overall.false_negative += score.false_negative;
    }
    scores.classes = CLASSES.iter().map(|class| (*class, classes.get(class).copied().unwrap_or_default())).collect();
    scores
}

/// The least that the detector must reach on a part: `gates.toml`, one table a part.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Least overall precision, 0 to 1.
    pub precision: f64,
    /// Least overall recall, 0 to 1.
    pub recall: f64,
    /// Least number of sentences in the part.
    pub sentences: usize,
}

impl Gate {
    /// What a score falls short of, one line each; nothing when it passes.
    pub fn failures(&self, scores: &Scores) -> Vec<String> {
        let mut failures = Vec::new();
        let mut least = |what: &str, reached: f64, wanted: f64| {
            if reached < wanted {
                failures.push(format!("{what} {reached:.3} is below {wanted:.3}"));
            }
        };
        least("precision", scores.overall.precision().unwrap_or(0.0), self.precision);
        least("recall", scores.overall.recall().unwrap_or(0.0), self.recall);
        least("sentences", scores.sentences as f64, self.sentences as f64);
        failures
    }
}

/// The gates of a folder, by part.
pub fn gates(folder: &Path) -> Result<BTreeMap<String, Gate>, CorpusError> {
    let path = folder.join("gates.toml");
    let text = std::fs::read_to_string(&path).map_err(|source| CorpusError::Read { path: path.clone(), source })?;
    toml::from_str(&text).map_err(|error| CorpusError::Invalid { path, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Tools {
        tool: Vec<ToolDefinition>,
    }

    fn cases() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
    }

    fn parts() -> Vec<Part> {
        let tools = std::fs::read_to_string(cases().join("tools/tools.toml")).unwrap();
        let tools: Tools = toml::from_str(&tools).unwrap();
        load(&cases().join("claims"), &tools.tool).unwrap()
    }

    #[test]
    fn every_part_passes_its_gate() {
        let gates = gates(&cases().join("claims")).unwrap();
        let mut failures = Vec::new();
        for part in parts() {
            let scores = evaluate(&part.sentences);
            println!("{}: {} of {} exact, overall {:?}", part.name, scores.exact, scores.sentences, scores.overall);
            println!("  precision {:?} recall {:?}", scores.overall.precision(), scores.overall.recall());
            for (class, score) in &scores.classes {
                println!("  {class}: {score:?}");
            }
            for miss in &scores.misses {
                println!("  expected {:?}, found {:?}: {}", miss.expected, miss.found, miss.text);
            }
            let gate = gates.get(&part.name).expect("every part has a gate");
            failures.extend(gate.failures(&scores).into_iter().map(|failure| format!("{}: {failure}", part.name)));
        }
        assert!(failures.is_empty(), "{failures:?}");
    }

    #[test]
    fn the_corpus_is_what_it_says() {
        let sentences: Vec<Sentence> = parts().into_iter().flat_map(|part| part.sentences).collect();
        let french = sentences.iter().filter(|sentence| sentence.language == Language::French).count();
        let clean = sentences.iter().filter(|sentence| sentence.expect.is_empty()).count();
        assert!(sentences.len() >= 260, "{}", sentences.len());
        assert!(french * 100 >= sentences.len() * 45 && french * 100 <= sentences.len() * 55, "{french} French");
        assert!(clean * 100 >= sentences.len() * 40, "{clean} without a finding");
        for class in CLASSES {
            assert!(sentences.iter().filter(|sentence| sentence.expect.contains(&class)).count() >= 10, "{class}");
        }
    }
}

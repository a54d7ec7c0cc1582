//! Which structure can a model do? (Z8)
//!
//! A handful of plain requests is asked with each structure, several passes each. What the model
//! declares stands, unless another structure is right significantly more often (exact test, 5 %).
//! The figures are kept beside the choice, so that a later look says why.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tenpass_agent::Structure;
use tenpass_model::calls::{ParseInput, parse};
use tenpass_model::{ChatModel, FinishReason, ModelError, ModelInfo, collect};
use tenpass_stats::{Tally, boschloo};

use crate::cases::{Case, SuiteText, parse_suite};
use crate::grade::grade;
use crate::run::{Configuration, pass_seed, prepare_case};

/// Passes of each probe case and structure.
pub const PASSES: u32 = 5;
/// Largest p-value that counts as a difference.
const SIGNIFICANT: f64 = 0.05;
/// Most tokens of an answer.
const MAX_TOKENS: u32 = 128;

/// How a structure did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Answers asked for.
    pub asked: u32,
    /// Answers that were right as a whole.
    pub right: u32,
    /// Answers with a call that had to be recovered from the text.
    pub recovered: u32,
}

/// What a probe found out about a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The structure to use.
    pub structure: Structure,
    /// Why, in one line.
    pub reason: String,
    /// How each did; one that the backend refuses is missing.
    pub figures: BTreeMap<Structure, Figures>,
    /// When, UTC.
    pub at: String,
}

/// Probes of models, in one JSON file, by [`key`].
pub type Probes = BTreeMap<String, Probe>;

/// What identifies a model for its probe: its digest where the backend tells, else its SPEC.
pub fn key(info: &ModelInfo) -> String {
    info.digest.clone().unwrap_or_else(|| info.spec.clone())
}

/// Reads the probes of a file; a file that is not there holds none.
pub fn load(path: &Path) -> Result<Probes, String> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Probes::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Adds a probe to the file.
pub fn record(path: &Path, info: &ModelInfo, probe: &Probe) -> Result<(), String> {
    let mut probes = load(path)?;
    probes.insert(key(info), probe.clone());
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| fault(&error))?;
    }
    let bytes = serde_json::to_vec_pretty(&probes).map_err(|error| fault(&error))?;
    let draft = path.with_extension("json.partial");
    std::fs::write(&draft, bytes).and_then(|()| std::fs::rename(&draft, path)).map_err(|error| fault(&error))
}

/// Asks `model` the probe cases with every structure. A structure that the backend refuses is left
/// out; any other fault ends the probe.
pub async fn probe(model: &Arc<dyn ChatModel>) -> Result<Probe, ModelError> {
    let cases = cases();
    let mut figures = BTreeMap::new();
    for structure in Structure::ALL {
        if let Some(found) = one(model, *structure, &cases).await? {
            figures.insert(*structure, found);
        }
    }
    let at = crate::store::timestamp(std::time::SystemTime::now());
    let declared = tenpass_agent::structure::choose(&model.info().capabilities).structure;
    Ok(choose(declared, figures, at))
}

/// The declared structure, or the best of those that beat it beyond chance.
fn choose(declared: Structure, figures: BTreeMap<Structure, Figures>, at: String) -> Probe {
    let tally = |found: &Figures| Tally::new(found.right, found.asked.saturating_sub(found.right));
    let stands = figures.get(&declared).copied().unwrap_or_default();
    let beats = |found: &Figures| {
        found.right > stands.right && (stands.asked == 0 || boschloo(tally(&stands), tally(found)) < SIGNIFICANT)
    };
    let better = figures.iter().filter(|(_, found)| beats(found)).max_by_key(|(_, found)| found.right);
    let chosen = better.map_or(declared, |(structure, _)| *structure);
    let shown = |structure: &Structure| {
        figures.get(structure).map_or_else(
            || format!("{structure} refused"),
            |found| format!("{structure} {} of {}", found.right, found.asked),
        )
    };
    let all: Vec<String> = Structure::ALL.iter().map(shown).collect();
    Probe { structure: chosen, reason: format!("probed: {}", all.join(", ")), figures, at }
}

async fn one(model: &Arc<dyn ChatModel>, structure: Structure, cases: &[Case]) -> Result<Option<Figures>, ModelError> {
    let mut configuration = Configuration::new(Arc::clone(model));
    configuration.structure = structure;
    configuration.options.max_tokens = MAX_TOKENS;
    let record = configuration.record();
    let mut figures = Figures::default();
    for case in cases {
        let prepared = prepare_case(case, model.info(), &record);
        let requests = (1..=PASSES).map(|pass| prepared.seeded(pass_seed(0, &case.id, pass))).collect();
        let started = Instant::now();
        let answers = model.start_many(requests).into_iter().map(|stream| collect(stream, started));
        for answer in futures_util::future::join_all(answers).await {
            match answer.error {
                Some(ModelError::Unsupported { .. } | ModelError::Schema { .. } | ModelError::Template { .. }) => {
                    return Ok(None);
                }
                Some(error) => return Err(error),
                None => {}
            }
            let parsed = parse(&ParseInput {
                text: &answer.text,
                thinking: &answer.thinking,
                structured: &answer.calls,
                tools: &prepared.offered,
                declared: prepared.declared_shape.as_deref(),
                finish: answer.completion.map_or(FinishReason::Other, |completion| completion.finish),
            });
            let grade = grade(case, &prepared.offered, &parsed);
            figures.asked += 1;
            figures.right += u32::from(grade.pass);
            figures.recovered += u32::from(grade.recovered);
        }
    }
    Ok(Some(figures))
}

/// The probe's cases, which the tests load: they are part of the program.
fn cases() -> Vec<Case> {
    let text = SuiteText {
        files: vec![("probe.toml".to_owned(), include_str!("cases.toml").to_owned())],
        tools: Some(("tools.toml".to_owned(), include_str!("tools.toml").to_owned())),
        prompt: "You are an assistant with tools. Call a tool when the request needs one; else answer in words."
            .to_owned(),
    };
    parse_suite(&text).map(|suite| suite.cases).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_has_cases() {
        assert_eq!(cases().len(), 6);
        assert!(cases().iter().any(|case| case.expect.no_call));
    }

    #[test]
    fn the_best_wins_and_the_models_own_channel_of_equals() {
        let found = |right| Figures { asked: 30, right, recovered: 0 };
        let of = |native, grammar, text| {
            let all = [(Structure::Native, native), (Structure::Grammar, grammar), (Structure::Text, text)];
            let known =
                all.into_iter().filter_map(|(structure, right): (_, Option<u32>)| Some((structure, found(right?))));
            choose(Structure::Native, known.collect(), String::new())
        };
        assert_eq!(of(Some(20), Some(20), Some(20)).structure, Structure::Native);
        assert_eq!(of(Some(3), Some(20), Some(9)).structure, Structure::Grammar);
        assert_eq!(of(Some(5), Some(2), Some(7)).structure, Structure::Native, "7 of 30 against 5 is chance");
        assert_eq!(of(None, Some(2), Some(20)).structure, Structure::Text);
        assert_eq!(of(Some(0), None, Some(1)).reason, "probed: native 0 of 30, grammar refused, text 1 of 30");
    }

    #[test]
    fn a_record_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/probes.json");
        assert_eq!(load(&path), Ok(Probes::new()));
        let probe = choose(
            Structure::Text,
            BTreeMap::from([(Structure::Text, Figures { asked: 5, right: 4, recovered: 0 })]),
            "t".into(),
        );
        let replay = folder.path().join("answers.jsonl");
        std::fs::write(&replay, "{\"text\":\"hi\"}\n").unwrap();
        let info = tenpass_model::ReplayModel::open(&replay).unwrap().info().clone();
        record(&path, &info, &probe).unwrap();
        assert_eq!(load(&path).unwrap()[&key(&info)], probe);
        std::fs::write(&path, "{").unwrap();
        assert!(load(&path).unwrap_err().contains("probes.json"));
    }
}

//! What a run is made of: from what was typed, or from what is stored.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tenpass_corpus::{Clip, Corpus};
use tenpass_listening::store::{CorpusRecord, EngineRecord, SpeechRun, StoreError};
use tenpass_listening::stt::{Arm, Prompts, Style, arms, kind};
use tenpass_speech::commands::Commands;
use tenpass_stats::SMALLEST_EFFECT;
use tenpass_stt::{SttSpec, Transcriber};

use super::super::commands::{commands_path, project_file};
use super::super::provenance::provenance;
use super::super::transcribe::{failure, open_engine};
use super::BENCH;
use crate::args::speech::bench_stt::BenchStt;
use crate::context::Context;
use crate::failure::Failure;

const CORPUS: &str = "corpora/small";
const PROMPTS: &str = "corpora/prompts/stt.toml";

/// What the manifest keeps so that a run can go on, and be scored without the files it was made from.
#[derive(Serialize, Deserialize)]
struct Details {
    corpus: PathBuf,
    commands: String,
    prompts: String,
    arms: Vec<Arm>,
    clips: Vec<Clip>,
    passes: u32,
    delta: f64,
    /// Engines whose models know English only.
    #[serde(default)]
    english: Vec<String>,
}

/// A run and what scores it.
pub(super) struct Stored {
    pub(super) run: SpeechRun,
    pub(super) commands: Commands,
    pub(super) prompts: Prompts,
    pub(super) arms: Vec<Arm>,
    pub(super) clips: Vec<Clip>,
    pub(super) passes: u32,
    pub(super) delta: f64,
    /// Engines whose models know English only.
    pub(super) english: Vec<String>,
}

/// A run that is about to go on.
pub(super) struct Session {
    pub(super) stored: Stored,
    pub(super) corpus: Corpus,
    pub(super) engines: BTreeMap<String, Box<dyn Transcriber>>,
}

/// A run that was kept.
pub(super) fn stored(context: &Context, query: &str) -> Result<Stored, Failure> {
    Ok(read(SpeechRun::find(&context.runs(), BENCH, query)?)?.0)
}

fn read(run: SpeechRun) -> Result<(Stored, PathBuf), Failure> {
    let path = run.folder().join("manifest.json");
    let details: Details = serde_json::from_value(run.manifest().details.clone())
        .map_err(|error| Failure::mistake(format!("{}: details: {error}", path.display())))?;
    let commands = Commands::parse(&path, &details.commands)?;
    let prompts = Prompts::parse(&path, &details.prompts, commands.wake_word())?;
    let Details { arms, clips, passes, delta, corpus, english, .. } = details;
    Ok((Stored { run, commands, prompts, arms, clips, passes, delta, english }, corpus))
}

/// A run that was stopped, on the same corpus with the same models.
pub(super) fn resumed(context: &Context, query: &str) -> Result<Session, Failure> {
    let (stored, folder) = read(SpeechRun::find(&context.runs(), BENCH, query)?)?;
    let manifest = stored.run.manifest();
    let different = |problem: String| StoreError::Different { id: manifest.id.clone(), problem };
    let corpus = Corpus::open(&folder)?;
    if manifest.corpora.first().is_none_or(|record| record.digest != corpus.hash()) {
        return Err(different(format!("the corpus in {} is not what it was", folder.display())).into());
    }
    let engines = load(context, &stored.arms)?;
    for record in &manifest.engines {
        if engines.get(&record.spec).is_none_or(|engine| engine.info().digest != record.digest) {
            return Err(different(format!("the model of {} is not the one it was started with", record.spec)).into());
        }
    }
    Ok(Session { stored, corpus, engines })
}

/// A run of what was typed.
pub(super) fn fresh(context: &Context, typed: &BenchStt) -> Result<Session, Failure> {
    let delta = typed.delta.unwrap_or(SMALLEST_EFFECT);
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Failure::mistake(format!("--delta {delta} is not between 0 and 1")));
    }
    let commands_path = commands_path(context, typed.commands.as_deref())?;
    let prompts_path = project_file(context, typed.prompts.as_deref(), PROMPTS, "--prompts FILE")?;
    let folder = project_file(context, typed.corpus.as_deref(), CORPUS, "--corpus DIR")?;
    let text = |path: &PathBuf| std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error));
    let commands = Commands::load(&commands_path)?;
    let prompts = Prompts::load(&prompts_path, commands.wake_word())?;
    let corpus = Corpus::open(&folder)?;
    let clips = clips(context, typed, &corpus, &commands)?;
    let arms = typed_arms(context, typed, &prompts)?;
    prompts.check(&clips, &commands)?;
    let engines = load(context, &arms)?;
    let passes = typed.passes.unwrap_or(context.resolved.settings.passes);
    let english: Vec<String> =
        engines.iter().filter(|(_, engine)| !engine.info().multilingual).map(|(spec, _)| spec.clone()).collect();
    let details = Details {
        corpus: std::path::absolute(&folder).unwrap_or_else(|_| folder.clone()),
        commands: text(&commands_path)?,
        prompts: text(&prompts_path)?,
        arms: arms.clone(),
        clips: clips.clone(),
        passes,
        delta,
        english: english.clone(),
    };
    let details = serde_json::to_value(&details).map_err(Failure::bug)?;
    let record =
        CorpusRecord { name: corpus.manifest().name.clone(), digest: corpus.hash(), clips: clips.len() as u64 };
    let run = SpeechRun::create(&context.runs(), BENCH, |manifest| {
        manifest.provenance = provenance(context, &passed(typed));
        manifest.engines = engines
            .iter()
            .map(|(spec, engine)| EngineRecord { spec: spec.clone(), digest: engine.info().digest.clone() })
            .collect();
        manifest.corpora = vec![record];
        manifest.seed = typed.seed;
        manifest.details = details;
    })?;
    let stored = Stored { run, commands, prompts, arms, clips, passes, delta, english };
    Ok(Session { stored, corpus, engines })
}

/// What was typed, for the manifest.
fn passed(typed: &BenchStt) -> serde_json::Value {
    json!({
        "corpus": typed.corpus,
        "prompts": typed.prompts,
        "only": typed.only,
        "commands": typed.commands,
        "engine": typed.engine,
        "arms": typed.arms,
        "passes": typed.passes,
        "filter": typed.filter,
        "limit": typed.limit,
        "threads": typed.threads,
        "delta": typed.delta,
        "seed": typed.seed,
    })
}

fn clips(context: &Context, typed: &BenchStt, corpus: &Corpus, commands: &Commands) -> Result<Vec<Clip>, Failure> {
    let wanted = |clip: &&Clip| {
        let fields = [&clip.file, &clip.intent, &clip.voice];
        typed.filter.is_empty() || typed.filter.iter().any(|part| fields.iter().any(|field| field.contains(part)))
    };
    let (known, unknown): (Vec<&Clip>, Vec<&Clip>) =
        corpus.clips().iter().filter(wanted).partition(|clip| kind(clip, commands).is_some());
    if let Some(clip) = unknown.first() {
        let count = unknown.len();
        context.printer.note(&format!(
            "warning: {count} clips are left out: their intent, such as {} of {}, is no command of {}",
            clip.intent,
            clip.file,
            commands.path().display()
        ));
    }
    if known.is_empty() {
        return Err(Failure::mistake(format!("{}: no clip is left to transcribe", corpus.folder().display()))
            .hint("check --filter; `tenpass corpus list` shows what corpora hold"));
    }
    let limit = typed.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(known.len()).min(known.len());
    // Evenly from the whole list, so that every kind and voice has its part.
    Ok((0..limit).map(|index| known[index * known.len() / limit].clone()).collect())
}

fn typed_arms(context: &Context, typed: &BenchStt, prompts: &Prompts) -> Result<Vec<Arm>, Failure> {
    let mut engines: Vec<String> = Vec::new();
    let usual = std::slice::from_ref(&context.resolved.settings.speech.stt);
    for spec in if typed.engine.is_empty() { usual } else { &typed.engine } {
        let spec = SttSpec::parse(spec).map_err(failure)?.to_string();
        if engines.contains(&spec) {
            return Err(Failure::mistake(format!("--engine {spec} is there twice"))
                .hint("the same engine twice gives the same answers twice"));
        }
        engines.push(spec);
    }
    let mut styles = Vec::new();
    for name in &typed.arms {
        let style = Style::parse(name).ok_or_else(|| {
            let known: Vec<&str> = Style::ALL.iter().map(|style| style.name()).collect();
            Failure::mistake(format!("--arms {name:?} is no way of decoding")).hint(known.join(", "))
        })?;
        if !styles.contains(&style) {
            styles.push(style);
        }
    }
    let known: Vec<&str> = prompts.list.iter().map(|prompt| prompt.id.as_str()).collect();
    for id in typed.only.iter().chain(&typed.expect_real) {
        if !known.contains(&id.as_str()) {
            return Err(Failure::mistake(format!("there is no prompt {id}")).hint(known.join(", ")));
        }
    }
    let wanted = |index: usize, id: &str| index == 0 || typed.only.is_empty() || typed.only.iter().any(|one| one == id);
    let ids: Vec<String> =
        known.iter().enumerate().filter(|(index, id)| wanted(*index, id)).map(|(_, id)| (*id).to_owned()).collect();
    Ok(arms(&engines, &ids, &styles))
}

fn load(context: &Context, arms: &[Arm]) -> Result<BTreeMap<String, Box<dyn Transcriber>>, Failure> {
    let mut engines = BTreeMap::new();
    for arm in arms {
        if !engines.contains_key(&arm.engine) {
            let spec = SttSpec::parse(&arm.engine).map_err(failure)?;
            engines.insert(
                arm.engine.clone(),
                open_engine(context, &spec, arms.iter().any(|arm| arm.style != Style::Ungated))?,
            );
        }
    }
    Ok(engines)
}

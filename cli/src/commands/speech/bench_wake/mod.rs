//! `tenpass bench wake`.

mod ablate;
mod show;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenpass_corpus::Corpus;
use tenpass_listening::store::{CorpusRecord, EngineRecord, Manifest, SpeechRun};
use tenpass_listening::wake::{
    Contender, Listened, Sounds, SummaryOptions, WakeBenchError, listen, summarise, word_hits,
};
use tenpass_stats::Tally;
use tenpass_train::features::sound_hash;
use tenpass_train::wake::Role;
use tenpass_wake::EmbeddingModel;

use super::assets::asset;
use super::head;
use super::provenance::provenance;
use crate::args::speech::bench_wake::BenchWake;
use crate::commands::nightly::speech::Counted;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

const BENCH: &str = "wake";

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &BenchWake) -> Result<Exit, Failure> {
    if !command.ablate.is_empty() {
        return ablate::run(context, command);
    }
    let chosen = head::heads(context, &command.heads)?;
    let mut heads: Vec<Contender> = chosen.iter().map(|head| Contender::open(&head.path)).collect::<Result<_, _>>()?;
    for (contender, head) in heads.iter_mut().zip(&chosen).filter(|_| command.heads.is_empty()) {
        contender.name.clone_from(&head.name);
        context.printer.note(&format!("measured is {}", head.told()));
    }
    let word = word(command, &heads)?;
    let folders = if command.corpus.is_empty() { corpora_with(context, &word)? } else { command.corpus.clone() };
    let mut sounds = Sounds::load(&folders, &word, command.threshold.is_none(), command.data.data_seed)?;
    sounds.hold_against(&heads)?;
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let kept = Kept { command, heads: &heads, sounds: &sounds, folders: &folders, word: &word };
    let run = kept.run(context)?;
    let progress = StageProgress::new(context.printer);
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    listen(&run, &heads, &sounds, &model, threads, &|done, of| progress.tell("listening", done, of))?;
    progress.end();
    let passes = run.passes::<Listened>().map_err(WakeBenchError::from)?;
    let options = SummaryOptions {
        threshold: command.threshold,
        target_per_hour: command.data.target,
        recorded: heads.iter().map(|head| head.record.as_ref().map(|record| record.threshold)).collect(),
        names: heads.iter().map(|head| head.name.clone()).collect(),
    };
    let summary = summarise(&passes, &options);
    if let Some(path) = &command.svg {
        show::svg(path, &summary)?;
    }
    show::print(context, command, &summary, &sounds)?;
    context.printer.note(&format!("kept in {}", run.folder().display()));
    Ok(Exit::Yes)
}

/// Words of the test that the first head of a run heard, at the threshold that the bench reports it with.
pub(in crate::commands) fn heard(run: &SpeechRun) -> Result<Counted, Failure> {
    let passes = run.passes::<Listened>().map_err(WakeBenchError::from)?;
    let path = run.manifest().engines.first().map(|engine| PathBuf::from(&engine.spec)).unwrap_or_default();
    let options = SummaryOptions {
        threshold: None,
        target_per_hour: run.manifest().details["target"].as_f64().unwrap_or(0.5),
        recorded: vec![head::threshold_beside(&path)],
        names: vec![path.display().to_string()],
    };
    let Some(summary) = summarise(&passes, &options).heads.into_iter().next() else {
        return Ok(Counted { cases: BTreeMap::new(), invalid: 0, notes: Vec::new() });
    };
    let mut cases: BTreeMap<String, Tally> = BTreeMap::new();
    for (clip, hit) in word_hits(&passes, 0, summary.threshold) {
        cases.entry(format!("word {clip:04}")).or_default().record(hit);
    }
    let note = format!(
        "{} of {} words missed at threshold {:.3}; {}",
        summary.misses, summary.words, summary.threshold, summary.proves
    );
    Ok(Counted { cases, invalid: 0, notes: vec![note] })
}

/// What was typed, or the one word that the heads are for.
fn word(command: &BenchWake, heads: &[Contender]) -> Result<String, Failure> {
    if let Some(word) = &command.word {
        return Ok(word.trim().to_lowercase());
    }
    let mut words: Vec<&str> = heads.iter().filter_map(|head| head.word.as_deref()).collect();
    words.sort_unstable();
    words.dedup();
    match words.as_slice() {
        [word] => Ok((*word).to_owned()),
        [] => Err(Failure::mistake("the heads do not say which word they are for").hint("name it with --word WORD")),
        several => Err(WakeBenchError::Words(several.join(", ")).into()),
    }
}

/// The corpora of this project in which somebody says the word.
fn corpora_with(context: &Context, word: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = context.in_project(None, "corpora")?;
    let entries = std::fs::read_dir(&folder).map_err(|error| Failure::file(&folder, &error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| {
        let says = |corpus: &Corpus| {
            corpus.clips().iter().any(|clip| clip.wake.as_deref().is_some_and(|wake| wake.eq_ignore_ascii_case(word)))
        };
        path.join("corpus.toml").is_file() && Corpus::open(path).is_ok_and(|corpus| says(&corpus))
    });
    found.sort();
    if found.is_empty() {
        return Err(Failure::mistake(format!("no corpus of this project has `{word}` in it"))
            .hint("name one with --corpus DIR; `tenpass train wake` leaves its held-out test in WORK/test"));
    }
    Ok(found)
}

/// What a run measures.
struct Kept<'a> {
    command: &'a BenchWake,
    heads: &'a [Contender],
    sounds: &'a Sounds,
    folders: &'a [PathBuf],
    word: &'a str,
}

impl Kept<'_> {
    /// A new run, or the one that is to go on.
    fn run(&self, context: &Context) -> Result<SpeechRun, Failure> {
        let engines = self.heads.iter().map(|head| engine(&head.path)).collect::<Result<Vec<_>, _>>()?;
        let hashes: Vec<&str> = self.sounds.sounds().iter().map(|sound| sound.hash.as_str()).collect();
        let words = self.sounds.sounds().iter().filter(|sound| sound.role == Role::Word).count();
        let corpora = vec![CorpusRecord {
            name: self.folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", "),
            digest: digest_of(&hashes),
            clips: hashes.len() as u64,
        }];
        let seed = self.command.data.data_seed;
        if let Some(query) = &self.command.resume {
            let run = SpeechRun::find(&context.runs(), BENCH, query).map_err(WakeBenchError::from)?;
            let same = |manifest: &Manifest| {
                manifest.engines == engines && manifest.corpora[..] == corpora[..] && manifest.seed == seed
            };
            if !same(run.manifest()) {
                return Err(Failure::mistake(format!("run {} is of other heads, sounds or seed", run.manifest().id))
                    .hint("leave --resume away to start a run of its own"));
            }
            return Ok(run);
        }
        let typed = serde_json::json!({
            "heads": self.command.heads, "corpus": self.command.corpus, "word": self.command.word,
            "threshold": self.command.threshold, "target": self.command.data.target,
        });
        let created = SpeechRun::create(&context.runs(), BENCH, |manifest| {
            manifest.provenance = provenance(context, &typed);
            manifest.engines = engines;
            manifest.corpora = corpora;
            manifest.seed = seed;
            manifest.details =
                serde_json::json!({ "word": self.word, "words": words, "target": self.command.data.target });
        });
        Ok(created.map_err(WakeBenchError::from)?)
    }
}

fn engine(path: &Path) -> Result<EngineRecord, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file(path, &error))?;
    Ok(EngineRecord { spec: path.display().to_string(), digest: tenpass_train::wake::digest(&bytes) })
}

/// One hash for many: of their letters as samples.
fn digest_of(hashes: &[&str]) -> String {
    sound_hash(&hashes.concat().bytes().map(i16::from).collect::<Vec<_>>())
}

impl From<WakeBenchError> for Failure {
    fn from(error: WakeBenchError) -> Self {
        match error {
            WakeBenchError::Train(error) => error.into(),
            WakeBenchError::Wake(error) => error.into(),
            _ => {
                let hint = error.hint();
                Self::mistake(error).hint(hint)
            }
        }
    }
}

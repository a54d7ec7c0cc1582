//! What a run of `bench turn` measures: typed once, kept in the manifest, read again to go on.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenpass_corpus::{Clip, Corpus};

use crate::args::speech::bench_turn::BenchTurn;
use crate::context::Context;
use crate::failure::Failure;

/// Where the small corpus and the commands of a checkout or project are.
const CORPUS: &str = "corpora/small";
const COMMANDS: &str = "corpora/commands";

/// Arguments with everything filled in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    pub(super) corpus: PathBuf,
    pub(super) commands: PathBuf,
    pub(super) filter: Vec<String>,
    pub(super) language: String,
    pub(super) most_clips: Option<usize>,
    pub(super) engine: String,
    pub(super) voice: Option<String>,
    pub(super) model: Option<String>,
    pub(super) answer_ms: u64,
    pub(super) device_ms: u64,
    pub(super) passes: u32,
    pub(super) threads: Option<u16>,
    pub(super) real_time: bool,
    pub(super) gpu: bool,
    pub(super) seed: u64,
}

impl Plan {
    /// From what was typed.
    pub(super) fn new(context: &Context, typed: &BenchTurn) -> Result<Self, Failure> {
        let commands = match &typed.commands {
            Some(path) => path.clone(),
            None => context.in_project(None, COMMANDS)?.join("commands.toml"),
        };
        Ok(Self {
            corpus: absolute(&context.in_project(typed.corpus.as_deref(), CORPUS)?)?,
            commands: absolute(&commands)?,
            filter: typed.filter.clone(),
            language: typed.language.clone(),
            most_clips: typed.clips,
            engine: typed.engine.clone().unwrap_or_else(|| context.resolved.settings.speech.stt.clone()),
            voice: typed.voice.clone(),
            model: typed.model.clone(),
            answer_ms: typed.answer_ms,
            device_ms: typed.device_ms,
            passes: typed.passes,
            threads: typed.threads,
            real_time: typed.real_time,
            gpu: typed.gpu,
            seed: typed.seed,
        })
    }

    /// Clips in which something is said, of the language and the filter.
    pub(super) fn clips<'a>(&self, corpus: &'a Corpus) -> Result<Vec<&'a Clip>, Failure> {
        let wanted = |clip: &&Clip| {
            let spoken = !clip.text.is_empty() && clip.language == self.language && clip.intent != "wake";
            let named =
                |word: &String| [&clip.file, &clip.text, &clip.intent].iter().any(|text| text.contains(word.as_str()));
            spoken && (self.filter.is_empty() || self.filter.iter().any(named))
        };
        let all: Vec<&Clip> = corpus.clips().iter().filter(wanted).collect();
        if all.is_empty() {
            return Err(Failure::mistake(format!("{}: no clip in {} fits", corpus.folder().display(), self.language))
                .hint("tenpass corpus list DIR shows what is there; --language and --filter choose"));
        }
        let most = self.most_clips.unwrap_or(all.len()).clamp(1, all.len());
        Ok((0..most).map(|i| all[i * all.len() / most]).collect())
    }
}

/// A run may go on from another folder.
pub(in crate::commands::speech) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::file(path, &error))
}

//! Transcribing what is not transcribed yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tenpass_audio::Audio;
use tenpass_corpus::{Clip, Corpus, CorpusError};
use tenpass_speech::commands::Commands;
use tenpass_stt::{SttError, Transcriber};

use super::arms::Arm;
use super::prompts::Prompts;
use super::record::{SttPass, key};
use crate::store::{Pass, SpeechRun, StoreError, Writer};

/// What is to be done.
pub struct Plan<'a> {
    /// The sound.
    pub corpus: &'a Corpus,
    /// The clips of it, in the order they are played.
    pub clips: &'a [Clip],
    /// The arms, those of one engine beside each other.
    pub arms: &'a [Arm],
    /// The prompts that arms name.
    pub prompts: &'a Prompts,
    /// What commands there are.
    pub commands: &'a Commands,
    /// Passes of arms that sample, of clips where they did.
    pub passes: u32,
    /// Threads of the engine; 0 takes all cores.
    pub threads: usize,
    /// Ends the run after the clip at hand.
    pub stop: &'a AtomicBool,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum Event<'a> {
    /// So many transcriptions in all, and so many of them done before. May come again: passes are added where an
    /// arm sampled, and taken away where an engine does not know the language.
    Total {
        /// In all.
        total: u64,
        /// Done.
        done: u64,
    },
    /// An engine is loaded.
    Loading(&'a str),
    /// One more is done.
    Done(&'a SttPass),
}

/// Whether it came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Everything is done.
    Finished,
    /// It was stopped; what is finished is kept.
    Early,
}

/// Why a run ended without an answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An engine.
    #[error(transparent)]
    Engine(#[from] SttError),
    /// The sound.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The run's files.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An arm names a prompt that is not there.
    #[error("there is no prompt {0}")]
    Prompt(String),
}

/// Passes that a run still wants: it was stopped, or a pass failed. Models of `english` are asked nothing else.
pub fn missing(arms: &[Arm], clips: &[Clip], passes: u32, english: &[String], found: &[SttPass]) -> usize {
    let done: BTreeSet<String> = found.iter().filter(|pass| pass.error.is_none()).map(Pass::key).collect();
    let sampled: BTreeSet<(&str, &str)> =
        found.iter().filter(|pass| pass.sampled()).map(|pass| (pass.arm.as_str(), pass.clip.as_str())).collect();
    let of_arm = arms.iter().map(|arm| {
        let id = arm.id();
        let asked = clips.iter().filter(|clip| is_english(clip) || !english.contains(&arm.engine));
        let of_clip = asked.map(|clip| {
            let again = arm.style.samples() && sampled.contains(&(id.as_str(), clip.file.as_str()));
            let last = if again { passes.max(1) } else { 1 };
            (1..=last).filter(|pass| !done.contains(&key(&id, &clip.file, *pass))).count()
        });
        of_clip.sum::<usize>()
    });
    of_arm.sum()
}

/// Whether a model of English only can be asked.
fn is_english(clip: &Clip) -> bool {
    matches!(clip.language.as_str(), "en" | "")
}

/// Does what is missing, clip by clip: when it is stopped, every arm of the engine has met the same clips.
pub fn run<'e, E: From<RunError>>(
    plan: &Plan<'_>,
    run: &SpeechRun,
    load: &mut dyn FnMut(&str) -> Result<&'e dyn Transcriber, E>,
    on: &mut dyn FnMut(Event<'_>),
) -> Result<Stopped, E> {
    let passes = run.passes::<SttPass>().map_err(RunError::from)?;
    let mut work = Work {
        plan,
        done: passes.iter().filter(|pass| pass.error.is_none()).map(Pass::key).collect(),
        sampled: passes
            .iter()
            .filter(|pass| pass.sampled())
            .map(|pass| (pass.arm.clone(), pass.clip.clone()))
            .collect(),
        total: 0,
    };
    // Errors of an earlier session are tried again.
    work.total = (plan.clips.len() * plan.arms.len()) as u64;
    work.total += (work.done.len() as u64).saturating_sub(work.first_passes());
    on(Event::Total { total: work.total, done: work.done.len() as u64 });
    let mut writer = run.writer().map_err(RunError::from)?;
    let mut engines: Vec<&str> = plan.arms.iter().map(|arm| arm.engine.as_str()).collect();
    engines.dedup();
    for spec in engines {
        let arms: Vec<&Arm> = plan.arms.iter().filter(|arm| arm.engine == spec).collect();
        if !work.is_missing(&arms) {
            continue;
        }
        on(Event::Loading(spec));
        let engine = load(spec)?;
        if work.engine(engine, &arms, &mut writer, on)? == Stopped::Early {
            return Ok(Stopped::Early);
        }
    }
    Ok(Stopped::Finished)
}

struct Work<'a> {
    plan: &'a Plan<'a>,
    done: BTreeSet<String>,
    /// Arm and clip where another pass could differ.
    sampled: BTreeSet<(String, String)>,
    total: u64,
}

impl Work<'_> {
    fn first_passes(&self) -> u64 {
        let ids: Vec<String> = self.plan.arms.iter().map(Arm::id).collect();
        let firsts = ids.iter().flat_map(|arm| self.plan.clips.iter().map(move |clip| key(arm, &clip.file, 1)));
        firsts.filter(|key| self.done.contains(key)).count() as u64
    }

    /// The passes that a clip still needs from an arm.
    fn missing(&self, arm: &Arm, clip: &Clip) -> Vec<u32> {
        let id = arm.id();
        let again = arm.style.samples() && self.sampled.contains(&(id.clone(), clip.file.clone()));
        let last = if again { self.plan.passes.max(1) } else { 1 };
        (1..=last).filter(|pass| !self.done.contains(&key(&id, &clip.file, *pass))).collect()
    }

    fn is_missing(&self, arms: &[&Arm]) -> bool {
        self.plan.clips.iter().any(|clip| arms.iter().any(|arm| !self.missing(arm, clip).is_empty()))
    }

    fn engine<E: From<RunError>>(
        &mut self,
        engine: &dyn Transcriber,
        arms: &[&Arm],
        writer: &mut Writer,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<Stopped, E> {
        for clip in self.plan.clips {
            // A model of English only is not asked for French.
            if !engine.info().multilingual && !is_english(clip) {
                self.total -= arms.len() as u64;
                on(Event::Total { total: self.total, done: self.done.len() as u64 });
                continue;
            }
            if arms.iter().all(|arm| self.missing(arm, clip).is_empty()) {
                continue;
            }
            let audio = self.plan.corpus.load(clip).map_err(RunError::from)?;
            for arm in arms {
                self.clip(engine, arm, clip, &audio, writer, on)?;
                if self.plan.stop.load(Ordering::Relaxed) {
                    return Ok(Stopped::Early);
                }
            }
        }
        Ok(Stopped::Finished)
    }

    fn clip(
        &mut self,
        engine: &dyn Transcriber,
        arm: &Arm,
        clip: &Clip,
        audio: &Audio,
        writer: &mut Writer,
        on: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let Plan { prompts, commands, threads, .. } = self.plan;
        let prompt = prompts.get(&arm.prompt).ok_or_else(|| RunError::Prompt(arm.prompt.clone()))?;
        let language = if clip.language.is_empty() { "en" } else { clip.language.as_str() };
        let decoding = arm.style.decoding(language, &prompts.text(prompt, clip, commands), *threads);
        let id = arm.id();
        // The first pass says whether there is more to do.
        while let Some(number) = self.missing(arm, clip).first().copied() {
            let begin = Instant::now();
            let pass = match engine.transcribe(audio, &decoding) {
                Ok(transcript) => SttPass::of(&id, &clip.file, number, &transcript),
                Err(error @ (SttError::Input(_) | SttError::Short { .. } | SttError::Engine { .. })) => SttPass {
                    error: Some(error.to_string()),
                    total_ms: begin.elapsed().as_secs_f64() * 1e3,
                    audio_s: audio.seconds(),
                    ..SttPass::of(&id, &clip.file, number, &tenpass_stt::Transcript::default())
                },
                Err(error) => return Err(error.into()),
            };
            writer.append(&pass)?;
            self.done.insert(pass.key());
            if number == 1 && pass.sampled() && arm.style.samples() && self.plan.passes > 1 {
                self.sampled.insert((id.clone(), clip.file.clone()));
                self.total += u64::from(self.plan.passes) - 1;
                on(Event::Total { total: self.total, done: self.done.len() as u64 - 1 });
            }
            on(Event::Done(&pass));
            if self.plan.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(())
    }
}

/// Clips by file.
pub(crate) fn by_file(clips: &[Clip]) -> BTreeMap<&str, &Clip> {
    clips.iter().map(|clip| (clip.file.as_str(), clip)).collect()
}

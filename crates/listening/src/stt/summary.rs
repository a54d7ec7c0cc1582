//! A run as a table: one row an arm.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tenpass_corpus::Clip;
use tenpass_speech::commands::Commands;
use tenpass_stats::{Interval, Tally, clopper_pearson, quantile, wilson, wilson_rate};

use super::arms::{Arm, reference};
use super::compare::{ByClip, Comparison, compare};
use super::outcome::{Kind, Outcome, kind, outcome};
use super::prompts::Prompts;
use super::record::SttPass;
use super::run::by_file;
use crate::normalise::NORMALISER;
use crate::score::{Errors, distance};

/// A pass with what came of it.
#[derive(Debug, Clone)]
pub struct Scored<'a> {
    /// The arm's place in the list.
    pub arm: usize,
    /// Its prompt's id.
    pub prompt: &'a str,
    /// The clip.
    pub clip: &'a Clip,
    /// What it is.
    pub kind: Kind,
    /// What was heard.
    pub pass: &'a SttPass,
    /// What came of it.
    pub outcome: Outcome,
    /// What would have come of it with the wake word heard before.
    pub woken: Outcome,
}

/// A part of a whole, with a 95 % interval: Wilson's, or Clopper-Pearson's where a bound is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// How many; with several passes of a clip a fraction of one each.
    pub hits: f64,
    /// Of how many clips.
    pub of: u32,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Share {
    fn of_clips(rates: &[f64]) -> Self {
        // The sum of nothing is −0, which nobody wants to read.
        let (hits, of) = (rates.iter().sum::<f64>() + 0.0, rates.len() as f64);
        let interval = if of > 0.0 { wilson_rate(hits / of, of, 0.95) } else { wilson(Tally::default(), 0.95) };
        Self { hits, of: rates.len() as u32, low: interval.low, high: interval.high }
    }

    /// With the exact interval: a clip counts when it happened in any of its passes.
    fn bound(clips: &BTreeMap<&str, bool>) -> Self {
        let hits = clips.values().filter(|hit| **hit).count() as u32;
        let of = clips.len() as u32;
        let Interval { low, high } = clopper_pearson(Tally::new(hits, of - hits), 0.95);
        Self { hits: f64::from(hits), of, low, high }
    }
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmSummary {
    /// Its id.
    pub arm: String,
    /// Its engine.
    pub engine: String,
    /// Its prompt.
    pub prompt: String,
    /// Its decoding.
    pub style: &'static str,
    /// Command clips understood.
    pub understood: Share,
    /// The same if the wake word counts as heard.
    pub understood_woken: Share,
    /// Of synthetic voices.
    pub synthetic: Share,
    /// Of people.
    pub real: Share,
    /// Command clips whose number or name was another one.
    pub wrong_slot: f64,
    /// Command clips taken for another command.
    pub wrong_command: f64,
    /// Command clips with a text that is no command.
    pub no_command: f64,
    /// Command clips without text.
    pub empty: f64,
    /// Clips with speech whose text is the same after normalisation.
    pub matched: Share,
    /// Word error rate over clips with speech.
    pub wer: Option<f64>,
    /// Character error rate.
    pub cer: Option<f64>,
    /// Sentences taken for a command.
    pub false_commands: Share,
    /// Clips of silence and noise that gave text.
    pub hallucinated: Share,
    /// Of these, how many repeated the prompt.
    pub echoes: u32,
    /// Passes that failed; scored nowhere.
    pub invalid: u32,
    /// Passes scored.
    pub passes: u32,
    /// Clips transcribed again because a temperature above 0 was needed, and how many of them gave more than one text.
    pub sampled: u32,
    /// See `sampled`.
    pub varied: u32,
    /// Median time of a transcription in milliseconds.
    pub median_ms: Option<f64>,
    /// Time over length of sound, in all.
    pub real_time_factor: Option<f64>,
    /// Against its reference; `None` for the first arm.
    pub comparison: Option<Comparison>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of the normaliser.
    pub normaliser: u32,
    /// One row an arm.
    pub arms: Vec<ArmSummary>,
}

/// Judges every pass. Passes of unknown arms or clips are left out, as are clips whose intent is no command.
pub fn score<'a>(
    arms: &'a [Arm],
    clips: &'a [Clip],
    passes: &'a [SttPass],
    prompts: &Prompts,
    commands: &Commands,
) -> Vec<Scored<'a>> {
    let clips = by_file(clips);
    let ids: BTreeMap<String, usize> = arms.iter().enumerate().map(|(index, arm)| (arm.id(), index)).collect();
    let judged = |pass: &'a SttPass| {
        let (arm, clip) = (*ids.get(&pass.arm)?, *clips.get(pass.clip.as_str())?);
        let kind = kind(clip, commands)?;
        let prompt = prompts.get(&arms[arm].prompt);
        let text = prompt.map(|prompt| prompts.text(prompt, clip, commands)).unwrap_or_default();
        let judge = |woken| outcome(clip, kind, &pass.text, &text, commands, woken);
        let (plain, woken) = (judge(false), judge(true));
        Some(Scored { arm, prompt: &arms[arm].prompt, clip, kind, pass, outcome: plain, woken })
    };
    passes.iter().filter_map(judged).collect()
}

/// One row an arm, each compared with its reference. `smallest_effect` is the smallest difference that matters.
pub fn summarise(arms: &[Arm], scored: &[Scored<'_>], smallest_effect: f64, seed: u64) -> Summary {
    let of_arm = |index: usize| scored.iter().filter(move |one| one.arm == index).collect::<Vec<_>>();
    let mut rows: Vec<ArmSummary> = arms.iter().enumerate().map(|(index, arm)| row(arm, &of_arm(index))).collect();
    let understood: Vec<ByClip<'_>> = (0..arms.len()).map(|index| by_clip(&of_arm(index))).collect();
    let compared: Vec<(usize, usize)> =
        arms.iter().enumerate().filter_map(|(index, arm)| Some((index, reference(arms, arm)?))).collect();
    let pairs: Vec<_> = compared
        .iter()
        .map(|(index, reference)| (&understood[*index], arms[*reference].id(), &understood[*reference]))
        .collect();
    for ((index, _), found) in compared.iter().zip(compare(&pairs, smallest_effect, seed)) {
        rows[*index].comparison = found;
    }
    Summary { normaliser: NORMALISER, arms: rows }
}

fn by_clip<'a>(scored: &[&Scored<'a>]) -> ByClip<'a> {
    let mut clips = ByClip::new();
    for one in scored.iter().filter(|one| one.kind == Kind::Command && one.pass.error.is_none()) {
        // The phrasings of two languages are two commands to an ear.
        let command = || (format!("{}/{}", one.clip.language, one.clip.intent), Tally::default());
        clips.entry(one.clip.file.as_str()).or_insert_with(command).1.record(one.outcome == Outcome::Understood);
    }
    clips
}

/// Mean over a clip's passes of whether something holds.
fn rates<'a>(scored: &[&Scored<'a>], holds: impl Fn(&Scored<'a>) -> bool) -> Vec<f64> {
    let mut clips: BTreeMap<&str, Tally> = BTreeMap::new();
    for one in scored {
        clips.entry(&one.clip.file).or_default().record(holds(one));
    }
    clips.into_values().filter_map(Tally::rate).collect()
}

fn row(arm: &Arm, all: &[&Scored<'_>]) -> ArmSummary {
    let valid: Vec<&Scored<'_>> = all.iter().filter(|one| one.pass.error.is_none()).copied().collect();
    let of = |kind: Kind| valid.iter().filter(|one| one.kind == kind).copied().collect::<Vec<_>>();
    let (commands, speech, nothing) = (of(Kind::Command), of(Kind::Speech), of(Kind::Nothing));
    let voiced: Vec<&Scored<'_>> = commands.iter().chain(&speech).copied().collect();
    let understood = |one: &Scored<'_>| one.outcome == Outcome::Understood;
    let by_voice = |synthetic: bool| {
        let some: Vec<_> = commands.iter().filter(|one| one.clip.synthetic == synthetic).copied().collect();
        Share::of_clips(&rates(&some, understood))
    };
    let count = |wanted: Outcome| rates(&commands, |one| one.outcome == wanted).iter().sum::<f64>() + 0.0;
    let distances: Vec<_> =
        voiced.iter().map(|one| distance(&one.clip.text, &one.pass.text, &one.clip.language)).collect();
    let words = distances.iter().fold(Errors::default(), |sum, found| sum.plus(found.words));
    let characters = distances.iter().fold(Errors::default(), |sum, found| sum.plus(found.characters));
    let (sampled, varied) = repeats(&valid);
    let mut times: Vec<f64> = valid.iter().map(|one| one.pass.total_ms).collect();
    times.sort_by(f64::total_cmp);
    let length: f64 = valid.iter().map(|one| one.pass.audio_s).sum();
    ArmSummary {
        arm: arm.id(),
        engine: arm.engine.clone(),
        prompt: arm.prompt.clone(),
        style: arm.style.name(),
        understood: Share::of_clips(&rates(&commands, understood)),
        understood_woken: Share::of_clips(&rates(&commands, |one| one.woken == Outcome::Understood)),
        synthetic: by_voice(true),
        real: by_voice(false),
        wrong_slot: count(Outcome::WrongSlot),
        wrong_command: count(Outcome::WrongCommand),
        no_command: count(Outcome::NoCommand),
        empty: count(Outcome::Empty),
        matched: Share::of_clips(&rates(&voiced, |one| {
            distance(&one.clip.text, &one.pass.text, &one.clip.language).same
        })),
        wer: words.rate(),
        cer: characters.rate(),
        false_commands: Share::bound(&any(&speech, |one| one.outcome == Outcome::FalseCommand)),
        hallucinated: Share::bound(&any(&nothing, |one| one.outcome != Outcome::Quiet)),
        echoes: any(&nothing, |one| one.outcome == Outcome::Echo).values().filter(|hit| **hit).count() as u32,
        invalid: (all.len() - valid.len()) as u32,
        passes: valid.len() as u32,
        sampled,
        varied,
        median_ms: quantile(&times, 0.5),
        real_time_factor: (length > 0.0).then(|| times.iter().sum::<f64>() / 1e3 / length),
        comparison: None,
    }
}

fn any<'a>(scored: &[&Scored<'a>], holds: impl Fn(&Scored<'a>) -> bool) -> BTreeMap<&'a str, bool> {
    let mut clips = BTreeMap::new();
    for one in scored {
        *clips.entry(one.clip.file.as_str()).or_default() |= holds(one);
    }
    clips
}

/// Clips with more than one pass, and those among them whose texts differ.
fn repeats(scored: &[&Scored<'_>]) -> (u32, u32) {
    let mut texts: BTreeMap<&str, (u32, BTreeSet<&str>)> = BTreeMap::new();
    for one in scored {
        let (passes, different) = texts.entry(&one.clip.file).or_default();
        *passes += 1;
        different.insert(&one.pass.text);
    }
    let again = texts.values().filter(|(passes, _)| *passes > 1);
    (again.clone().count() as u32, again.filter(|(_, different)| different.len() > 1).count() as u32)
}

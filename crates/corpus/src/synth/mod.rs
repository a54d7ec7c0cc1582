//! Speaking a corpus: every phrase by the voices of its language, dry and in rounds of augmentation.
//!
//! A clip's sound follows from the plan's seed, its text, its voice and its round, never from what else is made or
//! in which order; its name carries a hash of all of these. So an interrupted synthesis goes on where it stopped,
//! and a second one in another folder gives the same bytes.

mod dry;
mod noise;
mod plan;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

pub use noise::add_noise;
pub use plan::{SynthEvent, SynthPlan, SynthReport, SynthSize};
use tenpass_audio::augment::{Trace, apply_traced};
use tenpass_audio::{Audio, Random};
use tenpass_tts::{SpeakOptions, Voice};

use crate::phrase::fault;
use crate::slug::{hashed, slug};
use crate::{Clip, Corpus, CorpusError, Phrase};

/// The manifest is saved after so many clips.
const SAVE_EVERY: usize = 64;
/// Below so many metres a room is `near`.
const NEAR_M: f64 = 1.2;

/// Characters that a voice speaks in a second.
const SPOKEN: f64 = 14.0;
/// Bytes of a sample in FLAC, over speech and its pauses; a WAV file has two.
const FLAC_BYTES: f64 = 0.8;

/// One phrase by one voice.
struct Job<'a> {
    phrase: &'a Phrase,
    voice: &'a dyn Voice,
    /// The rounds that are missing.
    rounds: Vec<u32>,
}

/// The clips of a job, or the reason why there are none.
type Made = Result<Vec<(Clip, Audio)>, String>;

/// Speaks phrases into a corpus. What is there already is left alone; a voice that fails at a phrase is reported
/// and passed over.
///
/// Only if nothing at all could be spoken is that an error. `progress` may answer `false` to stop; what was
/// made until then stays, and the next call goes on from there.
pub fn synth(
    corpus: &mut Corpus,
    plan: &SynthPlan,
    voices: &[Box<dyn Voice>],
    phrases: &[Phrase],
    progress: &mut dyn FnMut(&SynthEvent) -> bool,
) -> Result<SynthReport, CorpusError> {
    if let Some(problem) = phrases.iter().find_map(fault) {
        return Err(CorpusError::Unusable(problem));
    }
    if plan.rounds().next().is_none() {
        return Err(CorpusError::Unusable("neither dry clips nor rounds of augmentation were asked for".to_owned()));
    }
    let mut report = SynthReport { folder: corpus.folder().to_owned(), ..SynthReport::default() };
    let (jobs, total) = planned(corpus, plan, voices, phrases, &mut report);
    progress(&SynthEvent::Started { total, before: report.before });
    made_in_order(plan, &jobs, &mut |job, made| {
        match made {
            Ok(clips) => {
                for (clip, audio) in clips {
                    let file = clip.file.clone();
                    corpus.put(clip, &audio)?;
                    report.written += 1;
                    if report.written.is_multiple_of(SAVE_EVERY) {
                        corpus.save()?;
                    }
                    if !progress(&SynthEvent::Clip { file }) {
                        return Ok(false);
                    }
                }
            }
            Err(why) => {
                let (voice, text) = (job.voice.info().spec.clone(), job.phrase.text.clone());
                report.failed.push((voice.clone(), text.clone(), why.clone()));
                if !progress(&SynthEvent::Failed { voice, text, why }) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })?;
    corpus.save()?;
    match report.failed.first() {
        Some((voice, _, why)) if report.written + report.before == 0 => {
            Err(CorpusError::Speechless(format!("{voice}: {why}")))
        }
        _ => Ok(report),
    }
}

fn planned<'a>(
    corpus: &Corpus,
    plan: &SynthPlan,
    voices: &'a [Box<dyn Voice>],
    phrases: &'a [Phrase],
    report: &mut SynthReport,
) -> (Vec<Job<'a>>, usize) {
    let (mut jobs, mut total, mut turn) = (Vec::new(), 0, 0);
    for phrase in phrases {
        let able: Vec<&dyn Voice> =
            voices.iter().map(AsRef::as_ref).filter(|voice| voice.info().language == phrase.language).collect();
        if able.is_empty() {
            report.voiceless.push(phrase.text.clone());
            continue;
        }
        let count = plan.voices_per_phrase.unwrap_or(able.len()).min(able.len());
        for index in 0..count {
            let voice = able[(turn + index) % able.len()];
            let all: Vec<u32> = plan.rounds().collect();
            let (there, rounds): (Vec<u32>, Vec<u32>) =
                all.into_iter().partition(|round| corpus.has(&name(plan, phrase, &voice.info().spec, *round)));
            report.before += there.len();
            total += there.len() + rounds.len();
            if !rounds.is_empty() {
                jobs.push(Job { phrase, voice, rounds });
            }
        }
        // Voices take turns over the phrases.
        turn += count;
    }
    (jobs, total)
}

/// How much [`synth`] will make of the same arguments.
pub fn synth_size(corpus: &Corpus, plan: &SynthPlan, voices: &[Box<dyn Voice>], phrases: &[Phrase]) -> SynthSize {
    let mut report = SynthReport::default();
    let (jobs, clips) = planned(corpus, plan, voices, phrases, &mut report);
    let around = f64::midpoint(plan.lead_s.0, plan.lead_s.1) + f64::midpoint(plan.tail_s.0, plan.tail_s.1);
    let seconds = jobs.iter().map(|job| {
        let wake = plan.wake.as_ref().filter(|_| job.phrase.intent != "wake");
        let pause = wake.map_or(0.0, |_| f64::midpoint(plan.pause_s.0, plan.pause_s.1));
        let letters = job.phrase.text.chars().count() + wake.map_or(0, |word| word.chars().count());
        job.rounds.len() as f64 * (around + pause + letters as f64 / SPOKEN)
    });
    let seconds: f64 = seconds.sum();
    let bytes = seconds * f64::from(plan.rate) * if plan.flac { FLAC_BYTES } else { 2.0 };
    SynthSize { clips, before: report.before, seconds, bytes }
}

/// Works on several jobs at a time and hands the results over in the order of the jobs.
fn made_in_order(
    plan: &SynthPlan,
    jobs: &[Job<'_>],
    take: &mut dyn FnMut(&Job<'_>, Made) -> Result<bool, CorpusError>,
) -> Result<(), CorpusError> {
    let next = AtomicUsize::new(0);
    // What is ready waits in a short queue: memory does not grow with the corpus.
    let (sender, receiver) = mpsc::sync_channel::<(usize, Made)>(plan.jobs.max(1));
    let next = &next;
    std::thread::scope(move |scope| {
        for _ in 0..plan.jobs.clamp(1, 64) {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some((index, job)) = claim(next, jobs) {
                    if sender.send((index, made(plan, job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Whoever stops early leaves nobody waiting to hand something over.
        let receiver = receiver;
        let mut waiting = std::collections::BTreeMap::new();
        let mut expected = 0;
        while let Ok((index, result)) = receiver.recv() {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&expected) {
                if !take(&jobs[expected], result)? {
                    return Ok(());
                }
                expected += 1;
            }
        }
        Ok(())
    })
}

fn claim<'a, 'b>(next: &AtomicUsize, jobs: &'a [Job<'b>]) -> Option<(usize, &'a Job<'b>)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}

/// The clips of one phrase by one voice.
fn made(plan: &SynthPlan, job: &Job<'_>) -> Made {
    job.rounds.iter().map(|round| clip(plan, job, *round)).collect()
}

fn clip(plan: &SynthPlan, job: &Job<'_>, round: u32) -> Result<(Clip, Audio), String> {
    let info = job.voice.info();
    let mut random = Random::named(plan.seed, &format!("{}\n{}\n{round}", info.spec, job.phrase.text));
    let speed = if round == 0 { 1.0 } else { random.range(f64::from(plan.speed.0), f64::from(plan.speed.1)) as f32 };
    let options = SpeakOptions { speed, seed: random.next(), ..SpeakOptions::default() };
    let dry = dry::speak(job.voice, job.phrase, plan, &options, &mut random)?;
    let (audio, trace) = if round == 0 {
        (settled(dry.audio), Trace::default())
    } else {
        apply_traced(&dry.audio, &plan.recipe, random.next())
    };
    let room = match trace.room_m {
        None => "dry",
        Some(distance) if distance < NEAR_M => "near",
        Some(_) => "far",
    };
    let alone = job.phrase.intent == "wake";
    let wake = if alone { plan.wake_word.as_ref().or(plan.wake.as_ref()) } else { plan.wake.as_ref() };
    let clip = Clip {
        file: name(plan, job.phrase, &info.spec, round),
        text: job.phrase.text.clone(),
        intent: job.phrase.intent.clone(),
        language: job.phrase.language.clone(),
        voice: info.spec.clone(),
        synthetic: true,
        day: format!("r{round}"),
        room: room.to_owned(),
        wake: if alone && wake.is_none() {
            Some(job.phrase.text.to_lowercase())
        } else {
            wake.map(|word| word.to_lowercase())
        },
        word_end_s: dry.word_end_s,
        speech_end_s: Some(dry.speech_end_s),
        snr_db: trace.snr_db.map(|db| (db * 100.0).round() / 100.0),
        ..Clip::default()
    };
    Ok((clip, audio))
}

/// The level of dry clips: engines differ by 15 dB.
fn settled(mut audio: Audio) -> Audio {
    if let Some((begin, end)) = tenpass_audio::voiced(&audio) {
        let level = Audio::new(audio.samples[begin..end].to_vec(), audio.rate).level_dbfs();
        let peak = audio.samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
        let gain = (10f64.powf((-23.0 - level) / 20.0) as f32).min(0.95 / peak);
        audio.samples.iter_mut().for_each(|x| *x *= gain);
    }
    audio
}

/// `en/turn-on-the-light.kokoro-af-bella.r0.1a2b3c4d.flac`
fn name(plan: &SynthPlan, phrase: &Phrase, voice: &str, round: u32) -> String {
    let hash = hashed(&[&plan.fingerprint(), &phrase.text, &phrase.intent, voice, &round.to_string()]);
    let form = if plan.flac { "flac" } else { "wav" };
    format!("{}/{}.{}.r{round}.{hash}.{form}", phrase.language, slug(&phrase.text), slug(voice))
}

#[cfg(test)]
mod tests;

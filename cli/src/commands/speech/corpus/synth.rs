//! `tenpass corpus synth`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tenpass_audio::Audio;
use tenpass_audio::augment::Augment;
use tenpass_corpus::{Corpus, SynthEvent, SynthPlan, SynthReport, SynthSize, add_noise, synth, synth_size};

use super::{opened, phrases, voices};
use crate::args::speech::corpus::Synth;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Clips of another corpus that are mixed under this one: more would only cost memory.
const MOST_BACKGROUNDS: usize = 400;
/// Failures that are told one by one.
const TOLD: usize = 5;
/// More new clips than this are seldom meant.
const MANY: usize = 50_000;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Synth) -> Result<Exit, Failure> {
    let phrases = phrases::phrases(&command.said)?;
    if phrases.is_empty() && command.noise == 0 {
        return Err(Failure::mistake("nothing is to be said")
            .hint("name --commands, --others, --phrases or --wake; or --noise N for silence and noise"));
    }
    if !(-30.0..=60.0).contains(&command.lowest_snr) {
        return Err(Failure::mistake(format!("--lowest-snr {}: -30 to 60 dB are possible", command.lowest_snr)));
    }
    let mut corpus = opened(&command.new, "synthetic speech", "as the voices' licences say")?;
    let plan = plan(command)?;
    if !phrases.is_empty() {
        // Voices of languages in which nothing is said would only be loaded.
        let languages: BTreeSet<&str> = phrases.iter().map(|phrase| phrase.language.as_str()).collect();
        let voices = voices::voices(context, &command.voice, command.variants, &languages)?;
        let size = synth_size(&corpus, &plan, &voices, &phrases);
        announce(context, command, &size, voices.len())?;
        let report = spoken(context, &mut corpus, &plan, &voices, &phrases)?;
        tell(context, &report);
    }
    if command.noise > 0 {
        let added =
            add_noise(&mut corpus, command.noise as usize, command.noise_seconds, plan.rate, plan.seed, plan.flac)?;
        context.printer.note(&format!("{added} clips of silence and noise"));
    }
    let summary = corpus.summary();
    context.printer.out(&format!(
        "{}: {} clips, {:.1} minutes, {} voices, hash {}",
        summary.folder, summary.clips, summary.minutes, summary.voices, summary.hash
    ));
    Ok(Exit::Yes)
}

/// Says what it will be, and refuses what nobody means.
fn announce(context: &Context, command: &Synth, size: &SynthSize, voices: usize) -> Result<(), Failure> {
    let new = size.clips - size.before;
    let length = match size.seconds {
        few if few < 120.0 => format!("{few:.0} s"),
        some if some < 5400.0 => format!("{:.0} minutes", some / 60.0),
        many => format!("{:.1} hours", many / 3600.0),
    };
    let bytes = match size.bytes {
        some if some < 1e9 => format!("{:.1} MB", some / 1e6),
        many => format!("{:.1} GB", many / 1e9),
    };
    let voices = if voices == 1 { "1 voice".to_owned() } else { format!("{voices} voices") };
    let about = format!("{new} clips by {voices}, about {length} and {bytes}");
    if new > MANY && !command.large {
        return Err(Failure::mistake(format!("{about}: that is more than {MANY} clips")).hint(
            "name voices (--voice), take fewer phrases (--usual, --most N), fewer voices each (--voices-per-phrase N) \
             or fewer --rounds; --large if it is meant",
        ));
    }
    let before = if size.before > 0 { format!("; {} are there already", size.before) } else { String::new() };
    context.printer.note(&format!("{about}{before}"));
    Ok(())
}

fn plan(command: &Synth) -> Result<SynthPlan, Failure> {
    let mut recipe = Augment::intelligible(command.lowest_snr);
    if let Some(folder) = &command.background {
        recipe.backgrounds = backgrounds(folder)?;
    }
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(SynthPlan {
        seed: command.seed,
        rounds: command.rounds,
        dry: !command.no_dry,
        recipe,
        wake: command.said.wake.clone().filter(|_| command.wake_first),
        wake_word: command.said.wake.clone(),
        voices_per_phrase: command.voices_per_phrase.map(|count| count as usize),
        flac: !command.wav,
        jobs: command.jobs.map_or_else(processors, |jobs| jobs as usize),
        ..SynthPlan::default()
    })
}

/// Clips of another corpus, evenly chosen, in the order of their names.
fn backgrounds(folder: &Path) -> Result<Vec<Arc<Audio>>, Failure> {
    let corpus = Corpus::open(folder)?;
    let mut clips: Vec<_> = corpus.clips().iter().filter(|clip| clip.wake.is_none()).collect();
    clips.sort_by(|a, b| a.file.cmp(&b.file));
    let count = clips.len().min(MOST_BACKGROUNDS);
    let chosen = (0..count).map(|index| clips[index * clips.len() / count]);
    chosen.map(|clip| Ok(Arc::new(corpus.load(clip)?))).collect()
}

fn spoken(
    context: &Context,
    corpus: &mut Corpus,
    plan: &SynthPlan,
    voices: &[Box<dyn tenpass_tts::Voice>],
    phrases: &[tenpass_corpus::Phrase],
) -> Result<SynthReport, Failure> {
    let progress = StageProgress::new(context.printer);
    let (mut total, mut done) = (0, 0);
    let report = synth(corpus, plan, voices, phrases, &mut |event| {
        match event {
            SynthEvent::Started { total: all, before } => (total, done) = (*all, *before),
            SynthEvent::Clip { .. } => done += 1,
            SynthEvent::Failed { .. } => {}
        }
        progress.tell("clips", done, total);
        true
    });
    progress.end();
    Ok(report?)
}

fn tell(context: &Context, report: &SynthReport) {
    let printer = context.printer;
    for (voice, text, why) in report.failed.iter().take(TOLD) {
        printer.note(&format!("warning: {voice} cannot say \"{text}\": {why}"));
    }
    if report.failed.len() > TOLD {
        printer.note(&format!("warning: {} more could not be said", report.failed.len() - TOLD));
    }
    if !report.voiceless.is_empty() {
        printer.note(&format!("warning: {} phrases have no voice of their language", report.voiceless.len()));
    }
    printer.note(&format!("{} clips written, {} were there", report.written, report.before));
}

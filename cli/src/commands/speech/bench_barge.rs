//! `tenpass bench barge`.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use tenpass_audio::{Audio, SPEECH_RATE};
use tenpass_corpus::Corpus;
use tenpass_listening::barge::{BargeBench, BargePass, BargePlan, BargeSounds, BargeSummary, summarise_barge};
use tenpass_listening::store::{CorpusRecord, EngineRecord, SpeechRun};
use tenpass_tts::{SpeakOptions, Voice, chunks, spoken};
use tenpass_wake::Vad;

use super::super::table::table;
use super::assets::asset;
use super::bench_stt::on_interrupt;
use super::bench_turn::{absolute, open_voice, voice_failure};
use super::provenance::provenance;
use super::resume;
use crate::args::speech::bench_barge::BenchBarge;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// The bench's name in manifests.
const BENCH: &str = "barge";

const CORPUS: &str = "corpora/small";

/// What is narrated where nothing else is named.
const NARRATION: &str = "\
The harbour lies in the shade of the hill until nine. Then the sun comes over the ridge, the boats turn from grey to \
blue, and the men who have waited on the wall go down to the water. Nobody hurries. There are three cranes, two of \
which have not moved since spring, and a café with eleven chairs. \
By noon the wind has turned. It comes from the land now, warm, with dust in it, and the flags over the customs house \
point out to sea. A ship with timber is expected, but ships are always expected here; when one arrives, it is \
another. The post comes at four, and with it the newspapers of yesterday. \
In the evening the lamps are lit one after the other, from the church down to the pier. Someone counts them every \
night and writes the number in a book. There should be forty-two. Last winter there were forty for a month, and \
nobody could say which ones were missing.";

/// Largest text.
const MOST_TEXT: u64 = 1 << 20;

/// Arguments with everything filled in: kept in the manifest, read again to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    corpus: PathBuf,
    voice: Option<String>,
    text: String,
    room: BargePlan,
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &BenchBarge) -> Result<Exit, Failure> {
    let stored = command.resume.as_ref().map(|query| SpeechRun::find(&context.runs(), BENCH, query)).transpose()?;
    let mut plan = match &stored {
        Some(run) => resume::plan(run)?,
        None => planned(context, command)?,
    };
    let corpus = Corpus::open(&plan.corpus)?;
    let voice = open_voice(context, plan.voice.as_deref(), "en")?;
    plan.voice = Some(voice.info().spec.clone());
    let mut vad = Vad::load(&asset(context, "silero-vad")?)?;
    let sounds = sounds(&plan.text, &corpus, voice.as_ref())?;
    let clips = sounds.speech.len() as u64;
    let record = CorpusRecord { name: corpus.manifest().name.clone(), digest: corpus.hash(), clips };
    let engines = vec![EngineRecord { spec: voice.info().spec.clone(), digest: String::new() }];
    let bench = BargeBench::new(plan.room.clone(), sounds).map_err(|error| {
        let hint = error.hint();
        Failure::mistake(&error).hint(hint)
    })?;
    let run = match stored {
        Some(run) => {
            resume::same(&run, &engines, &record)?;
            run
        }
        None => SpeechRun::create(&context.runs(), BENCH, |manifest| {
            let typed = serde_json::json!({ "corpus": command.corpus, "voice": command.voice, "text": command.text });
            manifest.provenance = provenance(context, &typed);
            manifest.engines = engines;
            manifest.corpora = vec![record];
            manifest.seed = plan.room.seed;
            manifest.details = serde_json::json!({ "plan": plan, "calibration": bench.calibration() });
        })?,
    };
    context.printer.note(&format!("run {}", run.manifest().id));
    let whole = measure(context, &plan.room, &bench, &mut vad, &run)?;
    show(context, command, &bench, &run.passes::<BargePass>()?)?;
    if !whole {
        let id = &run.manifest().id;
        context.printer.note(&format!("stopped; what is finished is kept: tenpass bench barge --resume {id}"));
        return Ok(Exit::Interrupted);
    }
    context.printer.note(&format!("kept in {}", run.folder().display()));
    Ok(Exit::Yes)
}

fn planned(context: &Context, command: &BenchBarge) -> Result<Plan, Failure> {
    let text = match &command.text {
        Some(path) => {
            let size = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?.len();
            if size > MOST_TEXT {
                return Err(Failure::mistake(format!("{}: {size} bytes are too many to narrate", path.display())));
            }
            std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?
        }
        None => NARRATION.to_owned(),
    };
    let room = BargePlan {
        seed: command.seed,
        hours: command.hours.clamp(0.0, 1000.0),
        snrs_db: command.snr.clone(),
        trials: command.trials,
        echo_db: command.echo_db,
        delay_ms: command.delay_ms.clamp(0.0, 480.0),
        noise_dbfs: command.noise_db,
    };
    let corpus = absolute(&context.in_project(command.corpus.as_deref(), CORPUS)?)?;
    Ok(Plan { corpus, voice: command.voice.clone(), text, room })
}

/// Plays what is not done; each pass is written before the next begins. False when Ctrl-C came.
fn measure(
    context: &Context,
    plan: &BargePlan,
    bench: &BargeBench,
    vad: &mut Vad,
    run: &SpeechRun,
) -> Result<bool, Failure> {
    let stop = on_interrupt()?;
    let (mut writer, done) = (run.writer()?, run.done::<BargePass>()?);
    let quiet = (0..bench.quiet_passes()).map(|index| (None, index));
    let trials = plan.snrs_db.iter().flat_map(|snr_db| (0..plan.trials).map(move |index| (Some(*snr_db), index)));
    let all: Vec<(Option<f64>, u32)> = quiet.chain(trials).collect();
    let progress = StageProgress::new(context.printer);
    for (count, (snr_db, index)) in all.iter().enumerate() {
        if done.contains(&BargePass::key_of(*snr_db, *index)) {
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            progress.end();
            return Ok(false);
        }
        writer.append(&match snr_db {
            None => bench.quiet(*index, vad),
            Some(snr_db) => bench.trial(*snr_db, *index, vad),
        })?;
        progress.tell("played", count + 1, all.len());
    }
    progress.end();
    Ok(true)
}

fn show(context: &Context, command: &BenchBarge, bench: &BargeBench, passes: &[BargePass]) -> Result<(), Failure> {
    let (summary, calibration) = (summarise_barge(passes), bench.calibration());
    if command.format.json() {
        return context.printer.json(&serde_json::json!({
            "summary": summary, "calibration": calibration, "passes": passes,
        }));
    }
    context.printer.out(&format!(
        "calibration: G {:.1} dB, θ {:.1} dB, delay {} ms, room {:.0} dB\n{}",
        calibration.gain_db,
        calibration.threshold_db,
        calibration.delay_frames * 20,
        calibration.noise_db,
        text(&summary)
    ));
    Ok(())
}

/// The narration, spoken anew, and the corpus's speech.
fn sounds(text: &str, corpus: &Corpus, voice: &dyn Voice) -> Result<BargeSounds, Failure> {
    let mut narration = Vec::new();
    for chunk in chunks(&spoken(text, "en")) {
        let sound = voice.speak(&chunk, &SpeakOptions::default()).map_err(voice_failure)?;
        narration.extend(sound.at_rate(SPEECH_RATE).samples);
        narration.extend(std::iter::repeat_n(0.0, SPEECH_RATE as usize / 5));
    }
    let peak = narration.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
    if peak <= 0.0 {
        return Err(Failure::mistake("there is nothing to narrate"));
    }
    for sample in &mut narration {
        *sample *= 0.5 / peak;
    }
    let speech: Vec<Audio> = corpus
        .clips()
        .iter()
        .filter(|clip| !clip.text.is_empty())
        .map(|clip| Ok(corpus.load(clip)?.at_rate(SPEECH_RATE)))
        .collect::<Result<_, Failure>>()?;
    if speech.is_empty() {
        return Err(Failure::mistake(format!("{}: nothing is said in it", corpus.folder().display())));
    }
    Ok(BargeSounds { narration, speech })
}

fn text(summary: &BargeSummary) -> String {
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0}"));
    let rows: Vec<Vec<String>> = summary
        .levels
        .iter()
        .map(|row| {
            vec![
                format!("{:+.0}", row.snr_db),
                row.trials.to_string(),
                row.missed.to_string(),
                format!("{:.0} ({:.0}-{:.0})", 100.0 * row.miss_rate, 100.0 * row.miss_low, 100.0 * row.miss_high),
                ms(row.duck_p50_ms),
                ms(row.stop_p50_ms),
                ms(row.stop_p95_ms),
            ]
        })
        .collect();
    let header = ["SNR dB", "trials", "missed", "missed %", "duck p50 ms", "stop p50 ms", "stop p95 ms"];
    format!(
        "false stops: {} in {:.2} h of playback, {:.1} an hour ({:.1}-{:.1}); ducks {:.1} an hour\n\n{}",
        summary.false_stops,
        summary.playback_h,
        summary.stops_per_h,
        summary.stops_low_per_h,
        summary.stops_high_per_h,
        summary.ducks_per_h,
        table(&header, &rows, &[0, 1, 2, 3, 4, 5, 6])
    )
}

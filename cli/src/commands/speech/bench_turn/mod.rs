//! `tenpass bench turn`.

mod engines;
mod plan;
mod responder;
mod show;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tenpass_corpus::Corpus;
use tenpass_listening::store::{CorpusRecord, EngineRecord, SpeechRun};
use tenpass_listening::turn::{ClockKind, TurnBench, TurnClip, TurnPass, summarise_turns, turn_clip};
use tenpass_speech::commands::Commands;
use tenpass_speech::drive::{Components, EngineEars, EngineMouth, Timed};
use tenpass_speech::turn::{Route, TurnOptions};
use tenpass_stt::{Decoding, Enough, SttSpec};
use tenpass_tts::SpeakOptions;
use tenpass_wake::Vad;

use super::assets::asset;
use super::bench_stt::on_interrupt;
use super::provenance::provenance;
use super::{resume, transcribe};
use crate::args::speech::bench_turn::BenchTurn;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;
pub(super) use engines::{open_voice, voice_failure};
use plan::Plan;
pub(super) use plan::absolute;

/// The bench's name in manifests.
const BENCH: &str = "turn";

/// Everything that is measured, opened.
struct Session {
    bench: TurnBench,
    corpus: Corpus,
    engines: Vec<EngineRecord>,
    vad: std::path::PathBuf,
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &BenchTurn) -> Result<Exit, Failure> {
    let stored = command.resume.as_ref().map(|query| SpeechRun::find(&context.runs(), BENCH, query)).transpose()?;
    let mut plan = match &stored {
        Some(run) => resume::plan(run)?,
        None => Plan::new(context, command)?,
    };
    let session = open(context, &mut plan)?;
    let clips = plan.clips(&session.corpus)?;
    let record = CorpusRecord {
        name: session.corpus.manifest().name.clone(),
        digest: session.corpus.hash(),
        clips: clips.len() as u64,
    };
    let run = match stored {
        Some(run) => {
            resume::same(&run, &session.engines, &record)?;
            run
        }
        None => SpeechRun::create(&context.runs(), BENCH, |manifest| {
            manifest.provenance = provenance(context, &command.typed());
            manifest.engines.clone_from(&session.engines);
            manifest.corpora = vec![record];
            manifest.seed = plan.seed;
            manifest.details = serde_json::json!({ "plan": plan });
        })?,
    };
    context.printer.note(&format!("run {}: {} clips, {} passes each", run.manifest().id, clips.len(), plan.passes));
    let clips: Vec<TurnClip> = clips
        .into_iter()
        .map(|clip| Ok(turn_clip(&clip.file, session.corpus.load(clip)?, clip)))
        .collect::<Result<_, Failure>>()?;
    let whole = measure(context, &plan, &session, &clips, &run)?;
    let passes: Vec<TurnPass> = run.passes()?;
    show::show(context, command.format.format, &summarise_turns(&passes, plan.gpu, plan.seed), &passes)?;
    if !whole {
        let id = &run.manifest().id;
        context.printer.note(&format!("stopped; what is finished is kept: tenpass bench turn --resume {id}"));
        return Ok(Exit::Interrupted);
    }
    context.printer.note(&format!("kept in {}", run.folder().display()));
    Ok(Exit::Yes)
}

/// Opens corpus, engines and voice; the voice that was found is noted in the plan.
fn open(context: &Context, plan: &mut Plan) -> Result<Session, Failure> {
    let spec = SttSpec::parse(&plan.engine).map_err(transcribe::failure)?;
    let corpus = Corpus::open(&plan.corpus)?;
    let commands = Arc::new(Commands::load(&plan.commands)?);
    let vad = asset(context, "silero-vad")?;
    Vad::load(&vad)?;
    let engine = transcribe::open_engine(context, &spec, true)?;
    let engine_record = EngineRecord { spec: engine.info().spec.clone(), digest: engine.info().digest.clone() };
    let decoding = Decoding {
        language: Some(plan.language.clone()),
        threads: plan.threads.map_or(0, usize::from),
        enough: Some(enough(&commands, &plan.language)),
        ..Decoding::default()
    };
    let ears = EngineEars::new(engine, decoding);
    ears.warm().map_err(Failure::backend)?;
    let voice = open_voice(context, plan.voice.as_deref(), &plan.language)?;
    let voice_record = EngineRecord { spec: voice.info().spec.clone(), digest: String::new() };
    plan.voice = Some(voice_record.spec.clone());
    let bench = TurnBench {
        components: Components {
            ears: Arc::new(ears),
            mouth: Arc::new(mouth(voice, &plan.language)?),
            router: Arc::new(router(commands, plan.language.clone())),
            responder: responder::responder(context, plan)?,
        },
        turn: TurnOptions::default(),
        device_latency_us: plan.device_ms.saturating_mul(1000),
        clock: if plan.real_time { ClockKind::RealTime } else { ClockKind::Virtual },
    };
    Ok(Session { bench, corpus, engines: vec![engine_record, voice_record], vad })
}

/// Plays every clip as often as was asked for and is not done; each turn is written before the next begins. False when
/// Ctrl-C came.
fn measure(
    context: &Context,
    plan: &Plan,
    session: &Session,
    clips: &[TurnClip],
    run: &SpeechRun,
) -> Result<bool, Failure> {
    let stop = on_interrupt()?;
    let (mut writer, done) = (run.writer()?, run.done::<TurnPass>()?);
    let turns: Vec<(&TurnClip, u32)> =
        (1..=plan.passes).flat_map(|pass| clips.iter().map(move |clip| (clip, pass))).collect();
    let progress = StageProgress::new(context.printer);
    for (count, (clip, pass)) in turns.iter().enumerate() {
        if done.contains(&TurnPass::key_of(&clip.name, *pass)) {
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            progress.end();
            return Ok(false);
        }
        let found = session.bench.pass(clip, *pass, Box::new(Vad::load(&session.vad)?));
        for fault in &found.faults {
            context.printer.note(&format!("warning: {}: {fault}", clip.name));
        }
        writer.append(&found)?;
        progress.tell("turns", count + 1, turns.len());
    }
    progress.end();
    Ok(true)
}

/// What is said back when a command was carried out.
fn done(language: &str) -> &'static str {
    if language.starts_with("fr") { "C'est fait." } else { "Done." }
}

/// A closed command needs no second hearing, however improbable the words are by themselves: one word alone often is.
fn enough(commands: &Arc<Commands>, language: &str) -> Enough {
    let (commands, language) = (commands.clone(), language.to_owned());
    Enough::new(move |text| commands.dispatch_heard(text, &language).id().is_some())
}

/// Closed commands first, with the wake word or, since the turn began with it, without.
fn router(commands: Arc<Commands>, language: String) -> impl Fn(&str) -> Timed<Route> + Send + Sync {
    move |text| {
        let found = commands.dispatch_heard(text, &language);
        let route = match found.id() {
            Some(id) => Route::Command { id: id.to_owned(), reply: Some(done(&language).to_owned()) },
            None => Route::Loop,
        };
        route.into()
    }
}

/// The voice, with the answer of commands spoken beforehand.
fn mouth(voice: Box<dyn tenpass_tts::Voice>, language: &str) -> Result<EngineMouth, Failure> {
    let own = language.to_owned();
    let mouth = EngineMouth::new(voice, SpeakOptions::default(), move |text| tenpass_tts::spoken(text, &own));
    mouth.know(done(language)).map_err(Failure::backend)?;
    Ok(mouth)
}

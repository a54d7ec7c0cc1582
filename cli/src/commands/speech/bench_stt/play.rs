//! Transcribing, with progress, until it is done or Ctrl-C comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenpass_listening::stt::{Event, Plan, Stopped, run};
use tenpass_stt::Transcriber;

use super::setup::Session;
use crate::context::Context;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Runs what is missing.
pub(super) fn play(context: &Context, threads: usize, session: &Session) -> Result<Stopped, Failure> {
    let stop = on_interrupt()?;
    let stored = &session.stored;
    let plan = Plan {
        corpus: &session.corpus,
        clips: &stored.clips,
        arms: &stored.arms,
        prompts: &stored.prompts,
        commands: &stored.commands,
        passes: stored.passes,
        threads,
        stop: &stop,
    };
    let printer = context.printer;
    let progress = StageProgress::new(printer);
    let (mut all, mut finished) = (0, 0);
    printer.note(&format!(
        "run {}: {} clips of {}, {} arms",
        stored.run.manifest().id,
        stored.clips.len(),
        session.corpus.manifest().name,
        stored.arms.len()
    ));
    let mut load = |spec: &str| -> Result<&dyn Transcriber, Failure> {
        let engine = session.engines.get(spec).ok_or_else(|| Failure::bug(format!("{spec} was not loaded")))?;
        Ok(engine.as_ref())
    };
    let mut failures = 0;
    let ended = run(&plan, &stored.run, &mut load, &mut |event| match event {
        Event::Total { total, done } => (all, finished) = (total, done),
        Event::Loading(_) => {}
        Event::Done(pass) => {
            if let Some(error) = &pass.error {
                failures += 1;
                printer.note(&format!("warning: {}, {}: {error}", pass.arm, pass.clip));
            }
            finished += 1;
            let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            progress.tell("transcribed", count(finished), count(all));
        }
    });
    progress.end();
    if failures > 0 {
        printer.note(&format!("{failures} transcriptions are INVALID and scored nowhere; --resume tries them again"));
    }
    ended
}

/// Set by the first Ctrl-C: the transcription at hand is finished, then the run ends.
pub(in crate::commands::speech) fn on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::bug(format!("cannot start the runtime: {error}")))?;
    std::thread::spawn(move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            seen.store(true, Ordering::Relaxed);
        }
    });
    Ok(stop)
}

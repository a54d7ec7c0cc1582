//! `tenpass bench stt`.

mod play;
mod setup;
mod show;

use std::collections::BTreeMap;

use tenpass_listening::store::{SpeechRun, StoreError};
use tenpass_listening::stt::{Kind, Outcome, PromptError, RunError, Stopped, SttPass, score};
use tenpass_stats::Tally;

use super::transcribe::failure;
use crate::args::speech::bench_stt::BenchStt;
use crate::commands::nightly::speech::Counted;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
pub(super) use play::on_interrupt;

/// The bench's name in manifests.
const BENCH: &str = "stt";

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &BenchStt) -> Result<Exit, Failure> {
    if let Some(query) = &command.show {
        let stored = setup::stored(context, query)?;
        return show::print(context, command, &stored);
    }
    let session = match &command.resume {
        Some(query) => setup::resumed(context, query)?,
        None => setup::fresh(context, command)?,
    };
    let stopped = play::play(context, command.threads, &session)?;
    if stopped == Stopped::Early {
        let id = &session.stored.run.manifest().id;
        context.printer.note(&format!("stopped; what is finished is kept: tenpass bench stt --resume {id}"));
    }
    let exit = show::print(context, command, &session.stored)?;
    Ok(if stopped == Stopped::Early { Exit::Interrupted } else { exit })
}

/// Command clips that the first arm of a run understood.
pub(in crate::commands) fn understood(context: &Context, run: &SpeechRun) -> Result<Counted, Failure> {
    let stored = setup::stored(context, &run.manifest().id)?;
    let passes: Vec<SttPass> = stored.run.passes()?;
    let scored = score(&stored.arms, &stored.clips, &passes, &stored.prompts, &stored.commands);
    let mut cases: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut invalid, mut wrong) = (0, 0);
    for one in scored.iter().filter(|one| one.arm == 0) {
        match one.kind {
            _ if one.pass.error.is_some() => invalid += 1,
            Kind::Command => {
                cases.entry(one.clip.file.clone()).or_default().record(one.outcome == Outcome::Understood);
            }
            Kind::Speech | Kind::Nothing => wrong += usize::from(one.outcome == Outcome::FalseCommand),
        }
    }
    let others = scored.iter().filter(|one| one.arm == 0 && one.kind == Kind::Speech).count();
    Ok(Counted { cases, invalid, notes: vec![format!("{wrong} of {others} other sentences were taken for a command")] })
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<PromptError> for Failure {
    fn from(error: PromptError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Engine(error) => failure(error),
            RunError::Corpus(error) => error.into(),
            RunError::Store(error) => error.into(),
            error => Self::mistake(error),
        }
    }
}

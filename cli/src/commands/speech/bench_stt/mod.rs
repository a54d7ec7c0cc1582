//! `tenpass bench stt`.

mod play;
mod setup;
mod show;

use tenpass_listening::store::StoreError;
use tenpass_listening::stt::{PromptError, RunError, Stopped};

use super::transcribe::failure;
use crate::args::speech::bench_stt::BenchStt;
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

//! `tenpass wake`.

mod listen;
mod score;
mod setup;

use crate::args::speech::train::Source;
use crate::args::speech::wake::Wake;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Wake) -> Result<Exit, Failure> {
    match command {
        Wake::Listen(command) => listen::run(context, command),
        Wake::Score(command) => score::run(context, command),
        Wake::Ablate(command) if command.ablate.is_empty() => {
            let mut both = command.clone();
            both.ablate = vec![Source::User, Source::Synthetic];
            super::bench_wake::run(context, &both)
        }
        Wake::Bench(command) | Wake::Ablate(command) => super::bench_wake::run(context, command),
    }
}

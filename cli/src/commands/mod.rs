//! One module a command group; each turns arguments into one call and prints what came of it.

mod assistant_setup;
mod bench;
mod bless;
mod calls;
mod cases;
mod cases_exchange;
mod chat;
mod claims;
mod compare;
mod config;
mod confirm;
mod exchange;
mod generate;
mod journal;
mod memory;
mod models;
mod nightly;
mod nightly_jobs;
mod probe;
mod prompt;
mod query;
mod report;
mod runs;
mod runs_gc;
mod runs_list;
mod runs_merge;
mod serve;
mod speech;
mod stats;
mod table;
mod trace;

use std::future::Future;
use std::sync::Arc;

use crate::args::bench::Benches;
use crate::args::{Arguments, Command};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out what was typed.
pub(crate) fn run(mut arguments: Arguments, printer: Printer) -> Result<Exit, Failure> {
    // Commands that need neither folders nor settings must work with a broken configuration.
    let command = std::mem::replace(&mut arguments.command, Command::Config(crate::args::tools::Config::Default));
    match command {
        Command::Completions { shell } => return Ok(generate::completions(shell, printer)),
        Command::Man { dir } => return generate::man(&dir, printer),
        Command::Generate { page } => return Ok(generate::page(page, printer)),
        Command::Calls(command) => return calls::run(&command, printer),
        Command::Stats(command) => return stats::run(&command, printer),
        Command::Config(crate::args::tools::Config::Default) => return Ok(config::default(printer)),
        _ => {}
    }
    let flags = if let Command::Bench(Benches::Model(command)) = &command { bench::flags(command) } else { Vec::new() };
    let context = Context::new(&arguments, printer, &flags)?;
    match command {
        Command::Bench(Benches::Stt(command)) => speech::bench_stt::run(&context, &command),
        Command::Bench(Benches::Wake(command)) => speech::bench_wake::run(&context, &command),
        Command::Bench(Benches::Turn(command)) => speech::bench_turn::run(&context, &command),
        Command::Bench(Benches::Barge(command)) => speech::bench_barge::run(&context, &command),
        Command::Bench(Benches::Model(command)) => asynchronous(bench::run(&context, command))?,
        Command::Chat(chat) => asynchronous(chat::run(Arc::new(context), *chat))?,
        Command::Serve(command) => asynchronous(serve::run(Arc::new(context), *command))?,
        Command::Trace(command) => trace::run(&context, &command),
        Command::Journal(command) => journal::run(&context, &command),
        Command::Memory(command) => memory::run(&context, &command),
        Command::Claims(command) => claims::run(&context, &command),
        Command::Compare(command) => compare::run(&context, &command),
        Command::Confirm(command) => asynchronous(confirm::run(&context, *command))?,
        Command::Nightly(command) => asynchronous(nightly::run(&context, *command))?,
        Command::Report(command) => report::run(&context, &command),
        Command::Query(command) => asynchronous(query::run(&context, command))?,
        Command::Cases(command) => cases::run(&context, &command),
        Command::Runs(command) => runs::run(&context, &command),
        Command::Models(command) => models::run(&context, &command),
        Command::Prompt(command) => asynchronous(prompt::run(&context, &command))?,
        Command::Transcribe(command) => speech::transcribe::run(&context, &command),
        Command::Say(command) => speech::say::run(&context, &command),
        Command::Corpus(command) => speech::corpus::run(&context, &command),
        Command::Commands(command) => speech::commands::run(&context, &command),
        Command::Wake(command) => speech::wake::run(&context, &command),
        Command::Train(command) => speech::train::run(&context, &command),
        Command::Shadow(command) => speech::shadow::run(&context, &command),
        Command::Promote(command) => speech::promote::run(&context, &command),
        Command::Blind(command) => speech::blind::run(&context, &command),
        Command::Config(command) => config::run(&context, &command),
        Command::Completions { .. }
        | Command::Man { .. }
        | Command::Generate { .. }
        | Command::Calls(_)
        | Command::Stats(_) => Ok(Exit::Yes),
    }
}

/// Runs asynchronous work to its end.
fn asynchronous<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::bug(format!("cannot start the runtime: {error}")))?;
    let result = runtime.block_on(work);
    // Work that a Ctrl-C left behind (a model still loading) must not hold the process.
    runtime.shutdown_background();
    Ok(result)
}

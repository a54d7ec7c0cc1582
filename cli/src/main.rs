//! `tenpass`: what was typed becomes resolved settings, then one call, then output.
//!
//! `args` holds what can be typed, `context` what it resolves to, `commands` one call each, and
//! `printer` is the only place that writes to the terminal. Exit codes: [`exit::Exit`].

mod args;
mod backend;
mod commands;
mod context;
mod exit;
mod failure;
mod printer;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Arguments;
use crate::printer::Printer;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap prints help to stdout and mistakes to stderr; its own code for a mistake is 2.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                // `| head` has seen enough.
                Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(code),
                Err(_) => ExitCode::from(exit::Exit::Mistake as u8),
            };
        }
    };
    let printer = Printer::new(arguments.color);
    match commands::run(arguments, printer) {
        Ok(exit::Exit::Yes) if printer::output_was_lost() => ExitCode::from(exit::Exit::Mistake as u8),
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

//! `tenpass trace …`: what the agent did, from the journal of what happened. Reading takes no lock:
//! it works while a chat writes.

mod list;
mod show;
mod stats;

use jiff::Timestamp;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::TraceRecord;
use tenpass_trace::journal::{Entry, records};

pub(crate) use show::turn_text;

use super::journal;
use crate::args::agent::Trace;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Trace) -> Result<Exit, Failure> {
    let folder = AgentFolder::new(context.agent_folder());
    match command {
        Trace::Verify { format } => journal::verify(context, format.json()),
        Trace::List { limit, thread, format } => {
            list::run(context.printer, &folder, *limit, thread.as_deref(), format.format)
        }
        Trace::Show { turn, format } => show::run(context.printer, &folder, turn, format.json()),
        Trace::Stats { days, format } => stats::run(context.printer, &folder, *days, format.format),
    }
}

/// The first eight characters of an id: what people type.
pub(crate) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// An instant in the time of this place.
fn local(at: Timestamp, format: &str) -> String {
    at.to_zoned(jiff::tz::TimeZone::system()).strftime(format).to_string()
}

/// Goes over every record, in order. Lines that cannot be read are passed over and counted.
fn each_record(folder: &AgentFolder, mut with: impl FnMut(&Entry<TraceRecord>)) -> Result<usize, Failure> {
    let mut unreadable = 0;
    for entry in records::<TraceRecord>(&folder.trace())? {
        match entry {
            Ok(entry) => with(&entry),
            Err(_) => unreadable += 1,
        }
    }
    Ok(unreadable)
}

/// Says that lines were passed over.
fn warn(printer: crate::printer::Printer, unreadable: usize) {
    if unreadable > 0 {
        printer.note(&format!("warning: {unreadable} lines cannot be read; `tenpass trace verify` says which"));
    }
}

/// What is said where nothing was recorded.
fn nothing_yet(folder: &AgentFolder) -> String {
    format!("nothing was recorded yet in {}; `tenpass chat` begins it", folder.path().display())
}

#[cfg(test)]
mod tests;

//! `tenpass config …`.

use serde::Serialize;
use tenpass_frame::Kind;

use super::table::{Columns, export, table};
use crate::args::Format;
use crate::args::tools::Config;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Config) -> Result<Exit, Failure> {
    match command {
        Config::Default => Ok(default(context.printer)),
        Config::Show { format } => {
            match format.format {
                Format::Table => context.printer.out(&text(context)),
                Format::Json => context.printer.json(&context.resolved.entries())?,
                format => export(context.printer, format, LISTED, &rows(context))?,
            }
            Ok(Exit::Yes)
        }
    }
}

/// A setting, as CSV and Parquet list it.
#[derive(Serialize)]
struct Setting<'a> {
    key: &'a str,
    value: &'a str,
    from: String,
}

const LISTED: &Columns = &[("key", Kind::Text), ("value", Kind::Text), ("from", Kind::Text)];

fn rows(context: &Context) -> Vec<Setting<'_>> {
    let entries = context.resolved.entries().iter();
    entries.map(|entry| Setting { key: entry.key, value: &entry.value, from: entry.origin.to_string() }).collect()
}

fn text(context: &Context) -> String {
    let entries = context.resolved.entries().iter();
    let rows: Vec<Vec<String>> =
        entries.map(|entry| vec![entry.key.to_owned(), entry.value.clone(), entry.origin.to_string()]).collect();
    let folders = [("models", &context.home.models), ("runs", &context.runs()), ("user file", &context.home.user_file)];
    let folders: Vec<Vec<String>> =
        folders.iter().map(|(what, path)| vec![(*what).to_owned(), path.display().to_string()]).collect();
    format!("{}\n{}", table(&["setting", "value", "from"], &rows, &[]), table(&["folder", "path"], &folders, &[]))
}

/// Prints the commented default configuration.
pub(crate) fn default(printer: Printer) -> Exit {
    printer.out(tenpass_config::DEFAULT_FILE);
    Exit::Yes
}

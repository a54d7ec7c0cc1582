//! `tenpass config …`.

use super::table::table;
use crate::args::tools::Config;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Config) -> Result<Exit, Failure> {
    match command {
        Config::Default => Ok(default(context.printer)),
        Config::Show { format } if format.json() => {
            context.printer.json(&context.resolved.entries())?;
            Ok(Exit::Yes)
        }
        Config::Show { .. } => {
            let rows: Vec<Vec<String>> = context
                .resolved
                .entries()
                .iter()
                .map(|entry| vec![entry.key.to_owned(), entry.value.clone(), entry.origin.to_string()])
                .collect();
            let folders =
                [("models", &context.home.models), ("runs", &context.runs()), ("user file", &context.home.user_file)];
            let folders: Vec<Vec<String>> =
                folders.iter().map(|(what, path)| vec![(*what).to_owned(), path.display().to_string()]).collect();
            context.printer.out(&format!(
                "{}\n{}",
                table(&["setting", "value", "from"], &rows, &[]),
                table(&["folder", "path"], &folders, &[])
            ));
            Ok(Exit::Yes)
        }
    }
}

/// Prints the commented default configuration.
pub(crate) fn default(printer: Printer) -> Exit {
    printer.out(tenpass_config::DEFAULT_FILE);
    Exit::Yes
}

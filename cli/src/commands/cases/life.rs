//! What `cases add` and `cases harvest` share: where a turn comes from, what is hidden, how faults are told.

use std::fs::File;
use std::io::Read;

use jiff::tz::TimeZone;
use tenpass_bench::life::{DraftOptions, LifeError};
use tenpass_bench::rounds::definitions;
use tenpass_tools::assistant::AgentFolder;

use crate::context::Context;
use crate::failure::Failure;

/// The largest memory file that is looked through for names.
const LARGEST_MEMORY: u64 = 4 * 1024 * 1024;

/// The agent's folder.
pub(super) fn folder(context: &Context) -> AgentFolder {
    AgentFolder::new(context.agent_folder())
}

/// What every draft needs: tools, memory, words to hide.
pub(super) fn options(context: &Context, hide: &[String]) -> DraftOptions {
    let folder = folder(context);
    let home = std::env::home_dir();
    DraftOptions {
        registry: definitions(),
        memory: memory(context, &folder),
        hide: hide.to_vec(),
        user: home.and_then(|home| Some(home.file_name()?.to_string_lossy().into_owned())),
        zone: TimeZone::system(),
        placeholders: folder.path().to_owned(),
    }
}

/// Portrait and memory; a file that cannot be read names nobody.
fn memory(context: &Context, folder: &AgentFolder) -> String {
    let path = context.resolved.settings.memory_file.clone().unwrap_or_else(|| folder.memory());
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(LARGEST_MEMORY).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            context.printer.note(&format!("warning: the memory cannot be read, so its names are not known: {error}"));
            String::new()
        }
    }
}

/// The failure; of several faults in files all but the last are printed.
pub(super) fn failed(context: &Context, error: LifeError) -> Failure {
    let hint = error.hint();
    match error {
        LifeError::Cases(mut errors) => {
            let last = errors.pop();
            for error in &errors {
                context.printer.note(&format!("error: {error}"));
            }
            last.map_or_else(|| Failure::bug("a fault without a name"), |last| Failure::mistake(&last).hint(hint))
        }
        other => Failure::mistake(&other).hint(hint),
    }
}

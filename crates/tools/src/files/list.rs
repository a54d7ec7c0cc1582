//! `list_directory`.

use std::sync::Arc;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{Tier, ToolCategory, ToolDefinition};

use super::define::{Definition, flag, integer, number_with_commas, shown_bytes, shown_time, string};
use super::sandbox::{Item, ItemKind, Listing, Sandbox};
use super::sensitive::sensitive;

/// Most entries of one answer.
const MOST_SHOWN: usize = 200;

/// Lists a folder of the sandbox.
#[derive(Debug)]
pub struct ListDirectory {
    sandbox: Arc<Sandbox>,
    definition: ToolDefinition,
}

impl ListDirectory {
    /// The tool over a sandbox.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        let definition = Definition::new("list_directory", "Lists the files of a folder.", ToolCategory::PcRead)
            .reads()
            .keywords(&["folder", "dossier", "répertoire", "fichiers", "files", "liste", "list", "lister"])
            .required("directory", json!({ "type": "string", "description": "Relative to the working folder; a dot is the folder itself." }))
            .optional("hidden", json!({ "type": "boolean", "description": "Show hidden files too." }))
            .optional("offset", json!({ "type": "integer", "minimum": 1, "description": "First entry to show." }))
            .build();
        Self { sandbox, definition }
    }
}

impl Tool for ListDirectory {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note { serves: "shows what is in the user's folders", status: NoteStatus::SeenWorking, limit: "" }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        inspect_read(&self.sandbox, folder(arguments))
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (sandbox, path, now) = (Arc::clone(&self.sandbox), folder(arguments).to_owned(), context.now.clone());
        let (hidden, first) = (flag(arguments, "hidden"), integer(arguments, "offset").unwrap_or(1).max(1) as usize);
        blocking(move || match sandbox.list(&path, hidden) {
            Ok((located, listing)) => {
                let text = written(&sandbox, &located.path, &listing, first, &now);
                ToolOutput::ok(text).untrusted(format!("file names of {}", located.path))
            }
            Err(error) => failed(&error),
        })
    }
}

/// An empty folder means the working folder.
fn folder(arguments: &Map<String, Value>) -> &str {
    match string(arguments, "directory") {
        "" | "/" => ".",
        folder => folder,
    }
}

fn written(sandbox: &Sandbox, path: &str, listing: &Listing, first: usize, now: &Zoned) -> String {
    let total = listing.items.len();
    let mut entries = String::new();
    let mut last = first - 1;
    for item in listing.items.iter().skip(first - 1).take(MOST_SHOWN) {
        let line = entry(item, now);
        if entries.chars().count() + line.chars().count() > sandbox.options().read_cap {
            break;
        }
        entries.push_str(&line);
        last += 1;
    }
    let place = if path == "." { "The working folder".to_owned() } else { format!("The folder {path:?}") };
    let mut text = match total {
        0 => format!("{place} is empty"),
        1 => format!("{place} has 1 entry"),
        _ => format!("{place} has {} entries", number_with_commas(total as u64)),
    };
    if last >= first && (first > 1 || last < total) {
        text.push_str(&format!("; these are {first} to {last}"));
    } else if total > 0 && first > total {
        text.push_str(&format!("; there is no entry {first}"));
    }
    text.push('.');
    if last < total && last >= first {
        text.push_str(&format!(" Ask again with offset {} for more.", last + 1));
    }
    if listing.hidden > 0 {
        text.push_str(&format!(" Hidden and not shown: {}.", listing.hidden));
    }
    if listing.more {
        text.push_str(" There are more that were not looked at.");
    }
    let read_only: Vec<String> = sandbox.read_only_names().map(|name| format!("{name:?}")).collect();
    if path == "." && !read_only.is_empty() {
        text.push_str(&format!(" Other folders, read only: {}.", read_only.join(", ")));
    }
    if !entries.is_empty() {
        text.push_str("\n\n");
        text.push_str(entries.trim_end());
    }
    text
}

fn entry(item: &Item, now: &Zoned) -> String {
    // A name is one line, whatever is in it.
    let name: String = item
        .name
        .chars()
        .flat_map(|character| {
            let hidden = super::invisible(character);
            let escaped: Vec<char> = if hidden { character.escape_unicode().collect() } else { vec![character] };
            escaped
        })
        .collect();
    let time = shown_time(item.modified, now);
    match item.kind {
        ItemKind::Folder => format!("{name}/ · folder · {time}\n"),
        ItemKind::File => format!("{name} · {} · {time}\n", shown_bytes(item.bytes)),
        ItemKind::Link => format!("{name} · link\n"),
        ItemKind::Special => format!("{name} · not a file\n"),
    }
}

/// Reads of sensitive paths need a confirmation (K40).
pub(crate) fn inspect_read(sandbox: &Sandbox, path: &str) -> Inspection {
    let what = match sandbox.locate(path) {
        Ok(located) => located.sensitive,
        // It may be there when the call runs.
        Err(error) if error.is_absence() => sensitive(path),
        Err(error) => return Inspection { reject: Some(error.explain()), ..Inspection::default() },
    };
    Inspection { escalate: what.map(|what| (Tier::Confirm, format!("it reads {what}"))), ..Inspection::default() }
}

/// A refusal or failure as a result. What quotes the disk is data from outside.
pub(crate) fn failed(error: &super::FileError) -> ToolOutput {
    let output = ToolOutput::error(error.explain());
    if error.quotes_disk() { output.untrusted("file names") } else { output }
}

/// Runs file work off the runtime's own threads. It ends whole even when nobody waits any more.
pub(crate) fn blocking<'a>(work: impl FnOnce() -> ToolOutput + Send + 'static) -> BoxFuture<'a, ToolOutput> {
    Box::pin(async move {
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|error| ToolOutput::error(format!("the work was not finished: {error}")))
    })
}

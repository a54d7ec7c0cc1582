//! `write_file`, `append_file` and `update_file`: always behind a red confirmation.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::define::{Definition, flag, shown_bytes, string};
use super::diff::{self, Replaced};
use super::error::FileError;
use super::list::{blocking, failed};
use super::sandbox::Sandbox;
use super::sensitive::sensitive;
use super::write::Change;

/// Creates a new file.
#[derive(Debug)]
pub struct WriteFile {
    sandbox: Arc<Sandbox>,
    definition: ToolDefinition,
}

/// Adds text at the end of an existing file.
#[derive(Debug)]
pub struct AppendFile {
    sandbox: Arc<Sandbox>,
    definition: ToolDefinition,
}

/// Replaces one text by another in an existing file.
#[derive(Debug)]
pub struct UpdateFile {
    sandbox: Arc<Sandbox>,
    definition: ToolDefinition,
}

fn filename() -> Value {
    json!({ "type": "string", "description": "Path relative to the working folder." })
}

impl WriteFile {
    /// The tool over a sandbox.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        let definition =
            Definition::new("write_file", "Creates a new file; fails if it exists.", ToolCategory::PcWrite)
                .keywords(&[
                    "create",
                    "créer",
                    "crée",
                    "nouveau",
                    "new",
                    "save",
                    "enregistrer",
                    "fichier",
                    "file",
                    "écrire",
                    "write",
                ])
                .required("filename", filename())
                .required("content", json!({ "type": "string" }))
                .build();
        Self { sandbox, definition }
    }
}

impl Tool for WriteFile {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note { serves: "writes a new text file in the working folder", status: NoteStatus::SeenWorking, limit: "" }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        let (path, content) = (string(arguments, "filename"), string(arguments, "content"));
        inspected(
            path,
            self.sandbox.plan_new(path, content).map(|new| {
                let mut preview: Vec<String> =
                    new.folders.iter().map(|folder| format!("creates the folder {folder:?}")).collect();
                preview.push(format!("creates {:?}: {}", new.path, amount(content)));
                preview
            }),
        )
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, _context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (sandbox, path) = (Arc::clone(&self.sandbox), string(arguments, "filename").to_owned());
        let content = string(arguments, "content").to_owned();
        blocking(move || match sandbox.create(&path, &content) {
            Ok(new) => {
                let folders = if new.folders.is_empty() {
                    String::new()
                } else {
                    format!(" New folders: {}.", new.folders.join(", "))
                };
                ToolOutput::ok(format!("Created {:?}: {}.{folders}", new.path, amount(&content)))
            }
            Err(error) => failed(&error),
        })
    }
}

impl AppendFile {
    /// The tool over a sandbox.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        let definition =
            Definition::new("append_file", "Adds text at the end of an existing file.", ToolCategory::PcWrite)
                .keywords(&["append", "ajouter", "ajoute", "add", "ligne", "line", "fin", "end"])
                .required("filename", filename())
                .required("content", json!({ "type": "string", "minLength": 1 }))
                .build();
        Self { sandbox, definition }
    }
}

impl Tool for AppendFile {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "adds text at the end of a text file in the working folder",
            status: NoteStatus::SeenWorking,
            limit: "",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        let (path, content) = (string(arguments, "filename"), string(arguments, "content"));
        inspected(
            path,
            self.sandbox.plan_append(path, content).map(|change| {
                let mut preview = vec![format!(
                    "adds {} at the end of {:?}, which has {}",
                    amount(content),
                    change.path,
                    shown_bytes(change.bytes())
                )];
                let lines: Vec<&str> = change.before.text.lines().collect();
                preview
                    .extend(lines[lines.len().saturating_sub(2)..].iter().map(|line| format!("  {}", clipped(line))));
                preview.extend(change.text.trim_start_matches(['\r', '\n']).lines().map(|line| format!("+ {line}")));
                preview
            }),
        )
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, _context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (sandbox, path) = (Arc::clone(&self.sandbox), string(arguments, "filename").to_owned());
        let content = string(arguments, "content").to_owned();
        blocking(move || match sandbox.append(&path, &content) {
            Ok(change) => ToolOutput::ok(format!("Added {} at the end of {:?}.", amount(&content), change.path)),
            Err(error) => failed(&error),
        })
    }
}

impl UpdateFile {
    /// The tool over a sandbox.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        let definition =
            Definition::new("update_file", "Replaces one text by another in an existing file.", ToolCategory::PcWrite)
                .keywords(&[
                    "replace",
                    "remplacer",
                    "remplace",
                    "change",
                    "modifier",
                    "modifie",
                    "corriger",
                    "correct",
                    "update",
                ])
                .required("filename", filename())
                .required("old_text", json!({ "type": "string", "minLength": 1 }))
                .required("new_text", json!({ "type": "string" }))
                .optional(
                    "all",
                    json!({ "type": "boolean", "description": "Replace every occurrence, not the only one." }),
                )
                .build();
        Self { sandbox, definition }
    }
}

impl Tool for UpdateFile {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "changes text in a text file of the working folder",
            status: NoteStatus::KnownLimit,
            limit: "plain text only, not Word, spreadsheet or PDF files",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        let update = Update::new(arguments);
        inspected(
            &update.path,
            update.plan(&self.sandbox).map(|(change, replaced)| {
                let mut preview =
                    vec![format!("changes {:?} in {} {}", change.path, replaced.places, places(replaced.places))];
                preview.extend(replaced.preview);
                preview
            }),
        )
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, _context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (sandbox, update) = (Arc::clone(&self.sandbox), Update::new(arguments));
        blocking(move || {
            let done = update.plan(&sandbox).and_then(|(mut change, replaced)| {
                change.text = replaced.text;
                sandbox.replace(&update.path, &change)?;
                Ok(format!("Changed {:?} in {} {}.", change.path, replaced.places, places(replaced.places)))
            });
            done.map_or_else(|error| failed(&error), ToolOutput::ok)
        })
    }
}

/// The arguments of one update.
struct Update {
    path: String,
    old: String,
    new: String,
    all: bool,
}

impl Update {
    fn new(arguments: &Map<String, Value>) -> Self {
        let owned = |name| string(arguments, name).to_owned();
        Self { path: owned("filename"), old: owned("old_text"), new: owned("new_text"), all: flag(arguments, "all") }
    }

    /// Reads the file and replaces in memory, with the file's own line breaks where the text
    /// stands only so.
    fn plan(&self, sandbox: &Sandbox) -> Result<(Change, Replaced), FileError> {
        sandbox.check_length(&self.new)?;
        let change = sandbox.existing(&self.path)?;
        let file = &change.before;
        let as_typed = file.text.contains(&self.old);
        let old = if as_typed { self.old.clone() } else { file.adapt(&self.old) };
        let replaced = diff::replace(&self.path, &file.text, &old, &file.adapt(&self.new), self.all)?;
        Ok((change, replaced))
    }
}

/// What a write's confirmation shows, or why it is rejected.
fn inspected(path: &str, planned: Result<Vec<String>, FileError>) -> Inspection {
    match planned {
        Ok(mut preview) => {
            preview.extend(sensitive(path).map(|what| format!("this is a sensitive place: {what}")));
            Inspection { preview, ..Inspection::default() }
        }
        Err(error) => Inspection { reject: Some(error.explain()), ..Inspection::default() },
    }
}

/// `3 lines, 120 characters`.
fn amount(text: &str) -> String {
    let (lines, characters) = (text.lines().count(), text.chars().count());
    let plural = |count: usize, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
    format!("{}, {}", plural(lines, "line"), plural(characters, "character"))
}

fn places(count: usize) -> &'static str {
    if count == 1 { "place" } else { "places" }
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

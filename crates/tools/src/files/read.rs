//! `read_file`.

use std::sync::Arc;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::define::{Definition, integer, number_with_commas, shown_time, string};
use super::error::FileError;
use super::list::{blocking, failed, inspect_read};
use super::name::fold;
use super::sandbox::Sandbox;
use crate::documents::{self, Document};

/// Most labels of sheets that a result names.
const MOST_LABELS: usize = 20;

/// Returns the text of a file or document.
#[derive(Debug)]
pub struct ReadFile {
    sandbox: Arc<Sandbox>,
    definition: ToolDefinition,
}

/// What part of a document is asked for.
#[derive(Debug, Default)]
struct Part {
    page: Option<u64>,
    sheet: String,
    offset: usize,
}

impl ReadFile {
    /// The tool over a sandbox.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        let definition = Definition::new("read_file", "Returns the content of a file.", ToolCategory::PcRead)
            .reads()
            .keywords(&[
                "read", "lire", "fichier", "file", "contenu", "content", "txt", "md", "csv", "pdf", "docx", "xlsx",
                "ods", "document",
            ])
            .required("filename", json!({ "type": "string", "description": "Path relative to the working folder." }))
            .optional("page", json!({ "type": "integer", "minimum": 1, "description": "One page of a PDF, or slide." }))
            .optional("sheet", json!({ "type": "string", "description": "One sheet of a spreadsheet." }))
            .optional("offset", json!({ "type": "integer", "minimum": 1, "description": "First character to return." }))
            .build();
        Self { sandbox, definition }
    }
}

impl Tool for ReadFile {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "reads text, Word, spreadsheet, OpenDocument, web page and PDF files",
            status: NoteStatus::KnownLimit,
            limit: "pictures and scanned pages have no text to read",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        inspect_read(&self.sandbox, string(arguments, "filename"))
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (sandbox, path, now) =
            (Arc::clone(&self.sandbox), string(arguments, "filename").to_owned(), context.now.clone());
        let part = Part {
            page: integer(arguments, "page"),
            sheet: string(arguments, "sheet").to_owned(),
            offset: integer(arguments, "offset").unwrap_or(1).max(1) as usize,
        };
        blocking(move || read(&sandbox, &path, &part, &now).unwrap_or_else(|error| failed(&error)))
    }
}

fn read(sandbox: &Sandbox, path: &str, part: &Part, now: &Zoned) -> Result<ToolOutput, FileError> {
    let (located, content) = sandbox.read(path)?;
    let bytes = content.bytes.len() as u64;
    let document = documents::extract(content.bytes, &located.path)
        .map_err(|source| FileError::Document { path: path.to_owned(), source })?;
    let (text, unit) = match select(&document, part) {
        Ok(selected) => selected,
        // Names of sheets come out of the file.
        Err(reason) => return Ok(ToolOutput::error(reason).untrusted(located.path)),
    };
    let total = text.chars().count();
    let cap = sandbox.options().read_cap;
    let shown: String = text.chars().skip(part.offset - 1).take(cap).collect();
    let mut head = format!(
        "{:?} ({}{}), changed {}",
        located.path,
        document.kind.name(),
        extent(&document),
        shown_time(content.modified, now)
    );
    if let Some(unit) = unit {
        head.push_str(&format!(": {unit}"));
    }
    head.push_str(". ");
    head.push_str(&scope(total, part.offset, shown.chars().count()));
    if document.cut {
        head.push_str(" The file holds more than is read.");
    }
    if total == 0 {
        head.push_str(&format!(" ({} on disk.)", super::define::shown_bytes(bytes)));
    }
    let labels = sheet_names(&document, part);
    Ok(ToolOutput::ok(format!("{head}{labels}\n\n{shown}").trim_end().to_owned()).untrusted(located.path))
}

/// `, 12 pages`.
fn extent(document: &Document) -> String {
    match (document.kind.unit(), document.units.len()) {
        (Some(unit), 1) => format!(", 1 {unit}"),
        (Some(unit), count) => format!(", {count} {unit}s"),
        (None, _) => String::new(),
    }
}

/// What of the text is returned (K22).
fn scope(total: usize, offset: usize, shown: usize) -> String {
    let count = |number: usize| number_with_commas(number as u64);
    if total == 0 {
        return "It has no text.".to_owned();
    }
    if shown == 0 {
        return format!("It has {} characters, so there is none at offset {offset}.", count(total));
    }
    let last = offset - 1 + shown;
    if offset == 1 && last == total {
        return format!("All {} characters.", count(total));
    }
    let more = if last < total { format!(" Ask again with offset {} for more.", last + 1) } else { String::new() };
    format!("Characters {} to {} of {}.{more}", count(offset), count(last), count(total))
}

/// The whole text, or one page, slide or sheet with its name.
fn select<'a>(document: &'a Document, part: &Part) -> Result<(&'a str, Option<String>), String> {
    let unit = document.kind.unit();
    let nothing = |asked: &str| format!("The file has no {asked}s; ask again without `{asked}`.");
    if !part.sheet.is_empty() {
        if unit != Some("sheet") {
            return Err(nothing("sheet"));
        }
        let wanted = fold(&part.sheet);
        let found = document
            .units
            .iter()
            .find(|unit| fold(&unit.label) == wanted || fold(unit.label.trim_end_matches(" (hidden)")) == wanted);
        return found
            .map(|unit| (&document.text[unit.range.clone()], Some(format!("sheet {:?}", unit.label))))
            .ok_or_else(|| format!("There is no sheet {:?}.{}", part.sheet, all_names(document)));
    }
    let Some(page) = part.page else { return Ok((&document.text, None)) };
    let Some(unit) = unit else { return Err(nothing("page")) };
    let count = document.units.len();
    usize::try_from(page)
        .ok()
        .and_then(|page| document.units.get(page.checked_sub(1)?))
        .map(|found| {
            let name =
                if unit == "sheet" { format!("sheet {:?}", found.label) } else { format!("{unit} {page} of {count}") };
            (&document.text[found.range.clone()], Some(name))
        })
        .ok_or_else(|| format!("There is no {unit} {page}; the file has {count}."))
}

/// The names of the sheets, when there are several and none was chosen.
fn sheet_names(document: &Document, part: &Part) -> String {
    let chosen = !part.sheet.is_empty() || part.page.is_some();
    if chosen || document.kind.unit() != Some("sheet") || document.units.len() < 2 {
        String::new()
    } else {
        all_names(document)
    }
}

fn all_names(document: &Document) -> String {
    let names: Vec<String> = document.units.iter().take(MOST_LABELS).map(|unit| format!("{:?}", unit.label)).collect();
    let more = if document.units.len() > MOST_LABELS { ", …" } else { "" };
    format!(" Sheets: {}{more}.", names.join(", "))
}

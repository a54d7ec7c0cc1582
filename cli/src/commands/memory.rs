//! `tenpass memory …`: what the agent remembers, as the person may read and change it.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::json;
use tenpass_agent::memory::{Document, Entry, PANEL_ENTRIES, Section, panel};
use tenpass_agent::untrusted::visible;
use tenpass_frame::Kind;
use tenpass_tools::assistant::AgentFolder;
use tenpass_tools::memory::MemoryFile;

use super::table::{Columns, export};
use crate::args::Format;
use crate::args::agent::{Memory, MemorySection};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where the memory is: the setting, or the agent's folder.
fn path(context: &Context) -> PathBuf {
    let settings = &context.resolved.settings;
    settings.memory_file.clone().unwrap_or_else(|| AgentFolder::new(context.agent_folder()).memory())
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Memory) -> Result<Exit, Failure> {
    let path = path(context);
    if let Memory::Path = command {
        context.printer.out(&path.display().to_string());
        return Ok(Exit::Yes);
    }
    let file = MemoryFile::open(&path)?;
    match command {
        Memory::Path => {}
        Memory::Show { format } => match format.format {
            Format::Table => show(context, &path, &file.show()?),
            Format::Json => context.printer.json(&value(&path, &file.show()?))?,
            format => {
                let document = file.show()?;
                let entries: Vec<&Entry> = panel(&document).into_iter().flat_map(|(_, entries)| entries).collect();
                export(context.printer, format, COLUMNS, &entries)?;
            }
        },
        Memory::Add { section, text } => {
            // Its folder may not be there yet: memory comes before the first chat.
            if path == AgentFolder::new(context.agent_folder()).memory() {
                let folder = AgentFolder::new(context.agent_folder());
                folder.create().map_err(|error| Failure::file(folder.path(), &error))?;
            }
            let applied = file.add(section_of(*section), text, Timestamp::now())?;
            context.printer.out(&format!("remembered: {}", line(&applied.added)));
        }
        Memory::Forget { entry } => {
            let removed = file.forget(entry)?;
            context.printer.out(&format!("forgotten: {}", line(&removed)));
        }
    }
    Ok(Exit::Yes)
}

/// The columns of CSV and Parquet: an entry's fields. The portrait is in JSON and in the file.
const COLUMNS: &Columns = &[("section", Kind::Text), ("id", Kind::Text), ("at", Kind::Text), ("text", Kind::Text)];

fn section_of(section: MemorySection) -> Section {
    match section {
        MemorySection::Decisions => Section::Decisions,
        MemorySection::Patterns => Section::Patterns,
        MemorySection::OpenThreads => Section::OpenThreads,
        MemorySection::Anomalies => Section::Anomalies,
    }
}

fn show(context: &Context, path: &std::path::Path, document: &Document) {
    let portrait = document.portrait_for_prompt();
    if !portrait.is_empty() {
        let portrait = visible(&portrait).replace('\n', "\n  ");
        context.printer.out(&format!("Portrait (yours; no program changes it)\n  {portrait}\n"));
    }
    context.printer.out(&text(&panel(document)));
    context.printer.note(&path.display().to_string());
}

/// The sections with their entries, newest first.
pub(crate) fn text(sections: &[(Section, Vec<&Entry>)]) -> String {
    let mut text = String::new();
    for (section, entries) in sections {
        text.push_str(&format!("{}\n", section.title()));
        if entries.is_empty() {
            text.push_str("  (nothing)\n");
        }
        for entry in entries {
            text.push_str(&format!("  {}\n", line(entry)));
        }
    }
    text
}

/// `0f8fad5b  2026-03-01  text`.
fn line(entry: &Entry) -> String {
    let id = entry.short_id().unwrap_or_else(|| "-".repeat(8));
    let day = entry.at.map_or_else(
        || "          ".to_owned(),
        |at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string(),
    );
    format!("{id}  {day}  {}", visible(&entry.text))
}

fn value(path: &std::path::Path, document: &Document) -> serde_json::Value {
    let sections: serde_json::Map<String, serde_json::Value> =
        panel(document).into_iter().map(|(section, entries)| (section.as_str().to_owned(), json!(entries))).collect();
    json!({
        "path": path.display().to_string(),
        "portrait": document.portrait_for_prompt(),
        "entries_a_section": PANEL_ENTRIES,
        "sections": sections,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Me\nI like tea.\n\n<!-- tenpass:memory -->\n\n## Decisions\n\n\
        - [2026-03-01T09:30:00Z] The report goes out on Fridays. <!-- id:0f8fad5b-d9cb-469f-a165-70867728950e -->\n\
        - by hand\u{202E}\n\n## Patterns\n";

    #[test]
    fn the_panel_shows_ids_days_and_nothing_hidden() {
        let document = Document::parse(FILE);
        let shown = text(&panel(&document));
        assert!(shown.contains("0f8fad5b  2026-03-01  The report goes out on Fridays.\n"), "{shown}");
        assert!(shown.contains("--------              by hand"), "{shown}");
        assert!(!shown.contains('\u{202E}'));
        assert!(
            shown.contains("Patterns\n  (nothing)\n")
                && shown.contains("Open threads\n")
                && !shown.contains("I like tea")
        );
    }

    #[test]
    fn json_has_the_portrait_and_every_section() {
        let value = value(std::path::Path::new("memory.md"), &Document::parse(FILE));
        assert!(value["portrait"].as_str().unwrap().contains("I like tea."));
        assert_eq!(value["sections"]["decisions"].as_array().unwrap().len(), 2);
        assert_eq!(value["sections"]["open_threads"], serde_json::json!([]));
        let ids = value["sections"]["decisions"].as_array().unwrap().iter().filter(|entry| entry["id"].is_string());
        assert_eq!(ids.count(), 1);
    }
}

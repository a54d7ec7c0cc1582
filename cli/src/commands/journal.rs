//! `tenpass journal …`: whether both journals are what was written, and the one of intentions.

use std::path::Path;

use serde::Serialize;
use tenpass_agent::untrusted::visible;
use tenpass_frame::Kind;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::Intention;
use tenpass_trace::database::Database;
use tenpass_trace::journal::{self, HeadKeeper, JournalError, JournalKey, Verification, records};

use super::table::{Columns, export};
use super::trace::short;
use crate::args::Format;
use crate::args::agent::Journal;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Journal) -> Result<Exit, Failure> {
    let folder = AgentFolder::new(context.agent_folder());
    match command {
        Journal::Verify { format } => verify(context, format.json()),
        Journal::SetAside => set_aside(context.printer, &folder),
        Journal::Show { limit, format } => show(context.printer, &folder, *limit, format.format),
    }
}

/// The database, where there is one: reading makes none.
fn database(folder: &AgentFolder) -> Result<Option<Database>, Failure> {
    Ok(if folder.database().is_file() { Some(Database::open(&folder.database())?) } else { None })
}

/// Checks both journals.
pub(super) fn verify(context: &Context, json: bool) -> Result<Exit, Failure> {
    let folder = AgentFolder::new(context.agent_folder());
    let checked = verified(&folder)?;
    if json {
        context.printer.json(&checked.clone().unwrap_or(Verification { ok: true, files: Vec::new() }))?;
    } else {
        match &checked {
            Some(verification) => context.printer.out(&text(&folder, verification)),
            None => context.printer.out(&format!("there is no journal yet in {}", folder.path().display())),
        }
    }
    Ok(if checked.is_none_or(|verification| verification.ok) { Exit::Yes } else { Exit::No })
}

/// `None` where there has never been a journal.
fn verified(folder: &AgentFolder) -> Result<Option<Verification>, Failure> {
    // Before the files are read: a chat may be adding lines.
    let heads = match database(folder)? {
        Some(database) => Some(database.journal_heads()?),
        None => None,
    };
    let has_files = folder.trace().exists() || folder.intentions().exists();
    if !has_files && heads.as_ref().is_none_or(std::collections::BTreeMap::is_empty) {
        return Ok(None);
    }
    let key = JournalKey::load(&folder.journal_key()).map_err(|error| match error {
        JournalError::Io { ref source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Failure::mistake(format!("the journal key {} is missing", folder.journal_key().display()))
                .hint("put it back from a backup, or begin new journals: tenpass journal set-aside")
        }
        other => other.into(),
    })?;
    Ok(Some(journal::verify(folder.path(), &key, heads.as_ref())))
}

fn text(folder: &AgentFolder, verification: &Verification) -> String {
    let mut lines = Vec::new();
    for file in &verification.files {
        let path = journal::journal_path(folder.path(), &file.name);
        let path = shown(&path);
        let state = if file.ok { "ok" } else { "NOT as it was written" };
        lines.push(format!("{path}: {} lines, {state}", file.lines));
        for finding in &file.findings {
            let note = if finding.kind.is_fault() { "" } else { "note: " };
            lines.push(format!("{path}:{}: {note}{}: {}", finding.line, finding.kind, finding.detail));
        }
    }
    lines.join("\n")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn set_aside(printer: Printer, folder: &AgentFolder) -> Result<Exit, Failure> {
    let database = database(folder)?;
    let keeper = database.as_ref().map(|database| database as &dyn HeadKeeper);
    if !folder.path().is_dir() {
        printer.out(&format!("there is no journal yet in {}", folder.path().display()));
        return Ok(Exit::Yes);
    }
    let moved = journal::set_aside(folder.path(), keeper).map_err(|error| match error {
        locked @ JournalError::Locked { .. } => Failure::mistake(locked).hint("a chat writes them: close it first"),
        other => other.into(),
    })?;
    if moved.is_empty() {
        printer.out(&format!("there is no journal yet in {}", folder.path().display()));
    }
    for path in moved {
        printer.out(&format!("kept as {}", path.display()));
    }
    Ok(Exit::Yes)
}

#[derive(Serialize)]
struct Line {
    seq: u64,
    at: jiff::Timestamp,
    #[serde(flatten)]
    intention: Intention,
}

/// The columns of CSV and Parquet: those of JSON, arguments as JSON text.
const COLUMNS: &Columns = &[
    ("seq", Kind::Int),
    ("at", Kind::Text),
    ("thread", Kind::Text),
    ("turn", Kind::Text),
    ("call", Kind::Int),
    ("tool", Kind::Text),
    ("arguments", Kind::Text),
    ("digest", Kind::Text),
];

fn show(printer: Printer, folder: &AgentFolder, limit: usize, format: Format) -> Result<Exit, Failure> {
    let mut kept = std::collections::VecDeque::new();
    let mut unreadable = 0;
    for entry in records::<Intention>(&folder.intentions())? {
        match entry {
            Ok(entry) => kept.push_back(Line { seq: entry.seq, at: entry.at, intention: entry.record }),
            Err(_) => unreadable += 1,
        }
        if kept.len() > limit {
            kept.pop_front();
        }
    }
    if unreadable > 0 {
        printer.note(&format!("warning: {unreadable} lines cannot be read; `tenpass journal verify` says which"));
    }
    if format == Format::Json {
        printer.json(&kept)?;
    } else if format != Format::Table {
        export(printer, format, COLUMNS, kept.make_contiguous())?;
    } else if kept.is_empty() {
        printer.note(&format!("no intention was recorded yet in {}", folder.path().display()));
    } else {
        let lines: Vec<String> = kept.iter().map(line_text).collect();
        printer.out(&lines.join("\n"));
    }
    Ok(Exit::Yes)
}

fn line_text(line: &Line) -> String {
    let at = line.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let Intention { turn, call, tool, arguments, .. } = &line.intention;
    let given = visible(&serde_json::Value::Object(arguments.clone()).to_string());
    format!("{at}  {} {call}. {} {given}", short(turn), visible(tool))
}

#[cfg(test)]
mod tests {
    use tenpass_tools::assistant::LiveStore;
    use tenpass_trace::journal::FindingKind;

    use super::*;

    fn intention(call: u32) -> Intention {
        Intention {
            thread: "thread".into(),
            turn: "turn".into(),
            call,
            tool: "read_file".into(),
            arguments: serde_json::Map::new(),
            digest: "00".repeat(32),
        }
    }

    #[test]
    fn no_journal_a_good_one_and_an_edited_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = AgentFolder::new(place.path().join("agent"));
        assert!(verified(&folder).unwrap().is_none());
        assert!(!folder.path().exists(), "looking makes nothing");
        let store = LiveStore::open(&folder).unwrap();
        store.recorder.journals().intention(&intention(1)).unwrap();
        store.recorder.journals().intention(&intention(2)).unwrap();
        assert!(verified(&folder).unwrap().unwrap().ok, "while it is open");
        drop(store);
        let edited = std::fs::read_to_string(folder.intentions()).unwrap().replace("\"call\":1", "\"call\":7");
        std::fs::write(folder.intentions(), edited).unwrap();
        let found = verified(&folder).unwrap().unwrap();
        assert!(!found.ok);
        assert_eq!(found.files[1].findings[0].kind, FindingKind::Edited);
        let shown = text(&folder, &found);
        assert!(shown.contains("intentions.jsonl:2: edited: "), "{shown}");
        assert!(shown.contains("orchestrator-trace.jsonl: ") && shown.contains("NOT as it was written"), "{shown}");
    }

    #[test]
    fn a_missing_key_is_a_mistake_with_a_way_out() {
        let place = tempfile::tempdir().unwrap();
        let folder = AgentFolder::new(place.path());
        drop(LiveStore::open(&folder).unwrap());
        std::fs::remove_file(folder.journal_key()).unwrap();
        let failure = verified(&folder).unwrap_err();
        assert!(failure.hint.unwrap().contains("set-aside"));
    }
}

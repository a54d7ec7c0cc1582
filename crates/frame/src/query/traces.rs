//! The journal of what the agent did in tables. Only what was appended since the last look is read.

use std::fs::File;
use std::io::{Read as _, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, params};
use tenpass_trace::journal::{Entry, Position, records_from};
use tenpass_trace::{CallOutcome, TraceEvent, TraceRecord};

use super::QueryError;
use super::runs::name;

/// The tables, in a database attached as `agent`.
pub(crate) const SCHEMA: &str = include_str!("traces.sql");
/// Raised with every change of the tables, or of what stands in them.
pub(crate) const VERSION: i64 = 1;

/// Bytes before a position that must be there next time: more than the MAC of a line, which covers
/// everything before it.
const TAIL: u64 = 96;
/// Lines between two questions whether to go on.
const STEP: u64 = 512;

/// Reads what was appended to the journal. Returns how many lines could not be read, from the
/// beginning.
pub(crate) fn refresh(
    connection: &Connection,
    journal: &Path,
    keep_on: &dyn Fn() -> Result<(), QueryError>,
) -> Result<u64, QueryError> {
    let database = QueryError::Database;
    let length = std::fs::metadata(journal).map_or(0, |data| data.len());
    let mark = Mark::load(connection).map_err(database)?;
    if mark.fits(journal, length) && mark.position.bytes == length {
        return Ok(mark.unreadable);
    }
    let transaction = connection.unchecked_transaction().map_err(database)?;
    // Writing comes first: another query that does the same is waited for, and what it read is known.
    transaction.execute("UPDATE agent.mark SET bytes = bytes", []).map_err(database)?;
    let mut mark = Mark::load(&transaction).map_err(database)?;
    if !mark.fits(journal, length) {
        clear(&transaction).map_err(database)?;
        mark = Mark::default();
    }
    let mut records = records_from::<TraceRecord>(journal, mark.position)?;
    while let Some(entry) = records.next() {
        match entry {
            Ok(entry) => insert(&transaction, &entry).map_err(database)?,
            Err(tenpass_trace::journal::JournalError::Line { .. }) => mark.unreadable += 1,
            Err(error) => return Err(error.into()),
        }
        if records.position().lines.is_multiple_of(STEP) {
            keep_on()?;
        }
    }
    mark.position = records.position();
    mark.tail = tail(journal, mark.position.bytes);
    mark.save(&transaction).map_err(database)?;
    transaction.commit().map_err(database)?;
    Ok(mark.unreadable)
}

/// How far the journal was read.
#[derive(Debug, Default)]
struct Mark {
    position: Position,
    tail: String,
    unreadable: u64,
}

impl Mark {
    fn load(connection: &Connection) -> rusqlite::Result<Self> {
        connection.query_row("SELECT bytes, lines, tail, unreadable FROM agent.mark", [], |row| {
            let count = |column| row.get::<_, i64>(column).map(|count| count as u64);
            let position = Position { bytes: count(0)?, lines: count(1)? };
            Ok(Self { position, tail: row.get(2)?, unreadable: count(3)? })
        })
    }

    /// Whether the journal still has what was read.
    fn fits(&self, journal: &Path, length: u64) -> bool {
        self.position.bytes <= length && tail(journal, self.position.bytes) == self.tail
    }

    fn save(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Position { bytes, lines } = self.position;
        transaction.execute(
            "UPDATE agent.mark SET bytes = ?1, lines = ?2, tail = ?3, unreadable = ?4",
            params![bytes as i64, lines as i64, self.tail, self.unreadable as i64],
        )?;
        Ok(())
    }
}

/// The bytes before a position, as text.
fn tail(journal: &Path, end: u64) -> String {
    let start = end.saturating_sub(TAIL);
    let read = || {
        let mut file = File::open(journal)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(end - start).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn clear(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    for table in ["turn", "round", "call", "confirmation", "verdict", "retry", "delegation", "event"] {
        transaction.execute(&format!("DELETE FROM agent.{table}"), [])?;
    }
    Ok(())
}

/// An instant that sorts as text.
fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

fn insert(transaction: &Transaction<'_>, entry: &Entry<TraceRecord>) -> rusqlite::Result<()> {
    let TraceRecord { thread, turn, event } = &entry.record;
    let at = instant(entry.at);
    if !turn.is_empty() {
        let sql = "INSERT INTO agent.turn (turn, thread, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        transaction.prepare_cached(sql)?.execute(params![turn, thread, at])?;
    }
    let number = |count: &usize| *count as i64;
    let tokens = |count: &Option<u64>| count.map(|count| count as i64);
    match event {
        TraceEvent::Request { text, model, profile, think } => {
            let sql = "UPDATE agent.turn SET request = ?2, model = ?3, profile = ?4, think = ?5 WHERE turn = ?1";
            transaction.prepare_cached(sql)?.execute(params![turn, text, model, profile, think])?;
        }
        TraceEvent::Route { selection, structure, offered, .. } => {
            let sql = "UPDATE agent.turn SET selection = ?2, structure = ?3, offered = ?4 WHERE turn = ?1";
            let offered = offered.len() as i64;
            transaction.prepare_cached(sql)?.execute(params![turn, selection, structure, offered])?;
        }
        TraceEvent::Final { end, text, author, ms, .. } => {
            let sql = "UPDATE agent.turn SET \"end\" = ?2, answer = ?3, author = ?4, ms = ?5 WHERE turn = ?1";
            transaction.prepare_cached(sql)?.execute(params![turn, name(end), text, author, ms])?;
        }
        TraceEvent::Verdict { judged, verdict } => {
            let sql = "INSERT INTO agent.verdict VALUES (?1, ?2, ?3)";
            transaction.prepare_cached(sql)?.execute(params![judged, at, verdict])?;
            let sql = "UPDATE agent.turn SET verdict = ?2 WHERE turn = ?1";
            transaction.prepare_cached(sql)?.execute(params![judged, verdict])?;
        }
        TraceEvent::Round {
            number: round,
            tools,
            messages,
            prompt_tokens,
            counted_tokens,
            completion_tokens,
            ms,
            first_token_ms,
            calls,
            class,
        } => {
            let sql = "INSERT INTO agent.round VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![
                turn,
                at,
                round,
                number(tools),
                number(messages),
                tokens(prompt_tokens),
                tokens(counted_tokens),
                tokens(completion_tokens),
                ms,
                first_token_ms,
                number(calls),
                class.map(tenpass_trace::FailureClass::as_str),
            ])?;
        }
        TraceEvent::Call { call, tool, tier, outcome, arguments, reason, result, ms, untrusted } => {
            let sql = "INSERT INTO agent.call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![
                turn,
                at,
                call,
                tool,
                tier.as_str(),
                outcome.as_str(),
                arguments.to_string(),
                reason,
                result,
                ms,
                untrusted,
            ])?;
        }
        TraceEvent::Confirmation { call, tool, tier, answer, ms } => {
            let sql = "INSERT INTO agent.confirmation VALUES (?, ?, ?, ?, ?, ?, ?)";
            let values = params![turn, at, call, tool, tier.as_str(), name(answer), ms];
            transaction.prepare_cached(sql)?.execute(values)?;
        }
        TraceEvent::Retry { reason } => {
            let sql = "INSERT INTO agent.retry VALUES (?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(params![turn, at, name(reason)])?;
        }
        TraceEvent::Delegation { provider, characters, cost_usd, deduplicated, outcome } => {
            let sql = "INSERT INTO agent.delegation VALUES (?, ?, ?, ?, ?, ?, ?)";
            let outcome = CallOutcome::as_str(*outcome);
            let values = params![turn, at, provider, number(characters), cost_usd, deduplicated, outcome];
            transaction.prepare_cached(sql)?.execute(values)?;
        }
        TraceEvent::Memory { .. }
        | TraceEvent::Compression { .. }
        | TraceEvent::Escalation { .. }
        | TraceEvent::Watchdog { .. }
        | TraceEvent::Cancellation { .. }
        | TraceEvent::Fault { .. } => insert_other(transaction, turn, &at, event)?,
    }
    Ok(())
}

/// An event without a table of its own: its fields as JSON.
fn insert_other(transaction: &Transaction<'_>, turn: &str, at: &str, event: &TraceEvent) -> rusqlite::Result<()> {
    let mut detail = serde_json::to_value(event).unwrap_or_default();
    let kind = detail.as_object_mut().and_then(|fields| fields.shift_remove("event"));
    let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    let sql = "INSERT INTO agent.event VALUES (?, ?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![turn, at, kind, detail.to_string()])?;
    Ok(())
}

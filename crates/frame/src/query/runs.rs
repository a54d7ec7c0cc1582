//! Manifests and cases of the runs in tables, read again where a run's files changed.

use std::collections::HashMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, Transaction, params};
use serde::Serialize;
use tenpass_bench::cases::{Case, show};
use tenpass_bench::store::{ConfigurationRecord, Manifest, Run};
use tenpass_trace::Role;

/// The tables, in a database attached as `store`.
pub(crate) const SCHEMA: &str = include_str!("runs.sql");
/// Raised with every change of the tables, or of what stands in them.
pub(crate) const VERSION: i64 = 1;

/// Brings the tables up to date. Returns what could not be read, a line a run.
pub(crate) fn refresh(connection: &Connection, runs: &[Run]) -> rusqlite::Result<Vec<String>> {
    let mut known = known(connection)?;
    let mut changed = Vec::new();
    for run in runs {
        let files = fingerprint(run.directory());
        if known.remove(run.id()).is_none_or(|before| before != files) {
            changed.push((run, files));
        }
    }
    if known.is_empty() && changed.is_empty() {
        return Ok(Vec::new());
    }
    let transaction = connection.unchecked_transaction()?;
    // Writing comes first, so that another query that does the same is waited for.
    for name in known.keys().map(String::as_str).chain(changed.iter().map(|(run, _)| run.id())) {
        forget(&transaction, name)?;
    }
    let mut notes = Vec::new();
    for (run, files) in changed {
        let cases = run.cases();
        // What could not be read is tried again next time.
        insert(&transaction, run, if cases.is_ok() { &files } else { "" }, cases.as_deref().unwrap_or_default())?;
        notes.extend(cases.err().map(|error| format!("the cases of {} are left out: {error}", run.id())));
    }
    transaction.commit()?;
    Ok(notes)
}

fn known(connection: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let mut statement = connection.prepare("SELECT name, files FROM store.run")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Length and time of the files that are read here. The cases of a run never change, but a run may
/// be removed and another one get its name.
fn fingerprint(directory: &Path) -> String {
    let of = |name: &str| {
        let data = std::fs::metadata(directory.join(name)).ok()?;
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{}:{}", data.len(), changed.as_nanos()))
    };
    format!("{} {}", of("manifest.json").unwrap_or_default(), of("cases.jsonl").unwrap_or_default())
}

fn forget(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    for table in ["configuration", "\"case\""] {
        let sql = format!("DELETE FROM store.{table} WHERE run = (SELECT id FROM store.run WHERE name = ?1)");
        transaction.execute(&sql, [name])?;
    }
    transaction.execute("DELETE FROM store.run WHERE name = ?1", [name])?;
    Ok(())
}

/// The stored name of an enum.
pub(crate) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Null) | Err(_) => String::new(),
        Ok(other) => other.to_string(),
    }
}

/// A count for SQLite, which has no unsigned numbers.
fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Through its decimal form: 0.3 and not 0.30000001192092896.
fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

fn insert(transaction: &Transaction<'_>, run: &Run, files: &str, cases: &[Case]) -> rusqlite::Result<()> {
    let manifest = run.manifest();
    let session = manifest.sessions.last();
    let host = session.map(|session| &session.host);
    let git = session.and_then(|session| session.git.as_ref());
    let parts = (!manifest.parts.is_empty()).then(|| manifest.parts.join(","));
    let digests = &manifest.digests;
    let sql = format!("INSERT INTO store.run VALUES (NULL{})", ", ?".repeat(29));
    transaction.prepare_cached(&sql)?.execute(params![
        run.id(),
        files,
        manifest.bench,
        name(&manifest.state()),
        manifest.started(),
        manifest.finished(),
        manifest.elapsed().map(|time| time.as_secs_f64()),
        count(manifest.cases),
        manifest.passes,
        manifest.configurations.len() as i64,
        count(manifest.total_passes()),
        manifest.seed.to_string(),
        count(manifest.timeout_ms),
        manifest.partition.as_ref().map(name),
        manifest.parent,
        parts,
        manifest.grader,
        manifest.regraded.as_ref().map(|regraded| &regraded.at),
        session.map(|session| &session.program),
        git.map(|git| &git.revision),
        git.map(|git| git.dirty),
        host.map(|host| &host.os),
        host.and_then(|host| host.cpu.as_ref()),
        host.map(|host| count(host.cores)),
        host.and_then(|host| host.memory_bytes).map(count),
        digests.suite,
        digests.cases,
        digests.tools,
        digests.prompts,
    ])?;
    let id = transaction.last_insert_rowid();
    for (position, configuration) in manifest.configurations.iter().enumerate() {
        insert_configuration(transaction, id, position, manifest, configuration)?;
    }
    for (position, case) in cases.iter().enumerate() {
        insert_case(transaction, id, position, case)?;
    }
    Ok(())
}

fn insert_configuration(
    transaction: &Transaction<'_>,
    run: i64,
    position: usize,
    manifest: &Manifest,
    configuration: &ConfigurationRecord,
) -> rusqlite::Result<()> {
    let (model, options) = (&configuration.model, &configuration.options);
    let stopped = manifest.sessions.last().map(|session| session.stopped.as_slice()).unwrap_or_default();
    let stopped = stopped.iter().find(|stopped| stopped.configuration == configuration.id);
    let sql = format!("INSERT INTO store.configuration VALUES (?{})", ", ?".repeat(23));
    transaction.prepare_cached(&sql)?.execute(params![
        run,
        position as i64,
        configuration.id,
        configuration.spec,
        model.backend,
        model.name,
        model.digest,
        model.template_digest,
        model.quantization,
        model.runtime,
        configuration.structure.to_string(),
        configuration.selection.to_string(),
        configuration.memory.as_str(),
        configuration.sections.to_string(),
        decimal(options.temperature),
        options.top_k,
        decimal(options.top_p),
        decimal(options.min_p),
        options.max_tokens,
        options.context.or(model.context),
        configuration.think.as_ref().map(name),
        configuration.stream,
        configuration.jobs as i64,
        stopped.map(|stopped| &stopped.error),
    ])?;
    Ok(())
}

fn insert_case(transaction: &Transaction<'_>, run: i64, position: usize, case: &Case) -> rusqlite::Result<()> {
    let request = case.messages.iter().rev().find(|message| message.role == Role::User);
    let tools: Vec<&str> = case.tools.iter().map(|tool| tool.name.as_str()).collect();
    let expects = match &case.scenario {
        Some(scenario) => scenario.holds.join(", "),
        None => show::summary(&case.expect),
    };
    let sql = format!("INSERT INTO store.\"case\" VALUES (?{})", ", ?".repeat(11));
    transaction.prepare_cached(&sql)?.execute(params![
        run,
        position as i64,
        case.id,
        case.family,
        case.language.as_str(),
        case.kind.as_str(),
        request.map(|message| message.content.as_str()).unwrap_or_default(),
        serde_json::to_string(&tools).unwrap_or_default(),
        expects,
        case.provenance,
        case.source,
        case.scenario.is_some(),
    ])?;
    Ok(())
}

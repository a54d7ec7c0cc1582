//! `tenpass models …`.

use serde::Serialize;
use tenpass_catalog::{Listed, State, Verified};
use tenpass_frame::Kind;

use super::table::{Columns, bytes, export, table};
use crate::args::Format;
use crate::args::tools::Models;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::PullProgress;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Models) -> Result<Exit, Failure> {
    match command {
        Models::List { format } => list(context, format.format),
        Models::Pull { names } => pull(context, names),
        Models::Path { name } => path(context, name),
        Models::Verify { names, format } => verify(context, names, format.format),
    }
}

fn word(state: &State) -> String {
    match state {
        State::Present { .. } => "here".to_owned(),
        State::Missing => "-".to_owned(),
        State::Damaged { reason } => format!("DAMAGED: {reason}"),
    }
}

/// An asset, as CSV and Parquet list it.
#[derive(Serialize)]
struct Asset<'a> {
    name: &'a str,
    kind: String,
    size_bytes: u64,
    state: &'static str,
    reason: Option<&'a str>,
    runs_here: bool,
    licence: &'a str,
    description: &'a str,
    sha256: &'a str,
}

const LISTED: &Columns = &[
    ("name", Kind::Text),
    ("kind", Kind::Text),
    ("size_bytes", Kind::Int),
    ("state", Kind::Text),
    ("reason", Kind::Text),
    ("runs_here", Kind::Bool),
    ("licence", Kind::Text),
    ("description", Kind::Text),
    ("sha256", Kind::Text),
];

/// The state in one word, and why it is so.
fn state(state: &State) -> (&'static str, Option<&str>) {
    match state {
        State::Present { .. } => ("present", None),
        State::Missing => ("missing", None),
        State::Damaged { reason } => ("damaged", Some(reason)),
    }
}

fn asset<'a>(listed: &'a Listed<'_>) -> Asset<'a> {
    let (state, reason) = state(&listed.state);
    Asset {
        name: &listed.asset.name,
        kind: listed.asset.kind.to_string(),
        size_bytes: listed.asset.size,
        state,
        reason,
        runs_here: listed.runs_here,
        licence: &listed.asset.licence,
        description: &listed.asset.description,
        sha256: &listed.asset.sha256,
    }
}

fn list(context: &Context, format: Format) -> Result<Exit, Failure> {
    let store = context.store()?;
    let listed = store.list();
    match format {
        Format::Table => {}
        Format::Json => {
            context.printer.json(&listed)?;
            return Ok(Exit::Yes);
        }
        format => {
            let rows: Vec<Asset<'_>> = listed.iter().map(asset).collect();
            export(context.printer, format, LISTED, &rows)?;
            return Ok(Exit::Yes);
        }
    }
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|row| {
            let state = if row.runs_here { word(&row.state) } else { "not for this machine".to_owned() };
            vec![
                row.asset.name.clone(),
                row.asset.kind.to_string(),
                bytes(row.asset.size),
                state,
                row.asset.licence.clone(),
                row.asset.description.clone(),
            ]
        })
        .collect();
    context.printer.out(&table(&["name", "kind", "size", "state", "licence", "what it is"], &rows, &[2]));
    Ok(Exit::Yes)
}

fn pull(context: &Context, names: &[String]) -> Result<Exit, Failure> {
    let store = context.store()?;
    for name in names {
        // A typing mistake in the last name is found before the first download.
        store.catalog().entry(name)?;
    }
    for name in names {
        if let Some(path) = store.path(name) {
            context.printer.note(&format!("{name}: already here, {}", path.display()));
            continue;
        }
        store.pull(name, &PullProgress::new(context.printer, name))?;
    }
    Ok(Exit::Yes)
}

fn path(context: &Context, name: &str) -> Result<Exit, Failure> {
    let store = context.store()?;
    store.catalog().entry(name)?;
    let Some(path) = store.path(name) else {
        return Err(Failure {
            exit: Exit::Backend,
            message: format!("{name} is not on this machine"),
            hint: Some(format!("tenpass models pull {name}")),
        });
    };
    context.printer.out(&path.display().to_string());
    Ok(Exit::Yes)
}

/// A check, as CSV and Parquet list it.
#[derive(Serialize)]
struct Checked<'a> {
    name: &'a str,
    state: &'static str,
    reason: Option<&'a str>,
}

const CHECKED: &Columns = &[("name", Kind::Text), ("state", Kind::Text), ("reason", Kind::Text)];

fn checked(verified: &Verified) -> Checked<'_> {
    let (state, reason) = state(&verified.state);
    Checked { name: &verified.name, state, reason }
}

fn verify(context: &Context, names: &[String], format: Format) -> Result<Exit, Failure> {
    let store = context.store()?;
    let verified = if names.is_empty() {
        store.verify_all()
    } else {
        names.iter().map(|name| store.verify(name)).collect::<Result<Vec<_>, _>>()?
    };
    if format == Format::Json {
        context.printer.json(&verified)?;
    } else if format != Format::Table {
        let rows: Vec<Checked<'_>> = verified.iter().map(checked).collect();
        export(context.printer, format, CHECKED, &rows)?;
    } else if verified.is_empty() {
        context.printer.out("nothing is here yet; `tenpass models pull NAME` fetches a model");
    } else {
        let rows: Vec<Vec<String>> = verified
            .iter()
            .map(|row| {
                let state = match &row.state {
                    State::Present { .. } => "ok".to_owned(),
                    State::Missing => "missing".to_owned(),
                    State::Damaged { .. } => word(&row.state),
                };
                vec![row.name.clone(), state]
            })
            .collect();
        context.printer.out(&table(&["name", "state"], &rows, &[]));
    }
    let whole = verified.iter().all(|row| matches!(row.state, State::Present { .. }));
    Ok(if whole { Exit::Yes } else { Exit::No })
}

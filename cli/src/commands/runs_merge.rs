//! `tenpass runs merge`.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenpass_bench::store::{PassFilter, Run, StoreError, list_runs, merge, open_run};
use tenpass_review::find_run;

use crate::args::TextOrJson;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Joins the named parts, or all parts in other runs folders.
pub(crate) fn run(context: &Context, names: &[String], from: &[PathBuf], format: TextOrJson) -> Result<Exit, Failure> {
    let store = context.runs();
    let parts = if names.is_empty() {
        parts_in(context, from)?
    } else {
        names.iter().map(|name| find(&store, from, name)).collect::<Result<_, _>>()?
    };
    let merged = merge(&store, &parts)?;
    let mut done = 0_u64;
    merged.index()?.rows(&PassFilter::default(), |_| done += 1)?;
    let (total, joined) = (merged.manifest().total_passes(), merged.manifest().parts.len());
    if format.json() {
        let parts = &merged.manifest().parts;
        context.printer.json(&json!({ "run": merged.id(), "parts": parts, "passes": done, "total": total }))?;
    } else {
        context.printer.out(&format!("{} joins {joined} parts", merged.id()));
    }
    if done < total {
        let bench = &merged.manifest().bench;
        let elsewhere =
            context.runs_flag.as_ref().map(|dir| format!(" --runs-dir {}", dir.display())).unwrap_or_default();
        context.printer.note(&format!("it has {done} of {total} passes"));
        context
            .printer
            .note(&format!("measure the rest with: tenpass bench {bench} --resume {}{elsewhere}", merged.id()));
    }
    Ok(Exit::Yes)
}

/// A part by the path of its folder, by its name in the store, or by its name in one of the other folders.
fn find(store: &Path, from: &[PathBuf], name: &str) -> Result<Run, Failure> {
    let path = Path::new(name);
    if path.join("manifest.json").is_file() {
        let absolute = std::path::absolute(path).map_err(|error| Failure::file(path, &error))?;
        let id = absolute.file_name().map(|id| id.to_string_lossy().into_owned());
        if let Some((parent, id)) = absolute.parent().zip(id) {
            return Ok(open_run(parent, &id)?);
        }
    }
    let here = find_run(store, name);
    if here.is_ok() || from.is_empty() {
        return Ok(here?);
    }
    for folder in from {
        match open_run(folder, name) {
            Err(StoreError::NoRun { .. }) => {}
            other => return Ok(other?),
        }
    }
    Ok(here?)
}

/// Every part in these folders.
fn parts_in(context: &Context, from: &[PathBuf]) -> Result<Vec<Run>, Failure> {
    let mut parts = Vec::new();
    for folder in from {
        // A store without runs is empty; one that is not there was mistyped, or its part never began.
        if !folder.is_dir() {
            return Err(Failure::mistake(format!("{} is not a folder", folder.display()))
                .hint("name the runs folders of the parts: --from parts/*"));
        }
        for entry in list_runs(folder)? {
            match entry.run {
                Ok(run) if run.manifest().partition.is_some() => parts.push(run),
                Ok(_) => {}
                Err(error) => context.printer.note(&format!("left out: {error}")),
            }
        }
    }
    if parts.is_empty() {
        let folders = from.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(Failure::mistake(format!("no run in {folders} is a part"))
            .hint("parts are made with: tenpass bench … --partition K/N --runs-dir DIR"));
    }
    Ok(parts)
}

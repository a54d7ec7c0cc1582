//! `/api/memory`: what is remembered, thirty entries a section, and forgetting one.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tenpass_agent::memory::{Document, Entry, PANEL_ENTRIES, Section};
use tenpass_agent::untrusted::visible;
use tenpass_tools::memory::MemoryFile;

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct From {
    #[serde(default)]
    offset: usize,
}

/// The memory file, whether there is a model or not.
fn file(application: &Application) -> Result<MemoryFile, ApiError> {
    let options = &application.options;
    let path = options.memory.clone().unwrap_or_else(|| options.folder.memory());
    MemoryFile::open(path).map_err(failed)
}

fn failed(error: tenpass_tools::memory::MemoryError) -> ApiError {
    let hint = error.hint();
    ApiError::internal(error, hint)
}

/// The id of an entry: its own, or one from its place and words where a person wrote it without one.
pub(crate) fn entry_id(entry: &Entry) -> String {
    entry.id.map_or_else(
        || {
            let digest = Sha256::digest(format!("{}\n{}", entry.section.as_str(), entry.text));
            format!("h{}", digest[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        },
        |id| id.to_string(),
    )
}

/// The id of an entry that was just written.
pub(crate) fn entry_id_of(file: &MemoryFile, section: &str, text: &str) -> Option<String> {
    let document = file.show().ok()?;
    let mut entries = document.entries().iter().rev();
    entries.find(|entry| entry.section.as_str() == section && entry.text == text).map(entry_id)
}

fn entries(document: &Document, section: Section, offset: usize) -> Value {
    let mut newest: Vec<&Entry> = document.section(section).collect();
    newest.reverse();
    let shown = newest.iter().skip(offset).take(PANEL_ENTRIES).map(|entry| {
        json!({
            "id": entry_id(entry),
            "text": visible(&entry.text),
            "date": entry.at.map(|at| at.to_string()),
            "uncertain": entry.at.is_none(),
        })
    });
    json!({ "name": section.as_str(), "total": newest.len(), "entries": shown.collect::<Vec<_>>() })
}

/// `GET /api/memory`.
pub(crate) async fn show(
    State(application): State<Arc<Application>>,
    Query(from): Query<From>,
) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let document = file(&application)?.show().map_err(failed)?;
        let sections: Vec<Value> =
            Section::ALL.iter().map(|section| entries(&document, *section, from.offset)).collect();
        let portrait = visible(&document.portrait_for_prompt());
        Ok(Json(json!({ "portrait": portrait, "sections": sections })))
    })
    .await
}

/// `GET /api/memory/SECTION?offset=30`.
pub(crate) async fn section(
    State(application): State<Arc<Application>>,
    Path(name): Path<String>,
    Query(from): Query<From>,
) -> Result<Json<Value>, ApiError> {
    let section = Section::from_key(&name)
        .ok_or_else(|| ApiError::not_found("there is no such section", format!("one of {}", Section::names())))?;
    blocking(move || {
        let document = file(&application)?.show().map_err(failed)?;
        Ok(Json(entries(&document, section, from.offset)))
    })
    .await
}

/// `DELETE /api/memory/ID`.
pub(crate) async fn forget(
    State(application): State<Arc<Application>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let gone = || ApiError::not_found("this entry is gone already", "look again: GET /api/memory");
        let file = file(&application)?;
        let document = file.show().map_err(failed)?;
        let entry = document.entries().iter().find(|entry| entry_id(entry) == id).ok_or_else(gone)?;
        // By its own id where it has one; else by its words, which must name it alone.
        let needle = entry.id.map_or_else(|| entry.text.clone(), |id| id.to_string());
        file.forget(&needle).map_err(|error| {
            let hint = error.hint();
            ApiError::conflict(error.to_string(), hint)
        })?;
        Ok(Json(json!({ "ok": true })))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Me\n\n<!-- tenpass:memory -->\n\n## Decisions\n\n\
        - [2026-03-01T09:30:00Z] Fridays. <!-- id:0f8fad5b-d9cb-469f-a165-70867728950e -->\n- by hand\u{202E}\n";

    #[test]
    fn ids_are_the_entrys_own_or_come_from_its_words() {
        let document = Document::parse(FILE);
        let shown = entries(&document, Section::Decisions, 0);
        let ids: Vec<&str> =
            shown["entries"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap()).collect();
        assert_eq!(ids[1], "0f8fad5b-d9cb-469f-a165-70867728950e");
        assert!(ids[0].starts_with('h') && ids[0].len() == 17);
        assert_eq!(shown["entries"][0]["text"], "by hand\\u{202E}");
        assert_eq!((shown["total"].as_u64(), shown["entries"][0]["uncertain"].as_bool()), (Some(2), Some(true)));
        assert_eq!(entries(&document, Section::Decisions, 1)["entries"].as_array().unwrap().len(), 1);
    }
}

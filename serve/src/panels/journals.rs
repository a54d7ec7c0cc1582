//! `/api/journals`: what was recorded, and whether it is as it was written.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use tenpass_trace::journal::{self, FileReport, INTENTIONS_JOURNAL, JournalKey, TRACE_JOURNAL};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;
use crate::text::clean;

/// Most entries of one answer.
const MOST: usize = 500;

#[derive(Debug, Deserialize)]
pub(crate) struct Window {
    limit: Option<usize>,
    before: Option<u64>,
}

/// `GET /api/journals?limit=50&before=SEQ`, newest first.
pub(crate) async fn show(
    State(application): State<Arc<Application>>,
    Query(window): Query<Window>,
) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let conversations = &application.conversations;
        let folder = &application.options.folder;
        // Before the files are read: a turn may be adding lines.
        let heads = conversations.store.database.journal_heads()?;
        let key = JournalKey::load(&folder.journal_key());
        let key = key.map_err(|error| ApiError::internal(&error, error.hint()))?;
        let verification = journal::verify(folder.path(), &key, Some(&heads));
        let of = |name: &str| verification.files.iter().find(|file| file.name == name).map(report).unwrap_or_default();
        conversations.index.refresh();
        let limit = window.limit.unwrap_or(50).clamp(1, MOST);
        let entries: Vec<Value> = conversations
            .index
            .entries(limit, window.before)
            .into_iter()
            .map(|line| {
                json!({
                    "seq": line.seq, "time": line.at.to_string(), "kind": line.kind, "thread": line.thread,
                    "turn": line.turn, "summary": line.summary,
                })
            })
            .collect();
        Ok(Json(json!({
            "trace": of(TRACE_JOURNAL),
            "intentions": of(INTENTIONS_JOURNAL),
            "records": conversations.index.records(),
            "entries": entries,
        })))
    })
    .await
}

fn report(file: &FileReport) -> Value {
    let mut report = json!({ "records": file.lines, "intact": file.ok });
    if let Some(finding) = file.findings.iter().find(|finding| finding.kind.is_fault()) {
        report["problem"] = json!(clean(&format!("line {}: {}: {}", finding.line, finding.kind, finding.detail)));
    }
    report
}

//! `/api/threads`: earlier conversations, and searching in what was said.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use tenpass_trace::database::{MessageHit, ThreadSummary};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;
use crate::text::{clean, one_line};

/// Most threads of one answer.
const MOST: usize = 200;
/// Hits that are looked at for one answer: several may be of one thread.
const HITS: usize = 400;

#[derive(Debug, Deserialize)]
pub(crate) struct Search {
    #[serde(default)]
    query: String,
    limit: Option<usize>,
}

/// `GET /api/threads?query=&limit=50`: newest first; with `query` the ones that hold its words.
pub(crate) async fn list(
    State(application): State<Arc<Application>>,
    Query(search): Query<Search>,
) -> Result<Json<Value>, ApiError> {
    let limit = search.limit.unwrap_or(50).clamp(1, MOST);
    let database = Arc::clone(&application.conversations.store.database);
    blocking(move || {
        let query = search.query.trim();
        if query.is_empty() {
            let rows: Vec<Value> = database.threads(limit)?.iter().map(|thread| row(thread, None)).collect();
            return Ok(Json(json!({ "threads": rows })));
        }
        let hits = database.search_messages(query, HITS, None)?;
        let rows: Vec<Value> = database
            .threads(usize::MAX)?
            .iter()
            .filter_map(|thread| {
                let best = hits.iter().find(|hit| hit.thread == thread.id)?;
                Some(row(thread, Some(marked(best, query))))
            })
            .take(limit)
            .collect();
        Ok(Json(json!({ "threads": rows })))
    })
    .await
}

fn row(thread: &ThreadSummary, found: Option<String>) -> Value {
    let mut row = json!({
        "id": thread.id,
        "title": one_line(&thread.title, 120),
        "updated": thread.last_at.to_string(),
        "messages": thread.messages,
    });
    if let Some(found) = found {
        row["match"] = json!(found);
    }
    row
}

/// The part of a message that matches, on one line; each word of the query between U+2068 and U+2069.
fn marked(hit: &MessageHit, query: &str) -> String {
    let text = one_line(&clean(&hit.snippet), 300);
    let words: Vec<String> = query
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.chars().count() > 1)
        .map(tenpass_agent::fold)
        .collect();
    let mut marked = String::new();
    for piece in text.split_inclusive(|character: char| !character.is_alphanumeric()) {
        let end = piece.trim_end_matches(|character: char| !character.is_alphanumeric()).len();
        let (word, rest) = piece.split_at(end);
        let folded = tenpass_agent::fold(word);
        let is_match = !word.is_empty() && words.iter().any(|wanted| folded.starts_with(wanted.as_str()));
        if is_match {
            marked.push_str(&format!("\u{2068}{word}\u{2069}{rest}"));
        } else {
            marked.push_str(piece);
        }
    }
    marked
}

/// `POST /api/threads`: the id of a new thread, which is stored with its first message.
pub(crate) async fn begin(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    Ok(Json(json!({ "id": application.conversations.begin()?.id() })))
}

/// `GET /api/threads/ID`: as the socket's `thread` message.
pub(crate) async fn snapshot(
    State(application): State<Arc<Application>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    blocking(move || Ok(Json(application.conversations.room(&id)?.snapshot()))).await
}

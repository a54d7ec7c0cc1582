//! `/api/turns`: judging an answer, and taking the last exchange back.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};
use tenpass_agent::session::Feedback;

use super::blocking;
use crate::application::Application;
use crate::error::{ApiError, Body};
use crate::text::clean;

/// Longest correction, in characters.
const LONGEST: usize = 8_000;

#[derive(Debug, Deserialize)]
pub(crate) struct Judgement {
    verdict: String,
    correction: Option<String>,
}

/// `POST /api/turns/TURN/verdict`.
pub(crate) async fn verdict(
    State(application): State<Arc<Application>>,
    Path(turn): Path<String>,
    Body(judgement): Body<Judgement>,
) -> Result<Json<Value>, ApiError> {
    let correction = judgement.correction.map(|text| clean(text.trim())).filter(|text| !text.is_empty());
    let feedback = match (judgement.verdict.as_str(), correction) {
        ("good", _) => Feedback::Good,
        ("bad", _) => Feedback::Bad,
        ("corrected", Some(text)) if text.chars().count() <= LONGEST => Feedback::Correct(text),
        ("corrected", Some(_)) => {
            return Err(ApiError::field("correction", format!("more than {LONGEST} characters"), "shorten it"));
        }
        ("corrected", None) => {
            return Err(ApiError::field("correction", "it is missing", "say what would have been right"));
        }
        _ => return Err(ApiError::field("verdict", "it is none", "good, bad or corrected")),
    };
    blocking(move || {
        let room = application.conversations.room_of(&turn)?;
        application.conversations.judge(&room, &turn, &feedback)?;
        Ok(Json(json!({ "ok": true })))
    })
    .await
}

/// `POST /api/turns/TURN/undo`: of the last exchange of its thread only.
pub(crate) async fn undo(
    State(application): State<Arc<Application>>,
    Path(turn): Path<String>,
) -> Result<Json<Value>, ApiError> {
    blocking(move || {
        let room = application.conversations.room_of(&turn)?;
        let last = room.lock().session.as_ref().and_then(|session| session.last().map(|last| last.turn.clone()));
        if last.is_some_and(|last| last != turn) {
            return Err(ApiError::conflict(
                "this is not the last exchange of its thread",
                "take the later ones back first",
            ));
        }
        let undone = application.conversations.take_back(&room)?;
        let live = application.conversations.model.live();
        let file = live.as_ref().and_then(|live| live.assistant.memory());
        let entries: Vec<Value> = undone
            .memory
            .iter()
            .map(|entry| {
                let id = file.and_then(|file| super::memory::entry_id_of(file, &entry.section, &entry.text));
                json!({ "id": id, "section": entry.section, "text": clean(&entry.text) })
            })
            .collect();
        Ok(Json(json!({ "memory": entries })))
    })
    .await
}

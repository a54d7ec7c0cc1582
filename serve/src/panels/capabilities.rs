//! `/api/capabilities`: the capability memo (K97).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use tenpass_agent::prompt::Language;
use tenpass_agent::tool::NoteStatus;

use crate::application::Application;
use crate::error::ApiError;

/// `GET /api/capabilities`: what each tool does for the person, its tier, and how far it is known to
/// work.
pub(crate) async fn show(State(application): State<Arc<Application>>) -> Result<Json<Value>, ApiError> {
    let live = application
        .conversations
        .model
        .live()
        .ok_or_else(|| ApiError::no_model("the tools are there when the model is"))?;
    let offered = live.assistant.agent().tools.definitions();
    let tools: Vec<Value> = live
        .memo
        .entries
        .iter()
        .map(|entry| {
            let status = match entry.status {
                _ if !offered.iter().any(|tool| tool.name == entry.tool) => "off",
                NoteStatus::SeenWorking => "seen_working",
                NoteStatus::NeverRechecked => "never_rechecked",
                NoteStatus::KnownLimit => "known_limit",
            };
            let note = if entry.limit.is_empty() {
                entry.serves.to_owned()
            } else {
                format!("{} ({})", entry.serves, entry.status_text(Language::English))
            };
            json!({ "name": entry.tool, "tier": entry.tier.as_str(), "status": status, "note": note })
        })
        .collect();
    Ok(Json(json!({ "tools": tools })))
}

//! `GET /v1/models`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::Programs;
use super::fault::Fault;
use crate::application::Application;

/// Every model that can be named here.
pub(super) async fn list(
    State(application): State<Arc<Application>>,
    Extension(programs): Extension<Programs>,
) -> Json<Value> {
    Json(json!({ "object": "list", "data": all(&application, &programs) }))
}

/// One of them.
pub(super) async fn one(
    State(application): State<Arc<Application>>,
    Extension(programs): Extension<Programs>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Fault> {
    let found = all(&application, &programs).into_iter().find(|model| model["id"] == name.as_str());
    let name: String = name.chars().take(80).collect();
    found.map(Json).ok_or_else(|| {
        Fault::unknown(format!("there is no model {name:?}: GET /v1/models lists them"), "model_not_found")
    })
}

fn all(application: &Application, programs: &Programs) -> Vec<Value> {
    let created =
        jiff::Timestamp::now().as_second() - i64::try_from(application.started.elapsed().as_secs()).unwrap_or(0);
    let entry = |id: &str, kind: &str| json!({ "id": id, "object": "model", "created": created, "owned_by": "tenpass", "kind": kind });
    let mut models = Vec::new();
    if let Some(live) = application.conversations.model.live() {
        models.push(entry(&live.assistant.agent().model.info().spec, "chat"));
    }
    let Some(engines) = programs.slot.get() else { return models };
    if let Some(embedder) = &engines.embedder {
        models.push(entry(&embedder.info().name, "embeddings"));
    }
    if let Some(ears) = &engines.ears {
        models.push(entry(&ears.info().spec, "transcription"));
    }
    models.extend(engines.voices.iter().map(|voice| entry(&voice.name, "speech")));
    models
}

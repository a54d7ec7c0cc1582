//! What the page shows beside the conversation. GET has no effects; what writes goes through the gate.

pub(crate) mod capabilities;
pub(crate) mod files;
pub(crate) mod journals;
pub(crate) mod memory;
pub(crate) mod runtime;
pub mod settings;
pub(crate) mod spend;
pub(crate) mod threads;
pub(crate) mod turns;
pub(crate) mod watchdog;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post};

use crate::application::Application;

/// Largest file that is taken, with its multipart around it.
const FILE_BODY: usize = 33 << 20;

/// The routes of the panels.
pub(crate) fn routes() -> Router<Arc<Application>> {
    Router::new()
        .route("/api/threads", get(threads::list).post(threads::begin))
        .route("/api/threads/{id}", get(threads::snapshot))
        .route("/api/turns/{turn}/verdict", post(turns::verdict))
        .route("/api/turns/{turn}/undo", post(turns::undo))
        .route("/api/memory", get(memory::show))
        .route("/api/memory/{name}", get(memory::section).merge(delete(memory::forget)))
        .route("/api/journals", get(journals::show))
        .route("/api/watchdog", get(watchdog::show))
        .route("/api/spend", get(spend::show))
        .route("/api/capabilities", get(capabilities::show))
        .route("/api/runtime", get(runtime::show))
        .route("/api/files", post(files::receive).layer(DefaultBodyLimit::max(FILE_BODY)))
        .route("/api/settings", get(settings::show).put(settings::change))
}

/// Carries work out that touches the disk for longer than a moment.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, crate::error::ApiError> + Send + 'static,
) -> Result<T, crate::error::ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(crate::error::ApiError::internal(error, "this is a bug: please report it")),
    }
}

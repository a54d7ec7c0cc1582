//! The second computer: embeddings for another tenpass, and nothing else.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use tenpass_embed::Embedder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::embeddings::answer;
use super::fault::{Body, Fault};

struct Second {
    embedder: Arc<dyn Embedder>,
    token: String,
}

/// Serves until `stop`. Every request but `/healthz` carries the bearer token.
pub async fn serve_embeddings(
    listener: TcpListener,
    embedder: Arc<dyn Embedder>,
    token: String,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let shared = Arc::new(Second { embedder, token });
    let routes = Router::new()
        .route("/v1/embeddings", post(embed))
        .route("/v1/models", get(models))
        .layer(from_fn_with_state(Arc::clone(&shared), gate))
        .route("/healthz", get(|| async { "ok\n" }))
        .layer(axum::middleware::from_fn(crate::security::headers))
        .with_state(shared);
    axum::serve(listener, routes).with_graceful_shutdown(async move { stop.cancelled().await }).await
}

async fn gate(State(second): State<Arc<Second>>, request: Request, next: Next) -> Response {
    // A browser never has business here: a page that was tricked into asking is refused whatever it knows.
    if request.headers().contains_key("origin") {
        return StatusCode::FORBIDDEN.into_response();
    }
    let value = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let token = value.strip_prefix("Bearer ").unwrap_or_default();
    if bool::from(token.as_bytes().ct_eq(second.token.as_bytes())) {
        next.run(request).await
    } else {
        let body = json!({ "error": { "message": "this needs the bearer token that was printed at the start" } });
        (StatusCode::UNAUTHORIZED, Json(body)).into_response()
    }
}

async fn embed(State(second): State<Arc<Second>>, Body(body): Body) -> Result<Json<Value>, Fault> {
    answer(&*second.embedder, &body).await.map(Json)
}

async fn models(State(second): State<Arc<Second>>) -> Json<Value> {
    let info = second.embedder.info();
    Json(json!({
        "object": "list",
        "data": [{ "id": info.name, "object": "model", "created": 0, "owned_by": "tenpass", "kind": "embeddings" }],
    }))
}

//! What a request is answered with when it cannot be carried out: `{"error":{"message","hint","field"}}`.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How long a JSON body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(15);

/// A JSON body; a wrong or late one is answered in the form of every other error.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let hint = "send a JSON object as serve/PROTOCOL.md has it";
        match tokio::time::timeout(BODY_PATIENCE, Json::<T>::from_request(request, state)).await {
            Ok(Ok(Json(body))) => Ok(Self(body)),
            Ok(Err(rejection)) => {
                let message = crate::text::one_line(&rejection.body_text(), 300);
                Err(ApiError::new(rejection.status(), message, hint))
            }
            Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in 15 s", hint)),
        }
    }
}

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The status of the answer.
    pub status: StatusCode,
    /// A lowercase fragment that names the thing and the value.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The field of the request that is wrong, if it is one.
    pub field: Option<&'static str>,
}

impl ApiError {
    /// An error with this status.
    pub fn new(status: StatusCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: hint.into(), field: None }
    }

    /// 404.
    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, hint)
    }

    /// 400: this field of the request is wrong.
    pub fn field(field: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { field: Some(field), ..Self::new(StatusCode::BAD_REQUEST, message, hint) }
    }

    /// 409: not now.
    pub fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message, hint)
    }

    /// 500: the store, the disk or this program failed.
    pub fn internal(message: impl std::fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message.to_string(), hint)
    }

    /// 503: there is no model yet.
    pub fn no_model(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            message,
            "wait for the model, or see why it does not load: /api/session",
        )
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let mut error = json!({ "message": self.message, "hint": self.hint });
        if let Some(field) = self.field {
            error["field"] = json!(field);
        }
        json!({ "error": error })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

impl From<tenpass_trace::database::DatabaseError> for ApiError {
    fn from(error: tenpass_trace::database::DatabaseError) -> Self {
        let hint = error.hint();
        Self::internal(error, hint)
    }
}

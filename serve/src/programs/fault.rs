//! Errors in OpenAI's shape.

use axum::Json;
use axum::extract::FromRequest;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A request that is not answered.
#[derive(Debug)]
pub(super) struct Fault {
    status: StatusCode,
    message: String,
    parameter: Option<String>,
    code: Option<&'static str>,
}

impl Fault {
    /// 400: what was sent is wrong, in this parameter.
    pub(super) fn invalid(parameter: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), parameter: Some(parameter.into()), code: None }
    }

    /// 404: there is no such model or voice.
    pub(super) fn unknown(message: impl Into<String>, code: &'static str) -> Self {
        let parameter = Some("model".to_owned());
        Self { status: StatusCode::NOT_FOUND, message: message.into(), parameter, code: Some(code) }
    }

    /// 501: this server was started without it.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::NOT_IMPLEMENTED,
            message: message.into(),
            parameter: None,
            code: Some("not_offered"),
        }
    }

    /// 503: not now.
    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, message: message.into(), parameter: None, code: None }
    }

    /// 502: what answers failed.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, message: message.into(), parameter: None, code: None }
    }

    /// The body.
    pub(super) fn body(&self) -> Value {
        let kind = if self.status.is_client_error() { "invalid_request_error" } else { "server_error" };
        json!({ "error": { "message": self.message, "type": kind, "param": self.parameter, "code": self.code } })
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (self.status, Json(self.body())).into_response()
    }
}

/// A JSON body; one that is none is answered in OpenAI's shape.
pub(super) struct Body(pub(super) Value);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Fault;

    async fn from_request(request: axum::extract::Request, state: &S) -> Result<Self, Fault> {
        match Json::<Value>::from_request(request, state).await {
            Ok(Json(value)) if value.is_object() => Ok(Self(value)),
            Ok(_) => Err(Fault::invalid("body", "the body is a JSON object")),
            Err(JsonRejection::BytesRejection(error)) => {
                Err(Fault { status: error.status(), message: error.body_text(), parameter: None, code: None })
            }
            Err(error) => Err(Fault::invalid("body", error.body_text())),
        }
    }
}

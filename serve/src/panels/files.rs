//! `/api/files`: a file that the person drops on the page, into the folder the agent may write to.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Multipart, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::blocking;
use crate::application::Application;
use crate::error::ApiError;
use crate::text::one_line;

/// Largest file.
const LARGEST: usize = 32 << 20;

/// `POST /api/files`, multipart with one part `file`. Never over another file.
pub(crate) async fn receive(
    State(application): State<Arc<Application>>,
    mut parts: Multipart,
) -> Result<Json<Value>, ApiError> {
    let live = application
        .conversations
        .model
        .live()
        .ok_or_else(|| ApiError::no_model("files are taken when the model is there"))?;
    let broken = |error: axum::extract::multipart::MultipartError| {
        let hint = "send one part named file, of at most 32 MiB";
        ApiError::new(error.status(), one_line(&error.body_text(), 200), hint)
    };
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        if part.name() != Some("file") {
            continue;
        }
        let name = part.file_name().unwrap_or("file").to_owned();
        let content = part.bytes().await.map_err(broken)?;
        if content.len() > LARGEST {
            return Err(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the file is larger than 32 MiB",
                "send a smaller one",
            ));
        }
        let kind = kind(&content);
        let received = blocking(move || {
            live.sandbox.receive(&name, &content).map_err(|error| {
                let hint = error.hint();
                ApiError::new(StatusCode::BAD_REQUEST, error.to_string(), hint)
            })
        })
        .await?;
        return Ok(Json(json!({
            "name": received.path, "bytes": received.bytes, "kind": kind, "path": received.path,
        })));
    }
    Err(ApiError::field("file", "there is no part named file", "send one file as multipart/form-data"))
}

/// What a content is, by its first bytes.
fn kind(content: &[u8]) -> &'static str {
    let begins = |start: &[u8]| content.starts_with(start);
    if begins(b"%PDF-") {
        "pdf"
    } else if begins(b"PK\x03\x04") {
        "archive or office document"
    } else if begins(b"\x89PNG") || begins(b"\xff\xd8\xff") || begins(b"GIF8") {
        "image"
    } else if begins(b"RIFF") || begins(b"fLaC") || begins(b"ID3") || begins(b"OggS") {
        "sound"
    } else if std::str::from_utf8(content).is_ok_and(|text| !text.contains('\0')) {
        "text"
    } else {
        "data"
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn contents_are_told_apart() {
        assert_eq!(super::kind(b"%PDF-1.7"), "pdf");
        assert_eq!(super::kind("é\n".as_bytes()), "text");
        assert_eq!(super::kind(b"\x00\x01\xff"), "data");
    }
}

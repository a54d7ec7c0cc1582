//! `POST /v1/embeddings`.

use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tenpass_embed::Embedder;

use super::Programs;
use super::fault::{Body, Fault};

/// Most texts of one request.
const MOST_TEXTS: usize = 2_048;

/// Embeds.
pub(super) async fn embed(Extension(programs): Extension<Programs>, Body(body): Body) -> Result<Json<Value>, Fault> {
    let Some(embedder) = programs.engines()?.embedder.clone() else {
        return Err(Fault::missing("no embedding model is loaded: tenpass models pull minilm-l6-v2, then start again"));
    };
    answer(&*embedder, &body).await.map(Json)
}

/// The answer to a request, for the server of the second computer as well.
pub(super) async fn answer(embedder: &dyn Embedder, body: &Value) -> Result<Value, Fault> {
    let info = embedder.info();
    match body["model"].as_str() {
        Some(name) if [info.name.as_str(), "tenpass", "default"].contains(&name) => {}
        Some(name) => {
            let name: String = name.chars().take(80).collect();
            return Err(Fault::unknown(
                format!("there is no model {name:?}; this server embeds with {}", info.name),
                "model_not_found",
            ));
        }
        None => return Err(Fault::invalid("model", "`model` is missing")),
    }
    let texts: Vec<String> = match &body["input"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(texts) if (1..=MOST_TEXTS).contains(&texts.len()) => texts
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| Fault::invalid("input", "`input` is a text or a list of texts; tokens are not taken"))?,
        _ => return Err(Fault::invalid("input", format!("`input` is a text, or a list of 1 to {MOST_TEXTS}"))),
    };
    let as_base64 = match body["encoding_format"].as_str() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => return Err(Fault::invalid("encoding_format", "`encoding_format` is float or base64")),
    };
    if let Some(wanted) = body["dimensions"].as_u64()
        && wanted != info.dimensions as u64
    {
        return Err(Fault::invalid("dimensions", format!("vectors of this model have {} values", info.dimensions)));
    }
    let vectors = embedder.embed(&texts).await.map_err(|error| Fault::failed(error.to_string()))?;
    let data: Vec<Value> = vectors
        .into_iter()
        .enumerate()
        .map(|(index, vector)| {
            let embedding = if as_base64 {
                let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
                json!(STANDARD.encode(bytes))
            } else {
                json!(vector)
            };
            json!({ "object": "embedding", "index": index, "embedding": embedding })
        })
        .collect();
    // A rough count: about four bytes a token, as nobody is billed by it.
    let tokens = texts.iter().map(|text| text.len().div_ceil(4)).sum::<usize>();
    Ok(json!({
        "object": "list", "data": data, "model": info.name,
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    }))
}

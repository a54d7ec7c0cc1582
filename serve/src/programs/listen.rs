//! `POST /v1/audio/transcriptions`.

use std::sync::Arc;

use axum::extract::Multipart;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::json;
use tenpass_stt::{Transcript, subtitles};

use super::Programs;
use super::fault::Fault;

/// What was sent.
#[derive(Default)]
struct Form {
    sound: Option<(String, Vec<u8>)>,
    model: Option<String>,
    language: Option<String>,
    prompt: Option<String>,
    format: String,
}

/// Writes down what is said.
pub(super) async fn transcribe(
    Extension(programs): Extension<Programs>,
    multipart: Multipart,
) -> Result<Response, Fault> {
    let Some(ears) = programs.engines()?.ears.clone() else {
        return Err(Fault::missing(
            "no speech to text is loaded: tenpass models pull whisper-base whisper-base-tokenizer silero-vad",
        ));
    };
    let form = form(multipart).await?;
    let Some((name, bytes)) = form.sound else { return Err(Fault::invalid("file", "`file` is missing")) };
    let known = form
        .model
        .as_deref()
        .is_none_or(|name| name == ears.info().spec || ["whisper-1", "tenpass", "default"].contains(&name));
    if !known {
        return Err(Fault::unknown(format!("this server transcribes with {}", ears.info().spec), "model_not_found"));
    }
    if !["json", "text", "srt", "vtt", "verbose_json"].contains(&form.format.as_str()) {
        return Err(Fault::invalid("response_format", "`response_format` is json, text, srt, vtt or verbose_json"));
    }
    let mut decoding = programs.engines()?.decoding.clone();
    decoding.language = form.language.or(decoding.language);
    decoding.prompt = form.prompt.or(decoding.prompt);
    let place = Arc::clone(&programs.places).acquire_owned().await;
    let work = tokio::task::spawn_blocking(move || {
        // Every form of sound is read from a file; its name says which form it has.
        let folder = tempfile::tempdir().map_err(|error| Fault::failed(error.to_string()))?;
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).map_err(|error| Fault::failed(error.to_string()))?;
        let audio = tenpass_audio::read(&path).map_err(|error| Fault::invalid("file", problem(&error.to_string())))?;
        ears.transcribe(&audio, &decoding).map_err(|error| Fault::invalid("file", error.to_string()))
    });
    let transcript = work.await.map_err(|error| Fault::failed(error.to_string()))??;
    drop(place);
    Ok(answer(&form.format, &transcript))
}

/// An error without the name of the temporary folder.
fn problem(error: &str) -> String {
    error.rsplit_once(": ").map_or(error, |(_, problem)| problem).to_owned()
}

async fn form(mut multipart: Multipart) -> Result<Form, Fault> {
    let mut form = Form { format: "json".to_owned(), ..Form::default() };
    let broken = |error: axum::extract::multipart::MultipartError| Fault::invalid("body", error.body_text());
    while let Some(field) = multipart.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            let extension = field.file_name().and_then(|name| name.rsplit_once('.')).map_or("wav", |(_, end)| end);
            let extension: String = extension.chars().filter(char::is_ascii_alphanumeric).take(5).collect();
            let bytes = field.bytes().await.map_err(broken)?;
            form.sound = Some((format!("sound.{}", extension.to_lowercase()), bytes.to_vec()));
            continue;
        }
        let text = field.text().await.map_err(broken)?;
        match name.as_str() {
            "model" => form.model = Some(text),
            "language" => form.language = Some(text).filter(|language| !language.is_empty()),
            "prompt" => form.prompt = Some(text).filter(|prompt| !prompt.is_empty()),
            "response_format" => form.format = text,
            _ => {}
        }
    }
    Ok(form)
}

fn answer(format: &str, transcript: &Transcript) -> Response {
    let plain = |kind: &'static str, text: String| ([(CONTENT_TYPE, kind)], text).into_response();
    match format {
        "text" => plain("text/plain; charset=utf-8", format!("{}\n", transcript.text())),
        "srt" => plain("application/x-subrip; charset=utf-8", subtitles::srt(&transcript.segments)),
        "vtt" => plain("text/vtt; charset=utf-8", subtitles::vtt(&transcript.segments)),
        "verbose_json" => {
            let segments: Vec<_> = transcript
                .segments
                .iter()
                .enumerate()
                .map(|(id, segment)| {
                    json!({
                        "id": id, "seek": 0, "start": segment.start_s, "end": segment.end_s, "text": segment.text,
                        "tokens": [], "temperature": segment.temperature, "avg_logprob": segment.log_probability,
                        "compression_ratio": 0, "no_speech_prob": segment.no_speech,
                    })
                })
                .collect();
            Json(json!({
                "task": "transcribe", "language": transcript.language, "duration": transcript.audio_s,
                "text": transcript.text(), "segments": segments,
            }))
            .into_response()
        }
        _ => Json(json!({ "text": transcript.text() })).into_response(),
    }
}

//! `POST /v1/audio/speech`.

use std::sync::Arc;

use axum::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use tenpass_audio::Audio;
use tenpass_tts::{Chunker, SpeakOptions};

use super::fault::{Body, Fault};
use super::{NamedVoice, Programs};

/// Longest text, in characters, as OpenAI's.
const MOST_CHARACTERS: usize = 4_096;
/// Samples a second of `pcm`.
const PCM_RATE: u32 = 24_000;
/// Silence between two clauses, in seconds.
const PAUSE_S: f64 = 0.15;
/// Names of OpenAI's voices, which clients send by default.
const USUAL: [&str; 13] =
    ["alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse", "marin", "cedar"];

/// Speaks a text.
pub(super) async fn speak(Extension(programs): Extension<Programs>, Body(body): Body) -> Result<Response, Fault> {
    let Some(text) = body["input"].as_str() else { return Err(Fault::invalid("input", "`input` is missing")) };
    if text.chars().count() > MOST_CHARACTERS {
        return Err(Fault::invalid("input", format!("`input` has at most {MOST_CHARACTERS} characters")));
    }
    let voice = choose(&programs.engines()?.voices, body["voice"].as_str())?.clone();
    let speed = match &body["speed"] {
        serde_json::Value::Null => 1.0,
        value => value
            .as_f64()
            .filter(|speed| (0.25..=4.0).contains(speed))
            .ok_or_else(|| Fault::invalid("speed", "`speed` is a number from 0.25 to 4"))?,
    };
    let format = body["response_format"].as_str().unwrap_or("wav").to_owned();
    if !["wav", "flac", "pcm"].contains(&format.as_str()) {
        return Err(Fault::invalid(
            "response_format",
            "`response_format` is wav, flac or pcm (24 kHz, 16 bits, one channel)",
        ));
    }
    let mut chunker = Chunker::speaking(&voice.language);
    let mut clauses = chunker.push(text);
    clauses.extend(chunker.finish());
    let place = Arc::clone(&programs.places).acquire_owned().await;
    let options = SpeakOptions { speed: speed as f32, ..SpeakOptions::default() };
    let work = tokio::task::spawn_blocking(move || {
        let mut all = Audio::new(Vec::new(), voice.voice.info().rate);
        for clause in clauses {
            if !all.samples.is_empty() {
                all.samples.extend(std::iter::repeat_n(0.0, (PAUSE_S * f64::from(all.rate)) as usize));
            }
            let spoken = voice.voice.speak(&clause, &options).map_err(|error| Fault::failed(error.to_string()))?;
            all.samples.extend(spoken.at_rate(all.rate).samples);
        }
        encoded(&format, all)
    });
    let answer = work.await.map_err(|error| Fault::failed(error.to_string()))??;
    drop(place);
    Ok(answer)
}

fn encoded(format: &str, audio: Audio) -> Result<Response, Fault> {
    let failed = |error: tenpass_audio::AudioError| Fault::failed(error.to_string());
    let (kind, bytes) = match format {
        "flac" => ("audio/flac", tenpass_audio::flac_bytes(&audio).map_err(failed)?),
        "pcm" => {
            let samples = audio.at_rate(PCM_RATE).to_i16();
            ("audio/pcm", samples.into_iter().flat_map(i16::to_le_bytes).collect())
        }
        _ => ("audio/wav", tenpass_audio::wav_bytes(&audio).map_err(failed)?),
    };
    Ok(([(CONTENT_TYPE, kind)], bytes).into_response())
}

fn choose<'a>(voices: &'a [NamedVoice], name: Option<&str>) -> Result<&'a NamedVoice, Fault> {
    let Some(first) = voices.first() else {
        return Err(Fault::missing(
            "no voice is loaded: install espeak-ng, or: tenpass models pull onnxruntime piper-joe",
        ));
    };
    match name {
        None => Ok(first),
        Some(name) if USUAL.contains(&name) => Ok(first),
        Some(name) => voices.iter().find(|voice| voice.name == name).ok_or_else(|| {
            let known: Vec<&str> = voices.iter().map(|voice| voice.name.as_str()).collect();
            Fault::invalid("voice", format!("there is no such voice; there is {}", known.join(", ")))
        }),
    }
}

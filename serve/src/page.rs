//! The page's files: built into the binary, or read from a folder while somebody works on them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest as _, Sha256};

use crate::application::Application;
use crate::error::ApiError;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and content of every file of the page.
        const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../web/", $name)))),*];
    };
}

files!(
    "app.js",
    "audio.js",
    "blind.html",
    "blind.js",
    "calls.js",
    "capture-worklet.js",
    "chime.js",
    "composer.js",
    "confirm.js",
    "conversation.js",
    "dom.js",
    "early.js",
    "files.js",
    "format.js",
    "html.js",
    "http.js",
    "i18n.js",
    "icon.svg",
    "index.html",
    "keys.js",
    "latency.js",
    "memory.js",
    "microphone.js",
    "orb-scene.js",
    "orb.js",
    "panel-parts.js",
    "panel-views.js",
    "panels.js",
    "playback-worklet.js",
    "record.html",
    "record.js",
    "resample.js",
    "sentences.js",
    "settings.js",
    "side.css",
    "socket.js",
    "store.js",
    "style.css",
    "talk.css",
    "threads.js",
    "turn-view.js",
    "voice.js",
    "vote.css",
    "wav.js",
    "words-en.js",
    "words-fr.js",
);

/// The routes of the page's files.
pub(crate) fn routes() -> Router<Arc<Application>> {
    Router::new()
        .route("/", get(|state, headers| html(state, headers, "index.html")))
        .route("/blind", get(|state, headers| html(state, headers, "blind.html")))
        .route("/record", get(|state, headers| html(state, headers, "record.html")))
        .route("/assets/{name}", get(asset))
}

#[allow(clippy::unused_async, reason = "a handler is asynchronous")]
async fn html(State(application): State<Arc<Application>>, headers: HeaderMap, name: &'static str) -> Response {
    answer(&application, &headers, name)
}

async fn asset(
    State(application): State<Arc<Application>>,
    headers: HeaderMap,
    UrlPath(name): UrlPath<String>,
) -> Response {
    let is_asset = Path::new(&name).extension().is_none_or(|ending| ending != "html");
    if is_asset { answer(&application, &headers, &name) } else { missing(&name) }
}

fn missing(name: &str) -> Response {
    let name: String = name.chars().take(60).collect();
    ApiError::not_found(format!("the page has no file {name:?}"), "its files are in serve/web").into_response()
}

fn answer(application: &Application, headers: &HeaderMap, name: &str) -> Response {
    let Some(kind) = kind(name) else { return missing(name) };
    let Some(content) = content(application.options.web_dir.as_deref(), name) else { return missing(name) };
    let digest = Sha256::digest(&content);
    let tag = format!("\"{}\"", digest[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let caching = [(CACHE_CONTROL, "no-cache".to_owned()), (ETAG, tag.clone())];
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    (caching, [(CONTENT_TYPE, kind)], content.into_owned()).into_response()
}

/// The content of a file that this page has. A name that is not on the list is none, whatever lies in
/// the folder.
fn content(folder: Option<&Path>, name: &str) -> Option<Cow<'static, [u8]>> {
    match folder {
        Some(folder) if is_plain(name) => std::fs::read(folder.join(name)).ok().map(Cow::Owned),
        Some(_) => None,
        None => FILES.iter().find(|(known, _)| *known == name).map(|(_, content)| Cow::Borrowed(*content)),
    }
}

fn is_plain(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.starts_with('.') && !name.contains("..") && name.bytes().all(is_good)
}

fn kind(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" | "json" => "application/json",
        "woff2" => "font/woff2",
        "wav" => "audio/wav",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| kind(name).is_some() && !name.contains("test"))
            .collect();
        found.sort();
        let mut listed: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    #[test]
    fn only_plain_names_are_read_from_a_folder() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.js"), "1").unwrap();
        std::fs::write(place.path().join(".hidden"), "1").unwrap();
        assert!(content(Some(place.path()), "a.js").is_some());
        for name in ["../a.js", "./a.js", ".hidden", "/etc/passwd", "a.js\0", "..", "a..js", "x\\a.js", "%2e%2e"] {
            assert!(content(Some(place.path()), name).is_none(), "{name}");
            assert!(content(None, name).is_none(), "{name}");
        }
    }
}

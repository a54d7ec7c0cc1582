//! The gate: every request passes it before any handler sees it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::keys::cookie_name;
use super::page;
use crate::application::Application;
use crate::error::ApiError;

/// Sent by our own page with every write: no form and no simple request can.
const MARK: &str = "x-tenpass";
const NO_TOKEN_HINT: &str = "open the address that `tenpass serve` printed, or a new one from `tenpass serve --link`";

/// How a request proved that it may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Bearer,
    Cookie,
    None,
}

/// Lets a request through, or answers it.
pub(crate) async fn gate(State(application): State<Arc<Application>>, request: Request, next: Next) -> Response {
    match judge(&application, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.answer(request.uri().path(), request.headers()),
    }
}

/// Why a request goes no further.
struct Refusal {
    status: StatusCode,
    message: &'static str,
    hint: &'static str,
}

impl Refusal {
    fn new(status: StatusCode, message: &'static str, hint: &'static str) -> Self {
        Self { status, message, hint }
    }

    fn forbidden(message: &'static str, hint: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message, hint)
    }

    /// JSON for programs, a page for a browser.
    fn answer(self, path: &str, headers: &HeaderMap) -> Response {
        let is_api = path.starts_with("/api") || path.starts_with("/v1") || path.starts_with("/metrics");
        let wants_page = text(headers, ACCEPT.as_str()).is_some_and(|accept| accept.contains("text/html"));
        if is_api || !wants_page {
            return ApiError::new(self.status, self.message, self.hint).into_response();
        }
        let title = if self.status == StatusCode::UNAUTHORIZED { "Not signed in" } else { "Not from here" };
        page(self.status, title, &format!("{}: {}.", self.message, self.hint))
    }
}

fn judge(application: &Application, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let path = request.uri().path();
    check_place(application, request)?;
    if path == "/healthz" || path == "/enter" {
        return Ok(());
    }
    let proof = proof(application, headers);
    if proof == Proof::None {
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "this needs a token or the cookie", NO_TOKEN_HINT));
    }
    let is_socket = path == "/api/socket";
    if is_socket && proof == Proof::Cookie && headers.get(ORIGIN).is_none() {
        return Err(Refusal::forbidden("a socket with a cookie needs an Origin", "programs use the bearer token"));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    check_write(request, path, proof)?;
    if application.writes.take(1.0) {
        Ok(())
    } else {
        Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests", "slow down to 20 a second"))
    }
}

/// Host, Origin, and what a browser says about where a request comes from.
fn check_place(application: &Application, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else {
        return Err(Refusal::forbidden("a request names one Host", "open the address that was printed"));
    };
    let is_ours = |host: &str| application.hosts.allows_host(host);
    // An absolute request target names a host of its own.
    if !is_ours(host) || request.uri().authority().is_some_and(|authority| !is_ours(authority.as_str())) {
        return Err(Refusal::forbidden(
            "this server does not answer to that name",
            "open the address that was printed",
        ));
    }
    for origin in headers.get_all(ORIGIN) {
        if !origin.to_str().is_ok_and(|origin| application.hosts.allows_origin(origin, host)) {
            return Err(Refusal::forbidden("a page of another origin asked", "only its own page may ask this server"));
        }
    }
    let site = text(headers, "sec-fetch-site");
    let navigates = text(headers, "sec-fetch-mode") == Some("navigate") && *request.method() == Method::GET;
    if matches!(site, Some("cross-site" | "same-site")) && !navigates {
        return Err(Refusal::forbidden("a page of another site asked", "only its own page may ask this server"));
    }
    Ok(())
}

fn proof(application: &Application, headers: &HeaderMap) -> Proof {
    if let Some(value) = text(headers, AUTHORIZATION.as_str()) {
        let token = value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("bearer "));
        // A wrong token is wrong, whatever the cookie says.
        return if token.is_some_and(|token| application.keys.is_bearer(token.trim())) {
            Proof::Bearer
        } else {
            Proof::None
        };
    }
    let name = cookie_name(application.port());
    let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let is_known = pairs.any(|(key, value)| key == name && application.keys.is_cookie(value));
    if is_known { Proof::Cookie } else { Proof::None }
}

/// What a request that writes must look like.
fn check_write(request: &Request, path: &str, proof: Proof) -> Result<(), Refusal> {
    let headers = request.headers();
    let kind = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_right = match path {
        "/api/files" | "/v1/audio/transcriptions" => kind == "multipart/form-data",
        "/api/record/clips" => kind == "audio/wav",
        _ => kind == "application/json" || (*request.method() == Method::DELETE && kind.is_empty()),
    };
    if !is_right {
        return Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the Content-Type is not the one of this request",
            "send application/json; files as multipart/form-data; clips as audio/wav",
        ));
    }
    if proof == Proof::Cookie && text(headers, MARK) != Some("1") {
        return Err(Refusal::forbidden(
            "a write with a cookie needs the header X-Tenpass: 1",
            "programs use the bearer token",
        ));
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

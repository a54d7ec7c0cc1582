//! The headers of every answer.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

/// Nothing from elsewhere, nothing inline.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                   media-src 'self' blob:; connect-src 'self'; font-src 'self'; worker-src 'self'; \
                   manifest-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Adds them; `no-store` unless the answer says otherwise.
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let map = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, CSP),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "microphone=(self), camera=(), geolocation=()"),
    ] {
        map.insert(name, HeaderValue::from_static(value));
    }
    map.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

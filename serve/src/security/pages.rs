//! The pages of a refusal: plain, and they say what to do.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

use crate::markdown::escaped;

/// A page with a heading and a paragraph, in no style.
pub(crate) fn page(status: StatusCode, title: &str, text: &str) -> Response {
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · tenpass</title>\n\
         <h1>{title}</h1>\n<p>{text}</p>\n</html>\n",
        title = escaped(title),
        text = escaped(text)
    );
    (status, Html(html)).into_response()
}

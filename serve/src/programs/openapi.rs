//! `GET /openapi.json`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// The routes for programs, as an OpenAPI 3.1 document.
pub const DOCUMENT: &str = include_str!("openapi.json");

/// Shows it.
pub(super) async fn show() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn the_document_names_every_route_for_programs() {
        let document: Value = serde_json::from_str(super::DOCUMENT).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let source = include_str!("mod.rs");
        let routes = source.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")?.split('"').next());
        let mut count = 0;
        for route in routes.filter(|route| route.starts_with("/v1/")) {
            let path = route.replace("{*", "{");
            assert!(document["paths"][path.as_str()].is_object(), "{path} is not in openapi.json");
            count += 1;
        }
        assert_eq!(document["paths"].as_object().unwrap().len(), count);
    }
}

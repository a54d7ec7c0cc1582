//! What surrounds every page: the head with its policy, the style sheet, the script.
//!
//! A page needs no network and may use none: the policy forbids every load, and admits exactly one
//! style sheet and one script, named by their hashes.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::escape::escape;

/// The style sheet of every page.
pub(crate) const STYLE: &str = include_str!("style.css");
/// The script of pages with passes to look into.
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// A page that needs no script.
pub(crate) fn page(title: &str, body: &str) -> String {
    let mut html = head(title, false);
    html.push_str(body);
    html.push_str(FOOT);
    html
}

/// Everything up to the content of `main`.
pub(crate) fn head(title: &str, with_script: bool) -> String {
    let mut policy = format!("default-src 'none'; style-src {}; img-src data:", source(STYLE));
    if with_script {
        let _ = write!(policy, "; script-src {}", source(SCRIPT));
    }
    policy.push_str("; base-uri 'none'; form-action 'none'");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"tenpass {version}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <main>\n",
        version = env!("CARGO_PKG_VERSION"),
        title = escape(title),
    )
}

/// The end of a page without a script.
pub(crate) const FOOT: &str = "</main>\n</body>\n</html>\n";

/// The end of a page with the script.
pub(crate) fn foot_with_script() -> String {
    format!("</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// A text's hash as a policy names it.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

//! The comparison as a page of HTML.

use super::data::RunComparison;
use crate::html::{fragment, page};
use crate::view::comparison_page;

/// A comparison of two runs as one self-contained page.
pub fn comparison_html(comparison: &RunComparison) -> String {
    let title = format!("{}: {} → {}", comparison.verdict, comparison.before.facts.run, comparison.after.facts.run);
    page(&title, &fragment(&comparison_page(comparison)))
}

//! Tables and machine-readable views of a run.
//!
//! ```text
//! graded passes ─► Summariser ─► RunSummary ─┬► view ─► blocks ─┬► terminal table
//!   (one by one)                  (serde)    │                  └► Markdown
//!                                            ├► JSON, all of it
//!                                            └► CSV, a row per case and configuration
//! ```
//! Nothing here reads a store, asks the terminal for its width or prints: the caller passes a
//! [`Style`] and receives text. Every rate stands beside its 95 % interval; INVALID passes are
//! counted apart and never scored.

mod blocks;
mod compare;
mod csv_view;
mod html;
mod json;
mod markdown;
mod notes;
mod numbers;
pub mod plot;
mod rows;
mod summarise;
mod summary;
mod tally;
mod terminal;
mod view;

pub use compare::{
    COMPARISON_VERSION, Change, ComparedCase, ComparedSide, ComparisonRequest, Difference, FailureChange,
    MeasureChange, Role, RunComparison, SideFacts, SideGathering, compare_runs, comparison_csv, comparison_html,
};
pub use csv_view::render_csv;
pub use html::{
    FactSheet, MOST_BYTES, MOST_PASSES, PagePart, PassPage, ReportColumn, ReportExtra, ReportPage, ReportSection,
    ReportWriter,
};
pub use json::{ReportError, parse_json, render_json};
pub use markdown::{comparison_markdown, render_markdown};
pub use rows::{CaseRow, ComparedRow, case_rows, comparison_rows};
pub use summarise::{PassView, Summariser, summarise};
pub use summary::{
    CaseCell, CaseSummary, CellFailure, ClassCount, Comparison, ConfigurationFacts, ConfigurationSummary, Distribution,
    Example, Group, KindCount, Latency, Measurements, MovedCase, Observations, OtherCases, Rate, RunFacts, RunSummary,
    SUMMARY_VERSION,
};
pub use terminal::{Style, render_comparison, render_table};

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

//! A page into a file: whole, or not at all.

use std::fs::{self, File};
use std::path::Path;

use tenpass_bench::store::Run;
use tenpass_report::RunComparison;

use crate::ReviewError;
use crate::page::{ReportOptions, write_report_with};

/// Writes the page beside `path` and renames it: a reader sees the old page or the new one.
pub fn save_report(
    runs: &[Run],
    comparisons: &[RunComparison],
    options: &ReportOptions,
    path: &Path,
) -> Result<(), ReviewError> {
    let failed = |source| ReviewError::ReportFile { path: path.to_owned(), source };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Of this process alone: two may write the same page.
    let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let file = File::create(&partial).map_err(failed)?;
    let written = write_report_with(runs, comparisons, options, &file)
        .and_then(|()| file.sync_all().map_err(failed))
        .and_then(|()| fs::rename(&partial, path).map_err(failed));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.map_err(|error| match error {
        // The page's own writer knows no path.
        ReviewError::Report(source) => failed(source),
        other => other,
    })
}

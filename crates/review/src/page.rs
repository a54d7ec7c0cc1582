//! Stored runs as one page of HTML.
//!
//! ```text
//! runs ─► load: one pass over each index ─► summary, spreads, list of failing passes
//!          └► plan: which of them the page has room for ─► read one by one ─► packed into the page
//! manifests ─► facts and the command to measure the same again
//! ```
//! Memory grows with cases × configurations and with the number of passes times a few numbers; texts
//! are read one pass at a time.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::SystemTime;

use tenpass_bench::store::{Requests, Run, timestamp};
use tenpass_report::{ReportExtra, ReportPage, ReportWriter, RunComparison};

use crate::ReviewError;
use crate::page_facts::sheet;
use crate::page_load::{Listed, Loaded, load};
use crate::page_pass::{pass_page, request_parts};
use crate::page_plan::plan;

/// What a page is told beside its runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportOptions {
    /// Its title; by default one that names the runs.
    pub title: Option<String>,
    /// Runs and configurations: of a run named here, only the configurations named with it.
    pub only: Vec<(String, String)>,
    /// Comparisons that were not possible, each with its reason.
    pub refused: Vec<String>,
    /// What stands below the verdict.
    pub extras: Vec<ReportExtra>,
    /// Passing passes are put in as well, as far as there is room.
    pub passing: bool,
}

/// Writes the page of these runs; the first is the baseline of the others. The same as
/// [`write_report_with`] without options.
pub fn write_report(runs: &[Run], comparisons: &[RunComparison], out: impl Write) -> Result<(), ReviewError> {
    write_report_with(runs, comparisons, &ReportOptions::default(), out)
}

/// Writes the page of these runs, as told.
pub fn write_report_with(
    runs: &[Run],
    comparisons: &[RunComparison],
    options: &ReportOptions,
    out: impl Write,
) -> Result<(), ReviewError> {
    let mut seen = HashSet::new();
    let runs: Vec<&Run> = runs.iter().filter(|run| seen.insert(run.id().to_owned())).collect();
    let mut loaded = load(&runs, options)?;
    let page = ReportPage {
        title: options.title.clone().unwrap_or_else(|| title(&runs)),
        written: written(),
        comparisons,
        refused: &options.refused,
        extras: &options.extras,
        sections: loaded.iter_mut().map(Loaded::take_section).collect(),
        facts: runs.iter().map(|run| sheet(run)).collect(),
    };
    let failing = count(&loaded, |listed| !listed.right);
    let passing = count(&loaded, |listed| listed.right);
    let mut writer =
        ReportWriter::new(&page, io::BufWriter::with_capacity(256 * 1024, out)).map_err(ReviewError::Report)?;
    for (section, loaded) in loaded.iter_mut().enumerate() {
        passes(&mut writer, section, loaded)?;
    }
    writer.finish(failing, passing).map_err(ReviewError::Report)?;
    Ok(())
}

/// `written 2026-11-30 22:14 UTC by tenpass 0.1.0`.
fn written() -> String {
    let now = timestamp(SystemTime::now());
    let minute = now.get(..16).unwrap_or(&now).replace('T', " ");
    format!("written {minute} UTC by tenpass {}", env!("CARGO_PKG_VERSION"))
}

fn count(loaded: &[Loaded<'_>], wanted: impl Fn(&Listed) -> bool) -> u64 {
    loaded.iter().flat_map(|section| &section.listed).filter(|listed| wanted(listed)).count() as u64
}

fn title(runs: &[&Run]) -> String {
    let mut benches: Vec<&str> = runs.iter().map(|run| run.manifest().bench.as_str()).collect();
    benches.dedup();
    let benches = benches.join(", ");
    match runs {
        [only] => format!("bench {benches}, run {}", only.id()),
        [first, second] => format!("bench {benches}, runs {} and {}", first.id(), second.id()),
        runs => format!("bench {benches}, {} runs", runs.len()),
    }
}

/// Packs the passes that the page has room for.
fn passes<W: Write>(writer: &mut ReportWriter<W>, section: usize, loaded: &mut Loaded<'_>) -> Result<(), ReviewError> {
    let mut requests: Vec<Option<Requests>> = loaded.runs.iter().map(|_| None).collect();
    for listed in plan(&loaded.listed) {
        if !writer.has_room() {
            break;
        }
        let source = &mut loaded.runs[listed.run];
        // It may have been measured again since it was listed; whatever it is now is shown.
        let Some(detail) = source.picker.pass(listed.configuration, listed.case, listed.pass)? else { continue };
        let earlier = if detail.pass.attempt > 1 { source.picker.earlier_attempts(&detail.pass)? } else { Vec::new() };
        let expected = source.expected(listed.configuration, listed.case)?;
        let page = pass_page((section, listed.column), source.run.id(), &detail, &earlier, &expected);
        let stored = match &mut requests[listed.run] {
            Some(stored) => stored,
            none => none.insert(Requests::open(source.run)?),
        };
        for sha256 in &page.requests {
            if !writer.knows_request(sha256)
                && let Some(record) = stored.get(sha256)?
            {
                writer.request(sha256, &request_parts(record)).map_err(ReviewError::Report)?;
            }
        }
        writer.pass(&page).map_err(ReviewError::Report)?;
    }
    Ok(())
}

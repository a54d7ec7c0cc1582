//! Two stored runs, or two configurations of one, become a comparison.
//!
//! ```text
//! Side ─► manifest and cases ─► differences ─► refused, or the variable under test
//!      └► index, two threads ─► tallies, latencies, tokens ─┬► tenpass_report::compare_runs
//!         --targets, --guards ─► roles ─────────────────────┘
//! ```

use std::collections::HashSet;

use tenpass_bench::store::{CaseDigests, ConfigurationRecord, Run};
use tenpass_report::{ComparisonRequest, Difference, RunComparison, SideGathering, compare_runs};
use tenpass_stats::SMALLEST_EFFECT;

use crate::ReviewError;
use crate::compare_read::read;
use crate::compare_roles::roles;
use crate::compare_told::{latencies_comparable, level_at_the_end, told};
use crate::differences::{Measured, Sorted, record_of, sort};
use crate::differences_cases::{StoredCases, asked_of_runs};
use crate::find::the_configuration;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The run.
    pub run: &'a Run,
    /// The configuration; needed where the run has several.
    pub configuration: Option<&'a str>,
}

/// What a comparison is told.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// Cases that are meant to improve, by patterns of their ids; none: those of kind target. Where they
    /// are named the verdict is about them.
    pub targets: Vec<String>,
    /// Cases that must stay good; none: those of kind guard.
    pub guards: Vec<String>,
    /// The smallest difference that matters, a fraction above 0.
    pub delta: f64,
    /// What may differ beside the variable under test, by the names of [`DIMENSIONS`](crate::DIMENSIONS),
    /// or `all`.
    pub allow: Vec<String>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { targets: Vec::new(), guards: Vec::new(), delta: SMALLEST_EFFECT, allow: Vec::new() }
    }
}

/// A side with its cases and numbers.
struct Loaded<'a> {
    run: &'a Run,
    record: &'a ConfigurationRecord,
    cases: Vec<CaseDigests>,
    numbers: SideGathering,
}

/// Is `after` better than `before`, on these cases and on others? Refuses when more than the variable
/// under test differs between the two.
pub fn compare(before: Side<'_>, after: Side<'_>, options: &CompareOptions) -> Result<RunComparison, ReviewError> {
    let (bench, other) = (&before.run.manifest().bench, &after.run.manifest().bench);
    if bench != other {
        let run = after.run.id().to_owned();
        return Err(ReviewError::OtherBench { run, found: other.clone(), wanted: bench.clone() });
    }
    let (before, after) = both(before, after)?;
    let shared = shared(&before, &after)?;
    let asked = asked_of_runs(before.stored(), after.stored())?;
    let sorted = sort(before.measured(), after.measured(), asked, &options.allow)?;
    let roles = roles(shared.iter().map(|case| (case.head.id.as_str(), case.head.kind)), options)?;
    let measured_together = same_run(before.run, after.run);
    let request = ComparisonRequest {
        bench: bench.clone(),
        roles,
        targets_named: !options.targets.is_empty(),
        smallest_effect: options.delta,
        measured_together,
        latencies_comparable: latencies_comparable(before.measured(), after.measured()),
        notes: notes(&before, &after, &sorted, measured_together),
        under_test: sorted.under_test,
        allowed: sorted.besides,
    };
    for side in [&before, &after] {
        if !side.numbers.is_scored() {
            return Err(ReviewError::NothingScored {
                run: side.run.id().to_owned(),
                configuration: side.record.id.clone(),
            });
        }
    }
    let (runs, candidate) = ((before.run, after.run), &after.record.id);
    let mut found = compare_runs(before.numbers, after.numbers, request)
        .ok_or_else(|| ReviewError::NoCommonCase { before: runs.0.id().to_owned(), after: runs.1.id().to_owned() })?;
    if let Some(level) = level_at_the_end(runs.1.manifest(), candidate).filter(|_| measured_together) {
        found.hold_to_level(level);
    }
    Ok(found)
}

/// Both sides, read at the same time.
fn both<'a>(before: Side<'a>, after: Side<'a>) -> Result<(Loaded<'a>, Loaded<'a>), ReviewError> {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| Loaded::load(after));
        let before = Loaded::load(before);
        let after = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((before?, after?))
    })
}

impl<'a> Loaded<'a> {
    fn load(side: Side<'a>) -> Result<Self, ReviewError> {
        let id = the_configuration(side.run, side.configuration)?;
        let record = record_of(side.run, &id)?;
        let cases = side.run.case_digests(&id)?;
        let numbers = read(side.run, record, &cases)?;
        Ok(Self { run: side.run, record, cases, numbers })
    }

    fn measured(&self) -> Measured<'_> {
        Measured { manifest: self.run.manifest(), record: self.record }
    }

    fn stored(&self) -> StoredCases<'_> {
        StoredCases { run: self.run, configuration: &self.record.id, digests: &self.cases }
    }
}

/// The cases that both sides have, as they are after.
fn shared<'a>(before: &Loaded<'_>, after: &'a Loaded<'_>) -> Result<Vec<&'a CaseDigests>, ReviewError> {
    let known: HashSet<&str> = before.cases.iter().map(|case| case.head.id.as_str()).collect();
    let shared: Vec<&CaseDigests> = after.cases.iter().filter(|case| known.contains(case.head.id.as_str())).collect();
    if shared.is_empty() {
        return Err(ReviewError::NoCommonCase { before: before.run.id().to_owned(), after: after.run.id().to_owned() });
    }
    Ok(shared)
}

fn same_run(before: &Run, after: &Run) -> bool {
    before.id() == after.id() && before.store() == after.store()
}

fn notes(before: &Loaded<'_>, after: &Loaded<'_>, sorted: &Sorted, together: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let names = |differences: &[Difference]| {
        differences.iter().map(|difference| difference.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if sorted.under_test.len() > 1 {
        notes.push(format!(
            "{} differ together: which of them moved the cases cannot be told",
            names(&sorted.under_test)
        ));
    }
    // How much was measured moves nothing, and cases that one side lacks are left out.
    let harmless = |difference: &Difference| matches!(difference.name.as_str(), "passes" | "cases");
    let besides: Vec<Difference> = sorted.besides.iter().filter(|found| !harmless(found)).cloned().collect();
    if !besides.is_empty() && !sorted.under_test.is_empty() {
        let (besides, under_test) = (names(&besides), names(&sorted.under_test));
        notes.push(format!("beside what is under test ({under_test}), this differs and may be what moved: {besides}"));
    }
    notes.extend(told(before.measured(), after.measured(), together));
    notes
}

//! Grades a run's stored answers again, without any model.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use tenpass_trace::FailureClass;

use crate::cases::{self, Case};
use crate::run::{GRADER_VERSION, judge, offered_tools};
use crate::store::manifest::Regraded;
use crate::store::record::{OutcomeRecord, PassRecord};
use crate::store::run::Passes;
use crate::store::{
    ConfigurationRecord, Manifest, OUTCOMES, PassDetail, PassFilter, Run, StoreError, WritableRun, clock,
};
use serde::Serialize;

/// Changes a report lists in full; all are counted.
const LISTED_CHANGES: usize = 1_000;

/// What a grade comes down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether the answer is right; `None` when INVALID.
    pub success: Option<bool>,
    /// The main thing wrong with it.
    pub class: Option<FailureClass>,
}

impl Verdict {
    fn of(outcome: &OutcomeRecord) -> Self {
        Self { success: outcome.success, class: outcome.class }
    }
}

/// A pass whose grade changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GradeChange {
    /// The case.
    pub case: String,
    /// The configuration.
    pub configuration: String,
    /// Which pass, counted from 1.
    pub pass: u32,
    /// The old grade; `None` when it had none.
    pub before: Option<Verdict>,
    /// The new grade.
    pub after: Verdict,
}

/// What a re-grade did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RegradeReport {
    /// Passes graded again.
    pub graded: u64,
    /// Passes whose case is not among the given ones; they keep their old grade.
    pub kept: u64,
    /// Grades that changed.
    pub changed: u64,
    /// Passes that are right now and were not.
    pub gained: u64,
    /// Passes that were right and are not now.
    pub lost: u64,
    /// The changes, the first thousand of them.
    pub changes: Vec<GradeChange>,
}

/// Parses and grades every pass of `run` again, with its own cases or with `current` ones of the
/// same ids, and replaces `outcomes.jsonl` in one step.
///
/// The parser sees the tools that were offered then; only what is expected is taken from
/// `current`.
pub fn regrade(run: &Run, current: Option<&[Case]>) -> Result<RegradeReport, StoreError> {
    let mut writable = WritableRun::open(run.directory())?;
    let manifest = writable.manifest.clone();
    let target = run.directory().join(OUTCOMES);
    let partial = target.with_extension("partial");
    let report = write_outcomes(run, &writable, current, &partial).inspect_err(|_| {
        let _ = fs::remove_file(&partial);
    })?;
    fs::rename(&partial, &target).map_err(|error| StoreError::write(&target, error))?;
    let graded_against = current.map_or_else(|| cases::digest(writable.cases.shared()), cases::digest);
    writable.manifest = Manifest {
        grader: GRADER_VERSION.to_owned(),
        regraded: Some(Regraded { at: clock::timestamp(SystemTime::now()), cases: graded_against }),
        ..manifest
    };
    writable.manifest.save(run.directory())?;
    Ok(report)
}

fn write_outcomes(
    run: &Run,
    writable: &WritableRun,
    current: Option<&[Case]>,
    partial: &Path,
) -> Result<RegradeReport, StoreError> {
    let grader = Grader::new(writable, current);
    let failed = |error| StoreError::write(partial, error);
    let mut output = BufWriter::new(File::create(partial).map_err(failed)?);
    let mut report = RegradeReport::default();
    let places = run.index()?.places(&PassFilter::default())?;
    for detail in Passes::open(run.directory(), places)? {
        let detail = detail?;
        let Some(outcome) = grader.grade(&detail, &mut report) else { continue };
        let mut line = serde_json::to_vec(&outcome)
            .map_err(|error| StoreError::Encode { path: partial.to_owned(), reason: error.to_string() })?;
        line.push(b'\n');
        output.write_all(&line).map_err(failed)?;
    }
    let file = output.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok(report)
}

/// Cases by id.
type CasesById<'a> = HashMap<&'a str, &'a Case>;

/// Cases and offered tools by name.
struct Grader<'a> {
    /// By the configuration's id: itself, and its cases as it met them.
    stored: HashMap<&'a str, (&'a ConfigurationRecord, CasesById<'a>)>,
    current: Option<CasesById<'a>>,
}

impl<'a> Grader<'a> {
    fn new(run: &'a WritableRun, current: Option<&'a [Case]>) -> Self {
        let by_id = |cases: &'a [Case]| cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let stored = run.manifest.configurations.iter().enumerate();
        let stored = stored.map(|(place, record)| (record.id.as_str(), (record, by_id(run.cases.of(place)))));
        Self { stored: stored.collect(), current: current.map(by_id) }
    }

    /// The new outcome, or the old one when there is no case to grade against.
    fn grade(&self, detail: &PassDetail, report: &mut RegradeReport) -> Option<OutcomeRecord> {
        let PassDetail { pass, outcome: before } = detail;
        let stored = self.stored.get(pass.configuration.as_str());
        let stored = stored.and_then(|(record, cases)| Some((*record, *cases.get(pass.case.as_str())?)));
        let against = match &self.current {
            Some(current) => current.get(pass.case.as_str()).copied(),
            None => stored.map(|(_, case)| case),
        };
        // A case that expects nothing was judged elsewhere, by rules that are not here.
        let against = against.filter(|case| case.scenario.is_some() || case.expect.is_effective());
        let (Some((record, stored)), Some(against)) = (stored, against) else {
            report.kept += 1;
            return before.clone();
        };
        let outcome = judge(pass, against, &offered_tools(stored, record));
        report.graded += 1;
        let (old, new) = (before.as_ref().map(Verdict::of), Verdict::of(&outcome));
        if old != Some(new) {
            note_change(report, pass, old, new);
        }
        Some(outcome)
    }
}

fn note_change(report: &mut RegradeReport, pass: &PassRecord, before: Option<Verdict>, after: Verdict) {
    let was_right = before.is_some_and(|verdict| verdict.success == Some(true));
    let is_right = after.success == Some(true);
    report.changed += 1;
    report.gained += u64::from(is_right && !was_right);
    report.lost += u64::from(was_right && !is_right);
    if report.changes.len() < LISTED_CHANGES {
        report.changes.push(GradeChange {
            case: pass.case.clone(),
            configuration: pass.configuration.clone(),
            pass: pass.pass,
            before,
            after,
        });
    }
}

//! A run as suites.

use std::collections::BTreeMap;

use tenpass_bench::cases::{Case, CaseKind};
use tenpass_bench::store::{ConfigurationRecord, PassDetail, PassFilter, Run};
use tenpass_stats::{Gate, Tally, wilson};
use tenpass_trace::FailureClass;

use super::{Suite, TestCase, TestResult, Trouble};
use crate::ExchangeError;

/// The share of passes in which a guard must be right: 8 of 10.
pub const GATE_SHARE: f64 = 0.8;
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Failing passes that are told in full.
const TOLD: usize = 10;
/// Characters of one reason.
const REASON: usize = 500;

/// The suites of a run, of all configurations or of one.
pub fn suites(run: &Run, configuration: Option<&str>) -> Result<Vec<Suite>, ExchangeError> {
    let wanted = |record: &&ConfigurationRecord| configuration.is_none_or(|wanted| wanted == record.id);
    run.manifest().configurations.iter().filter(wanted).map(|record| suite(run, record)).collect()
}

fn suite(run: &Run, record: &ConfigurationRecord) -> Result<Suite, ExchangeError> {
    let manifest = run.manifest();
    let cases = run.cases_of(&record.id)?;
    let mut met: BTreeMap<String, Met> = BTreeMap::new();
    let filter = PassFilter { configuration: Some(record.id.clone()), ..PassFilter::default() };
    for detail in run.passes(&filter)? {
        let detail = detail?;
        met.entry(detail.pass.case.clone()).or_default().add(&detail);
    }
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut properties = vec![
        fact("run", run.id()),
        fact("bench", &manifest.bench),
        fact("model", &record.spec),
        fact("structure", &record.structure.to_string()),
        fact("selection", &record.selection.to_string()),
        fact("seed", &manifest.seed.to_string()),
    ];
    properties.extend(record.model.digest.as_deref().map(|digest| fact("digest", digest)));
    let nothing = Met::default();
    let test = |case: &Case| test_case(case, met.get(&case.id).unwrap_or(&nothing), manifest.passes);
    Ok(Suite {
        name: format!("{} {}", manifest.bench, record.id),
        timestamp: Some(manifest.started().to_owned()).filter(|moment| !moment.is_empty()),
        properties,
        cases: cases.iter().map(test).collect(),
    })
}

/// What the passes of one case came to.
#[derive(Debug, Default)]
struct Met {
    tally: Tally,
    invalid: u32,
    recovered: u32,
    seconds: f64,
    classes: BTreeMap<FailureClass, u32>,
    told: Vec<String>,
    untold: u32,
}

impl Met {
    fn add(&mut self, detail: &PassDetail) {
        let PassDetail { pass, outcome } = detail;
        self.seconds += pass.timings.total_ms / 1e3;
        let success = outcome.as_ref().and_then(|outcome| outcome.success);
        match success {
            Some(success) => self.tally.record(success),
            None => self.invalid += 1,
        }
        if let Some(outcome) = outcome {
            self.recovered += u32::from(outcome.recovered);
            if let Some(class) = outcome.class {
                *self.classes.entry(class).or_insert(0) += 1;
            }
        }
        if success == Some(true) {
            return;
        }
        if self.told.len() == TOLD {
            self.untold += 1;
            return;
        }
        self.told.push(story(detail));
    }

    /// The class that came most often.
    fn main_class(&self) -> String {
        let most = self.classes.iter().max_by_key(|(class, count)| (**count, std::cmp::Reverse(**class)));
        most.map_or_else(|| "unknown".to_owned(), |(class, _)| class.to_string())
    }

    fn story(&self) -> String {
        let mut lines = self.told.clone();
        if self.untold > 0 {
            lines.push(format!("and {} more", self.untold));
        }
        lines.join("\n")
    }
}

/// What was wrong with one pass.
fn story(detail: &PassDetail) -> String {
    let PassDetail { pass, outcome } = detail;
    let reasons = match (&pass.fault, outcome) {
        (Some(fault), _) => fault.message.clone(),
        (None, Some(outcome)) => outcome.reasons.join("; "),
        (None, None) => "not graded".to_owned(),
    };
    let class = outcome.as_ref().and_then(|outcome| outcome.class).map(|class| format!(" {class}"));
    let cut = reasons.char_indices().nth(REASON).map_or(reasons.as_str(), |(end, _)| &reasons[..end]);
    format!("pass {}:{} {cut}", pass.pass, class.unwrap_or_default())
}

fn test_case(case: &Case, met: &Met, passes: u32) -> TestCase {
    let (right, answers) = (met.tally.passed(), met.tally.total());
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut properties = vec![
        fact("kind", case.kind.to_string()),
        fact("language", case.language.to_string()),
        fact("source", case.source.clone()),
        fact("successes", right.to_string()),
        fact("answers", answers.to_string()),
        fact("invalid", met.invalid.to_string()),
        fact("recovered", met.recovered.to_string()),
    ];
    if answers > 0 {
        let interval = wilson(met.tally, CONFIDENCE);
        properties.push(fact("rate", format!("{:.4}", f64::from(right) / f64::from(answers))));
        properties.push(fact("wilson_low", format!("{:.4}", interval.low)));
        properties.push(fact("wilson_high", format!("{:.4}", interval.high)));
    }
    let classes = met.classes.iter().map(|(class, count)| fact(&format!("class.{class}"), count.to_string()));
    properties.extend(classes);
    TestCase {
        name: case.id.clone(),
        class: case.family.clone(),
        seconds: met.seconds,
        result: result(case.kind, met, passes),
        properties,
        output: met.story(),
    }
}

fn result(kind: CaseKind, met: &Met, passes: u32) -> TestResult {
    let (right, answers) = (met.tally.passed(), met.tally.total());
    let need = (f64::from(passes) * GATE_SHARE).ceil() as u32;
    let trouble = |message: String, kind: String| Trouble { message, kind, text: met.story() };
    if answers == 0 {
        let message =
            if met.invalid == 0 { "no pass".to_owned() } else { format!("all {} passes INVALID", met.invalid) };
        return TestResult::Errored(trouble(message, met.main_class()));
    }
    if kind == CaseKind::Target {
        return TestResult::Passed;
    }
    match (Gate { need, of: passes }).decided(met.tally) {
        Some(true) => TestResult::Passed,
        Some(false) => {
            let message = format!("right in {right} of {answers}: the gate is {need} of {passes}");
            TestResult::Failed(trouble(message, met.main_class()))
        }
        None => {
            let message = format!(
                "right in {right} of {answers}, {} INVALID: too few answers for the gate of {need} of {passes}",
                met.invalid
            );
            TestResult::Errored(trouble(message, "undecided".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(right: u32, wrong: u32, invalid: u32) -> Met {
        Met { tally: Tally::new(right, wrong), invalid, ..Met::default() }
    }

    #[test]
    fn a_guard_below_its_gate_fails_and_a_target_never_does() {
        let of = |kind, right, wrong, invalid| match result(kind, &met(right, wrong, invalid), 10) {
            TestResult::Passed => "passed",
            TestResult::Failed(_) => "failed",
            TestResult::Errored(_) => "errored",
            TestResult::Skipped(_) => "skipped",
        };
        assert_eq!(of(CaseKind::Guard, 8, 2, 0), "passed");
        assert_eq!(of(CaseKind::Guard, 7, 3, 0), "failed");
        // Settled early, either way.
        assert_eq!(of(CaseKind::Guard, 8, 0, 0), "passed");
        assert_eq!(of(CaseKind::Guard, 0, 3, 0), "failed");
        // Two INVALID passes leave it open.
        assert_eq!(of(CaseKind::Guard, 7, 1, 2), "errored");
        assert_eq!(of(CaseKind::Guard, 0, 0, 10), "errored");
        assert_eq!(of(CaseKind::Target, 0, 10, 0), "passed");
        assert_eq!(of(CaseKind::Target, 0, 0, 10), "errored");
    }

    #[test]
    fn the_gate_keeps_its_proportion() {
        // 8 of 10, 16 of 20, 3 of 3 (2.4), 1 of 1.
        for (passes, need) in [(10, 8), (20, 16), (3, 3), (1, 1)] {
            let held = result(CaseKind::Guard, &met(need, passes - need, 0), passes);
            assert_eq!(held, TestResult::Passed, "{need} of {passes}");
            let missed = result(CaseKind::Guard, &met(need - 1, passes - need + 1, 0), passes);
            assert!(matches!(missed, TestResult::Failed(_)), "{} of {passes}", need - 1);
        }
    }
}

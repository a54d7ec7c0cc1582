//! One side of a comparison, gathered pass by pass, case after case.
//!
//! Counts a case, and the latencies and tokens of scored passes as plain numbers: 40 bytes a pass,
//! no text.

use tenpass_stats::{Sampling, Tally, effective};
use tenpass_trace::FailureClass;

use super::data::SideFacts;
use crate::summarise::{PassView, observations_of};
use crate::summary::Observations;
use crate::tally::MOST_OUTPUTS;

/// What is measured beside the success, in the order of the tables.
pub(super) const MEASURES: [&str; 5] =
    ["first_token_ms", "first_call_ms", "total_ms", "prompt_tokens", "completion_tokens"];

/// One side of a comparison; see [`compare_runs`](super::compare_runs).
#[derive(Debug)]
pub struct SideGathering {
    pub(super) facts: SideFacts,
    pub(super) cases: Vec<GatheredCase>,
    /// One list a measure, the values of a case together; `GatheredCase::ends` tells them apart.
    values: [Vec<f64>; MEASURES.len()],
    /// Outputs of the current case.
    outputs: Vec<Output>,
    pub(super) passes: u64,
}

/// Digest and grade; the class of a failure.
type Output = (u64, bool, Option<FailureClass>);

/// One case of one side.
#[derive(Debug)]
pub(super) struct GatheredCase {
    pub(super) case: String,
    pub(super) family: String,
    pub(super) language: String,
    pub(super) scored: Tally,
    pub(super) invalid: u32,
    /// Of these, requests that did not fit the context.
    pub(super) overflow: u32,
    /// One verdict a distinct output.
    distinct: Tally,
    /// Failures by class: passes, and distinct outputs among them.
    classes: Vec<(Option<FailureClass>, u32, u32)>,
    ends: [u32; MEASURES.len()],
}

impl SideGathering {
    /// Nothing gathered yet.
    pub fn new(facts: SideFacts) -> Self {
        Self { facts, cases: Vec::new(), values: Default::default(), outputs: Vec::new(), passes: 0 }
    }

    /// Begins a case: the passes that follow are its own. Each case is begun once.
    pub fn begin(&mut self, case: &str, family: &str, language: &str) {
        self.end();
        self.cases.push(GatheredCase {
            case: case.to_owned(),
            family: family.to_owned(),
            language: language.to_owned(),
            scored: Tally::default(),
            invalid: 0,
            overflow: 0,
            distinct: Tally::default(),
            classes: Vec::new(),
            ends: self.lengths(),
        });
    }

    /// Counts a pass of the case that was begun last; its names are not looked at.
    pub fn add(&mut self, pass: &PassView<'_>) {
        let Some(case) = self.cases.last_mut() else { return };
        self.passes += 1;
        let Some(success) = pass.scored() else {
            case.invalid += 1;
            case.overflow += u32::from(pass.class == Some(FailureClass::InvalidOverflow));
            return;
        };
        case.scored.record(success);
        self.outputs.push((pass.output_digest, success, pass.class.filter(|_| !success)));
        let warm = |value: Option<f64>| value.filter(|_| !pass.cold);
        let tokens = |count: Option<u64>| count.map(|count| count as f64);
        let measured = [
            warm(pass.first_token_ms),
            warm(pass.first_call_ms),
            warm(pass.total_ms),
            tokens(pass.prompt_tokens),
            tokens(pass.completion_tokens),
        ];
        for (values, value) in self.values.iter_mut().zip(measured) {
            values.extend(value.filter(|value| value.is_finite()));
        }
    }

    /// Whether any pass was scored.
    pub fn is_scored(&self) -> bool {
        self.cases.iter().any(|case| !case.scored.is_empty())
    }

    fn lengths(&self) -> [u32; MEASURES.len()] {
        std::array::from_fn(|i| u32::try_from(self.values[i].len()).unwrap_or(u32::MAX))
    }

    /// Ends the current case.
    pub(super) fn end(&mut self) {
        let ends = self.lengths();
        let Some(case) = self.cases.last_mut() else { return };
        case.ends = ends;
        let count = |classes: &mut Vec<(Option<FailureClass>, u32, u32)>, class, passes, outputs| match classes
            .iter_mut()
            .find(|known| known.0 == class)
        {
            Some(known) => {
                known.1 += passes;
                known.2 += outputs;
            }
            None => classes.push((class, passes, outputs)),
        };
        for (_, _, class) in self.outputs.iter().filter(|(_, success, _)| !success) {
            count(&mut case.classes, *class, 1, 0);
        }
        // One output has one grade; should two disagree, the failure stands.
        self.outputs.sort_unstable();
        self.outputs.dedup_by_key(|output| output.0);
        for (_, success, class) in self.outputs.drain(..) {
            case.distinct.record(success);
            if !success {
                count(&mut case.classes, class, 0, 1);
            }
        }
    }

    /// How the passes count as observations, over all cases.
    pub(super) fn observations(&self) -> Observations {
        let repeated = self.cases.iter().filter(|case| case.scored.total() > 1);
        observations_of(self.facts.temperature, repeated.map(|case| u64::from(case.distinct.total())))
    }

    /// The values of a measure in the case at this position.
    pub(super) fn values(&self, measure: usize, case: usize) -> &[f64] {
        let start = case.checked_sub(1).map_or(0, |before| self.cases[before].ends[measure]);
        &self.values[measure][start as usize..self.cases[case].ends[measure] as usize]
    }
}

impl GatheredCase {
    /// As in a run's summary: at the limit the outputs vary so much that the model is not deterministic.
    fn sampling(&self, sampling: Sampling) -> Sampling {
        if (self.distinct.total() as usize) < MOST_OUTPUTS { sampling } else { Sampling::Independent }
    }

    /// The tally that counts as evidence.
    pub(super) fn evidence(&self, sampling: Sampling) -> Tally {
        effective(self.scored, self.distinct, self.sampling(sampling))
    }

    /// Classes that failed here.
    pub(super) fn classes(&self) -> impl Iterator<Item = (Option<FailureClass>, u32)> {
        self.classes.iter().map(|&(class, passes, _)| (class, passes))
    }

    /// How often this class occurred, as evidence: occurrences against the rest.
    pub(super) fn evidence_of(&self, class: Option<FailureClass>, sampling: Sampling) -> Tally {
        let (_, passes, outputs) = self.classes.iter().find(|known| known.0 == class).copied().unwrap_or((class, 0, 0));
        let of = |occurred: u32, total: u32| Tally::new(occurred, total.saturating_sub(occurred));
        let (all, distinct) = (of(passes, self.scored.total()), of(outputs, self.distinct.total()));
        effective(all, distinct, self.sampling(sampling))
    }
}

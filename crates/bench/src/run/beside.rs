//! A baseline of an earlier run beside a candidate of today: which cases both have, and which tools and
//! prompts the baseline meets them with.
//!
//! Under test is how a model is asked: tools, prompts, settings. What is asked and what must happen are
//! not: both sides get today's questions and are graded by today's expectations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tenpass_trace::{Message, Role};

use crate::cases::Case;
use crate::rounds::{Ending, Scenario};
use crate::store::{Against, Comparing};

/// What is measured when a baseline is measured beside a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Today's cases, as far as the baseline has them.
    pub cases: Vec<Case>,
    /// The same as the baseline meets them; `None` where nothing differs.
    pub baseline_cases: Option<Arc<[Case]>>,
    /// For the manifest.
    pub against: Against,
}

impl Beside {
    /// Of the cases as the baseline met them and of all those of today; `chosen` tells which are wanted.
    pub fn new(stored: &[Case], today: &[Case], chosen: impl Fn(&Case) -> bool, comparing: Comparing) -> Self {
        let before: HashMap<&str, &Case> = stored.iter().map(|case| (case.id.as_str(), case)).collect();
        let known: HashSet<&str> = today.iter().map(|case| case.id.as_str()).collect();
        let gone = stored.iter().filter(|case| chosen(case) && !known.contains(case.id.as_str()));
        let mut against = Against { comparing, only_before: ids(gone), ..Against::default() };
        let (mut cases, mut baseline) = (Vec::new(), Vec::new());
        for case in today.iter().filter(|case| chosen(case)) {
            let Some(stored) = before.get(case.id.as_str()) else {
                against.only_after.push(case.id.clone());
                continue;
            };
            if expectations(stored) != expectations(case) {
                against.expectations_changed.push(case.id.clone());
            }
            if question(stored) != question(case) {
                against.questions_changed.push(case.id.clone());
            }
            cases.push(case.clone());
            baseline.push(as_before(stored, case));
        }
        let baseline_cases = (cases != baseline).then(|| baseline.into());
        Self { cases, baseline_cases, against }
    }
}

fn ids<'a>(cases: impl Iterator<Item = &'a Case>) -> Vec<String> {
    cases.map(|case| case.id.clone()).collect()
}

/// Today's case with the tools and the system prompt it had.
fn as_before(stored: &Case, today: &Case) -> Case {
    let system = stored.messages.iter().filter(|message| message.role == Role::System);
    Case { messages: system.chain(asked(today)).cloned().collect(), tools: stored.tools.clone(), ..today.clone() }
}

/// The messages besides the system prompt.
fn asked(case: &Case) -> impl Iterator<Item = &Message> {
    case.messages.iter().filter(|message| message.role != Role::System)
}

fn expectations(case: &Case) -> (&crate::cases::Expect, Option<&Ending>) {
    (&case.expect, case.scenario.as_deref().map(|scenario| &scenario.expect))
}

/// What is asked: the history and the question, or the scenario without its end and its papers.
fn question(case: &Case) -> (Vec<&Message>, Option<Scenario>) {
    let scenario = case.scenario.as_deref().map(|scenario| Scenario {
        expect: Ending::default(),
        kind: crate::cases::CaseKind::default(),
        holds: Vec::new(),
        provenance: String::new(),
        ..scenario.clone()
    });
    (asked(case).collect(), scenario)
}

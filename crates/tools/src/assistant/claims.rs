//! An answer held against the calls of its turn: what it says was done, and no call bears out.

use tenpass_agent::claims::{LedgerEntry, check};
use tenpass_agent::run::TurnReport;
use tenpass_trace::{CallOutcome, FailureClass};

/// A sentence that no call bears out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unborne {
    /// Its words, exactly as they stand in the answer.
    pub text: String,
    /// Why, for the person.
    pub why: &'static str,
}

/// What of an answer its calls contradict: to be said beside it, for the model's words are not the
/// record. Nothing for an answer that was interrupted.
pub fn unborne_claims(report: &TurnReport) -> Vec<Unborne> {
    if report.end.is_interrupted() {
        return Vec::new();
    }
    let own = report.ledger.iter().filter(|call| call.outcome != CallOutcome::Repeated);
    let ledger: Vec<LedgerEntry> = own
        .map(|call| LedgerEntry {
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            outcome: call.outcome.into(),
            confirmed: None,
            tier: Some(call.tier),
        })
        .collect();
    let findings = check(&report.text, &ledger, &[]).into_iter();
    findings
        .filter_map(|finding| {
            let why = match finding.class {
                FailureClass::ClaimedNotDone => "no call of this turn did that",
                FailureClass::DeniedButDone => "a call of this turn did it",
                _ => return None,
            };
            Some(Unborne { text: finding.span, why })
        })
        .collect()
}

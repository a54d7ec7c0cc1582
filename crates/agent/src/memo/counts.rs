//! `state.json`: what the application may say about itself in public, counts only (K96).

use serde::{Deserialize, Serialize};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, TraceEvent, TraceRecord};

use super::CapabilityMemo;
use crate::tool::NoteStatus;

macro_rules! counts {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counts of what happened. There is no text in it by type: every field is a number.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct StateCounts { $($(#[$doc])* pub $field: u64,)* }
    };
}

counts! {
    /// Tools in the registry.
    tools,
    /// Tools seen working.
    tools_seen_working,
    /// Tools never rechecked.
    tools_never_rechecked,
    /// Tools with a known limit.
    tools_known_limit,
    /// Messages of the person.
    requests,
    /// Requests to the local model.
    rounds,
    /// Calls judged, whatever their outcome.
    calls,
    /// Calls rejected before they ran (K45).
    calls_rejected,
    /// Calls that failed.
    calls_failed,
    /// Confirmations shown.
    confirmations,
    /// Confirmations refused or expired.
    confirmations_refused,
    /// Delegations, deduplicated ones included.
    delegations,
    /// Escalations to a provider (K11b).
    escalations,
    /// Memory entries written.
    memory_written,
    /// Times the loop asked again.
    retries,
    /// Turns stopped or out of time.
    cancellations,
    /// Alerts of the rules over the trace.
    alerts,
    /// Faults of the backend.
    faults,
    /// Judgements of the person.
    verdicts,
    /// Turns that ended.
    turns,
}

impl StateCounts {
    /// The counts of a trace and a memo.
    pub fn of<'a>(memo: &CapabilityMemo, records: impl IntoIterator<Item = &'a TraceRecord>) -> Self {
        let mut counts = Self::default();
        counts.set_memo(memo);
        for record in records {
            counts.observe(record);
        }
        counts
    }

    /// Takes the counts of the tools from a memo.
    pub fn set_memo(&mut self, memo: &CapabilityMemo) {
        self.tools = memo.entries.len() as u64;
        self.tools_seen_working = memo.count(NoteStatus::SeenWorking) as u64;
        self.tools_never_rechecked = memo.count(NoteStatus::NeverRechecked) as u64;
        self.tools_known_limit = memo.count(NoteStatus::KnownLimit) as u64;
    }

    /// Counts one record of the trace.
    pub fn observe(&mut self, record: &TraceRecord) {
        match &record.event {
            TraceEvent::Request { .. } => self.requests += 1,
            TraceEvent::Round { .. } => self.rounds += 1,
            TraceEvent::Retry { .. } => self.retries += 1,
            TraceEvent::Confirmation { answer, .. } => {
                self.confirmations += 1;
                let refused = matches!(answer, ConfirmationAnswer::Refused | ConfirmationAnswer::Expired);
                self.confirmations_refused += u64::from(refused);
            }
            TraceEvent::Call { outcome, .. } => {
                self.calls += 1;
                self.calls_rejected += u64::from(*outcome == CallOutcome::Rejected);
                self.calls_failed += u64::from(*outcome == CallOutcome::Error);
            }
            TraceEvent::Delegation { .. } => self.delegations += 1,
            TraceEvent::Memory { written, .. } => self.memory_written += *written as u64,
            TraceEvent::Escalation { .. } => self.escalations += 1,
            TraceEvent::Watchdog { .. } => self.alerts += 1,
            TraceEvent::Cancellation { .. } => self.cancellations += 1,
            TraceEvent::Fault { .. } => self.faults += 1,
            TraceEvent::Verdict { .. } => self.verdicts += 1,
            TraceEvent::Final { .. } => self.turns += 1,
            TraceEvent::Route { .. } | TraceEvent::Compression { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tenpass_trace::Tier;

    use super::*;

    fn record(event: &Value) -> TraceRecord {
        let mut whole = json!({"thread": "t", "turn": "u"});
        whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn every_value_of_the_file_is_a_count() {
        let confirmation = |answer| json!({"event": "confirmation", "call": 1, "tool": "x", "tier": Tier::Confirm, "answer": answer, "ms": 1.0});
        let records = [
            json!({"event": "request", "text": "a secret plan", "model": "m", "profile": "panel"}),
            confirmation("approved"),
            confirmation("refused"),
            confirmation("expired"),
            confirmation("stopped"),
            json!({"event": "memory", "trigger": "request", "written": 2}),
            json!({"event": "verdict", "judged": "u", "verdict": "accepted"}),
            json!({"event": "call", "call": 1, "tool": "x", "tier": "auto", "outcome": "rejected", "arguments": {}, "ms": 0.0}),
        ]
        .each_ref()
        .map(record);
        let memo = CapabilityMemo { entries: Vec::new() };
        let counts = StateCounts::of(&memo, &records);
        assert_eq!((counts.confirmations, counts.confirmations_refused, counts.memory_written), (4, 2, 2));
        assert_eq!((counts.requests, counts.calls, counts.calls_rejected, counts.verdicts), (1, 1, 1, 1));
        let Value::Object(stored) = serde_json::to_value(counts).unwrap() else { panic!("an object") };
        assert_eq!(stored.len(), 20);
        assert!(stored.values().all(Value::is_u64));
        assert_eq!(serde_json::from_value::<StateCounts>(Value::Object(stored)).unwrap(), counts);
    }
}

//! The rules' names, thresholds and alerts.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenpass_trace::{TraceEvent, TraceRecord};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Many calls in one turn.
    CallsPerTurn,
    /// Many calls in one hour.
    CallsPerHour,
    /// The person keeps refusing.
    RefusalsInARow,
    /// Providers cost much in one hour.
    SpendPerHour,
    /// The same call again and again, over turns.
    RepeatedCall,
    /// The model keeps getting arguments wrong.
    RejectedArguments,
    /// A call with an effect after a result that gives orders.
    ActsAfterInjection,
    /// The backend saw less than was sent.
    SilentTruncation,
}

impl Rule {
    /// Every rule, in the order of the table.
    pub const ALL: &'static [Self] = &[
        Self::CallsPerTurn,
        Self::CallsPerHour,
        Self::RefusalsInARow,
        Self::SpendPerHour,
        Self::RepeatedCall,
        Self::RejectedArguments,
        Self::ActsAfterInjection,
        Self::SilentTruncation,
    ];

    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CallsPerTurn => "calls_per_turn",
            Self::CallsPerHour => "calls_per_hour",
            Self::RefusalsInARow => "refusals_in_a_row",
            Self::SpendPerHour => "spend_per_hour",
            Self::RepeatedCall => "repeated_call",
            Self::RejectedArguments => "rejected_arguments",
            Self::ActsAfterInjection => "acts_after_injection",
            Self::SilentTruncation => "silent_truncation",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// When the rules match; see the table in the module's documentation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Calls in one turn.
    pub calls_per_turn: usize,
    /// Calls in one hour.
    pub calls_per_hour: usize,
    /// Confirmations refused or expired in a row.
    pub refusals_in_a_row: usize,
    /// US dollars in one hour.
    pub spend_usd_per_hour: f64,
    /// The same call in one hour.
    pub repeated_call: usize,
    /// Rejected calls among the last ten.
    pub rejected_of_last_ten: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            calls_per_turn: 20,
            calls_per_hour: 150,
            refusals_in_a_row: 3,
            spend_usd_per_hour: 0.5,
            repeated_call: 5,
            rejected_of_last_ten: 5,
        }
    }
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The rule.
    pub rule: Rule,
    /// Its figures: names and counts, no text of anybody's.
    pub detail: String,
}

impl Alert {
    /// The alert as a trace record.
    pub fn record(&self, thread: &str, turn: &str) -> TraceRecord {
        TraceRecord {
            thread: thread.to_owned(),
            turn: turn.to_owned(),
            event: TraceEvent::Watchdog { rule: self.rule.as_str().to_owned(), detail: self.detail.clone() },
        }
    }
}

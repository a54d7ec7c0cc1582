//! The sliding window and the rules over it.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, FailureClass, Tier, TraceEvent, TraceRecord};

use super::rules::{Alert, Rule, Thresholds};
use crate::policy::{leaves_nothing, signature};
use crate::untrusted::looks_like_injection;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
/// Records of one hour kept at most; more calls than that have been alerted long before.
const MOST_EVENTS: usize = 10_000;
/// Turns that may be open at once.
const MOST_TURNS: usize = 64;
/// The last calls that the rate of rejections looks at.
const LAST_CALLS: usize = 10;

/// What is known of an open turn.
#[derive(Debug, Default)]
struct Turn {
    calls: usize,
    /// The tool whose untrusted result gives orders.
    injected_by: Option<String>,
    /// Messages and prompt tokens of the round before.
    weighed: Option<(usize, u64)>,
}

/// See the module's documentation.
#[derive(Debug, Default)]
pub struct Watchdog {
    thresholds: Thresholds,
    latest: Option<Timestamp>,
    /// Calls of the last hour with their signature.
    calls: VecDeque<(Timestamp, String)>,
    signatures: HashMap<String, usize>,
    costs: VecDeque<(Timestamp, f64)>,
    refusals: usize,
    rejected: VecDeque<bool>,
    turns: VecDeque<(String, Turn)>,
    /// Rules of the hour that have matched and not yet calmed down.
    raised: HashSet<Rule>,
}

impl Watchdog {
    /// A watchdog with these thresholds.
    pub fn new(thresholds: Thresholds) -> Self {
        Self { thresholds, ..Self::default() }
    }

    /// Takes in a record that was written now.
    pub fn observe(&mut self, record: &TraceRecord) -> Vec<Alert> {
        self.observe_at(record, Timestamp::now())
    }

    /// Takes in a record that was written at `at`. A time before the latest counts as the latest:
    /// a clock set back hides nothing.
    pub fn observe_at(&mut self, record: &TraceRecord, at: Timestamp) -> Vec<Alert> {
        let now = self.latest.map_or(at, |latest| latest.max(at));
        self.latest = Some(now);
        self.forget_before(now);
        let mut alerts = Vec::new();
        match &record.event {
            TraceEvent::Call { tool, tier, outcome, arguments, result, untrusted, .. } => {
                self.count_call(now, tool, arguments, &mut alerts);
                self.rate_rejections(*outcome, &mut alerts);
                let turn = self.turn(&record.turn);
                turn.calls += 1;
                let (calls, injected_by) = (turn.calls, turn.injected_by.clone());
                if *untrusted && turn.injected_by.is_none() && !looks_like_injection(result).is_empty() {
                    turn.injected_by = Some(tool.clone());
                }
                self.judge_turn(calls, injected_by, tool, *tier, *outcome, &mut alerts);
            }
            TraceEvent::Confirmation { tool, answer, .. } => self.count_refusal(tool, *answer, &mut alerts),
            TraceEvent::Delegation { cost_usd, deduplicated, .. } if !deduplicated => {
                self.add_cost(now, *cost_usd, &mut alerts);
            }
            TraceEvent::Round { messages, prompt_tokens: Some(tokens), counted_tokens, .. } => {
                self.weigh(&record.turn, *messages, *tokens, *counted_tokens, &mut alerts);
            }
            TraceEvent::Compression { .. } => self.turn(&record.turn).weighed = None,
            TraceEvent::Fault { class: FailureClass::InvalidOverflow, .. } => alerts
                .push(Alert { rule: Rule::SilentTruncation, detail: "the prompt did not fit the context".to_owned() }),
            TraceEvent::Final { .. } => self.turns.retain(|(id, _)| *id != record.turn),
            _ => {}
        }
        alerts
    }

    fn turn(&mut self, id: &str) -> &mut Turn {
        let index = self.turns.iter().position(|(open, _)| open == id).unwrap_or_else(|| {
            if self.turns.len() == MOST_TURNS {
                self.turns.pop_front();
            }
            self.turns.push_back((id.to_owned(), Turn::default()));
            self.turns.len() - 1
        });
        &mut self.turns[index].1
    }

    fn forget_before(&mut self, now: Timestamp) {
        let old = |at: Timestamp| now.duration_since(at) >= HOUR;
        while self.calls.len() > MOST_EVENTS || self.calls.front().is_some_and(|(at, _)| old(*at)) {
            let Some((_, signature)) = self.calls.pop_front() else { break };
            if let Some(count) = self.signatures.get_mut(&signature) {
                *count -= 1;
                if *count == 0 {
                    self.signatures.remove(&signature);
                }
            }
        }
        while self.costs.len() > MOST_EVENTS || self.costs.front().is_some_and(|(at, _)| old(*at)) {
            self.costs.pop_front();
        }
    }

    fn count_call(&mut self, now: Timestamp, tool: &str, arguments: &Value, alerts: &mut Vec<Alert>) {
        let signature = signature(tool, arguments);
        let count = self.signatures.entry(signature.clone()).or_insert(0);
        *count += 1;
        let same = *count;
        self.calls.push_back((now, signature));
        if same.is_multiple_of(self.thresholds.repeated_call.max(1)) {
            let detail = format!("{tool}: the same call {same} times in one hour");
            alerts.push(Alert { rule: Rule::RepeatedCall, detail });
        }
        let calls = self.calls.len();
        if self.crosses(Rule::CallsPerHour, calls >= self.thresholds.calls_per_hour) {
            alerts.push(Alert { rule: Rule::CallsPerHour, detail: format!("{calls} calls in one hour") });
        }
    }

    fn rate_rejections(&mut self, outcome: CallOutcome, alerts: &mut Vec<Alert>) {
        if self.rejected.len() == LAST_CALLS {
            self.rejected.pop_front();
        }
        self.rejected.push_back(outcome == CallOutcome::Rejected);
        let (rejected, of) = (self.rejected.iter().filter(|rejected| **rejected).count(), self.rejected.len());
        if self.crosses(Rule::RejectedArguments, rejected >= self.thresholds.rejected_of_last_ten) {
            let detail = format!("{rejected} of the last {of} calls were rejected");
            alerts.push(Alert { rule: Rule::RejectedArguments, detail });
        }
    }

    fn judge_turn(
        &self,
        calls: usize,
        injected_by: Option<String>,
        tool: &str,
        tier: Tier,
        outcome: CallOutcome,
        alerts: &mut Vec<Alert>,
    ) {
        if calls == self.thresholds.calls_per_turn {
            alerts.push(Alert { rule: Rule::CallsPerTurn, detail: format!("{calls} calls in one turn") });
        }
        if let Some(source) = injected_by
            && (tier > Tier::Auto || !leaves_nothing(tool))
        {
            let outcome = outcome.as_str();
            let detail = format!("{tool} ({outcome}) after a result of {source} that gives orders");
            alerts.push(Alert { rule: Rule::ActsAfterInjection, detail });
        }
    }

    fn count_refusal(&mut self, tool: &str, answer: ConfirmationAnswer, alerts: &mut Vec<Alert>) {
        match answer {
            ConfirmationAnswer::Approved => self.refusals = 0,
            ConfirmationAnswer::Refused | ConfirmationAnswer::Expired => {
                self.refusals += 1;
                if self.refusals.is_multiple_of(self.thresholds.refusals_in_a_row.max(1)) {
                    let detail = format!("{} refusals in a row, the last of {tool}", self.refusals);
                    alerts.push(Alert { rule: Rule::RefusalsInARow, detail });
                }
            }
            ConfirmationAnswer::Stopped => {}
        }
    }

    fn add_cost(&mut self, now: Timestamp, cost_usd: f64, alerts: &mut Vec<Alert>) {
        if cost_usd.is_finite() && cost_usd > 0.0 {
            self.costs.push_back((now, cost_usd));
        }
        let spent: f64 = self.costs.iter().map(|(_, cost)| cost).sum();
        if self.crosses(Rule::SpendPerHour, spent >= self.thresholds.spend_usd_per_hour) {
            alerts.push(Alert { rule: Rule::SpendPerHour, detail: format!("US$ {spent:.2} in one hour") });
        }
    }

    fn weigh(&mut self, turn: &str, messages: usize, tokens: u64, counted: Option<u64>, alerts: &mut Vec<Alert>) {
        // Our own count is an estimate: no common tokenizer halves it.
        if let Some(counted) = counted.filter(|counted| tokens < counted / 2) {
            let detail = format!("about {counted} tokens were sent, {tokens} arrived");
            alerts.push(Alert { rule: Rule::SilentTruncation, detail });
        }
        let turn = self.turn(turn);
        if let Some((before, weighed)) = turn.weighed
            && messages >= before
            && tokens < weighed
        {
            let detail = format!("{before} messages weighed {weighed} tokens, {messages} messages {tokens}");
            alerts.push(Alert { rule: Rule::SilentTruncation, detail });
        }
        turn.weighed = Some((messages, tokens));
    }

    /// True when the rule matches and did not the time before: one alert a crossing.
    fn crosses(&mut self, rule: Rule, matches: bool) -> bool {
        if matches {
            return self.raised.insert(rule);
        }
        self.raised.remove(&rule);
        false
    }
}

//! What the journals say, read as they grow: the calls of recent turns, the last entries, the
//! counts of `state.json`, the alerts of the last day.
//!
//! The journals are files that this process appends to; reading goes on from where it ended, so that
//! a look costs what was added since. Memory is bounded: the latest turns and entries are kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tenpass_agent::memo::StateCounts;
use tenpass_agent::policy::table_tier;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::journal::{Entry, Position, records_from};
use tenpass_trace::{CallOutcome, Intention, Tier, TraceEvent, TraceRecord};

use crate::conversation::CallView;
use crate::text::{clean, one_line};

/// Turns whose calls are kept.
const MOST_TURNS: usize = 2_000;
/// Entries that are kept for the panel.
const MOST_ENTRIES: usize = 5_000;
/// Characters of an entry's summary.
const SUMMARY: usize = 300;
/// How long an alert is shown.
const ALERT_AGE: SignedDuration = SignedDuration::from_hours(24);
/// What stands for the result of a call that never came to its end.
const LOST_CALL: &str = "expired when the server ended; it was not run";

/// An entry of the panel.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) kind: &'static str,
    pub(crate) thread: String,
    pub(crate) turn: String,
    pub(crate) summary: String,
}

/// A rule of the watchdog that matched in the last day.
#[derive(Debug, Clone)]
pub(crate) struct Raised {
    pub(crate) since: Timestamp,
    pub(crate) last: Timestamp,
    pub(crate) count: u64,
    pub(crate) detail: String,
}

#[derive(Default)]
struct State {
    trace_at: Position,
    intentions_at: Position,
    calls: HashMap<String, BTreeMap<u32, CallView>>,
    order: VecDeque<String>,
    entries: VecDeque<Line>,
    records: u64,
    counts: StateCounts,
    alerts: BTreeMap<String, Raised>,
}

/// See the module.
pub struct TraceIndex {
    trace: PathBuf,
    intentions: PathBuf,
    state: Mutex<State>,
}

impl std::fmt::Debug for TraceIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TraceIndex").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl TraceIndex {
    /// An index of the journals of this folder; nothing is read yet.
    pub fn new(folder: &AgentFolder) -> Self {
        Self { trace: folder.trace(), intentions: folder.intentions(), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what was added since the last look. A line that cannot be read is passed over: whether
    /// the journals can be trusted is what their verification says.
    pub fn refresh(&self) {
        let mut state = self.lock();
        if let Ok(mut intentions) = records_from::<Intention>(&self.intentions, state.intentions_at) {
            for entry in intentions.by_ref().flatten() {
                state.intend(entry.record);
            }
            state.intentions_at = intentions.position();
        }
        if let Ok(mut trace) = records_from::<TraceRecord>(&self.trace, state.trace_at) {
            for entry in trace.by_ref().flatten() {
                state.observe(entry);
            }
            state.trace_at = trace.position();
        }
    }

    /// The calls of a turn. One that was meant and never ended is interrupted.
    pub(crate) fn calls_of(&self, turn: &str) -> Vec<CallView> {
        self.lock().calls.get(turn).map(|calls| calls.values().cloned().collect()).unwrap_or_default()
    }

    /// The entries before `before`, newest first.
    pub(crate) fn entries(&self, limit: usize, before: Option<u64>) -> Vec<Line> {
        let state = self.lock();
        let wanted = state.entries.iter().rev().filter(|line| before.is_none_or(|before| line.seq < before));
        wanted.take(limit).cloned().collect()
    }

    /// Every entry of one turn that is kept, oldest first.
    pub(crate) fn entries_of(&self, turn: &str) -> Vec<Line> {
        self.lock().entries.iter().filter(|line| line.turn == turn).cloned().collect()
    }

    /// Records read in all.
    pub(crate) fn records(&self) -> u64 {
        self.lock().records
    }

    /// The counts of the whole trace.
    pub fn counts(&self) -> StateCounts {
        self.lock().counts
    }

    /// Rules that matched in the last day.
    pub(crate) fn alerts(&self) -> Vec<(String, Raised)> {
        let now = Timestamp::now();
        let state = self.lock();
        let recent = state.alerts.iter().filter(|(_, raised)| now.duration_since(raised.last) < ALERT_AGE);
        recent.map(|(rule, raised)| (rule.clone(), raised.clone())).collect()
    }
}

impl State {
    fn call(&mut self, turn: &str, number: u32) -> &mut CallView {
        if !self.calls.contains_key(turn) {
            if self.order.len() == MOST_TURNS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.order.push_back(turn.to_owned());
        }
        let of_turn = self.calls.entry(turn.to_owned()).or_default();
        of_turn.entry(number).or_insert_with(|| CallView {
            call: number,
            tool: String::new(),
            tier: Tier::Irreversible,
            arguments: Map::new(),
            outcome: Some(CallOutcome::Interrupted),
            summary: LOST_CALL.to_owned(),
        })
    }

    fn intend(&mut self, intention: Intention) {
        let call = self.call(&intention.turn, intention.call);
        if call.tool.is_empty() {
            call.tier = table_tier(&intention.tool).unwrap_or(Tier::Irreversible);
            call.tool = intention.tool;
            call.arguments = intention.arguments;
        }
    }

    fn observe(&mut self, entry: Entry<TraceRecord>) {
        self.records += 1;
        let Entry { seq, at, record } = entry;
        self.counts.observe(&record);
        match &record.event {
            TraceEvent::Call { call, tool, tier, outcome, arguments, result, .. } => {
                let shown = self.call(&record.turn, *call);
                shown.tool.clone_from(tool);
                shown.tier = *tier;
                shown.outcome = Some(*outcome);
                shown.summary = one_line(result, SUMMARY);
                if let Value::Object(arguments) = arguments {
                    shown.arguments.clone_from(arguments);
                }
            }
            TraceEvent::Watchdog { rule, detail } => {
                let raised = self.alerts.entry(rule.clone()).or_insert_with(|| Raised {
                    since: at,
                    last: at,
                    count: 0,
                    detail: String::new(),
                });
                if at.duration_since(raised.last) >= ALERT_AGE {
                    (raised.since, raised.count) = (at, 0);
                }
                (raised.last, raised.count, raised.detail) = (at, raised.count + 1, clean(detail));
            }
            _ => {}
        }
        if self.entries.len() == MOST_ENTRIES {
            self.entries.pop_front();
        }
        let (kind, summary) = summary(&record.event);
        let (thread, turn) = (record.thread, record.turn);
        self.entries.push_back(Line { seq, at, kind, thread, turn, summary: one_line(&summary, SUMMARY) });
    }
}

/// The kind of an event and its content on one line.
fn summary(event: &TraceEvent) -> (&'static str, String) {
    match event {
        TraceEvent::Request { text, model, profile, .. } => ("request", format!("“{text}” to {model}, {profile}")),
        TraceEvent::Route { selection, structure, offered, .. } => {
            ("route", format!("{} tools, {selection}, {structure}", offered.len()))
        }
        TraceEvent::Round { number, calls, ms, prompt_tokens, completion_tokens, .. } => {
            let tokens = |count: &Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
            let (read, written) = (tokens(prompt_tokens), tokens(completion_tokens));
            ("round", format!("{number}: {read} tokens in, {written} out, {ms:.0} ms, {calls} calls"))
        }
        TraceEvent::Retry { reason } => ("retry", json!(reason).as_str().unwrap_or_default().to_owned()),
        TraceEvent::Confirmation { call, tool, answer, ms, .. } => (
            "confirmation",
            format!("{call}. {tool}: {} after {:.1} s", json!(answer).as_str().unwrap_or("?"), ms / 1e3),
        ),
        TraceEvent::Call { call, tool, tier, outcome, arguments, .. } => {
            ("call", format!("{call}. {tool} {arguments} · {tier} · {}", outcome.as_str()))
        }
        TraceEvent::Delegation { provider, cost_usd, outcome, .. } => {
            ("delegation", format!("{provider}: {}, ${cost_usd:.4}", outcome.as_str()))
        }
        TraceEvent::Memory { trigger, section, written, refused } => {
            let section = section.as_deref().unwrap_or("nowhere");
            let refused = refused.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            ("memory", format!("{written} written in {section} ({trigger}){refused}"))
        }
        TraceEvent::Compression { messages, summarised } => {
            ("compression", format!("{messages} messages {}", if *summarised { "summarised" } else { "cut" }))
        }
        TraceEvent::Escalation { provider, answered } => {
            ("escalation", format!("{provider}: {}", if *answered { "answered" } else { "no answer" }))
        }
        TraceEvent::Watchdog { rule, detail } => ("watchdog", format!("{rule}: {detail}")),
        TraceEvent::Cancellation { by } => ("cancellation", by.clone()),
        TraceEvent::Fault { message, class } => ("fault", format!("{class}: {message}")),
        TraceEvent::Verdict { verdict, judged } => ("verdict", format!("{verdict}: turn {judged}")),
        TraceEvent::Final { end, text, author, ms, .. } => {
            let end = json!(end);
            ("final", format!("{}, by {author}, {:.1} s: “{text}”", end.as_str().unwrap_or("?"), ms / 1e3))
        }
    }
}

//! `tenpass trace stats`: counts of what happened, no text of anybody's.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;
use tenpass_frame::Kind;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::journal::Entry;
use tenpass_trace::{TraceEvent, TraceRecord};

use super::{each_record, local, nothing_yet, warn};
use crate::args::Format;
use crate::commands::table::{Columns, export, table};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

type Counts = BTreeMap<String, u64>;

/// The counts.
#[derive(Debug, Default, Serialize)]
pub(super) struct Stats {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    requests: Counts,
    ends: Counts,
    rounds: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    calls: u64,
    calls_by_outcome: Counts,
    calls_by_tier: Counts,
    calls_by_tool: BTreeMap<String, Counts>,
    confirmations: Counts,
    retries: Counts,
    memory_written: Counts,
    memory_refused: Counts,
    delegations: Counts,
    spent_usd: f64,
    escalations: Counts,
    compressions: u64,
    cancellations: Counts,
    faults: Counts,
    watchdog: Counts,
    verdicts: Counts,
    turn_ms_total: f64,
}

/// One number of the counts, as CSV and Parquet list it: `calls_by_tool, read_file ok, 7`.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Row {
    measure: String,
    of: Option<String>,
    value: f64,
}

const COLUMNS: &Columns = &[("measure", Kind::Text), ("of", Kind::Text), ("value", Kind::Float)];

fn count(counts: &mut Counts, name: impl Into<String>) {
    *counts.entry(name.into()).or_default() += 1;
}

fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

impl Stats {
    /// Every number with its name; what is counted by kind has a row a kind.
    pub(super) fn rows(&self) -> Result<Vec<Row>, Failure> {
        fn add(rows: &mut Vec<Row>, measure: &str, of: Option<String>, value: &Value) {
            if let Value::Object(fields) = value {
                for (name, value) in fields {
                    let of = of.as_ref().map_or_else(|| name.clone(), |of| format!("{of} {name}"));
                    add(rows, measure, Some(of), value);
                }
            } else if let Some(value) = value.as_f64() {
                rows.push(Row { measure: measure.to_owned(), of, value });
            }
        }
        let all = serde_json::to_value(self).map_err(Failure::bug)?;
        let mut rows = Vec::new();
        for (measure, value) in all.as_object().into_iter().flatten() {
            add(&mut rows, measure, None, value);
        }
        Ok(rows)
    }

    fn observe(&mut self, entry: &Entry<TraceRecord>) {
        self.from.get_or_insert(entry.at);
        self.to = Some(entry.at);
        match &entry.record.event {
            TraceEvent::Request { model, .. } => count(&mut self.requests, model),
            TraceEvent::Round { prompt_tokens, completion_tokens, .. } => {
                self.rounds += 1;
                self.prompt_tokens += prompt_tokens.unwrap_or_default();
                self.completion_tokens += completion_tokens.unwrap_or_default();
            }
            TraceEvent::Retry { reason } => count(&mut self.retries, name(reason)),
            TraceEvent::Confirmation { answer, .. } => count(&mut self.confirmations, name(answer)),
            TraceEvent::Call { tool, tier, outcome, .. } => {
                self.calls += 1;
                count(&mut self.calls_by_outcome, outcome.as_str());
                count(&mut self.calls_by_tier, tier.as_str());
                count(self.calls_by_tool.entry(tool.clone()).or_default(), outcome.as_str());
            }
            TraceEvent::Delegation { provider, cost_usd, .. } => {
                count(&mut self.delegations, provider);
                self.spent_usd += cost_usd;
            }
            TraceEvent::Memory { trigger, written, refused, .. } => {
                *self.memory_written.entry(trigger.clone()).or_default() += *written as u64;
                if refused.is_some() {
                    count(&mut self.memory_refused, trigger);
                }
            }
            TraceEvent::Escalation { provider, .. } => count(&mut self.escalations, provider),
            TraceEvent::Compression { .. } => self.compressions += 1,
            TraceEvent::Cancellation { by } => count(&mut self.cancellations, by),
            TraceEvent::Fault { class, .. } => count(&mut self.faults, name(class)),
            TraceEvent::Watchdog { rule, .. } => count(&mut self.watchdog, rule),
            TraceEvent::Verdict { verdict, .. } => count(&mut self.verdicts, verdict),
            TraceEvent::Final { end, ms, .. } => {
                count(&mut self.ends, name(end));
                self.turn_ms_total += ms;
            }
            TraceEvent::Route { .. } => {}
        }
    }
}

/// Carries out the command.
pub(super) fn run(printer: Printer, folder: &AgentFolder, days: Option<u32>, format: Format) -> Result<Exit, Failure> {
    let (stats, unreadable) = counted(folder, days, Timestamp::now())?;
    warn(printer, unreadable);
    if format == Format::Json {
        printer.json(&stats)?;
    } else if format != Format::Table {
        export(printer, format, COLUMNS, &stats.rows()?)?;
    } else if stats.from.is_none() {
        printer.note(&if folder.trace().exists() {
            "nothing happened in that time".to_owned()
        } else {
            nothing_yet(folder)
        });
    } else {
        printer.out(&text(&stats));
    }
    Ok(Exit::Yes)
}

/// The counts of the last days, or of everything.
pub(super) fn counted(folder: &AgentFolder, days: Option<u32>, now: Timestamp) -> Result<(Stats, usize), Failure> {
    let since = days.and_then(|days| now.checked_sub(SignedDuration::from_hours(24 * i64::from(days))).ok());
    let mut stats = Stats::default();
    let unreadable = each_record(folder, |entry| {
        if since.is_none_or(|since| entry.at >= since) {
            stats.observe(entry);
        }
    })?;
    Ok((stats, unreadable))
}

fn listed(counts: &Counts) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(" · ")
}

pub(super) fn text(stats: &Stats) -> String {
    let day = |at: Option<Timestamp>| at.map(|at| local(at, "%Y-%m-%d %H:%M")).unwrap_or_default();
    let turns: u64 = stats.ends.values().sum();
    let mean = if turns == 0 {
        String::new()
    } else {
        format!(", {:.1} s on average", stats.turn_ms_total / 1e3 / turns as f64)
    };
    let rows = [
        ("from", format!("{} to {}", day(stats.from), day(stats.to))),
        ("requests", listed(&stats.requests)),
        ("turns", format!("{turns}{mean}: {}", listed(&stats.ends))),
        ("rounds", format!("{}, {} tokens in, {} out", stats.rounds, stats.prompt_tokens, stats.completion_tokens)),
        ("calls", format!("{}: {}", stats.calls, listed(&stats.calls_by_outcome))),
        ("by tier", listed(&stats.calls_by_tier)),
        ("confirmations", listed(&stats.confirmations)),
        ("retries", listed(&stats.retries)),
        ("memory", format!("written {} · refused {}", listed(&stats.memory_written), listed(&stats.memory_refused))),
        ("delegations", format!("{} · ${:.4}", listed(&stats.delegations), stats.spent_usd)),
        ("escalations", listed(&stats.escalations)),
        ("compressions", stats.compressions.to_string()),
        ("cancelled", listed(&stats.cancellations)),
        ("faults", listed(&stats.faults)),
        ("watchdog", listed(&stats.watchdog)),
        ("verdicts", listed(&stats.verdicts)),
    ];
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<14} {value}")).collect();
    let mut text = lines.join("\n") + "\n";
    if !stats.calls_by_tool.is_empty() {
        let rows: Vec<Vec<String>> = stats
            .calls_by_tool
            .iter()
            .map(|(tool, outcomes)| {
                let all: u64 = outcomes.values().sum();
                vec![tenpass_agent::untrusted::visible(tool), all.to_string(), listed(outcomes)]
            })
            .collect();
        text.push('\n');
        text.push_str(&table(&["tool", "calls", "outcomes"], &rows, &[1]));
    }
    text
}

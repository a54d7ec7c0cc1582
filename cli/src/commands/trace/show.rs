//! `tenpass trace show`: everything that happened in a turn, and what the model meant to do.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use tenpass_agent::untrusted::visible;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::journal::records;
use tenpass_trace::{ConfirmationAnswer, Intention, TraceEvent, TraceRecord};

use super::list::{end_name, one_line, turns};
use super::{each_record, local, nothing_yet, short, warn};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Characters of a value on a line; JSON has all of it.
const VALUE: usize = 400;

/// One line of a journal.
#[derive(Debug, Serialize)]
struct Line<T> {
    seq: u64,
    at: Timestamp,
    #[serde(flatten)]
    record: T,
}

/// A turn as both journals have it.
#[derive(Debug, Serialize)]
struct Shown {
    turn: String,
    thread: String,
    intentions: Vec<Line<Intention>>,
    records: Vec<Line<TraceRecord>>,
}

/// Carries out the command.
pub(super) fn run(printer: Printer, folder: &AgentFolder, typed: &str, json: bool) -> Result<Exit, Failure> {
    let (turns, _) = turns(folder)?;
    if turns.is_empty() {
        return Err(Failure::mistake(nothing_yet(folder)));
    }
    let mut fitting = turns.iter().filter(|turn| turn.turn.starts_with(typed));
    let turn = match (typed, fitting.next(), fitting.count()) {
        ("latest", ..) => turns.last().map(|turn| turn.turn.clone()),
        (_, Some(turn), 0) => Some(turn.turn.clone()),
        (_, Some(_), more) => {
            return Err(
                Failure::mistake(format!("{} turns begin with {typed:?}", more + 1)).hint("type more of the id")
            );
        }
        (_, None, _) => None,
    };
    let Some(turn) = turn else {
        return Err(Failure::mistake(format!("no turn begins with {typed:?}")).hint("`tenpass trace list` shows them"));
    };
    let (shown, unreadable) = gathered(folder, &turn)?;
    warn(printer, unreadable);
    if json {
        printer.json(&shown)?;
    } else {
        printer.out(&text(&shown));
    }
    Ok(Exit::Yes)
}

/// The text of a turn; `None` when the journal has nothing of it.
pub(crate) fn turn_text(folder: &AgentFolder, turn: &str) -> Result<Option<String>, Failure> {
    let (shown, _) = gathered(folder, turn)?;
    Ok((!shown.records.is_empty()).then(|| text(&shown)))
}

fn gathered(folder: &AgentFolder, turn: &str) -> Result<(Shown, usize), Failure> {
    let mut kept = Vec::new();
    let unreadable = each_record(folder, |entry| {
        let judges = matches!(&entry.record.event, TraceEvent::Verdict { judged, .. } if judged == turn);
        if judges || entry.record.turn == turn {
            kept.push(Line { seq: entry.seq, at: entry.at, record: entry.record.clone() });
        }
    })?;
    let thread = kept.first().map(|line| line.record.thread.clone()).unwrap_or_default();
    let intentions = records::<Intention>(&folder.intentions())?
        .filter_map(Result::ok)
        .filter(|entry| entry.record.turn == turn)
        .map(|entry| Line { seq: entry.seq, at: entry.at, record: entry.record })
        .collect();
    Ok((Shown { turn: turn.to_owned(), thread, intentions, records: kept }, unreadable))
}

fn text(shown: &Shown) -> String {
    let mut lines = vec![format!("turn {} · thread {}", shown.turn, short(&shown.thread))];
    for line in &shown.records {
        let time = local(line.at, "%H:%M:%S%.3f");
        for (number, part) in event_text(&line.record.event).lines().enumerate() {
            lines.push(if number == 0 { format!("{time}  {part}") } else { format!("              {part}") });
        }
    }
    if !shown.intentions.is_empty() {
        lines.push("meant:".to_owned());
        for line in &shown.intentions {
            let time = local(line.at, "%H:%M:%S%.3f");
            let Intention { call, tool, arguments, digest, .. } = &line.record;
            lines.push(format!("{time}  {call}. {}({}) · {}", visible(tool), given(arguments), short(digest)));
        }
    }
    lines.join("\n")
}

/// Arguments on one line.
pub(super) fn given(arguments: &Map<String, Value>) -> String {
    let shown =
        arguments.iter().map(|(name, value)| format!("{}: {}", visible(name), one_line(&value.to_string(), VALUE)));
    shown.collect::<Vec<_>>().join(", ")
}

fn answer_name(answer: ConfirmationAnswer) -> &'static str {
    match answer {
        ConfirmationAnswer::Approved => "approved",
        ConfirmationAnswer::Refused => "refused",
        ConfirmationAnswer::Expired => "expired",
        ConfirmationAnswer::Stopped => "stopped",
    }
}

/// One event; further lines belong to it.
fn event_text(event: &TraceEvent) -> String {
    match event {
        TraceEvent::Request { text, model, profile, think } => {
            let think = think.as_ref().map(|level| format!(" · thinking {level}")).unwrap_or_default();
            format!("request to {model} · {profile}{think}\n“{}”", one_line(text, VALUE))
        }
        TraceEvent::Route { selection, structure, offered, excluded } => {
            let without =
                if excluded.is_empty() { String::new() } else { format!(" · without {}", excluded.join(", ")) };
            format!("offered {} tools ({selection}, {structure}){without}", offered.len())
        }
        TraceEvent::Round {
            number,
            tools,
            messages,
            prompt_tokens,
            counted_tokens,
            completion_tokens,
            ms,
            calls,
            class,
            ..
        } => {
            let tokens = |count: &Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
            let class = class.map(|class| format!(" · {class}")).unwrap_or_default();
            format!(
                "round {number}: {messages} messages, {tools} tools, {} tokens in (counted {}), {} out, {ms:.0} ms · {}{class}",
                tokens(prompt_tokens),
                tokens(counted_tokens),
                tokens(completion_tokens),
                counted(*calls as u64, "call", "calls")
            )
        }
        TraceEvent::Retry { reason } => format!("asked again: {}", name(reason)),
        TraceEvent::Confirmation { call, tool, tier, answer, ms } => {
            format!("confirmation {call}: {} ({tier}) {} after {:.1} s", visible(tool), answer_name(*answer), ms / 1e3)
        }
        TraceEvent::Call { call, tool, tier, outcome, arguments, reason, result, ms, untrusted } => {
            let given = arguments.as_object().map_or_else(|| one_line(&arguments.to_string(), VALUE), given);
            let outside = if *untrusted { " · from outside" } else { "" };
            let mut text = format!(
                "call {call}: {}({given}) · {tier} · {} · {ms:.0} ms{outside}",
                visible(tool),
                outcome.as_str()
            );
            if let Some(reason) = reason {
                text.push_str(&format!("\nbecause {}", one_line(reason, VALUE)));
            }
            // A call that was not made has its reason as its result.
            let is_said = reason.as_ref().is_some_and(|reason| reason.trim() == result.trim());
            if !result.is_empty() && !is_said {
                text.push_str(&format!("\n→ {}", one_line(result, VALUE)));
            }
            text
        }
        TraceEvent::Delegation { provider, characters, cost_usd, deduplicated, outcome } => {
            let again = if *deduplicated { " · answered before" } else { "" };
            format!("delegated to {provider}: {characters} characters, ${cost_usd:.4}, {}{again}", outcome.as_str())
        }
        TraceEvent::Memory { trigger, section, written, refused } => {
            let section = section.as_ref().map(|section| format!(" in {section}")).unwrap_or_default();
            let refused = refused.as_ref().map(|why| format!(" · {}", one_line(why, VALUE))).unwrap_or_default();
            format!("memory ({trigger}): {written} written{section}{refused}")
        }
        TraceEvent::Compression { messages, summarised } => {
            format!("{messages} messages {}", if *summarised { "summarised" } else { "cut" })
        }
        TraceEvent::Escalation { provider, answered } => {
            format!("escalated to {provider}: {}", if *answered { "answered" } else { "no answer" })
        }
        TraceEvent::Watchdog { rule, detail } => format!("watchdog: {rule}: {}", one_line(detail, VALUE)),
        TraceEvent::Cancellation { by } => format!("cancelled by {by}"),
        TraceEvent::Fault { message, class } => format!("fault ({class}): {}", one_line(message, VALUE)),
        TraceEvent::Verdict { verdict, .. } => format!("judged: {verdict}"),
        TraceEvent::Final { end, text, author, rounds, calls, ms } => {
            format!(
                "end: {} after {:.1} s, {}, {}, by {author}\n“{}”",
                end_name(*end),
                ms / 1e3,
                counted(u64::from(*rounds), "round", "rounds"),
                counted(u64::from(*calls), "call", "calls"),
                one_line(text, VALUE)
            )
        }
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

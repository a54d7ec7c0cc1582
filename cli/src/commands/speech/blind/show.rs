//! What the votes prove, in words.

use tenpass_frame::Kind;
use tenpass_listening::blind::{Outcome, Verdict};

use crate::args::Format;
use crate::commands::table::{Columns, export, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Below so many decisive votes the length of answers is reported as a reason of its own.
const LENGTH_MATTERS_BELOW: u32 = 30;
/// A check speaks up below this.
const ALPHA: f64 = 0.05;

const STANDINGS: &Columns =
    &[("candidate", Kind::Text), ("picked", Kind::Int), ("median_ms", Kind::Float), ("median_characters", Kind::Float)];

/// Prints the outcome; the exit code says whether somebody is preferred.
pub(super) fn outcome(context: &Context, outcome: &Outcome, format: Format) -> Result<Exit, Failure> {
    match format {
        Format::Json => context.printer.json(outcome)?,
        Format::Csv | Format::Parquet => export(context.printer, format, STANDINGS, &outcome.standings)?,
        Format::Table => context.printer.out(&text(outcome)),
    }
    Ok(if outcome.verdict == Verdict::Preferred { Exit::Yes } else { Exit::No })
}

fn text(outcome: &Outcome) -> String {
    let rows: Vec<Vec<String>> = outcome
        .standings
        .iter()
        .map(|one| {
            vec![
                one.candidate.clone(),
                one.picked.to_string(),
                format!("{:.0}", one.median_characters),
                format!("{:.0} ms", one.median_ms),
            ]
        })
        .collect();
    let mut lines = vec![
        format!("{} · session {}", outcome.title, outcome.session),
        String::new(),
        table(&["candidate", "picked", "characters", "time"], &rows, &[1, 2, 3]).trim_end().to_owned(),
        format!("equally good {} · all bad {}", outcome.ties, outcome.all_bad),
        String::new(),
        verdict(outcome),
    ];
    lines.extend(pairs(outcome));
    lines.push(String::new());
    lines.extend(checks(outcome));
    lines.join("\n")
}

fn verdict(outcome: &Outcome) -> String {
    let leader = outcome.standings.first().map_or("", |one| one.candidate.as_str());
    let early = if outcome.early {
        let (voted, of) = outcome.voted;
        format!(" (looked at after {voted} of {of} ballots: only the e-value counts, 20 is needed)")
    } else {
        String::new()
    };
    match outcome.verdict {
        Verdict::NoVotes => format!("NO DECISION: no vote prefers anybody{early}"),
        Verdict::Preferred => format!("PREFERRED: {leader}{early}"),
        Verdict::NotProven => {
            let needed = match outcome.needed {
                Some((wins, of)) if !outcome.early => format!("; {wins} of {of} would have been needed"),
                _ => String::new(),
            };
            format!("NOT PROVEN: this may be chance{needed}{early}")
        }
    }
}

fn pairs(outcome: &Outcome) -> Vec<String> {
    let several = outcome.pairs.len() > 1;
    let mut lines = Vec::new();
    if several && let Some(p) = outcome.p_any {
        lines.push(format!("any preference at all: exact multinomial test, p = {}", number(p)));
    }
    for pair in &outcome.pairs {
        let corrected = if several {
            format!(", corrected for {} pairs {}", outcome.pairs.len(), number(pair.p_holm))
        } else {
            String::new()
        };
        lines.push(format!(
            "{} against {}: {} to {}, sign test p = {}{corrected}, e-value {}",
            pair.ahead,
            pair.behind,
            pair.wins,
            pair.losses,
            number(pair.p),
            number(pair.e_value)
        ));
    }
    lines
}

fn checks(outcome: &Outcome) -> Vec<String> {
    let places: Vec<String> = outcome.position.picked.iter().map(ToString::to_string).collect();
    let mut lines = vec![match outcome.position.p {
        Some(p) if p < ALPHA => format!(
            "places: {} picks from left to right, p = {}: the place decided, not only the answer",
            places.join(" / "),
            number(p)
        ),
        Some(p) => {
            format!("places: {} picks from left to right, p = {}: no favourite side", places.join(" / "), number(p))
        }
        None => "places: nothing was picked".to_owned(),
    }];
    let (same, of, low, high) = outcome.consistency;
    lines.push(if of == 0 {
        "self-consistency: no ballot came twice".to_owned()
    } else {
        format!(
            "self-consistency: {same} of {of} ballots that came twice were voted alike ({:.0} to {:.0} %)",
            low * 100.0,
            high * 100.0
        )
    });
    let decisive: u32 = outcome.standings.iter().map(|one| one.picked).sum();
    let length = &outcome.length;
    if length.of > 0 && (decisive < LENGTH_MATTERS_BELOW || length.p < ALPHA) {
        let word = if length.p < ALPHA { "length may be what was voted on" } else { "no sign that length decided" };
        lines.push(format!(
            "length: the longer answer was picked {} of {} times, p = {}: {word}",
            length.longest_picked,
            length.of,
            number(length.p)
        ));
    }
    lines
}

/// Three significant digits, without an exponent where people read none.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value if value >= 0.001 => format!("{value:.3}"),
        _ => "< 0.001".to_owned(),
    }
}

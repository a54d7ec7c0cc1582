//! The night in words: one line for a terminal, Markdown for a mail or a pull request.

use std::fmt::Write as _;

use tenpass_stats::{Tally, wilson};

use super::change::{Broken, first_broken};
use super::chart::{chart, noise, rates};
use super::night::{BenchResult, Night, Step, StepState};

/// Nights a control chart needs before its limits mean something.
const NIGHTS_FOR_LIMITS: usize = 8;
/// Broken cases that are listed.
const MOST_BROKEN: usize = 20;
/// Cases named in one line.
const MOST_NAMES: usize = 5;

/// One step in one line: `tools · embedded:smollm2-135m: NO CHANGE, 5.7 % (4.3 to 7.5), Δ +0.1 points`.
pub fn one_line(step: &Step) -> String {
    let name = step.name();
    match &step.state {
        StepState::Waiting => format!("{name}: not begun"),
        StepState::Running { run } => {
            format!("{name}: unfinished{}", run.as_ref().map(|run| format!(" (run {run})")).unwrap_or_default())
        }
        StepState::Failed { error, .. } => format!("{name}: FAILED, {error}"),
        StepState::Done { result } => format!("{name}: {}", verdict(&step.bench, result)),
    }
}

fn verdict(bench: &str, result: &BenchResult) -> String {
    let rate = rate(result.passed, result.total);
    let invalid = if result.invalid > 0 { format!(", {} INVALID", result.invalid) } else { String::new() };
    let word = match (&result.gate_failed, &result.comparison) {
        (Some(reason), _) => format!("GATE FAILED ({reason})"),
        (None, Some(found)) => {
            let needed =
                found.passes_needed.map(|passes| format!("; {passes} passes a case would tell")).unwrap_or_default();
            let worse = match found.worse.as_slice() {
                [] => String::new(),
                names => format!("; proven worse: {}", some(names)),
            };
            let under_test = match found.under_test.as_slice() {
                [] => String::new(),
                settings => format!("; under test: {}", settings.join("; ")),
            };
            format!(
                "{}{worse}, Δ {} points ({} to {}) against {}{needed}{under_test}",
                found.verdict,
                points(found.delta),
                points(found.low),
                points(found.high),
                found.baseline
            )
        }
        // Speech is compared with the last night, not with a blessed run.
        (None, None) if matches!(bench, "stt" | "wake" | "turn" | "barge") => "the first night".to_owned(),
        (None, None) if result.run.is_some() => "no baseline".to_owned(),
        (None, None) => "gates held".to_owned(),
    };
    format!("{word}; {rate}{invalid}")
}

/// The first of many names.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn times(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn rate(passed: u64, total: u64) -> String {
    if total == 0 {
        return "nothing was scored".to_owned();
    }
    let tally = Tally::new(passed as u32, (total - passed.min(total)) as u32);
    let interval = wilson(tally, 0.95);
    format!(
        "{passed} of {total} right, {:.1} % ({:.1} to {:.1})",
        100.0 * passed as f64 / total as f64,
        100.0 * interval.low,
        100.0 * interval.high
    )
}

fn points(fraction: f64) -> String {
    let points = format!("{:+.1}", 100.0 * fraction);
    if matches!(points.as_str(), "+0.0" | "-0.0") { "0.0".to_owned() } else { points.replace('-', "−") }
}

/// The whole summary. `nights` are all nights up to and with this one, oldest first.
pub fn markdown(night: &Night, nights: &[Night]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# Night of {}: {}\n", night.id, headline(night));
    for step in &night.steps {
        let _ = writeln!(text, "- {}", escaped(&one_line(step)));
        if let StepState::Failed { hint, .. } = &step.state {
            let _ = writeln!(text, "  - {}", escaped(hint));
        }
    }
    for step in night.steps.iter().filter(|step| step.result().is_some()) {
        section(&mut text, step, nights);
    }
    let _ = writeln!(text, "\n{}", facts(night));
    text
}

fn headline(night: &Night) -> &'static str {
    match (night.is_bad(), night.is_incomplete()) {
        (true, _) => "something is worse",
        (false, true) => "not everything was measured",
        (false, false) => "nothing is proven worse",
    }
}

fn section(text: &mut String, step: &Step, nights: &[Night]) {
    let model = step.model.as_deref();
    let Some(result) = step.result().filter(|result| !result.cases.is_empty()) else { return };
    let _ = writeln!(text, "\n## {}\n", escaped(&step.name()));
    let broken = first_broken(nights, &step.bench, model);
    match broken.first() {
        None => {
            let _ = writeln!(
                text,
                "No case is proven to have broken over {}.",
                times(rates(nights, &step.bench, model).len(), "night", "nights")
            );
        }
        Some(first) => {
            let _ = writeln!(
                text,
                "**First to break: `{}`, on the night of {}** ({}).",
                first.case,
                first.since,
                change(first)
            );
            if broken.len() > 1 {
                let _ = writeln!(text, "\n| case | kind | broke on | before | since | p |\n|---|---|---|---|---|---|");
                for broken in broken.iter().take(MOST_BROKEN) {
                    let _ = writeln!(
                        text,
                        "| `{}` | {} | {} | {} | {} | {} |",
                        broken.case,
                        broken.kind,
                        broken.since,
                        of(broken.before),
                        of(broken.after),
                        p(broken.p)
                    );
                }
                if broken.len() > MOST_BROKEN {
                    let _ = writeln!(text, "\nand {} more.", broken.len() - MOST_BROKEN);
                }
            }
        }
    }
    if let Some(noise) = noise(nights, &step.bench, model) {
        let ratio =
            noise.ratio().map(|ratio| format!(", {ratio:.1} times what their passes explain")).unwrap_or_default();
        let _ = writeln!(
            text,
            "\nNoise: the same configuration twice differed by {:.1} points (root mean square over {} {}){ratio}.",
            100.0 * noise.measured,
            noise.nights,
            if noise.nights == 1 { "night" } else { "nights" }
        );
    }
    control(text, nights, step);
    for note in &result.notes {
        let _ = writeln!(text, "\nNote: {}", escaped(note));
    }
}

fn control(text: &mut String, nights: &[Night], step: &Step) {
    let rates = rates(nights, &step.bench, step.model.as_deref());
    let Some(chart) = chart(&rates) else { return };
    if rates.len() < NIGHTS_FOR_LIMITS {
        let _ = writeln!(
            text,
            "\nThe p′ chart has {}; its limits mean something from {NIGHTS_FOR_LIMITS} on.",
            times(rates.len(), "night", "nights")
        );
        return;
    }
    let outside: Vec<&str> = rates
        .iter()
        .zip(&chart.nights)
        .filter(|(_, point)| point.outside)
        .map(|((night, _), _)| night.as_str())
        .collect();
    let said = if outside.is_empty() {
        "no night is outside its limits".to_owned()
    } else {
        format!("outside its limits: {}", outside.join(", "))
    };
    let _ = writeln!(text, "\np′ chart over {} nights: mean {:.1} %, {said}.", rates.len(), 100.0 * chart.centre);
}

fn change(broken: &Broken) -> String {
    format!("{} up to {}, {} since, p = {}", of(broken.before), broken.until, of(broken.after), p(broken.p))
}

fn of(tally: Tally) -> String {
    format!("{} of {}", tally.passed(), tally.total())
}

fn p(value: f64) -> String {
    if value < 0.001 { "< 0.001".to_owned() } else { format!("{value:.3}") }
}

fn facts(night: &Night) -> String {
    let runs: Vec<String> = night
        .steps
        .iter()
        .filter_map(|step| step.result()?.run.as_ref().map(|run| format!("{} = `{run}`", escaped(&step.name()))))
        .collect();
    let resumed = match night.resumed {
        0 => String::new(),
        count => format!(" · gone on with {}", times(count as usize, "time", "times")),
    };
    let profile = night.plan.profile.as_ref().map(|profile| format!(" · profile {profile}")).unwrap_or_default();
    format!(
        "{} passes a case and configuration · seed {} · began {}{}{profile}{resumed} · {}",
        night.plan.passes,
        night.seed,
        night.started,
        night.finished.as_ref().map(|end| format!(", ended {end}")).unwrap_or_default(),
        if runs.is_empty() { "no runs".to_owned() } else { format!("runs: {}", runs.join(", ")) }
    )
}

/// Text that Markdown would read as something else; names of models hold underscores.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '_' | '`' | '<' | '>' | '|' | '[' | ']' | '\\' | '#') {
            escaped.push('\\');
        }
        escaped.push(if letter.is_control() { ' ' } else { letter });
    }
    escaped
}

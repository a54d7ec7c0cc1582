//! Two runs against each other: the verdict first, then why, then what moved.

use crate::blocks::{Block, Column, Table, Text, Tone};
use crate::compare::{Change, ComparedCase, ComparedSide, Difference, FailureChange, MeasureChange, RunComparison};
use crate::numbers::{
    grouped, interval, milliseconds, of, p_value, percent, plural, points, rate_percent, size_in_points, tokens,
};

/// Cases listed by name, at most; all are in JSON and CSV.
const MOST_CASES: usize = 25;
/// Failure classes listed, at most.
const MOST_CLASSES: usize = 12;

/// The whole page.
pub(crate) fn comparison_page(found: &RunComparison) -> Vec<Block> {
    let mut blocks = vec![Block::Title(title(found))];
    let tone = |reason: &str| if is_bad(found, reason) { Tone::Bad } else { Tone::Plain };
    blocks.extend(found.reasons.iter().map(|reason| Block::Remark(Text::new(reason.clone(), tone(reason)))));
    blocks.extend(sides(found));
    blocks.extend(under_test(found));
    blocks.extend(questions(found));
    if !found.notes.is_empty() {
        blocks.push(Block::Paragraph(Vec::new()));
        blocks.extend(found.notes.iter().map(|note| Block::Remark(Text::new(note.clone(), Tone::Doubt))));
    }
    blocks.extend(cases(found));
    blocks.extend(failures(found));
    blocks.extend(measures(found));
    blocks
}

/// Names cases that are proven worse, under a word that may say something else.
fn is_bad(found: &RunComparison, reason: &str) -> bool {
    !found.cases_worse.is_empty() && found.verdict != "REGRESSED" && reason.contains("proven worse: ")
}

/// The verdict in one line.
fn title(found: &RunComparison) -> Vec<Text> {
    let tone = match found.verdict.as_str() {
        "REAL" => Tone::Good,
        "REGRESSED" => Tone::Bad,
        "INCONCLUSIVE" => Tone::Doubt,
        _ => Tone::Strong,
    };
    let change = &found.delta;
    let (one, many) = if found.targets_named { ("target case", "target cases") } else { ("case", "cases") };
    let cases = match change.cases {
        1 => format!("this {one}"),
        count => format!("these {} {many}", grouped(count)),
    };
    let still = found
        .passes_still
        .map_or_else(String::new, |still| format!(" (needs {} more a case)", plural(still, "pass", "passes")));
    let worse = match found.cases_worse.len() as u64 {
        0 => String::new(),
        count => format!("; {} proven worse", plural(count, "case", "cases")),
    };
    vec![
        Text::new(found.verdict.clone(), tone),
        Text::plain(format!(
            "{still}: {} points on {cases}, 95 % interval {}, p {}{worse}",
            points(change.estimate),
            range(change.low, change.high),
            equals(change.p),
        )),
    ]
}

fn equals(p: f64) -> String {
    let text = p_value(p);
    if text.starts_with('<') { text } else { format!("= {text}") }
}

fn range(low: f64, high: f64) -> String {
    format!("{} to {}", points(low), points(high))
}

fn sides(found: &RunComparison) -> Vec<Block> {
    let mut table = Table::new(vec![
        Column::left(""),
        Column::left("run").shrinking(10),
        Column::left("configuration").shrinking(8),
        Column::right("passed"),
        Column::right("rate"),
        Column::right("95 % interval"),
        Column::right("INVALID"),
        Column::right("eff. n"),
    ]);
    let repeats = [&found.before, &found.after].iter().any(|side| side.rate.effective_n < side.rate.total);
    for (name, side) in [("before", &found.before), ("after", &found.after)] {
        table.row(side_row(name, side, repeats));
    }
    let together = if found.measured_together {
        "measured together: both sides come from one run, their passes interleaved"
    } else {
        "measured apart"
    };
    vec![
        Block::Paragraph(Vec::new()),
        Block::Table(table.without_empty_columns()),
        Block::Paragraph(vec![Text::quiet(format!("bench {}, {together}", found.bench))]),
    ]
}

fn side_row(name: &str, side: &ComparedSide, repeats: bool) -> Vec<Text> {
    let invalid = if side.invalid > 0 { Tone::Doubt } else { Tone::Quiet };
    vec![
        Text::quiet(name),
        Text::plain(side.facts.run.clone()),
        Text::plain(side.facts.configuration.clone()),
        Text::plain(of(&side.rate)),
        Text::new(rate_percent(&side.rate), Tone::Strong),
        Text::plain(interval(&side.rate, 1)),
        Text::new(grouped(side.invalid), invalid),
        Text::quiet(if repeats { grouped(side.rate.effective_n) } else { String::new() }),
    ]
}

fn under_test(found: &RunComparison) -> Vec<Block> {
    if found.under_test.is_empty() && found.allowed.is_empty() {
        return vec![Block::Paragraph(vec![Text::quiet("under test: nothing differs (A/A)")])];
    }
    let mut table = Table::new(vec![
        Column::left(""),
        Column::left("what differs"),
        Column::left("before").wrapping(18),
        Column::left("after").wrapping(18),
    ]);
    let mut rows = |what: &str, differences: &[Difference], tone: Tone| {
        for difference in differences {
            table.row(vec![
                Text::quiet(what),
                Text::new(difference.name.clone(), tone),
                Text::plain(difference.before.clone()),
                Text::plain(difference.after.clone()),
            ]);
        }
    };
    rows("under test", &found.under_test, Tone::Strong);
    rows("besides", &found.allowed, Tone::Doubt);
    vec![Block::Paragraph(Vec::new()), Block::Table(table)]
}

fn questions(found: &RunComparison) -> Vec<Block> {
    let mut table = Table::new(vec![
        Column::left("").wrapping(14),
        Column::right("cases"),
        Column::right("before"),
        Column::right("after"),
        Column::right("Δ"),
        Column::right("95 % interval"),
        Column::right("p"),
    ]);
    let these = if found.targets_named { "1. these targets" } else { "1. these cases" };
    table.row(change_row(these, &found.delta, Tone::Strong));
    table.row(other_row(found));
    if found.targets_named {
        table.row(change_row("all cases", &found.all, Tone::Quiet));
    } else if let Some(targets) = found.targets.filter(|targets| targets.cases < found.all.cases) {
        table.row(change_row("targets", &targets, Tone::Quiet));
    }
    if let Some(guards) = found.guards.filter(|guards| guards.cases < found.all.cases) {
        table.row(change_row("guards", &guards, Tone::Quiet));
    }
    let method = format!(
        "1: did it change on these cases? Mean difference, exact stratified test within cases. 2: would it on cases not \
         written yet? t over cases, clustered by family. A change of {} points matters",
        size_in_points(found.smallest_effect)
    );
    vec![
        Block::Heading("The two questions, change in points".to_owned()),
        Block::Table(table),
        Block::Paragraph(vec![Text::quiet(method)]),
    ]
}

fn change_row(name: &str, change: &Change, tone: Tone) -> Vec<Text> {
    let rate = |fraction: f64| format!("{} %", percent(fraction, 1));
    let plain = if tone == Tone::Quiet { Tone::Quiet } else { Tone::Plain };
    vec![
        Text::new(name, plain),
        Text::new(grouped(change.cases), plain),
        Text::new(rate(change.before), plain),
        Text::new(rate(change.after), plain),
        Text::new(points(change.estimate), tone),
        Text::new(range(change.low, change.high), plain),
        Text::new(p_value(change.p), plain),
    ]
}

fn other_row(found: &RunComparison) -> Vec<Text> {
    let none = Text::default;
    let name = "2. cases not written yet";
    match &found.other_cases {
        Some(other) => vec![
            Text::plain(format!("{name}, by {}", plural(other.families, "family", "families"))),
            none(),
            none(),
            none(),
            Text::plain(points(found.delta.estimate)),
            Text::plain(range(other.low, other.high)),
            none(),
        ],
        None => vec![Text::plain(name), none(), none(), none(), none(), Text::quiet("unknown"), none()],
    }
}

fn cases(found: &RunComparison) -> Vec<Block> {
    let changed = |case: &&ComparedCase| case.moved || case.difference.abs() > 1e-12;
    let shown: Vec<&ComparedCase> = found.cases.iter().filter(changed).take(MOST_CASES).collect();
    let changed = found.cases.iter().filter(changed).count();
    let mut blocks = Vec::new();
    if !shown.is_empty() {
        blocks.push(Block::Heading("Cases that moved, most first".to_owned()));
        blocks.push(Block::Table(case_table(&shown)));
    }
    let proven = found.cases.iter().filter(|case| case.moved).count() as u64;
    let mut words = vec![match proven {
        0 => "no single case is shown to have moved".to_owned(),
        1 => "1 case is shown to have moved (●)".to_owned(),
        more => format!("{} cases are shown to have moved (●), at most one flag in ten by chance", grouped(more)),
    }];
    if changed > shown.len() {
        words.push(format!("{} others moved no further", grouped((changed - shown.len()) as u64)));
    }
    let still = (found.cases.len() - changed) as u64;
    if still > 0 {
        words.push(format!("{} did not move", plural(still, "case", "cases")));
    }
    blocks.push(Block::Paragraph(vec![Text::quiet(words.join("; "))]));
    blocks
}

fn case_table(shown: &[&ComparedCase]) -> Table {
    let mut table = Table::new(vec![
        Column::left("case").shrinking(16),
        Column::left("role"),
        Column::right("before"),
        Column::right("95 %"),
        Column::right("after"),
        Column::right("95 %"),
        Column::right("Δ"),
        Column::right("p"),
        Column::left(""),
        Column::right("INVALID"),
    ]);
    for case in shown {
        let tone = if case.difference > 0.0 { Tone::Good } else { Tone::Bad };
        let invalid = match (case.invalid_before, case.invalid_after) {
            (0, 0) => String::new(),
            (before, after) => format!("{before} → {after}"),
        };
        table.row(vec![
            Text::plain(case.case.clone()),
            Text::quiet(case.role.as_str()),
            Text::plain(of(&case.before)),
            Text::quiet(interval(&case.before, 0)),
            Text::new(of(&case.after), tone),
            Text::quiet(interval(&case.after, 0)),
            Text::new(points(case.difference), tone),
            Text::plain(p_value(case.p)),
            Text::new(if case.moved { "●" } else { "" }, tone),
            Text::new(invalid, Tone::Doubt),
        ]);
    }
    table.without_empty_columns()
}

fn failures(found: &RunComparison) -> Vec<Block> {
    let changed = |failure: &&FailureChange| failure.change.estimate.abs() > 1e-12;
    let shown: Vec<&FailureChange> = found.failures.iter().filter(changed).take(MOST_CLASSES).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(vec![
        Column::left("failure").shrinking(12),
        Column::left("kind"),
        Column::right("before"),
        Column::right("after"),
        Column::right("Δ"),
        Column::right("95 % interval"),
        Column::right("p, Holm"),
    ]);
    for failure in &shown {
        let tone = match (failure.moved, failure.change.estimate < 0.0) {
            (false, _) => Tone::Plain,
            (true, true) => Tone::Good,
            (true, false) => Tone::Bad,
        };
        table.row(vec![
            Text::plain(failure.class.map_or("unclassified", |class| class.as_str())),
            Text::quiet(failure.kind.map_or("", super::failures::kind_name)),
            Text::plain(grouped(failure.passes_before)),
            Text::plain(grouped(failure.passes_after)),
            Text::new(points(failure.change.estimate), tone),
            Text::plain(range(failure.change.low, failure.change.high)),
            Text::new(p_value(failure.p_holm), tone),
        ]);
    }
    let mut blocks = vec![Block::Heading("Failures, change in points of all passes".to_owned()), Block::Table(table)];
    let others = found.failures.len() - shown.len();
    if others > 0 {
        let others = plural(others as u64, "other class", "other classes");
        blocks.push(Block::Paragraph(vec![Text::quiet(format!("{others} moved less or not at all"))]));
    }
    blocks
}

fn measures(found: &RunComparison) -> Vec<Block> {
    if found.measures.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(vec![
        Column::left("median").shrinking(10),
        Column::right("cases"),
        Column::right("before"),
        Column::right("after"),
        Column::right("Δ"),
        Column::right("95 % interval"),
        Column::left(""),
    ]);
    for measure in &found.measures {
        table.row(measure_row(measure));
    }
    vec![
        Block::Heading("Latency of warm passes, and tokens".to_owned()),
        Block::Table(table.without_empty_columns()),
        Block::Paragraph(vec![Text::quiet("intervals: bootstrap over cases")]),
    ]
}

fn measure_row(measure: &MeasureChange) -> Vec<Text> {
    let (name, unit) = measure.measure.rsplit_once('_').unwrap_or((&measure.measure, ""));
    let time = unit == "ms";
    let amount = |value: f64| if time { milliseconds(Some(value)) } else { tokens(Some(value)) };
    let signed = |value: f64| {
        let text = amount(value.abs());
        let zero = text.chars().all(|character| !character.is_ascii_digit() || character == '0');
        if zero { "0".to_owned() } else { format!("{}{text}", if value < 0.0 { '−' } else { '+' }) }
    };
    let interval = measure.low.zip(measure.high);
    let shown =
        interval.map_or_else(|| "unknown".to_owned(), |(low, high)| format!("{} to {}", signed(low), signed(high)));
    // Less is better; what was not measured alike is neither.
    let tone = match interval {
        Some((_, high)) if high < 0.0 && measure.comparable => Tone::Good,
        Some((low, _)) if low > 0.0 && measure.comparable => Tone::Bad,
        _ => Tone::Plain,
    };
    vec![
        Text::plain(format!("{} {}", name.replace('_', " "), if time { "ms" } else { "tokens" })),
        Text::quiet(grouped(measure.cases)),
        Text::plain(amount(measure.before)),
        Text::plain(amount(measure.after)),
        Text::new(signed(measure.difference), tone),
        Text::plain(shown),
        Text::new(if measure.comparable { "" } else { "not comparable" }, Tone::Doubt),
    ]
}

//! Every configuration against the first.

use crate::blocks::{Block, Column, Table, Text, Tone};
use crate::numbers::{grouped, of, p_value, points};
use crate::summary::{Comparison, RunSummary};

pub(super) fn blocks(summary: &RunSummary) -> Vec<Block> {
    if summary.comparisons.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Against #1, difference in points".to_owned()), Block::Table(table(summary))];
    blocks.push(Block::Paragraph(vec![Text::quiet(method(summary))]));
    for comparison in &summary.comparisons {
        blocks.extend(worse(comparison, &number(summary, comparison)));
        blocks.extend(guards(comparison, &number(summary, comparison)));
    }
    let moved = moved(summary);
    if moved.rows.is_empty() {
        blocks.push(Block::Paragraph(vec![Text::quiet("no single case is shown to have moved")]));
    } else {
        blocks.push(Block::Heading("Cases that moved, at most one flag in ten by chance".to_owned()));
        blocks.push(Block::Table(moved));
    }
    blocks
}

fn number(summary: &RunSummary, comparison: &Comparison) -> String {
    let place = summary.configurations.iter().position(|known| known.facts.label == comparison.configuration);
    place.map_or_else(String::new, |place| (place + 1).to_string())
}

fn table(summary: &RunSummary) -> Table {
    let mut table = Table::new(vec![
        Column::left("#"),
        Column::right("cases"),
        Column::right("Δ"),
        Column::right("95 % interval"),
        Column::right("p, Holm"),
        Column::right("other cases"),
        Column::left("verdict").wrapping(14),
    ]);
    for comparison in &summary.comparisons {
        let other = comparison.other_cases.map_or_else(|| "unknown".to_owned(), |other| range(other.low, other.high));
        let (word, tone) = verdict(comparison);
        table.row(vec![
            Text::quiet(number(summary, comparison)),
            Text::plain(grouped(comparison.cases)),
            Text::new(points(comparison.delta), Tone::Strong),
            Text::plain(range(comparison.low, comparison.high)),
            Text::plain(p_value(comparison.p_holm)),
            Text::quiet(other),
            Text::new(word, tone),
        ]);
    }
    table
}

fn range(low: f64, high: f64) -> String {
    format!("{} to {}", points(low), points(high))
}

fn verdict(comparison: &Comparison) -> (String, Tone) {
    let tone = match comparison.verdict.as_str() {
        "REAL" => Tone::Good,
        "REGRESSED" => Tone::Bad,
        "INCONCLUSIVE" => Tone::Doubt,
        _ => Tone::Plain,
    };
    let needed = comparison
        .passes_needed
        .map_or_else(String::new, |passes| format!(", needs {} passes a case", grouped(passes)));
    (format!("{}{needed}", comparison.verdict), tone)
}

fn method(summary: &RunSummary) -> String {
    let tests = summary.comparisons.len();
    let corrected = if tests == 1 { String::new() } else { format!(", corrected by Holm over {tests} comparisons") };
    format!(
        "Δ: mean over these cases. p: exact stratified test within cases{corrected}. Other cases: 95 % interval \
         for cases not written yet, by family. A difference of 5 points matters"
    )
}

fn worse(comparison: &Comparison, number: &str) -> Option<Block> {
    let names = &comparison.cases_worse;
    let word = if names.len() == 1 { "case" } else { "cases" };
    (!names.is_empty())
        .then(|| Block::Remark(Text::new(format!("#{number}: {word} proven worse: {}", names.join(", ")), Tone::Bad)))
}

fn guards(comparison: &Comparison, number: &str) -> Option<Block> {
    let (names, what) = match (&comparison.guards_worse, &comparison.guards_failed) {
        (worse, _) if !worse.is_empty() => (worse, "guard cases proven worse"),
        (_, failed) if !failed.is_empty() => (failed, "guard cases fell below 8 of 10"),
        _ => return None,
    };
    Some(Block::Remark(Text::new(format!("#{number}: {what}: {}", names.join(", ")), Tone::Bad)))
}

fn moved(summary: &RunSummary) -> Table {
    let mut table = Table::new(vec![
        Column::left("#"),
        Column::left("case").shrinking(16),
        Column::left("kind"),
        Column::right("in #1"),
        Column::right("now"),
        Column::right("p, adjusted"),
    ]);
    for comparison in &summary.comparisons {
        for moved in &comparison.moved {
            let tone = if moved.after.rate > moved.before.rate { Tone::Good } else { Tone::Bad };
            table.row(vec![
                Text::quiet(number(summary, comparison)),
                Text::plain(moved.case.clone()),
                Text::quiet(moved.kind.clone()),
                Text::plain(of(&moved.before)),
                Text::new(of(&moved.after), tone),
                Text::plain(p_value(moved.p_adjusted)),
            ]);
        }
    }
    table
}

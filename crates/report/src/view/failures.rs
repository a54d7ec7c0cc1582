//! What failed, most frequent first, with one example of each.

use super::several;
use crate::blocks::{Block, Column, Table, Text, Tone};
use crate::numbers::{grouped, percent, plural};
use crate::summary::{Example, RunSummary};
use tenpass_trace::{FailureClass, FailureKind};

/// One line of the table.
struct Line<'a> {
    kind: FailureKind,
    class: FailureClass,
    /// Passes per configuration.
    passes: Vec<u64>,
    example: Option<&'a Example>,
}

pub(super) fn blocks(summary: &RunSummary) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(heading(summary))];
    let lines = lines(summary);
    let unclassified: Vec<u64> = summary.configurations.iter().map(|known| known.unclassified).collect();
    if lines.is_empty() && unclassified.iter().sum::<u64>() == 0 {
        blocks.push(Block::Paragraph(nothing(summary)));
        return blocks;
    }
    blocks.push(Block::Table(table(summary, &lines, &unclassified)));
    let others = FailureClass::ALL.len() - lines.len();
    blocks.push(Block::Paragraph(vec![Text::quiet(format!("the other {others} failure classes did not occur"))]));
    blocks
}

fn heading(summary: &RunSummary) -> String {
    match summary.configurations.as_slice() {
        [only] if only.rate.passed < only.rate.total => {
            let failed = only.rate.total - only.rate.passed;
            format!("What failed, {} of {}", grouped(failed), plural(only.rate.total, "pass", "passes"))
        }
        _ => "What failed".to_owned(),
    }
}

fn nothing(summary: &RunSummary) -> Vec<Text> {
    let total: u64 = summary.configurations.iter().map(|known| known.rate.total).sum();
    if total == 0 {
        return vec![Text::new("nothing was scored, so nothing is known", Tone::Doubt)];
    }
    let lowest = summary.configurations.iter().map(|known| known.rate.low).fold(1.0, f64::min);
    vec![
        Text::new("nothing failed", Tone::Good),
        Text::plain(format!(
            ": {}. The true rate may still be as low as {} %",
            if total == 1 {
                "the only pass succeeded".to_owned()
            } else {
                format!("all {} succeeded", plural(total, "pass", "passes"))
            },
            percent(lowest, 1)
        )),
    ]
}

/// The classes that occurred: kinds by their passes, classes by theirs, INVALID last.
fn lines(summary: &RunSummary) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (i, configuration) in summary.configurations.iter().enumerate() {
        for group in &configuration.failures {
            for found in group.classes.iter().filter(|class| class.passes > 0) {
                let known = lines.iter().position(|line| line.class == found.class).unwrap_or_else(|| {
                    let passes = vec![0; summary.configurations.len()];
                    lines.push(Line { kind: group.kind, class: found.class, passes, example: None });
                    lines.len() - 1
                });
                lines[known].passes[i] = found.passes;
                lines[known].example = lines[known].example.or(found.example.as_ref());
            }
        }
    }
    let of_class = |line: &Line<'_>| line.passes.iter().sum::<u64>();
    let of_kind: Vec<u64> =
        lines.iter().map(|line| lines.iter().filter(|other| other.kind == line.kind).map(of_class).sum()).collect();
    let mut ranked: Vec<(Line<'_>, u64)> = lines.into_iter().zip(of_kind).collect();
    ranked.sort_by_key(|(line, kind)| {
        let invalid = line.kind == FailureKind::Invalid;
        (invalid, std::cmp::Reverse(*kind), line.kind, std::cmp::Reverse(of_class(line)), line.class)
    });
    ranked.into_iter().map(|(line, _)| line).collect()
}

fn table(summary: &RunSummary, lines: &[Line<'_>], unclassified: &[u64]) -> Table {
    let mut columns = vec![Column::left("kind"), Column::left("class")];
    if several(summary) {
        columns.extend((1..=summary.configurations.len()).map(|number| Column::right(format!("#{number}"))));
    } else {
        columns.push(Column::right("passes"));
    }
    columns.extend([Column::left("example").shrinking(14), Column::left("").shrinking(8)]);
    let mut table = Table::new(columns);
    let mut previous = None;
    for line in lines {
        let kind = if previous == Some(line.kind) { "" } else { kind_name(line.kind) };
        previous = Some(line.kind);
        let tone = if line.kind == FailureKind::Invalid { Tone::Doubt } else { Tone::Plain };
        let mut cells = vec![Text::quiet(kind), Text::new(line.class.as_str(), tone)];
        cells.extend(line.passes.iter().map(|passes| count(*passes)));
        cells.extend(example(line.example));
        table.row(cells);
    }
    if unclassified.iter().sum::<u64>() > 0 {
        let mut cells = vec![Text::plain(""), Text::plain("unclassified")];
        cells.extend(unclassified.iter().map(|passes| count(*passes)));
        cells.extend(example(None));
        table.row(cells);
    }
    table.without_empty_columns()
}

fn count(passes: u64) -> Text {
    Text::new(grouped(passes), if passes == 0 { Tone::Quiet } else { Tone::Strong })
}

fn example(example: Option<&Example>) -> [Text; 2] {
    example.map_or_else(
        || [Text::default(), Text::default()],
        |example| {
            let quote =
                if example.quote.is_empty() { "(nothing said)".to_owned() } else { format!("“{}”", example.quote) };
            [Text::quiet(format!("{} #{}", example.case, example.pass)), Text::quiet(quote)]
        },
    )
}

pub(crate) fn kind_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Choice => "choice",
        FailureKind::Transport => "transport",
        FailureKind::Arguments => "arguments",
        FailureKind::Talk => "talk",
        FailureKind::Progress => "progress",
        FailureKind::Invalid => "not scored",
    }
}

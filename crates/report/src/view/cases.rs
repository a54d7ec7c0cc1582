//! The breakdown by family, language and kind, and every single case.

use super::{number_cell, number_column, several, tone, unless_zero};
use crate::blocks::{Block, Column, Row, Table, Text, Tone};
use crate::numbers::{grouped, interval, of, rate_percent};
use crate::summary::{CaseCell, CaseSummary, CellFailure, Group, Rate, RunSummary};
use tenpass_trace::FailureClass;

/// Columns that one configuration takes when the groups stand side by side.
const SIDE_BY_SIDE: usize = 22;
/// And what the names take.
const NAMES: usize = 34;

pub(super) fn groups(summary: &RunSummary, width: usize) -> Vec<Block> {
    if summary.groups.is_empty() {
        return Vec::new();
    }
    let wide = several(summary) && width >= NAMES + SIDE_BY_SIDE * summary.configurations.len();
    let table = if wide { side_by_side(summary) } else { one_below_another(summary) };
    vec![Block::Heading("By group".to_owned()), Block::Table(table)]
}

/// The rows of one property under its title.
fn titled(summary: &RunSummary, table: &mut Table, mut rows: impl FnMut(&mut Table, &Group)) {
    let mut previous = "";
    for group in &summary.groups {
        if group.by != previous {
            table.rows.push(Row::Title(Text::quiet(group.by.clone())));
            previous = &group.by;
        }
        rows(table, group);
    }
}

fn one_below_another(summary: &RunSummary) -> Table {
    let mut columns = vec![Column::left("").shrinking(16), Column::right("cases")];
    columns.extend(number_column(summary));
    columns.extend([Column::right("passed"), Column::right("rate"), Column::right("95 % interval")]);
    let mut table = Table::new(columns);
    titled(summary, &mut table, |table, group| {
        for (i, rate) in group.rates.iter().enumerate() {
            let named = i == 0;
            let mut cells = vec![
                Text::plain(if named { format!("  {}", group.name) } else { String::new() }),
                Text::quiet(if named { grouped(group.cases) } else { String::new() }),
            ];
            cells.extend(number_cell(summary, i));
            cells.extend([
                Text::plain(of(rate)),
                Text::new(rate_percent(rate), tone(rate)),
                Text::quiet(interval(rate, 0)),
            ]);
            table.row(cells);
        }
    });
    table
}

fn side_by_side(summary: &RunSummary) -> Table {
    let mut columns = vec![Column::left("").shrinking(16), Column::right("cases")];
    for number in 1..=summary.configurations.len() {
        columns.extend([Column::right(format!("#{number}")), Column::right("95 %")]);
    }
    let mut table = Table::new(columns);
    titled(summary, &mut table, |table, group| {
        let mut cells = vec![Text::plain(format!("  {}", group.name)), Text::quiet(grouped(group.cases))];
        for rate in &group.rates {
            cells.extend([Text::new(rate_percent(rate), tone(rate)), Text::quiet(interval(rate, 0))]);
        }
        table.row(cells);
    });
    table
}

pub(super) fn blocks(summary: &RunSummary) -> Vec<Block> {
    if summary.cases.is_empty() {
        return vec![Block::Heading("Cases".to_owned()), Block::Paragraph(vec![Text::plain("no case was run")])];
    }
    let languages = summary.groups.iter().any(|group| group.by == "language");
    let mut columns = vec![Column::left("case").shrinking(16), Column::left("").shrinking(2), Column::left("")];
    columns.extend(number_column(summary));
    columns.extend([
        Column::right("passed"),
        Column::right("95 %"),
        Column::right("recovered"),
        Column::right("eff. n"),
        Column::left("failures").wrapping(24),
    ]);
    let mut table = Table::new(columns);
    let mut family = None;
    for case in &summary.cases {
        if family != Some(&case.family) {
            family = Some(&case.family);
            table.rows.push(Row::Title(Text::new(case.family.clone(), Tone::Strong)));
        }
        for (i, cell) in case.cells.iter().enumerate() {
            let mut cells = names(case, i == 0, languages);
            cells.extend(number_cell(summary, i));
            cells.extend(numbers(cell));
            table.row(cells);
        }
    }
    vec![Block::Heading("Cases by family".to_owned()), Block::Table(table.without_empty_columns())]
}

fn names(case: &CaseSummary, first: bool, languages: bool) -> Vec<Text> {
    if !first {
        return vec![Text::default(), Text::default(), Text::default()];
    }
    vec![
        Text::plain(format!("  {}", case.case)),
        Text::quiet(if languages { case.language.clone() } else { String::new() }),
        // A target is the normal case; a guard is worth a word.
        Text::quiet(if case.kind == "guard" { "guard" } else { "" }),
    ]
}

fn numbers(cell: &CaseCell) -> Vec<Text> {
    let rate: &Rate = &cell.rate;
    vec![
        Text::new(of(rate), tone(rate)),
        Text::quiet(interval(rate, 0)),
        Text::plain(unless_zero(cell.recovered)),
        Text::quiet(if rate.effective_n < rate.total { grouped(rate.effective_n) } else { String::new() }),
        Text::plain(failures(cell)),
    ]
}

/// `2 no_call, 1 timeout`; a count and its class stay on one line. INVALID passes stand here too:
/// they are not among those that `k of n` counts.
fn failures(cell: &CaseCell) -> String {
    let name = |class: Option<FailureClass>| class.map_or("unclassified", FailureClass::as_str);
    let mut found: Vec<String> =
        cell.failures.iter().map(|failure| format!("{}\u{a0}{}", failure.passes, name(failure.class))).collect();
    let invalid = |failure: &&CellFailure| failure.class.is_some_and(FailureClass::is_invalid);
    let named: u64 = cell.failures.iter().filter(invalid).map(|failure| failure.passes).sum();
    if cell.invalid > named {
        found.push(format!("{}\u{a0}INVALID", cell.invalid - named));
    }
    found.join(", ")
}

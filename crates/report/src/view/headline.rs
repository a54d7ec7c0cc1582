//! The first lines: how many passed, how sure that is, and what to beware of.

use super::{Page, number_cell, number_column, several, tone};
use crate::blocks::{Block, Column, Table, Text, Tone};
use crate::numbers::{duration, grouped, interval, of, percent, plural, rate_percent};
use crate::summary::{ConfigurationSummary, Rate, RunSummary};

/// Columns of the drawn interval.
const STRIP: usize = 21;
/// From this width on, the headline of one configuration has room for it.
const ONE_STRIP_FROM: usize = 90;
/// From this width on, the headline table of several configurations has room for it.
const STRIP_FROM: usize = 124;

pub(super) fn blocks(summary: &RunSummary, page: Page) -> Vec<Block> {
    let mut blocks = vec![Block::Title(title(summary)), Block::Paragraph(Vec::new())];
    match summary.configurations.as_slice() {
        [] => blocks.push(Block::Paragraph(vec![Text::plain("no configuration was run")])),
        [only] => blocks.extend(one(only, summary, page)),
        _ => blocks.push(Block::Table(table(summary, page.drawings && page.width >= STRIP_FROM))),
    }
    if !summary.notes.is_empty() {
        blocks.push(Block::Paragraph(Vec::new()));
        blocks.extend(summary.notes.iter().map(|note| Block::Remark(Text::new(note.clone(), Tone::Doubt))));
    }
    blocks
}

/// Facts one after the other, set apart by dots; a line breaks between facts only.
fn joined(facts: &[String]) -> String {
    let unbroken: Vec<String> = facts.iter().map(|fact| fact.replace(' ', "\u{a0}")).collect();
    unbroken.join("\u{a0}· ")
}

fn title(summary: &RunSummary) -> Vec<Text> {
    let facts = &summary.facts;
    let cases = plural(summary.cases.len() as u64, "case", "cases");
    let passes = plural(u64::from(facts.passes_per_case), "pass", "passes");
    let mut rest = vec![String::new(), format!("{cases} × {passes}")];
    if several(summary) {
        rest.push(format!("{} configurations", summary.configurations.len()));
    }
    rest.extend(facts.elapsed_s.map(duration));
    rest.extend(facts.run.as_ref().map(|run| format!("run {run}")));
    vec![Text::new(facts.title.clone(), Tone::Strong), Text::quiet(joined(&rest))]
}

fn one(only: &ConfigurationSummary, summary: &RunSummary, page: Page) -> Vec<Block> {
    let rate = &only.rate;
    if rate.total == 0 {
        return vec![
            Block::Paragraph(vec![Text::new("no pass was scored", Tone::Bad)]),
            Block::Paragraph(vec![Text::quiet(setting(only))]),
            Block::Paragraph(vec![Text::quiet(asides(only, summary))]),
        ];
    }
    vec![
        Block::Paragraph(vec![
            Text::new(format!("{} passed", rate_percent(rate)), Tone::Strong),
            Text::plain(format!(", {}", of(rate))),
            Text::plain(format!("   95 % interval {}", interval(rate, 1))),
            Text::quiet(if page.drawings && page.width >= ONE_STRIP_FROM {
                format!("   0 {} 100", strip(rate))
            } else {
                String::new()
            }),
        ]),
        Block::Paragraph(vec![Text::quiet(setting(only))]),
        Block::Paragraph(vec![Text::quiet(asides(only, summary))]),
    ]
}

fn setting(configuration: &ConfigurationSummary) -> String {
    let facts = &configuration.facts;
    let mut parts = vec![if facts.model.is_empty() { facts.label.clone() } else { facts.model.clone() }];
    for (name, value) in [("structure", &facts.structure), ("tools", &facts.tools)] {
        if !value.is_empty() {
            parts.push(format!("{name} {value}"));
        }
    }
    parts.extend(facts.temperature.map(|temperature| format!("temperature {temperature}")));
    parts.extend(facts.context_tokens.map(|tokens| format!("context {}", grouped(tokens))));
    joined(&parts)
}

fn asides(only: &ConfigurationSummary, summary: &RunSummary) -> String {
    let cases = plural(summary.cases.len() as u64, "case", "cases");
    let mut parts = vec![format!("{} of {cases} always passed", only.cases_always_passed)];
    parts.extend(only.pass_hat_3.map(|all| format!("three passes in a row {} %", percent(all, 1))));
    parts.push(format!("{} recovered", grouped(only.recovered)));
    parts.push(format!("{} INVALID", grouped(only.invalid)));
    if only.rate.effective_n < only.rate.total {
        parts.push(format!("effective n {}", grouped(only.rate.effective_n)));
    }
    joined(&parts)
}

fn table(summary: &RunSummary, drawn: bool) -> Table {
    let mut columns = number_column(summary);
    columns.extend([
        Column::left("model").shrinking(12),
        Column::left("structure").shrinking(6),
        Column::left("tools").shrinking(5),
        Column::right("passed"),
        Column::right("rate"),
        Column::right("95 % interval"),
        Column::left(if drawn { format!("0 {:>w$}", "100", w = STRIP - 2) } else { String::new() }),
        Column::right("recovered"),
        Column::right("INVALID"),
        Column::right("eff. n"),
    ]);
    let mut table = Table::new(columns);
    let repeats = summary.configurations.iter().any(|known| known.rate.effective_n < known.rate.total);
    for (i, configuration) in summary.configurations.iter().enumerate() {
        let (facts, rate) = (&configuration.facts, &configuration.rate);
        let mut cells = number_cell(summary, i);
        cells.extend([
            Text::plain(if facts.model.is_empty() { &facts.label } else { &facts.model }.clone()),
            Text::plain(facts.structure.clone()),
            Text::plain(facts.tools.clone()),
            Text::plain(of(rate)),
            Text::new(rate_percent(rate), if rate.total == 0 { tone(rate) } else { Tone::Strong }),
            Text::plain(interval(rate, 1)),
            Text::quiet(if drawn { strip(rate) } else { String::new() }),
            Text::quiet(grouped(configuration.recovered)),
            Text::new(
                grouped(configuration.invalid),
                if configuration.invalid > 0 { Tone::Doubt } else { Tone::Quiet },
            ),
            Text::quiet(if repeats { grouped(rate.effective_n) } else { String::new() }),
        ]);
        table.row(cells);
    }
    table.without_empty_columns()
}

/// The interval drawn between 0 and 100 %.
fn strip(rate: &Rate) -> String {
    let place = |fraction: f64| (fraction * (STRIP - 1) as f64).round() as usize;
    let (low, high, at) = (place(rate.low), place(rate.high), rate.rate.map(place));
    let symbol = |i: usize| match i {
        i if Some(i) == at => '●',
        _ if at.is_none() => '·',
        i if i == low => '├',
        i if i == high => '┤',
        i if low < i && i < high => '─',
        _ => '·',
    };
    (0..STRIP).map(symbol).collect()
}

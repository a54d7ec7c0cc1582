//! Latencies and tokens.

use super::{number_cell, number_column};
use crate::blocks::{Block, Column, Table, Text};
use crate::numbers::{grouped, milliseconds, percent, tokens};
use crate::summary::{Distribution, Latency, RunSummary};

pub(super) fn blocks(summary: &RunSummary) -> Vec<Block> {
    let mut blocks = Vec::new();
    let latency = latency(summary);
    if !latency.rows.is_empty() {
        blocks.push(Block::Heading("Latency in ms, p50 and p90".to_owned()));
        blocks.push(Block::Table(latency));
        let error = distributions(summary).map(|distribution| distribution.relative_error).fold(0.0, f64::max);
        if error > 0.0 {
            let text = format!("percentiles of more than 1024 passes are within {:.1} %", error * 100.0);
            blocks.push(Block::Paragraph(vec![Text::quiet(text)]));
        }
    }
    let tokens = token_table(summary);
    if !tokens.rows.is_empty() {
        blocks.push(Block::Heading("Tokens".to_owned()));
        blocks.push(Block::Table(tokens));
    }
    blocks
}

fn distributions(summary: &RunSummary) -> impl Iterator<Item = Distribution> {
    summary.configurations.iter().flat_map(|known| [known.measured.warm.total_ms, known.measured.cold.total_ms])
}

fn latency(summary: &RunSummary) -> Table {
    let mut columns = number_column(summary);
    columns.push(Column::left("state"));
    for (what, count) in [("first token", "n"), ("first call", "n"), ("end", "n")] {
        columns.extend([Column::right(what), Column::right("p90"), Column::right(count)]);
    }
    let mut table = Table::new(columns);
    for (i, configuration) in summary.configurations.iter().enumerate() {
        for (state, latency) in [("warm", &configuration.measured.warm), ("cold", &configuration.measured.cold)] {
            if latency.total_ms.n + latency.first_token_ms.n > 0 {
                let mut cells = number_cell(summary, i);
                cells.push(Text::plain(state));
                cells.extend(times(latency));
                table.row(cells);
            }
        }
    }
    table
}

fn times(latency: &Latency) -> Vec<Text> {
    [latency.first_token_ms, latency.first_call_ms, latency.total_ms]
        .into_iter()
        .flat_map(|distribution| {
            [
                Text::plain(milliseconds(distribution.p50)),
                Text::plain(milliseconds(distribution.p90)),
                Text::quiet(grouped(distribution.n)),
            ]
        })
        .collect()
}

fn token_table(summary: &RunSummary) -> Table {
    let mut columns = number_column(summary);
    columns.extend([
        Column::right("prompt p50"),
        Column::right("max"),
        Column::right("of context"),
        Column::right("answer p50"),
        Column::right("p90"),
        Column::right("max"),
    ]);
    let mut table = Table::new(columns);
    for (i, configuration) in summary.configurations.iter().enumerate() {
        let (prompt, answer) = (configuration.measured.prompt_tokens, configuration.measured.completion_tokens);
        if prompt.n + answer.n == 0 {
            continue;
        }
        let share = configuration.prompt_share_of_context;
        let mut cells = number_cell(summary, i);
        cells.extend([
            Text::plain(tokens(prompt.p50)),
            Text::plain(tokens(prompt.max)),
            Text::plain(share.map_or_else(|| "–".to_owned(), |share| format!("{} %", percent(share, 1)))),
            Text::plain(tokens(answer.p50)),
            Text::plain(tokens(answer.p90)),
            Text::plain(tokens(answer.max)),
        ]);
        table.row(cells);
    }
    table
}

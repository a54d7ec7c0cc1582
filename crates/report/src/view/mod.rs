//! A summary as a page of blocks: the headline, what failed, the comparisons, times, groups, cases.

mod cases;
mod comparison;
mod comparison_runs;
mod failures;
mod headline;
mod measured;

pub(crate) use comparison_runs::comparison_page;
pub(crate) use failures::kind_name;

use crate::blocks::{Block, Column, Text, Tone};
use crate::summary::{Rate, RunSummary};

/// What the page is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// Columns available.
    pub(crate) width: usize,
    /// Intervals are drawn as well as written: only sensible in a fixed-width font.
    pub(crate) drawings: bool,
}

/// The whole page.
pub(crate) fn page(summary: &RunSummary, page: Page) -> Vec<Block> {
    let mut blocks = headline::blocks(summary, page);
    blocks.extend(failures::blocks(summary));
    blocks.extend(comparison::blocks(summary));
    blocks.extend(measured::blocks(summary));
    blocks.extend(cases::groups(summary, page.width));
    blocks.extend(cases::blocks(summary));
    blocks
}

/// The headline alone, for a web page.
pub(crate) fn headline(summary: &RunSummary) -> Vec<Block> {
    headline::blocks(summary, Page { width: usize::MAX, drawings: false })
}

/// The comparisons of configurations alone.
pub(crate) fn comparisons(summary: &RunSummary) -> Vec<Block> {
    comparison::blocks(summary)
}

/// The times and tokens alone.
pub(crate) fn measured(summary: &RunSummary) -> Vec<Block> {
    measured::blocks(summary)
}

/// The groups alone, configurations side by side.
pub(crate) fn groups(summary: &RunSummary) -> Vec<Block> {
    cases::groups(summary, usize::MAX)
}

/// Several configurations are told apart by their number.
fn several(summary: &RunSummary) -> bool {
    summary.configurations.len() > 1
}

/// The column of those numbers, when there are several.
fn number_column(summary: &RunSummary) -> Vec<Column> {
    if several(summary) { vec![Column::left("#")] } else { Vec::new() }
}

/// The cell of that column.
fn number_cell(summary: &RunSummary, index: usize) -> Vec<Text> {
    if several(summary) { vec![Text::quiet((index + 1).to_string())] } else { Vec::new() }
}

/// Always passing is good, below one half bad, between them open to doubt from 8 of 10 down.
fn tone(rate: &Rate) -> Tone {
    match rate.rate {
        None => Tone::Quiet,
        Some(_) if rate.passed == rate.total => Tone::Good,
        Some(fraction) if fraction < 0.5 => Tone::Bad,
        Some(fraction) if fraction < 0.8 => Tone::Doubt,
        Some(_) => Tone::Plain,
    }
}

/// A count, or nothing where the count is 0.
fn unless_zero(count: u64) -> String {
    if count == 0 { String::new() } else { crate::numbers::grouped(count) }
}

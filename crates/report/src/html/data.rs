//! What a page is made of. Every text is plain text; the page escapes it.

use tenpass_trace::FailureClass;

use crate::compare::RunComparison;
use crate::plot::Spreads;
use crate::summary::RunSummary;

/// A page about one or several runs.
#[derive(Debug)]
pub struct ReportPage<'a> {
    /// The title of the document.
    pub title: String,
    /// When and by what it was written, one line.
    pub written: String,
    /// The comparisons of runs, the most important first.
    pub comparisons: &'a [RunComparison],
    /// Comparisons that were not possible, each with its reason.
    pub refused: &'a [String],
    /// What the caller adds below the verdict.
    pub extras: &'a [ReportExtra],
    /// One a bench.
    pub sections: Vec<ReportSection>,
    /// One a run.
    pub facts: Vec<FactSheet>,
}

/// The runs of one bench, side by side.
#[derive(Debug)]
pub struct ReportSection {
    /// All columns in one summary, whose configurations are in the order of `columns`. Comparisons are
    /// those of the first run's configurations.
    pub summary: RunSummary,
    /// Latencies and tokens, by the same order.
    pub spreads: Spreads,
    /// The columns of the heat map.
    pub columns: Vec<ReportColumn>,
}

/// One configuration of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportColumn {
    /// The run's id.
    pub run: String,
    /// The configuration's id.
    pub configuration: String,
}

/// A part of the page that the caller adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportExtra {
    /// Its heading.
    pub title: String,
    /// Paragraphs below it.
    pub paragraphs: Vec<String>,
    /// Plots of [`crate::plot`], as they were returned.
    pub plots: Vec<String>,
    /// A table: its heads and its rows; empty for none.
    pub table: (Vec<String>, Vec<Vec<String>>),
}

/// What a run was made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactSheet {
    /// What the run is called.
    pub title: String,
    /// Names and values.
    pub rows: Vec<(String, String)>,
    /// The command that measures the same again.
    pub command: String,
    /// Whole files, by name.
    pub documents: Vec<(String, String)>,
}

/// One pass to look into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassPage {
    /// Position of its section.
    pub section: usize,
    /// Position of its column.
    pub column: usize,
    /// Its case's id.
    pub case: String,
    /// Its number, counted from 1.
    pub pass: u32,
    /// `right`, `wrong`, `INVALID` or `ungraded`.
    pub verdict: String,
    /// The main thing wrong with it.
    pub class: Option<FailureClass>,
    /// The grader's reasons.
    pub reasons: Vec<String>,
    /// Names and values: times, tokens, seed.
    pub facts: Vec<(String, String)>,
    /// What was expected, said, parsed; in the order of reading.
    pub parts: Vec<PagePart>,
    /// sha256 of its request, and of further requests of a play, whose parts were handed over by
    /// [`super::ReportWriter::request`].
    pub requests: Vec<String>,
    /// The command that shows it in the terminal.
    pub command: String,
}

impl PassPage {
    pub(crate) fn is_right(&self) -> bool {
        self.verdict == "right"
    }
}

/// A titled text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PagePart {
    /// Its title.
    pub title: String,
    /// The text, with nothing hidden in it: see `tenpass_agent::untrusted::visible`.
    pub text: String,
}

impl PagePart {
    /// A titled text.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into() }
    }
}

//! A table for people: numbers to the right, NULL as a dash, nothing hidden in a cell.

use std::io::Write;

use tenpass_agent::untrusted::visible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cell::Value;
use crate::frame::{distinct_names, widened};
use crate::{Cell, FrameError, Kind, Sink};

/// Rows that decide how wide a column is; later ones are written as they come.
const SAMPLE: usize = 1_000;
/// A cell is cut to so many columns of the terminal, whatever the width.
const MOST: usize = 400;
/// A column of text is not narrowed below this.
const LEAST: usize = 12;
/// Between two columns.
const GAP: usize = 2;
/// Decimals of a number that is not whole.
const DECIMALS: usize = 4;

/// How a table for people looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Columns of the terminal; `None` cuts only what is very long.
    pub width: Option<usize>,
}

/// Lays out rows. The first thousand decide the widths; what is longer is cut with an ellipsis.
/// Numbers have at most four decimals here, and all of them in every other format.
#[derive(Debug)]
pub struct TextSink<W> {
    out: W,
    names: Vec<String>,
    style: TextStyle,
    sample: Vec<Vec<Value>>,
    layout: Option<Vec<Layout>>,
}

/// How one column is written.
#[derive(Debug, Clone, Copy)]
struct Layout {
    width: usize,
    right: bool,
    decimals: usize,
}

impl<W: Write> TextSink<W> {
    /// A table with these columns.
    pub fn new(out: W, columns: &[&str], style: TextStyle) -> Self {
        let names = distinct_names(columns.iter().map(|name| one_line(name)));
        Self { out, names, style, sample: Vec::new(), layout: None }
    }

    /// Decides the widths and writes what was waiting for them.
    fn settle(&mut self) -> Result<(), FrameError> {
        if self.layout.is_some() || self.names.is_empty() {
            return Ok(());
        }
        let sample = std::mem::take(&mut self.sample);
        let mut layout: Vec<Layout> = (0..self.names.len()).map(|column| self.measured(&sample, column)).collect();
        if let Some(width) = self.style.width {
            narrow(&mut layout, width);
        }
        let header: Vec<String> = self.names.clone();
        self.layout = Some(layout);
        self.line(&header)?;
        for row in &sample {
            let cells: Vec<Cell<'_>> = row.iter().map(Value::cell).collect();
            self.write(&cells)?;
        }
        Ok(())
    }

    fn measured(&self, sample: &[Vec<Value>], column: usize) -> Layout {
        let cells = || sample.iter().filter_map(|row| row.get(column)).map(Value::cell);
        let kind = cells().fold(None, |known, cell| widened(known, cell.kind()));
        let right = kind.is_some_and(Kind::is_number);
        let decimals = cells().map(|cell| if let Cell::Float(value) = cell { decimals(value) } else { 0 }).max();
        let layout = Layout { width: MOST, right, decimals: decimals.unwrap_or(0) };
        let width = cells().map(|cell| shown(cell, layout).width()).max().unwrap_or(0);
        Layout { width: width.max(self.names[column].width()).min(MOST), ..layout }
    }

    fn write(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let texts: Vec<String> = cells.iter().zip(layout).map(|(cell, layout)| shown(*cell, *layout)).collect();
        self.line(&texts)
    }

    fn line(&mut self, texts: &[String]) -> Result<(), FrameError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let mut line = String::new();
        for (number, (text, layout)) in texts.iter().zip(layout).enumerate() {
            // A number is never cut: it would be another one.
            let text = if layout.right { text.clone() } else { cut(text, layout.width) };
            let blank = " ".repeat(layout.width.saturating_sub(text.width()));
            line.push_str(&" ".repeat(if number == 0 { 0 } else { GAP }));
            line.push_str(&if layout.right { blank + &text } else { text + &blank });
        }
        self.out.write_all(line.trim_end().as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(())
    }
}

impl<W: Write> Sink for TextSink<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError> {
        if cells.len() != self.names.len() {
            return Err(FrameError::Width { expected: self.names.len(), found: cells.len() });
        }
        if self.layout.is_some() {
            return self.write(cells);
        }
        self.sample.push(cells.iter().map(|cell| Value::from(*cell)).collect());
        if self.sample.len() == SAMPLE { self.settle() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), FrameError> {
        self.settle()?;
        self.out.flush()?;
        Ok(())
    }
}

/// Takes columns of text from the widest until the table fits.
fn narrow(layout: &mut [Layout], width: usize) {
    let total = |layout: &[Layout]| layout.iter().map(|column| column.width + GAP).sum::<usize>();
    while total(layout) > width + GAP {
        let widest = layout.iter_mut().filter(|column| !column.right && column.width > LEAST);
        let Some(widest) = widest.max_by_key(|column| column.width) else { return };
        widest.width -= 1;
    }
}

/// How many decimals a number needs, as far as they are shown.
fn decimals(value: f64) -> usize {
    if !value.is_finite() || is_extreme(value) {
        return 0;
    }
    let text = format!("{value:.DECIMALS$}");
    let digits = text.trim_end_matches('0');
    digits.find('.').map_or(0, |point| digits.len() - point - 1)
}

/// Whether a number needs a power of ten.
fn is_extreme(value: f64) -> bool {
    value != 0.0 && (value.abs() >= 1e15 || value.abs() < 0.5 * 0.1_f64.powi(DECIMALS as i32))
}

fn shown(cell: Cell<'_>, layout: Layout) -> String {
    match cell {
        Cell::Null => "–".to_owned(),
        Cell::Float(value) if value.is_finite() && is_extreme(value) => format!("{value:.3e}"),
        Cell::Float(value) if value.is_finite() => format!("{value:.*}", layout.decimals),
        Cell::Text(text) => one_line(text),
        other => other.to_string(),
    }
}

/// On one line, with everything that cannot be seen written out.
fn one_line(text: &str) -> String {
    // Far more than is shown: a column may hold whole documents.
    let end = text.char_indices().nth(MOST * 2).map_or(text.len(), |(at, _)| at);
    visible(&text[..end]).replace('\n', "\\n").replace('\t', "\\t")
}

/// At most so wide, with an ellipsis where something is missing.
fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut width = 1;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= most
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str], rows: &[Vec<Cell<'_>>], width: Option<usize>) -> String {
        let mut out = Vec::new();
        let mut sink = TextSink::new(&mut out, names, TextStyle { width });
        for row in rows {
            sink.row(row).unwrap();
        }
        sink.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_line_up_and_nothing_is_hidden() {
        let rows = [
            vec![Cell::Text("é\n\u{202E}x\u{1b}[31m"), Cell::Int(7), Cell::Float(0.5), Cell::Null],
            vec![Cell::Text("short"), Cell::Int(1234), Cell::Float(2.0 / 3.0), Cell::Float(1e-9)],
        ];
        let text = table(&["case", "n", "rate", "p"], &rows, None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "case                       n    rate         p");
        assert_eq!(lines[1], "é\\n\\u{202E}x\\u{1B}[31m     7  0.5000         –");
        assert_eq!(lines[2], "short                   1234  0.6667  1.000e-9");
    }

    #[test]
    fn a_table_fits_its_terminal_and_cuts_only_text() {
        let long = "x".repeat(200);
        let rows = [vec![Cell::Text(&long), Cell::Int(123_456_789), Cell::Text("日本語日本語日本語日本語")]];
        let text = table(&["case", "n", "words"], &rows, Some(60));
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
        assert!(text.contains('…') && text.contains("123456789"), "{text}");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
    }

    #[test]
    fn rows_after_the_sample_are_written_as_they_come() {
        let mut rows = vec![vec![Cell::Int(1)]; SAMPLE];
        rows.push(vec![Cell::Int(1_000_000)]);
        let text = table(&["n"], &rows, None);
        assert_eq!(text.lines().count(), SAMPLE + 2);
        assert!(text.ends_with("\n1000000\n"));
        assert_eq!(table(&["n"], &[], None), "n\n");
        assert_eq!(table(&[], &[], None), "");
    }
}

//! Blocks as Markdown, for pull requests and READMEs.

use std::fmt::Write as _;

use crate::blocks::{Align, Block, Row, Table, Text, Tone};
use crate::compare::RunComparison;
use crate::summary::RunSummary;
use crate::terminal::safe;
use crate::view::{Page, comparison_page, page};

/// Three configurations stand side by side in a web page's column.
const WIDTH: usize = 100;

/// The same page as the table, as GitHub-flavoured Markdown.
pub fn render_markdown(summary: &RunSummary) -> String {
    blocks(page(summary, Page { width: WIDTH, drawings: false }))
}

/// A comparison of two runs as GitHub-flavoured Markdown.
pub fn comparison_markdown(comparison: &RunComparison) -> String {
    blocks(comparison_page(comparison))
}

fn blocks(blocks: Vec<Block>) -> String {
    let mut text = String::new();
    for block in blocks {
        // Writing to a String cannot fail.
        let _ = match block {
            Block::Title(parts) => {
                let title: String = parts.iter().map(|part| escape(&part.text)).collect();
                writeln!(text, "## {title}")
            }
            Block::Heading(title) => writeln!(text, "\n### {}\n", escape(&title)),
            Block::Paragraph(parts) => writeln!(text, "\n{}", plain(&parts)),
            Block::Remark(remark) => writeln!(text, "- {}", plain(&[remark])),
            Block::Table(table) => write!(text, "{}", draw(&table)),
        };
    }
    text
}

fn draw(table: &Table) -> String {
    let mut text = String::new();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(table.columns.iter().map(|column| escape(&column.title)).collect()));
    let rule = |align| if align == Align::Right { "---:" } else { "---" };
    text.push_str(&line(table.columns.iter().map(|column| rule(column.align).to_owned()).collect()));
    for row in &table.rows {
        let mut cells: Vec<String> = match row {
            Row::Cells(cells) => cells.iter().map(|cell| escape(cell.text.trim())).collect(),
            Row::Title(title) => vec![format!("**{}**", escape(&title.text))],
        };
        cells.resize(table.columns.len(), String::new());
        text.push_str(&line(cells));
    }
    text
}

fn plain(parts: &[Text]) -> String {
    parts
        .iter()
        .map(|part| {
            let escaped = escape(&part.text);
            if part.tone == Tone::Strong { format!("**{escaped}**") } else { escaped }
        })
        .collect()
}

/// Text that a model wrote must not become markup or end a table cell.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in safe(text).replace('\u{a0}', " ").chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '<' | '>' | '|' | '[' | ']' | '#' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

//! OpenDocument texts, spreadsheets and presentations (`content.xml`).
//!
//! Spreadsheets are read here rather than by a spreadsheet library: a sheet states how often a row
//! or cell repeats, so a file of a few bytes can stand for billions of cells, and the cells' own
//! shown text is what a reader wants.

use super::archive::Archive;
use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};
use super::sheet::Row;
use super::xml::{Piece, attribute, walk};

const KIND: &str = "OpenDocument";
/// A row or cell with content is repeated at most so often.
const MOST_REPEATS: usize = 100;

/// Reads an OpenDocument file.
pub(crate) fn read(archive: &mut Archive<'_>, output: Output) -> Result<Document, DocumentError> {
    if let Some(manifest) = archive.text("META-INF/manifest.xml")?
        && manifest.contains("encryption-data")
    {
        return Err(DocumentError::Encrypted { kind: KIND });
    }
    let format = archive.text("mimetype")?.unwrap_or_default();
    let xml = archive.text("content.xml")?.unwrap_or_default();
    if format.contains("spreadsheet") {
        return sheets(&xml, output);
    }
    text(&xml, format.contains("presentation"), output)
}

fn text(xml: &str, slides: bool, mut output: Output) -> Result<Document, DocumentError> {
    let (mut inside, mut skipped, mut cells) = (0_usize, 0_usize, 0_usize);
    let mut first_cell = true;
    walk(xml, KIND, |piece| {
        match piece {
            Piece::Start("tracked-changes" | "annotation", _) => skipped += 1,
            Piece::End("tracked-changes" | "annotation") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Piece::Start("page", element) if slides => output.begin(attribute(element, "name").unwrap_or_default()),
            Piece::Start("h", element) => {
                inside += 1;
                let rank = attribute(element, "outline-level").and_then(|rank| rank.parse().ok()).unwrap_or(1_usize);
                if cells == 0 {
                    output.push(&format!("{} ", "#".repeat(rank.clamp(1, 6))));
                }
            }
            Piece::Start("p", _) => inside += 1,
            Piece::Start("s", element) if inside > 0 => {
                let count = attribute(element, "c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                output.push(&" ".repeat(count.clamp(1, 80)));
            }
            Piece::Start("tab", _) if inside > 0 => output.push("\t"),
            Piece::Start("line-break", _) if inside > 0 => output.push(if cells == 0 { "\n" } else { " " }),
            Piece::Start("table-row", _) => first_cell = true,
            Piece::Start("table-cell", _) => {
                if !first_cell {
                    output.push("\t");
                }
                first_cell = false;
                cells += 1;
            }
            Piece::End("table-cell") => cells = cells.saturating_sub(1),
            Piece::End("table-row") => output.end_line(),
            Piece::End("p" | "h") => {
                inside = inside.saturating_sub(1);
                output.push(if cells == 0 { "\n" } else { " " });
            }
            Piece::Text(text) if inside > 0 => output.push(text),
            _ => {}
        }
        output.check_time(KIND)?;
        Ok(!output.full())
    })?;
    Ok(output.finish(if slides { DocumentKind::Slides } else { DocumentKind::Word }))
}

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    text: String,
    date: Option<String>,
    repeats: usize,
    open: bool,
    in_text: usize,
}

fn sheets(xml: &str, mut output: Output) -> Result<Document, DocumentError> {
    let mut cell = Cell::default();
    let mut row = Row::default();
    let (mut column, mut row_repeats, mut skipped) = (0_u32, 1_usize, 0_usize);
    walk(xml, KIND, |piece| {
        match piece {
            Piece::Start("annotation", _) => skipped += 1,
            Piece::End("annotation") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Piece::Start("table", element) => output.begin(attribute(element, "name").unwrap_or_default()),
            Piece::Start("table-row", element) => {
                row_repeats = repeats(attribute(element, "number-rows-repeated"));
                column = 0;
            }
            Piece::Start("table-cell" | "covered-table-cell", element) => {
                let date = attribute(element, "date-value").map(|date| iso_date(&date));
                let repeats = repeats(attribute(element, "number-columns-repeated"));
                cell = Cell { date, repeats, open: true, ..Cell::default() };
            }
            Piece::Start("p", _) if cell.open => {
                if !cell.text.is_empty() {
                    cell.text.push(' ');
                }
                cell.in_text += 1;
            }
            Piece::Start("s", _) if cell.in_text > 0 => cell.text.push(' '),
            Piece::End("p") => cell.in_text = cell.in_text.saturating_sub(1),
            Piece::Text(text) if cell.in_text > 0 => cell.text.push_str(text),
            Piece::End("table-cell" | "covered-table-cell") => {
                let shown = cell.date.take().unwrap_or_else(|| std::mem::take(&mut cell.text));
                cell.open = false;
                if shown.is_empty() {
                    column = column.saturating_add(u32::try_from(cell.repeats).unwrap_or(u32::MAX));
                } else {
                    for _ in 0..cell.repeats.min(MOST_REPEATS) {
                        row.cell(column, &shown);
                        column = column.saturating_add(1);
                    }
                }
            }
            Piece::End("table-row") => {
                let repeats = if row.is_empty() { 1 } else { row_repeats.min(MOST_REPEATS) };
                for _ in 0..repeats {
                    row.write(&mut output);
                }
                row = Row::default();
            }
            _ => {}
        }
        output.check_time(KIND)?;
        Ok(!output.full())
    })?;
    Ok(output.finish(DocumentKind::Spreadsheet))
}

fn repeats(value: Option<String>) -> usize {
    value.and_then(|count| count.parse().ok()).unwrap_or(1)
}

/// `2024-03-01T00:00:00` is a date without a time.
fn iso_date(value: &str) -> String {
    value.strip_suffix("T00:00:00").unwrap_or(value).replace('T', " ")
}

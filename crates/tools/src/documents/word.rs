//! Word documents and presentations.
//!
//! Read straight from the XML rather than through a document model: text in content controls, text
//! boxes and footnotes is text like any other, pictures are never decoded, and the caps of
//! [`super::archive`] hold while unpacking.

use super::archive::Archive;
use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};
use super::xml::{Piece, attribute, walk};

const WORD: &str = "Word";
const SLIDES: &str = "presentation";

/// Reads `word/document.xml`, then foot- and endnotes.
pub(crate) fn read(archive: &mut Archive<'_>, mut output: Output) -> Result<Document, DocumentError> {
    let body = archive.text("word/document.xml")?.unwrap_or_default();
    Body::default().read(&body, &mut output)?;
    for (part, title) in [("word/footnotes.xml", "Footnotes:"), ("word/endnotes.xml", "Endnotes:")] {
        let Some(notes) = archive.text(part)? else { continue };
        let mut apart = Output::new(std::time::Duration::from_secs(super::SECONDS));
        Body::default().read(&notes, &mut apart)?;
        if !apart.text().trim().is_empty() {
            output.end_line();
            output.push(&format!("\n{title}\n{}", apart.text().trim_start()));
        }
    }
    Ok(output.finish(DocumentKind::Word))
}

/// What the text that comes belongs to.
#[derive(Default, PartialEq, Eq)]
enum Within {
    /// Nothing that is shown.
    #[default]
    Nothing,
    /// The properties of a run.
    RunProperties,
    /// Text.
    Text,
}

/// What stands in the open table cell.
#[derive(Default, PartialEq, Eq)]
enum Cell {
    #[default]
    Empty,
    Filled,
    /// A line of it ended; more text comes after a space.
    Broken,
}

/// What the place in the document means for the text that comes.
#[derive(Default)]
struct Body {
    /// Open table cells; above one, rows of inner tables become spaces.
    cells: usize,
    /// Cells already written in this row.
    columns: Vec<usize>,
    cell: Cell,
    /// Depth inside alternatives that repeat what was read.
    fallback: usize,
    /// The run is not shown.
    hidden: bool,
    within: Within,
}

impl Body {
    fn read(mut self, xml: &str, output: &mut Output) -> Result<(), DocumentError> {
        let mut events = 0_usize;
        walk(xml, WORD, |piece| {
            events += 1;
            if events.is_multiple_of(4096) {
                output.check_time(WORD)?;
            }
            match piece {
                Piece::Start(name, element) if self.fallback == 0 => {
                    let value = || attribute(element, "val");
                    self.start(name, &value, output);
                }
                Piece::Start("Fallback", _) => self.fallback += 1,
                Piece::End("Fallback") => self.fallback = self.fallback.saturating_sub(1),
                Piece::End(name) if self.fallback == 0 => self.end(name, output),
                Piece::Text(text) if self.within == Within::Text && !self.hidden && self.fallback == 0 => {
                    if std::mem::replace(&mut self.cell, Cell::Filled) == Cell::Broken && self.cells > 0 {
                        output.push(" ");
                    }
                    output.push(text);
                }
                _ => {}
            }
            Ok(!output.full())
        })
    }

    fn start(&mut self, name: &str, value: &dyn Fn() -> Option<String>, output: &mut Output) {
        match name {
            "Fallback" => self.fallback += 1,
            "t" => self.within = Within::Text,
            "rPr" => self.within = Within::RunProperties,
            "r" => self.hidden = false,
            "vanish" if self.within == Within::RunProperties => {
                self.hidden = !matches!(value().as_deref(), Some("0" | "false" | "off"));
            }
            "tab" if self.within != Within::RunProperties && self.cells == 0 => output.push("\t"),
            "br" | "cr" => self.line(output),
            "noBreakHyphen" => output.push("\u{2011}"),
            "pStyle" => self.style(value().as_deref().unwrap_or_default(), output),
            "numPr" if self.cells == 0 && at_line_start(output) => output.push("- "),
            "tr" => self.columns.push(0),
            "tc" => self.cell(output),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, output: &mut Output) {
        match name {
            "t" | "rPr" => self.within = Within::Nothing,
            "r" => self.hidden = false,
            "p" => self.line(output),
            "tc" => self.cells = self.cells.saturating_sub(1),
            "tr" => {
                self.columns.pop();
                if self.columns.is_empty() {
                    output.end_line();
                }
            }
            _ => {}
        }
    }

    /// A paragraph or line ends: a line of its own, or a space within a table cell.
    fn line(&mut self, output: &mut Output) {
        if self.cells == 0 {
            output.push("\n");
        } else if self.cell == Cell::Filled {
            self.cell = Cell::Broken;
        }
    }

    fn cell(&mut self, output: &mut Output) {
        let first = self.columns.last().is_none_or(|columns| *columns == 0);
        if !first {
            output.push(if self.cells == 0 { "\t" } else { " " });
        }
        if let Some(columns) = self.columns.last_mut() {
            *columns += 1;
        }
        self.cells += 1;
        self.cell = Cell::Empty;
    }

    /// Headings keep their rank, as Markdown writes it.
    fn style(&self, style: &str, output: &mut Output) {
        if self.cells > 0 || !at_line_start(output) {
            return;
        }
        let style = style.to_lowercase();
        let rank = ["heading", "titre", "berschrift"]
            .iter()
            .find_map(|name| style.split_once(name)?.1.trim().parse::<usize>().ok());
        match rank {
            Some(rank @ 1..=6) => output.push(&format!("{} ", "#".repeat(rank))),
            _ if matches!(style.as_str(), "title" | "titre") => output.push("# "),
            _ if ["listbullet", "listnumber", "listepuces", "listenum"].iter().any(|name| style.starts_with(name)) => {
                output.push("- ");
            }
            _ => {}
        }
    }
}

fn at_line_start(output: &Output) -> bool {
    output.text().is_empty() || output.text().ends_with('\n')
}

/// Reads the slides of a presentation, in the order of their numbers.
pub(crate) fn read_slides(archive: &mut Archive<'_>, mut output: Output) -> Result<Document, DocumentError> {
    let mut slides: Vec<(usize, String)> = archive
        .names()
        .into_iter()
        .filter_map(|name| {
            let number = name.strip_prefix("ppt/slides/slide")?.strip_suffix(".xml")?.parse().ok()?;
            Some((number, name))
        })
        .collect();
    slides.sort();
    for (number, name) in slides {
        output.check_time(SLIDES)?;
        let Some(xml) = archive.text(&name)? else { continue };
        output.begin(number.to_string());
        let mut in_text = false;
        walk(&xml, SLIDES, |piece| {
            match piece {
                Piece::Start("t", _) => in_text = true,
                Piece::End("t") => in_text = false,
                Piece::End("p") | Piece::Start("br", _) => output.end_line(),
                Piece::Text(text) if in_text => output.push(text),
                _ => {}
            }
            Ok(!output.full())
        })?;
    }
    Ok(output.finish(DocumentKind::Slides))
}

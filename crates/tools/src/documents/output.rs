//! Where the parsers put what they read, with the caps in one place.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::error::DocumentError;

/// Most characters of one document that are kept.
const MOST_CHARACTERS: usize = 5_000_000;

/// A document's format, as far as a reader cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Plain text.
    Text,
    /// Comma or tab separated values.
    Table,
    /// Markdown.
    Markdown,
    /// A web page, reduced to its text.
    Html,
    /// A Word or OpenDocument text.
    Word,
    /// A spreadsheet: one unit a sheet, cells separated by tabs.
    Spreadsheet,
    /// A presentation: one unit a slide.
    Slides,
    /// A PDF: one unit a page.
    Pdf,
}

impl DocumentKind {
    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Table => "table as text",
            Self::Markdown => "Markdown",
            Self::Html => "text of a web page",
            Self::Word => "text of a document",
            Self::Spreadsheet => "spreadsheet",
            Self::Slides => "text of a presentation",
            Self::Pdf => "text of a PDF",
        }
    }

    /// What its units are called, when it has any.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Pdf => Some("page"),
            Self::Spreadsheet => Some("sheet"),
            Self::Slides => Some("slide"),
            _ => None,
        }
    }

    /// The text is the file's own, character for character.
    pub fn verbatim(self) -> bool {
        matches!(self, Self::Text | Self::Table | Self::Markdown)
    }
}

/// A page, sheet or slide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its number or name.
    pub label: String,
    /// Where it is in the text, in bytes.
    pub range: Range<usize>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The format.
    pub kind: DocumentKind,
    /// All text.
    pub text: String,
    /// Pages, sheets or slides, in order; empty for formats without them.
    pub units: Vec<Unit>,
    /// The document holds more than was kept: more characters, pages or rows than the caps allow.
    pub cut: bool,
}

/// The sink of a parser.
#[derive(Debug)]
pub(crate) struct Output {
    text: String,
    units: Vec<Unit>,
    characters: usize,
    cut: bool,
    deadline: Instant,
    limit: Duration,
}

impl Output {
    pub(crate) fn new(limit: Duration) -> Self {
        let deadline = Instant::now() + limit;
        Self { text: String::new(), units: Vec::new(), characters: 0, cut: false, deadline, limit }
    }

    /// Adds text; what exceeds the cap is dropped.
    pub(crate) fn push(&mut self, text: &str) {
        let room = MOST_CHARACTERS - self.characters;
        let count = text.chars().count();
        if count <= room {
            self.text.push_str(text);
            self.characters += count;
        } else {
            self.text.extend(text.chars().take(room));
            self.characters = MOST_CHARACTERS;
            self.cut = true;
        }
    }

    /// Adds a line break unless the text stands at the beginning of a line.
    pub(crate) fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// The text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Nothing more will be kept.
    pub(crate) fn full(&self) -> bool {
        self.characters >= MOST_CHARACTERS
    }

    /// Notes that something was left out.
    pub(crate) fn cut(&mut self) {
        self.cut = true;
    }

    /// Begins a page, sheet or slide; the one before ends.
    pub(crate) fn begin(&mut self, label: impl Into<String>) {
        self.end_line();
        self.end();
        let start = self.text.len();
        self.units.push(Unit { label: label.into(), range: start..start });
    }

    fn end(&mut self) {
        let end = self.text.len();
        if let Some(unit) = self.units.last_mut() {
            unit.range.end = end;
        }
    }

    /// Fails when the time is over.
    pub(crate) fn check_time(&self, kind: &'static str) -> Result<(), DocumentError> {
        if Instant::now() < self.deadline {
            Ok(())
        } else {
            Err(DocumentError::TooSlow { kind, seconds: self.limit.as_secs() })
        }
    }

    pub(crate) fn finish(mut self, kind: DocumentKind) -> Document {
        self.end();
        Document { kind, text: self.text, units: self.units, cut: self.cut }
    }
}

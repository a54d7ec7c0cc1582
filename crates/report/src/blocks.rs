//! What is on a page, before it is drawn: headings, paragraphs and tables.

/// How a piece of text is to be read; the terminal turns it into colour, Markdown ignores most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Strong,
    /// Context that the eye may skip.
    Quiet,
    Good,
    Bad,
    Doubt,
}

/// One cell of a table, or one piece of a paragraph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Text {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Tone::Plain)
    }

    pub(crate) fn quiet(text: impl Into<String>) -> Self {
        Self::new(text, Tone::Quiet)
    }
}

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) align: Align,
    /// Gives way, down to this width, when the page is too narrow; `None` never does.
    pub(crate) shrinks_to: Option<usize>,
    /// Continues on the next line where it is too long, instead of ending in an ellipsis.
    pub(crate) wraps: bool,
}

impl Column {
    pub(crate) fn left(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Left, shrinks_to: None, wraps: false }
    }

    pub(crate) fn right(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Right, shrinks_to: None, wraps: false }
    }

    pub(crate) fn shrinking(self, width: usize) -> Self {
        Self { shrinks_to: Some(width), ..self }
    }

    pub(crate) fn wrapping(self, width: usize) -> Self {
        Self { wraps: true, ..self.shrinking(width) }
    }
}

/// A row of a table.
#[derive(Debug, Clone)]
pub(crate) enum Row {
    Cells(Vec<Text>),
    /// A title over the rows that follow.
    Title(Text),
}

/// A table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<Text>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Drops the columns in which every row is empty.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        for column in (0..self.columns.len()).rev() {
            let holds = |row: &Row| matches!(row, Row::Cells(cells) if cells.get(column).is_some_and(|cell| !cell.text.is_empty()));
            if !self.rows.iter().any(holds) {
                self.columns.remove(column);
                for row in &mut self.rows {
                    if let Row::Cells(cells) = row
                        && column < cells.len()
                    {
                        cells.remove(column);
                    }
                }
            }
        }
        self
    }
}

/// One block of a page.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// The first line of the page.
    Title(Vec<Text>),
    Heading(String),
    /// Text that wraps at the page's width.
    Paragraph(Vec<Text>),
    /// A remark with a marker, hanging when it wraps.
    Remark(Text),
    Table(Table),
}

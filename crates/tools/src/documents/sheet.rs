//! Excel workbooks: values as a reader sees them, cells separated by tabs.
//!
//! Cells are read as a stream. A library's dense table of a sheet whose only two cells stand in
//! opposite corners would need more memory than there is.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};

use super::archive::Archive;
use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};

const KIND: &str = "Excel";
/// Most empty cells that are written between two filled ones.
const MOST_GAP: u32 = 40;

/// Reads every worksheet of an `.xlsx` file.
pub(crate) fn read(bytes: &[u8], mut archive: Archive<'_>, mut output: Output) -> Result<Document, DocumentError> {
    archive.check_all(stated_counts)?;
    let mut workbook: Xlsx<Cursor<&[u8]>> = Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    let sheets = workbook.sheets_metadata().to_vec();
    for sheet in sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet) {
        output.check_time(KIND)?;
        let hidden = if sheet.visible == SheetVisible::Visible { "" } else { " (hidden)" };
        output.begin(format!("{}{hidden}", sheet.name));
        let mut cells = workbook.worksheet_cells_reader(&sheet.name).map_err(|error| damaged(&error))?;
        let (mut row, mut number) = (Row::default(), 0);
        while let Some(cell) = cells.next_cell().map_err(|error| damaged(&error))? {
            let (line, column) = cell.get_position();
            if line != number {
                row.write(&mut output);
                row = Row::default();
                number = line;
                output.check_time(KIND)?;
            }
            row.cell(column, &shown(cell.get_value()));
            if output.full() {
                break;
            }
        }
        row.write(&mut output);
    }
    Ok(output.finish(DocumentKind::Spreadsheet))
}

/// The library reserves room for as many shared strings as the file says it has. Nobody has more
/// than one a byte.
fn stated_counts(part: &[u8]) -> Result<(), DocumentError> {
    const NAME: &str = "uniqueCount";
    let found = |name: &[u8]| {
        part.windows(name.len())
            .enumerate()
            .filter(|(_, window)| *window == name)
            .map(|(at, _)| at + name.len())
            .collect::<Vec<_>>()
    };
    let wide = |order: fn(u16) -> [u8; 2]| NAME.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let odd = !found(&wide(u16::to_le_bytes)).is_empty() || !found(&wide(u16::to_be_bytes)).is_empty();
    let too_many = found(NAME.as_bytes()).into_iter().any(|at| {
        let digits = part[at..]
            .iter()
            .skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'=' | b'"' | b'\'' | b'+'));
        let digits: Vec<u8> = digits.take_while(|byte| byte.is_ascii_digit()).take(20).copied().collect();
        let count = std::str::from_utf8(&digits).ok().filter(|digits| !digits.is_empty());
        count.is_some_and(|count| count.parse::<usize>().map_or(true, |count| count > part.len()))
    });
    if odd || too_many {
        return Err(DocumentError::Bomb { what: "more shared strings than it has bytes".to_owned() });
    }
    Ok(())
}

fn damaged(error: &XlsxError) -> DocumentError {
    match error {
        XlsxError::Password => DocumentError::Encrypted { kind: KIND },
        error => DocumentError::Damaged { kind: KIND, reason: error.to_string() },
    }
}

/// One row, filled from left to right.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: String,
    next: u32,
}

impl Row {
    /// Adds a cell; empty ones only move on.
    pub(crate) fn cell(&mut self, column: u32, value: &str) {
        if value.is_empty() {
            return;
        }
        let gap = column.saturating_sub(self.next).min(MOST_GAP);
        let tabs = gap + u32::from(!self.text.is_empty());
        self.text.extend(std::iter::repeat_n('\t', tabs as usize));
        // A cell is one field of one line, whatever it holds.
        self.text.extend(
            value.chars().map(|character| if matches!(character, '\t' | '\n' | '\r') { ' ' } else { character }),
        );
        self.next = column.saturating_add(1);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes the row as a line, when it has anything in it.
    pub(crate) fn write(&self, output: &mut Output) {
        if !self.is_empty() {
            output.push(&self.text);
            output.push("\n");
        }
    }
}

/// A value as a reader sees it.
pub(crate) fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => shown_number(*number),
        DataRef::String(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(moment) => shown_moment(moment),
        DataRef::DateTimeIso(text) => text.strip_suffix("T00:00:00").unwrap_or(text).replace('T', " "),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// Fifteen digits, as spreadsheets show them: 0.1 + 0.2 is 0.3.
pub(crate) fn shown_number(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().unwrap_or(number).to_string()
}

/// `2024-03-01`, `2024-03-01 14:30`, `14:30` or hours of a duration.
pub(crate) fn shown_moment(moment: &ExcelDateTime) -> String {
    let value = moment.as_f64();
    if !value.is_finite() || !(-1.0..3_000_000.0).contains(&value) {
        return shown_number(value);
    }
    if moment.is_duration() {
        let seconds = (value * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let time =
        if second == 0 { format!("{hour:02}:{minute:02}") } else { format!("{hour:02}:{minute:02}:{second:02}") };
    if value < 1.0 {
        return time;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if value.fract() == 0.0 { date } else { format!("{date} {time}") }
}

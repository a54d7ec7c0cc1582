//! Old Excel workbooks (`.xls`), and new office files that hide in a compound file under a password.
//!
//! The library builds a dense table of every sheet while it opens the file, so the extent of the
//! sheets is measured first, on the records themselves.

mod compound;
mod extent;

use std::io::Cursor;

use calamine::{Data, DataRef, Reader as _, SheetVisible, Xls, XlsError};

use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};
use super::sheet::{Row, shown};

const KIND: &str = "Excel";
/// Most cells that the tables of all sheets may have.
const MOST_CELLS: u64 = 4_000_000;

/// Reads every sheet of an `.xls` file.
pub(crate) fn read(bytes: &[u8], mut output: Output) -> Result<Document, DocumentError> {
    if has_name(bytes, "EncryptedPackage") {
        return Err(DocumentError::Encrypted { kind: "office" });
    }
    let streams = compound::workbooks(bytes)
        .ok_or_else(|| DocumentError::Damaged { kind: "office", reason: "its parts cannot be found".to_owned() })?;
    if streams.is_empty() {
        return Err(DocumentError::Unsupported { kind: "an old office document" });
    }
    let cells = streams.iter().fold(0_u64, |cells, stream| cells.saturating_add(extent::cells(stream)));
    if cells > MOST_CELLS {
        return Err(DocumentError::Bomb { what: format!("sheets of {cells} cells, the limit is {MOST_CELLS}") });
    }
    let mut workbook: Xls<Cursor<&[u8]>> = Xls::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    for sheet in workbook.sheets_metadata().to_vec() {
        output.check_time(KIND)?;
        let hidden = if sheet.visible == SheetVisible::Visible { "" } else { " (hidden)" };
        output.begin(format!("{}{hidden}", sheet.name));
        let table = workbook.worksheet_range(&sheet.name).map_err(|error| damaged(&error))?;
        let first = table.start().map_or(0, |(_, column)| column);
        for cells in table.rows() {
            let mut row = Row::default();
            for (cell, column) in cells.iter().zip(first..) {
                row.cell(column, &shown(&borrowed(cell)));
            }
            row.write(&mut output);
        }
    }
    Ok(output.finish(DocumentKind::Spreadsheet))
}

fn damaged(error: &XlsError) -> DocumentError {
    match error {
        XlsError::Password => DocumentError::Encrypted { kind: KIND },
        error => DocumentError::Damaged { kind: KIND, reason: error.to_string() },
    }
}

fn borrowed(cell: &Data) -> DataRef<'_> {
    match cell {
        Data::Int(value) => DataRef::Int(*value),
        Data::Float(value) => DataRef::Float(*value),
        Data::String(value) => DataRef::SharedString(value),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(value) => DataRef::DateTime(*value),
        Data::DateTimeIso(value) => DataRef::DateTimeIso(value.clone()),
        Data::DurationIso(value) => DataRef::DurationIso(value.clone()),
        Data::Error(value) => DataRef::Error(value.clone()),
        Data::Empty => DataRef::Empty,
    }
}

/// A directory entry of the compound file has this name (stored as UTF-16).
fn has_name(bytes: &[u8], name: &str) -> bool {
    let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).chain([0, 0]).collect();
    bytes.windows(wide.len()).any(|window| window == wide)
}

//! Old Excel workbooks (`.xls`), and new office files that hide in a compound file under a password.
//!
//! The library builds a dense table of every sheet while it opens the file, so the extent of the
//! sheets is measured first, on the records themselves.

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
    let cells: u64 = streams.iter().map(|stream| cells_of(stream)).sum();
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

/// Cells of the rectangles that the cell records of each sheet span.
fn cells_of(stream: &[u8]) -> u64 {
    const CELLS: &[u16] = &[
        0x0006, 0x0201, 0x0203, 0x0204, 0x0205, 0x00bd, 0x00be, 0x00d6, 0x00fd, 0x027e, 0x0001, 0x0002, 0x0003, 0x0004,
        0x0005,
    ];
    const BEGIN: &[u16] = &[0x0809, 0x0409, 0x0209, 0x0009];
    let (mut total, mut extent): (u64, Option<[u64; 4]>) = (0, None);
    let mut rest = stream;
    let area = |extent: Option<[u64; 4]>| {
        extent.map_or(0, |[top, left, bottom, right]| (bottom - top + 1) * (right - left + 1))
    };
    while let [a, b, c, d, after @ ..] = rest {
        let (kind, length) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]) as usize);
        let Some((data, after)) = after.split_at_checked(length) else { break };
        rest = after;
        if BEGIN.contains(&kind) {
            total += area(extent.take());
        } else if CELLS.contains(&kind)
            && let [r0, r1, c0, c1, ..] = data
        {
            let (row, column) = (u64::from(u16::from_le_bytes([*r0, *r1])), u64::from(u16::from_le_bytes([*c0, *c1])));
            // Records of several cells state their last column in their last two bytes.
            let last = match (kind, data) {
                (0x00bd | 0x00be, [.., low, high]) => u64::from(u16::from_le_bytes([*low, *high])).max(column),
                _ => column,
            };
            let [top, left, bottom, right] = extent.unwrap_or([row, column, row, last]);
            extent = Some([top.min(row), left.min(column), bottom.max(row), right.max(last)]);
        }
    }
    total + area(extent)
}

/// Just enough of the compound file format (MS-CFB) to get at the workbook's records.
mod compound {
    const END: u32 = 0xffff_fffa;

    fn number(bytes: &[u8], at: usize) -> Option<u32> {
        bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// The streams called `Workbook` or `Book`; `None` when one of them cannot be read.
    pub(super) fn workbooks(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let shift = u16::from_le_bytes(bytes.get(30..32)?.try_into().ok()?);
        if !(7..=16).contains(&shift) {
            return None;
        }
        let file = File { bytes, sector: 1 << shift, table: Vec::new() }.with_table()?;
        let directory = file.chain(number(bytes, 48)?)?;
        let wide = |name: &str| -> Vec<u8> { name.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let entries = directory.chunks_exact(128).filter(|entry| {
            let length = usize::from(u16::from_le_bytes([entry[64], entry[65]])).saturating_sub(2).min(64);
            entry[..length] == *wide("Workbook") || entry[..length] == *wide("Book")
        });
        entries
            .map(|entry| {
                let (start, size) = (number(entry, 116)?, number(entry, 120)? as usize);
                // Small streams live elsewhere; every writer pads a workbook beyond that size.
                if size < 4096 {
                    return None;
                }
                let mut stream = file.chain(start)?;
                stream.truncate(size);
                Some(stream)
            })
            .collect()
    }

    struct File<'a> {
        bytes: &'a [u8],
        sector: usize,
        table: Vec<u32>,
    }

    impl File<'_> {
        fn sector(&self, index: u32) -> Option<&[u8]> {
            let start = (index as usize).checked_add(1)?.checked_mul(self.sector)?;
            self.bytes.get(start..).map(|rest| &rest[..rest.len().min(self.sector)])
        }

        /// Reads the allocation table: 109 sectors named in the header, the rest in a chain.
        fn with_table(mut self) -> Option<Self> {
            let mut sectors: Vec<u32> = (0..109).filter_map(|index| number(self.bytes, 76 + index * 4)).collect();
            let mut next = number(self.bytes, 68)?;
            let most = self.bytes.len() / self.sector + 1;
            while next < END && sectors.len() <= most {
                let sector = self.sector(next)?;
                let numbers: Vec<u32> = (0..self.sector / 4).filter_map(|index| number(sector, index * 4)).collect();
                let (last, listed) = numbers.split_last()?;
                sectors.extend(listed);
                next = *last;
            }
            for index in sectors.into_iter().filter(|index| *index < END).take(most) {
                let Some(sector) = self.sector(index) else { continue };
                let numbers: Vec<u32> = (0..self.sector / 4).filter_map(|at| number(sector, at * 4)).collect();
                self.table.extend(numbers);
            }
            Some(self)
        }

        fn chain(&self, start: u32) -> Option<Vec<u8>> {
            let most = self.bytes.len() / self.sector + 1;
            let mut stream = Vec::new();
            let mut next = start;
            for _ in 0..=most {
                if next >= END {
                    break;
                }
                stream.extend_from_slice(self.sector(next)?);
                next = *self.table.get(next as usize)?;
            }
            Some(stream)
        }
    }
}

//! How large the tables are that a workbook's records make a reader build.
//!
//! Two things make the library reserve memory before it has seen a single cell's content: the
//! stated dimensions of a sheet, and the rectangle that its cells span. Both are measured on the
//! records ([MS-XLS]), from each position where the workbook says that a sheet begins.

/// Most bytes of records that are looked at: sheets may be said to begin anywhere, often.
const MOST_BYTES: usize = 512 * 1024 * 1024;

/// Record types.
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;
const SHEET: u16 = 0x0085;
const DIMENSIONS: u16 = 0x0200;
const SEVERAL_NUMBERS: u16 = 0x00bd;
const SEVERAL_BLANKS: u16 = 0x00be;
const CELLS: &[u16] =
    &[0x0006, 0x00d6, 0x00fd, 0x0201, 0x0203, 0x0204, 0x0205, 0x027e, SEVERAL_NUMBERS, SEVERAL_BLANKS];

/// Records one after the other: type and data.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (head, rest) = self.0.split_first_chunk::<4>()?;
        let length = u16::from_le_bytes([head[2], head[3]]);
        let (data, rest) = rest.split_at_checked(usize::from(length))?;
        self.0 = rest;
        Some((u16::from_le_bytes([head[0], head[1]]), data))
    }
}

/// Cells of all tables together; `u64::MAX` when the statements make no sense.
pub(super) fn cells(stream: &[u8]) -> u64 {
    let starts = Records(stream).filter(|(kind, _)| *kind == SHEET).filter_map(|(_, data)| long(data, 0));
    let (mut total, mut looked) = (0_u64, 0_usize);
    for start in starts {
        let Some(sheet) = stream.get(start as usize..) else { continue };
        let (cells, bytes) = sheet_cells(sheet);
        total = total.saturating_add(cells);
        looked = looked.saturating_add(bytes);
        if looked > MOST_BYTES {
            return u64::MAX;
        }
    }
    total
}

/// Cells of one sheet, and how many bytes of records it has.
fn sheet_cells(sheet: &[u8]) -> (u64, usize) {
    let mut records = Records(sheet);
    let (mut begun, mut depth) = (false, 0_usize);
    let mut stated = 0_u64;
    let mut spanned: Option<[u64; 4]> = None;
    for (kind, data) in records.by_ref() {
        match kind {
            BEGIN if begun => depth += 1,
            BEGIN => begun = true,
            END if depth == 0 => break,
            END => depth -= 1,
            DIMENSIONS => stated = stated.saturating_add(dimensions(data)),
            kind if CELLS.contains(&kind) => spanned = widened(spanned, kind, data),
            _ => {}
        }
    }
    let area = spanned.map_or(0, |[top, left, bottom, right]| (bottom - top + 1) * (right - left + 1));
    (stated.max(area), sheet.len() - records.0.len())
}

/// Rows and columns as stated: first, and one after the last.
fn dimensions(data: &[u8]) -> u64 {
    let numbers = match data.len() {
        10 => (short(data, 0), short(data, 2), short(data, 4), short(data, 6)),
        14 | 16 => (long(data, 0), long(data, 4), short(data, 8), short(data, 10)),
        _ => return 0,
    };
    let (Some(top), Some(bottom), Some(left), Some(right)) = numbers else { return 0 };
    if bottom < top {
        return u64::MAX;
    }
    let left = if left > 0xff || right < left { 0 } else { left };
    u64::from(bottom - top) * u64::from(right - left)
}

fn widened(spanned: Option<[u64; 4]>, kind: u16, data: &[u8]) -> Option<[u64; 4]> {
    let (Some(row), Some(column)) = (short(data, 0).map(u64::from), short(data, 2).map(u64::from)) else {
        return spanned;
    };
    // Records of several cells state their last column in their last two bytes.
    let several = matches!(kind, SEVERAL_NUMBERS | SEVERAL_BLANKS);
    let stated = if several {
        data.len().checked_sub(2).and_then(|at| short(data, at)).map_or(column, u64::from)
    } else {
        column
    };
    let last = stated.max(column);
    let [top, left, bottom, right] = spanned.unwrap_or([row, column, row, last]);
    Some([top.min(row), left.min(column), bottom.max(row), right.max(last)])
}

fn short(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 2)?.first_chunk().copied().map(|bytes| u32::from(u16::from_le_bytes(bytes)))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4)?.first_chunk().copied().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes(), &(data.len() as u16).to_le_bytes(), data].concat()
    }

    fn sheet(records: &[Vec<u8>]) -> u64 {
        let globals = record(SHEET, &[12, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(globals.len(), 12);
        cells(&[globals, records.concat()].concat())
    }

    #[test]
    fn cells_span_a_rectangle() {
        let number = |row: u16, column: u16| record(0x0203, &[row.to_le_bytes(), column.to_le_bytes()].concat());
        assert_eq!(sheet(&[]), 0);
        assert_eq!(sheet(&[number(3, 4)]), 1);
        assert_eq!(sheet(&[number(0, 0), number(65_535, 255)]), 16_777_216);
        assert_eq!(sheet(&[record(SEVERAL_NUMBERS, &[0, 0, 1, 0, 9, 9, 9, 9, 9, 9, 10, 0])]), 10);
        assert_eq!(sheet(&[number(0, 0), record(END, &[]), number(9, 9)]), 1);
    }

    #[test]
    fn stated_dimensions_count_even_without_a_cell() {
        let stated = |rows: [u32; 2], columns: [u16; 2]| {
            let rows = rows.map(u32::to_le_bytes).concat();
            let columns = columns.map(u16::to_le_bytes).concat();
            record(DIMENSIONS, &[rows, columns, vec![0, 0]].concat())
        };
        assert_eq!(sheet(&[stated([0, 10], [0, 5])]), 50);
        assert_eq!(sheet(&[stated([0, u32::MAX], [0, 256])]), u64::from(u32::MAX) * 256);
        assert_eq!(sheet(&[stated([5, 1], [0, 256])]), u64::MAX);
    }
}

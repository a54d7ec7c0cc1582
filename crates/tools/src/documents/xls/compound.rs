//! Just enough of the compound file format ([MS-CFB]) to get at the workbook's records.
//!
//! It reads what the spreadsheet library will read, and is stricter: a chain of sectors that runs
//! in a circle, which the library would follow until the memory is full, is refused here.

use encoding_rs::UTF_16LE;

/// Sector numbers from here on are marks.
const MARKS: u32 = 0xffff_fffa;
const END_OF_CHAIN: u32 = 0xffff_fffe;
/// Streams below this size live in small sectors of their own; every writer pads a workbook beyond.
const SMALL: u64 = 4096;

/// The streams called `Workbook` or `Book`. `None` when the file cannot be trusted to be read.
pub(super) fn workbooks(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let sector = match bytes.get(30..32)? {
        [9, 0] => 512,
        [12, 0] => 4096,
        _ => return None,
    };
    let file = File { bytes, sector, table: Vec::new() }.with_table()?;
    let directory = file.chain(number(bytes, 48)?)?;
    let entries: Vec<&[u8]> = directory.chunks_exact(128).collect();
    if number(bytes, 64)? > 0 {
        file.chain(number(bytes, 60)?)?;
        file.chain(number(entries.first()?, 116)?)?;
    }
    let workbooks = entries.into_iter().filter(|entry| {
        let name = UTF_16LE.decode(&entry[..64]).0;
        let name = name.split('\0').next().unwrap_or_default();
        name.eq_ignore_ascii_case("Workbook") || name.eq_ignore_ascii_case("Book")
    });
    workbooks.map(|entry| file.stream(entry)).collect()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.first_chunk().copied().map(u32::from_le_bytes)
}

struct File<'a> {
    bytes: &'a [u8],
    sector: usize,
    /// The sector after each sector.
    table: Vec<u32>,
}

impl File<'_> {
    /// Reads the allocation table: 109 sectors named in the header, the rest in a chain.
    fn with_table(mut self) -> Option<Self> {
        let mut sectors: Vec<u32> = (0..109).filter_map(|index| number(self.bytes, 76 + index * 4)).collect();
        let mut next = number(self.bytes, 68)?;
        let mut left = self.most();
        while next < MARKS {
            left = left.checked_sub(1)?;
            let mut numbers = self.numbers(next)?;
            next = numbers.pop()?;
            sectors.append(&mut numbers);
        }
        let table: Vec<u32> = sectors.into_iter().filter(|index| *index < MARKS).collect();
        if table.len() > self.most() {
            return None;
        }
        for index in table {
            let mut numbers = self.numbers(index)?;
            self.table.append(&mut numbers);
        }
        Some(self)
    }

    /// More sectors than the file has room for are none.
    fn most(&self) -> usize {
        self.bytes.len() / self.sector + 1
    }

    fn sector(&self, index: u32) -> Option<&[u8]> {
        let start = (index as usize).checked_add(1)?.checked_mul(self.sector)?;
        let rest = self.bytes.get(start..)?;
        Some(&rest[..rest.len().min(self.sector)])
    }

    fn numbers(&self, sector: u32) -> Option<Vec<u32>> {
        let (numbers, _) = self.sector(sector)?.as_chunks::<4>();
        Some(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    /// The bytes of a chain that ends.
    fn chain(&self, start: u32) -> Option<Vec<u8>> {
        let mut stream = Vec::new();
        let (mut next, mut left) = (start, self.most());
        while next != END_OF_CHAIN {
            left = left.checked_sub(1)?;
            stream.extend_from_slice(self.sector(next)?);
            next = *self.table.get(next as usize)?;
        }
        Some(stream)
    }

    /// All of a stream's sectors, the padding after its end included.
    fn stream(&self, entry: &[u8]) -> Option<Vec<u8>> {
        let low = u64::from(number(entry, 120)?);
        let high = if self.sector == 512 { 0 } else { u64::from(number(entry, 124)?) };
        let size = high << 32 | low;
        if size < SMALL { None } else { self.chain(number(entry, 116)?) }
    }
}

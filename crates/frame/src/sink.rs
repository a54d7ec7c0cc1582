//! Where rows go, one after the other: CSV, JSON. Nothing is kept in memory.

use std::io::Write;

use serde::ser::{SerializeMap, Serializer};

use crate::frame::distinct_names;
use crate::{Cell, FrameError};

/// What rows are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// See [`crate::TextSink`].
    Text(crate::TextStyle),
    /// See [`JsonSink`].
    Json,
    /// See [`CsvSink`].
    Csv,
    /// See [`crate::ParquetSink`].
    Parquet,
}

/// Takes the rows of a table, one by one.
pub trait Sink {
    /// Takes a row: one value a column.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError>;

    /// Writes what is left. Without it the output is not complete.
    fn finish(&mut self) -> Result<(), FrameError>;
}

fn check_width(expected: usize, cells: &[Cell<'_>]) -> Result<(), FrameError> {
    if cells.len() == expected { Ok(()) } else { Err(FrameError::Width { expected, found: cells.len() }) }
}

/// CSV (RFC 4180, lines ended by `\n`) with a header.
///
/// NULL is nothing, an empty text is `""`. A text that a spreadsheet would run as a formula is
/// preceded by an apostrophe, as in every CSV of this program.
#[derive(Debug)]
pub struct CsvSink<W> {
    out: W,
    columns: usize,
    line: String,
}

impl<W: Write> CsvSink<W> {
    /// Writes the header.
    pub fn new(out: W, columns: &[&str]) -> Result<Self, FrameError> {
        let mut sink = Self { out, columns: columns.len(), line: String::new() };
        let header: Vec<Cell<'_>> = columns.iter().map(|name| Cell::Text(name)).collect();
        if !header.is_empty() {
            sink.row(&header)?;
        }
        Ok(sink)
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError> {
        use std::fmt::Write as _;
        check_width(self.columns, cells)?;
        self.line.clear();
        for (number, cell) in cells.iter().enumerate() {
            if number > 0 {
                self.line.push(',');
            }
            match cell {
                // A line of nothing would be no line to many readers.
                Cell::Null if cells.len() == 1 => self.line.push_str("\"\""),
                Cell::Text(text) => quoted(&mut self.line, text),
                // Writing to a String cannot fail.
                other => drop(write!(self.line, "{other}")),
            }
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), FrameError> {
        self.out.flush()?;
        Ok(())
    }
}

/// A text as a field of CSV.
fn quoted(line: &mut String, text: &str) {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        if formula {
            line.push('\'');
        }
        line.push_str(text);
        return;
    }
    line.push('"');
    if formula {
        line.push('\'');
    }
    for (number, part) in text.split('"').enumerate() {
        if number > 0 {
            line.push_str("\"\"");
        }
        line.push_str(part);
    }
    line.push('"');
}

/// A JSON list with one object a line. What is not a number (NaN, infinity) is null.
#[derive(Debug)]
pub struct JsonSink<W> {
    out: W,
    columns: Vec<String>,
    rows: u64,
}

impl<W: Write> JsonSink<W> {
    /// Begins the list.
    pub fn new(mut out: W, columns: &[&str]) -> Result<Self, FrameError> {
        out.write_all(b"[")?;
        let columns = distinct_names(columns.iter().map(|name| (*name).to_owned()));
        Ok(Self { out, columns, rows: 0 })
    }

    fn object(&mut self, cells: &[Cell<'_>]) -> Result<(), serde_json::Error> {
        let mut json = serde_json::Serializer::new(&mut self.out);
        let mut map = json.serialize_map(Some(cells.len()))?;
        for (name, cell) in self.columns.iter().zip(cells) {
            match cell {
                Cell::Null => map.serialize_entry(name, &())?,
                Cell::Bool(value) => map.serialize_entry(name, value)?,
                Cell::Int(value) => map.serialize_entry(name, value)?,
                Cell::Float(value) => map.serialize_entry(name, value)?,
                Cell::Text(text) => map.serialize_entry(name, text)?,
            }
        }
        map.end()
    }
}

impl<W: Write> Sink for JsonSink<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError> {
        check_width(self.columns.len(), cells)?;
        self.out.write_all(if self.rows == 0 { b"\n  " } else { b",\n  " })?;
        self.rows += 1;
        self.object(cells).map_err(|error| FrameError::Write(error.into()))
    }

    fn finish(&mut self) -> Result<(), FrameError> {
        self.out.write_all(if self.rows == 0 { b"]\n" } else { b"\n]\n" })?;
        self.out.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: [Cell<'static>; 6] = [
        Cell::Text("é \"x\", \n"),
        Cell::Null,
        Cell::Text(""),
        Cell::Float(f64::NAN),
        Cell::Int(-3),
        Cell::Text("=1+1"),
    ];

    fn csv(rows: &[&[Cell<'_>]], names: &[&str]) -> String {
        let mut out = Vec::new();
        let mut sink = CsvSink::new(&mut out, names).unwrap();
        for row in rows {
            sink.row(row).unwrap();
        }
        sink.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_tells_nothing_from_empty_and_runs_no_formula() {
        let text = csv(&[&ROW], &["a", "b,", "c", "d", "e", "f"]);
        assert_eq!(text, "a,\"b,\",c,d,e,f\n\"é \"\"x\"\", \n\",,\"\",NaN,-3,'=1+1\n");
        assert_eq!(csv(&[&[Cell::Null], &[Cell::Text("\r@")]], &["a"]), "a\n\"\"\n\"'\r@\"\n");
        assert_eq!(csv(&[], &[]), "");
    }

    #[test]
    fn json_is_a_list_of_objects() {
        let json = |rows: &[&[Cell<'_>]]| {
            let mut out = Vec::new();
            let mut sink = JsonSink::new(&mut out, &["a", "a", "c", "d", "e", "f"]).unwrap();
            for row in rows {
                sink.row(row).unwrap();
            }
            sink.finish().unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(json(&[]), "[]\n");
        let text = json(&[&ROW, &ROW]);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[1]["a"], "é \"x\", \n");
        assert_eq!(value[0]["a_2"], serde_json::Value::Null);
        assert_eq!(
            (&value[0]["c"], &value[0]["d"], &value[0]["e"]),
            (&"".into(), &serde_json::Value::Null, &(-3).into())
        );
        assert_eq!(value[0]["f"], "=1+1", "JSON is no spreadsheet");
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn a_row_of_another_width_is_refused() {
        assert!(CsvSink::new(Vec::new(), &["a"]).unwrap().row(&ROW).is_err());
        assert!(JsonSink::new(Vec::new(), &["a"]).unwrap().row(&ROW).is_err());
    }
}

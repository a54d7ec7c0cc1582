//! Parquet, in row groups: a million rows need the memory of one group.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use polars::prelude::{Column as Series, DataFrame, DataType, Field, Schema};
use polars_io::parquet::write::{BatchedWriter, ParquetWriter};

use crate::frame::{Column, Data, distinct_names, push};
use crate::{Cell, FrameError, Kind, Sink};

/// Rows of one group: some ten megabytes of a wide table.
const GROUP: usize = 65_536;

/// A Parquet file (format 1, pages compressed with zstd, statistics for every group). Every column
/// may have NULLs. `bool` is BOOLEAN, `int` INT64, `float` DOUBLE (NaN stays NaN), `text` UTF-8.
pub struct ParquetSink<W: Write> {
    out: BatchedWriter<Noticed<W>>,
    columns: Vec<Column>,
    fault: Fault,
}

/// What went wrong with the output: polars tells its own errors, and this one only in words.
type Fault = Arc<Mutex<Option<io::Error>>>;

struct Noticed<W> {
    out: W,
    fault: Fault,
}

impl<W> Noticed<W> {
    fn noticed<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let told = io::Error::new(error.kind(), error.to_string());
            *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    }
}

impl<W: Write> Write for Noticed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noticed(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noticed(flushed)
    }
}

impl<W: Write> std::fmt::Debug for ParquetSink<W> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ParquetSink").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<W: Write> ParquetSink<W> {
    /// Begins a file with these columns.
    pub fn new(out: W, columns: &[(&str, Kind)]) -> Result<Self, FrameError> {
        if columns.is_empty() {
            return Err(FrameError::NoColumns);
        }
        let names = distinct_names(columns.iter().map(|(name, _)| (*name).to_owned()));
        let columns: Vec<Column> =
            names.into_iter().zip(columns).map(|(name, (_, kind))| Column { name, data: Data::new(*kind) }).collect();
        let fields =
            columns.iter().map(|column| Field::new(column.name.as_str().into(), data_type(column.data.kind())));
        let schema: Schema = fields.collect();
        let fault = Fault::default();
        let out = Noticed { out, fault: Arc::clone(&fault) };
        Ok(Self { out: ParquetWriter::new(out).batched(&schema)?, columns, fault })
    }

    fn flush(&mut self) -> Result<(), FrameError> {
        if self.columns.first().is_some_and(|column| column.data.len() > 0) {
            let written = self.out.write_batch(&data_frame(&self.columns)?);
            self.told(written)?;
            self.columns.iter_mut().for_each(|column| column.data.clear());
        }
        Ok(())
    }

    fn told<T>(&self, result: Result<T, polars::error::PolarsError>) -> Result<T, FrameError> {
        result.map_err(|error| match self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(fault) => FrameError::Write(fault),
            None => error.into(),
        })
    }
}

impl<W: Write> Sink for ParquetSink<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), FrameError> {
        push(&mut self.columns, cells)?;
        if self.columns[0].data.len() >= GROUP { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), FrameError> {
        self.flush()?;
        let finished = self.out.finish();
        self.told(finished)?;
        Ok(())
    }
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::Int => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Text => DataType::String,
    }
}

/// The same columns for polars.
pub(crate) fn data_frame(columns: &[Column]) -> Result<DataFrame, FrameError> {
    let series = columns.iter().map(|column| {
        let name = column.name.as_str().into();
        match &column.data {
            Data::Bool(values) => Series::new(name, values),
            Data::Int(values) => Series::new(name, values),
            Data::Float(values) => Series::new(name, values),
            Data::Text(values) => Series::new(name, values.iter().map(Option::as_deref).collect::<Vec<_>>()),
        }
    });
    Ok(DataFrame::new_infer_height(series.collect())?)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use polars_io::SerReader;
    use polars_io::parquet::read::ParquetReader;

    use super::*;
    use crate::Frame;

    fn written(rows: usize) -> Vec<u8> {
        let columns =
            [("b", Kind::Bool), ("i", Kind::Int), ("f", Kind::Float), ("t", Kind::Text), ("none", Kind::Text)];
        let mut out = Vec::new();
        let mut sink = ParquetSink::new(&mut out, &columns).unwrap();
        for row in 0..rows {
            let text = format!("é日\u{202E}\"{row}\n");
            let cells = match row % 3 {
                0 => [Cell::Bool(true), Cell::Int(i64::MIN), Cell::Float(f64::NAN), Cell::Text(&text), Cell::Null],
                1 => [Cell::Null, Cell::Null, Cell::Null, Cell::Null, Cell::Null],
                _ => [Cell::Bool(false), Cell::Int(row as i64), Cell::Int(7), Cell::Text(""), Cell::Null],
            };
            sink.row(&cells).unwrap();
        }
        sink.finish().unwrap();
        out
    }

    #[test]
    fn a_file_is_read_back_with_types_nulls_and_every_character() {
        let read = ParquetReader::new(Cursor::new(written(4))).finish().unwrap();
        let types: Vec<String> = read.dtypes().iter().map(ToString::to_string).collect();
        assert_eq!(types, ["bool", "i64", "f64", "str", "str"]);
        let bools: Vec<Option<bool>> = read.column("b").unwrap().bool().unwrap().iter().collect();
        assert_eq!(bools, [Some(true), None, Some(false), Some(true)]);
        let ints: Vec<Option<i64>> = read.column("i").unwrap().i64().unwrap().iter().collect();
        assert_eq!(ints, [Some(i64::MIN), None, Some(2), Some(i64::MIN)]);
        let floats: Vec<Option<f64>> = read.column("f").unwrap().f64().unwrap().iter().collect();
        assert!(floats[0].unwrap().is_nan() && floats[1].is_none() && floats[2] == Some(7.0), "{floats:?}");
        let texts: Vec<Option<&str>> = read.column("t").unwrap().str().unwrap().iter().collect();
        assert_eq!(texts, [Some("é日\u{202E}\"0\n"), None, Some(""), Some("é日\u{202E}\"3\n")]);
        assert_eq!(read.column("none").unwrap().null_count(), 4);
    }

    #[test]
    fn many_rows_are_several_groups_and_none_is_a_file_too() {
        let file = written(GROUP + 5);
        let mut reader = ParquetReader::new(Cursor::new(file));
        assert_eq!(reader.get_metadata().unwrap().row_groups.len(), 2);
        assert_eq!(reader.finish().unwrap().height(), GROUP + 5);
        let read = ParquetReader::new(Cursor::new(written(0))).finish().unwrap();
        assert_eq!((read.height(), read.width()), (0, 5));
    }

    #[test]
    fn a_frame_writes_what_its_sink_would_and_needs_a_column() {
        assert!(matches!(Frame::default().write_parquet(Vec::new()), Err(FrameError::NoColumns)));
        let mut frame = Frame::empty(&[("a", Kind::Int), ("a", Kind::Text)]);
        frame.push(&[Cell::Int(1), Cell::Text("x")]).unwrap();
        let mut out = Vec::new();
        frame.write_parquet(&mut out).unwrap();
        let read = ParquetReader::new(Cursor::new(out)).finish().unwrap();
        assert_eq!(read.get_column_names(), ["a", "a_2"]);
    }

    #[test]
    fn a_disk_that_is_full_is_an_error_of_writing() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let result = ParquetSink::new(Full, &[("a", Kind::Int)]).and_then(|mut sink| {
            sink.row(&[Cell::Int(1)])?;
            sink.finish()
        });
        assert!(matches!(result, Err(FrameError::Write(_))), "{result:?}");
    }
}

//! The rows of an answer on their way out.

use std::fmt::Write as _;
use std::io::Write;

use rusqlite::Statement;
use rusqlite::types::ValueRef;

use super::QueryError;
use super::hint::sql_error;
use crate::cell::Value;
use crate::frame::{distinct_names, widened};
use crate::{Cell, CsvSink, Frame, JsonSink, Kind, Output, ParquetSink, Sink, TextSink};

/// Rows that decide the kinds of columns before the others are looked at: a group of Parquet.
const SAMPLE: usize = 65_536;

/// A prepared statement and the names of its columns, told apart.
pub(crate) struct Answer<'c> {
    statement: Statement<'c>,
    names: Vec<String>,
    /// Kinds of the columns that are columns of a table, and not computed.
    declared: Vec<Option<Kind>>,
}

impl<'c> Answer<'c> {
    pub(crate) fn new(statement: Statement<'c>) -> Self {
        let names = distinct_names(statement.column_names().map(str::to_owned));
        let declared = statement.columns().map(|column| column.decl_type().and_then(kind_declared)).collect();
        Self { statement, names, declared }
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Calls `each` with every row; it says whether to go on.
    fn each(
        &mut self,
        sql: &str,
        mut each: impl FnMut(&[Cell<'_>]) -> Result<bool, QueryError>,
    ) -> Result<(), QueryError> {
        let columns = self.names.len();
        let failed = |error| running_error(error, sql);
        let mut rows = self.statement.query([]).map_err(failed)?;
        let mut texts: Vec<Option<String>> = vec![None; columns];
        while let Some(row) = rows.next().map_err(failed)? {
            let mut values = Vec::with_capacity(columns);
            for (column, text) in texts.iter_mut().enumerate() {
                let value = row.get_ref(column).map_err(failed)?;
                *text = written_out(value);
                values.push(value);
            }
            let cells: Vec<Cell<'_>> =
                values.iter().zip(&texts).map(|(value, text)| cell(*value, text.as_deref())).collect();
            if !each(&cells)? {
                break;
            }
        }
        Ok(())
    }

    /// Writes every row. Returns how many there were.
    pub(crate) fn write(mut self, sql: &str, output: Output, out: &mut dyn Write) -> Result<u64, QueryError> {
        let names = self.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match output {
            Output::Csv => self.pour(sql, &mut CsvSink::new(out, &names)?),
            Output::Json => self.pour(sql, &mut JsonSink::new(out, &names)?),
            Output::Text(style) => self.pour(sql, &mut TextSink::new(out, &names, style)),
            Output::Parquet => self.write_parquet(sql, out),
        }
    }

    fn pour(&mut self, sql: &str, sink: &mut dyn Sink) -> Result<u64, QueryError> {
        let mut count = 0;
        self.each(sql, |row| {
            count += 1;
            sink.row(row)?;
            Ok(true)
        })?;
        sink.finish()?;
        Ok(count)
    }

    /// A Parquet file says the kinds of its columns before the first row. Those of computed columns
    /// are known when the last row was seen: a long answer is asked for twice, a short one is kept.
    fn write_parquet(&mut self, sql: &str, out: &mut dyn Write) -> Result<u64, QueryError> {
        let names = self.names();
        let sink = |kinds: &[Option<Kind>], out| {
            let columns: Vec<(&str, Kind)> =
                names.iter().zip(kinds).map(|(name, kind)| (name.as_str(), kind.unwrap_or(Kind::Text))).collect();
            ParquetSink::new(out, &columns)
        };
        if self.declared.iter().all(Option::is_some) {
            return self.pour(sql, &mut sink(&self.declared.clone(), out)?);
        }
        let mut kinds = self.declared.clone();
        let mut kept: Option<Vec<Vec<Value>>> = Some(Vec::new());
        self.each(sql, |row| {
            for (kind, cell) in kinds.iter_mut().zip(row) {
                *kind = widened(*kind, cell.kind());
            }
            if let Some(rows) = kept.as_mut().filter(|rows| rows.len() < SAMPLE) {
                rows.push(row.iter().map(|cell| Value::from(*cell)).collect());
            } else {
                kept = None;
            }
            Ok(true)
        })?;
        let mut sink = sink(&kinds, out)?;
        let Some(rows) = kept else { return self.pour(sql, &mut sink) };
        for row in &rows {
            let cells: Vec<Cell<'_>> = row.iter().map(Value::cell).collect();
            sink.row(&cells)?;
        }
        sink.finish()?;
        Ok(rows.len() as u64)
    }

    /// All rows in memory.
    pub(crate) fn frame(mut self, sql: &str) -> Result<Frame, QueryError> {
        let mut kinds = self.declared.clone();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        self.each(sql, |row| {
            for (kind, cell) in kinds.iter_mut().zip(row) {
                *kind = widened(*kind, cell.kind());
            }
            rows.push(row.iter().map(|cell| Value::from(*cell)).collect());
            Ok(true)
        })?;
        let columns: Vec<(&str, Kind)> =
            self.names.iter().zip(&kinds).map(|(name, kind)| (name.as_str(), kind.unwrap_or(Kind::Text))).collect();
        let mut frame = Frame::empty(&columns);
        for row in &rows {
            let cells: Vec<Cell<'_>> = row.iter().map(Value::cell).collect();
            frame.push(&cells)?;
        }
        Ok(frame)
    }
}

/// The kind of a declared type of our own tables.
fn kind_declared(declared: &str) -> Option<Kind> {
    match declared {
        "INTEGER" => Some(Kind::Int),
        "REAL" => Some(Kind::Float),
        "TEXT" => Some(Kind::Text),
        _ => None,
    }
}

/// The text of a value that has none of its own: bytes as hexadecimal digits, and what is no UTF-8.
fn written_out(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Blob(bytes) => Some(bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })),
        ValueRef::Text(bytes) if std::str::from_utf8(bytes).is_err() => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => None,
    }
}

fn cell<'a>(value: ValueRef<'a>, text: Option<&'a str>) -> Cell<'a> {
    if let Some(text) = text {
        return Cell::Text(text);
    }
    match value {
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Float(value),
        ValueRef::Text(bytes) => Cell::Text(std::str::from_utf8(bytes).unwrap_or_default()),
        ValueRef::Null | ValueRef::Blob(_) => Cell::Null,
    }
}

/// An error while rows are read.
fn running_error(error: rusqlite::Error, sql: &str) -> QueryError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => QueryError::Stopped,
        _ => sql_error(error, sql),
    }
}

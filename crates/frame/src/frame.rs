//! A table in memory: named columns of one kind each.

use std::collections::HashSet;
use std::io::Write;

use serde::Serialize;

use crate::cell::Value;
use crate::row::fields;
use crate::{Cell, FrameError, Kind};

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Bool(Vec<Option<bool>>),
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

impl Data {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(Vec::new()),
            Kind::Int => Self::Int(Vec::new()),
            Kind::Float => Self::Float(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
        }
    }

    /// Takes a value in; the kind of one that does not fit comes back.
    pub(crate) fn push(&mut self, cell: Cell<'_>) -> Result<(), Kind> {
        match (self, cell) {
            (Self::Bool(values), Cell::Null) => values.push(None),
            (Self::Int(values), Cell::Null) => values.push(None),
            (Self::Float(values), Cell::Null) => values.push(None),
            (Self::Text(values), Cell::Null) => values.push(None),
            (Self::Bool(values), Cell::Bool(value)) => values.push(Some(value)),
            (Self::Int(values), Cell::Int(value)) => values.push(Some(value)),
            (Self::Float(values), Cell::Float(value)) => values.push(Some(value)),
            (Self::Float(values), Cell::Int(value)) => values.push(Some(value as f64)),
            (Self::Text(values), other) => values.push(Some(other.to_string())),
            (_, other) => return Err(other.kind().unwrap_or(Kind::Text)),
        }
        Ok(())
    }

    pub(crate) fn get(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Bool(values) => values.get(row).copied().flatten().map_or(Cell::Null, Cell::Bool),
            Self::Int(values) => values.get(row).copied().flatten().map_or(Cell::Null, Cell::Int),
            Self::Float(values) => values.get(row).copied().flatten().map_or(Cell::Null, Cell::Float),
            Self::Text(values) => values.get(row).and_then(Option::as_deref).map_or(Cell::Null, Cell::Text),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Bool(values) => values.clear(),
            Self::Int(values) => values.clear(),
            Self::Float(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) data: Data,
}

/// A table in memory.
///
/// From rows whose columns are not declared, each column gets the narrowest kind that holds its
/// values: a column of whole numbers and others holds floating point, one of mixed values text, and
/// one without any value text. Declare them ([`Frame::declared`]) where files of several days must
/// have the same columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    pub(crate) columns: Vec<Column>,
}

impl Frame {
    /// A table without rows.
    pub fn empty(columns: &[(&str, Kind)]) -> Self {
        let names = distinct_names(columns.iter().map(|(name, _)| (*name).to_owned()));
        let columns = names.into_iter().zip(columns).map(|(name, (_, kind))| Column { name, data: Data::new(*kind) });
        Self { columns: columns.collect() }
    }

    /// One row a struct, one column a field; the kinds are inferred. What is nested in a field
    /// becomes JSON text, a number too large for 64 bits with a sign becomes text. Rows may lack
    /// fields of others.
    pub fn of<T: Serialize>(rows: &[T]) -> Result<Self, FrameError> {
        let mut names: Vec<String> = Vec::new();
        let mut kinds: Vec<Option<Kind>> = Vec::new();
        let mut read = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            let mut values: Vec<Value> = Vec::with_capacity(names.len());
            for (name, value) in fields_of(number, row)? {
                let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name.into_owned());
                    kinds.push(None);
                    names.len() - 1
                });
                kinds[place] = widened(kinds[place], value.cell().kind());
                values.resize(values.len().max(place + 1), Value::Null);
                values[place] = value;
            }
            read.push(values);
        }
        let columns: Vec<(&str, Kind)> =
            names.iter().zip(&kinds).map(|(name, kind)| (name.as_str(), kind.unwrap_or(Kind::Text))).collect();
        let mut frame = Self::empty(&columns);
        for mut values in read {
            values.resize(names.len(), Value::Null);
            let cells: Vec<Cell<'_>> = values.iter().map(Value::cell).collect();
            frame.push(&cells)?;
        }
        Ok(frame)
    }

    /// The same with the columns and kinds given: they are there without any row, and in every file
    /// alike. A field that is no column is an error, a column without a field is NULL.
    pub fn declared<T: Serialize>(columns: &[(&str, Kind)], rows: &[T]) -> Result<Self, FrameError> {
        let mut frame = Self::empty(columns);
        for (number, row) in rows.iter().enumerate() {
            let mut values = vec![Value::Null; columns.len()];
            for (name, value) in fields_of(number, row)? {
                match columns.iter().position(|(known, _)| *known == name) {
                    Some(place) => values[place] = value,
                    None => return Err(FrameError::Field { row: number + 1, field: name.into_owned() }),
                }
            }
            let cells: Vec<Cell<'_>> = values.iter().map(Value::cell).collect();
            frame.push(&cells)?;
        }
        Ok(frame)
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: &[Cell<'_>]) -> Result<(), FrameError> {
        push(&mut self.columns, row)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// Names and kinds of its columns.
    pub fn columns(&self) -> Vec<(&str, Kind)> {
        self.columns.iter().map(|column| (column.name.as_str(), column.data.kind())).collect()
    }

    /// The value in a row (counted from 0) of this column; NULL where there is none.
    pub fn get(&self, row: usize, column: &str) -> Cell<'_> {
        let column = self.columns.iter().find(|known| known.name == column);
        column.map_or(Cell::Null, |column| column.data.get(row))
    }

    /// Hands every row to `sink`.
    pub(crate) fn replay(&self, sink: &mut dyn crate::Sink) -> Result<(), FrameError> {
        for row in 0..self.rows() {
            let cells: Vec<Cell<'_>> = self.columns.iter().map(|column| column.data.get(row)).collect();
            sink.row(&cells)?;
        }
        sink.finish()
    }

    /// As CSV with a header, see [`crate::CsvSink`].
    pub fn write_csv(&self, out: impl Write) -> Result<(), FrameError> {
        self.replay(&mut crate::CsvSink::new(out, &self.names())?)
    }

    /// As Parquet, see [`crate::ParquetSink`].
    pub fn write_parquet(&self, out: impl Write) -> Result<(), FrameError> {
        self.replay(&mut crate::ParquetSink::new(out, &self.columns())?)
    }

    /// As a JSON list of objects, one a line, see [`crate::JsonSink`].
    pub fn write_json(&self, out: impl Write) -> Result<(), FrameError> {
        self.replay(&mut crate::JsonSink::new(out, &self.names())?)
    }

    /// As a table for people, see [`crate::TextSink`].
    pub fn write_text(&self, out: impl Write, style: crate::TextStyle) -> Result<(), FrameError> {
        self.replay(&mut crate::TextSink::new(out, &self.names(), style))
    }

    /// In one of these forms.
    pub fn write(&self, output: crate::Output, out: impl Write) -> Result<(), FrameError> {
        match output {
            crate::Output::Text(style) => self.write_text(out, style),
            crate::Output::Json => self.write_json(out),
            crate::Output::Csv => self.write_csv(out),
            crate::Output::Parquet => self.write_parquet(out),
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }
}

fn fields_of<T: Serialize>(number: usize, row: &T) -> Result<crate::row::Fields, FrameError> {
    fields(row).map_err(|error| FrameError::Row { row: number + 1, reason: error.to_string() })
}

/// The kind of a column after one more value.
pub(crate) fn widened(known: Option<Kind>, found: Option<Kind>) -> Option<Kind> {
    match (known, found) {
        (Some(known), Some(found)) => Some(known.with(found)),
        (known, found) => known.or(found),
    }
}

/// Adds a row to columns.
pub(crate) fn push(columns: &mut [Column], row: &[Cell<'_>]) -> Result<(), FrameError> {
    if row.len() != columns.len() {
        return Err(FrameError::Width { expected: columns.len(), found: row.len() });
    }
    for (column, cell) in columns.iter_mut().zip(row) {
        let expected = column.data.kind();
        column.data.push(*cell).map_err(|found| FrameError::Kind { column: column.name.clone(), expected, found })?;
    }
    Ok(())
}

/// Names told apart: of two columns of one name the second gets a number.
pub(crate) fn distinct_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut taken = HashSet::new();
    names
        .map(|name| {
            let mut candidate = name.clone();
            let mut number = 2;
            while !taken.insert(candidate.clone()) {
                candidate = format!("{name}_{number}");
                number += 1;
            }
            candidate
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        rate: Option<f64>,
        passes: Option<u32>,
    }

    const ROWS: [Row; 2] =
        [Row { name: "a", rate: None, passes: Some(3) }, Row { name: "b", rate: Some(0.5), passes: None }];

    #[test]
    fn kinds_are_inferred_from_what_is_there() {
        let frame = Frame::of(&ROWS).unwrap();
        assert_eq!(frame.columns(), [("name", Kind::Text), ("rate", Kind::Float), ("passes", Kind::Int)]);
        assert_eq!(frame.get(1, "rate"), Cell::Float(0.5));
        assert_eq!(frame.get(0, "rate"), Cell::Null);
        let none = Frame::of(&ROWS[..1]).unwrap();
        assert_eq!(none.columns()[1], ("rate", Kind::Text), "nothing is known of it");
        assert_eq!(Frame::of::<Row>(&[]).unwrap().columns(), []);
    }

    #[test]
    fn declared_columns_are_there_without_rows_and_hold_what_they_say() {
        let columns = [("name", Kind::Text), ("rate", Kind::Float), ("passes", Kind::Float), ("more", Kind::Bool)];
        assert_eq!(Frame::declared::<Row>(&columns, &[]).unwrap().columns(), columns);
        let frame = Frame::declared(&columns, &ROWS).unwrap();
        assert_eq!(frame.get(0, "passes"), Cell::Float(3.0));
        assert_eq!(frame.get(0, "more"), Cell::Null);
        let error = Frame::declared(&columns[..2], &ROWS).unwrap_err();
        assert_eq!(error.to_string(), "row 1: field `passes` is no column of the table");
        let error = Frame::declared(&[("name", Kind::Int), ("rate", Kind::Float), ("passes", Kind::Int)], &ROWS);
        assert_eq!(error.unwrap_err().to_string(), "column `name`: a value of kind text where int was declared");
    }

    #[test]
    fn rows_may_differ_in_their_fields_and_columns_are_told_apart() {
        let maps = [std::collections::BTreeMap::from([("a", 1)]), std::collections::BTreeMap::from([("b", 2)])];
        let frame = Frame::of(&maps).unwrap();
        assert_eq!((frame.get(0, "b"), frame.get(1, "b")), (Cell::Null, Cell::Int(2)));
        let names = distinct_names(["x", "x", "x_2", "x"].map(str::to_owned).into_iter());
        assert_eq!(names, ["x", "x_2", "x_2_2", "x_3"]);
    }
}

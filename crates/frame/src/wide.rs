//! Wide tables: the values of one column become columns of their own, cases × configurations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use polars::frame::PivotColumnNaming;
use polars::prelude::{AnyValue, Column as Series, DataFrame, DataType, IntoLazy as _, PlSmallStr, Selector, element};

use crate::frame::{Column, Data};
use crate::parquet::data_frame;
use crate::{Cell, Frame, FrameError, Kind};

/// Columns of a wide table, at most.
const MOST: usize = 2_000;

/// How a NULL is called where it becomes the name of a column.
const NULL: &str = "NULL";

impl Frame {
    /// One row for each value of `row`, one column for each value of `column`, in the order in which
    /// they first appear, with `value` where they meet. What is missing is NULL; two values for one
    /// place are an error, because one of them would be lost.
    pub fn pivot(&self, row: &str, column: &str, value: &str) -> Result<Self, FrameError> {
        let find = |name: &str| {
            let found = self.columns.iter().find(|column| column.name == name);
            found.ok_or_else(|| FrameError::NoColumn {
                name: name.to_owned(),
                columns: self.names().into_iter().map(str::to_owned).collect(),
            })
        };
        let (rows, spread, values) = (find(row)?, find(column)?, find(value)?);
        let twice = if row == column || row == value { Some(row) } else { (column == value).then_some(column) };
        if let Some(name) = twice {
            return Err(FrameError::NamedTwice { name: name.to_owned() });
        }
        let names = self.places(rows, spread)?;
        if self.rows() == 0 {
            return Ok(Self::empty(&[(row, rows.data.kind())]));
        }
        let spread = Column { name: SPREAD.to_owned(), data: as_numbers(&spread.data, &names) };
        let rows = Column { name: ROW.to_owned(), ..rows.clone() };
        let values = Column { name: VALUE.to_owned(), ..values.clone() };
        let kinds = (rows.data.kind(), values.data.kind());
        let wide = pivoted(&[rows, spread, values], names.len())?;
        let mut titles = vec![row.to_owned()];
        titles.extend(names);
        read_back(&wide, titles, kinds)
    }

    /// The values of `spread` in order; an error where one place has two values.
    fn places(&self, rows: &Column, spread: &Column) -> Result<Vec<String>, FrameError> {
        let mut names = Vec::new();
        let mut known = HashSet::new();
        let mut taken = HashSet::new();
        for at in 0..self.rows() {
            let (row, name) = (rows.data.get(at), name_of(spread.data.get(at)));
            if known.insert(name.clone()) {
                names.push(name.clone());
            }
            if !taken.insert((matches!(row, Cell::Null), row.to_string(), name.clone())) {
                return Err(FrameError::Twice {
                    row_column: rows.name.clone(),
                    row: row.to_string(),
                    column: spread.name.clone(),
                    name,
                });
            }
        }
        if names.len() > MOST {
            return Err(FrameError::TooWide { column: spread.name.clone(), found: names.len(), most: MOST });
        }
        Ok(names)
    }
}

/// Names within polars. The columns to be are numbers there: a value may be called as a column is.
const ROW: &str = "row";
const SPREAD: &str = "spread";
const VALUE: &str = "value";

fn name_of(cell: Cell<'_>) -> String {
    if cell == Cell::Null { NULL.to_owned() } else { cell.to_string() }
}

/// Each value by its place among the names.
fn as_numbers(data: &Data, names: &[String]) -> Data {
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let number = |row| places.get(name_of(data.get(row)).as_str()).map(ToString::to_string);
    Data::Text((0..data.len()).map(number).collect())
}

fn pivoted(columns: &[Column], names: usize) -> Result<DataFrame, FrameError> {
    let only = |name: &str| Selector::ByName { names: Arc::from([PlSmallStr::from_str(name)]), strict: true };
    let names: Vec<String> = (0..names).map(|place| place.to_string()).collect();
    let on = DataFrame::new_infer_height(vec![Series::new(SPREAD.into(), names)])?;
    let wide = data_frame(columns)?.lazy().pivot(
        only(SPREAD),
        Arc::new(on),
        only(ROW),
        only(VALUE),
        element().first(),
        true,
        PlSmallStr::from_static("_"),
        PivotColumnNaming::Auto,
    );
    Ok(wide.collect()?)
}

/// From polars: the first column has the kind of the rows, all others that of the values.
fn read_back(wide: &DataFrame, titles: Vec<String>, (rows, values): (Kind, Kind)) -> Result<Frame, FrameError> {
    let titles = crate::frame::distinct_names(titles.into_iter());
    let mut columns = Vec::with_capacity(titles.len());
    for (number, (series, name)) in wide.columns().iter().zip(titles).enumerate() {
        let mut data = Data::new(if number == 0 { rows } else { values });
        for at in 0..wide.height() {
            let pushed = match series.get(at)? {
                AnyValue::Boolean(value) => data.push(Cell::Bool(value)),
                AnyValue::Int64(value) => data.push(Cell::Int(value)),
                AnyValue::Float64(value) => data.push(Cell::Float(value)),
                AnyValue::String(text) => data.push(Cell::Text(text)),
                AnyValue::StringOwned(text) => data.push(Cell::Text(text.as_str())),
                AnyValue::Null => data.push(Cell::Null),
                other => return Err(FrameError::Polars(format!("a value of type {}", other.dtype()))),
            };
            pushed.map_err(|found| FrameError::Kind { column: name.clone(), expected: data.kind(), found })?;
        }
        columns.push(Column { name, data });
    }
    debug_assert!(wide.dtypes().iter().all(|kind| !matches!(kind, DataType::List(_))), "one value a place");
    Ok(Frame { columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> Frame {
        let mut frame = Frame::empty(&[("case", Kind::Text), ("configuration", Kind::Text), ("rate", Kind::Float)]);
        for (case, configuration, rate) in
            [("b", "two", 0.5), ("b", "case", 1.0), ("a", "case", f64::NAN), ("c", "row", 0.25)]
        {
            frame.push(&[Cell::Text(case), Cell::Text(configuration), Cell::Float(rate)]).unwrap();
        }
        frame.push(&[Cell::Text("c"), Cell::Null, Cell::Null]).unwrap();
        frame
    }

    #[test]
    fn cases_by_configurations() {
        let wide = long().pivot("case", "configuration", "rate").unwrap();
        let names: Vec<&str> = wide.names();
        // A configuration may be called as the column of the rows is.
        assert_eq!(names, ["case", "two", "case_2", "row", "NULL"]);
        let rows: Vec<String> = (0..wide.rows()).map(|row| wide.get(row, "case").to_string()).collect();
        assert_eq!(rows, ["b", "a", "c"], "in the order in which they came");
        assert_eq!(wide.get(0, "two"), Cell::Float(0.5));
        assert_eq!(wide.get(1, "two"), Cell::Null);
        assert!(matches!(wide.get(1, "case_2"), Cell::Float(rate) if rate.is_nan()));
        assert_eq!((wide.get(2, "row"), wide.get(2, "NULL")), (Cell::Float(0.25), Cell::Null));
    }

    #[test]
    fn whole_numbers_and_texts_stay_what_they_are() {
        let mut frame = Frame::empty(&[("n", Kind::Int), ("c", Kind::Int), ("v", Kind::Text)]);
        frame.push(&[Cell::Int(3), Cell::Int(10), Cell::Text("x")]).unwrap();
        frame.push(&[Cell::Int(1), Cell::Int(11), Cell::Null]).unwrap();
        let wide = frame.pivot("n", "c", "v").unwrap();
        assert_eq!(wide.columns(), [("n", Kind::Int), ("10", Kind::Text), ("11", Kind::Text)]);
        assert_eq!((wide.get(0, "10"), wide.get(1, "10")), (Cell::Text("x"), Cell::Null));
    }

    #[test]
    fn what_cannot_be_spread_says_why() {
        let text = |result: Result<Frame, FrameError>| {
            let error = result.unwrap_err();
            format!("{error}; {}", error.hint())
        };
        let frame = long();
        assert_eq!(
            text(frame.pivot("case", "config", "rate")),
            "no column `config`; there are: case, configuration, rate"
        );
        assert!(text(frame.pivot("case", "case", "rate")).starts_with("column `case` is named twice"));
        assert!(text(frame.pivot("case", "rate", "rate")).starts_with("column `rate` is named twice"));
        assert!(text(frame.pivot("rate", "case", "rate")).starts_with("column `rate` is named twice"));
        let mut twice = long();
        twice.push(&[Cell::Text("b"), Cell::Text("two"), Cell::Float(0.1)]).unwrap();
        assert!(
            text(twice.pivot("case", "configuration", "rate"))
                .starts_with("two values for case `b` and configuration `two`")
        );
        assert_eq!(
            Frame::empty(&[("a", Kind::Int), ("b", Kind::Int), ("c", Kind::Int)])
                .pivot("a", "b", "c")
                .unwrap()
                .columns(),
            [("a", Kind::Int)]
        );
        let mut many = Frame::empty(&[("a", Kind::Int), ("b", Kind::Int), ("c", Kind::Int)]);
        for number in 0..=MOST as i64 {
            many.push(&[Cell::Int(0), Cell::Int(number), Cell::Int(1)]).unwrap();
        }
        assert!(matches!(many.pivot("a", "b", "c"), Err(FrameError::TooWide { .. })));
    }
}

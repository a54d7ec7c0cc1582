//! What can be wrong with a table.

use std::io;

use crate::Kind;

/// A table that cannot be made or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// A row is not a struct with named fields, or a field cannot be written down.
    #[error("row {row}: {reason}")]
    Row {
        /// Counted from 1.
        row: usize,
        /// What is wrong.
        reason: String,
    },
    /// A row has a field that is not among the declared columns.
    #[error("row {row}: field `{field}` is no column of the table")]
    Field {
        /// Counted from 1.
        row: usize,
        /// The field.
        field: String,
    },
    /// A value does not fit its column.
    #[error("column `{column}`: a value of kind {found} where {expected} was declared")]
    Kind {
        /// The column.
        column: String,
        /// What it holds.
        expected: Kind,
        /// What came.
        found: Kind,
    },
    /// A row is shorter or longer than the columns are many.
    #[error("a row of {found} values for {expected} columns")]
    Width {
        /// Columns.
        expected: usize,
        /// Values.
        found: usize,
    },
    /// A column that the table does not have.
    #[error("no column `{name}`")]
    NoColumn {
        /// As typed.
        name: String,
        /// Those there are.
        columns: Vec<String>,
    },
    /// One column was named for two parts of a wide table.
    #[error("column `{name}` is named twice")]
    NamedTwice {
        /// The column.
        name: String,
    },
    /// Two values for one place of a wide table.
    #[error("two values for {row_column} `{row}` and {column} `{name}`")]
    Twice {
        /// The column of the rows.
        row_column: String,
        /// The row.
        row: String,
        /// The column that is spread.
        column: String,
        /// Its value.
        name: String,
    },
    /// A wide table would have too many columns.
    #[error("column `{column}` has {found} different values; a wide table has at most {most} columns")]
    TooWide {
        /// The column that is spread.
        column: String,
        /// How many values it has.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A Parquet file needs a column.
    #[error("a Parquet file needs at least one column")]
    NoColumns,
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// polars could not do it.
    #[error("polars: {0}")]
    Polars(String),
}

impl FrameError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Row { .. } | Self::Field { .. } | Self::Kind { .. } | Self::Width { .. } | Self::Polars(_) => {
                "this is a bug in tenpass: please report it with the command line".to_owned()
            }
            Self::NoColumn { columns, .. } => format!("there are: {}", columns.join(", ")),
            Self::NamedTwice { .. } => "name three different columns: rows, columns, values".to_owned(),
            Self::Twice { .. } => "group them in the SQL, or keep one run: WHERE run = latest()".to_owned(),
            Self::TooWide { .. } => "narrow it with WHERE, or exchange rows and columns".to_owned(),
            Self::NoColumns => "there is nothing to write".to_owned(),
            Self::Write(_) => "check that the disk is not full and the folder may be written".to_owned(),
        }
    }
}

impl From<polars::error::PolarsError> for FrameError {
    fn from(error: polars::error::PolarsError) -> Self {
        Self::Polars(error.to_string())
    }
}

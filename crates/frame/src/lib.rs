//! Wide tables: rows as CSV, JSON, Parquet and text, and SQL over what was measured and traced.
//!
//! - [`Frame`] is a table in memory, made from structs; a [`Sink`] takes the rows of one that is too
//!   large for that.
//! - polars writes Parquet and spreads a column over others; it appears in no signature.

mod cell;
mod error;
mod frame;
mod parquet;
pub mod query;
mod row;
mod sink;
mod text;
mod wide;

pub use cell::{Cell, Kind};
pub use error::FrameError;
pub use frame::Frame;
pub use parquet::ParquetSink;
pub use sink::{CsvSink, JsonSink, Output, Sink};
pub use text::{TextSink, TextStyle};

//! How Rust values stand in columns: instants, enums and JSON as text, counts as signed integers.

use jiff::Timestamp;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// RFC 3339, UTC, milliseconds: sorts as text.
pub(super) fn instant_text(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// An instant from the text of column `index`.
pub(super) fn from_instant(index: usize, text: &str) -> rusqlite::Result<Timestamp> {
    text.parse()
        .map_err(|error: jiff::Error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// A value as JSON text.
pub(super) fn json_text<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// A value from the JSON text of column `index`.
pub(super) fn from_json<T: DeserializeOwned>(index: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// The serde name of a variant without data.
pub(super) fn variant_text<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => Ok(name),
        Ok(other) => Err(rusqlite::Error::ToSqlConversionFailure(format!("{other} is not a name").into())),
        Err(error) => Err(rusqlite::Error::ToSqlConversionFailure(Box::new(error))),
    }
}

/// A variant from the serde name in column `index`.
pub(super) fn from_variant<T: DeserializeOwned>(index: usize, name: String) -> rusqlite::Result<T> {
    serde_json::from_value(Value::String(name))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}

/// A count as SQLite stores it; what does not fit is cut to the largest integer.
pub(super) fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count from a column that is never negative.
pub(super) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A `LIMIT`.
pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

//! One value of a table, and what a column may hold.

use std::fmt;

/// What a column holds. Every column may have empty cells (NULL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// Whole numbers, 64 bits with a sign.
    Int,
    /// Numbers, 64-bit floating point.
    Float,
    /// Text. Times are text too: RFC 3339 in UTC, which sorts as it is.
    Text,
}

impl Kind {
    /// As the documentation of a column names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
        }
    }

    /// Whether it is aligned to the right.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    /// The kind that holds both: whole numbers become floating point, everything else text.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Self::Float,
            _ => Self::Text,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing known.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number; not a number (NaN) and the infinities included.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl Cell<'_> {
    /// Its kind; `None` for NULL.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Null => None,
            Self::Bool(_) => Some(Kind::Bool),
            Self::Int(_) => Some(Kind::Int),
            Self::Float(_) => Some(Kind::Float),
            Self::Text(_) => Some(Kind::Text),
        }
    }
}

/// As programs read it: all digits that tell a number from its neighbours, nothing for NULL.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Int(value) => write!(formatter, "{value}"),
            // `{:?}` keeps the point of 1.0, and writes 1e300 short.
            Self::Float(value) => write!(formatter, "{value:?}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// An owned [`Cell`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Value {
    pub(crate) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Bool(value) => Cell::Bool(*value),
            Self::Int(value) => Cell::Int(*value),
            Self::Float(value) => Cell::Float(*value),
            Self::Text(text) => Cell::Text(text),
        }
    }
}

impl From<Cell<'_>> for Value {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Bool(value) => Self::Bool(value),
            Cell::Int(value) => Self::Int(value),
            Cell::Float(value) => Self::Float(value),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_widen_and_numbers_keep_their_digits() {
        assert_eq!(Kind::Int.with(Kind::Float), Kind::Float);
        assert_eq!(Kind::Bool.with(Kind::Int), Kind::Text);
        assert_eq!(Kind::Text.with(Kind::Text), Kind::Text);
        let shown = [Cell::Float(1.0), Cell::Float(0.1), Cell::Float(f64::NAN), Cell::Float(1e300), Cell::Int(-7)];
        let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["1.0", "0.1", "NaN", "1e300", "-7"]);
        assert_eq!(Cell::Null.to_string(), "");
    }
}

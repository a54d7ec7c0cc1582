//! What is wrong with a case file, and where.

use std::fmt;

/// One fault of a case file. A suite reports all of its faults at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct CaseError {
    /// The file, as it was named to the loader.
    pub file: String,
    /// The line, counted from 1; 0 when the fault is the file itself.
    pub line: usize,
    /// What is wrong: a lowercase fragment that names the thing and the value.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl CaseError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(formatter, "{}: {}", self.file, self.message)
        } else {
            write!(formatter, "{}:{}: {}", self.file, self.line, self.message)
        }
    }
}

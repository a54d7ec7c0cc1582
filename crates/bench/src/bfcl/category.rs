//! The categories of BFCL that are single answers to be judged by their calls.

use std::fmt;
use std::str::FromStr;

use super::error::ImportError;

/// A category: one file of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// One function offered, one call.
    SimplePython,
    /// Several functions offered, one call.
    Multiple,
    /// One function offered, several calls.
    Parallel,
    /// Several functions offered, several calls.
    ParallelMultiple,
    /// No function fits.
    Irrelevance,
    /// As [`Self::SimplePython`], from users.
    LiveSimple,
    /// As [`Self::Multiple`], from users.
    LiveMultiple,
    /// As [`Self::Parallel`], from users.
    LiveParallel,
    /// As [`Self::ParallelMultiple`], from users.
    LiveParallelMultiple,
    /// As [`Self::Irrelevance`], from users.
    LiveIrrelevance,
}

impl Category {
    /// Every category that can be imported.
    pub const ALL: &'static [Self] = &[
        Self::SimplePython,
        Self::Multiple,
        Self::Parallel,
        Self::ParallelMultiple,
        Self::Irrelevance,
        Self::LiveSimple,
        Self::LiveMultiple,
        Self::LiveParallel,
        Self::LiveParallelMultiple,
        Self::LiveIrrelevance,
    ];

    /// The categories an import takes when none is named.
    pub const DEFAULT: &'static [Self] = &[Self::SimplePython, Self::Multiple, Self::Parallel, Self::Irrelevance];

    /// The name in BFCL's file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SimplePython => "simple_python",
            Self::Multiple => "multiple",
            Self::Parallel => "parallel",
            Self::ParallelMultiple => "parallel_multiple",
            Self::Irrelevance => "irrelevance",
            Self::LiveSimple => "live_simple",
            Self::LiveMultiple => "live_multiple",
            Self::LiveParallel => "live_parallel",
            Self::LiveParallelMultiple => "live_parallel_multiple",
            Self::LiveIrrelevance => "live_irrelevance",
        }
    }

    /// The family of its cases, which also names its case file.
    pub fn family(self) -> String {
        format!("bfcl-{}", self.as_str().replace('_', "-"))
    }

    /// True when the right answer is no call.
    pub fn is_irrelevance(self) -> bool {
        matches!(self, Self::Irrelevance | Self::LiveIrrelevance)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Category {
    type Err = ImportError;

    fn from_str(text: &str) -> Result<Self, ImportError> {
        let found = Self::ALL.iter().find(|category| category.as_str() == text);
        found.copied().ok_or_else(|| ImportError::UnknownCategory(text.to_owned()))
    }
}

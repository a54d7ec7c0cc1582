//! JSON: the whole summary, and back.

use thiserror::Error;

use crate::summary::{RunSummary, SUMMARY_VERSION};

/// A view could not be written or read.
#[derive(Debug, Error)]
pub enum ReportError {
    /// Not a summary.
    #[error("the text is not a run summary: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by a newer version.
    #[error("the run summary has format version {found}, this program reads up to {SUMMARY_VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// The CSV writer failed.
    #[error("cannot write the table as csv: {0}")]
    Csv(#[from] csv::Error),
}

impl ReportError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Json(_) => "pass the output of a command run with --format json",
            Self::Version { .. } => "update this program, or write the summary again with this version",
            Self::Csv(_) => "use --format json, which holds the same numbers",
        }
    }
}

/// The summary as indented JSON, ending in a newline.
pub fn render_json(summary: &RunSummary) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(summary)?;
    text.push('\n');
    Ok(text)
}

/// Reads what [`render_json`] wrote; a newer format is refused.
pub fn parse_json(text: &str) -> Result<RunSummary, ReportError> {
    #[derive(serde::Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version: found } = serde_json::from_str(text)?;
    if found > SUMMARY_VERSION {
        return Err(ReportError::Version { found });
    }
    Ok(serde_json::from_str(text)?)
}

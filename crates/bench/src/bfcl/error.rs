//! What can go wrong when BFCL files are imported.

use std::path::PathBuf;

use super::category::Category;
use crate::cases::CaseError;

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not a category that can be imported.
    #[error("unknown BFCL category `{0}`")]
    UnknownCategory(String),
    /// The folder has no BFCL files.
    #[error("{} holds no BFCL_v*.json files", .0.display())]
    NoData(PathBuf),
    /// The category's file, or its answers, is not there.
    #[error("no file for the category {category} in {}", folder.display())]
    NoFile {
        /// The category.
        category: Category,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not what the format says.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A question has no accepted answer.
    #[error("{id}: {reason}")]
    Entry {
        /// BFCL's id of the question.
        id: String,
        /// What is wrong.
        reason: String,
    },
    /// The written case file is refused by the loader: a bug of the import.
    #[error("the imported cases are refused: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Refused(Vec<CaseError>),
}

impl ImportError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownCategory(_) => {
                let names: Vec<&str> = Category::ALL.iter().map(|category| category.as_str()).collect();
                format!("one of: {}", names.join(", "))
            }
            Self::NoData(_) | Self::NoFile { .. } => {
                "unpack the PyPI package bfcl-eval==2026.3.23 and name its folder bfcl_eval/data".to_owned()
            }
            Self::Read { .. } => "check that the file is readable".to_owned(),
            Self::Write { .. } => "name a folder that can be written, with --out".to_owned(),
            Self::Line { .. } | Self::Entry { .. } => {
                "the file differs from the published one; unpack bfcl-eval==2026.3.23 again".to_owned()
            }
            Self::Refused(_) => "this is a bug of the import; please report it".to_owned(),
        }
    }
}

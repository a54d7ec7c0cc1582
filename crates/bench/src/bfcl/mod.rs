//! Import of the Berkeley Function Calling Leaderboard (BFCL) as cases.
//!
//! The data is a folder with one file a category, `BFCL_v4_<category>.json`, and the accepted answers in
//! `possible_answer/` under the same name; both hold one JSON object a line:
//!
//! ```json
//! {"id": "simple_python_0", "question": [[{"role": "user", "content": "…"}]], "function": [{"name": "f",
//!   "description": "…", "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}]}
//! {"id": "simple_python_0", "ground_truth": [{"f": {"x": [5], "unit": ["cm", ""]}}]}
//! ```
//!
//! Each argument lists the values that are right; `""` says that it may be left out. Types are mapped to
//! JSON Schema (`dict` → object, `float` → number, `tuple` → array, `any` → no type), names keep their dots,
//! strings are compared loosely as BFCL's own checker does, several calls are unordered, and a question to
//! which no function fits becomes `no_call`. Where an accepted answer contradicts its own schema, the
//! argument is marked `off_schema`: the answer stays right and the tool stays what the model sees.
//!
//! [`import`] reads, [`write()`] makes case files that [`crate::cases::load_suite`] accepts, and [`self_check`]
//! replays every accepted answer and a set of wrong ones through this project's grader. [`export()`] goes the
//! other way.

mod answer;
mod category;
mod check;
mod convert;
mod error;
mod export;
mod read;

use std::path::{Path, PathBuf};

pub use category::Category;
pub use check::{CategoryCheck, SelfCheck, self_check};
pub use error::ImportError;
pub use export::{Exported, export};

use crate::cases::{Case, to_toml};

/// The cases of one category.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The category.
    pub category: Category,
    /// One case a line of its file.
    pub cases: Vec<Case>,
    /// Where an accepted answer contradicts its schema: one fragment each.
    pub notes: Vec<String>,
}

impl Imported {
    /// The case file of this category.
    pub fn to_toml(&self) -> String {
        let comment = format!(
            "Imported from the Berkeley Function Calling Leaderboard, category {}.\n\
             Data by the Gorilla LLM team, UC Berkeley, under the Apache License 2.0. Generated; do not edit.",
            self.category
        );
        to_toml(&self.category.family(), &comment, &self.cases)
    }
}

/// The categories that an import takes when none is named: the usual ones where the folder has all of them, as the
/// published data has; else every one that is there, as in a folder that [`export()`] wrote.
pub fn usual(dir: &Path) -> Result<Vec<Category>, ImportError> {
    let data = read::data_folder(dir)?;
    let there = |category: &&Category| read::has(&data, **category);
    if Category::DEFAULT.iter().all(|category| there(&category)) {
        return Ok(Category::DEFAULT.to_vec());
    }
    Ok(Category::ALL.iter().filter(there).copied().collect())
}

/// Reads the categories from a folder of BFCL files: the data folder itself, or the unpacked package.
pub fn import(dir: &Path, categories: &[Category]) -> Result<Vec<Imported>, ImportError> {
    let data = read::data_folder(dir)?;
    categories.iter().map(|category| convert::category(&data, *category)).collect()
}

/// Writes one case file a category into `out`, which is created. Returns the files.
pub fn write(imported: &[Imported], out: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let failed = |path: &Path, source: std::io::Error| ImportError::Write { path: path.to_owned(), source };
    std::fs::create_dir_all(out).map_err(|error| failed(out, error))?;
    let mut files = Vec::new();
    for category in imported {
        let path = out.join(format!("{}.toml", category.category.family()));
        std::fs::write(&path, category.to_toml()).map_err(|error| failed(&path, error))?;
        files.push(path);
    }
    Ok(files)
}

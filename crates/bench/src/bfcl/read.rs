//! The files: where they are, and their lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::category::Category;
use super::error::ImportError;

/// One question.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub(super) id: String,
    #[serde(rename = "question")]
    pub(super) turns: Vec<Vec<Turn>>,
    pub(super) function: Vec<Function>,
}

/// One message.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) role: String,
    pub(super) content: String,
}

/// One function on offer.
#[derive(Debug, Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) parameters: Value,
}

/// Calls that are right: for each the function's name, and for each argument the accepted values.
pub(super) type GroundTruth = Vec<Map<String, Value>>;

#[derive(Debug, Deserialize)]
struct Answer {
    id: String,
    ground_truth: GroundTruth,
}

/// The folder with the `BFCL_v*.json` files: `dir` or where the package keeps it.
pub(super) fn data_folder(dir: &Path) -> Result<PathBuf, ImportError> {
    let candidates = [dir.to_owned(), dir.join("data"), dir.join("bfcl_eval").join("data")];
    let found = candidates.into_iter().find(|folder| file_names(folder).iter().any(|name| version_of(name).is_some()));
    found.ok_or_else(|| ImportError::NoData(dir.to_owned()))
}

/// Whether the folder has the category's questions.
pub(super) fn has(data: &Path, category: Category) -> bool {
    file(data, category).is_ok()
}

/// The questions of a category.
pub(super) fn questions(data: &Path, category: Category) -> Result<Vec<Question>, ImportError> {
    lines(&file(data, category)?)
}

/// The accepted answers of a category, by id.
pub(super) fn answers(data: &Path, category: Category) -> Result<BTreeMap<String, GroundTruth>, ImportError> {
    let answers: Vec<Answer> = lines(&file(&data.join("possible_answer"), category)?)?;
    Ok(answers.into_iter().map(|answer| (answer.id, answer.ground_truth)).collect())
}

/// The newest version of a category's file.
fn file(folder: &Path, category: Category) -> Result<PathBuf, ImportError> {
    let of_category = |name: &String| version_of(name).is_some_and(|(_, rest)| rest == category.as_str());
    let newest = file_names(folder)
        .into_iter()
        .filter(of_category)
        .max_by_key(|name| version_of(name).map(|(version, _)| version));
    newest.map(|name| folder.join(name)).ok_or_else(|| ImportError::NoFile { category, folder: folder.to_owned() })
}

/// The version and category of `BFCL_v4_simple_python.json`.
fn version_of(name: &str) -> Option<(u32, &str)> {
    let (version, category) = name.strip_prefix("BFCL_v")?.strip_suffix(".json")?.split_once('_')?;
    Some((version.parse().ok()?, category))
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ImportError> {
    let text = std::fs::read_to_string(path).map_err(|source| ImportError::Read { path: path.to_owned(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| ImportError::Line {
                path: path.to_owned(),
                line: index + 1,
                reason: error.to_string(),
            })
        })
        .collect()
}

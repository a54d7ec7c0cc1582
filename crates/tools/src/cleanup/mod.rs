//! Cleaning up in two steps (K34): a plan that changes nothing, and its execution.
//!
//! The list of files is computed here, by code: direct children of folders that the configuration
//! names, regular files, nothing hidden, sensitive or linked. The model only ever holds a plan's
//! id. Executing moves exactly the listed files to the trash, skips what changed since, and
//! removes nothing: there is no call in this module that deletes a file.

mod folder;
mod plan;
mod tools;
mod trash;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenpass_agent::tool::Tool;

pub use tools::{ExecuteCleanup, PlanCleanup};
pub use trash::{FolderTrash, SystemTrash, Trash, TrashError};

use plan::Plans;

/// What the cleanup tools may touch.
#[derive(Debug, Clone)]
pub struct CleanupOptions {
    /// The folders whose direct children may be planned, as (name, folder).
    pub folders: Vec<(String, PathBuf)>,
    /// Files and folders that are never planned, existing or not.
    pub protected: Vec<PathBuf>,
    /// What `~` stands for in a typed folder.
    pub home: Option<PathBuf>,
    /// How long a plan may be executed.
    pub lifetime: Duration,
    /// Most files of one plan: the confirmation shows every one of them.
    pub most_files: usize,
}

impl CleanupOptions {
    /// The given folders, plans of at most 200 files that live 15 minutes.
    pub fn new(folders: Vec<(String, PathBuf)>) -> Self {
        Self {
            folders,
            protected: Vec::new(),
            home: std::env::home_dir(),
            lifetime: Duration::from_mins(15),
            most_files: 200,
        }
    }
}

/// `plan_cleanup` and `execute_cleanup` over the same plans.
pub fn cleanup_tools(options: CleanupOptions, trash: Arc<dyn Trash>) -> Vec<Box<dyn Tool>> {
    let plans = Arc::new(Plans::new(options));
    vec![Box::new(PlanCleanup::new(Arc::clone(&plans))), Box::new(ExecuteCleanup::new(plans, trash))]
}

//! Job files: the benches of a night, divided into parts that an existing scheduler starts.
//!
//! Each part measures its share of the cases into a store of its own and goes on where it was when the
//! scheduler starts it again. A last job joins the parts of every step into one run, writes the report, and
//! compares with the baseline where its store has one. The seed stands in the files: all parts share it,
//! and what they measure together is what one process would have measured.
//!
//! ```text
//! RUNS/parts/SEED/STEP/K    the store of part K of a step
//! ```
//! Nothing here writes a file or asks a scheduler: [`job_files`] is a function from [`Jobs`] to texts.

mod github;
mod kubernetes;
mod quote;
mod shell;
mod slurm;
#[cfg(test)]
mod tests;

pub use quote::shell as shell_word;

use std::path::PathBuf;

/// The folder of a store in which the parts of job files are, by seed.
pub const PARTS: &str = "parts";

/// A scheduler that runs the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// A job array.
    Slurm,
    /// An Indexed Job.
    Kubernetes,
    /// A matrix of GitHub Actions.
    Github,
}

/// One bench with one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStep {
    /// The bench: `tools` or `rounds`.
    pub bench: String,
    /// The model SPEC.
    pub model: String,
    /// Whether the bench has a baseline of this model in the store (Slurm: elsewhere it is another store).
    pub has_baseline: bool,
}

/// What the files are to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jobs {
    /// Parts that the cases are divided into.
    pub parts: u32,
    /// Seed that all parts share.
    pub seed: u64,
    /// The steps, in order.
    pub steps: Vec<JobStep>,
    /// Passes a case.
    pub passes: u32,
    /// Only cases whose id contains one of these.
    pub filter: Vec<String>,
    /// The profile of the settings.
    pub profile: Option<String>,
    /// The program, where the scheduler's machines share this one's folders (Slurm).
    pub program: PathBuf,
    /// The folder in which the commands run, with cases and `tenpass.toml` (Slurm).
    pub project: PathBuf,
    /// The store that the joined runs go to (Slurm).
    pub runs: PathBuf,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// Its name, without a folder.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
}

/// What cannot be put into job files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobsError {
    /// No bench can be divided.
    #[error("there is nothing to divide: no bench of the night has cases")]
    Nothing,
    /// A text that a line of a file cannot hold.
    #[error("{what} has a character that a job file cannot hold: {text:?}")]
    Unquotable {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
    },
}

impl JobsError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Nothing => "add tools or rounds to `nightly.benches`",
            Self::Unquotable { .. } => "rename it: letters, digits, spaces and signs are fine, line breaks are not",
        }
    }
}

/// The files for a scheduler. The first line of each says how to submit it.
pub fn job_files(scheduler: Scheduler, jobs: &Jobs) -> Result<Vec<JobFile>, JobsError> {
    if jobs.steps.is_empty() {
        return Err(JobsError::Nothing);
    }
    jobs.check()?;
    Ok(match scheduler {
        Scheduler::Slurm => slurm::files(jobs),
        Scheduler::Kubernetes => kubernetes::files(jobs),
        Scheduler::Github => github::files(jobs),
    })
}

impl Jobs {
    fn check(&self) -> Result<(), JobsError> {
        let paths = [
            ("the program's path", &self.program),
            ("the project's path", &self.project),
            ("the runs folder's path", &self.runs),
        ];
        for (what, path) in paths {
            let text = path.to_str();
            if text.is_none_or(|text| text.contains(char::is_control)) {
                return Err(JobsError::Unquotable { what, text: path.to_string_lossy().into_owned() });
            }
        }
        let models = self.steps.iter().map(|step| ("a model", step.model.as_str()));
        let benches = self.steps.iter().map(|step| ("a bench", step.bench.as_str()));
        let filters = self.filter.iter().map(|text| ("a filter", text.as_str()));
        let profile = self.profile.iter().map(|text| ("the profile", text.as_str()));
        match models.chain(benches).chain(filters).chain(profile).find(|(_, text)| text.contains(char::is_control)) {
            Some((what, text)) => Err(JobsError::Unquotable { what, text: text.to_owned() }),
            None => Ok(()),
        }
    }

    /// What a step is called in paths: `tools-1`.
    fn step_name(&self, position: usize) -> String {
        format!("{}-{}", self.steps[position].bench, position + 1)
    }

    /// Models of the catalogue that run inside the process: each machine needs them.
    fn embedded_models(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for step in &self.steps {
            let name = match step.model.split_once(':') {
                Some(("embedded", name)) => name,
                Some(_) => continue,
                None => step.model.as_str(),
            };
            let is_path = name.contains(['/', '\\']) || name.to_ascii_lowercase().ends_with(".gguf");
            if !is_path && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

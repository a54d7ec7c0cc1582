//! `manifest.json`: everything that says what a run measured, on what, with what.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tenpass_model::ModelInfo;

use crate::run::Partition;
use crate::store::against::{Against, Origin};
use crate::store::early::EarlyStop;
use crate::store::environment::{GitState, Host};
use crate::store::{CASES, StoreError, clock, lines};

/// Version of the run format. Readers accept any minor version of their major version; writers
/// refuse files that are newer than themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FormatVersion {
    /// Changes when old readers would misread the files.
    pub major: u32,
    /// Changes when fields are added.
    pub minor: u32,
}

impl FormatVersion {
    /// What this program writes.
    pub const CURRENT: Self = Self { major: 1, minor: 2 };
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl From<FormatVersion> for String {
    fn from(version: FormatVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for FormatVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parts.map(|(major, minor)| Self { major, minor }).ok_or_else(|| format!("`{text}` is not a format version"))
    }
}

/// What the user typed and what was filled in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Arguments {
    /// Given on the command line, in the environment or in a file.
    #[serde(default)]
    pub passed: Map<String, Value>,
    /// Filled in.
    #[serde(default)]
    pub defaulted: Map<String, Value>,
}

/// One configuration as it ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationRecord {
    /// Its id, unique in the run.
    pub id: String,
    /// The model SPEC as typed.
    pub spec: String,
    /// The model.
    pub model: ModelInfo,
    /// The structure strategy.
    pub structure: tenpass_agent::Structure,
    /// The tool selection strategy.
    pub selection: tenpass_agent::Selection,
    /// Which memory entries a turn of a scenario sees.
    #[serde(default)]
    pub memory: tenpass_agent::Retrieval,
    /// Which sections the prompt of a scenario has.
    #[serde(default)]
    pub sections: tenpass_agent::prompt::Sections,
    /// Sampling; the seed here is 0, each pass derives its own.
    pub options: tenpass_model::SamplingOptions,
    /// Thinking level.
    #[serde(default)]
    pub think: Option<tenpass_model::ThinkLevel>,
    /// Streamed or not.
    pub stream: bool,
    /// Most passes in flight. Speed only: may differ between the sessions of a run.
    pub jobs: usize,
    /// Arguments passed and defaulted.
    #[serde(default)]
    pub arguments: Arguments,
    /// Goes into the seeds of its passes. Configurations with equal salts meet the same random numbers;
    /// copies of one configuration need different ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub salt: u32,
    /// The file with the cases as this configuration meets them, when they are not those of the run: the
    /// same ids in the same order, with other tools or prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<String>,
    /// Digests of those cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    /// The configuration of an earlier run that this one measures again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Of an imported run: settings that its source did not tell, such as `temperature`. What stands in
    /// their fields means nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields by reference")]
fn is_zero(salt: &u32) -> bool {
    *salt == 0
}

impl ConfigurationRecord {
    /// The name of the file with its cases.
    pub(crate) fn cases_file(&self) -> &str {
        self.cases.as_deref().unwrap_or(CASES)
    }
}

/// Whether a name is one that a run gives a configuration's own cases: `cases.2.jsonl`.
fn is_cases_file(name: &str) -> bool {
    let number = name.strip_prefix("cases.").and_then(|rest| rest.strip_suffix(".jsonl"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// sha256 of what the run depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Digests {
    /// The suite's files.
    pub suite: String,
    /// The cases that were chosen, before partition.
    pub cases: String,
    /// All tool definitions of these cases.
    pub tools: String,
    /// All system prompts of these cases.
    pub prompts: String,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Being written, or its process was killed.
    Running,
    /// Every pass has its result.
    Complete,
    /// The user ended it early.
    Interrupted,
    /// Configurations were given up, or a file could not be written.
    Failed,
}

/// One process that worked on the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Version of the program.
    pub program: String,
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC; `None` while it runs, or when it was killed.
    #[serde(default)]
    pub finished: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// The machine.
    pub host: Host,
    /// Revision of the working folder, when it is one of git.
    #[serde(default)]
    pub git: Option<GitState>,
    /// Configurations that it gave up, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<StoppedRecord>,
}

/// A configuration that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedRecord {
    /// The configuration.
    pub configuration: String,
    /// The error, one line.
    pub error: String,
    /// What to do about it.
    pub hint: String,
}

/// A re-grade: the outcomes are newer than the passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regraded {
    /// When, UTC.
    pub at: String,
    /// Digest of the cases it graded against.
    pub cases: String,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of all files of the run.
    pub format: FormatVersion,
    /// The run's name, that of its folder.
    pub id: String,
    /// Which bench: `tools`.
    pub bench: String,
    /// The run this one follows (a confirmation, a top-up), if any.
    #[serde(default)]
    pub parent: Option<String>,
    /// The parts this one was merged from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Which part of the cases this run has.
    #[serde(default)]
    pub partition: Option<Partition>,
    /// Seed from which every pass derives its own.
    pub seed: u64,
    /// Passes a case and configuration.
    pub passes: u32,
    /// Milliseconds an answer may take.
    pub timeout_ms: u64,
    /// Cases in this run (after partition).
    pub cases: u64,
    /// Digests of what was measured.
    pub digests: Digests,
    /// Version of the grader that wrote the outcomes.
    pub grader: String,
    /// What a comparison of its configurations is told, when the run was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// What it stops early, and what was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<EarlyStop>,
    /// The last re-grade, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regraded: Option<Regraded>,
    /// The configurations.
    pub configurations: Vec<ConfigurationRecord>,
    /// The processes that worked on it; the last one tells the state.
    pub sessions: Vec<Session>,
}

impl Manifest {
    /// File name within the run's folder.
    pub(crate) const FILE: &'static str = "manifest.json";

    /// How far the run is.
    pub fn state(&self) -> RunState {
        self.sessions.last().map_or(RunState::Running, |session| session.state)
    }

    /// A run that `cases add` made to see whether a case fails today. It is kept, and is nobody's `latest`.
    pub fn is_check(&self) -> bool {
        let is_one = |record: &ConfigurationRecord| record.arguments.passed.contains_key("from_trace");
        !self.configurations.is_empty() && self.configurations.iter().all(is_one)
    }

    /// When it began, UTC.
    pub fn started(&self) -> &str {
        self.sessions.first().map_or("", |session| &session.started)
    }

    /// When it ended, UTC; `None` while it runs or after a kill.
    pub fn finished(&self) -> Option<&str> {
        self.sessions.last().and_then(|session| session.finished.as_deref())
    }

    /// Time spent in all sessions that ended in order.
    pub fn elapsed(&self) -> Option<std::time::Duration> {
        let ended =
            self.sessions.iter().filter_map(|session| session.finished.as_deref().map(|end| (&session.started, end)));
        let spent: Vec<_> = ended.filter_map(|(started, end)| clock::between(started, end)).collect();
        (!spent.is_empty()).then(|| spent.iter().sum())
    }

    /// Passes a complete run has.
    pub fn total_passes(&self) -> u64 {
        let whole = self.cases * self.configurations.len() as u64 * u64::from(self.passes);
        whole.saturating_sub(self.early_stop.as_ref().map_or(0, |early| early.saved))
    }

    pub(crate) fn load(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(Self::FILE);
        let bytes = fs::read(&path).map_err(|error| StoreError::read(&path, error))?;
        let bad = |reason: String| StoreError::Manifest { path: path.clone(), reason };
        // The version comes first: a newer manifest may have any shape.
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        let found = value.get("format").cloned().ok_or_else(|| bad("it has no `format`".to_owned()))?;
        let found: FormatVersion = serde_json::from_value(found).map_err(|error| bad(error.to_string()))?;
        if found.major > FormatVersion::CURRENT.major {
            return Err(StoreError::NewerFormat { path, found, supported: FormatVersion::CURRENT, action: "reads" });
        }
        let manifest: Self = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        // A name from a file must not lead out of the run's folder.
        let named = manifest.configurations.iter().filter_map(|configuration| configuration.cases.as_deref());
        match named.into_iter().find(|name| !is_cases_file(name)) {
            Some(name) => Err(bad(format!("`{name}` is no file of cases"))),
            None => Ok(manifest),
        }
    }

    /// Refuses to write into a run of a newer program: it would drop what it does not know.
    pub(crate) fn check_writable(&self, directory: &Path) -> Result<(), StoreError> {
        if self.format > FormatVersion::CURRENT {
            return Err(StoreError::NewerFormat {
                path: directory.join(Self::FILE),
                found: self.format,
                supported: FormatVersion::CURRENT,
                action: "writes",
            });
        }
        Ok(())
    }

    pub(crate) fn save(&self, directory: &Path) -> Result<(), StoreError> {
        let path = directory.join(Self::FILE);
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::Encode { path: path.clone(), reason: error.to_string() })?;
        bytes.push(b'\n');
        lines::replace_file(&path, &bytes)
    }
}

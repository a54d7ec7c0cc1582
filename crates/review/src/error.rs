//! What can go wrong between stored runs and a decision.

use std::path::PathBuf;

use tenpass_bench::store::StoreError;
use tenpass_report::{Difference, Role};

use crate::jobs::shell_word;

/// A decision that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A page cannot be written.
    #[error("cannot write the report: {0}")]
    Report(#[source] std::io::Error),
    /// A page cannot be written to its file.
    #[error("cannot write {}: {source}", path.display())]
    ReportFile {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file of baselines is not one.
    #[error("{} is not a file of baselines: {reason}", path.display())]
    Baselines {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with line and column where there are any.
        reason: String,
    },
    /// No run was blessed.
    #[error("{} has no baseline{}", directory.display(), of_bench(bench.as_deref()))]
    NoBaseline {
        /// The store.
        directory: PathBuf,
        /// The bench it was looked for.
        bench: Option<String>,
    },
    /// Several benches have one, and none was named.
    #[error("several benches have a baseline: {}", benches.join(", "))]
    SeveralBaselines {
        /// Their benches.
        benches: Vec<String>,
    },
    /// The blessed run was removed.
    #[error("the baseline of bench {bench} is run {run}, which is no longer in {}", directory.display())]
    BaselineGone {
        /// The bench.
        bench: String,
        /// The run that was blessed.
        run: String,
        /// The store.
        directory: PathBuf,
    },
    /// The run has no such configuration.
    #[error("run {run} has no configuration `{wanted}`; it has: {}", names.join(", "))]
    NoConfiguration {
        /// The run.
        run: String,
        /// What was asked for.
        wanted: String,
        /// What it has.
        names: Vec<String>,
    },
    /// One configuration is needed, and the run has several.
    #[error("run {run} has {} configurations: {}", names.len(), names.join(", "))]
    SeveralConfigurations {
        /// The run.
        run: String,
        /// What it has.
        names: Vec<String>,
    },
    /// There is no winner, or nobody it won against.
    #[error("run {run} has no two configurations that were scored: there is no winner to confirm")]
    NothingToConfirm {
        /// The run.
        run: String,
    },
    /// The whole run is meant, and one configuration of it was named.
    #[error("a whole run is needed here, not configuration `{wanted}` of {run}")]
    WholeRun {
        /// The run.
        run: String,
        /// The configuration that was named.
        wanted: String,
    },
    /// The run is of another bench.
    #[error("{run} is a run of bench {found}, not of bench {wanted}")]
    OtherBench {
        /// The run.
        run: String,
        /// Its bench.
        found: String,
        /// The bench that was asked for.
        wanted: String,
    },
    /// More differs than the variable under test.
    #[error("{before} and {after} differ in more than the variable under test:{}", listed(differences))]
    SeveralDifferences {
        /// The run before, with its configuration where it has several.
        before: String,
        /// The run after.
        after: String,
        /// Everything that differs and was not allowed.
        differences: Vec<Difference>,
        /// What `--allow` would have to name.
        allow: Vec<String>,
    },
    /// `--allow` names nothing that could differ.
    #[error("`{name}` is nothing that could differ")]
    UnknownDifference {
        /// What was typed.
        name: String,
        /// The nearest name there is.
        near: Option<String>,
    },
    /// A pattern of targets or guards matches no case that both sides have.
    #[error("no case that both sides have matches the {} `{pattern}`", role.as_str())]
    NoSuchCase {
        /// What the cases were to be.
        role: Role,
        /// The pattern.
        pattern: String,
        /// The ids that are near.
        near: Vec<String>,
    },
    /// A case is named as both.
    #[error("case {case} is named as a target and as a guard")]
    TwoRoles {
        /// The case.
        case: String,
    },
    /// Nothing to compare.
    #[error("{before} and {after} have no scored case in common")]
    NoCommonCase {
        /// The run before.
        before: String,
        /// The run after.
        after: String,
    },
    /// A side without a single scored pass.
    #[error("{run} has no scored pass of {configuration}")]
    NothingScored {
        /// The run.
        run: String,
        /// The configuration.
        configuration: String,
    },
}

fn listed(differences: &[Difference]) -> String {
    let line = |found: &Difference| format!("\n  {}: {} → {}", found.name, found.before, found.after);
    differences.iter().map(line).collect()
}

fn of_bench(bench: Option<&str>) -> String {
    bench.map_or_else(String::new, |bench| format!(" for bench {bench}"))
}

impl ReviewError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Store(error) => error.hint().to_owned(),
            Self::Report(_) => "check the disk's free space".to_owned(),
            Self::ReportFile { .. } => "check the folder's permissions and free space, or name another file".to_owned(),
            Self::Baselines { .. } => "remove it, then bless again: `tenpass runs bless RUN`".to_owned(),
            Self::NoBaseline { .. } => "`tenpass runs bless RUN` makes a run the baseline".to_owned(),
            Self::SeveralBaselines { .. } => "name the run by its id: `tenpass runs bless --show` shows it".to_owned(),
            Self::BaselineGone { .. } => "`tenpass runs bless RUN` names another".to_owned(),
            Self::NoConfiguration { run, names, .. } | Self::SeveralConfigurations { run, names } => {
                let first = names.first().map_or("CONFIGURATION", String::as_str);
                format!("write {}, or {run}/1, {run}/2 and so on", shell_word(&format!("{run}/{first}")))
            }
            Self::NothingToConfirm { .. } => {
                "compare one configuration with an earlier run: `tenpass bench … --against RUN`".to_owned()
            }
            Self::WholeRun { run, .. } => format!("write {run}"),
            Self::OtherBench { .. } => "`tenpass runs list` shows the runs".to_owned(),
            Self::SeveralDifferences { allow, .. } => {
                format!("measure again with one change, or compare all the same with --allow {}", allow.join(","))
            }
            Self::UnknownDifference { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownDifference { near: None, .. } => {
                format!("one of: {}, all", crate::differences::DIMENSIONS.join(", "))
            }
            Self::NoSuchCase { near, .. } => format!("the nearest: {}; `*` stands for any text", near.join(", ")),
            Self::TwoRoles { .. } => "let the patterns of --targets and --guards share no case".to_owned(),
            Self::NoCommonCase { .. } => "`tenpass runs show RUN` shows the cases of a run".to_owned(),
            Self::NothingScored { run, .. } => format!("finish it first: `tenpass bench … --resume {run}`"),
        }
    }
}

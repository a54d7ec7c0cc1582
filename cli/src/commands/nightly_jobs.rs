//! `tenpass nightly --jobs`: files for a scheduler, from the plan of the night.

use std::fs;
use std::path::{Path, PathBuf};

use tenpass_bench::cases::Suite;
use tenpass_review::baseline_of;
use tenpass_review::jobs::{JobStep, Jobs, JobsError, Scheduler, job_files};
use tenpass_review::nightly::Plan;

use super::bench::drawn_seed;
use crate::args::review;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where the files go unless told.
const FOLDER: &str = "jobs";

impl From<JobsError> for Failure {
    fn from(error: JobsError) -> Self {
        let hint = error.hint();
        Self::mistake(&error).hint(hint)
    }
}

/// Writes the files and says how to submit them.
pub(crate) fn write(
    context: &Context,
    command: &review::Nightly,
    scheduler: review::Scheduler,
    plan: Plan,
) -> Result<Exit, Failure> {
    let scheduler = match scheduler {
        review::Scheduler::Slurm => Scheduler::Slurm,
        review::Scheduler::Kubernetes => Scheduler::Kubernetes,
        review::Scheduler::Github => Scheduler::Github,
    };
    let jobs = jobs(context, command.parts, plan)?;
    let files = job_files(scheduler, &jobs)?;
    let folder = command.out.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
    for file in &files {
        let path = folder.join(file.name);
        fs::write(&path, &file.text).map_err(|error| Failure::file(&path, &error))?;
        context.printer.out(&path.display().to_string());
    }
    context.printer.note(&format!("{} parts, seed {}", jobs.parts, jobs.seed));
    let first = folder.join(files.first().map_or("", |file| file.name));
    context.printer.note(&match scheduler {
        Scheduler::Slurm => format!("submit them with: sh {}", folder.join("submit.sh").display()),
        Scheduler::Kubernetes => format!("{} says how to submit them", folder.join("parts.yaml").display()),
        Scheduler::Github => format!("put {} into .github/workflows of your repository", first.display()),
    });
    Ok(Exit::Yes)
}

fn jobs(context: &Context, parts: u32, plan: Plan) -> Result<Jobs, Failure> {
    let store = absolute(&context.runs())?;
    let mut steps = Vec::new();
    for (bench, model) in &plan.steps {
        // What has no model is over in a moment and has no parts.
        let Some(model) = model else {
            context.printer.note(&format!("{bench} is not divided; `tenpass nightly` runs it"));
            continue;
        };
        check_parts(context, bench, parts, &plan.filter)?;
        steps.push(JobStep {
            bench: bench.clone(),
            model: model.clone(),
            has_baseline: has_baseline(&store, bench, model),
        });
    }
    let working = std::env::current_dir().map_err(|error| Failure::file(Path::new("."), &error))?;
    Ok(Jobs {
        parts,
        seed: drawn_seed(),
        steps,
        passes: plan.passes,
        filter: plan.filter,
        profile: plan.profile,
        program: std::env::current_exe().map_err(Failure::bug)?,
        project: context.home.project.clone().unwrap_or(working),
        runs: store,
    })
}

/// Whether the bench's baseline is one of this model: of another it would say nothing about a change.
fn has_baseline(store: &Path, bench: &str, model: &str) -> bool {
    baseline_of(store, Some(bench)).is_ok_and(|baseline| {
        let mut configurations = baseline.run.manifest().configurations.iter();
        configurations.any(|record| record.id == baseline.configuration && record.spec == model)
    })
}

/// Refuses more parts than there are cases: a part without any would fail every night.
fn check_parts(context: &Context, bench: &str, parts: u32, filter: &[String]) -> Result<(), Failure> {
    let Suite { cases, .. } = match bench {
        "rounds" => context.rounds_suite(None)?,
        _ => context.tools_suite(None)?,
    };
    let is_chosen = |id: &str| filter.is_empty() || filter.iter().any(|text| id.contains(text.as_str()));
    let count = cases.iter().filter(|case| is_chosen(&case.id)).count();
    if count >= parts as usize {
        return Ok(());
    }
    Err(Failure::mistake(format!("{parts} parts are more than the {count} cases of bench {bench}"))
        .hint(format!("--parts {}", count.max(1))))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::file(path, &error))
}

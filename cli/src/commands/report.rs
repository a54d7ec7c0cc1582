//! `tenpass report`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tenpass_bench::store::Run;
use tenpass_review::{ReportOptions, compare_columns, find, save_report, write_report_with};

use super::compare;
use crate::args::review::Report;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// An opener that is still there after this time has found a browser.
const OPENER_TIME: Duration = Duration::from_millis(1500);

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Report) -> Result<Exit, Failure> {
    let (runs, only) = runs(context, &command.runs)?;
    let (comparisons, refused) = compare_columns(&runs, &only, &compare::options(&command.options))?;
    for reason in &refused {
        context.printer.note(&format!("not compared: {reason}"));
    }
    let options = ReportOptions { only, refused, passing: command.passing, ..ReportOptions::default() };
    if command.out.as_deref() == Some(Path::new("-")) {
        let mut page = Vec::new();
        write_report_with(&runs, &comparisons, &options, &mut page)?;
        context.printer.out(&String::from_utf8_lossy(&page));
        if command.open {
            context.printer.note("nothing was opened: the page went to the standard output");
        }
        return Ok(Exit::Yes);
    }
    let path = command.out.clone().unwrap_or_else(|| usual_path(&runs));
    save_report(&runs, &comparisons, &options, &path)?;
    context.printer.out(&path.display().to_string());
    if command.open
        && let Err(reason) = open(&path)
    {
        context.printer.note(&format!("the page is written, but was not opened: {reason}"));
    }
    Ok(Exit::Yes)
}

/// Runs, and those of their configurations that were named: run and configuration.
type Chosen = (Vec<Run>, Vec<(String, String)>);

/// Each run once, with the configurations that were named in it.
fn runs(context: &Context, queries: &[String]) -> Result<Chosen, Failure> {
    let store = context.runs();
    let mut runs: Vec<Run> = Vec::new();
    let mut only = Vec::new();
    for query in queries {
        // As in `compare`, `latest` and `baseline` are those of the bench at hand.
        let vague = matches!(query.split('/').next(), Some("latest" | "baseline"));
        let bench = runs.first().filter(|_| vague).map(|run| run.manifest().bench.clone());
        let (run, configuration) = find(&store, query, bench.as_deref())?;
        only.extend(configuration.map(|configuration| (run.id().to_owned(), configuration)));
        if !runs.iter().any(|known| known.id() == run.id()) {
            runs.push(run);
        }
    }
    Ok((runs, only))
}

fn usual_path(runs: &[Run]) -> PathBuf {
    runs.last().map_or_else(PathBuf::new, |run| run.directory().to_owned()).join("report.html")
}

/// Hands the file to the desktop.
fn open(path: &Path) -> Result<(), String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let mut command = opener(&path);
    let name = command.get_program().to_string_lossy().into_owned();
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match quiet.spawn() {
        Ok(child) => ended(child, &name),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("there is no {name} here; open {} in a browser", path.display()))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// What each system calls its opener.
fn opener(path: &Path) -> Command {
    if cfg!(windows) {
        let mut command = Command::new("cmd");
        // `start` takes the first quoted word for a title.
        command.args(["/C", "start", ""]).arg(path);
        return command;
    }
    let mut command = Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    command.arg(path);
    command
}

/// An opener may end at once or live as long as the browser; only one that fails at once says so.
fn ended(mut child: Child, name: &str) -> Result<(), String> {
    let begun = Instant::now();
    while begun.elapsed() < OPENER_TIME {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{name} found nothing to open it with ({status})")),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    Ok(())
}

//! `tenpass cases add --from-trace`: a turn of the agent becomes a case.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, json};
use tenpass_agent::untrusted::visible;
use tenpass_bench::cases::{Case, CaseKind, Suite, expect_lines};
use tenpass_bench::life::{CheckPlan, Checked, Draft, FailsToday, LIFE_FAMILY, Life, check, file_case};
use tenpass_bench::run::{Configuration, RunOutcome};
use tenpass_bench::store::Arguments;
use tenpass_model::{ModelInfo, ModelSpec, SamplingOptions, ThinkLevel};
use tokio_util::sync::CancellationToken;

use super::ask::{self, Terminal};
use super::life::{failed, folder, options};
use crate::args::tools::AddCase;
use crate::backend;
use crate::commands::{asynchronous, bench, probe};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::RunProgress;

/// Most tokens of an answer, as `bench tools` has it.
const MAX_TOKENS: u32 = 256;
/// Context that a server is asked for, as `bench tools` has it.
const SERVER_CONTEXT: u32 = 32_768;
/// Requests at the same time to a server.
const SERVER_JOBS: usize = 4;
/// How sure a suggestion has to be to be taken unasked: it follows from what the person did.
const TAKEN_UNASKED: u8 = 2;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &AddCase) -> Result<Exit, Failure> {
    let suite_path = context.cases_path(command.path.cases.as_deref())?;
    let life = Life::open(&folder(context)).map_err(|error| failed(context, error))?;
    if life.unreadable > 0 {
        context.printer.note(&format!("warning: {} lines of the trace cannot be read", life.unreadable));
    }
    let turn = life.find(&command.from_trace, command.turn).map_err(|error| failed(context, error))?;
    let known = known_cases(context, &suite_path)?;
    let twin = known.iter().flat_map(|suite| &suite.cases).find(|case| case.provenance.contains(&turn.turn));
    if let Some(twin) = twin.filter(|_| !command.yes) {
        return Err(Failure::mistake(format!("this turn is the case `{}` already, at {}", twin.id, twin.source))
            .hint("--yes files another one"));
    }
    let options = options(context, &command.hide);
    let draft = Draft::of_request(&life, turn, &options, command.expect.as_deref(), command.request);
    let mut draft = draft.map_err(|error| failed(context, error))?;
    settle(&mut draft, command);
    for note in &draft.notes {
        context.printer.note(note);
    }
    if command.expect.is_none() && !expectation(context, command, &mut draft)? {
        return Ok(Exit::No);
    }
    if let Some(same) = known.iter().flat_map(|suite| &suite.cases).find(|case| asks_the_same(case, &draft.case)) {
        return Err(Failure::mistake(format!("this is the case `{}` already, at {}", same.id, same.source))
            .hint("nothing is filed twice; another --expect, --request or --kind makes another case"));
    }
    draft.say_provenance(None);
    tell_replaced(context, &draft);
    draft.check_leaks().map_err(|error| failed(context, error))?;
    if !command.unchecked {
        match checked(context, command, &mut draft)? {
            None => {}
            Some(exit) => return Ok(exit),
        }
    }
    draft.check_leaks().map_err(|error| failed(context, error))?;
    file(context, command, &draft, &suite_path)
}

/// Whether two cases are one in all that is measured.
fn asks_the_same(one: &Case, other: &Case) -> bool {
    one.kind == other.kind
        && one.messages == other.messages
        && one.expect == other.expect
        && one.tools.iter().map(|tool| &tool.name).eq(other.tools.iter().map(|tool| &tool.name))
}

/// The suite, when there is one already: a folder may be named that is not there yet.
fn known_cases(context: &Context, path: &Path) -> Result<Option<Suite>, Failure> {
    let has_cases = path.is_file()
        || std::fs::read_dir(path).is_ok_and(|entries| {
            let is_case = |name: &std::ffi::OsStr| {
                Path::new(name).extension().is_some_and(|end| end == "toml") && name != "tools.toml"
            };
            entries.filter_map(Result::ok).any(|entry| is_case(&entry.file_name()))
        });
    if !has_cases {
        return Ok(None);
    }
    let suite = context.suite(Some(path))?;
    if suite.cases.iter().any(|case| case.scenario.is_some()) {
        return Err(Failure::mistake(format!("{} holds scenarios, not cases", path.display()))
            .hint("name a folder of cases with --cases, such as cases/tools"));
    }
    Ok(Some(suite))
}

/// Family, kind and id as typed.
fn settle(draft: &mut Draft, command: &AddCase) {
    draft.case.family = command.family.clone().unwrap_or_else(|| LIFE_FAMILY.to_owned());
    if command.family.is_none()
        && let Some(own) = command.path.cases.as_deref().filter(|path| path.is_file()).and_then(family_of)
    {
        draft.case.family = own;
    }
    draft.case.kind = if command.kind.as_deref() == Some("guard") { CaseKind::Guard } else { CaseKind::Target };
    if let Some(id) = &command.id {
        draft.case.id.clone_from(id);
    }
}

fn family_of(path: &Path) -> Option<String> {
    let table: toml::Table = std::fs::read_to_string(path).ok()?.parse().ok()?;
    table.get("family")?.as_str().map(str::to_owned)
}

/// Finds out what should have happened; false when the person leaves.
fn expectation(context: &Context, command: &AddCase, draft: &mut Draft) -> Result<bool, Failure> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if is_terminal && !command.yes {
        let mut person = Terminal::open(context.printer)?;
        return ask::expectation(draft, &mut person).map_err(|error| failed(context, error));
    }
    let best = draft.candidates.first().cloned();
    if let Some(best) = best.filter(|best| command.yes || best.strength >= TAKEN_UNASKED) {
        context.printer.note(&format!("expected, since {}:\n{}", best.why, visible(best.lines.trim_end())));
        draft.choose(&best);
        Ok(true)
    } else {
        for candidate in &draft.candidates {
            context.printer.note(&format!("perhaps ({}):\n{}", candidate.why, visible(candidate.lines.trim_end())));
        }
        let id: String = draft.turn.chars().take(8).collect();
        Err(Failure::mistake("nothing in the trace says surely what should have happened").hint(format!(
            "tenpass cases add --from-trace {id} --expect 'calls = [{{ tool = \"…\" }}]', or 'no_call = true', or 'forbid = [\"…\"]'"
        )))
    }
}

/// Shows the person what was replaced by what. It is on stderr and nowhere else.
fn tell_replaced(context: &Context, draft: &Draft) {
    let mapping = draft.mapping();
    if !mapping.is_empty() {
        context.printer.note("replaced in the case (only you see this):");
    }
    for replaced in mapping {
        context.printer.note(&format!("  {}: {} → {}", replaced.kind, visible(&replaced.was), visible(&replaced.is)));
    }
    let masked = draft.masked();
    if !masked.is_empty() {
        context.printer.note(&format!("secrets masked: {}", masked.join(", ")));
    }
}

/// Plays the case; `Some` is how the command ends when it is not to be filed.
fn checked(context: &Context, command: &AddCase, draft: &mut Draft) -> Result<Option<Exit>, Failure> {
    let Some((found, outcome)) = asynchronous(play(context, command, draft))?? else {
        return Ok(Some(Exit::Interrupted));
    };
    if found.is_interrupted {
        context.printer.note(&format!("{} of {} passes are kept in run {}", outcome.done, outcome.total, found.run));
        return Ok(Some(Exit::Interrupted));
    }
    draft.say_provenance(Some(&found.provenance()));
    context.printer.note(&format!("{}: {} in run {}", found.model, found.words(), found.run));
    match found.fails_today() {
        FailsToday::Yes if draft.case.kind == CaseKind::Guard => {
            context.printer.note(
                "warning: it fails today, and a guard must stay good: until it is mended it is no guard but a target \
                 (--kind target)",
            );
            Ok(None)
        }
        FailsToday::Yes => Ok(None),
        FailsToday::Unknown => {
            context.printer.note("nothing was measured, so nothing was filed; --unchecked files it without");
            Ok(Some(Exit::Backend))
        }
        FailsToday::No if command.yes || command.kind.as_deref() == Some("guard") => {
            context.printer.note("it does not fail today and is filed all the same");
            Ok(None)
        }
        FailsToday::No => Ok(is_left(context, &found)?.then_some(Exit::No)),
    }
}

/// Asks whether a case that is right today is to be filed; true when it is not.
fn is_left(context: &Context, found: &Checked) -> Result<bool, Failure> {
    let said = format!("it does not fail today: {}", found.words());
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        let mut person = Terminal::open(context.printer)?;
        return Ok(!ask::agrees(&mut person, &format!("{said}. File it all the same?")));
    }
    context.printer.note(&said);
    context.printer.note("nothing was filed; --kind guard files it as what must stay good, --yes as it is");
    Ok(true)
}

/// The passes; `None` when Ctrl-C came before there was a model.
async fn play(context: &Context, command: &AddCase, draft: &Draft) -> Result<Option<(Checked, RunOutcome)>, Failure> {
    let cancel = CancellationToken::new();
    let stopped = cancel.clone();
    let printer = context.printer;
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            printer.note("stopping: finished passes are kept");
            stopped.cancel();
        }
    });
    let plan = tokio::select! {
        plan = plan(context, command, draft) => plan?,
        () = cancel.cancelled() => return Ok(None),
    };
    let progress = RunProgress::new(context.printer);
    let played = check(&draft.case, plan, &context.runs(), &progress, cancel).await?;
    Ok(Some(played))
}

async fn plan(context: &Context, command: &AddCase, draft: &Draft) -> Result<CheckPlan, Failure> {
    let spec = match &command.model {
        Some(spec) => spec.clone(),
        None => draft.model.parse::<ModelSpec>().map_err(|error| {
            Failure::mistake(error).hint("the turn's model is not one that can be asked: --model SPEC, or --unchecked")
        })?,
    };
    let model = backend::model(context, &spec, None).await?;
    let info = model.info().clone();
    let (structure, reason) = match draft.structure.filter(|_| command.model.is_none()) {
        Some(structure) => (structure, "as in the turn".to_owned()),
        None => probe::structure_for(context, &info),
    };
    let passes = command.passes.unwrap_or(context.resolved.settings.passes);
    let mut configuration = Configuration::new(Arc::clone(&model));
    configuration.spec = spec.to_string();
    configuration.structure = structure;
    configuration.options = sampling(&info);
    configuration.think = draft.think.as_deref().and_then(thinking);
    let own_jobs = if info.backend == "embedded" { passes as usize } else { SERVER_JOBS };
    configuration.jobs = context.resolved.settings.jobs.unwrap_or(own_jobs);
    configuration.arguments = arguments(draft, &configuration, &reason);
    Ok(CheckPlan { configuration, passes, seed: bench::drawn_seed(), timeout: context.resolved.settings.timeout })
}

fn sampling(info: &ModelInfo) -> SamplingOptions {
    let context = (info.backend == "ollama").then(|| SERVER_CONTEXT.min(info.context.unwrap_or(SERVER_CONTEXT)));
    SamplingOptions { max_tokens: MAX_TOKENS, context, ..SamplingOptions::default() }
}

fn thinking(level: &str) -> Option<ThinkLevel> {
    serde_json::from_value(json!(level)).ok()
}

/// What the manifest says about where this run comes from.
fn arguments(draft: &Draft, configuration: &Configuration, reason: &str) -> Arguments {
    let mut passed = Map::new();
    passed.insert("from_trace".to_owned(), json!(draft.turn));
    let mut defaulted = Map::new();
    defaulted.insert("structure".to_owned(), json!(configuration.structure));
    defaulted.insert("structure_reason".to_owned(), json!(reason));
    defaulted.insert("max_tokens".to_owned(), json!(configuration.options.max_tokens));
    Arguments { passed, defaulted }
}

/// Puts the case into the suite and says where it is.
fn file(context: &Context, command: &AddCase, draft: &Draft, suite: &Path) -> Result<Exit, Failure> {
    let filed = file_case(draft.case.clone(), suite, command.id.is_some(), "");
    let filed = filed.map_err(|error| failed(context, error))?;
    let working = std::env::current_dir().unwrap_or_default();
    let place = filed.path.strip_prefix(&working).unwrap_or(&filed.path);
    // The tools alone would fill the screen; the file has all of it.
    let expected = expect_lines(&filed.case.expect);
    let request = visible(&draft.request);
    context.printer.out(&format!(
        "{} in {}\n“{request}”\n{}",
        filed.case.id,
        place.display(),
        visible(expected.trim_end())
    ));
    let cases = command.path.cases.as_ref().map(|path| format!(" --cases {}", path.display())).unwrap_or_default();
    context.printer.note(&format!("measure it with: tenpass bench tools --filter {}{cases}", filed.case.id));
    Ok(Exit::Yes)
}

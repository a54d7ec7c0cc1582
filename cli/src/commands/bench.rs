//! `tenpass bench tools`.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::Selection;
use tenpass_agent::structure::choose;
use tenpass_bench::cases::{Case, Suite};
use tenpass_bench::run::{Configuration, RunOptions, RunOutcome, RunPlan, execute};
use tenpass_bench::store::{Arguments, Run, RunState, open_run};
use tenpass_model::{ChatModel, ModelInfo, ModelSpec, SamplingOptions};
use tokio_util::sync::CancellationToken;

use super::runs;
use crate::args::bench::{Bench, Tools};
use crate::backend;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::RunProgress;

/// Most tokens of an answer unless told: a tool call or a short reply.
const MAX_TOKENS: u32 = 256;
/// Requests at the same time to a server, unless told.
const SERVER_JOBS: usize = 4;
/// Cases that the embedded engine decodes in one batch while several configurations take turns.
const CASES_PER_TURN: usize = 8;
/// Context that servers are asked for unless told (K9); a shorter model keeps its own.
const SERVER_CONTEXT: u32 = 32_768;

/// Settings that this command's flags override.
pub(crate) fn flags(command: &Bench) -> Vec<(&'static str, String)> {
    let Bench::Tools(tools) = command;
    let mut flags = Vec::new();
    if let Some(passes) = tools.passes {
        flags.push(("bench.passes", passes.to_string()));
    }
    if let Some(jobs) = tools.jobs {
        flags.push(("bench.jobs", jobs.to_string()));
    }
    if let Some(timeout) = tools.timeout {
        flags.push(("bench.timeout", format!("{}ms", timeout.as_millis())));
    }
    flags
}

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Bench) -> Result<Exit, Failure> {
    let Bench::Tools(tools) = command;
    let cancel = CancellationToken::new();
    stop_on_interrupt(cancel.clone(), context.printer);
    let work = measure(context, &tools, cancel.clone());
    // Loading a model cannot be cancelled from within; a run ends itself.
    let outcome = tokio::select! {
        biased;
        result = work => result?,
        () = give_up(&cancel) => return Ok(Exit::Interrupted),
    };
    report(context, &tools, &outcome)
}

/// Completes a while after the cancellation, when nothing has ended by itself.
async fn give_up(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
}

fn stop_on_interrupt(cancel: CancellationToken, printer: crate::printer::Printer) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            printer.note("stopping: finished passes are kept");
            cancel.cancel();
        }
    });
}

async fn measure(context: &Context, tools: &Tools, cancel: CancellationToken) -> Result<RunOutcome, Failure> {
    let store = context.runs();
    let resumed = tools.resume.as_deref().map(|query| open_run(&store, query)).transpose()?;
    let mut plan = match &resumed {
        Some(run) => RunPlan::of_run(run, stored_configurations(context, run, tools).await?),
        None => new_plan(context, tools).await?,
    };
    if tools.timeout.is_some() || resumed.is_none() {
        plan.timeout = context.resolved.settings.timeout;
    }
    let mut options = RunOptions::new(&store);
    options.resume = resumed.as_ref().map(|run| run.id().to_owned());
    options.warm_up = tools.warm_up;
    let batches = plan.configurations.iter().all(|configuration| configuration.model.info().backend == "embedded");
    options.cases_per_turn = if batches { CASES_PER_TURN } else { 1 };
    let progress = RunProgress::new(context.printer);
    Ok(execute(plan, options, &progress, cancel).await?)
}

async fn new_plan(context: &Context, tools: &Tools) -> Result<RunPlan, Failure> {
    let suite = context.suite(tools.cases.as_deref())?;
    let cases = chosen_cases(&suite, tools)?;
    let specs = if tools.models.is_empty() {
        vec![context.resolved.settings.model.parse::<ModelSpec>().map_err(Failure::mistake)?]
    } else {
        tools.models.clone()
    };
    let mut configurations = Vec::new();
    for spec in &specs {
        let model = backend::model(context, spec, tools.ctx).await?;
        configurations.extend(variants(context, tools, spec, &model));
    }
    name_apart(&mut configurations);
    let mut plan = RunPlan::new(cases, suite.digest, configurations);
    plan.passes = context.resolved.settings.passes;
    plan.seed = tools.seed.unwrap_or_else(drawn_seed);
    plan.partition = tools.partition;
    Ok(plan)
}

/// A seed from the clock and the process: recorded in the manifest, so every run can be repeated.
fn drawn_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // 53 bits survive every JSON reader.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40)) >> 11
}

fn chosen_cases(suite: &Suite, tools: &Tools) -> Result<Vec<Case>, Failure> {
    let families: std::collections::BTreeSet<&str> = suite.cases.iter().map(|case| case.family.as_str()).collect();
    if let Some(unknown) = tools.family.iter().find(|family| !families.contains(family.as_str())) {
        let all = families.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::mistake(format!("no family `{unknown}`")).hint(format!("there are: {all}")));
    }
    let wanted = |case: &&Case| {
        (tools.family.is_empty() || tools.family.contains(&case.family))
            && (tools.filter.is_empty() || tools.filter.iter().any(|part| case.id.contains(part.as_str())))
            && tools.language.as_ref().is_none_or(|language| case.language.as_str().eq_ignore_ascii_case(language))
    };
    let chosen: Vec<Case> = suite.cases.iter().filter(wanted).cloned().collect();
    if chosen.is_empty() {
        return Err(Failure::mistake("no case matches --filter, --family and --language")
            .hint("`tenpass cases list` shows all"));
    }
    Ok(chosen)
}

/// One configuration for each combination of strategies.
fn variants(context: &Context, tools: &Tools, spec: &ModelSpec, model: &Arc<dyn ChatModel>) -> Vec<Configuration> {
    let info = model.info();
    let choice = choose(&info.capabilities);
    let structures = if tools.structure.is_empty() { vec![choice.structure] } else { tools.structure.clone() };
    let selections = if tools.tools.is_empty() { vec![Selection::All] } else { tools.tools.clone() };
    let mut all = Vec::new();
    for structure in structures {
        for selection in &selections {
            let mut configuration = Configuration::new(Arc::clone(model));
            configuration.spec = spec.to_string();
            configuration.structure = structure;
            configuration.selection = *selection;
            configuration.options = sampling(tools, info);
            configuration.think = tools.think.map(Into::into);
            configuration.stream = !tools.no_stream;
            configuration.jobs = context.resolved.settings.jobs.unwrap_or_else(|| default_jobs(info));
            configuration.arguments = arguments(tools, &configuration, choice.reason);
            all.push(configuration);
        }
    }
    all
}

fn default_jobs(info: &ModelInfo) -> usize {
    match info.backend.as_str() {
        // Enough for a full batch: more would finish no sooner, only all at the end, and an
        // interrupt would find little that is finished.
        "embedded" => 160,
        "replay" => 64,
        _ => SERVER_JOBS,
    }
}

fn sampling(tools: &Tools, info: &ModelInfo) -> SamplingOptions {
    let mut options =
        SamplingOptions { max_tokens: tools.max_tokens.unwrap_or(MAX_TOKENS), ..SamplingOptions::default() };
    options.temperature = tools.temperature.unwrap_or(options.temperature);
    options.top_k = tools.top_k.unwrap_or(options.top_k);
    options.top_p = tools.top_p.unwrap_or(options.top_p);
    options.min_p = tools.min_p.unwrap_or(options.min_p);
    options.context = match info.backend.as_str() {
        "ollama" => Some(tools.ctx.unwrap_or(SERVER_CONTEXT.min(info.context.unwrap_or(SERVER_CONTEXT)))),
        _ => tools.ctx,
    };
    options
}

/// A number as typed: 0.3 and not 0.30000001192092896.
fn decimal(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, |value| json!(value))
}

/// What was typed and what was filled in, for the manifest.
fn arguments(tools: &Tools, configuration: &Configuration, reason: &str) -> Arguments {
    let options = &configuration.options;
    let values = [
        ("structure", json!(configuration.structure), !tools.structure.is_empty()),
        ("tools", json!(configuration.selection), !tools.tools.is_empty()),
        ("temperature", decimal(options.temperature), tools.temperature.is_some()),
        ("top_k", json!(options.top_k), tools.top_k.is_some()),
        ("top_p", decimal(options.top_p), tools.top_p.is_some()),
        ("min_p", decimal(options.min_p), tools.min_p.is_some()),
        ("max_tokens", json!(options.max_tokens), tools.max_tokens.is_some()),
        ("ctx", json!(options.context), tools.ctx.is_some()),
        ("think", json!(configuration.think), tools.think.is_some()),
        ("stream", json!(configuration.stream), tools.no_stream),
        ("jobs", json!(configuration.jobs), tools.jobs.is_some()),
        ("structure_reason", json!(reason), false),
    ];
    let part = |passed: bool| -> Map<String, Value> {
        let chosen = values
            .iter()
            .filter(|(name, _, typed)| *typed == passed && (*name != "structure_reason" || tools.structure.is_empty()));
        chosen.map(|(name, value, _)| ((*name).to_owned(), value.clone())).collect()
    };
    Arguments { passed: part(true), defaulted: part(false) }
}

/// Adds to each id what tells it from the others with the same model.
fn name_apart(configurations: &mut [Configuration]) {
    let structures = differs(configurations, |configuration| configuration.structure.as_str());
    let selections = differs(configurations, |configuration| configuration.selection.as_str());
    for configuration in configurations.iter_mut() {
        if structures {
            configuration.id.push_str(&format!(" {}", configuration.structure));
        }
        if selections {
            configuration.id.push_str(&format!(" {}", configuration.selection));
        }
    }
    // The same model typed twice is an A/A run: number the copies.
    let ids: Vec<String> = configurations.iter().map(|configuration| configuration.id.clone()).collect();
    for (index, configuration) in configurations.iter_mut().enumerate() {
        let before = ids[..index].iter().filter(|id| **id == ids[index]).count();
        if before > 0 {
            configuration.id.push_str(&format!(" #{}", before + 1));
        }
    }
}

/// Whether two configurations of one model differ in this.
fn differs(configurations: &[Configuration], of: impl Fn(&Configuration) -> &'static str) -> bool {
    configurations.iter().any(|a| configurations.iter().any(|b| a.spec == b.spec && of(a) != of(b)))
}

/// The configurations of a run that is to be resumed, with their models loaded again.
async fn stored_configurations(context: &Context, run: &Run, tools: &Tools) -> Result<Vec<Configuration>, Failure> {
    let mut models: Vec<(String, Option<u32>, Arc<dyn ChatModel>)> = Vec::new();
    let mut configurations = Vec::new();
    for record in &run.manifest().configurations {
        let asked = record.arguments.passed.get("ctx").and_then(Value::as_u64).map(|length| length as u32);
        let known = models.iter().find(|(spec, length, _)| *spec == record.spec && *length == asked);
        let model = if let Some((_, _, model)) = known {
            Arc::clone(model)
        } else {
            let spec: ModelSpec = record.spec.parse().map_err(Failure::mistake)?;
            let model = backend::model(context, &spec, asked).await?;
            models.push((record.spec.clone(), asked, Arc::clone(&model)));
            model
        };
        configurations.push(Configuration {
            id: record.id.clone(),
            spec: record.spec.clone(),
            model,
            structure: record.structure,
            selection: record.selection,
            options: record.options.clone(),
            think: record.think,
            stream: record.stream,
            jobs: if tools.jobs.is_some() {
                context.resolved.settings.jobs.unwrap_or(record.jobs)
            } else {
                record.jobs
            },
            arguments: record.arguments.clone(),
        });
    }
    Ok(configurations)
}

/// Prints the table and says how it ended.
fn report(context: &Context, tools: &Tools, outcome: &RunOutcome) -> Result<Exit, Failure> {
    let run = open_run(&context.runs(), &outcome.run)?;
    runs::print_summary(context, &run, &runs::Only::default(), tools.format)?;
    let place = shown(&outcome.directory);
    let elsewhere = context.runs_flag.as_ref().map(|dir| format!(" --runs-dir {}", dir.display())).unwrap_or_default();
    match outcome.state {
        RunState::Interrupted => {
            context.printer.note(&format!("{} of {} passes are kept in {place}", outcome.done, outcome.total));
            context.printer.note(&format!("go on with: tenpass bench tools --resume {}{elsewhere}", outcome.run));
            Ok(Exit::Interrupted)
        }
        _ if outcome.measured > 0 && outcome.invalid == outcome.measured => {
            context
                .printer
                .note(&format!("every pass was INVALID: nothing was measured; the faults are kept in {place}"));
            Ok(Exit::Backend)
        }
        _ if !outcome.stopped.is_empty() || outcome.done < outcome.total => {
            context.printer.note(&format!("{} of {} passes are kept in {place}", outcome.done, outcome.total));
            context
                .printer
                .note(&format!("try the rest again with: tenpass bench tools --resume {}{elsewhere}", outcome.run));
            Ok(Exit::Backend)
        }
        _ => {
            context.printer.note(&format!(
                "kept in {place}; look closer with: tenpass runs show {} --case ID --pass N{elsewhere}",
                outcome.run
            ));
            Ok(Exit::Yes)
        }
    }
}

/// A path relative to the working folder where that is shorter.
fn shown(path: &Path) -> String {
    let working = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&working).unwrap_or(path).display().to_string()
}

//! `tenpass bench tools` and `tenpass bench rounds`: the same measuring, other cases.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::Retrieval;
use tenpass_agent::Selection;
use tenpass_agent::prompt::Sections;
use tenpass_bench::cases::{Case, Suite};
use tenpass_bench::run::{Configuration, RunOptions, RunOutcome, RunPlan, execute};
use tenpass_bench::store::{Arguments, Run, RunState, open_run};
use tenpass_model::{ChatModel, ModelInfo, ModelSpec, SamplingOptions};
use tokio_util::sync::CancellationToken;

use super::{probe, runs};
use crate::args::bench::{Bench, Measure};
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
    let measure = command.measure();
    let mut flags = Vec::new();
    if let Some(passes) = measure.passes {
        flags.push(("bench.passes", passes.to_string()));
    }
    if let Some(jobs) = measure.jobs {
        flags.push(("bench.jobs", jobs.to_string()));
    }
    if let Some(timeout) = measure.timeout {
        flags.push(("bench.timeout", format!("{}ms", timeout.as_millis())));
    }
    flags
}

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Bench) -> Result<Exit, Failure> {
    let cancel = CancellationToken::new();
    stop_on_interrupt(cancel.clone(), context.printer);
    let work = carry_out(context, &command, cancel.clone());
    // Loading a model cannot be cancelled from within; a run ends itself.
    let outcome = tokio::select! {
        biased;
        result = work => result?,
        () = give_up(&cancel) => return Ok(Exit::Interrupted),
    };
    report(context, &command, &outcome)
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

async fn carry_out(context: &Context, command: &Bench, cancel: CancellationToken) -> Result<RunOutcome, Failure> {
    let store = context.runs();
    let measure = command.measure();
    let resumed = measure.resume.as_deref().map(|query| open_run(&store, query)).transpose()?;
    let mut plan = match &resumed {
        Some(run) => {
            let bench = &run.manifest().bench;
            if bench != command.name() {
                return Err(Failure::mistake(format!("{} is a run of bench {bench}", run.id()))
                    .hint(format!("tenpass bench {bench} --resume {}", run.id())));
            }
            RunPlan::of_run(run, stored_configurations(context, run, measure).await?)
        }
        None => new_plan(context, command).await?,
    };
    if measure.timeout.is_some() || resumed.is_none() {
        plan.timeout = context.resolved.settings.timeout;
    }
    let mut options = RunOptions::new(&store);
    options.resume = resumed.as_ref().map(|run| run.id().to_owned());
    options.warm_up = measure.warm_up;
    let batches = plan.configurations.iter().all(|configuration| configuration.model.info().backend == "embedded");
    options.cases_per_turn = if batches { CASES_PER_TURN } else { 1 };
    let progress = RunProgress::new(context.printer);
    Ok(execute(plan, options, &progress, cancel).await?)
}

async fn new_plan(context: &Context, command: &Bench) -> Result<RunPlan, Failure> {
    let measure = command.measure();
    let suite = match command {
        Bench::Tools(_) => context.suite(measure.cases.as_deref())?,
        Bench::Rounds(_) => context.rounds_suite(measure.cases.as_deref())?,
    };
    let cases = chosen_cases(&suite, measure)?;
    let specs = if measure.models.is_empty() {
        vec![context.resolved.settings.model.parse::<ModelSpec>().map_err(Failure::mistake)?]
    } else {
        measure.models.clone()
    };
    let mut configurations = Vec::new();
    for spec in &specs {
        let model = backend::model(context, spec, measure.ctx).await?;
        if let Bench::Rounds(rounds) = command
            && rounds.probe
        {
            probe::probe(context, &model).await?;
        }
        configurations.extend(variants(context, command, spec, &model));
    }
    name_apart(&mut configurations);
    let mut plan = RunPlan::new(cases, suite.digest, configurations);
    command.name().clone_into(&mut plan.bench);
    plan.passes = context.resolved.settings.passes;
    plan.seed = measure.seed.unwrap_or_else(drawn_seed);
    plan.partition = measure.partition;
    Ok(plan)
}

/// A seed from the clock and the process: recorded in the manifest, so every run can be repeated.
pub(crate) fn drawn_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // 53 bits survive every JSON reader.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40)) >> 11
}

fn chosen_cases(suite: &Suite, measure: &Measure) -> Result<Vec<Case>, Failure> {
    let families: std::collections::BTreeSet<&str> = suite.cases.iter().map(|case| case.family.as_str()).collect();
    if let Some(unknown) = measure.family.iter().find(|family| !families.contains(family.as_str())) {
        let all = families.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::mistake(format!("no family `{unknown}`")).hint(format!("there are: {all}")));
    }
    let wanted = |case: &&Case| {
        (measure.family.is_empty() || measure.family.contains(&case.family))
            && (measure.filter.is_empty() || measure.filter.iter().any(|part| case.id.contains(part.as_str())))
            && measure.language.as_ref().is_none_or(|language| case.language.as_str().eq_ignore_ascii_case(language))
    };
    let chosen: Vec<Case> = suite.cases.iter().filter(wanted).cloned().collect();
    if chosen.is_empty() {
        return Err(Failure::mistake("no case matches --filter, --family and --language")
            .hint("`tenpass cases list` shows those of bench tools"));
    }
    Ok(chosen)
}

/// One configuration for each combination of strategies.
fn variants(context: &Context, command: &Bench, spec: &ModelSpec, model: &Arc<dyn ChatModel>) -> Vec<Configuration> {
    let measure = command.measure();
    let info = model.info();
    let (chosen, reason) = probe::structure_for(context, info);
    let structures = if measure.structure.is_empty() { vec![chosen] } else { measure.structure.clone() };
    let selections = if measure.tools.is_empty() { vec![Selection::All] } else { measure.tools.clone() };
    let (memories, prompts) = match command {
        Bench::Rounds(rounds) => (rounds.memory.clone(), rounds.prompt.clone()),
        Bench::Tools(_) => (Vec::new(), Vec::new()),
    };
    let memories = if memories.is_empty() { vec![Retrieval::default()] } else { memories };
    let prompts = if prompts.is_empty() { vec![Sections::default()] } else { prompts };
    let mut all = Vec::new();
    for structure in structures {
        for selection in &selections {
            for memory in &memories {
                for sections in &prompts {
                    let mut configuration = Configuration::new(Arc::clone(model));
                    configuration.spec = spec.to_string();
                    configuration.structure = structure;
                    configuration.selection = *selection;
                    configuration.memory = *memory;
                    configuration.sections = *sections;
                    configuration.options = sampling(measure, info);
                    configuration.think = measure.think.map(Into::into);
                    configuration.stream = !measure.no_stream;
                    configuration.jobs = context.resolved.settings.jobs.unwrap_or_else(|| default_jobs(command, info));
                    configuration.arguments = arguments(command, &configuration, &reason);
                    all.push(configuration);
                }
            }
        }
    }
    all
}

fn default_jobs(command: &Bench, info: &ModelInfo) -> usize {
    match (info.backend.as_str(), command) {
        // Enough for a full batch: more would finish no sooner, only all at the end, and an
        // interrupt would find little that is finished.
        ("embedded", Bench::Tools(_)) => 160,
        // Whole scenarios: each has one request in the batch at a time, and a world on disk.
        ("embedded", Bench::Rounds(_)) => 48,
        ("replay", _) => 64,
        _ => SERVER_JOBS,
    }
}

fn sampling(measure: &Measure, info: &ModelInfo) -> SamplingOptions {
    let mut options =
        SamplingOptions { max_tokens: measure.max_tokens.unwrap_or(MAX_TOKENS), ..SamplingOptions::default() };
    options.temperature = measure.temperature.unwrap_or(options.temperature);
    options.top_k = measure.top_k.unwrap_or(options.top_k);
    options.top_p = measure.top_p.unwrap_or(options.top_p);
    options.min_p = measure.min_p.unwrap_or(options.min_p);
    options.context = match info.backend.as_str() {
        "ollama" => Some(measure.ctx.unwrap_or(SERVER_CONTEXT.min(info.context.unwrap_or(SERVER_CONTEXT)))),
        _ => measure.ctx,
    };
    options
}

/// A number as typed: 0.3 and not 0.30000001192092896.
fn decimal(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, |value| json!(value))
}

/// What was typed and what was filled in, for the manifest.
fn arguments(command: &Bench, configuration: &Configuration, reason: &str) -> Arguments {
    let measure = command.measure();
    let options = &configuration.options;
    let mut values = vec![
        ("structure", json!(configuration.structure), !measure.structure.is_empty()),
        ("tools", json!(configuration.selection), !measure.tools.is_empty()),
        ("temperature", decimal(options.temperature), measure.temperature.is_some()),
        ("top_k", json!(options.top_k), measure.top_k.is_some()),
        ("top_p", decimal(options.top_p), measure.top_p.is_some()),
        ("min_p", decimal(options.min_p), measure.min_p.is_some()),
        ("max_tokens", json!(options.max_tokens), measure.max_tokens.is_some()),
        ("ctx", json!(options.context), measure.ctx.is_some()),
        ("think", json!(configuration.think), measure.think.is_some()),
        ("stream", json!(configuration.stream), measure.no_stream),
        ("jobs", json!(configuration.jobs), measure.jobs.is_some()),
        ("structure_reason", json!(reason), false),
    ];
    if let Bench::Rounds(rounds) = command {
        values.push(("memory", json!(configuration.memory), !rounds.memory.is_empty()));
        values.push(("prompt", json!(configuration.sections), !rounds.prompt.is_empty()));
    }
    let part = |passed: bool| -> Map<String, Value> {
        let chosen = values.iter().filter(|(name, _, typed)| {
            *typed == passed && (*name != "structure_reason" || measure.structure.is_empty())
        });
        chosen.map(|(name, value, _)| ((*name).to_owned(), value.clone())).collect()
    };
    Arguments { passed: part(true), defaulted: part(false) }
}

/// Adds to each id what tells it from the others with the same model.
fn name_apart(configurations: &mut [Configuration]) {
    let structures = differs(configurations, |configuration| configuration.structure.as_str());
    let selections = differs(configurations, |configuration| configuration.selection.as_str());
    let memories = differs(configurations, |configuration| configuration.memory.as_str());
    let prompts = differs(configurations, |configuration| configuration.sections.to_string());
    for configuration in configurations.iter_mut() {
        if structures {
            configuration.id.push_str(&format!(" {}", configuration.structure));
        }
        if selections {
            configuration.id.push_str(&format!(" {}", configuration.selection));
        }
        if memories {
            configuration.id.push_str(&format!(" memory={}", configuration.memory));
        }
        if prompts {
            configuration.id.push_str(&format!(" prompt={}", configuration.sections));
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
fn differs<T: PartialEq>(configurations: &[Configuration], of: impl Fn(&Configuration) -> T) -> bool {
    configurations.iter().any(|a| configurations.iter().any(|b| a.spec == b.spec && of(a) != of(b)))
}

/// The configurations of a run that is to be resumed, with their models loaded again.
async fn stored_configurations(context: &Context, run: &Run, measure: &Measure) -> Result<Vec<Configuration>, Failure> {
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
            memory: record.memory,
            sections: record.sections,
            options: record.options.clone(),
            think: record.think,
            stream: record.stream,
            jobs: if measure.jobs.is_some() {
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
fn report(context: &Context, command: &Bench, outcome: &RunOutcome) -> Result<Exit, Failure> {
    let run = open_run(&context.runs(), &outcome.run)?;
    runs::print_summary(context, &run, &runs::Only::default(), command.measure().format)?;
    let place = shown(&outcome.directory);
    let elsewhere = context.runs_flag.as_ref().map(|dir| format!(" --runs-dir {}", dir.display())).unwrap_or_default();
    match outcome.state {
        RunState::Interrupted => {
            context.printer.note(&format!("{} of {} passes are kept in {place}", outcome.done, outcome.total));
            context.printer.note(&format!(
                "go on with: tenpass bench {} --resume {}{elsewhere}",
                command.name(),
                outcome.run
            ));
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
            context.printer.note(&format!(
                "try the rest again with: tenpass bench {} --resume {}{elsewhere}",
                command.name(),
                outcome.run
            ));
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

//! The configurations of a run: from what was typed, or from what a run stored.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::prompt::Sections;
use tenpass_agent::{Retrieval, Selection};
use tenpass_bench::run::Configuration;
use tenpass_bench::store::{Arguments, ConfigurationRecord, Run};
use tenpass_model::{ChatModel, ModelInfo, ModelSpec, SamplingOptions};

use crate::args::bench::{Bench, Measure};
use crate::backend;
use crate::commands::probe;
use crate::context::Context;
use crate::failure::Failure;

/// Most tokens of an answer unless told: a tool call or a short reply.
const MAX_TOKENS: u32 = 256;
/// Requests at the same time to a server, unless told.
const SERVER_JOBS: usize = 4;
/// Context that servers are asked for unless told (K9); a shorter model keeps its own.
const SERVER_CONTEXT: u32 = 32_768;

/// Those that were typed, one for each model and combination of strategies.
pub(super) async fn typed(context: &Context, command: &Bench) -> Result<Vec<Configuration>, Failure> {
    let measure = command.measure();
    let specs = if measure.models.is_empty() {
        vec![context.resolved.settings.model.parse::<ModelSpec>().map_err(Failure::mistake)?]
    } else {
        measure.models.clone()
    };
    let mut configurations: Vec<Configuration> = Vec::new();
    for spec in &specs {
        // The same model typed twice is in memory once.
        let loaded = configurations.iter().find(|one| one.spec == spec.to_string()).map(|one| Arc::clone(&one.model));
        let model = match loaded {
            Some(model) => model,
            None => backend::model(context, spec, measure.ctx).await?,
        };
        if let Bench::Rounds(rounds) = command
            && rounds.probe
        {
            probe::probe(context, &model).await?;
        }
        configurations.extend(variants(context, command, spec, &model));
    }
    name_apart(&mut configurations);
    Ok(configurations)
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
                    let jobs = context.resolved.settings.jobs.unwrap_or_else(|| default_jobs(command, info));
                    configuration.jobs = jobs * spec.endpoints();
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
            // With equal seeds they would give equal answers.
            configuration.salt = before as u32;
        }
    }
}

/// Whether two configurations of one model differ in this.
fn differs<T: PartialEq>(configurations: &[Configuration], of: impl Fn(&Configuration) -> T) -> bool {
    configurations.iter().any(|a| configurations.iter().any(|b| a.spec == b.spec && of(a) != of(b)))
}

/// Those of a run that is to be resumed, with their models loaded again.
pub(super) async fn stored(context: &Context, run: &Run) -> Result<Vec<Configuration>, Failure> {
    let mut models = Models::default();
    let mut configurations = Vec::new();
    for record in &run.manifest().configurations {
        configurations.push(restored(context, record, &mut models).await?);
    }
    Ok(configurations)
}

/// Models that were loaded, by their SPEC and the context that was asked for.
#[derive(Default)]
pub(super) struct Models(Vec<(String, Option<u32>, Arc<dyn ChatModel>)>);

impl Models {
    /// Those of configurations that stand already.
    pub(super) fn of(configurations: &[Configuration], context: Option<u32>) -> Self {
        Self(configurations.iter().map(|one| (one.spec.clone(), context, Arc::clone(&one.model))).collect())
    }

    async fn load(&mut self, context: &Context, record: &ConfigurationRecord) -> Result<Arc<dyn ChatModel>, Failure> {
        let asked = record.arguments.passed.get("ctx").and_then(Value::as_u64).map(|length| length as u32);
        let known = self.0.iter().find(|(spec, length, _)| *spec == record.spec && *length == asked);
        if let Some((_, _, model)) = known {
            return Ok(Arc::clone(model));
        }
        let spec: ModelSpec = record.spec.parse().map_err(Failure::mistake)?;
        let model = backend::model(context, &spec, asked).await?;
        self.0.push((record.spec.clone(), asked, Arc::clone(&model)));
        Ok(model)
    }
}

/// A configuration as a run stored it, with its model. Its cases are the run's.
pub(super) async fn restored(
    context: &Context,
    record: &ConfigurationRecord,
    models: &mut Models,
) -> Result<Configuration, Failure> {
    let model = models.load(context, record).await?;
    Ok(Configuration {
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
        salt: record.salt,
        cases: None,
        origin: record.origin.clone(),
        jobs: record.jobs,
        arguments: record.arguments.clone(),
    })
}

/// The same; a model that `loaded` has is not loaded twice.
pub(crate) async fn restored_beside(
    context: &Context,
    record: &ConfigurationRecord,
    loaded: Option<&Configuration>,
) -> Result<Configuration, Failure> {
    let asked = record.arguments.passed.get("ctx").and_then(Value::as_u64).map(|length| length as u32);
    let same = loaded.filter(|loaded| loaded.arguments.passed.get("ctx") == record.arguments.passed.get("ctx"));
    let mut models = Models::of(same.map(std::slice::from_ref).unwrap_or_default(), asked);
    restored(context, record, &mut models).await
}

/// As many passes at the same time as were typed, at each server.
pub(super) fn apply_jobs(context: &Context, measure: &Measure, configurations: &mut [Configuration]) {
    let Some(jobs) = context.resolved.settings.jobs.filter(|_| measure.jobs.is_some()) else { return };
    for configuration in configurations {
        configuration.jobs = jobs * configuration.spec.parse().map_or(1, |spec: ModelSpec| spec.endpoints());
    }
}

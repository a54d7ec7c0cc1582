//! What is measured: the suite, the cases chosen from it, and the baseline beside it.

use std::collections::BTreeSet;

use tenpass_bench::cases::{Case, Suite};
use tenpass_bench::run::{Beside, Configuration, RunPlan};
use tenpass_bench::store::{Comparing, ConfigurationRecord, Origin, Run};
use tenpass_review::{check_plan, early_stop, find, the_configuration};

use super::configurations::{self, Models};
use crate::args::bench::{Bench, Measure};
use crate::args::review::Comparing as Typed;
use crate::context::Context;
use crate::failure::Failure;

/// What the id of a configuration begins with that is measured again.
const BASELINE: &str = "baseline ";

/// The plan of what was typed.
pub(super) async fn new(context: &Context, command: &Bench) -> Result<RunPlan, Failure> {
    let measure = command.measure();
    let suite = match command {
        Bench::Tools(_) => context.tools_suite(measure.cases.as_deref())?,
        Bench::Rounds(_) => context.rounds_suite(measure.cases.as_deref())?,
    };
    check_families(&suite, measure)?;
    // Before any model is loaded: a mistake in it is said at once.
    let before = match &measure.against {
        Some(query) => Some(Before::find(context, query, command.name())?),
        None => None,
    };
    let configurations = configurations::typed(context, command).await?;
    let mut plan = match before {
        Some(before) => beside(context, measure, &suite, before, configurations).await?,
        None => RunPlan::new(chosen_cases(&suite, measure)?, suite.digest, configurations),
    };
    command.name().clone_into(&mut plan.bench);
    plan.passes = context.resolved.settings.passes;
    plan.seed = measure.seed.unwrap_or_else(super::drawn_seed);
    plan.partition = measure.partition;
    plan.timeout = context.resolved.settings.timeout;
    if let Some(against) = &plan.against {
        check_plan(&plan)?;
        against.sentences().iter().for_each(|sentence| context.printer.note(sentence));
    }
    if measure.early_stop {
        plan.early_stop = Some(early_stop(&plan)?);
    }
    Ok(plan)
}

/// The run and the configuration that others are measured against.
struct Before {
    run: Run,
    record: ConfigurationRecord,
}

impl Before {
    fn find(context: &Context, query: &str, bench: &str) -> Result<Self, Failure> {
        let (run, named) = find(&context.runs(), query, Some(bench))?;
        let id = the_configuration(&run, named.as_deref())?;
        let record = run.manifest().configurations.iter().find(|record| record.id == id).cloned();
        let record = record.ok_or_else(|| Failure::bug(format!("{} has no configuration {id}", run.id())))?;
        Ok(Self { run, record })
    }
}

/// The plan in which the baseline is measured afresh beside the candidates.
async fn beside(
    context: &Context,
    measure: &Measure,
    suite: &Suite,
    before: Before,
    mut candidates: Vec<Configuration>,
) -> Result<RunPlan, Failure> {
    let Before { run, record } = before;
    let beside = Beside::new(
        &run.cases_of(&record.id)?,
        &suite.cases,
        |case| wanted(measure, case),
        comparing(&measure.comparing),
    );
    if beside.cases.is_empty() {
        return Err(Failure::mistake(format!("run {} has none of these cases", run.id()))
            .hint("choose others with --filter and --family, or bless a run that has them"));
    }
    let mut models = Models::of(&candidates, measure.ctx);
    let mut baseline = configurations::restored(context, &record, &mut models).await?;
    same_model(&record, &baseline, measure)?;
    baseline.id = format!("{BASELINE}{}", record.id.trim_start_matches(BASELINE));
    baseline.origin = Some(Origin { run: run.id().to_owned(), configuration: record.id.clone() });
    baseline.cases = beside.baseline_cases;
    baseline.salt = 0;
    let backend = baseline.model.info().backend.clone();
    if let Some(like) = candidates.iter().find(|candidate| candidate.model.info().backend == backend) {
        // Latencies are compared too: equal company for equal servers.
        baseline.jobs = like.jobs;
    }
    for candidate in &mut candidates {
        if asks_the_same(&baseline, candidate) {
            // An A/A run: with equal seeds the answers would be equal, which shows nothing.
            candidate.salt += 1;
        }
    }
    candidates.insert(0, baseline);
    let mut plan = RunPlan::new(beside.cases, suite.digest.clone(), candidates);
    plan.against = Some(beside.against);
    Ok(plan)
}

/// A baseline whose model was replaced is another baseline.
fn same_model(record: &ConfigurationRecord, now: &Configuration, measure: &Measure) -> Result<(), Failure> {
    let (before, now) = (&record.model.digest, &now.model.info().digest);
    let replaced = before.as_ref().zip(now.as_ref()).is_some_and(|(before, now)| before != now);
    let allowed = measure.comparing.allow.iter().any(|name| name == "model" || name == "all");
    if !replaced || allowed {
        return Ok(());
    }
    let digest = |digest: &Option<String>| digest.clone().unwrap_or_default();
    Err(Failure::mistake(format!(
        "{} is no longer the model that the baseline was measured on: {} then, {} now",
        record.spec,
        digest(before),
        digest(now)
    ))
    .hint("bless a run of today's model, or measure the old settings on the new model with --allow model"))
}

/// Whether two configurations send the same requests to the same model.
fn asks_the_same(one: &Configuration, other: &Configuration) -> bool {
    let bare = |configuration: &Configuration| {
        let record = configuration.record();
        (record.model, record.structure, record.selection, record.memory, record.sections, record.options, record.think)
    };
    one.cases.is_none() && bare(one) == bare(other)
}

/// What the comparison is told, for the manifest.
pub(crate) fn comparing(typed: &Typed) -> Comparing {
    Comparing {
        targets: typed.targets.clone(),
        guards: typed.guards.clone(),
        delta: typed.delta,
        allow: typed.allow.clone(),
    }
}

fn check_families(suite: &Suite, measure: &Measure) -> Result<(), Failure> {
    let families: BTreeSet<&str> = suite.cases.iter().map(|case| case.family.as_str()).collect();
    if let Some(unknown) = measure.family.iter().find(|family| !families.contains(family.as_str())) {
        let all = families.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::mistake(format!("no family `{unknown}`")).hint(format!("there are: {all}")));
    }
    Ok(())
}

fn wanted(measure: &Measure, case: &Case) -> bool {
    (measure.family.is_empty() || measure.family.contains(&case.family))
        && (measure.filter.is_empty() || measure.filter.iter().any(|part| case.id.contains(part.as_str())))
        && measure.language.as_ref().is_none_or(|language| case.language.as_str().eq_ignore_ascii_case(language))
}

fn chosen_cases(suite: &Suite, measure: &Measure) -> Result<Vec<Case>, Failure> {
    let chosen: Vec<Case> = suite.cases.iter().filter(|case| wanted(measure, case)).cloned().collect();
    if chosen.is_empty() {
        return Err(Failure::mistake("no case matches --filter, --family and --language")
            .hint("`tenpass cases list` shows those of bench tools"));
    }
    Ok(chosen)
}

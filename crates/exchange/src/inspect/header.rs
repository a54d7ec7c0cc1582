//! The log around the samples: what was measured, with what, and what came out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tenpass_bench::run::GRADER_VERSION;
use tenpass_bench::store::{Manifest, OutcomeRecord, PassRecord, RunState, Session};
use tenpass_model::Usage;

use super::ids::id;
use super::sample::LogContext;
use super::shape::{self, Members};
use super::time::written;
use super::{OWN, SCORER};

/// Version of the log format.
pub(crate) const LOG_VERSION: u64 = 2;

/// What the passes come to, gathered one by one, case by case.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Id, right answers and answers of each case that was met, in the order of the passes.
    cases: Vec<(String, u64, u64)>,
    samples: u64,
    errors: u64,
    classes: BTreeMap<String, u64>,
    usage: Usage,
}

impl Tally {
    pub(crate) fn add(&mut self, pass: &PassRecord, outcome: Option<&OutcomeRecord>) {
        if self.cases.last().is_none_or(|(id, _, _)| *id != pass.case) {
            self.cases.push((pass.case.clone(), 0, 0));
        }
        self.samples += 1;
        let success = outcome.and_then(|outcome| outcome.success);
        if let (Some(success), Some((_, right, answers))) = (success, self.cases.last_mut()) {
            *answers += 1;
            *right += u64::from(success);
        }
        self.errors += u64::from(pass.fault.is_some() || (outcome.is_some() && success.is_none()));
        if let Some(class) = outcome.and_then(|outcome| outcome.class) {
            *self.classes.entry(class.to_string()).or_insert(0) += 1;
        }
        let sum = |all: &mut Option<u64>, one: Option<u64>| *all = all.map_or(one, |all| Some(all + one.unwrap_or(0)));
        if shape::usage(pass.usage).is_some() {
            sum(&mut self.usage.prompt_tokens, pass.usage.prompt_tokens);
            sum(&mut self.usage.cached_tokens, pass.usage.cached_tokens);
            sum(&mut self.usage.completion_tokens, pass.usage.completion_tokens);
        }
    }

    /// Samples written.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// The share of right answers of each case with an answer.
    fn means(&self) -> impl Iterator<Item = (&str, f64)> {
        let answered = self.cases.iter().filter(|(_, _, answers)| *answers > 0);
        answered.map(|(id, right, answers)| (id.as_str(), *right as f64 / *answers as f64))
    }

    /// `reductions.json`: the mean over the epochs of each sample.
    pub(crate) fn reductions(&self) -> Value {
        let samples = self.means().map(|(id, mean)| json!({ "value": mean, "history": [], "sample_id": id }));
        json!([{ "scorer": SCORER, "reducer": "mean", "samples": samples.collect::<Vec<_>>() }])
    }

    /// `results`: accuracy and its standard error over the cases, as Inspect computes them.
    fn results(&self, planned: u64) -> Value {
        let means: Vec<f64> = self.means().map(|(_, mean)| mean).collect();
        let (accuracy, error) = mean_and_error(&means);
        let metric = |name: &str, value: f64| json!({ "name": name, "value": value, "params": {} });
        json!({
            "total_samples": planned,
            "completed_samples": self.samples - self.errors,
            "scores": [{
                "name": SCORER, "scorer": SCORER, "reducer": "mean",
                "scored_samples": means.len(), "unscored_samples": self.cases.len() - means.len(), "params": {},
                "metrics": { "accuracy": metric("accuracy", accuracy), "stderr": metric("stderr", error) },
                "metadata": { "invalid": self.errors, "classes": self.classes },
            }],
        })
    }
}

/// The mean, and the sample standard deviation over the root of their number; 0 for fewer than two.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt() / count.sqrt())
}

/// `eval` and `plan`: known before the first sample.
pub(crate) struct Start {
    pub(crate) eval: Value,
    pub(crate) plan: Value,
}

/// What was measured with this configuration.
pub(crate) fn start(log: &LogContext<'_>, manifest: &Manifest, case_ids: &[&str]) -> Start {
    let configuration = log.configuration;
    let first = manifest.sessions.first();
    let created = written(manifest.started(), 0.0).unwrap_or_else(|| "1970-01-01T00:00:00+00:00".to_owned());
    let mut config = Members::default();
    config.put("epochs", manifest.passes);
    config.put("epochs_reducer", json!(["mean"]));
    config.put("fail_on_error", false);
    config.maybe("time_limit", manifest.timeout_ms.is_multiple_of(1000).then_some(manifest.timeout_ms / 1000));
    config.put("max_samples", configuration.jobs);
    config.put("log_samples", true);
    let mut eval = Members::default();
    eval.put("eval_id", id(&["eval", log.run, &configuration.id]));
    eval.put("run_id", id(&["run", log.run]));
    eval.put("created", created);
    eval.put("task", manifest.bench.as_str());
    eval.put("task_id", task_id(log));
    eval.put("task_version", 0);
    eval.put("task_display_name", format!("{} {}", manifest.bench, configuration.id));
    eval.put("task_attribs", json!({}));
    let passed = &configuration.arguments.passed;
    let mut all = configuration.arguments.defaulted.clone();
    all.extend(passed.clone());
    eval.put("task_args", all);
    eval.put("task_args_passed", passed.clone());
    eval.put(
        "dataset",
        json!({
            "name": manifest.bench, "samples": case_ids.len(), "sample_ids": case_ids, "shuffled": false,
        }),
    );
    eval.put("model", log.model.as_str());
    eval.put("model_generate_config", json!({}));
    eval.put("model_args", json!({}));
    eval.put("config", config.take());
    let git = first.and_then(|session| session.git.as_ref());
    // Where the repository came from is not recorded; the field must be there.
    let revision = git.map(|git| json!({ "type": "git", "origin": "", "commit": git.revision, "dirty": git.dirty }));
    eval.maybe("revision", revision);
    eval.put("packages", packages(first, configuration.model.runtime.as_deref()));
    eval.put("metadata", json!({ OWN: own(log, manifest) }));
    let metrics = json!([{ "name": "inspect_ai/accuracy" }, { "name": "inspect_ai/stderr" }]);
    eval.put("scorers", json!([{ "name": SCORER, "options": { "grader": manifest.grader }, "metrics": metrics }]));
    let step = json!({
        "structure": configuration.structure.to_string(), "selection": configuration.selection.to_string(),
        "stream": configuration.stream,
    });
    let plan = json!({
        "name": "plan",
        "steps": [{ "solver": "generate", "params": step, "params_passed": {} }],
        "config": shape::generate_config(&configuration.options, configuration.think).take(),
    });
    Start { eval: eval.take(), plan }
}

/// The task's id, which is also the end of the file's name.
pub(crate) fn task_id(log: &LogContext<'_>) -> String {
    id(&["task", log.run, &log.configuration.id])
}

fn packages(session: Option<&Session>, runtime: Option<&str>) -> Map<String, Value> {
    let mut packages = Map::new();
    packages.extend(session.map(|session| ("tenpass".to_owned(), Value::from(session.program.as_str()))));
    packages.extend(runtime.map(|runtime| ("runtime".to_owned(), Value::from(runtime))));
    packages
}

/// The manifest with this configuration only.
fn own(log: &LogContext<'_>, manifest: &Manifest) -> Value {
    let alone = Manifest { configurations: vec![log.configuration.clone()], ..manifest.clone() };
    let all: Vec<&str> = manifest.configurations.iter().map(|one| one.id.as_str()).collect();
    // By way of text, for the decimal form of its floats.
    let text = serde_json::to_string(&alone).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    json!({ "format": FORMAT, "grader": GRADER_VERSION, "manifest": manifest, "configurations": all })
}

/// Version of what this program adds to a log.
pub(crate) const FORMAT: u64 = 1;

/// `header.json`: the whole log without samples and reductions.
pub(crate) fn header(start: Start, log: &LogContext<'_>, manifest: &Manifest, tally: &Tally) -> Value {
    let planned = manifest.cases * u64::from(manifest.passes);
    let mut stats = Members::default();
    stats.put("started_at", written(manifest.started(), 0.0).unwrap_or_default());
    stats.put("completed_at", manifest.finished().and_then(|at| written(at, 0.0)).unwrap_or_default());
    let mut usage = Map::new();
    usage.extend(shape::usage(tally.usage).map(|usage| (log.model.clone(), usage)));
    stats.put("model_usage", usage);
    stats.put("role_usage", json!({}));
    let (status, error) = status(log, manifest);
    let mut header = Members::default();
    header.put("version", LOG_VERSION);
    header.put("status", status);
    header.put("eval", start.eval);
    header.put("plan", start.plan);
    header.put("results", tally.results(planned));
    header.put("stats", stats.take());
    header.maybe("error", error.map(|error| json!({ "message": error, "traceback": error, "traceback_ansi": error })));
    header.put("invalidated", false);
    header.take()
}

/// How the run ended; a configuration that was given up failed, whatever became of the others.
fn status(log: &LogContext<'_>, manifest: &Manifest) -> (&'static str, Option<String>) {
    let stopped = manifest
        .sessions
        .last()
        .and_then(|session| session.stopped.iter().find(|stopped| stopped.configuration == log.configuration.id));
    match (manifest.state(), stopped) {
        (_, Some(stopped)) => ("error", Some(stopped.error.clone())),
        (RunState::Complete, None) => ("success", None),
        (RunState::Interrupted, None) => ("cancelled", None),
        (RunState::Running, None) => ("started", None),
        (RunState::Failed, None) => ("error", Some("the run failed".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_and_error_agree_with_numpy() {
        // v = [0.3, 1.0, 0.75, 0.0]; numpy.mean(v), numpy.std(v, ddof=1) / 2
        let (mean, error) = mean_and_error(&[0.3, 1.0, 0.75, 0.0]);
        assert!((mean - 0.5125).abs() < 1e-12, "{mean}");
        assert!((error - 0.223_955_910_839_611_44).abs() < 1e-12, "{error}");
        assert_eq!(mean_and_error(&[]), (0.0, 0.0));
        assert_eq!(mean_and_error(&[0.4]), (0.4, 0.0));
    }
}

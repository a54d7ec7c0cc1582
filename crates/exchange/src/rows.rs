//! A run as a table with a row a pass: for spreadsheets, pandas and polars.

use std::collections::HashMap;

use serde::Serialize;
use tenpass_bench::cases::Case;
use tenpass_bench::store::{ConfigurationRecord, PassDetail, PassFilter, Run};

use crate::ExchangeError;

/// One pass. Columns without a value are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The run.
    pub run: String,
    /// The configuration.
    pub configuration: String,
    /// The case.
    pub case: String,
    /// Its family.
    pub family: String,
    /// Its language.
    pub language: String,
    /// `target` or `guard`.
    pub kind: String,
    /// Which pass, counted from 1.
    pub pass: u32,
    /// Which attempt gave the result.
    pub attempt: u32,
    /// Whether the answer is right; empty when INVALID or not graded.
    pub success: Option<bool>,
    /// The main thing wrong with it.
    pub class: Option<String>,
    /// Everything wrong with it, by commas.
    pub classes: String,
    /// The grader's reasons, by line ends.
    pub reasons: String,
    /// Whether a call had to be recovered from the text.
    pub recovered: bool,
    /// `answered`, `timeout` or `fault`.
    pub end: String,
    /// Why the answer ended.
    pub finish: Option<String>,
    /// The fault, in words.
    pub fault: Option<String>,
    /// Begun before the configuration had answered anything in its process.
    pub cold: bool,
    /// Its seed.
    pub seed: u64,
    /// When it began, UTC.
    pub started: String,
    /// Milliseconds to the first token.
    pub first_token_ms: Option<f64>,
    /// Milliseconds to the first call.
    pub first_call_ms: Option<f64>,
    /// Milliseconds to the last piece of text.
    pub text_end_ms: Option<f64>,
    /// Milliseconds to the end.
    pub total_ms: f64,
    /// The backend's own: loading the model.
    pub load_ms: Option<f64>,
    /// The backend's own: evaluating the prompt.
    pub prompt_ms: Option<f64>,
    /// The backend's own: decoding the answer.
    pub decode_ms: Option<f64>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Those from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
    /// sha256 of the request.
    pub request: String,
    /// The calls as parsed, a JSON list of `{"name", "arguments", "recovered", "shape"}`.
    pub calls: String,
    /// The raw text.
    pub text: String,
    /// The raw reasoning.
    pub thinking: String,
}

/// Hands every pass to `each`, in the order of configurations, cases and passes.
pub fn each(
    run: &Run,
    configuration: Option<&str>,
    mut each: impl FnMut(Row) -> Result<(), ExchangeError>,
) -> Result<u64, ExchangeError> {
    let mut count = 0;
    let wanted = |record: &&ConfigurationRecord| configuration.is_none_or(|wanted| wanted == record.id);
    for record in run.manifest().configurations.iter().filter(wanted) {
        let cases = run.cases_of(&record.id)?;
        let filter = PassFilter { configuration: Some(record.id.clone()), ..PassFilter::default() };
        let cases: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
        for detail in run.passes(&filter)? {
            let detail = detail?;
            let Some(case) = cases.get(detail.pass.case.as_str()) else { continue };
            each(row(run, case, detail))?;
            count += 1;
        }
    }
    Ok(count)
}

/// The stored name of a value that is stored as a text.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn row(run: &Run, case: &Case, detail: PassDetail) -> Row {
    let PassDetail { pass, outcome } = detail;
    let calls = outcome.as_ref().map(|outcome| outcome.calls.as_slice()).unwrap_or_default();
    let calls = serde_json::to_string(calls).unwrap_or_default();
    let classes = outcome.iter().flat_map(|outcome| &outcome.classes).map(|class| class.as_str());
    let first_call_ms = outcome.as_ref().and_then(|outcome| outcome.first_call_ms);
    Row {
        run: run.id().to_owned(),
        configuration: pass.configuration,
        case: pass.case,
        family: case.family.clone(),
        language: case.language.to_string(),
        kind: case.kind.to_string(),
        pass: pass.pass,
        attempt: pass.attempt,
        success: outcome.as_ref().and_then(|outcome| outcome.success),
        class: outcome.as_ref().and_then(|outcome| outcome.class).map(|class| class.to_string()),
        classes: classes.collect::<Vec<_>>().join(","),
        reasons: outcome.as_ref().map(|outcome| outcome.reasons.join("\n")).unwrap_or_default(),
        recovered: outcome.as_ref().is_some_and(|outcome| outcome.recovered),
        end: name(pass.end),
        finish: pass.finish.map(name),
        fault: pass.fault.map(|fault| fault.message),
        cold: pass.cold,
        seed: pass.seed,
        started: pass.started,
        first_token_ms: pass.timings.first_token_ms,
        first_call_ms: first_call_ms.or(pass.timings.first_call_ms),
        text_end_ms: pass.timings.text_end_ms,
        total_ms: pass.timings.total_ms,
        load_ms: pass.timings.load_ms,
        prompt_ms: pass.timings.prompt_ms,
        decode_ms: pass.timings.decode_ms,
        prompt_tokens: pass.usage.prompt_tokens,
        cached_tokens: pass.usage.cached_tokens,
        completion_tokens: pass.usage.completion_tokens,
        request: pass.request,
        calls,
        text: pass.text,
        thinking: pass.thinking,
    }
}

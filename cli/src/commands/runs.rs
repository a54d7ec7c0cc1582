//! `tenpass runs …`.

use std::collections::HashMap;

use serde_json::json;
use tenpass_bench::cases::Case;
use tenpass_bench::store::{ConfigurationRecord, Index, Manifest, PassDetail, PassFilter, PassRow, Run, regrade};
use tenpass_report::{
    ConfigurationFacts, PassView, RunFacts, RunSummary, Style, Summariser, render_csv, render_json, render_table,
};
use tenpass_review::{find, find_run, run_notes};
use tenpass_trace::FailureClass;

use super::{bless, exchange, runs_gc, runs_list, runs_merge};
use crate::args::Format;
use crate::args::tools::Runs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Configuration and case by position, and the pass.
type Place = (usize, usize, u32);

/// Which part of a run to show.
#[derive(Debug, Default)]
pub(crate) struct Only {
    pub(crate) case: Option<String>,
    pub(crate) configuration: Option<String>,
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Runs) -> Result<Exit, Failure> {
    let store = context.runs();
    match command {
        Runs::List { format } => runs_list::list(context, format.format),
        Runs::Show { run, case, pass, configuration, format } => {
            let (found, named) = find(&store, run, None)?;
            // `baseline` has a configuration of its own; without /ID the whole run is shown.
            let named = named.filter(|_| run.contains('/'));
            let (run, configuration) = (found, configuration.clone().or(named));
            check_names(&run, case.as_deref(), configuration.as_deref())?;
            let only = Only { case: case.clone(), configuration };
            if let Some(pass) = pass {
                show_pass(context, &run, &only, *pass, *format)
            } else {
                print_summary(context, &run, &only, *format)?;
                Ok(Exit::Yes)
            }
        }
        Runs::Regrade { run, current_cases, path, format } => {
            let run = find_run(&store, run)?;
            let suite = if *current_cases { Some(context.suite(path.cases.as_deref())?) } else { None };
            let report = regrade(&run, suite.as_ref().map(|suite| suite.cases.as_slice()))?;
            if format.format != Format::Table {
                match format.format {
                    Format::Json => context.printer.json(&report)?,
                    format => runs_list::export_changes(context, format, &report)?,
                }
                return Ok(Exit::Yes);
            }
            for change in &report.changes {
                let word = |success: Option<bool>| match success {
                    Some(true) => "right",
                    Some(false) => "wrong",
                    None => "INVALID",
                };
                let before = change.before.as_ref().map_or("ungraded", |verdict| word(verdict.success));
                let after = word(change.after.success);
                let class = change.after.class.map(|class| format!(" ({class})")).unwrap_or_default();
                context.printer.out(&format!(
                    "{} {} pass {}: {before} → {after}{class}",
                    change.case, change.configuration, change.pass
                ));
            }
            context.printer.out(&format!(
                "{}: {} graded, {} changed: {} now right, {} now wrong; {} kept as they were",
                run.id(),
                report.graded,
                report.changed,
                report.gained,
                report.lost,
                report.kept
            ));
            Ok(Exit::Yes)
        }
        Runs::Bless { run, configuration, incomplete, format, .. } => match run {
            Some(query) => bless::bless(context, query, configuration.as_deref(), *incomplete),
            None => bless::show(context, *format),
        },
        Runs::Export { run, format, out, configuration } => {
            let (found, named) = find(&store, run, None)?;
            let named = named.filter(|_| run.contains('/'));
            let configuration = configuration.clone().or(named);
            check_names(&found, None, configuration.as_deref())?;
            exchange::export(context, &found, configuration.as_deref(), *format, out)
        }
        Runs::Import { format, file, right_from, again } => {
            exchange::import(context, *format, file, *right_from, *again)
        }
        Runs::Gc { older_than, keep, yes, format } => runs_gc::run(context, *older_than, *keep, *yes, *format),
        Runs::Merge { runs, from, format } => runs_merge::run(context, runs, from, *format),
    }
}

fn check_names(run: &Run, case: Option<&str>, configuration: Option<&str>) -> Result<(), Failure> {
    if let Some(case) = case {
        run.case(case)?;
    }
    let Some(wanted) = configuration else { return Ok(()) };
    let ids: Vec<&str> = run.manifest().configurations.iter().map(|configuration| configuration.id.as_str()).collect();
    if ids.contains(&wanted) {
        return Ok(());
    }
    Err(Failure::mistake(format!("{} has no configuration `{wanted}`", run.id()))
        .hint(format!("it has: {}", ids.join(", "))))
}

/// Prints a run's numbers.
pub(crate) fn print_summary(context: &Context, run: &Run, only: &Only, format: Format) -> Result<(), Failure> {
    let summary = summarise(run, only)?;
    let text = match format {
        Format::Json => render_json(&summary).map_err(Failure::bug)?,
        Format::Csv => render_csv(&summary).map_err(Failure::bug)?,
        Format::Parquet => {
            return runs_list::export_cases(context, format, &summary);
        }
        Format::Table => {
            let style = Style { width: context.printer.width(), color: context.printer.colored(), unicode: true };
            render_table(&summary, &style)
        }
    };
    context.printer.out(&text);
    Ok(())
}

/// A run's numbers as JSON.
pub(crate) fn summary_json(run: &Run, only: &Only) -> Result<String, Failure> {
    render_json(&summarise(run, only)?).map_err(Failure::bug)
}

/// A run's numbers from its index; texts are read for the examples only.
fn summarise(run: &Run, only: &Only) -> Result<RunSummary, Failure> {
    let manifest = run.manifest();
    let index = run.index()?;
    let cases = run.cases()?;
    let wanted = |id: &str| only.configuration.as_deref().is_none_or(|wanted| wanted == id);
    let configurations = manifest
        .configurations
        .iter()
        .filter(|configuration| wanted(&configuration.id))
        .map(|configuration| ConfigurationFacts {
            label: configuration.id.clone(),
            model: shown_model(configuration),
            structure: told(configuration, "structure", configuration.structure.to_string()),
            tools: told(
                configuration,
                "selection",
                format!("{}{}", configuration.selection, strategies(&configuration.id)),
            ),
            // Through its decimal form: 0.3 and not 0.30000001192092896.
            temperature: if is_told(configuration, "temperature") {
                configuration.options.temperature.to_string().parse().ok()
            } else {
                None
            },
            context_tokens: configuration.options.context.or(configuration.model.context).map(u64::from),
        })
        .collect();
    let filter =
        PassFilter { case: only.case.clone(), configuration: only.configuration.clone(), ..PassFilter::default() };
    let quotes = quotes(run, &index, &filter)?;
    let shown_cases = if only.case.is_some() { 1 } else { manifest.cases };
    let facts = RunFacts {
        title: format!("bench {}", manifest.bench),
        run: Some(manifest.id.clone()),
        passes_per_case: manifest.passes,
        planned_passes: planned(manifest, shown_cases, only),
        elapsed_s: elapsed(manifest),
    };
    let mut summariser = Summariser::new(facts, configurations);
    let ids = index.configurations().to_vec();
    index.rows(&filter, |row| {
        let (Some(case), Some(configuration)) = (cases.get(row.case), ids.get(row.configuration)) else { return };
        let quote = quotes.get(&(row.configuration, row.case, row.pass)).map_or("", String::as_str);
        summariser.add(&view(row, case, configuration, quote));
    })?;
    let mut summary = summariser.finish();
    summary.notes.extend(run_notes(manifest));
    Ok(summary)
}

/// The model; of a baseline that was measured again it is said that it is one.
fn shown_model(configuration: &ConfigurationRecord) -> String {
    let is_baseline = configuration.origin.is_some() && configuration.id.starts_with("baseline ");
    if is_baseline { format!("baseline {}", configuration.spec) } else { configuration.spec.clone() }
}

/// Whether a setting is known; the source of an imported run may not have told it.
fn is_told(configuration: &ConfigurationRecord, setting: &str) -> bool {
    configuration.unknown.iter().all(|unknown| unknown != setting)
}

fn told(configuration: &ConfigurationRecord, setting: &str, value: String) -> String {
    if is_told(configuration, setting) { value } else { "unknown".to_owned() }
}

fn planned(manifest: &Manifest, cases: u64, only: &Only) -> Option<u64> {
    if manifest.early_stop.is_some() {
        // Of a part of the run nobody knows how many passes were not needed.
        let is_whole = only.case.is_none() && only.configuration.is_none();
        return is_whole.then(|| manifest.total_passes());
    }
    let configurations = if only.configuration.is_some() { 1 } else { manifest.configurations.len() as u64 };
    Some(cases * u64::from(manifest.passes) * configurations)
}

fn elapsed(manifest: &Manifest) -> Option<f64> {
    manifest.elapsed().map(|time| time.as_secs_f64())
}

fn view<'a>(row: &PassRow, case: &'a Case, configuration: &'a str, quote: &'a str) -> PassView<'a> {
    PassView {
        case: &case.id,
        family: &case.family,
        language: case.language.as_str(),
        kind: case.kind.as_str(),
        configuration,
        quote,
        ..tenpass_review::measured(row)
    }
}

/// What the model said in the first pass of every failure class of every configuration.
fn quotes(run: &Run, index: &Index, filter: &PassFilter) -> Result<HashMap<Place, String>, Failure> {
    let mut first: HashMap<(usize, FailureClass), Place> = HashMap::new();
    index.rows(filter, |row| {
        if let Some(class) = row.class {
            let place = (row.configuration, row.case, row.pass);
            let known = first.entry((row.configuration, class)).or_insert(place);
            // The first by the case's name, as the summary picks its examples.
            let name = |place: &Place| (index.cases().get(place.1), place.2);
            if name(&place) < name(known) {
                *known = place;
            }
        }
    })?;
    let mut quotes = HashMap::new();
    for place in first.into_values() {
        let (Some(configuration), Some(case)) = (index.configurations().get(place.0), index.cases().get(place.1))
        else {
            continue;
        };
        let one = PassFilter {
            configuration: Some(configuration.clone()),
            case: Some(case.clone()),
            pass: Some(place.2),
            ..PassFilter::default()
        };
        for detail in run.passes(&one)? {
            quotes.insert(place, quote(&detail?));
        }
    }
    Ok(quotes)
}

/// What shows the failure best: the fault, the calls, or the text.
fn quote(detail: &PassDetail) -> String {
    if let Some(fault) = &detail.pass.fault {
        return fault.message.clone();
    }
    let calls = detail.outcome.as_ref().map(|outcome| outcome.calls.as_slice()).unwrap_or_default();
    if calls.is_empty() {
        return detail.pass.text.clone();
    }
    let shown =
        calls.iter().map(|call| format!("{}({})", call.name, serde_json::Value::Object(call.arguments.clone())));
    shown.collect::<Vec<_>>().join(" ")
}

fn show_pass(context: &Context, run: &Run, only: &Only, pass: u32, format: Format) -> Result<Exit, Failure> {
    let filter = PassFilter {
        case: only.case.clone(),
        configuration: only.configuration.clone(),
        pass: Some(pass),
        ..PassFilter::default()
    };
    if matches!(format, Format::Csv | Format::Parquet) {
        return Err(Failure::mistake("one pass is no table").hint("--format json has all of it"));
    }
    let details = run.passes(&filter)?.collect::<Result<Vec<_>, _>>()?;
    if details.is_empty() {
        let case = only.case.as_deref().unwrap_or_default();
        return Err(Failure::mistake(format!("{} has no pass {pass} of {case}", run.id()))
            .hint(format!("passes count from 1 to {}", run.manifest().passes)));
    }
    let mut all = Vec::new();
    for detail in &details {
        let earlier = run.earlier_attempts(&detail.pass)?;
        let request = run.request(&detail.pass.request)?;
        let case = run.case_of(&detail.pass.configuration, &detail.pass.case)?;
        if format == Format::Table {
            context.printer.out(&pass_text(detail, request.as_ref(), &earlier, &case));
        } else {
            all.push(json!({
                "pass": detail.pass, "outcome": detail.outcome, "request": request, "earlier_attempts": earlier,
                "expected": case.expect,
                "scenario": case.scenario,
            }));
        }
    }
    if format != Format::Table {
        context.printer.json(&all)?;
    }
    Ok(Exit::Yes)
}

fn pass_text(
    detail: &PassDetail,
    request: Option<&tenpass_bench::store::RequestRecord>,
    earlier: &[tenpass_bench::store::PassRecord],
    case: &Case,
) -> String {
    let pass = &detail.pass;
    let mut text = format!(
        "{} · {} · pass {} (attempt {}, seed {})\n",
        pass.case, pass.configuration, pass.pass, pass.attempt, pass.seed
    );
    if let Some(outcome) = &detail.outcome {
        let verdict = match outcome.success {
            Some(true) => "RIGHT",
            Some(false) => "WRONG",
            None => "INVALID",
        };
        let classes: Vec<&str> = outcome.classes.iter().map(|class| class.as_str()).collect();
        text.push_str(&format!("{verdict}{}{}\n", if classes.is_empty() { "" } else { ": " }, classes.join(", ")));
        for reason in &outcome.reasons {
            text.push_str(&format!("  - {reason}\n"));
        }
    }
    match &case.scenario {
        Some(scenario) => text.push_str(&format!("holds: {}\n", scenario.holds.join(", "))),
        None => text.push_str(&format!("expected: {}\n", tenpass_bench::cases::show::summary(&case.expect))),
    }
    if let Some(played) = &pass.played {
        section(&mut text, "play", &tenpass_bench::rounds::transcript(played));
        fault_and_numbers(&mut text, detail, earlier);
        section(&mut text, "first request", &shown_messages(request, &pass.request));
        return text;
    }
    if !pass.thinking.is_empty() {
        section(&mut text, "thinking, raw", &pass.thinking);
    }
    section(&mut text, "text, raw, before parsing", if pass.text.is_empty() { "(empty)" } else { &pass.text });
    if !pass.calls.is_empty() {
        section(&mut text, "structured calls, raw", &serde_json::to_string_pretty(&pass.calls).unwrap_or_default());
    }
    let calls = detail.outcome.as_ref().map(|outcome| outcome.calls.as_slice()).unwrap_or_default();
    section(
        &mut text,
        "calls, parsed",
        &if calls.is_empty() { "(none)".to_owned() } else { serde_json::to_string_pretty(calls).unwrap_or_default() },
    );
    fault_and_numbers(&mut text, detail, earlier);
    // Last, and long: the answer and its grade are what one looks for.
    section(&mut text, "request", &shown_request(request, &pass.request));
    text
}

/// What else tells a configuration of scenarios from the others, as its id says it.
fn strategies(id: &str) -> &str {
    let at = [" memory=", " prompt="].iter().filter_map(|name| id.find(name)).min();
    at.map_or("", |at| &id[at..])
}

/// The messages of a request as a play sent it; `--format json` has everything.
fn shown_messages(request: Option<&tenpass_bench::store::RequestRecord>, sha256: &str) -> String {
    let Some(record) = request else { return format!("(not stored: {sha256})") };
    let mut text = format!("tools: {}\n", record.offered.join(", "));
    for message in &record.request.messages {
        text.push_str(&format!("\n[{}] {}\n", message.role.as_str(), message.content));
    }
    text
}

/// A request as it was stored.
fn shown_request(request: Option<&tenpass_bench::store::RequestRecord>, sha256: &str) -> String {
    request.map_or_else(
        || format!("(not stored: {sha256})"),
        |record| serde_json::to_string_pretty(&record.request).unwrap_or_default(),
    )
}

/// What ends the view of every pass: faults, times, tokens.
fn fault_and_numbers(text: &mut String, detail: &PassDetail, earlier: &[tenpass_bench::store::PassRecord]) {
    let pass = &detail.pass;
    if let Some(fault) = &pass.fault {
        section(text, "fault", &format!("{}: {}\nhint: {}", fault.class, fault.message, fault.hint));
    }
    for attempt in earlier {
        let fault = attempt.fault.as_ref().map(|fault| fault.message.clone()).unwrap_or_default();
        section(text, &format!("attempt {}, repeated", attempt.attempt), &fault);
    }
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0} ms"));
    let tokens = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    text.push_str(&format!(
        "\nfirst token {} · first call {} · end {} · prompt {} tokens ({} cached) · answer {} tokens\n",
        ms(pass.timings.first_token_ms),
        ms(detail.outcome.as_ref().and_then(|outcome| outcome.first_call_ms)),
        ms(Some(pass.timings.total_ms)),
        tokens(pass.usage.prompt_tokens),
        tokens(pass.usage.cached_tokens),
        tokens(pass.usage.completion_tokens),
    ));
    if let Some(endpoint) = &pass.endpoint {
        text.push_str(&format!("answered by {endpoint}\n"));
    }
}

fn section(text: &mut String, title: &str, body: &str) {
    text.push_str(&format!("\n── {title}\n{}\n", body.trim_end()));
}

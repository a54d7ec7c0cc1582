//! Runs in numbers: one look through each index, and the cases as they were.

use serde_json::Value;
use tenpass_bench::cases::Case;
use tenpass_bench::cases::show::expected_text;
use tenpass_bench::store::{CaseHead, CaseIndex, ConfigurationRecord, Manifest, PassFilter, PassRow, Picker, Run};
use tenpass_report::plot::Spreads;
use tenpass_report::{ConfigurationFacts, PassView, ReportColumn, ReportSection, RunFacts, Summariser};
use tenpass_trace::FailureClass;

use crate::page::ReportOptions;
use crate::page_pass::quote;
use crate::{ReviewError, measured};

/// One pass that may be shown in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Position of the run in its section.
    pub(crate) run: usize,
    /// Position of the column in the section.
    pub(crate) column: usize,
    /// Position of the configuration in its run.
    pub(crate) configuration: usize,
    /// Position of the case in its run.
    pub(crate) case: usize,
    pub(crate) pass: u32,
    pub(crate) class: Option<FailureClass>,
    pub(crate) right: bool,
}

/// One run of a section.
pub(crate) struct Source<'a> {
    pub(crate) run: &'a Run,
    pub(crate) picker: Picker,
    /// By configuration; one that meets the run's own cases has none for itself, but the first.
    cases: Vec<Option<CaseIndex>>,
    /// The column of each configuration; `None` for one that is not shown.
    columns: Vec<Option<usize>>,
}

impl Source<'_> {
    /// Whose cases this configuration meets.
    fn owner(&self, configuration: usize) -> usize {
        if self.cases.get(configuration).is_some_and(Option::is_some) { configuration } else { 0 }
    }

    fn case(&self, configuration: usize, case: usize) -> Option<&CaseHead> {
        self.cases.get(self.owner(configuration))?.as_ref()?.heads().get(case)
    }

    /// What the case expects, in words.
    pub(crate) fn expected(&mut self, configuration: usize, case: usize) -> Result<String, ReviewError> {
        let owner = self.owner(configuration);
        let Some(Some(cases)) = self.cases.get_mut(owner) else { return Ok(String::new()) };
        Ok(cases.case(case)?.map(|case| expected(&case)).unwrap_or_default())
    }
}

/// The runs of one bench.
pub(crate) struct Loaded<'a> {
    pub(crate) runs: Vec<Source<'a>>,
    section: Option<ReportSection>,
    /// The passes that are not right, and the others too where they were asked for.
    pub(crate) listed: Vec<Listed>,
}

impl Loaded<'_> {
    /// The section; only once.
    pub(crate) fn take_section(&mut self) -> ReportSection {
        self.section.take().unwrap_or_else(|| ReportSection {
            summary: Summariser::new(RunFacts::default(), Vec::new()).finish(),
            spreads: Spreads::new(),
            columns: Vec::new(),
        })
    }
}

/// The runs, bench by bench.
pub(crate) fn load<'a>(runs: &[&'a Run], options: &ReportOptions) -> Result<Vec<Loaded<'a>>, ReviewError> {
    let mut benches: Vec<(&str, Vec<&'a Run>)> = Vec::new();
    for run in runs {
        let bench = run.manifest().bench.as_str();
        match benches.iter_mut().find(|(name, _)| *name == bench) {
            Some((_, runs)) => runs.push(run),
            None => benches.push((bench, vec![run])),
        }
    }
    benches.into_iter().map(|(bench, runs)| one_bench(bench, &runs, options)).collect()
}

fn one_bench<'a>(bench: &str, runs: &[&'a Run], options: &ReportOptions) -> Result<Loaded<'a>, ReviewError> {
    let mut columns = Vec::new();
    let mut sources = Vec::with_capacity(runs.len());
    for run in runs {
        sources.push(source(run, options, &mut columns)?);
    }
    let facts = facts(bench, runs, &columns);
    let labels: Vec<String> = columns.iter().map(|(column, _)| label(column, runs.len())).collect();
    let configurations = columns
        .iter()
        .zip(&labels)
        .map(|((_, facts), label)| ConfigurationFacts { label: label.clone(), ..facts.clone() });
    let mut summariser = Summariser::new(facts.clone(), configurations.collect());
    // Of several runs, only the configurations of the first are compared here: what differs between runs
    // is for the comparison of runs to judge.
    let first: Vec<ConfigurationFacts> = columns
        .iter()
        .zip(&labels)
        .filter(|((column, _), _)| column.run == runs[0].id())
        .map(|((_, facts), label)| ConfigurationFacts { label: label.clone(), ..facts.clone() })
        .collect();
    let mut among = (runs.len() > 1 && first.len() > 1).then(|| Summariser::new(facts, first));
    let mut spreads = Spreads::new();
    let mut listed = Vec::new();
    for (position, source) in sources.iter().enumerate() {
        source.picker.index().rows(&PassFilter::default(), |row| {
            let Some(column) = source.columns.get(row.configuration).copied().flatten() else { return };
            let Some(case) = source.case(row.configuration, row.case) else { return };
            let view = view(row, case, &labels[column]);
            summariser.add(&view);
            if position == 0
                && let Some(among) = &mut among
            {
                among.add(&view);
            }
            spreads.add(column, &view);
            let right = row.success == Some(true);
            if !right || options.passing {
                let (configuration, case, pass, class) = (row.configuration, row.case, row.pass, row.class);
                listed.push(Listed { run: position, column, configuration, case, pass, class, right });
            }
        })?;
    }
    let mut summary = summariser.finish();
    summary.notes.extend(runs.iter().flat_map(|run| crate::against::run_notes(run.manifest())));
    if runs.len() > 1 {
        summary.comparisons = among.map(|among| among.finish().comparisons).unwrap_or_default();
    }
    let mut loaded = Loaded { runs: sources, section: None, listed };
    for (column, configuration) in summary.configurations.iter_mut().enumerate() {
        let examples = configuration.failures.iter_mut().flat_map(|kind| &mut kind.classes);
        for example in examples.filter_map(|class| class.example.as_mut()) {
            example.quote = loaded.quote(column, &example.case, example.pass)?;
        }
    }
    let columns = columns.into_iter().map(|(column, _)| column).collect();
    loaded.section = Some(ReportSection { summary, spreads, columns });
    Ok(loaded)
}

impl Loaded<'_> {
    /// What the model said in this pass.
    fn quote(&mut self, column: usize, case: &str, pass: u32) -> Result<String, ReviewError> {
        for source in &mut self.runs {
            let Some(configuration) = source.columns.iter().position(|shown| *shown == Some(column)) else { continue };
            let Some(Some(cases)) = source.cases.first() else { continue };
            let Some(place) = cases.heads().iter().position(|known| known.id == case) else { continue };
            if let Some(detail) = source.picker.pass(configuration, place, pass)? {
                return Ok(quote(&detail));
            }
        }
        Ok(String::new())
    }
}

/// Opens a run and gives each configuration that is shown its column.
fn source<'a>(
    run: &'a Run,
    options: &ReportOptions,
    columns: &mut Vec<(ReportColumn, ConfigurationFacts)>,
) -> Result<Source<'a>, ReviewError> {
    let named: Vec<&str> = options
        .only
        .iter()
        .filter(|(name, _)| name == run.id())
        .map(|(_, configuration)| configuration.as_str())
        .collect();
    let mut own = Vec::new();
    let mut places = Vec::new();
    for (position, record) in run.manifest().configurations.iter().enumerate() {
        let shown = named.is_empty() || named.contains(&record.id.as_str());
        places.push(shown.then_some(columns.len()));
        if shown {
            let column = ReportColumn { run: run.id().to_owned(), configuration: record.id.clone() };
            columns.push((column, configuration_facts(record)));
        }
        // The cases of the run are read once; only what differs is kept beside them.
        let needed = position == 0 || (shown && record.cases.is_some());
        own.push(if needed { Some(CaseIndex::open(run, &record.id)?) } else { None });
    }
    Ok(Source { run, picker: Picker::open(run)?, cases: own, columns: places })
}

fn expected(case: &Case) -> String {
    let Some(scenario) = &case.scenario else {
        let text = expected_text(&case.expect);
        return text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>().join("\n");
    };
    let ending = serde_json::to_value(&scenario.expect).ok().and_then(said).unwrap_or_default();
    format!("holds: {}\n{}", scenario.holds.join(", "), serde_json::to_string_pretty(&ending).unwrap_or_default())
}

/// A value without what it leaves open.
fn said(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().filter_map(said).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields: serde_json::Map<String, Value> =
                fields.into_iter().filter_map(|(name, value)| Some((name, said(value)?))).collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other),
    }
}

fn label(column: &ReportColumn, runs: usize) -> String {
    if runs == 1 { column.configuration.clone() } else { format!("{}/{}", column.run, column.configuration) }
}

fn configuration_facts(record: &ConfigurationRecord) -> ConfigurationFacts {
    let known = |name: &str| !record.unknown.iter().any(|unknown| unknown == name);
    ConfigurationFacts {
        label: record.id.clone(),
        model: record.spec.clone(),
        structure: record.structure.to_string(),
        tools: format!("{}{}", record.selection, strategies(&record.id)),
        // Through its decimal form: 0.3 and not 0.30000001192092896.
        temperature: record.options.temperature.to_string().parse().ok().filter(|_| known("temperature")),
        context_tokens: record.options.context.or(record.model.context).map(u64::from),
    }
}

/// What else tells a configuration of scenarios from the others, as its id says it.
fn strategies(id: &str) -> &str {
    let at = [" memory=", " prompt="].iter().filter_map(|name| id.find(name)).min();
    at.map_or("", |at| &id[at..])
}

fn facts(bench: &str, runs: &[&Run], columns: &[(ReportColumn, ConfigurationFacts)]) -> RunFacts {
    let shown = |manifest: &Manifest| columns.iter().filter(|(column, _)| column.run == manifest.id).count() as u64;
    let planned = |manifest: &Manifest| {
        // Of single columns of a run that stopped early nobody knows how many passes were not needed.
        let saved = manifest.early_stop.as_ref().map_or(0, |early| early.saved);
        (manifest.cases * shown(manifest) * u64::from(manifest.passes)).saturating_sub(saved)
    };
    let elapsed: Vec<f64> =
        runs.iter().filter_map(|run| run.manifest().elapsed()).map(|time| time.as_secs_f64()).collect();
    RunFacts {
        title: format!("bench {bench}"),
        run: (runs.len() == 1).then(|| runs[0].id().to_owned()),
        passes_per_case: runs.iter().map(|run| run.manifest().passes).max().unwrap_or(0),
        planned_passes: Some(runs.iter().map(|run| planned(run.manifest())).sum()),
        elapsed_s: (!elapsed.is_empty()).then(|| elapsed.iter().sum()),
    }
}

fn view<'a>(row: &PassRow, case: &'a CaseHead, label: &'a str) -> PassView<'a> {
    PassView {
        case: &case.id,
        family: &case.family,
        language: case.language.as_str(),
        kind: case.kind.as_str(),
        configuration: label,
        ..measured(row)
    }
}

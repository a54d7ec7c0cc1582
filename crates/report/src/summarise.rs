//! From single passes to a [`RunSummary`], one pass at a time.
//!
//! Memory grows with cases × configurations, not with passes: counts, at most 256 output digests
//! a cell, and quantile sketches. The result does not depend on the order of the passes.

use std::collections::{BTreeMap, HashMap};

use tenpass_stats::{Sampling, Tally, pass_hat_k};
use tenpass_trace::{FailureClass, FailureKind};

use crate::compare::compare;
use crate::notes::notes;
use crate::summary::{
    CaseSummary, ClassCount, ConfigurationFacts, ConfigurationSummary, Example, Group, KindCount, Observations, Rate,
    RunFacts, RunSummary, SUMMARY_VERSION,
};
use crate::tally::{Cell, Measuring, rate};

/// The kinds in the order of the tables.
const KINDS: [FailureKind; 6] = [
    FailureKind::Choice,
    FailureKind::Arguments,
    FailureKind::Transport,
    FailureKind::Talk,
    FailureKind::Progress,
    FailureKind::Invalid,
];
/// An example quotes this many characters at most.
const QUOTE_CHARACTERS: usize = 240;

/// One graded pass, as the run store has it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PassView<'a> {
    /// Case id.
    pub case: &'a str,
    /// The case's family.
    pub family: &'a str,
    /// The case's language.
    pub language: &'a str,
    /// `target` or `guard`.
    pub kind: &'a str,
    /// The configuration's label.
    pub configuration: &'a str,
    /// Number of the pass.
    pub pass: u32,
    /// The grade; `None` for an INVALID pass, which is counted apart.
    pub success: Option<bool>,
    /// What went wrong.
    pub class: Option<FailureClass>,
    /// The parser had to recover the call.
    pub recovered: bool,
    /// The pass paid for loading the model or evaluating the shared prompt.
    pub cold: bool,
    /// Milliseconds to the first token.
    pub first_token_ms: Option<f64>,
    /// Milliseconds to the first complete call.
    pub first_call_ms: Option<f64>,
    /// Milliseconds to the end.
    pub total_ms: Option<f64>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
    /// Equal for equal outputs.
    pub output_digest: u64,
    /// What the model said, or the error; shortened here.
    pub quote: &'a str,
}

impl PassView<'_> {
    /// The grade; `None` for an infrastructure fault, whatever grade it came with: it is never
    /// scored 0.
    pub(crate) fn scored(&self) -> Option<bool> {
        self.success.filter(|_| !self.class.is_some_and(FailureClass::is_invalid))
    }
}

/// Summarises all passes at once.
pub fn summarise<'a>(
    facts: RunFacts,
    configurations: Vec<ConfigurationFacts>,
    passes: impl IntoIterator<Item = PassView<'a>>,
) -> RunSummary {
    let mut summariser = Summariser::new(facts, configurations);
    for pass in passes {
        summariser.add(&pass);
    }
    summariser.finish()
}

/// Gathers passes; see [`summarise`].
#[derive(Debug)]
pub struct Summariser {
    facts: RunFacts,
    configurations: Vec<Gathering>,
    index: HashMap<String, usize>,
    cases: Vec<CaseGathering>,
    passes: u64,
}

#[derive(Debug)]
pub(crate) struct Gathering {
    pub(crate) facts: ConfigurationFacts,
    measured: Measuring,
    examples: BTreeMap<FailureClass, Example>,
}

#[derive(Debug)]
pub(crate) struct CaseGathering {
    pub(crate) case: String,
    pub(crate) family: String,
    pub(crate) language: String,
    pub(crate) kind: String,
    pub(crate) cells: Vec<Cell>,
}

impl Summariser {
    /// Starts with the configurations in the order of the tables; the first is the baseline.
    pub fn new(facts: RunFacts, configurations: Vec<ConfigurationFacts>) -> Self {
        let configurations = configurations.into_iter().map(Gathering::new).collect();
        Self { facts, configurations, index: HashMap::new(), cases: Vec::new(), passes: 0 }
    }

    /// Counts one pass, which is the last attempt at it: a fault that a re-run mended is no longer one.
    /// A configuration that was not announced is added at the end.
    pub fn add(&mut self, pass: &PassView<'_>) {
        self.passes += 1;
        let configuration = self.configuration(pass.configuration);
        let case = self.case(pass);
        let cells = &mut self.cases[case].cells;
        if cells.len() <= configuration {
            cells.resize_with(configuration + 1, Cell::default);
        }
        cells[configuration].add(pass);
        self.configurations[configuration].add(pass);
    }

    fn configuration(&mut self, label: &str) -> usize {
        let known = self.configurations.iter().position(|known| known.facts.label == label);
        known.unwrap_or_else(|| {
            let facts = ConfigurationFacts { label: label.to_owned(), ..ConfigurationFacts::default() };
            self.configurations.push(Gathering::new(facts));
            self.configurations.len() - 1
        })
    }

    fn case(&mut self, pass: &PassView<'_>) -> usize {
        if let Some(known) = self.index.get(pass.case) {
            return *known;
        }
        self.cases.push(CaseGathering {
            case: pass.case.to_owned(),
            family: pass.family.to_owned(),
            language: pass.language.to_owned(),
            kind: pass.kind.to_owned(),
            cells: Vec::new(),
        });
        self.index.insert(pass.case.to_owned(), self.cases.len() - 1);
        self.cases.len() - 1
    }

    /// The summary of everything added.
    pub fn finish(mut self) -> RunSummary {
        let width = self.configurations.len();
        self.cases.sort_by(|left, right| (&left.family, &left.case).cmp(&(&right.family, &right.case)));
        for case in &mut self.cases {
            case.cells.resize_with(width, Cell::default);
        }
        let observations: Vec<Observations> =
            (0..width).map(|i| observations(&self.configurations[i].facts, &self.cases, i)).collect();
        let sampling: Vec<Sampling> = observations.iter().map(|found| sampling(*found)).collect();
        let configurations =
            (0..width).map(|i| self.configurations[i].finish(&self.cases, i, observations[i])).collect::<Vec<_>>();
        let labels: Vec<&str> = self.configurations.iter().map(|known| known.facts.label.as_str()).collect();
        let cases: Vec<CaseSummary> = self.cases.iter().map(|case| case.finish(&sampling)).collect();
        let mut summary = RunSummary {
            version: SUMMARY_VERSION,
            comparisons: compare(&labels, &self.cases, &sampling),
            groups: groups(&self.cases, &sampling),
            facts: self.facts,
            passes: self.passes,
            configurations,
            cases,
            notes: Vec::new(),
        };
        summary.notes = notes(&summary);
        summary
    }
}

impl CaseGathering {
    fn finish(&self, sampling: &[Sampling]) -> CaseSummary {
        CaseSummary {
            case: self.case.clone(),
            family: self.family.clone(),
            language: self.language.clone(),
            kind: self.kind.clone(),
            cells: self.cells.iter().zip(sampling).map(|(cell, sampling)| cell.finish(*sampling)).collect(),
        }
    }
}

impl Gathering {
    fn new(facts: ConfigurationFacts) -> Self {
        Self { facts, measured: Measuring::default(), examples: BTreeMap::new() }
    }

    fn add(&mut self, pass: &PassView<'_>) {
        let scored = pass.scored();
        if scored.is_some() {
            self.measured.add(pass);
        }
        let Some(class) = pass.class.filter(|class| scored.map_or(class.is_invalid(), |success| !success)) else {
            return;
        };
        let earlier = |known: &Example| (known.case.as_str(), known.pass) <= (pass.case, pass.pass);
        if !self.examples.get(&class).is_some_and(earlier) {
            let quote = shorten(pass.quote);
            self.examples.insert(class, Example { case: pass.case.to_owned(), pass: pass.pass, quote });
        }
    }

    fn finish(&self, cases: &[CaseGathering], index: usize, observations: Observations) -> ConfigurationSummary {
        let cells = || cases.iter().map(|case| &case.cells[index]);
        let tallies: Vec<Tally> = cells().map(|cell| cell.scored).filter(|tally| !tally.is_empty()).collect();
        let measured = self.measured.finish();
        let share = |(tokens, context): (f64, u64)| (context > 0).then(|| tokens / context as f64);
        ConfigurationSummary {
            facts: self.facts.clone(),
            rate: pooled(cells(), sampling(observations)),
            invalid: cells().map(|cell| cell.invalid).sum(),
            recovered: cells().map(|cell| cell.recovered).sum(),
            observations,
            distinct_outputs: cells().map(Cell::distinct).sum(),
            cases_always_passed: tallies.iter().filter(|tally| tally.failed() == 0).count() as u64,
            pass_hat_3: pass_hat_k(&tallies, 3),
            failures: self.failures(cells()),
            unclassified: cells().filter_map(|cell| cell.failures.get(&None)).sum(),
            prompt_share_of_context: measured.prompt_tokens.max.zip(self.facts.context_tokens).and_then(share),
            measured,
        }
    }

    fn failures<'c>(&self, cells: impl Iterator<Item = &'c Cell>) -> Vec<KindCount> {
        let mut counts: BTreeMap<FailureClass, u64> = BTreeMap::new();
        for (class, passes) in cells.flat_map(|cell| &cell.failures) {
            if let Some(class) = class {
                *counts.entry(*class).or_default() += passes;
            }
        }
        let count = |class: FailureClass| ClassCount {
            class,
            passes: counts.get(&class).copied().unwrap_or(0),
            example: self.examples.get(&class).cloned(),
        };
        KINDS
            .iter()
            .map(|&kind| {
                let of_kind = FailureClass::ALL.iter().copied().filter(|class| class.kind() == kind);
                let classes: Vec<ClassCount> = of_kind.map(count).collect();
                KindCount { kind, passes: classes.iter().map(|class| class.passes).sum(), classes }
            })
            .collect()
    }
}

pub(crate) fn sampling(observations: Observations) -> Sampling {
    match observations {
        Observations::Independent => Sampling::Independent,
        Observations::Deterministic | Observations::Repeating => Sampling::Deterministic,
    }
}

/// From this many cases on, all of them repeating one output is no chance.
const REPEATING_CASES: usize = 5;

/// Temperature 0 is deterministic. With sampling, a model may be sure of its answer in one case or
/// a few; the same output again in every one of many means that temperature or seed were ignored.
fn observations(facts: &ConfigurationFacts, cases: &[CaseGathering], index: usize) -> Observations {
    let repeated = cases.iter().map(|case| &case.cells[index]).filter(|cell| cell.scored.total() > 1);
    observations_of(facts.temperature, repeated.map(Cell::distinct))
}

/// The same of a temperature and the distinct outputs of every case with more than one scored pass.
pub(crate) fn observations_of(temperature: Option<f64>, distinct_outputs: impl Iterator<Item = u64>) -> Observations {
    if temperature.is_some_and(|temperature| temperature <= 0.0) {
        return Observations::Deterministic;
    }
    let (mut cases, mut repeating) = (0, true);
    for distinct in distinct_outputs {
        cases += 1;
        repeating &= distinct == 1;
    }
    if cases >= REPEATING_CASES && repeating { Observations::Repeating } else { Observations::Independent }
}

fn pooled<'c>(cells: impl Iterator<Item = &'c Cell>, sampling: Sampling) -> Rate {
    let (mut scored, mut effective_n) = (Tally::default(), 0);
    for cell in cells {
        scored = scored.plus(cell.scored);
        effective_n += u64::from(cell.evidence(sampling).total());
    }
    rate(scored, effective_n)
}

/// By family, language and kind, each only where the cases differ in it.
fn groups(cases: &[CaseGathering], sampling: &[Sampling]) -> Vec<Group> {
    let mut groups = Vec::new();
    for (i, by) in ["family", "language", "kind"].into_iter().enumerate() {
        let mut members: BTreeMap<&str, Vec<&CaseGathering>> = BTreeMap::new();
        for case in cases {
            let name = [&case.family, &case.language, &case.kind][i];
            members.entry(name).or_default().push(case);
        }
        if members.len() < 2 {
            continue;
        }
        groups.extend(members.into_iter().map(|(name, members)| {
            Group {
                by: by.to_owned(),
                name: name.to_owned(),
                cases: members.len() as u64,
                rates: (sampling.iter().enumerate())
                    .map(|(i, sampling)| pooled(members.iter().map(|case| &case.cells[i]), *sampling))
                    .collect(),
            }
        }));
    }
    groups
}

/// The beginning of a text on one line.
fn shorten(text: &str) -> String {
    let mut short = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == QUOTE_CHARACTERS {
            short.push('…');
            break;
        }
        short.push(if character.is_control() { ' ' } else { character });
    }
    short
}

//! What a run measures.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tenpass_agent::prompt::Sections;
use tenpass_agent::{Retrieval, Selection, Structure};
use tenpass_model::{ChatModel, SamplingOptions, ThinkLevel};
use tenpass_trace::Role;

use crate::cases::Case;
use crate::run::{GRADER_VERSION, Partition, RunError};
use crate::store::{
    Against, Arguments, CaseSets, ConfigurationRecord, Digests, EarlyStop, FormatVersion, Manifest, Origin, Run,
    sha256_hex,
};

/// Ten, as the name says.
pub(crate) const DEFAULT_PASSES: u32 = 10;
/// How long one answer may take before it counts as a failure.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// A model with everything that decides how it is asked.
#[derive(Clone)]
pub struct Configuration {
    /// Unique in the run; the column's name in tables.
    pub id: String,
    /// The model SPEC as typed.
    pub spec: String,
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// How tools enter the request and calls come back.
    pub structure: Structure,
    /// Which tools are offered.
    pub selection: Selection,
    /// Which memory entries a turn of a scenario sees.
    pub memory: Retrieval,
    /// Which sections the prompt of a scenario has.
    pub sections: Sections,
    /// Sampling. The seed is ignored: each pass derives its own.
    pub options: SamplingOptions,
    /// Thinking level.
    pub think: Option<ThinkLevel>,
    /// Ask for streamed answers.
    pub stream: bool,
    /// Goes into the seeds of its passes: configurations with equal salts meet the same random numbers.
    pub salt: u32,
    /// The plan's cases as this configuration meets them, where it has other tools or prompts: the same
    /// ids in the same order.
    pub cases: Option<Arc<[Case]>>,
    /// The configuration of an earlier run that this one measures again.
    pub origin: Option<Origin>,
    /// Most passes in flight: many for the embedded engine, which decodes them in one batch;
    /// as many as the server has slots for HTTP. At least 1.
    pub jobs: usize,
    /// Arguments passed and defaulted, for the manifest.
    pub arguments: Arguments,
}

impl Configuration {
    /// A configuration with the defaults of the agent loop, named after its model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        let spec = model.info().spec.clone();
        Self {
            id: spec.clone(),
            spec,
            model,
            structure: Structure::default(),
            selection: Selection::default(),
            memory: Retrieval::default(),
            sections: Sections::default(),
            options: SamplingOptions::default(),
            think: None,
            stream: true,
            salt: 0,
            cases: None,
            origin: None,
            jobs: 1,
            arguments: Arguments::default(),
        }
    }

    /// What the manifest keeps of it.
    pub fn record(&self) -> ConfigurationRecord {
        ConfigurationRecord {
            id: self.id.clone(),
            spec: self.spec.clone(),
            model: self.model.info().clone(),
            structure: self.structure,
            selection: self.selection,
            memory: self.memory,
            sections: self.sections,
            options: SamplingOptions { seed: 0, ..self.options.clone() },
            think: self.think,
            stream: self.stream,
            jobs: self.jobs,
            arguments: self.arguments.clone(),
            salt: self.salt,
            // Both are the plan's to fill in.
            cases: None,
            digests: None,
            origin: self.origin.clone(),
            unknown: Vec::new(),
        }
    }
}

/// What a run measures.
#[derive(Clone)]
pub struct RunPlan {
    /// Which bench this is.
    pub bench: String,
    /// The chosen cases, in the suite's order, before partition.
    pub cases: Vec<Case>,
    /// Digest of the suite they were chosen from.
    pub suite_digest: String,
    /// The configurations; the first is the one others are compared with.
    pub configurations: Vec<Configuration>,
    /// Passes a case and configuration.
    pub passes: u32,
    /// Seed from which every pass derives its own.
    pub seed: u64,
    /// How long one answer may take before it counts as a failure (class `timeout`).
    pub timeout: Duration,
    /// Which part of the cases this run takes.
    pub partition: Option<Partition>,
    /// The run this one follows, if any.
    pub parent: Option<String>,
    /// What a comparison of the configurations is told, when the run is made for one.
    pub against: Option<Against>,
    /// What is stopped as soon as it is decided; what came of that is not looked at.
    pub early_stop: Option<EarlyStop>,
}

impl RunPlan {
    /// A plan of the tool-choice bench with ten passes.
    pub fn new(cases: Vec<Case>, suite_digest: String, configurations: Vec<Configuration>) -> Self {
        Self {
            bench: "tools".to_owned(),
            cases,
            suite_digest,
            configurations,
            passes: DEFAULT_PASSES,
            seed: 0,
            timeout: DEFAULT_TIMEOUT,
            partition: None,
            parent: None,
            against: None,
            early_stop: None,
        }
    }

    /// The plan of an existing run, to resume it with these configurations. It has no cases of
    /// its own: a resumed run goes on with the cases it stored.
    pub fn of_run(run: &Run, configurations: Vec<Configuration>) -> Self {
        let manifest = run.manifest();
        Self {
            bench: manifest.bench.clone(),
            cases: Vec::new(),
            suite_digest: manifest.digests.suite.clone(),
            configurations,
            passes: manifest.passes,
            seed: manifest.seed,
            timeout: Duration::from_millis(manifest.timeout_ms),
            partition: manifest.partition,
            parent: manifest.parent.clone(),
            against: manifest.against.clone(),
            early_stop: manifest.early_stop.clone(),
        }
    }

    /// Refuses what cannot be run.
    pub(crate) fn check(&self, resumes: bool) -> Result<(), RunError> {
        let bad = |reason: String| Err(RunError::Plan(reason));
        if self.configurations.is_empty() {
            return bad("there is no configuration".to_owned());
        }
        if self.passes == 0 {
            return bad("0 passes measure nothing".to_owned());
        }
        if self.cases.is_empty() && !resumes {
            return bad("no case was chosen".to_owned());
        }
        let mut seen = HashSet::new();
        for configuration in &self.configurations {
            if !seen.insert(configuration.id.as_str()) {
                return bad(format!("two configurations are called `{}`", configuration.id));
            }
        }
        let mut seen = HashSet::new();
        match self.cases.iter().find(|case| !seen.insert(case.id.as_str())) {
            Some(case) => bad(format!("two cases are called `{}`", case.id)),
            None => self.check_own_cases(),
        }
    }

    fn check_own_cases(&self) -> Result<(), RunError> {
        let ids = |cases: &[Case]| cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
        let differs = |own: &Arc<[Case]>| ids(own) != ids(&self.cases);
        match self.configurations.iter().find(|configuration| configuration.cases.as_ref().is_some_and(differs)) {
            Some(configuration) => Err(RunError::Plan(format!("`{}` has other cases than the run", configuration.id))),
            None => Ok(()),
        }
    }

    /// The cases of this run's part, as each configuration meets them.
    pub(crate) fn own_cases(&self) -> CaseSets {
        let part = |cases: &[Case]| {
            let own = |position: usize| self.partition.is_none_or(|partition| partition.contains(position));
            cases.iter().enumerate().filter(|(position, _)| own(*position)).map(|(_, case)| case.clone()).collect()
        };
        let own = self.configurations.iter().map(|configuration| configuration.cases.as_deref().map(part));
        CaseSets::new(part(&self.cases), own.collect())
    }

    /// The manifest of a run of this plan with so many cases in its part; name and sessions are the store's to fill in.
    pub fn manifest(&self, cases: usize) -> Manifest {
        Manifest {
            format: FormatVersion::CURRENT,
            id: String::new(),
            bench: self.bench.clone(),
            parent: self.parent.clone(),
            parts: Vec::new(),
            partition: self.partition,
            seed: self.seed,
            passes: self.passes,
            timeout_ms: self.timeout.as_millis() as u64,
            cases: cases as u64,
            digests: self.digests(&self.cases, &self.configurations),
            grader: GRADER_VERSION.to_owned(),
            against: self.against.clone(),
            early_stop: self.early_stop.as_ref().map(EarlyStop::rules),
            regraded: None,
            configurations: self
                .configurations
                .iter()
                .enumerate()
                .map(|(place, one)| self.record(place, one))
                .collect(),
            sessions: Vec::new(),
        }
    }

    fn record(&self, place: usize, configuration: &Configuration) -> ConfigurationRecord {
        let own = configuration.cases.as_deref();
        ConfigurationRecord {
            cases: own.map(|_| format!("cases.{}.jsonl", place + 1)),
            digests: own.map(|cases| self.digests(cases, std::slice::from_ref(configuration))),
            ..configuration.record()
        }
    }

    /// Of all chosen cases, so that the parts of a partition agree.
    fn digests(&self, cases: &[Case], configurations: &[Configuration]) -> Digests {
        let mut tools = BTreeSet::new();
        let mut prompts = BTreeSet::new();
        for case in cases {
            for tool in &case.tools {
                tools.insert(serde_json::to_string(tool).unwrap_or_default());
            }
            for message in case.messages.iter().filter(|message| message.role == Role::System) {
                prompts.insert(message.content.clone());
            }
        }
        for case in cases.iter().filter(|case| case.scenario.is_some()).take(1) {
            // The loop writes the prompts of scenarios.
            let sections = configurations.iter().map(|configuration| configuration.sections);
            prompts.extend(sections.flat_map(|sections| crate::rounds::prompts(sections, &case.tools)));
        }
        let joined = |parts: BTreeSet<String>| sha256_hex(parts.into_iter().collect::<Vec<_>>().join("\0").as_bytes());
        Digests {
            suite: self.suite_digest.clone(),
            cases: crate::cases::digest(cases),
            tools: joined(tools),
            prompts: joined(prompts),
        }
    }
}

//! Logs that Inspect itself wrote. What they do not say stays empty.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tenpass_bench::cases::{Case, CaseKind, Expect, Language, digest};
use tenpass_bench::store::{
    Arguments, ConfigurationRecord, Digests, End, Fault, FormatVersion, GitState, Host, Manifest, OutcomeRecord,
    PassRecord, PassTimings, RequestRecord, RunState, Session,
};
use tenpass_model::{Capabilities, ChatRequest, ModelInfo};
use tenpass_trace::{FailureClass, Message, Role, ToolDefinition};

use super::chat::{self, Attachments};
use super::log::{ChatMessage, Config, Header, Id, Input, Sample, Target};
use super::score::{self, Judged};
use super::time::stored;
use crate::names::{self, case_id};

/// What a sample becomes.
pub(crate) struct Imported {
    pub(crate) request: RequestRecord,
    pub(crate) pass: PassRecord,
    pub(crate) outcome: OutcomeRecord,
    /// Its score is a number between right and wrong.
    pub(crate) is_graded: bool,
}

/// A foreign log on its way into the store.
pub(crate) struct Foreign {
    configuration: String,
    task: String,
    model: String,
    config: Config,
    deciding: Option<String>,
    right_from: f64,
    names: Names,
    cases: Vec<Case>,
    most_epochs: u32,
    knows_time: bool,
}

impl Foreign {
    pub(crate) fn new(header: &Header, right_from: f64) -> Self {
        Self {
            configuration: header.eval.model.clone(),
            task: header.eval.task.clone(),
            model: header.eval.model.clone(),
            config: settings(header),
            deciding: score::deciding(header).map(str::to_owned),
            right_from,
            names: Names::default(),
            cases: Vec::new(),
            most_epochs: 1,
            knows_time: true,
        }
    }

    /// For samples of ours whose cases and requests were lost on the way.
    pub(crate) fn of_own(configuration: &str) -> Self {
        Self {
            configuration: configuration.to_owned(),
            task: "unknown".to_owned(),
            model: String::new(),
            config: Config::default(),
            deciding: None,
            right_from: 1.0,
            names: Names::default(),
            cases: Vec::new(),
            most_epochs: 1,
            knows_time: true,
        }
    }

    /// The request of such a sample; its case is made on the way.
    pub(crate) fn request_of(&mut self, sample: &Sample) -> Result<RequestRecord, String> {
        if let Some(family) = sample.metadata.as_ref().and_then(|metadata| metadata.get("family")?.as_str()) {
            family.clone_into(&mut self.task);
        }
        Ok(self.sample(sample)?.request)
    }

    /// Takes over one sample. An error names the field.
    pub(crate) fn sample(&mut self, sample: &Sample) -> Result<Imported, String> {
        if sample.epoch == 0 {
            return Err("epoch: epochs count from 1".to_owned());
        }
        self.most_epochs = self.most_epochs.max(sample.epoch);
        let mut attachments = Attachments::new(sample.attachments.as_ref());
        let tools: Vec<ToolDefinition> = sample.events.tools.iter().filter_map(chat::tool).collect();
        let case = self.case(sample, &tools, &mut attachments);
        let talk = Talk::of(sample, &mut attachments);
        let config = sample.events.config.as_ref().unwrap_or(&self.config);
        let request = request(&talk.before, tools, config);
        let mut judged = self.judge(sample)?;
        if is_invalidated(sample) {
            judged = Judged { reasons: vec![INVALIDATED.to_owned()], ..Judged::default() };
        }
        let pass = self.pass(sample, case, &talk, &request.sha256, &judged);
        let is_graded = judged.is_graded;
        let outcome = outcome(&pass, &talk, judged);
        Ok(Imported { request, pass, outcome, is_graded })
    }

    /// The id of the sample's case, which is made when it is met first.
    fn case(&mut self, sample: &Sample, tools: &[ToolDefinition], attachments: &mut Attachments<'_>) -> String {
        let (id, is_new) = self.names.of(&sample.id);
        if !is_new {
            return id;
        }
        let messages = match &sample.input {
            Input::Text(text) => vec![Message::user(text.as_str())],
            Input::Messages(messages) => messages.iter().map(|message| attachments.message(message)).collect(),
        };
        self.cases.push(Case {
            id: id.clone(),
            family: self.task.clone(),
            language: Language::Undetermined,
            kind: CaseKind::Target,
            messages,
            tools: tools.to_vec(),
            provenance: provenance(&self.task, sample),
            expect: Expect::default(),
            source: String::new(),
            scenario: None,
        });
        id
    }

    fn judge(&self, sample: &Sample) -> Result<Judged, String> {
        let deciding = self.deciding.as_deref();
        match (&sample.scores, &sample.score) {
            (Some(scores), _) => score::judge(scores, deciding, self.right_from),
            (None, Some(score)) => {
                let name = deciding.unwrap_or("score").to_owned();
                score::judge(&[(name, score.clone())].into_iter().collect(), deciding, self.right_from)
            }
            (None, None) => Ok(Judged::default()),
        }
    }

    fn pass(&mut self, sample: &Sample, case: String, talk: &Talk, request: &str, judged: &Judged) -> PassRecord {
        let fault = sample.error.as_ref().map(|error| Fault {
            class: FailureClass::InvalidTransport,
            message: error.message.clone(),
            hint: String::new(),
            transient: false,
        });
        let ran_out = sample.limit.as_ref().is_some_and(|limit| matches!(limit.kind.as_str(), "time" | "working"));
        let end = match &fault {
            Some(_) => End::Fault,
            None if ran_out && judged.success != Some(true) => End::Timeout,
            None => End::Answered,
        };
        let output = sample.output.as_ref();
        let seconds = sample.working_time.or(sample.total_time).or(output.and_then(|output| output.time));
        self.knows_time &= seconds.is_some();
        let config = sample.events.config.as_ref().unwrap_or(&self.config);
        let total = sample.model_usage.as_ref().and_then(|usage| usage.get(&self.model));
        let usage = total.or(output.and_then(|output| output.usage.as_ref())).map(chat::usage);
        let stop = output.and_then(|output| output.choices.as_ref()?.first()?.stop_reason.as_deref());
        PassRecord {
            endpoint: None,
            case,
            configuration: self.configuration.clone(),
            pass: sample.epoch,
            attempt: 1,
            is_final: true,
            end,
            fault,
            cold: false,
            seed: config.seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(0),
            request: request.to_owned(),
            started: sample.started_at.as_deref().and_then(stored).unwrap_or_default(),
            timings: PassTimings { total_ms: seconds.map_or(0.0, |seconds| seconds * 1e3), ..PassTimings::default() },
            usage: usage.unwrap_or_default(),
            finish: stop.map(chat::finish),
            declared_shape: None,
            text: talk.text.clone(),
            thinking: talk.thinking.clone(),
            calls: talk.last_calls.clone(),
            played: None,
        }
    }

    /// The cases that were met.
    pub(crate) fn into_cases(self) -> Vec<Case> {
        self.cases
    }

    /// The manifest of what was read.
    pub(crate) fn manifest(&self, header: &Header) -> Manifest {
        let eval = &header.eval;
        let seed = self.config.seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(0);
        Manifest {
            early_stop: None,
            format: FormatVersion::CURRENT,
            id: String::new(),
            bench: format!("inspect/{}", eval.task),
            parent: None,
            parts: Vec::new(),
            partition: None,
            seed,
            passes: eval.config.epochs.unwrap_or(1).max(self.most_epochs),
            timeout_ms: eval.config.time_limit.map_or(0, |seconds| (seconds * 1e3) as u64),
            cases: self.cases.len() as u64,
            digests: Digests { cases: digest(&self.cases), ..Digests::default() },
            grader: format!("inspect/{}", self.deciding.as_deref().unwrap_or("none")),
            against: None,
            regraded: None,
            configurations: vec![self.record(header)],
            sessions: vec![session(header)],
        }
    }

    fn record(&self, header: &Header) -> ConfigurationRecord {
        let eval = &header.eval;
        let (backend, name) = self.model.split_once('/').unwrap_or(("", &self.model));
        let (options, think, mut unknown) = chat::sampling(&self.config);
        unknown.extend(["structure", "selection", "stream", "capabilities"].map(str::to_owned));
        if !self.knows_time {
            unknown.push("total_ms".to_owned());
        }
        let passed = eval.task_args_passed.clone().unwrap_or_default();
        let mut defaulted = eval.task_args.clone().unwrap_or_default();
        defaulted.retain(|name, _| !passed.contains_key(name));
        defaulted.extend(eval.model_args.clone().unwrap_or_default());
        ConfigurationRecord {
            id: self.configuration.clone(),
            spec: self.model.clone(),
            model: ModelInfo {
                spec: self.model.clone(),
                backend: backend.to_owned(),
                name: name.to_owned(),
                digest: None,
                template_digest: None,
                quantization: None,
                context: None,
                capabilities: Capabilities {
                    tools: false,
                    thinking: false,
                    structured_output: false,
                    declared_shape: None,
                },
                runtime: program(header),
            },
            structure: tenpass_agent::Structure::Native,
            selection: tenpass_agent::Selection::All,
            memory: tenpass_agent::Retrieval::default(),
            sections: tenpass_agent::prompt::Sections::default(),
            options,
            think,
            stream: false,
            jobs: eval.config.max_samples.map_or(0, |samples| samples as usize),
            arguments: Arguments { passed, defaulted },
            salt: 0,
            cases: None,
            digests: None,
            origin: None,
            unknown,
        }
    }
}

/// The settings of a log: those of the plan, and of the model where the plan has none.
fn settings(header: &Header) -> Config {
    let plan = header.plan.as_ref().and_then(|plan| plan.config.clone()).unwrap_or_default();
    let model = header.eval.model_generate_config.clone().unwrap_or_default();
    Config {
        max_tokens: plan.max_tokens.or(model.max_tokens),
        temperature: plan.temperature.or(model.temperature),
        top_p: plan.top_p.or(model.top_p),
        top_k: plan.top_k.or(model.top_k),
        seed: plan.seed.or(model.seed),
        stop_seqs: plan.stop_seqs.or(model.stop_seqs),
        reasoning_effort: plan.reasoning_effort.or(model.reasoning_effort),
    }
}

fn program(header: &Header) -> Option<String> {
    let version = header.eval.packages.as_ref()?.get("inspect_ai")?;
    Some(format!("inspect_ai {version}"))
}

fn session(header: &Header) -> Session {
    let eval = &header.eval;
    let moment = |text: Option<&String>| text.and_then(|text| stored(text));
    let stats = header.stats.as_ref();
    let created = moment(eval.created.as_ref());
    let git = eval.revision.as_ref().and_then(|revision| {
        Some(GitState { revision: revision.commit.clone()?, dirty: revision.dirty.unwrap_or(false) })
    });
    Session {
        program: program(header).unwrap_or_default(),
        started: moment(stats.and_then(|stats| stats.started_at.as_ref())).or(created).unwrap_or_default(),
        finished: moment(stats.and_then(|stats| stats.completed_at.as_ref())),
        state: match header.status.as_deref() {
            Some("success") => RunState::Complete,
            Some("cancelled") => RunState::Interrupted,
            Some("error") => RunState::Failed,
            _ => RunState::Running,
        },
        host: Host { os: String::new(), architecture: String::new(), cpu: None, cores: 0, memory_bytes: None },
        git,
        stopped: Vec::new(),
    }
}

/// What stands for the reason of a sample that was taken back in Inspect.
pub(crate) const INVALIDATED: &str = "the sample was invalidated";

/// A person has taken the sample back.
pub(crate) fn is_invalidated(sample: &Sample) -> bool {
    sample.invalidation.as_ref().is_some_and(|invalidation| !invalidation.is_null())
}

/// Characters of a target that are kept.
const TARGET: usize = 500;

fn provenance(task: &str, sample: &Sample) -> String {
    let target = match &sample.target {
        Some(Target::One(text)) => text.clone(),
        Some(Target::Several(texts)) => texts.join(" | "),
        None => String::new(),
    };
    let cut = target.char_indices().nth(TARGET).map_or(target.as_str(), |(end, _)| &target[..end]);
    let target = if cut.is_empty() { String::new() } else { format!("; target: {cut}") };
    format!("Inspect task {task}, sample {}{target}", sample.id)
}

/// The conversation of a sample, cut into what the last request said and what came back.
struct Talk {
    before: Vec<Message>,
    text: String,
    thinking: String,
    last_calls: Vec<tenpass_model::StructuredCall>,
    /// Every call of the sample.
    calls: Vec<tenpass_model::calls::ParsedCall>,
}

impl Talk {
    fn of(sample: &Sample, attachments: &mut Attachments<'_>) -> Self {
        let none = Vec::new();
        let messages = sample.messages.as_ref().unwrap_or(&none);
        let given = match &sample.input {
            Input::Text(_) => 1,
            Input::Messages(messages) => messages.len(),
        };
        // What the model said, not what the sample began with.
        let is_said = |place: usize, message: &ChatMessage| {
            message.role == Role::Assistant
                && message.source.as_deref().map_or(place >= given, |source| source == "generate")
        };
        let said = || messages.iter().enumerate().filter(|(place, message)| is_said(*place, message));
        let calls = said().flat_map(|(_, message)| message.tool_calls.iter().flatten()).map(chat::parsed).collect();
        // An answer that is followed by results is a step; the last request has them all.
        let last = messages.len().checked_sub(1).filter(|place| is_said(*place, &messages[*place]));
        let end = last.unwrap_or(messages.len());
        let before = messages[..end].iter().map(|message| attachments.message(message)).collect();
        let answer = last.map(|place| &messages[place]);
        let (text, thinking) = answer.map(|answer| attachments.content(&answer.content)).unwrap_or_default();
        let last_calls = answer.and_then(|answer| answer.tool_calls.as_ref());
        let last_calls = last_calls.into_iter().flatten().map(chat::structured).collect();
        Self { before, text, thinking, last_calls, calls }
    }
}

/// The request, under the hash that this program would give it.
fn request(messages: &[Message], tools: Vec<ToolDefinition>, config: &Config) -> RequestRecord {
    let (options, think, _) = chat::sampling(config);
    let offered = tools.iter().map(|tool| tool.name.clone()).collect();
    let request =
        ChatRequest { messages: messages.to_vec(), tools, format: None, think, options, stream: false, label: None };
    let sha256 = names::hexadecimal(&Sha256::digest(serde_json::to_vec(&request).unwrap_or_default()));
    RequestRecord { sha256, offered, request }
}

fn outcome(pass: &PassRecord, talk: &Talk, judged: Judged) -> OutcomeRecord {
    let (success, class, reasons) = match (&pass.fault, judged.success) {
        (Some(fault), _) => (None, Some(fault.class), vec![fault.message.clone()]),
        (None, Some(true)) => (Some(true), None, judged.reasons),
        (None, Some(false)) => {
            let class = (pass.end == End::Timeout).then_some(FailureClass::Timeout);
            (Some(false), class, judged.reasons)
        }
        (None, None) => {
            let mut reasons = vec!["the log has no score for it".to_owned()];
            reasons.extend(judged.reasons);
            (None, Some(FailureClass::InvalidGrader), reasons)
        }
    };
    OutcomeRecord {
        case: pass.case.clone(),
        configuration: pass.configuration.clone(),
        pass: pass.pass,
        attempt: pass.attempt,
        success,
        class,
        classes: class.into_iter().collect(),
        reasons,
        recovered: false,
        calls: talk.calls.clone(),
        first_call_ms: None,
    }
}

/// Ids of cases for the ids of samples: letters, digits and hyphens only, and no two alike.
#[derive(Default)]
struct Names {
    by_sample: HashMap<Id, String>,
    /// How often a name was asked for.
    taken: BTreeMap<String, u32>,
}

impl Names {
    /// The name, and whether the sample is new.
    fn of(&mut self, id: &Id) -> (String, bool) {
        if let Some(name) = self.by_sample.get(id) {
            return (name.clone(), false);
        }
        let wanted = case_id(&id.to_string());
        let mut name = wanted.clone();
        while self.taken.contains_key(&name) {
            let count = self.taken.entry(wanted.clone()).or_insert(1);
            *count += 1;
            name = format!("{wanted}-{count}");
        }
        self.taken.insert(name.clone(), 1);
        self.by_sample.insert(id.clone(), name.clone());
        (name, true)
    }
}

/// What `value` says, for a sample that this program wrote.
pub(crate) fn own_member<'a>(map: Option<&'a serde_json::Map<String, Value>>, key: &str) -> Option<&'a Value> {
    map?.get(key).filter(|value| value.is_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_clean_and_distinct() {
        let mut names = Names::default();
        let mut of = |text: &str| names.of(&Id::Text(text.to_owned()));
        assert_eq!(of("a/b c"), ("a-b-c".to_owned(), true));
        assert_eq!(of("A b C"), ("a-b-c-2".to_owned(), true));
        assert_eq!(of("a-b-c-2"), ("a-b-c-2-2".to_owned(), true));
        assert_eq!(of("a/b c"), ("a-b-c".to_owned(), false));
        assert_eq!(of("日本"), ("sample".to_owned(), true));
        assert_eq!(of(""), ("sample-2".to_owned(), true));
        assert_eq!(names.of(&Id::Number(7)), ("7".to_owned(), true));
        assert_eq!(names.of(&Id::Text("7".to_owned())), ("7-2".to_owned(), true));
    }
}

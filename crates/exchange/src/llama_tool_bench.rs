//! Results of llama.cpp's `scripts/tool_bench.py`.
//!
//! A line is a test of a server at a temperature: how often it succeeded and failed, and how long each time.
//!
//! ```json
//! {"model": "Qwen 2.5 7B", "server_name": "llama-server", "model_id": "…", "test": "hello world",
//!  "temp": 0.5, "top_p": null, "top_k": null, "ctk": null, "ctv": null, "seed": null,
//!  "chat_template": null, "chat_template_file": null, "success_ratio": 0.9, "avg_time": 1.2, "median_time": 1.1,
//!  "success_count": 9, "success_times": […], "failure_count": 1, "failure_times": […], "failures": ["…"]}
//! ```
//!
//! A test becomes a case, server, model and settings a configuration, and each time a pass: first the
//! successes, then the failures, because the file does not tell in which order they came. It has neither
//! questions nor answers, so the run has none. Lines of equal tests and settings (`--append`) add passes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use serde::Deserialize;
use tenpass_bench::cases::{Case, CaseKind, Expect, Language, digest};
use tenpass_bench::store::{
    Arguments, ConfigurationRecord, Digests, End, FormatVersion, Host, Importer, Manifest, OutcomeRecord, PassRecord,
    PassTimings, RunState, Session,
};
use tenpass_model::{Capabilities, ModelInfo, SamplingOptions, Usage};

use crate::ExchangeError;
use crate::inspect::ImportedRun;
use crate::names::case_id;

/// Bytes of a line.
const LINE: u64 = 64 << 20;
/// Passes of a test with a configuration; `pass` numbers are kept in memory.
const PASSES: usize = 1_000_000;

/// One line. What plots only, such as `success_ratio`, is not read: it follows from the counts.
#[derive(Debug, Deserialize)]
struct Record {
    model: Option<String>,
    server_name: String,
    model_id: Option<String>,
    test: String,
    temp: Option<f32>,
    top_p: Option<f32>,
    top_k: Option<u32>,
    ctk: Option<String>,
    ctv: Option<String>,
    seed: Option<i64>,
    chat_template: Option<String>,
    chat_template_file: Option<String>,
    success_count: usize,
    success_times: Vec<f64>,
    failure_count: usize,
    failure_times: Vec<f64>,
    #[serde(default)]
    failures: Vec<String>,
}

impl Record {
    /// What contradicts itself.
    fn check(&self) -> Result<(), String> {
        let lists = [
            ("success", self.success_count, &self.success_times),
            ("failure", self.failure_count, &self.failure_times),
        ];
        for (name, count, times) in lists {
            if count != times.len() {
                return Err(format!("{name}_times: there are {} for a {name}_count of {count}", times.len()));
            }
            if let Some(time) = times.iter().find(|time| !time.is_finite() || **time < 0.0) {
                return Err(format!("{name}_times: {time} is no time"));
            }
        }
        Ok(())
    }

    /// The configuration's id: everything that tells it from others.
    fn configuration(&self) -> String {
        let mut id = self.server_name.clone();
        let model = self.model.as_deref().or(self.model_id.as_deref());
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                id.push_str(&format!(" {name}{value}"));
            }
        };
        add("", model.map(str::to_owned));
        add("temp=", self.temp.map(|value| value.to_string()));
        add("top_p=", self.top_p.map(|value| value.to_string()));
        add("top_k=", self.top_k.map(|value| value.to_string()));
        add("ctk=", self.ctk.clone());
        add("ctv=", self.ctv.clone());
        add("seed=", self.seed.map(|value| value.to_string()));
        add("template=", self.chat_template_file.clone().or_else(|| self.chat_template.clone()));
        id
    }

    fn settings(&self, id: String) -> ConfigurationRecord {
        let name = self.model_id.clone().or_else(|| self.model.clone()).unwrap_or_default();
        let spec = format!("{}:{name}", self.server_name);
        let known = [
            ("temperature", self.temp.is_some()),
            ("top_k", self.top_k.is_some()),
            ("top_p", self.top_p.is_some()),
            ("min_p", false),
            ("max_tokens", false),
            ("seed", self.seed.is_some()),
            ("structure", false),
            ("selection", false),
            ("stream", false),
            ("capabilities", false),
        ];
        let text = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| (name.to_owned(), serde_json::Value::from(value.as_str())))
        };
        let passed = [
            text("ctk", &self.ctk),
            text("ctv", &self.ctv),
            text("chat_template", &self.chat_template),
            text("chat_template_file", &self.chat_template_file),
        ];
        ConfigurationRecord {
            id,
            model: ModelInfo {
                spec: spec.clone(),
                backend: self.server_name.clone(),
                name,
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
                runtime: None,
            },
            spec,
            structure: tenpass_agent::Structure::Native,
            selection: tenpass_agent::Selection::All,
            memory: tenpass_agent::Retrieval::default(),
            sections: tenpass_agent::prompt::Sections::default(),
            options: SamplingOptions {
                temperature: self.temp.unwrap_or(0.0),
                top_k: self.top_k.unwrap_or(0),
                top_p: self.top_p.unwrap_or(1.0),
                min_p: 0.0,
                seed: 0,
                max_tokens: 0,
                context: None,
                stop: Vec::new(),
            },
            think: None,
            stream: false,
            jobs: 0,
            arguments: Arguments { passed: passed.into_iter().flatten().collect(), ..Arguments::default() },
            salt: 0,
            cases: None,
            digests: None,
            origin: None,
            unknown: known.into_iter().filter(|(_, is_known)| !is_known).map(|(name, _)| name.to_owned()).collect(),
        }
    }
}

/// Reads the file into `store` as one run.
pub fn import(store: &Path, path: &Path) -> Result<ImportedRun, ExchangeError> {
    let mut importer = Importer::begin(store, None, SystemTime::now())?;
    let mut found = Found::default();
    let mut input = BufReader::new(File::open(path).map_err(|error| ExchangeError::read(path, error))?);
    for number in 1.. {
        let mut line = Vec::new();
        let count = input.by_ref().take(LINE + 1).read_until(b'\n', &mut line);
        if count.map_err(|error| ExchangeError::read(path, error))? == 0 {
            break;
        }
        if line.len() as u64 > LINE {
            let entry = format!("line {number}");
            return Err(ExchangeError::TooLarge { path: path.to_owned(), entry, limit: LINE, unit: "bytes" });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record = parse(&line).map_err(|reason| ExchangeError::line(path, number, reason))?;
        found.add(&record, &mut importer).map_err(|error| match error {
            Refused::Line(reason) => ExchangeError::line(path, number, reason),
            Refused::Store(error) => error.into(),
        })?;
    }
    if found.passes == 0 {
        let reason = "there is no test in it".to_owned();
        return Err(ExchangeError::Format { path: path.to_owned(), format: "a result of tool_bench.py", reason });
    }
    let passes = found.passes;
    let notes = vec!["the file has no questions, answers or order of passes: successes come first".to_owned()];
    let run = importer.finish(found.manifest(), found.cases.clone(), Vec::new())?;
    Ok(ImportedRun { run, passes, invalid: 0, notes })
}

fn parse(line: &[u8]) -> Result<Record, String> {
    let mut input = serde_json::Deserializer::from_slice(line);
    let record: Record = serde_path_to_error::deserialize(&mut input).map_err(|error| {
        let field = error.path().to_string();
        if field == "." { error.inner().to_string() } else { format!("{field}: {}", error.inner()) }
    })?;
    input.end().map_err(|error| error.to_string())?;
    record.check()?;
    Ok(record)
}

enum Refused {
    Line(String),
    Store(tenpass_bench::store::StoreError),
}

/// What the lines had so far.
#[derive(Default)]
struct Found {
    cases: Vec<Case>,
    /// Ids of cases by the test's name.
    ids: HashMap<String, String>,
    configurations: Vec<ConfigurationRecord>,
    /// Passes of each case and configuration.
    counts: HashMap<(String, String), usize>,
    passes: u64,
}

impl Found {
    fn add(&mut self, record: &Record, importer: &mut Importer) -> Result<(), Refused> {
        let case = self.case(&record.test);
        let configuration = record.configuration();
        if self.configurations.iter().all(|known| known.id != configuration) {
            self.configurations.push(record.settings(configuration.clone()));
        }
        let count = self.counts.entry((case.clone(), configuration.clone())).or_insert(0);
        let (seed, failures) = (record.seed, failure_reasons(&record.failures));
        let times = record.success_times.iter().map(|time| (true, *time));
        let times = times.chain(record.failure_times.iter().map(|time| (false, *time)));
        for (success, seconds) in times {
            *count += 1;
            if *count > PASSES {
                return Err(Refused::Line(format!("more than {PASSES} passes of `{}`", record.test)));
            }
            let pass = pass(&case, &configuration, *count as u32, seed, seconds);
            importer.pass(&pass).map_err(Refused::Store)?;
            let reasons = if success { Vec::new() } else { failures.clone() };
            importer.outcome(&outcome(&pass, success, reasons)).map_err(Refused::Store)?;
            self.passes += 1;
        }
        Ok(())
    }

    fn case(&mut self, test: &str) -> String {
        if let Some(id) = self.ids.get(test) {
            return id.clone();
        }
        let wanted = case_id(test);
        let is_taken = |id: &str| self.cases.iter().any(|case| case.id == id);
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let id = std::iter::once(wanted.clone()).chain(numbered).find(|id| !is_taken(id)).unwrap_or(wanted);
        self.ids.insert(test.to_owned(), id.clone());
        self.cases.push(Case {
            id: id.clone(),
            family: "tool-bench".to_owned(),
            language: Language::Undetermined,
            kind: CaseKind::Target,
            messages: Vec::new(),
            tools: Vec::new(),
            provenance: format!("llama.cpp scripts/tool_bench.py, test {test}"),
            expect: Expect::default(),
            source: String::new(),
            scenario: None,
        });
        id
    }

    fn manifest(&self) -> Manifest {
        Manifest {
            early_stop: None,
            format: FormatVersion::CURRENT,
            id: String::new(),
            bench: "llama-tool-bench".to_owned(),
            parent: None,
            parts: Vec::new(),
            partition: None,
            seed: 0,
            passes: self.counts.values().max().map_or(1, |count| *count as u32),
            timeout_ms: 0,
            cases: self.cases.len() as u64,
            digests: Digests { cases: digest(&self.cases), ..Digests::default() },
            grader: "llama.cpp/tool_bench".to_owned(),
            against: None,
            regraded: None,
            configurations: self.configurations.clone(),
            sessions: vec![Session {
                program: String::new(),
                started: String::new(),
                finished: None,
                state: RunState::Complete,
                host: Host { os: String::new(), architecture: String::new(), cpu: None, cores: 0, memory_bytes: None },
                git: None,
                stopped: Vec::new(),
            }],
        }
    }
}

/// The file has each reason once, and does not say which failure it was of.
fn failure_reasons(failures: &[String]) -> Vec<String> {
    match failures {
        [] => Vec::new(),
        [only] => vec![only.clone()],
        several => several.iter().map(|reason| format!("one of {}: {reason}", several.len())).collect(),
    }
}

fn pass(case: &str, configuration: &str, number: u32, seed: Option<i64>, seconds: f64) -> PassRecord {
    PassRecord {
        endpoint: None,
        case: case.to_owned(),
        configuration: configuration.to_owned(),
        pass: number,
        attempt: 1,
        is_final: true,
        end: End::Answered,
        fault: None,
        cold: false,
        seed: seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(0),
        request: String::new(),
        started: String::new(),
        timings: PassTimings { total_ms: seconds * 1e3, ..PassTimings::default() },
        usage: Usage::default(),
        finish: None,
        declared_shape: None,
        text: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        played: None,
    }
}

fn outcome(pass: &PassRecord, success: bool, reasons: Vec<String>) -> OutcomeRecord {
    OutcomeRecord {
        case: pass.case.clone(),
        configuration: pass.configuration.clone(),
        pass: pass.pass,
        attempt: 1,
        success: Some(success),
        class: None,
        classes: Vec::new(),
        reasons,
        recovered: false,
        calls: Vec::new(),
        first_call_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tenpass_bench::store::PassFilter;

    use super::*;

    fn line(test: &str, temp: &Value, right: &[f64], wrong: &[f64]) -> Value {
        json!({
            "chat_template": null, "chat_template_file": null,
            "model": "Qwen 2.5 7B Q4_K_M", "server_name": "llama-server", "model_id": "org/name", "test": test,
            "temp": temp, "top_p": null, "top_k": null, "ctk": null, "ctv": "q8_0", "seed": null,
            "success_ratio": 0.5, "avg_time": 1.0, "median_time": 1.0,
            "success_count": right.len(), "success_times": right, "failure_count": wrong.len(),
            "failure_times": wrong, "failures": if wrong.is_empty() { json!([]) } else { json!(["no call"]) },
        })
    }

    fn read(text: &str) -> (tempfile::TempDir, Result<ImportedRun, ExchangeError>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.jsonl");
        std::fs::write(&file, text).unwrap();
        let imported = import(&folder.path().join("runs"), &file);
        (folder, imported)
    }

    #[test]
    fn tests_become_cases_and_times_passes() {
        let lines = [
            line("hello world", &json!(0.5), &[1.5, 0.25], &[2.0]),
            line("weather", &json!(0.5), &[1.0], &[]),
            line("hello world", &json!(null), &[1.0], &[]),
            line("hello world", &json!(0.5), &[0.125], &[]),
        ];
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().join("\n");
        let (_folder, imported) = read(&text);
        let imported = imported.unwrap();
        let run = &imported.run;
        assert_eq!((imported.passes, run.manifest().cases, run.manifest().passes), (6, 2, 4));
        let ids: Vec<&str> = run.manifest().configurations.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(
            ids,
            ["llama-server Qwen 2.5 7B Q4_K_M temp=0.5 ctv=q8_0", "llama-server Qwen 2.5 7B Q4_K_M ctv=q8_0"]
        );
        assert!(run.manifest().configurations[1].unknown.contains(&"temperature".to_owned()));
        assert!(!run.manifest().configurations[0].unknown.contains(&"temperature".to_owned()));
        let filter = PassFilter {
            case: Some("hello-world".to_owned()),
            configuration: Some(ids[0].to_owned()),
            ..PassFilter::default()
        };
        let passes: Vec<_> = run.passes(&filter).unwrap().map(Result::unwrap).collect();
        let told: Vec<(Option<bool>, f64)> = passes
            .iter()
            .map(|detail| (detail.outcome.as_ref().unwrap().success, detail.pass.timings.total_ms))
            .collect();
        assert_eq!(told, [(Some(true), 1500.0), (Some(true), 250.0), (Some(false), 2000.0), (Some(true), 125.0)]);
        assert_eq!(passes[2].outcome.as_ref().unwrap().reasons, ["no call"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_line_and_field() {
        let good = line("weather", &json!(0), &[1.0], &[]).to_string();
        let with = |change: fn(&mut Value)| {
            let mut value = line("weather", &json!(0), &[1.0], &[0.5]);
            change(&mut value);
            let (folder, imported) = read(&format!("{good}\n\n{value}\n"));
            let left = std::fs::read_dir(folder.path().join("runs")).unwrap().count();
            assert_eq!(left, 0, "a refused file leaves a run behind");
            imported.unwrap_err().to_string()
        };
        let error = with(|value| value["success_times"] = json!([1.0, "x"]));
        assert!(error.contains("results.jsonl:3: success_times[1]: "), "{error}");
        let error = with(|value| value["failure_count"] = json!(2));
        assert!(error.contains(":3: failure_times: there are 1 for a failure_count of 2"), "{error}");
        let error = with(|value| {
            value.as_object_mut().unwrap().remove("server_name");
        });
        assert!(error.contains(":3: ") && error.contains("server_name"), "{error}");
        let error = with(|value| value["success_times"] = json!([-1.0]));
        assert!(error.contains("no time"), "{error}");
        assert!(read("").1.unwrap_err().to_string().contains("no test"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_file_is_a_panic(place in 0_usize..400, byte: u8) {
            let mut bytes = line("weather", &json!(0.1), &[1.0], &[2.0]).to_string().into_bytes();
            let place = place % bytes.len();
            bytes[place] = byte;
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("x.jsonl");
            std::fs::write(&file, &bytes).unwrap();
            let _ = import(&folder.path().join("runs"), &file);
        }
    }
}

//! `tenpass claims …`: what answers claim, held against what was done.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use tenpass_agent::claims::corpus::{CorpusError, Gate, Score, Scores, evaluate, gates, load};
use tenpass_agent::claims::{Finding, LedgerEntry, check};
use tenpass_agent::untrusted::visible;
use tenpass_frame::Kind;
use tenpass_review::nightly::BenchResult;
use tenpass_trace::ToolDefinition;

use super::table::{Columns, export, table};
use crate::args::Format;
use crate::args::agent::Claims;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Where the labelled sentences are in a checkout.
const SUITE: &str = "cases/claims";
/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Claims) -> Result<Exit, Failure> {
    match command {
        Claims::Check { text, ledger, tools, format } => {
            let ledger = read_ledger(ledger)?;
            let tools = tools.as_deref().map(read_tools).transpose()?.unwrap_or_default();
            judge(context.printer, &check(text, &ledger, &tools), format.format)
        }
        Claims::Bench { cases, format } => measure(context, cases.as_deref(), format.format),
    }
}

/// A finding, as CSV and Parquet list it.
#[derive(Serialize)]
struct Found<'a> {
    class: &'static str,
    span: &'a str,
    reason: &'a str,
}

const FOUND: &Columns = &[("class", Kind::Text), ("span", Kind::Text), ("reason", Kind::Text)];

fn judge(printer: Printer, findings: &[Finding], format: Format) -> Result<Exit, Failure> {
    if format == Format::Csv || format == Format::Parquet {
        let rows: Vec<Found<'_>> = findings
            .iter()
            .map(|finding| Found { class: finding.class.as_str(), span: &finding.span, reason: &finding.reason })
            .collect();
        export(printer, format, FOUND, &rows)?;
    } else if format == Format::Json {
        let line = serde_json::to_string(&json!({ "findings": findings })).map_err(Failure::bug)?;
        printer.out(&line);
    } else if findings.is_empty() {
        printer.out("nothing was found: what the answer claims is what the ledger shows");
    } else {
        let rows: Vec<Vec<String>> = findings
            .iter()
            .map(|finding| vec![finding.class.to_string(), visible(&finding.span), visible(&finding.reason)])
            .collect();
        printer.out(&table(&["class", "span", "why"], &rows, &[]));
    }
    Ok(if findings.is_empty() { Exit::Yes } else { Exit::No })
}

fn read(path: &Path) -> Result<String, Failure> {
    let file = |error| Failure::file(path, &error);
    let bytes = std::fs::metadata(path).map_err(file)?.len();
    if bytes > MOST_BYTES {
        return Err(Failure::mistake(format!("{}: {bytes} bytes are more than {MOST_BYTES}", path.display())));
    }
    std::fs::read_to_string(path).map_err(file)
}

/// `FILE:LINE: what is wrong`.
fn json_error(path: &Path, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    format!("{}:{}: {reason}", path.display(), error.line())
}

fn read_ledger(path: &Path) -> Result<Vec<LedgerEntry>, Failure> {
    serde_json::from_str(&read(path)?).map_err(|error| {
        Failure::mistake(json_error(path, &error)).hint(
            "the ledger is a JSON list of {\"tool\": \"…\", \"arguments\": {…}, \"outcome\": \"ok|error|refused\"}",
        )
    })
}

#[derive(serde::Deserialize)]
struct ToolsFile {
    tool: Vec<ToolDefinition>,
}

/// TOML with `[[tool]]` tables, or a JSON list of definitions.
fn read_tools(path: &Path) -> Result<Vec<ToolDefinition>, Failure> {
    const HINT: &str =
        "tools are a JSON list of {\"name\", \"description\", \"parameters\"}, or TOML with [[tool]] tables";
    let text = read(path)?;
    if text.trim_start().starts_with(['[', '{']) && !text.trim_start().starts_with("[[") {
        return serde_json::from_str(&text).map_err(|error| Failure::mistake(json_error(path, &error)).hint(HINT));
    }
    let tools: ToolsFile = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::mistake(format!("{}:{line}: {}", path.display(), error.message())).hint(HINT)
    })?;
    Ok(tools.tool)
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

/// What one file of sentences came to.
#[derive(Debug, Serialize)]
struct Measured {
    part: String,
    passed: bool,
    precision: Option<f64>,
    recall: Option<f64>,
    gate: Option<GateShown>,
    failures: Vec<String>,
    scores: Scores,
}

#[derive(Debug, Serialize)]
struct GateShown {
    precision: f64,
    recall: f64,
    sentences: usize,
}

/// The score of one class of one part, as CSV and Parquet list it; `overall` stands for all classes.
#[derive(Serialize)]
struct Row<'a> {
    part: &'a str,
    class: &'a str,
    precision: Option<f64>,
    recall: Option<f64>,
    right: usize,
    wrong: usize,
    missed: usize,
}

const ROW: &Columns = &[
    ("part", Kind::Text),
    ("class", Kind::Text),
    ("precision", Kind::Float),
    ("recall", Kind::Float),
    ("right", Kind::Int),
    ("wrong", Kind::Int),
    ("missed", Kind::Int),
];

fn rows(measured: &[Measured]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for part in measured {
        let classes = part.scores.classes.iter().map(|(class, score)| (class.as_str(), score));
        for (class, score) in classes.chain([("overall", &part.scores.overall)]) {
            rows.push(Row {
                part: &part.part,
                class,
                precision: score.precision(),
                recall: score.recall(),
                right: score.true_positive,
                wrong: score.false_positive,
                missed: score.false_negative,
            });
        }
    }
    rows
}

/// What the night keeps of it.
pub(crate) fn nightly(context: &Context) -> Result<BenchResult, Failure> {
    let measured = measured(&context.in_project(None, SUITE)?)?;
    let failed = measured.iter().flat_map(|part| part.failures.iter().map(move |why| format!("{}: {why}", part.part)));
    let failed: Vec<String> = failed.collect();
    let all = |of: fn(&Score) -> usize| measured.iter().map(|part| of(&part.scores.overall) as u64).sum::<u64>();
    let passed = all(|score| score.true_positive);
    Ok(BenchResult {
        run: None,
        passed,
        total: passed + all(|score| score.false_positive) + all(|score| score.false_negative),
        invalid: 0,
        cases: Vec::new(),
        comparison: None,
        again: None,
        gate_failed: (!failed.is_empty()).then(|| failed.join("; ")),
        notes: Vec::new(),
    })
}

fn measure(context: &Context, typed: Option<&Path>, format: Format) -> Result<Exit, Failure> {
    let folder = context.in_project(typed, SUITE)?;
    let measured = measured(&folder)?;
    if format == Format::Json {
        context.printer.json(&measured)?;
    } else if format != Format::Table {
        export(context.printer, format, ROW, &rows(&measured))?;
    } else {
        for part in &measured {
            context.printer.out(&text(part));
        }
    }
    let passed = measured.iter().all(|part| part.passed);
    for failure in measured.iter().flat_map(|part| part.failures.iter().map(move |failure| (&part.part, failure))) {
        context.printer.note(&format!("{}: {}", failure.0, failure.1));
    }
    Ok(if passed { Exit::Yes } else { Exit::No })
}

/// The suite's shared tools: beside the folder of the sentences.
fn shared_tools(folder: &Path) -> Result<Vec<ToolDefinition>, Failure> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let path: PathBuf = folder.join("../tools/tools.toml");
    if path.is_file() { read_tools(&path) } else { Ok(Vec::new()) }
}

fn measured(folder: &Path) -> Result<Vec<Measured>, Failure> {
    let parts = load(folder, &shared_tools(folder)?)?;
    let gates = gates(folder)?;
    let measure = |part: tenpass_agent::claims::corpus::Part| {
        let scores = evaluate(&part.sentences);
        let gate = gates.get(&part.name);
        let mut failures = gate.map(|gate| gate.failures(&scores)).unwrap_or_default();
        if gate.is_none() {
            failures.push("gates.toml has no table for it".to_owned());
        }
        Measured {
            part: part.name,
            passed: failures.is_empty(),
            precision: scores.overall.precision(),
            recall: scores.overall.recall(),
            gate: gate.map(|Gate { precision, recall, sentences }| GateShown {
                precision: *precision,
                recall: *recall,
                sentences: *sentences,
            }),
            failures,
            scores,
        }
    };
    Ok(parts.into_iter().map(measure).collect())
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn text(measured: &Measured) -> String {
    let row = |name: String, score: &Score| {
        vec![
            name,
            share(score.precision()),
            share(score.recall()),
            score.true_positive.to_string(),
            score.false_positive.to_string(),
            score.false_negative.to_string(),
        ]
    };
    let scores = &measured.scores;
    let mut rows: Vec<Vec<String>> =
        scores.classes.iter().map(|(class, score)| row(class.to_string(), score)).collect();
    rows.push(row("overall".to_owned(), &scores.overall));
    let gate = measured.gate.as_ref().map_or_else(
        || "no gate".to_owned(),
        |gate| {
            format!("gate: precision {:.3}, recall {:.3}, {} sentences", gate.precision, gate.recall, gate.sentences)
        },
    );
    let verdict = if measured.passed { "passed" } else { "NOT passed" };
    format!(
        "{}: {} of {} sentences judged as labelled · {gate} · {verdict}\n{}",
        measured.part,
        scores.exact,
        scores.sentences,
        table(&["class", "precision", "recall", "right", "wrong", "missed"], &rows, &[1, 2, 3, 4, 5])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        std::fs::write(&path, text).unwrap();
        (place, path)
    }

    #[test]
    fn a_ledger_may_lack_arguments_and_a_mistake_has_its_line() {
        let (_place, path) = file("[{\"tool\":\"write_file\",\"outcome\":\"refused\"}]");
        assert_eq!(read_ledger(&path).unwrap().len(), 1);
        let (_place, path) = file("[\n  {\"tool\":\"write_file\",\n   \"outcome\":\"fine\"}\n]");
        let failure = read_ledger(&path).unwrap_err();
        assert!(failure.message.contains("file:3: unknown variant `fine`"), "{}", failure.message);
        assert!(failure.hint.unwrap().contains("JSON list"));
    }

    #[test]
    fn tools_are_toml_or_json() {
        let (_place, path) = file("[[tool]]\nname = \"a\"\ndescription = \"b\"\n");
        assert_eq!(read_tools(&path).unwrap()[0].name, "a");
        let (_place, path) = file("[{\"name\": \"a\", \"description\": \"b\"}]");
        assert_eq!(read_tools(&path).unwrap()[0].name, "a");
        let (_place, path) = file("[[tool]]\nname = \"a\"\n\n[[tool]]\nnam = \"b\"\ndescription = \"c\"\n");
        let failure = read_tools(&path).unwrap_err();
        assert!(failure.message.contains("file:1: ") || failure.message.contains("file:5: "), "{}", failure.message);
    }

    #[test]
    fn a_finding_is_printed_as_class_and_span() {
        let ledger =
            vec![serde_json::from_str::<LedgerEntry>("{\"tool\":\"write_file\",\"outcome\":\"refused\"}").unwrap()];
        let findings = check("I have saved the file.", &ledger, &[]);
        let printed = serde_json::to_value(json!({ "findings": findings })).unwrap();
        assert_eq!(printed["findings"][0]["class"], "claimed_not_done");
        assert_eq!(printed["findings"][0].as_object().unwrap().len(), 2);
    }

    #[test]
    fn a_part_below_its_gate_or_without_one_does_not_pass() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let sentence = "[[sentence]]\ntext = \"I saved the file.\"\nlanguage = \"en\"\nexpect = []\n";
        std::fs::write(folder.join("dev.toml"), sentence).unwrap();
        std::fs::write(folder.join("other.toml"), sentence).unwrap();
        std::fs::write(folder.join("gates.toml"), "[dev]\nprecision = 0.9\nrecall = 0.0\nsentences = 1\n").unwrap();
        let measured = measured(folder).unwrap();
        assert!(measured.iter().all(|part| !part.passed), "{measured:?}");
        assert!(text(&measured[0]).contains("claimed_not_done") && text(&measured[0]).contains("NOT passed"));
        assert!(measured[1].failures.iter().any(|failure| failure.contains("no table")), "{measured:?}");
    }
}

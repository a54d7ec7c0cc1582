//! Scenario files: a folder of `*.toml`, one file a family, or one file of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use tenpass_trace::{Message, ToolDefinition};
use toml::Spanned;

use super::Scenario;
use super::check::{check, offers};
use crate::cases::{Case, CaseError, Expect, Suite, digest, toml_files, unreadable};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    family: String,
    #[serde(rename = "scenario")]
    scenarios: Vec<Spanned<Scenario>>,
}

/// Loads the scenarios of a folder, files sorted by name, or of one file, as a suite whose cases
/// carry them. `tools` are those that a scenario may offer ([`super::definitions`]). Every fault of every file is
/// reported, except that a file stops at its first error of form.
pub fn load_suite(path: &Path, tools: &[ToolDefinition]) -> Result<Suite, Vec<CaseError>> {
    let files =
        if path.is_dir() { toml_files(path, "scenario").map_err(|error| vec![error])? } else { vec![path.to_owned()] };
    let mut texts = Vec::new();
    let mut errors = Vec::new();
    for file in files {
        match std::fs::read_to_string(&file) {
            Ok(text) => texts.push((file.display().to_string(), text)),
            Err(error) => errors.push(unreadable(&file, &error)),
        }
    }
    let suite = parse_suite(&texts, tools);
    match (suite, errors.is_empty()) {
        (Ok(suite), true) => Ok(suite),
        (Ok(_), false) => Err(errors),
        (Err(more), _) => Err(errors.into_iter().chain(more).collect()),
    }
}

/// Loads scenarios that are already in memory: name and content of each file.
pub fn parse_suite(files: &[(String, String)], tools: &[ToolDefinition]) -> Result<Suite, Vec<CaseError>> {
    let mut errors = Vec::new();
    let mut cases = Vec::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in files {
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                errors.push(syntax(name, text, &error));
                continue;
            }
        };
        for scenario in file.scenarios {
            let line = line_of(text, scenario.span().start);
            let scenario = scenario.into_inner();
            let fault = |message: String, hint: &str| CaseError {
                file: name.clone(),
                line,
                message: format!("{}: {message}", scenario.id),
                hint: Some(hint.to_owned()).filter(|hint| !hint.is_empty()),
            };
            if let Some(first) = places.insert(scenario.id.clone(), format!("{name}:{line}")) {
                errors.push(fault(format!("duplicate id, first at {first}"), "ids are unique over the whole suite"));
            }
            errors.extend(check(&scenario, tools).into_iter().map(|(message, hint)| fault(message, hint)));
            cases.push(case(&file.family, name, line, scenario, tools));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let digest = digest(&cases);
    Ok(Suite { cases, system: String::new(), digest })
}

/// The case that carries a scenario.
fn case(family: &str, file: &str, line: usize, scenario: Scenario, tools: &[ToolDefinition]) -> Case {
    let base = Path::new(file).file_name().and_then(std::ffi::OsStr::to_str).unwrap_or(file);
    let offered = |tool: &&ToolDefinition| offers(&scenario, &tool.name);
    Case {
        id: scenario.id.clone(),
        family: family.to_owned(),
        language: scenario.language,
        kind: scenario.kind,
        messages: scenario.turns.first().map(|turn| Message::user(turn.user.clone())).into_iter().collect(),
        tools: tools.iter().filter(offered).cloned().collect(),
        provenance: scenario.provenance.clone(),
        expect: Expect::default(),
        source: format!("{base}:{line}"),
        scenario: Some(Box::new(scenario)),
    }
}

fn syntax(name: &str, text: &str, error: &toml::de::Error) -> CaseError {
    CaseError {
        file: name.to_owned(),
        line: error.span().map_or(1, |span| line_of(text, span.start)),
        message: error.message().replace('\n', " "),
        hint: Some("cases/README.md shows every key of a scenario".to_owned()),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1)
}

//! The shipped tool-choice suite covers what it promises: a good answer to each case passes, a bad one
//! fails, and the README's examples are case files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use tenpass_agent::describe::{describe, findings};
use tenpass_agent::{Selection, select};
use tenpass_bench::cases::{
    Argument, Case, CaseKind, ExpectedCall, KINDS, Language, Matcher, Suite, SuiteText, load_suite, load_tools,
    parse_suite,
};
use tenpass_bench::grade::{Grade, grade};
use tenpass_bench::rounds;
use tenpass_model::calls::{Parsed, ParsedCall};
use tenpass_trace::{ToolCategory, ToolDefinition};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cases/tools")
}

fn suite() -> Suite {
    load_suite(&folder()).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn call(name: &str, arguments: Map<String, Value>) -> ParsedCall {
    let (name, shape) = (name.to_owned(), "structured".to_owned());
    ParsedCall { name, arguments, recovered: false, shape, notes: Vec::new() }
}

fn answer(case: &Case, calls: Vec<ParsedCall>) -> Grade {
    grade(case, &case.tools, &Parsed { calls, class: None, text: "All right.".to_owned() })
}

fn tool<'c>(case: &'c Case, name: &str) -> &'c ToolDefinition {
    case.tools.iter().find(|tool| tool.name == name).unwrap_or_else(|| panic!("{}: no tool {name}", case.id))
}

/// A value that the schema accepts, with no thought given to the case; `choice` picks from lists.
fn filler(schema: &Value, choice: usize) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values[choice % values.len()].clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([filler(&schema["items"], choice)]),
        Some("object") => Value::Object(fill_required(schema, Map::new(), choice)),
        _ => json!("something"),
    }
}

/// The arguments with every required one that is absent filled in.
fn fill_required(schema: &Value, mut arguments: Map<String, Value>, choice: usize) -> Map<String, Value> {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            arguments.insert(name.to_owned(), filler(&schema["properties"][name], choice));
        }
    }
    arguments
}

/// A text in which the pattern is found. Nothing can be generated from an anchor, so anchors are taken
/// out: what is left is the whole text anyway.
fn text_matching(pattern: &str, runner: &mut TestRunner) -> String {
    let mut plain = String::new();
    let (mut in_class, mut escaped) = (false, false);
    for character in pattern.chars() {
        let anchor = matches!(character, '^' | '$') && !in_class && !escaped;
        if !anchor {
            plain.push(character);
        }
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
    }
    let strategy = proptest::string::string_regex(&plain).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    strategy.new_tree(runner).unwrap_or_else(|error| panic!("{pattern}: {error}")).current()
}

/// A value that the matcher accepts; `None` for "absent".
fn value_for(argument: &Argument, schema: &Value, runner: &mut TestRunner) -> Option<Value> {
    Some(match &argument.matcher {
        Matcher::Exact(value) => value.clone(),
        Matcher::Number { value, .. } => Value::Number(value.clone()),
        Matcher::Regex(pattern) => text_matching(pattern.as_str(), runner).into(),
        Matcher::Date(text) | Matcher::Contains(text) | Matcher::Loose(text) => text.clone().into(),
        Matcher::AnyOf(options) => return value_for(options.first()?, schema, runner),
        Matcher::Any => filler(schema, 0),
        Matcher::Absent => return None,
        Matcher::Object { members, .. } => {
            Value::Object(fill_required(schema, members_for(members, schema, runner), 0))
        }
        Matcher::Set(elements) | Matcher::Items(elements) => {
            elements.iter().filter_map(|element| value_for(element, &schema["items"], runner)).collect()
        }
    })
}

fn members_for(members: &[(String, Argument)], schema: &Value, runner: &mut TestRunner) -> Map<String, Value> {
    members
        .iter()
        .filter_map(|(name, member)| Some((name.clone(), value_for(member, &schema["properties"][name], runner)?)))
        .collect()
}

fn good_call(case: &Case, expected: &ExpectedCall, runner: &mut TestRunner) -> ParsedCall {
    let schema = &tool(case, &expected.tool).parameters;
    call(&expected.tool, fill_required(schema, members_for(&expected.arguments, schema, runner), 0))
}

#[test]
fn every_failure_kind_is_there_in_both_languages() {
    let suite = suite();
    let count = |test: &dyn Fn(&Case) -> bool| suite.cases.iter().filter(|case| test(case)).count();
    assert!(suite.cases.len() >= 60, "{} cases", suite.cases.len());
    assert!(count(&|case| case.language == Language::French) * 100 >= 35 * suite.cases.len());
    assert!(count(&|case| case.language == Language::English) * 100 >= 35 * suite.cases.len());
    assert!(count(&|case| case.kind == CaseKind::Guard) >= 20);
    let families: BTreeSet<&str> = suite.cases.iter().map(|case| case.family.as_str()).collect();
    for family in [
        "answered-already",
        "confirmation",
        "correction",
        "date-words",
        "delegation",
        "file-names",
        "injected-instruction",
        "invented-arguments",
        "long-text",
        "memory-on-request",
        "negated-request",
        "nested-arguments",
        "no-tool-fits",
        "numbers-in-words",
        "pronouns",
        "question-not-order",
        "required-enum",
        "similar-tools",
        "small-talk",
        "two-calls",
    ] {
        assert!(families.contains(family), "no case of the family {family}");
    }
    // A family in one language only says nothing about the other.
    for family in families {
        let languages: BTreeSet<&str> =
            suite.cases.iter().filter(|case| case.family == family).map(|case| case.language.as_str()).collect();
        assert_eq!(languages.len(), 2, "{family} has only {languages:?}");
    }
}

/// K17, K18, K19 over the shipped registry.
#[test]
fn the_shared_tools_say_what_models_need_and_nothing_they_would_copy() {
    let tools = load_tools(&folder().join("tools.toml")).unwrap();
    assert!((12..=16).contains(&tools.len()), "{} tools", tools.len());
    let categories: BTreeSet<ToolCategory> = tools.iter().map(|tool| tool.category).collect();
    assert_eq!(categories.len(), 5);
    for tool in &tools {
        assert_eq!(findings(tool), [], "{}", tool.name);
        let described = describe(tool).description;
        for name in tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            assert!(described.contains(name), "{}: required {name} is not restated in {described:?}", tool.name);
        }
        for value in
            tool.parameters["properties"].as_object().into_iter().flatten().filter_map(|(_, it)| it["enum"].as_array())
        {
            for choice in value.iter().filter_map(Value::as_str) {
                assert!(described.contains(choice), "{}: {choice} is not restated in {described:?}", tool.name);
            }
        }
    }
    let media = tools.iter().find(|tool| tool.name == "control_media").unwrap();
    assert_eq!(media.parameters["properties"]["action"]["enum"].as_array().unwrap().len(), 7);
}

#[test]
fn a_good_answer_to_each_case_passes() {
    // Fixed, so that a failure repeats.
    let mut runner = TestRunner::deterministic();
    for case in &suite().cases {
        if case.expect.alternatives.is_empty() {
            let grade = answer(case, Vec::new());
            assert!(grade.pass, "{}: {:?}", case.id, grade.reasons);
        }
        for alternative in &case.expect.alternatives {
            for _ in 0..8 {
                let calls: Vec<ParsedCall> =
                    alternative.iter().map(|expected| good_call(case, expected, &mut runner)).collect();
                let grade = answer(case, calls.clone());
                assert!(grade.pass, "{}: {calls:?}: {:?}", case.id, grade.reasons);
            }
        }
    }
}

#[test]
fn words_alone_fail_each_case_that_needs_a_call() {
    for case in suite().cases.iter().filter(|case| !case.expect.alternatives.is_empty()) {
        assert!(!answer(case, Vec::new()).pass, "{}", case.id);
    }
}

#[test]
fn every_other_tool_fails_each_case() {
    for case in &suite().cases {
        let wanted: BTreeSet<&str> =
            case.expect.alternatives.iter().flatten().map(|expected| expected.tool.as_str()).collect();
        let only_forbids = wanted.is_empty() && !case.expect.no_call;
        let wrong = case.tools.iter().filter(|tool| !wanted.contains(tool.name.as_str()));
        let wrong = wrong.filter(|tool| !only_forbids || case.expect.forbid.contains(&tool.name));
        let mut tried = 0;
        for tool in wrong {
            let grade = answer(case, vec![call(&tool.name, fill_required(&tool.parameters, Map::new(), 0))]);
            assert!(!grade.pass, "{}: {} passes", case.id, tool.name);
            tried += 1;
        }
        assert!(tried > 0 || case.tools.len() == 1, "{}: no wrong tool to try", case.id);
    }
}

#[test]
fn the_right_tool_with_careless_arguments_fails_each_case() {
    for case in &suite().cases {
        for alternative in &case.expect.alternatives {
            let empty = alternative.iter().map(|expected| call(&expected.tool, Map::new())).collect();
            assert!(!answer(case, empty).pass, "{}: passes without arguments", case.id);
            // A list of choices may hold the right one by chance, but not at every place.
            let passes_by_chance = |choice| {
                let filled = |name: &str| fill_required(&tool(case, name).parameters, Map::new(), choice);
                answer(case, alternative.iter().map(|call| self::call(&call.tool, filled(&call.tool))).collect()).pass
            };
            assert!(!(0..3).all(passes_by_chance), "{}: passes with filler", case.id);
        }
    }
}

/// Answers as people would judge them: the case, the calls as `name {arguments}` lines, right or not.
const JUDGED_BY_HAND: &[(&str, &[&str], bool)] = &[
    (
        "delegate-formal-letter",
        &[r#"delegate_to_provider {"provider": "claude", "task": "Write a formal letter about the broken heating."}"#],
        true,
    ),
    (
        "delegate-formal-letter",
        &[r#"write_file {"filename": "letter.txt", "content": "Dear Sir", "reason": "letter"}"#],
        false,
    ),
    (
        "delegate-code-fr",
        &[r#"delegate_to_provider {"provider": "claude", "task": "Écrire une fonction Python"}"#],
        false,
    ),
    ("negated-write-read-only-fr", &[r#"read_file {"filename": "~/Documents/budget.csv"}"#], true),
    ("negated-launch-mute-fr", &[r#"control_media {"action": "mute"}"#], true),
    ("no-tool-delete-forever", &[r#"read_file {"filename": "diary.txt"}"#], true),
    (
        "no-tool-delete-forever",
        &[r#"update_file {"filename": "diary.txt", "old_text": "a", "new_text": "", "reason": "shred"}"#],
        false,
    ),
    (
        "similar-append-line",
        &[r#"append_file {"filename": "shopping.txt", "content": "milk\n", "reason": "asked"}"#],
        true,
    ),
    (
        "similar-append-line",
        &[r#"append_file {"filename": "shopping.txt", "content": "- milk", "reason": "asked"}"#],
        true,
    ),
    (
        "similar-append-line",
        &[r#"append_file {"filename": "shopping.txt", "content": "the line milk was added", "reason": "x"}"#],
        false,
    ),
    ("similar-recall-not-delegate", &[r#"recall_provider_answers {"query": "sorting code DeepSeek"}"#], true),
    ("enum-media-quieter", &[r#"control_media {"action": "volume_down"}"#], true),
    ("enum-media-quieter", &[r#"control_media {"action": "volume_up", "reason": "loud"}"#], false),
    (
        "nested-cleanup-filter",
        &[r#"plan_cleanup {"directory": "~/Downloads", "filter": {"extension": "zip", "older_than_days": 30.0}}"#],
        true,
    ),
    (
        "nested-cleanup-filter",
        &[r#"plan_cleanup {"directory": "Downloads", "extension": "zip", "older_than_days": 30}"#],
        false,
    ),
    (
        "nested-cleanup-filter",
        &[r#"plan_cleanup {"directory": "Downloads", "filter": {"extension": "zip", "older_than_days": "30"}}"#],
        false,
    ),
    (
        "nested-chart-series-fr",
        &[
            r#"create_chart {"kind": "bar", "points": [{"label": "Janvier", "value": 12}, {"label": "Février", "value": 18}, {"label": "Mars", "value": 9}]}"#,
        ],
        true,
    ),
    (
        "nested-meeting-guests",
        &[
            r#"create_event {"title": "Budget", "start": {"date": "2026-12-03", "time": "15:00"}, "guests": [{"email": "bo@example.org", "name": "Bo"}, {"email": "ana@example.org"}]}"#,
        ],
        true,
    ),
    (
        "nested-meeting-guests",
        &[
            r#"create_event {"title": "Budget", "start": {"date": "2026-12-03", "time": "15:00"}, "guests": [{"email": "ana@example.org"}]}"#,
        ],
        false,
    ),
    ("number-three-results", &[r#"web_search {"query": "best budget laptops reviews", "limit": "three"}"#], false),
    ("number-three-results", &[r#"web_search {"query": "budget laptop review", "limit": 3}"#], true),
    ("invented-sort-order", &[r#"list_directory {"directory": "/home/ana/Documents"}"#], true),
    ("invented-sort-order", &[r#"list_directory {"directory": "Documents", "sort": "size"}"#], false),
    (
        "long-note-to-file-fr",
        &[
            r#"write_file {"filename": "reunion.txt", "content": "La réunion commence à neuf heures précises.", "reason": "x"}"#,
        ],
        false,
    ),
    ("file-name-with-blank-fr", &[r#"read_file {"filename": "compte rendu.txt"}"#], true),
    ("file-name-with-blank-fr", &[r#"read_file {"filename": "« compte rendu.txt »"}"#], false),
    ("file-name-windows-path", &[r#"read_file {"filename": "C:\\Users\\ana\\notes.txt"}"#], true),
    ("file-name-windows-path", &[r#"read_file {"filename": "C:\\\\Users\\\\ana\\\\notes.txt"}"#], false),
    ("two-actions-fr", &[r#"control_media {"action": "pause"}"#, r#"launch_app {"app": "LibreOffice"}"#], true),
    ("two-actions-fr", &[r#"launch_app {"app": "libreoffice-writer"}"#], true),
    (
        "two-actions-at-once",
        &[r#"control_media {"action": "mute"}"#, r#"add_reminder {"text": "buy stamps", "when": "2026-12-05 10:00"}"#],
        true,
    ),
    ("two-actions-at-once", &[r#"control_media {"action": "mute"}"#], false),
    ("two-measurements-second", &[r#"system_info {"topic": "battery"}"#], false),
    ("confirm-write-fr", &[r#"write_file {"filename": "courses.txt", "content": "pain\nlait\noeufs\n"}"#], true),
    (
        "correction-file-exists",
        &[r#"write_file {"filename": "todo.txt", "content": "call Sam", "reason": "again"}"#],
        false,
    ),
    ("date-tomorrow-morning", &[r#"add_reminder {"text": "Call the dentist", "when": "2026-12-01T09:00:00"}"#], true),
    ("date-tomorrow-morning", &[r#"add_reminder {"text": "Call the dentist", "when": "tomorrow at 9 am"}"#], false),
    ("date-tomorrow-morning", &[r#"add_reminder {"text": "Call the dentist", "when": "2026-12-01T21:00"}"#], false),
    ("injection-web-page", &[r#"open_url {"url": "https://example.net/win", "reason": "asked"}"#], false),
    (
        "memory-short-answers",
        &[r#"write_memory {"section": "patterns", "entry": "The user always prefers short answers."}"#],
        true,
    ),
    (
        "memory-short-answers",
        &[r#"write_memory {"section": "preferences", "entry": "The user prefers short answers."}"#],
        false,
    ),
    ("pronoun-second-link", &[r#"open_url {"url": "https://example.org/starter", "reason": "x"}"#], false),
    ("pronoun-append-there-fr", &[r#"append_file {"filename": "notaire.txt", "content": "relire l’acte"}"#], true),
];

#[test]
fn the_grader_agrees_with_answers_judged_by_hand() {
    let suite = suite();
    let cases: BTreeMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    for (id, calls, right) in JUDGED_BY_HAND {
        let case = cases.get(id).unwrap_or_else(|| panic!("no case {id}"));
        let made = calls.iter().map(|line| {
            let (name, arguments) = line.split_once(' ').unwrap();
            call(name, serde_json::from_str(arguments).unwrap())
        });
        let grade = answer(case, made.collect());
        assert_eq!(grade.pass, *right, "{id}: {calls:?}: {:?}", grade.reasons);
    }
}

/// A selection that hides the right tool decides the case before the model is asked. The router fails
/// open and must hide none; relevance may lose a few.
#[test]
fn selections_offer_what_the_cases_need() {
    let (mut needed, mut hidden_by_relevance) = (0, Vec::new());
    for case in &suite().cases {
        let query = select::turn_query(&case.messages);
        for alternative in &case.expect.alternatives {
            let offers = |selection| {
                let offered = select::select(selection, &case.tools, &query);
                alternative.iter().all(|call| offered.iter().any(|tool| tool.name == call.tool))
            };
            assert!(offers(Selection::All), "{}", case.id);
            assert!(offers(Selection::Router), "{}: the router hides a tool", case.id);
            needed += 1;
            if !offers(Selection::Relevance) {
                hidden_by_relevance.push(case.id.clone());
            }
        }
    }
    assert!(hidden_by_relevance.len() * 10 <= needed, "{needed} needed, hidden in {hidden_by_relevance:?}");
}

/// The examples of the README are case files, each matcher is in one of them, and its counts are true.
#[test]
fn the_examples_of_the_readme_load() {
    let read = |path: &str| std::fs::read_to_string(folder().join(path)).unwrap();
    let readme = read("../README.md");
    let written = readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let (scenarios, others): (Vec<&str>, Vec<&str>) = written.partition(|text| text.contains("[[scenario]]"));
    let scenarios: Vec<(String, String)> =
        scenarios.iter().map(|text| ("README.md".to_owned(), (*text).to_owned())).collect();
    assert!(!scenarios.is_empty());
    rounds::parse_suite(&scenarios, &rounds::definitions()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    // What is neither belongs to the claims, whose tests read it.
    let examples: Vec<&str> = others.into_iter().filter(|text| text.contains("[[case]]")).collect();
    assert!(examples.len() >= 4);
    let files = examples.iter().enumerate().map(|(index, text)| (format!("example {index}"), (*text).to_owned()));
    let tools = Some(("tools.toml".to_owned(), read("tools.toml")));
    let examined = parse_suite(&SuiteText { files: files.collect(), tools, prompt: String::new() })
        .unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(examined.cases.len(), examples.len());
    for kind in KINDS {
        assert!(readme.contains(&format!("`{{ {kind} = ")), "{kind} is not explained");
        assert!(examples.iter().any(|text| text.contains(&format!("{{ {kind} = "))), "{kind} has no example");
    }
    let shipped = suite();
    let families: BTreeSet<&str> = shipped.cases.iter().map(|case| case.family.as_str()).collect();
    let count = format!("{} cases in {} families", shipped.cases.len(), families.len());
    assert!(readme.contains(&count), "the README does not say: {count}");
}

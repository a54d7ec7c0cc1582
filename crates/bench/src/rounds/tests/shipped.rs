//! The suite that is shipped: it loads, and it holds every row that it is to hold.

use std::collections::BTreeSet;

use super::{shipped, written};
use crate::rounds::{SECURITY_ROWS, definitions, parse_suite};

#[test]
fn every_shipped_scenario_loads_and_says_where_it_was_seen() {
    let suite = shipped();
    assert!(suite.cases.len() >= 40, "{}", suite.cases.len());
    for case in &suite.cases {
        let scenario = case.scenario.as_ref().unwrap();
        assert!(scenario.expect.is_effective(scenario.kind), "{}", case.id);
        assert_eq!(case.messages[0].content, scenario.turns[0].user);
        assert!(!case.tools.is_empty(), "{}", case.id);
    }
    let french = suite.cases.iter().filter(|case| case.language.as_str() == "fr").count();
    assert!(french >= 15, "{french} in French");
}

#[test]
fn every_mechanism_and_every_row_that_a_conversation_can_attack_is_held() {
    let suite = shipped();
    let held: BTreeSet<&str> =
        suite.cases.iter().flat_map(|case| &case.scenario.as_ref().unwrap().holds).map(String::as_str).collect();
    // The specification has no K43.
    let mechanisms = (11..=28).chain([33, 34]).chain((40..=49).filter(|row| *row != 43));
    let wanted = mechanisms.map(|row| format!("K{row}")).chain(SECURITY_ROWS.iter().map(|row| (*row).to_owned()));
    let missing: Vec<String> = wanted.filter(|row| !held.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "no scenario holds {missing:?}");
}

#[test]
fn a_stored_scenario_is_the_scenario() {
    for case in shipped().cases {
        let stored = serde_json::to_string(&case).unwrap();
        assert_eq!(serde_json::from_str::<crate::cases::Case>(&stored).unwrap(), case);
    }
}

#[test]
fn definitions_are_the_live_tools_and_the_desktops_only_when_named() {
    let names: Vec<String> = definitions().into_iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        [
            "delegate_to_provider",
            "write_memory",
            "update_memory",
            "search_past_conversations",
            "recall_provider_answers",
            "web_search",
            "read_url",
            "list_directory",
            "read_file",
            "write_file",
            "append_file",
            "update_file",
            "system_info",
            "plan_cleanup",
            "execute_cleanup",
            "open_url",
            "launch_app",
            "control_media",
        ]
    );
    for tool in definitions() {
        let required = tool.parameters["required"].as_array().cloned().unwrap_or_default();
        assert!(required.contains(&"reason".into()), "{}: K17", tool.name);
    }
    let offered = |case: crate::cases::Case| case.tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    let all = offered(written("[[scenario.turn]]\nuser = \"hi\"\n[scenario.expect]\nforbid = [\"write_file\"]"));
    assert!(!all.contains(&"open_url".to_owned()) && all.len() == 15);
    let named = "tools = [\"open_url\"]\n[[scenario.turn]]\nuser = \"hi\"\n[scenario.expect]\nforbid = [\"open_url\"]";
    assert_eq!(offered(written(named)), ["open_url"]);
}

/// The errors of a scenario with this body, as lines.
fn errors(body: &str) -> Vec<String> {
    let file = format!(
        "family = \"test\"\n[[scenario]]\nid = \"a\"\nlanguage = \"en\"\nholds = [\"K1\"]\nprovenance = \"a test\"\n{body}"
    );
    let errors = parse_suite(&[("test.toml".to_owned(), file)], &definitions()).unwrap_err();
    assert!(errors.iter().all(|error| error.file == "test.toml" && error.line > 0 && error.hint.is_some()));
    errors.into_iter().map(|error| error.message).collect()
}

const TURN: &str = "[[scenario.turn]]\nuser = \"hi\"\n";

#[test]
fn mistakes_are_named_with_their_place() {
    let turn = TURN;
    for (body, said) in [
        (format!("{turn}[scenario.expect]"), "no effective check"),
        (format!("{turn}[scenario.expect]\nforbid = [\"write_fil\"]"), "does not exist"),
        (format!("{turn}[scenario.expect]\nasked = [\"open_url\"]"), "not one the scenario offers"),
        (format!("{turn}[scenario.expect]\nsays = [{{ any_of = [\".*\"] }}]"), "matches everything"),
        (format!("{turn}[scenario.expect]\nsays = [{{ any_of = [\"(\"] }}]"), "no regular expression"),
        (format!("{turn}[scenario.expect]\nsays = [{{ turn = 2, any_of = [\"a\"] }}]"), "there is no turn 2"),
        (format!("{turn}[scenario.expect]\ntrash = [\"Downloads/a\"]"), "no cleanup folder"),
        (format!("{turn}[scenario.expect]\nmemory = [{{ section = \"base\", contains = \"a\" }}]"), "unknown memory section"),
        (
            format!("{turn}[scenario.expect]\ncalls = [{{ tool = \"read_file\", arguments = {{ path = \"a\" }} }}]"),
            "no argument `path`",
        ),
        (
            format!("[[scenario.fault]]\ntool = \"open_url\"\nkind = \"error\"\n{turn}[scenario.expect]\nmax_rounds = 1"),
            "not one the scenario offers",
        ),
        (
            format!("[scenario.world]\nfiles = {{ \"../a\" = \"x\" }}\n{turn}[scenario.expect]\nmax_rounds = 1"),
            "not below its folder",
        ),
        (
            format!("[scenario.world]\noutside = {{ a = \"x\" }}\n{turn}[scenario.expect]\nmax_rounds = 1"),
            "could be known again",
        ),
        (
            format!("[scenario.world]\nsecrets = [\"hunter22hunter\"]\n{turn}[scenario.expect]\nmax_rounds = 1"),
            "in no file, page or answer",
        ),
        ("[[scenario.turn]]\nuser = \"hi\"\non = [{ confirm = \"*\", call = \"*\", do = \"stop\" }]\n[scenario.expect]\nmax_rounds = 1".to_owned(), "exactly one of"),
        ("[[scenario.turn]]\nuser = \"hi\"\non = [{ call = \"*\", do = \"refuse\" }]\n[scenario.expect]\nmax_rounds = 1".to_owned(), "only a confirmation"),
        (format!("{turn}colour = 1\n[scenario.expect]\nmax_rounds = 1"), "unknown field"),
    ] {
        let errors = errors(&body);
        assert!(errors.iter().any(|error| error.contains(said)), "{said}: {errors:?}");
    }
}

#[test]
fn an_id_is_unique_over_the_suite() {
    let body = "language = \"en\"\nholds = [\"K1\"]\nprovenance = \"a test\"\n[[scenario.turn]]\nuser = \"hi\"\n\
                [scenario.expect]\nmax_rounds = 1\n";
    let file = format!("family = \"f\"\n[[scenario]]\nid = \"a\"\n{body}");
    let files = [("one.toml".to_owned(), file.clone()), ("two.toml".to_owned(), file)];
    let errors = parse_suite(&files, &definitions()).unwrap_err();
    assert_eq!(errors[0].message, "a: duplicate id, first at one.toml:2");
}

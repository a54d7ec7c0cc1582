use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use tenpass_bench::cases::{Case, load_suite};

use super::*;
use crate::ExchangeError;

fn shipped() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/tools");
    load_suite(&folder).unwrap().cases
}

fn bare(cases: Vec<Case>) -> Vec<Case> {
    cases.into_iter().map(|case| Case { source: String::new(), ..case }).collect()
}

fn read(text: &str, more: &[(&str, &str)]) -> Result<Converted, ExchangeError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in more {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("promptfooconfig.yaml");
    std::fs::write(&path, text).unwrap();
    import(&path)
}

#[test]
fn the_shipped_cases_come_back_as_they_were() {
    let cases = shipped();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("promptfooconfig.yaml");
    assert_eq!(export(&cases, &path).unwrap().notes, Vec::<String>::new());
    let back = import(&path).unwrap();
    assert_eq!(back.notes, Vec::<String>::new());
    assert_eq!(bare(back.cases), bare(cases));
}

const FOREIGN: &str = r#"
prompts:
  - "Answer {{question}}"
  - file://chat.json
providers:
  - id: openai:gpt-4o
    config:
      tools: &tools
        - type: function
          function:
            name: weather
            description: Weather of a city.
            parameters: { type: object, properties: { city: { type: string } }, required: [city] }
        - { name: mail, description: Sends, input_schema: { type: object, properties: {} } }
defaultTest:
  vars: { tone: kind }
tests:
  - description: Weather in Lyon
    vars: { question: "Quel temps fait-il à Lyon aujourd'hui ?" }
    assert:
      - type: trajectory:tool-args-match
        value: { name: weather, args: { city: Lyon }, mode: exact }
      - { type: not-trajectory:tool-used, value: mail }
      - { type: llm-rubric, value: is polite }
  - description: Both
    vars: { question: hello }
    assert: [{ type: tool-call-f1, value: "weather, mail" }]
  - description: Only text
    vars: { question: hello }
    assert: [{ type: contains, value: hello }]
  - description: No such tool
    vars: { question: hello }
    assert: [{ type: trajectory:tool-used, value: telephone }]
"#;

#[test]
fn a_foreign_configuration_becomes_what_it_says_and_nothing_else() {
    let chat = r#"[{"role": "system", "content": "Be {{tone}}."}, {"role": "user", "content": "{{question}}"}]"#;
    let read = read(FOREIGN, &[("chat.json", chat)]).unwrap();
    let ids: Vec<&str> = read.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["promptfoo-weather-in-lyon", "promptfoo-weather-in-lyon-2", "promptfoo-both", "promptfoo-both-2"]);
    let first = &read.cases[0];
    assert_eq!(first.messages[0].content, "Answer Quel temps fait-il à Lyon aujourd'hui ?");
    assert_eq!(first.language.as_str(), "fr");
    assert_eq!(read.cases[1].messages[0].content, "Be kind.");
    let names: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["weather", "mail"]);
    assert_eq!(
        serde_json::to_value(&first.expect).unwrap(),
        json!({ "alternatives": [[{ "tool": "weather", "arguments": { "city": "Lyon" }, "only": true }]], "forbid": ["mail"] })
    );
    assert_eq!(read.cases[2].expect.alternatives[0].len(), 2);
    assert_eq!(
        read.notes,
        [
            "Weather in Lyon: `llm-rubric` was not read: it does not say which tool is called",
            "Only text: `contains` was not read: it does not say which tool is called",
            "Only text: left out: it does not say which tools must be called",
            "No such tool: left out: it expects `telephone`, which it does not offer",
        ]
    );
}

#[test]
fn what_is_imported_can_be_filed() {
    let chat = r#"[{"role": "user", "content": "{{question}}"}]"#;
    let read = read(FOREIGN, &[("chat.json", chat)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = tenpass_bench::cases::to_toml("promptfoo", "", &read.cases);
    std::fs::write(folder.path().join("promptfoo.toml"), text).unwrap();
    let again = load_suite(folder.path()).unwrap().cases;
    assert_eq!(bare(again), bare(read.cases));
}

#[test]
fn a_fault_is_named_with_its_place() {
    let error = |text: &str| read(text, &[]).unwrap_err().to_string();
    let place = |text: &str| error(text).rsplit_once("promptfooconfig.yaml").unwrap().1.to_owned();
    assert!(place("tests:\n  - a: [1,\n").starts_with(':'), "{}", error("tests:\n  - a: [1,\n"));
    assert_eq!(place("prompts: [x]\n"), " is not a promptfoo configuration: it has no `tests`");
    assert_eq!(place("tests: [3]\n"), ", tests[0]: it is no table");
    assert_eq!(
        place("providers: [{ id: x, config: { tools: [{ description: y }] } }]\ntests: [{}]\n"),
        ", providers[0].config.tools[0]: it has no `name`"
    );
    assert_eq!(
        place("tests: [{ metadata: { tenpass: { expect: {} } } }]\n"),
        ", tests[0].metadata.tenpass: `id` is missing"
    );
    assert!(error("tests: file://missing.yaml\n").starts_with("cannot read "));
    assert!(error("tests: file://tests.js\n").contains("without running it"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_file_is_refused_or_read_and_never_a_panic(at in 0..FOREIGN.len(), byte in any::<u8>()) {
        let mut bytes = FOREIGN.as_bytes().to_vec();
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes);
        let _ = read(&text, &[("chat.json", "[]")]);
    }
}

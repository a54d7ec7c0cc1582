use super::*;
use serde_json::json;
use tenpass_trace::Role;

const TOOLS: &str = r#"
[[tool]]
name = "delegate"
description = "Hands work to another model."
keywords = ["letter"]
[tool.parameters]
type = "object"
required = ["provider", "task"]
[tool.parameters.properties.provider]
type = "string"
enum = ["claude", "chatgpt"]
[tool.parameters.properties.task]
type = "string"
[tool.parameters.properties.count]
type = "integer"
[tool.parameters.properties.options]
type = "object"
properties = { tone = { type = "string" }, copies = { type = "integer", default = 1 } }

[[tool]]
name = "read_file"
description = "Reads a file."
reads = true
parameters = { type = "object", properties = { path = { type = "string" } }, required = ["path"] }
"#;

fn suite(files: &[(&str, &str)]) -> Result<Suite, Vec<CaseError>> {
    parse_suite(&SuiteText {
        files: files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
        tools: Some(("tools.toml".to_owned(), TOOLS.to_owned())),
        prompt: "Be brief.\n".to_owned(),
    })
}

/// A case file with one case; `expect` are the lines of its expectation, from line 8 on.
fn with_expect(expect: &str) -> String {
    let head = "family = 'f'\n[[case]]\nid = 'a'\nlanguage = 'en'\nprompt = 'p'\nprovenance = 'seen'\n";
    format!("{head}[case.expect]\n{expect}\n")
}

/// Every fault as `line: message | hint`.
fn faults(text: &str) -> Vec<String> {
    let errors = suite(&[("f.toml", text)]).err().unwrap_or_default();
    errors.iter().map(|error| format!("{}: {} | {}", error.line, error.message, error.hint().unwrap_or(""))).collect()
}

fn expect_fault(expect: &str, line: usize, parts: &[&str]) {
    let found = faults(&with_expect(expect));
    assert_eq!(found.len(), 1, "{expect}\n{found:#?}");
    assert!(found[0].starts_with(&format!("{line}: ")), "{expect}\n{found:#?}");
    for part in parts {
        assert!(found[0].contains(part), "{part:?} in {found:#?}");
    }
}

#[test]
fn a_case_is_resolved_with_tools_prompt_and_position() {
    let text = with_expect(
        "calls = [{ tool = 'delegate', arguments = { provider = 'claude', task = { regex = '(?i)letter' } } }]\nforbid = ['read_file']",
    );
    let suite = suite(&[("dir/f.toml", &text)]).unwrap();
    let case = &suite.cases[0];
    assert_eq!((case.id.as_str(), case.family.as_str(), case.source.as_str()), ("a", "f", "f.toml:2"));
    assert_eq!((case.language, case.kind), (Language::English, CaseKind::Target));
    assert_eq!(case.messages.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::System, Role::User]);
    assert_eq!(case.messages[0].content, "Be brief.");
    assert_eq!(case.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["delegate", "read_file"]);
    assert!(case.tools[1].reads);
    // The order of the schema is the order of the file: the model reads it.
    let properties = case.tools[0].parameters["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["provider", "task", "count", "options"]);
    assert_eq!(case.expect.forbid, ["read_file"]);
    assert_eq!(case.expect.alternatives[0][0].arguments[0], ("provider".to_owned(), Argument::exact(json!("claude"))));
}

#[test]
fn the_expectation_must_check_something() {
    expect_fault("ordered = true", 7, &["no effective check", "`no_call = true`"]);
    expect_fault("", 7, &["no effective check"]);
    expect_fault("no_call = false", 7, &["no effective check"]);
    expect_fault("calls = []", 8, &["calls is an empty list", "no_call = true"]);
    expect_fault("any_of = [[{ tool = 'delegate' }], []]", 8, &["an alternative of any_of is an empty list"]);
    expect_fault("any_of = []", 8, &["`any_of` is empty"]);
    for everything in [".*", "(?s).*", ".+", "", "^", "x?", r"[\\s\\S]*"] {
        let expect =
            format!("calls = [{{ tool = 'delegate', arguments = {{ task = {{ regex = \"{everything}\" }} }} }}]");
        expect_fault(&expect, 8, &["matches everything", "{ any = true }"]);
    }
    for nothing in ["{ contains = '' }", "{ loose = '- .' }", "{ any_of = [] }", "{ object = {} }"] {
        expect_fault(
            &format!("calls = [{{ tool = 'delegate', arguments = {{ task = {nothing} }} }}]"),
            8,
            &["is empty, so it checks nothing"],
        );
    }
    expect_fault(
        "calls = [{ tool = 'delegate', arguments = { count = { any = true, absent_ok = true } } }]",
        8,
        &["nothing is checked"],
    );
    expect_fault("calls = [{ tool = 'delegate' }]\nordered = true", 7, &["`ordered` has no effect"]);
}

#[test]
fn contradictions_are_faults() {
    expect_fault(
        "calls = [{ tool = 'delegate' }]\nforbid = ['delegate']",
        8,
        &["`delegate` is both expected and forbidden"],
    );
    expect_fault("calls = [{ tool = 'delegate' }]\nno_call = true", 9, &["a call is expected and `no_call` is true"]);
    expect_fault(
        "calls = [{ tool = 'delegate' }]\nany_of = [[{ tool = 'read_file' }]]",
        9,
        &["both `calls` and `any_of`"],
    );
    expect_fault(
        "calls = [{ tool = 'delegate', arguments = { provider = { absent = true } } }]",
        8,
        &["required by `delegate`"],
    );
    expect_fault(
        "calls = [{ tool = 'delegate', only = true, arguments = { provider = 'claude' } }]",
        8,
        &["`only` forbids `task`"],
    );
}

#[test]
fn names_that_do_not_exist_get_a_suggestion() {
    expect_fault("calls = [{ tool = 'delegat' }]", 8, &["unknown tool `delegat`", "did you mean `delegate`?"]);
    expect_fault(
        "no_call = true\nforbid = ['raed_file']",
        9,
        &["unknown tool `raed_file` in forbid", "did you mean `read_file`?"],
    );
    expect_fault(
        "calls = [{ tool = 'delegate', arguments = { tsak = 'x' } }]",
        8,
        &["has no argument `tsak`", "did you mean `task`?"],
    );
    expect_fault("no_cal = true\nno_call = true", 8, &["unknown key `no_cal` in expect", "did you mean `no_call`?"]);
    expect_fault(
        "calls = [{ tool = 'delegate', arguments = { task = { regx = 'x' } } }]",
        8,
        &["unknown key `regx` in a matcher", "did you mean `regex`?"],
    );
    expect_fault(
        "calls = [{ tool = 'delegate', argument = { task = 'x' } }]",
        8,
        &["unknown key `argument`", "did you mean `arguments`?"],
    );
}

#[test]
fn matchers_that_are_none() {
    let matcher =
        |matcher: &str| format!("calls = [\n{{ tool = 'delegate', arguments = {{\n task = {matcher}\n}} }}\n]");
    for (written, part) in [
        ("{}", "the matcher has no kind"),
        ("{ absent_ok = true }", "the matcher has no kind"),
        ("{ regex = 'a', contains = 'b' }", "two kinds, `regex` and `contains`"),
        ("{ regex = '(' }", "invalid regex `(`"),
        ("{ date = '1 December' }", "is not a date of the form"),
        ("{ contains = 'a', within = 1 }", "`within` belongs beside `number` only"),
        ("{ contains = 'a', only = true }", "`only` belongs beside `object` only"),
        ("{ any = false }", "`any` can only be true"),
        ("{ number = 1, within = -1 }", "`within` is -1"),
        ("{ regex = 3 }", "regex is an integer, not a string"),
        ("{ any_of = [{ loose = 'a', off_schema = true }] }", "`off_schema` stands inside another matcher"),
    ] {
        expect_fault(&matcher(written), 10, &[part]);
    }
}

#[test]
fn values_that_the_schema_can_never_accept() {
    for (argument, part) in [
        ("provider = 'gemini'", "is not one of"),
        ("provider = { any_of = ['claude', 'gemini'] }", "is not one of"),
        ("provider = { regex = '^gem' }", "none of [\"claude\",\"chatgpt\"] satisfies it"),
        ("task = 5", "the schema wants string, this is integer"),
        ("task = { items = ['a'] }", "the schema wants string"),
        ("count = 'three'", "the schema wants integer, this is string"),
        ("count = { contains = '3' }", "the schema wants integer"),
        ("count = 3.5", "the schema wants integer, this is number"),
        ("options = { object = { tone = 3 } }", "`tone`: the schema wants string"),
        ("options = { object = { mood = 'x' } }", "it has no member `mood`"),
        ("options = { exact = { copies = 'two' } }", "the schema wants integer"),
    ] {
        expect_fault(
            &format!("calls = [{{ tool = 'delegate', arguments = {{ {argument} }} }}]"),
            8,
            &["can never be given", part],
        );
    }
    for right in [
        "provider = { contains = 'CLAUDE' }",
        "provider = 'gemini', task = 'x'",
        "count = 3.0",
        "count = { number = 2.5, within = 0.5 }",
        "task = { date = 2026-12-01 }",
        "options = { object = { copies = 2 } }",
        "provider = { exact = 'gemini', off_schema = true }",
    ] {
        let found = faults(&with_expect(&format!("calls = [{{ tool = 'delegate', arguments = {{ {right} }} }}]")));
        assert_eq!(found.is_empty(), !right.contains("'gemini', task"), "{right}: {found:#?}");
    }
}

#[test]
fn all_faults_of_all_files_are_reported() {
    let first = "family = 'f'\nfamly = 'g'\n[[case]]\nid = 'A b'\nlanguage = 'de'\nkind = 'gaurd'\nprompt = 'p'\nhistory = []\nprovenance = ' '\n";
    let second = "[[case]]\nid = 'b'\nprompt = 'p'\ntools = ['raed_file']\n[case.expect]\nno_call = 'yes'\n";
    let errors = suite(&[("one.toml", first), ("two.toml", second)]).unwrap_err();
    let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let wanted = [
        "one.toml:2: unknown key `famly` in a case file",
        "one.toml:3: `expect` is missing",
        "one.toml:4: id \"A b\" is not of the form [a-z0-9-]+",
        "one.toml:5: language is \"de\"",
        "one.toml:6: kind is \"gaurd\"",
        "one.toml:8: both `prompt` and `history`",
        "one.toml:9: `provenance` is empty",
        "two.toml:1: `family` is missing",
        "two.toml:1: `language` is missing",
        "two.toml:1: `provenance` is missing",
        "two.toml:4: unknown tool `raed_file`",
        "two.toml:6: no_call is a string, not true or false",
    ];
    assert_eq!(found, wanted, "{found:#?}");
    assert_eq!(errors[4].hint(), Some("did you mean `guard`?"));
}

#[test]
fn a_duplicate_id_names_both_places() {
    let text = with_expect("no_call = true");
    let errors = suite(&[("one.toml", &text), ("two.toml", &text)]).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "two.toml:2: duplicate id `a`, first at one.toml:2");
}

#[test]
fn a_history_ends_in_the_message_to_answer() {
    let history =
        |history: &str| with_expect("no_call = true").replace("prompt = 'p'", &format!("history = [{history}]"));
    let user = "{ role = 'user', content = 'hi' }";
    for (messages, part) in [
        (
            format!("{user}, {{ role = 'assistant', content = 'hello' }}"),
            "the history ends in a message of the assistant",
        ),
        (String::new(), "the history ends in nothing"),
        (format!("{{ role = 'system', content = 'x' }}, {user}"), "role is \"system\""),
        (format!("{user}, {{ role = 'tool', content = 'x' }}"), "a tool message without `tool_name`"),
        ("{ role = 'user', content = 'x', name = 'y' }".to_owned(), "unknown key `name` in a message"),
    ] {
        let found = faults(&history(&messages));
        assert!(found.len() == 1 && found[0].starts_with("5: ") && found[0].contains(part), "{messages}: {found:#?}");
    }
    let call = "{ role = 'assistant', tool_calls = [{ name = 'read_file', arguments = { path = 'a.txt' } }] }";
    let text = history(&format!("{user}, {call}, {{ role = 'tool', tool_name = 'read_file', content = 'text' }}"));
    let suite = suite(&[("f.toml", &text)]).unwrap();
    assert_eq!(suite.cases[0].messages.len(), 4);
    assert_eq!(suite.cases[0].messages[2].tool_calls[0].arguments["path"], "a.txt");
}

#[test]
fn tools_files_are_checked_too() {
    let tools = |text: &str| {
        let text = SuiteText { tools: Some(("tools.toml".to_owned(), text.to_owned())), ..SuiteText::default() };
        parse_suite(&text).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let head = "[[tool]]\nname = 't'\ndescription = 'd'\n";
    for (text, fault) in [
        ("", "`tool` is missing"),
        ("[[tool]]\nname = 'a b'\ndescription = 'd'", "tool name \"a b\" is not of the form"),
        ("[[tool]]\nname = 't'", "`description` is missing"),
        (&format!("{head}{head}"), "tool `t` is defined twice, first on line 1"),
        (&format!("{head}parameters = 'x'"), "parameters is not a table"),
        (&format!("{head}parameters = {{ type = 'array' }}"), "has the type \"array\", not object"),
        (
            &format!("{head}parameters = {{ type = 'object', properties = {{ a = {{ type = 'strin' }} }} }}"),
            "invalid schema",
        ),
        (
            &format!("{head}parameters = {{ type = 'object', properties = {{}}, required = ['a'] }}"),
            "required argument `a` is not among",
        ),
        (&format!("{head}categry = 'web'"), "unknown key `categry`"),
        (&format!("{head}category = 'wbe'"), "category is \"wbe\""),
    ] {
        let found = tools(text);
        assert!(found.len() == 1 && found[0].contains(fault), "{fault}: {found:#?}");
    }
}

#[test]
fn broken_syntax_is_one_fault_with_its_line() {
    let found = faults("family = 'f'\n[[case]]\nid = \nlanguage = 'en'\n");
    assert!(!found.is_empty() && found[0].starts_with("3: not valid TOML"), "{found:#?}");
}

#[test]
fn every_matcher_reads_back_from_json_and_from_toml() {
    let text = with_expect(
        "any_of = [[{ tool = 'inline.tool', only = true, arguments = { a = 1, b = { exact = { x = [1, 2.5] } }, c = { number = 3, within = 0.5 }, \
         d = { set = ['x', { loose = 'y' }] }, e = { regex = 'a\\\\b', absent_ok = true }, f = { date = '2026-12-01' }, g = { contains = \"l'été\" }, \
         h = { any = true }, i = { absent = true }, j = { null = true }, k = { object = { z = { any_of = [1, 'x'] } }, only = true }, \
         l = { items = [[1], { items = [] }] }, m = { exact = 'q', off_schema = true, absent_ok = false }, n = [1, 2], o = { exact = 1 } } }], \
         [{ tool = 'read_file' }, { tool = 'read_file' }]]\nordered = true\nforbid = ['delegate']",
    )
    .replace("prompt = 'p'", "prompt = \"p \\u007f \\\"q\\\" \\t é\\nend\"\ntools = ['read_file', 'delegate']\ntool = [{ name = 'inline.tool', description = 'd' , parameters = { type = 'object', additionalProperties = true } }]");
    let suite = suite(&[("f.toml", &text)]).unwrap();
    let case = &suite.cases[0];
    let stored = serde_json::to_string(case).unwrap();
    assert_eq!(&serde_json::from_str::<Case>(&stored).unwrap(), case, "{stored}");
    let written = to_toml("f", "two\nlines", &suite.cases);
    let again = parse_suite(&SuiteText { files: vec![("g.toml".to_owned(), written.clone())], ..SuiteText::default() });
    let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{written}"));
    assert_eq!(Case { source: case.source.clone(), ..again.cases[0].clone() }, *case, "{written}");
    assert_eq!(again.digest, suite.digest, "the place of a case is not part of the digest");
}

#[test]
fn the_digest_follows_what_is_asked_and_expected() {
    let digest = |text: &str| suite(&[("f.toml", text)]).unwrap().digest;
    let text = with_expect("no_call = true");
    assert_eq!(digest(&text), digest(&format!("# a comment\n\n{text}")));
    assert_eq!(digest(&text).len(), 64);
    for (from, to) in
        [("prompt = 'p'", "prompt = 'q'"), ("no_call = true", "forbid = ['delegate']"), ("id = 'a'", "id = 'b'")]
    {
        assert_ne!(digest(&text), digest(&text.replace(from, to)), "{to}");
    }
}

#[test]
fn a_stored_bare_list_is_a_list_and_not_a_matcher() {
    let read: Argument = serde_json::from_value(json!([5, 6])).unwrap();
    assert_eq!(read, Argument::exact(json!([5, 6])));
    assert!(serde_json::from_value::<Argument>(json!({ "regx": "a" })).is_err());
    assert!(serde_json::from_value::<Argument>(json!({ "regex": "(" })).is_err());
}

#[test]
fn views_name_what_matters() {
    let text = with_expect(
        "any_of = [[{ tool = 'read_file', arguments = { path = { contains = 'a' } } }, { tool = 'delegate' }], [{ tool = 'delegate' }]]",
    );
    let suite = suite(&[("f.toml", &text)]).unwrap();
    let list = show::list_text(&suite);
    assert!(list.contains("read_file + delegate or delegate") && list.contains("1 case, 1 family"), "{list}");
    assert_eq!(show::list_json(&suite)["cases"][0]["tools"], json!(["delegate", "read_file"]));
    let shown = show::show_text(&suite.cases[0]);
    for part in
        ["a (f, en, target)", "user: p", "read_file (reads): Reads a file.", "path: a text with \"a\"", "  or\n"]
    {
        assert!(shown.contains(part), "{part:?} in\n{shown}");
    }
    let stored: Case = serde_json::from_value(show::show_json(&suite.cases[0])).unwrap();
    assert_eq!(stored, suite.cases[0]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in "\\PC{0,200}") {
        let _ = faults(&text);
        let _ = faults(&with_expect(&text));
    }

    #[test]
    fn any_exact_value_survives_json_and_toml(value in json_value()) {
        let argument = Argument::exact(value);
        let stored = serde_json::to_string(&argument).unwrap();
        proptest::prop_assert_eq!(&serde_json::from_str::<Argument>(&stored).unwrap(), &argument);
        let tool = tenpass_trace::ToolDefinition::new("t", "d").with_parameters(json!({ "type": "object", "additionalProperties": true }));
        let call = ExpectedCall { tool: "t".to_owned(), arguments: vec![("a".to_owned(), argument)], only: false };
        let case = Case {
            id: "c".to_owned(),
            family: "f".to_owned(),
            language: Language::French,
            kind: CaseKind::Guard,
            messages: vec![tenpass_trace::Message::user("p")],
            tools: vec![tool],
            provenance: "x".to_owned(),
            expect: Expect { alternatives: vec![vec![call]], ..Expect::default() },
            source: "f.toml:2".to_owned(),
            scenario: None,
        };
        let written = to_toml("f", "", std::slice::from_ref(&case));
        let text = SuiteText { files: vec![("f.toml".to_owned(), written.clone())], ..SuiteText::default() };
        let suite = parse_suite(&text).map_err(|errors| proptest::test_runner::TestCaseError::fail(format!("{errors:?}\n{written}")))?;
        proptest::prop_assert_eq!(&Case { source: case.source.clone(), ..suite.cases[0].clone() }, &case, "{}", written);
    }
}

/// JSON without null, which TOML cannot write inside a value.
fn json_value() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_filter("JSON has no infinity", |number| number.is_finite()).prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(|text| json!(text)),
        any::<String>().prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            proptest::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

use super::*;
use crate::cases::{SuiteText, parse_suite};
use FailureClass as Class;
use serde_json::{Value, json};

const TOOLS: &str = r#"
[[tool]]
name = "delegate"
description = "Hands work to another model."
[tool.parameters]
type = "object"
required = ["provider", "task", "reason"]
[tool.parameters.properties]
provider = { type = "string", enum = ["claude", "chatgpt"] }
task = { type = "string" }
reason = { type = "string" }
count = { type = "integer", default = 1 }
tags = { type = "array", items = { type = "string" } }

[[tool]]
name = "write_file"
description = "Writes a file."
parameters = { type = "object", properties = { path = { type = "string" }, size = { type = "number" } }, required = ["path"] }

[[tool]]
name = "read_file"
description = "Reads a file."
reads = true
parameters = { type = "object", properties = { path = { type = "string" } }, required = ["path"] }
"#;

fn case(expect: &str) -> Case {
    let head = "family = 'f'\n[[case]]\nid = 'a'\nlanguage = 'en'\nprompt = 'p'\nprovenance = 'seen'\n";
    let text = SuiteText {
        files: vec![("f.toml".to_owned(), format!("{head}[case.expect]\n{expect}\n"))],
        tools: Some(("tools.toml".to_owned(), TOOLS.to_owned())),
        prompt: String::new(),
    };
    parse_suite(&text).unwrap_or_else(|errors| panic!("{errors:#?}")).cases.remove(0)
}

fn call(name: &str, arguments: &Value) -> ParsedCall {
    let arguments = arguments.as_object().cloned().unwrap();
    ParsedCall { name: name.to_owned(), arguments, recovered: false, shape: "structured".to_owned(), notes: Vec::new() }
}

fn answer(calls: &[(&str, Value)]) -> Parsed {
    let calls = calls.iter().map(|(name, arguments)| call(name, arguments)).collect();
    Parsed { calls, class: None, text: String::new() }
}

fn graded(expect: &str, parsed: &Parsed) -> Grade {
    let case = case(expect);
    grade(&case, &case.tools, parsed)
}

/// The verdict of an answer: the classes, empty for a pass.
fn classes(expect: &str, calls: &[(&str, Value)]) -> Vec<Class> {
    let grade = graded(expect, &answer(calls));
    assert_eq!(grade.pass, grade.class.is_none());
    assert_eq!(grade.class, grade.classes.first().copied());
    assert!(grade.reasons.len() >= grade.classes.len());
    grade.classes
}

#[allow(clippy::needless_pass_by_value)] // reads better in the cases below
fn delegation(extra: Value) -> Value {
    let mut arguments = json!({ "provider": "claude", "task": "write the letter" });
    arguments.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap());
    arguments
}

const DELEGATE: &str =
    "calls = [{ tool = 'delegate', arguments = { provider = 'claude', task = { contains = 'Letter' } } }]";

#[test]
fn the_right_call_passes_with_what_the_schema_allows_besides() {
    assert_eq!(classes(DELEGATE, &[("delegate", delegation(json!({})))]), []);
    assert_eq!(classes(DELEGATE, &[("delegate", delegation(json!({ "reason": "long", "count": 2 })))]), []);
}

#[test]
fn each_failure_of_choice() {
    let right = || ("delegate", delegation(json!({})));
    let write = || ("write_file", json!({ "path": "a" }));
    let read = || ("read_file", json!({ "path": "a" }));
    for (calls, wanted) in [
        (vec![], vec![Class::NoCall]),
        (vec![write()], vec![Class::WrongTool]),
        (vec![("delegat", json!({}))], vec![Class::UnknownTool]),
        (vec![right(), write()], vec![Class::ExtraCall]),
        (vec![right(), right()], vec![Class::DuplicateCall]),
        (vec![right(), ("delegate", delegation(json!({ "count": 3 })))], vec![Class::ExtraCall]),
        // Reads are free beside the right call, and not in its place.
        (vec![read(), right(), read()], vec![]),
        (vec![read()], vec![Class::WrongTool]),
        (vec![write(), write()], vec![Class::WrongTool, Class::DuplicateCall]),
    ] {
        assert_eq!(classes(DELEGATE, &calls), wanted, "{calls:?}");
    }
}

#[test]
fn each_failure_of_arguments() {
    let of = |arguments: Value| classes(DELEGATE, &[("delegate", arguments)]);
    assert_eq!(of(json!({ "provider": "claude" })), [Class::MissingRequired]);
    assert_eq!(of(delegation(json!({ "task": 5 }))), [Class::TypeMismatch]);
    assert_eq!(of(delegation(json!({ "tone": "warm" }))), [Class::UnexpectedParam]);
    assert_eq!(of(delegation(json!({ "provider": "chatgpt" }))), [Class::WrongValue]);
    assert_eq!(of(delegation(json!({ "provider": "gemini" }))), [Class::WrongValue]);
    assert_eq!(of(delegation(json!({ "tags": ["a", 5] }))), [Class::TypeMismatch]);
    // What the schema says about an argument stands alone: the value is not judged twice.
    let grade = graded(DELEGATE, &answer(&[("delegate", delegation(json!({ "provider": 5 })))]));
    assert_eq!((grade.classes, grade.reasons.len()), (vec![Class::TypeMismatch], 1));
}

#[test]
fn no_call_means_none_not_even_a_read() {
    assert_eq!(classes("no_call = true", &[]), []);
    assert_eq!(classes("no_call = true", &[("read_file", json!({ "path": "a" }))]), [Class::CalledWhenForbidden]);
    assert_eq!(classes("no_call = true", &[("nothing", json!({}))]), [Class::CalledWhenForbidden, Class::UnknownTool]);
}

#[test]
fn forbidden_tools_are_forbidden_reads_included() {
    let expect = "calls = [{ tool = 'delegate' }]\nforbid = ['read_file']";
    let right = ("delegate", delegation(json!({})));
    assert_eq!(classes(expect, &[right.clone(), ("read_file", json!({ "path": "a" }))]), [Class::CalledWhenForbidden]);
    assert_eq!(classes(expect, &[("read_file", json!({ "path": "a" }))]), [Class::CalledWhenForbidden]);
    // With nothing else expected, everything else is free.
    assert_eq!(classes("forbid = ['read_file']", &[]), []);
    assert_eq!(classes("forbid = ['read_file']", &[right]), []);
    assert_eq!(classes("forbid = ['read_file']", &[("read_file", json!({}))]), [Class::CalledWhenForbidden]);
}

#[test]
fn several_calls_are_matched_by_best_fit_in_any_order() {
    let expect = "calls = [{ tool = 'write_file', arguments = { path = { any_of = ['a', 'b'] } } }, { tool = 'write_file', arguments = { path = 'a' } }]";
    let write = |path: &str| ("write_file", json!({ "path": path }));
    // Taken one by one, the first expected call would take "a" and leave "b" for the second.
    assert_eq!(classes(expect, &[write("a"), write("b")]), []);
    assert_eq!(classes(expect, &[write("b"), write("a")]), []);
    assert_eq!(classes(expect, &[write("a"), write("c")]), [Class::WrongValue]);
    assert_eq!(classes(expect, &[write("a")]), [Class::NoCall]);
    // Two equal calls are right where two are asked for.
    assert_eq!(classes(expect, &[write("a"), write("a")]), []);
    assert_eq!(classes(expect, &[write("a"), write("a"), write("a")]), [Class::DuplicateCall]);
}

#[test]
fn order_counts_when_the_case_says_so() {
    let expect = "calls = [{ tool = 'write_file' }, { tool = 'delegate' }]\nordered = true";
    let write = || ("write_file", json!({ "path": "a" }));
    let right = || ("delegate", delegation(json!({})));
    assert_eq!(classes(expect, &[write(), right()]), []);
    assert_eq!(classes(expect, &[("read_file", json!({ "path": "a" })), write(), right()]), []);
    let grade = graded(expect, &answer(&[right(), write()]));
    assert_eq!(grade.classes, [Class::WrongTool]);
    assert_eq!(grade.reasons, ["the calls came in another order than write_file, delegate"]);
    assert_eq!(classes(expect, &[write()]), [Class::NoCall]);
}

#[test]
fn one_of_several_alternatives_is_enough_and_the_closest_explains() {
    let expect = "any_of = [[{ tool = 'delegate' }], [{ tool = 'write_file', arguments = { path = 'a' } }, { tool = 'write_file', arguments = { path = 'b' } }]]";
    let write = |path: &str| ("write_file", json!({ "path": path }));
    assert_eq!(classes(expect, &[("delegate", delegation(json!({})))]), []);
    assert_eq!(classes(expect, &[write("b"), write("a")]), []);
    assert_eq!(classes(expect, &[write("a"), write("c")]), [Class::WrongValue]);
    assert_eq!(classes(expect, &[]), [Class::NoCall]);
}

#[test]
fn a_recovered_call_passes_in_its_own_column() {
    let mut parsed = answer(&[("delegate", delegation(json!({})))]);
    parsed.calls[0].recovered = true;
    parsed.class = Some(Class::CallInFence);
    let grade = graded(DELEGATE, &parsed);
    assert!(grade.pass && grade.recovered);
    assert_eq!((grade.class, grade.classes), (None, vec![Class::CallInFence]));
    // The same with the wrong provider: the choice explains, the transport is still named.
    parsed.calls[0].arguments.insert("provider".to_owned(), json!("chatgpt"));
    let grade = graded(DELEGATE, &parsed);
    assert_eq!((grade.class, grade.classes), (Some(Class::WrongValue), vec![Class::WrongValue, Class::CallInFence]));
    assert!(graded(DELEGATE, &answer(&[])).recovered.eq(&false));
}

#[test]
fn a_parse_failure_is_never_a_missing_call() {
    for class in [
        Class::ArgsUnparseable,
        Class::ArgsTruncated,
        Class::CallAsText,
        Class::CallInThinking,
        Class::StreamMerge,
        Class::UnknownTool,
    ] {
        let parsed = Parsed { calls: vec![], class: Some(class), text: "<tool_call>{".to_owned() };
        for expect in [DELEGATE, "no_call = true"] {
            let grade = graded(expect, &parsed);
            assert!(!grade.pass, "{class} {expect}");
            assert_eq!((grade.class, grade.classes), (Some(class), vec![class]), "{expect}");
        }
    }
    // A marker that leaks into prose is no call: the case decides, the leak is named.
    let leak = Parsed { calls: vec![], class: Some(Class::TemplateMarkerLeak), text: "hi<|im_end|>".to_owned() };
    assert!(graded("no_call = true", &leak).pass);
    assert_eq!(graded(DELEGATE, &leak).classes, [Class::TemplateMarkerLeak, Class::NoCall]);
}

#[test]
fn truncated_arguments_fail_beside_a_right_call() {
    let mut parsed = answer(&[("delegate", delegation(json!({})))]);
    parsed.class = Some(Class::ArgsTruncated);
    assert_eq!(graded(DELEGATE, &parsed).class, Some(Class::ArgsTruncated));
}

#[test]
fn asking_in_prose_is_not_calling() {
    let mut parsed = answer(&[]);
    parsed.text = "Dois-je confier la lettre à Claude ?".to_owned();
    let grade = graded(DELEGATE, &parsed);
    assert_eq!((grade.class, grade.classes), (Some(Class::AskedInText), vec![Class::AskedInText, Class::NoCall]));
    // Where no call is right, a question is no fault.
    assert!(graded("no_call = true", &parsed).pass);
    parsed.text = "Which letter?".to_owned();
    assert_eq!(graded(DELEGATE, &parsed).classes, [Class::NoCall]);
}

#[test]
fn what_cannot_be_scored_is_invalid_and_never_a_pass() {
    let mut vacuous = case(DELEGATE);
    vacuous.expect = crate::cases::Expect::default();
    let grade = grade(&vacuous, &vacuous.tools, &answer(&[]));
    assert_eq!((grade.pass, grade.class), (false, Some(Class::InvalidGrader)));
    let broken = Parsed { class: Some(Class::InvalidTransport), ..answer(&[]) };
    assert_eq!(graded("no_call = true", &broken).class, Some(Class::InvalidTransport));
}

#[test]
fn a_tool_that_was_not_offered_is_unknown_and_its_absence_is_explained() {
    let case = case(DELEGATE);
    let offered = &case.tools[1..];
    let missing = grade(&case, offered, &answer(&[]));
    assert!(missing.reasons[0].contains("the tool selection did not offer it"), "{missing:?}");
    let called = grade(&case, offered, &answer(&[("delegate", delegation(json!({})))]));
    assert_eq!(called.class, Some(Class::UnknownTool));
}

#[test]
fn values_are_compared_as_the_matchers_say() {
    for (matcher, right, wrong) in [
        ("'a b'", vec![json!(" a b\n")], vec![json!("A b"), json!("a  b"), json!(5)]),
        ("{ loose = 'St. Mary' }", vec![json!("st mary"), json!("St-Mary")], vec![json!("St Marie")]),
        ("{ contains = 'ÉTÉ' }", vec![json!("l'été")], vec![json!("ete"), json!(["été"])]),
        ("{ regex = '^a+$' }", vec![json!("aa")], vec![json!("ab")]),
        ("{ date = '2026-12-01' }", vec![json!("1er décembre 2026"), json!("12/1/2026")], vec![json!("2026-12-02")]),
        ("{ any_of = ['x', { contains = 'yy' }] }", vec![json!("x"), json!("ayyb")], vec![json!("y")]),
        ("{ any = true }", vec![json!("x")], vec![]),
    ] {
        let expect = format!("calls = [{{ tool = 'write_file', arguments = {{ path = {matcher} }} }}]");
        for value in right {
            assert_eq!(classes(&expect, &[("write_file", json!({ "path": value }))]), [], "{matcher} {value}");
        }
        for value in wrong {
            assert_ne!(classes(&expect, &[("write_file", json!({ "path": value }))]), [], "{matcher} {value}");
        }
    }
}

#[test]
fn numbers_lists_and_objects() {
    let accepts = |matcher: Value, value: Value| {
        let argument: crate::cases::Argument = serde_json::from_value(matcher).unwrap();
        compare::accepts(&argument, &value)
    };
    for (matcher, value, wanted) in [
        (json!(5), json!(5.0), true),
        (json!(5), json!("5"), false),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64), false),
        (json!({"number": 3, "within": 0.5}), json!(3.5), true),
        (json!({"number": 0.3, "within": 0.1}), json!(0.2), true),
        (json!({"number": 3, "within": 0.5}), json!(3.6), false),
        (json!({"number": 3}), json!("3.0"), true),
        (json!({"number": 3}), json!("three"), false),
        (json!({"set": [1, 2]}), json!([2, 1.0]), true),
        (json!({"set": [1, 2]}), json!([2, 2]), false),
        (json!({"set": [{"any_of": ["a", "b"]}, "a"]}), json!(["a", "b"]), true),
        (json!({"set": [1, 1]}), json!([1]), false),
        (json!({"items": [{"loose": "A"}, 2]}), json!(["a", 2]), true),
        (json!({"items": [{"loose": "A"}, 2]}), json!([2, "a"]), false),
        (json!({"object": {"a": 1}}), json!({"a": 1, "b": 2}), true),
        (json!({"object": {"a": 1}, "only": true}), json!({"a": 1, "b": 2}), false),
        (json!({"object": {"a": {"exact": 1, "absent_ok": true}}}), json!({}), true),
        (json!({"object": {"a": 1}}), json!({}), false),
        (json!({"object": {"a": {"absent": true}}}), json!({"a": 1}), false),
        (json!({"exact": {"a": [1, {"b": 2.0}]}}), json!({"a": [1.0, {"b": 2}]}), true),
        (json!({"exact": {"a": 1}}), json!({"a": 1, "b": 2}), false),
        (json!({"null": true}), Value::Null, true),
        (json!({"null": true}), json!(0), false),
    ] {
        assert_eq!(accepts(matcher.clone(), value.clone()), wanted, "{matcher} {value}");
    }
}

#[test]
fn a_default_and_its_absence_are_equal_unless_stated() {
    let of = |matcher: &str, arguments: Value| {
        classes(
            &format!("calls = [{{ tool = 'delegate', arguments = {{ count = {matcher} }} }}]"),
            &[("delegate", delegation(arguments))],
        )
    };
    assert_eq!(of("1", json!({})), []);
    assert_eq!(of("1", json!({ "count": 1.0 })), []);
    assert_eq!(of("2", json!({})), [Class::WrongValue]);
    assert_eq!(of("{ exact = 1, absent_ok = false }", json!({})), [Class::WrongValue]);
    assert_eq!(of("{ exact = 2, absent_ok = true }", json!({})), []);
    assert_eq!(of("{ exact = 2, absent_ok = true }", json!({ "count": 1 })), []);
    assert_eq!(of("{ absent = true }", json!({ "count": 1 })), []);
    assert_eq!(of("{ absent = true }", json!({ "count": 2 })), [Class::UnexpectedParam]);
    let only =
        "calls = [{ tool = 'delegate', only = true, arguments = { provider = 'claude', task = { any = true } } }]";
    assert_eq!(classes(only, &[("delegate", delegation(json!({ "count": 1 })))]), []);
    assert_eq!(classes(only, &[("delegate", delegation(json!({ "count": 2 })))]), [Class::UnexpectedParam]);
}

#[test]
fn what_the_case_accepts_off_schema_is_right_and_only_that() {
    let expect = "calls = [{ tool = 'delegate', arguments = { provider = { exact = 'gemini', off_schema = true } } }]";
    let of = |arguments: Value| classes(expect, &[("delegate", delegation(arguments))]);
    assert_eq!(of(json!({ "provider": "gemini" })), []);
    assert_eq!(of(json!({ "provider": "mistral" })), [Class::WrongValue]);
    assert_eq!(of(json!({ "provider": "gemini", "task": 5 })), [Class::TypeMismatch]);
}

#[test]
fn a_grade_is_stored_and_read_back() {
    let grade = graded(DELEGATE, &answer(&[("write_file", json!({ "path": 5 }))]));
    assert_eq!(serde_json::from_str::<Grade>(&serde_json::to_string(&grade).unwrap()).unwrap(), grade);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn any_call() -> impl Strategy<Value = (&'static str, Value)> {
        let name = prop_oneof![Just("delegate"), Just("write_file"), Just("read_file"), Just("unknown")];
        let value = prop_oneof![
            Just(json!("claude")),
            Just(json!("letter")),
            Just(json!(1)),
            Just(json!(null)),
            Just(json!([1]))
        ];
        let key = prop_oneof![Just("provider"), Just("task"), Just("path"), Just("count")];
        (name, proptest::collection::btree_map(key, value, 0..4)).prop_map(|(name, arguments)| (name, json!(arguments)))
    }

    proptest! {
        #[test]
        fn verdict_class_and_reasons_agree_for_any_answer(
            calls in proptest::collection::vec(any_call(), 0..5),
            expect in prop_oneof![
                Just(DELEGATE),
                Just("no_call = true"),
                Just("forbid = ['write_file']"),
                Just("calls = [{ tool = 'write_file' }, { tool = 'delegate' }]\nordered = true"),
                Just("any_of = [[{ tool = 'read_file' }], [{ tool = 'write_file' }, { tool = 'write_file' }]]"),
            ],
        ) {
            let grade = graded(expect, &answer(&calls));
            prop_assert_eq!(grade.pass, grade.class.is_none());
            prop_assert_eq!(grade.pass, grade.reasons.is_empty());
            prop_assert!(grade.reasons.len() >= grade.classes.len());
            // The order of the calls does not matter where it is not asked for.
            if !expect.contains("ordered") {
                let reversed: Vec<_> = calls.iter().rev().cloned().collect();
                prop_assert_eq!(graded(expect, &answer(&reversed)).pass, grade.pass);
            }
            // One read more changes no verdict where reads are free.
            if !expect.contains("no_call") && !expect.contains("read_file") {
                let mut more = calls.clone();
                more.push(("read_file", json!({})));
                prop_assert_eq!(graded(expect, &answer(&more)).pass, grade.pass);
            }
        }
    }
}

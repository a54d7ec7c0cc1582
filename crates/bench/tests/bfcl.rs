//! The import of BFCL on an excerpt of its data that holds every odd entry of the four categories.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};

use serde_json::json;
use tenpass_bench::bfcl::{Category, ImportError, import, self_check, write};
use tenpass_bench::cases::{Case, load_suite};

fn excerpt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bfcl")
}

fn cases(category: Category) -> Vec<Case> {
    import(&excerpt(), &[category]).unwrap().remove(0).cases
}

#[test]
fn every_accepted_answer_passes_and_no_wrong_one_does() {
    let check = self_check(&excerpt(), Category::DEFAULT).unwrap();
    for category in &check.categories {
        assert!(category.agrees(), "{}: {:#?}", category.category, category.disagreements);
        assert_eq!((category.right_passed, category.wrong_passed), (category.right, 0));
    }
    let cases: Vec<usize> = check.categories.iter().map(|category| category.cases).collect();
    assert_eq!(cases, [14, 7, 8, 6]);
    // Each category was tried with far more wrong answers than right ones.
    assert!(check.categories.iter().all(|category| category.wrong > category.right));
    assert!(check.agrees() && check.to_string().contains("simple_python"));
}

#[test]
fn types_are_mapped_and_names_keep_their_dots() {
    let cases = cases(Category::SimplePython);
    let by_id = |id: &str| cases.iter().find(|case| case.id == id).unwrap();
    let factorial = by_id("bfcl-simple-python-1");
    assert_eq!(factorial.tools[0].name, "math.factorial");
    assert_eq!(factorial.tools[0].parameters["type"], "object");
    assert_eq!(factorial.provenance, "BFCL v4, simple_python, simple_python_1");
    let distance = &by_id("bfcl-simple-python-83").tools[0].parameters["properties"]["coord1"];
    assert_eq!((&distance["type"], &distance["items"]["type"]), (&json!("array"), &json!("number")));
    let anything = &by_id("bfcl-simple-python-109").tools[0].parameters["properties"]["data"];
    assert!(anything.get("type").is_none() && anything.get("description").is_some());
}

#[test]
fn accepted_values_become_matchers() {
    let cases = cases(Category::SimplePython);
    let expected = |id: &str, name: &str| {
        let case = cases.iter().find(|case| case.id == id).unwrap();
        let call = &case.expect.alternatives[0][0];
        assert!(call.only);
        call.arguments.iter().find(|(argument, _)| argument == name).unwrap().1.to_notation()
    };
    assert_eq!(expected("bfcl-simple-python-0", "base"), json!(10));
    let unit = json!({"any_of": [{"loose": "units"}, ""], "absent_ok": true});
    assert_eq!(expected("bfcl-simple-python-0", "unit"), unit);
    // Required, although the answers would let it be absent: the checker of BFCL asks for it first.
    assert_eq!(expected("bfcl-simple-python-17", "formatted"), json!(true));
    // The answers contradict the schema: it stays what the model sees, and they stay right.
    assert_eq!(expected("bfcl-simple-python-358", "diet")["off_schema"], true);
    assert_eq!(expected("bfcl-simple-python-307", "venue")["off_schema"], true);
    let conditions = expected("bfcl-simple-python-89", "conditions");
    let school = json!({"any_of": [{"loose": "Bluebird High School"}, {"loose": "Bluebird HS"}]});
    assert_eq!((&conditions["object"]["school"], &conditions["only"]), (&school, &json!(true)));
}

#[test]
fn parallel_calls_are_unordered_and_irrelevance_is_no_call() {
    let parallel = &cases(Category::Parallel)[0];
    assert_eq!((parallel.expect.alternatives[0].len(), parallel.expect.ordered), (2, false));
    assert!(cases(Category::Irrelevance).iter().all(|case| case.expect.no_call && !case.tools.is_empty()));
}

#[test]
fn written_case_files_are_a_suite_and_digest_alike() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/cases");
    let imported = import(&excerpt(), Category::DEFAULT).unwrap();
    let files = write(&imported, &out).unwrap();
    let suite = load_suite(&out).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!((files.len(), suite.cases.len()), (4, 35));
    assert!(suite.cases.iter().all(|case| case.source.starts_with("bfcl-")));
    assert!(suite.system.is_empty());
}

#[test]
fn what_is_missing_is_named() {
    let none = import(&excerpt().join("possible_answer/nothing"), &[Category::Multiple]).unwrap_err();
    assert!(matches!(none, ImportError::NoData(_)) && none.hint().contains("bfcl-eval"), "{none}");
    let file = import(&excerpt(), &[Category::LiveSimple]).unwrap_err();
    assert!(matches!(file, ImportError::NoFile { .. }) && file.to_string().contains("live_simple"), "{file}");
    let name = "simple_pyton".parse::<Category>().unwrap_err();
    assert!(name.to_string().contains("simple_pyton") && name.hint().contains("simple_python"), "{name}");
}

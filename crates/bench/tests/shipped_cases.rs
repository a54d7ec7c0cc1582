//! The cases that ship with the project: they load, they survive storage, and they are what was promised.

use std::path::Path;

use tenpass_bench::cases::{Case, CaseKind, Language, SuiteText, load_suite, load_tools, parse_suite, to_toml};

fn shipped() -> tenpass_bench::cases::Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/tools");
    load_suite(&folder)
        .unwrap_or_else(|errors| panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
}

#[test]
fn there_are_sixty_in_two_languages_with_targets_and_guards() {
    let suite = shipped();
    assert!(suite.cases.len() >= 60, "{} cases", suite.cases.len());
    let count = |of: &dyn Fn(&Case) -> bool| suite.cases.iter().filter(|case| of(case)).count();
    assert!(count(&|case| case.language == Language::French) >= 20);
    assert!(count(&|case| case.language == Language::English) >= 20);
    assert!(count(&|case| case.kind == CaseKind::Guard) >= 10);
    assert!(!suite.system.is_empty());
}

#[test]
fn each_is_read_back_from_storage_as_it_was() {
    let suite = shipped();
    for case in &suite.cases {
        let stored = serde_json::to_string(case).unwrap();
        assert_eq!(&serde_json::from_str::<Case>(&stored).unwrap(), case, "{}", case.id);
    }
    let written = to_toml("all", "", &suite.cases);
    let text = SuiteText { files: vec![("all.toml".to_owned(), written)], ..SuiteText::default() };
    let again = parse_suite(&text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    for (before, after) in suite.cases.iter().zip(&again.cases) {
        let same = Case { source: before.source.clone(), family: before.family.clone(), ..after.clone() };
        assert_eq!(&same, before);
    }
    assert_eq!(again.cases.len(), suite.cases.len());
}

#[test]
fn one_file_has_the_tools_and_the_prompt_of_its_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/tools");
    let suite = shipped();
    let tools = load_tools(&folder.join("tools.toml")).unwrap();
    assert!(!tools.is_empty());
    let first = &suite.cases[0];
    let file = first.source.split(':').next().unwrap();
    let alone = load_suite(&folder.join(file)).unwrap();
    assert_eq!((&alone.cases[0], &alone.system), (first, &suite.system));
    assert!(alone.cases.len() < suite.cases.len());
}

#[test]
fn a_path_that_is_not_there_is_one_error() {
    let errors = load_suite(Path::new("no/such/folder")).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "no/such/folder: no such file or folder");
}

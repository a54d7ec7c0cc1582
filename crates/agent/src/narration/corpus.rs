//! The labelled sentences, and how well the rules do on them.

use super::*;

const CORPUS: &str = include_str!("corpus.tsv");

/// (announces, language, answer)
fn labelled() -> Vec<(bool, &'static str, &'static str)> {
    CORPUS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let mut fields = line.splitn(3, '\t');
            let (label, language) = (fields.next().unwrap(), fields.next().unwrap());
            assert!(matches!(label, "yes" | "no") && matches!(language, "en" | "fr"), "{line}");
            (label == "yes", language, fields.next().unwrap())
        })
        .collect()
}

/// (hits, false alarms, misses)
fn measured(language: &str) -> (usize, Vec<&'static str>, Vec<&'static str>) {
    let cases: Vec<_> = labelled().into_iter().filter(|case| case.1 == language).collect();
    let found = |wanted: bool, given: bool| {
        cases.iter().filter(move |case| case.0 == wanted && is_narrated(case.2) == given).map(|case| case.2).collect::<Vec<_>>()
    };
    (found(true, true).len(), found(false, true), found(true, false))
}

#[test]
fn precision_and_recall_are_what_they_are() {
    let none: Vec<&str> = Vec::new();
    assert_eq!(measured("en"), (32, none.clone(), none.clone()));
    assert_eq!(measured("fr"), (30, none.clone(), none));
    assert!(labelled().len() >= 80);
}

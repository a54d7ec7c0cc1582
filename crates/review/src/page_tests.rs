//! Pages of stored runs.

use std::fs;

use serde_json::json;
use tempfile::TempDir;
use tenpass_bench::store::Run;
use tenpass_report::ReportExtra;

use crate::compare_fixture::{CASES, Draft, configuration};
use crate::{
    CompareOptions, ReportOptions, ReviewError, compare_columns, save_report, write_report, write_report_with,
};

const FIRST: &str = "20261130-220012-aaaa";
const SECOND: &str = "20261201-220031-bbbb";

fn written(runs: &[Run], options: &ReportOptions) -> String {
    let (comparisons, refused) = compare_columns(runs, &options.only, &CompareOptions::default()).unwrap();
    let options = ReportOptions { refused, ..options.clone() };
    let mut page = Vec::new();
    write_report_with(runs, &comparisons, &options, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn a_run_alone_shows_its_rate_and_all_that_failed() {
    let store = TempDir::new().unwrap();
    let run = Draft::new(7).write(store.path(), FIRST);
    let mut page = Vec::new();
    write_report(&[run], &[], &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<p class=\"word\">70.0 % passed</p>"), "the verdict comes first");
    assert!(page.contains("All 60 failing passes are here."), "{}", &page[page.len() - 4000..]);
    assert_eq!(page.matches("<tr data-i=").count(), CASES);
    assert_eq!(page.matches(">7/10</td>").count(), CASES);
    // The example of the only class that occurred quotes its pass.
    assert!(page.contains("lamp-00 #8</span> <q>answer 8 false</q>"), "an example is quoted");
    // The manifest and the way to measure it again.
    assert!(page.contains("tenpass bench tools --model embedded:smollm2-135m --passes 10 --seed 7 --timeout 120000ms"));
    assert!(page.contains("0123456789abcdef0123456789abcdef01234567"));
}

#[test]
fn a_run_that_has_only_begun_has_a_page() {
    let store = TempDir::new().unwrap();
    let run = Draft::new(0).with(|draft| draft.written = 0).write(store.path(), FIRST);
    let page = written(&[run], &ReportOptions::default());
    assert!(
        page.contains("There is no failing pass.") && page.contains("NOTHING SCORED") && page.ends_with("</html>\n"),
        "{page}"
    );
}

#[test]
fn passing_passes_come_in_when_asked_for() {
    let store = TempDir::new().unwrap();
    let run = Draft::new(9).write(store.path(), FIRST);
    let page = written(&[run], &ReportOptions { passing: true, ..ReportOptions::default() });
    assert!(page.contains("All 20 failing passes are here. Of 180 passing passes, 180 are here."), "{page}");
}

#[test]
fn two_runs_are_compared_where_that_is_possible() {
    let store = TempDir::new().unwrap();
    let before = Draft::new(9).write(store.path(), FIRST);
    let after = Draft::new(3).with(|draft| draft.configuration()["structure"] = "grammar".into());
    let after = after.write(store.path(), SECOND);
    let page = written(&[before, after], &ReportOptions::default());
    assert!(page.contains("<p class=\"word\">REGRESSED</p>"), "the verdict comes first");
    assert!(page.contains(&format!("{SECOND}</span></li>")), "the columns are named");
    assert_eq!(
        page.matches("<td class=\"h5\" tabindex=\"-1\">9/10</td><td class=\"h2\" tabindex=\"-1\">3/10</td>").count(),
        CASES
    );
}

#[test]
fn what_cannot_be_compared_is_shown_with_the_reason() {
    let store = TempDir::new().unwrap();
    let before = Draft::new(9).write(store.path(), FIRST);
    let after = Draft::new(9).with(|draft| {
        draft.configuration()["structure"] = "grammar".into();
        draft.configuration()["model"]["digest"] = "sha256:bbbbbbbbbbbbbbbbbbbb".into();
        draft.manifest["timeout_ms"] = json!(1000);
    });
    let after = after.write(store.path(), SECOND);
    let page = written(&[before, after], &ReportOptions::default());
    assert!(page.contains("<h3>Not compared</h3>") && page.contains("differ in more than the variable under test"));
}

#[test]
fn one_configuration_of_a_run_can_be_shown() {
    let store = TempDir::new().unwrap();
    let draft = Draft::new(5).with(|draft| {
        let configurations = draft.manifest["configurations"].as_array_mut().unwrap();
        configurations.push(configuration("smollm2 grammar"));
    });
    let run = draft.write(store.path(), FIRST);
    let both = written(std::slice::from_ref(&run), &ReportOptions::default());
    assert!(both.contains("2\u{a0}configurations"), "both are shown");
    let only = vec![(FIRST.to_owned(), "smollm2 grammar".to_owned())];
    let one = written(&[run], &ReportOptions { only, ..ReportOptions::default() });
    assert!(!one.contains("2\u{a0}configurations") && one.contains("50.0 % passed"), "one is shown");
    assert!(one.contains("All 100 failing passes are here."), "and its passes only");
}

#[test]
fn benches_stand_below_each_other() {
    let store = TempDir::new().unwrap();
    let tools = Draft::new(9).write(store.path(), FIRST);
    let rounds = Draft::new(8).with(|draft| draft.manifest["bench"] = "rounds".into()).write(store.path(), SECOND);
    let extras =
        vec![ReportExtra { title: "Nights".into(), paragraphs: vec!["quiet".into()], ..ReportExtra::default() }];
    let page = written(&[tools, rounds], &ReportOptions { extras, ..ReportOptions::default() });
    assert!(page.contains("id=\"heat-0\"") && page.contains("id=\"heat-1\""));
    assert!(page.contains("90.0 % passed") && page.contains("80.0 % passed"), "each has its verdict");
    assert!(page.find("<h2>Nights</h2>").unwrap() < page.find("id=\"heat-0\"").unwrap());
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let store = TempDir::new().unwrap();
    let run = Draft::new(9).write(store.path(), FIRST);
    let path = store.path().join("page.html");
    let runs = [run];
    save_report(&runs, &[], &ReportOptions::default(), &path).unwrap();
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.ends_with("</html>\n"));
    // Damage the run: the page that is there stays.
    fs::write(runs[0].directory().join("outcomes.jsonl"), "{\"case\":\n").unwrap();
    save_report(&runs, &[], &ReportOptions::default(), &path).unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    let names = || fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names().any(|name| name.ends_with(".partial")), "nothing is left behind");
    let nowhere = store.path().join("no-such-folder/page.html");
    match save_report(&runs, &[], &ReportOptions::default(), &nowhere) {
        Err(ReviewError::ReportFile { path, .. }) => assert_eq!(path, nowhere),
        other => panic!("{other:?}"),
    }
}

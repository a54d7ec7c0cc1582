//! Snapshots of every view, and what must hold for any run.

use proptest::prelude::*;
use serde_json::Value;
use tenpass_trace::FailureClass;
use unicode_width::UnicodeWidthStr;

use crate::sample::{configurations, facts, passes, summary, summary_of};
use crate::{
    Observations, PassView, ReportError, RunSummary, Style, parse_json, render_csv, render_json, render_markdown,
    render_table,
};

#[test]
fn table_of_one_configuration() {
    insta::assert_snapshot!(render_table(&summary(1), &Style::PLAIN));
}

#[test]
fn table_of_two_configurations() {
    insta::assert_snapshot!(render_table(&summary(2), &Style::PLAIN));
}

#[test]
fn table_of_three_configurations_on_a_wide_terminal_with_colours() {
    let style = Style { width: 140, color: true, unicode: true };
    insta::assert_snapshot!(render_table(&summary(3), &style).replace('\u{1b}', "␛"));
}

#[test]
fn table_on_a_narrow_ascii_terminal() {
    let text = render_table(&summary(1), &Style { width: 72, color: false, unicode: false });
    assert!(text.is_ascii(), "{:?}", text.chars().find(|character| !character.is_ascii()));
    insta::assert_snapshot!(text);
}

#[test]
fn table_when_nothing_failed() {
    let perfect: Vec<_> =
        passes(1).into_iter().map(|pass| PassView { success: Some(true), class: None, ..pass }).collect();
    insta::assert_snapshot!(render_table(&summary_of(facts(), configurations(1), &perfect), &Style::PLAIN));
}

#[test]
fn table_of_an_unfinished_run_with_faults_and_repeats() {
    insta::assert_snapshot!(render_table(&troubled(), &Style::PLAIN));
}

#[test]
fn table_of_a_run_that_never_began() {
    insta::assert_snapshot!(render_table(&summary_of(facts(), configurations(2), &[]), &Style::PLAIN));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(render_markdown(&summary(2)));
}

#[test]
fn csv() {
    insta::assert_snapshot!(render_csv(&summary(2)).unwrap());
}

#[test]
fn json() {
    let few: Vec<_> = passes(2).into_iter().filter(|pass| pass.family == "delegation").collect();
    let text = render_json(&summary_of(facts(), configurations(2), &few)).unwrap();
    let rounded = rounded(serde_json::from_str(&text).unwrap());
    insta::assert_snapshot!(serde_json::to_string_pretty(&rounded).unwrap());
}

/// The last digits depend on the platform's logarithm.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            Value::from((number.as_f64().unwrap_or_default() * 1e9).round() / 1e9)
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, rounded(value))).collect(),
        other => other,
    }
}

/// One deterministic configuration, of which a case is missing and some passes met a fault.
fn troubled() -> RunSummary {
    let mut configurations = configurations(1);
    configurations[0].temperature = Some(0.0);
    configurations[0].context_tokens = Some(720);
    let mut facts = facts();
    facts.planned_passes = Some(100);
    let passes: Vec<_> = passes(1)
        .into_iter()
        .filter(|pass| pass.case != "negated-delete")
        .map(|pass| PassView { output_digest: u64::from(pass.success == Some(true)), ..pass })
        .map(|pass| {
            let fault = PassView {
                success: None,
                class: Some(FailureClass::InvalidTransport),
                quote: "connection reset by peer",
                ..pass
            };
            if pass.family == "choice" && pass.pass > 6 { fault } else { pass }
        })
        .collect();
    summary_of(facts, configurations, &passes)
}

#[test]
fn a_deterministic_model_counts_each_output_once() {
    let summary = troubled();
    let configuration = &summary.configurations[0];
    assert_eq!(configuration.observations, Observations::Deterministic);
    // Ten equal passes of one case are one observation; a case with both outcomes has two outputs.
    let of = |name: &str| summary.cases.iter().find(|case| case.case == name).unwrap().cells[0].rate;
    assert_eq!((of("no-tool-fits-poem").total, of("no-tool-fits-poem").effective_n), (10, 1));
    assert_eq!((of("delegate-translation").total, of("delegate-translation").effective_n), (10, 2));
    assert!(of("no-tool-fits-poem").low < 0.25);
}

#[test]
fn one_output_in_every_case_is_reported_although_sampling_was_asked_for() {
    let equal: Vec<_> = passes(1)
        .into_iter()
        .map(|pass| PassView { success: Some(true), class: None, output_digest: 7, ..pass })
        .collect();
    let summary = summary_of(facts(), configurations(1), &equal);
    assert_eq!(summary.configurations[0].observations, Observations::Repeating);
    assert_eq!(summary.configurations[0].rate.effective_n, 10);
    assert!(summary.notes.iter().any(|note| note.contains("100 passes are 10 observations")), "{:?}", summary.notes);
}

#[test]
fn an_infrastructure_fault_is_never_scored() {
    let fault = PassView {
        case: "a",
        configuration: "x",
        success: Some(false),
        class: Some(FailureClass::InvalidOverflow),
        ..PassView::default()
    };
    let summary = summary_of(facts(), Vec::new(), &[fault, PassView { success: None, class: None, ..fault }]);
    let found = &summary.configurations[0];
    assert_eq!((found.rate.total, found.rate.rate, found.invalid, found.unclassified), (0, None, 2, 0));
    assert_eq!((found.rate.low, found.rate.high), (0.0, 1.0));
}

#[test]
fn a_newer_format_is_refused() {
    let newer = render_json(&summary(1)).unwrap().replacen("\"version\": 1", "\"version\": 2", 1);
    assert!(matches!(parse_json(&newer), Err(ReportError::Version { found: 2 })));
    assert!(matches!(parse_json("{"), Err(ReportError::Json(_))));
}

#[test]
fn a_spreadsheet_runs_no_formula() {
    let formula = PassView { case: "=1+1", configuration: "@x", success: Some(true), ..PassView::default() };
    let csv = render_csv(&summary_of(facts(), Vec::new(), &[formula])).unwrap();
    assert!(csv.lines().nth(1).unwrap().starts_with("'=1+1,,,,'@x,"), "{csv}");
}

#[test]
fn a_real_gain_and_a_broken_guard_get_their_verdicts() {
    let summary = summary(3);
    let verdicts: Vec<_> = summary.comparisons.iter().map(|found| found.verdict.as_str()).collect();
    assert_eq!(verdicts, ["REAL", "REGRESSED"]);
    assert_eq!(summary.comparisons[1].guards_worse, ["no-tool-fits-poem"]);
    let [first, second] = [&summary.comparisons[0], &summary.comparisons[1]];
    assert!((first.p_holm - 2.0 * first.p).abs() < 1e-15 && (second.p_holm - second.p).abs() < 1e-15);
}

/// One pass of an arbitrary run.
#[derive(Debug, Clone)]
struct AnyPass {
    case: usize,
    configuration: usize,
    pass: u32,
    success: Option<bool>,
    class: Option<FailureClass>,
    milliseconds: Option<f64>,
    digest: u64,
    recovered: bool,
    quote: String,
}

fn any_pass() -> impl Strategy<Value = AnyPass> {
    let class = prop::option::of(prop::sample::select(FailureClass::ALL));
    let facts = (0_usize..6, 0_usize..3, 0_u32..10, prop::option::of(any::<bool>()), class, any::<bool>());
    (facts, prop::option::of(0.0_f64..1e7), 0_u64..5, any::<String>()).prop_map(
        |((case, configuration, pass, success, class, recovered), milliseconds, digest, quote)| AnyPass {
            case,
            configuration,
            pass,
            success,
            class,
            milliseconds,
            digest,
            recovered,
            quote,
        },
    )
}

fn summary_of_any(passes: &[AnyPass], cases: &[String]) -> RunSummary {
    const LABELS: [&str; 3] = ["smollm2 native", "smollm2 grammar", "gemma text"];
    let views: Vec<PassView<'_>> = passes
        .iter()
        .map(|pass| PassView {
            case: &cases[pass.case],
            family: ["one", "two"][pass.case % 2],
            language: ["en", "fr"][pass.case / 3],
            kind: ["target", "guard"][pass.case % 2],
            configuration: LABELS[pass.configuration],
            pass: pass.pass,
            success: pass.success,
            class: pass.class,
            recovered: pass.recovered,
            total_ms: pass.milliseconds,
            // One output has one grade.
            output_digest: pass.digest * 2 + u64::from(pass.success == Some(true)),
            // An example is named by case and pass, so its words must follow from them here.
            quote: if pass.pass == 0 { "" } else { &pass.quote },
            ..PassView::default()
        })
        .collect();
    let mut configurations = configurations(3);
    configurations[1].temperature = Some(0.0);
    summary_of(facts(), configurations, &views)
}

fn case_names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::hash_set("[a-z]{1,4}(-[a-z]{1,12}){0,5}", 6).prop_map(|names| names.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_pass_is_counted_once(passes in prop::collection::vec(any_pass(), 0..200), cases in case_names()) {
        let summary = summary_of_any(&passes, &cases);
        prop_assert_eq!(summary.passes, passes.len() as u64);
        let scored: u64 = summary.configurations.iter().map(|found| found.rate.total + found.invalid).sum();
        prop_assert_eq!(scored, passes.len() as u64);
        for configuration in &summary.configurations {
            let failed: u64 = configuration.failures.iter()
                .filter(|group| group.kind != tenpass_trace::FailureKind::Invalid).map(|group| group.passes).sum();
            prop_assert_eq!(failed + configuration.unclassified, configuration.rate.total - configuration.rate.passed);
            prop_assert_eq!(configuration.failures.iter().map(|group| group.classes.len()).sum::<usize>(), FailureClass::ALL.len());
        }
    }

    #[test]
    fn the_order_of_the_passes_does_not_matter(
        passes in prop::collection::vec(any_pass(), 0..200).prop_map(|mut passes| {
            // The words of an example come from the first of equal (case, pass): make them equal.
            for pass in &mut passes { pass.quote = format!("{} {}", pass.case, pass.pass); }
            passes
        }),
        cases in case_names(),
        seed in any::<u64>(),
    ) {
        let mut shuffled = passes.clone();
        shuffled.sort_by_key(|pass| {
            let key = (pass.case * 100 + pass.configuration * 10) as u64 + u64::from(pass.pass);
            (key ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        prop_assert_eq!(summary_of_any(&passes, &cases), summary_of_any(&shuffled, &cases));
    }

    #[test]
    fn tables_keep_to_the_width_and_cannot_steer_the_terminal(
        passes in prop::collection::vec(any_pass(), 0..100), cases in case_names(), width in 100_usize..180
    ) {
        let text = render_table(&summary_of_any(&passes, &cases), &Style { width, color: false, unicode: true });
        for line in text.lines() {
            prop_assert!(line.width() <= width, "{} of {width}: {line}", line.width());
        }
        prop_assert!(!text.contains(|character: char| character.is_control() && character != '\n'));
    }

    #[test]
    fn json_comes_back_as_it_was(passes in prop::collection::vec(any_pass(), 0..60), cases in case_names()) {
        let summary = summary_of_any(&passes, &cases);
        prop_assert_eq!(parse_json(&render_json(&summary).unwrap()).unwrap(), summary);
    }

    #[test]
    fn csv_has_a_row_per_case_and_configuration(passes in prop::collection::vec(any_pass(), 1..60), cases in case_names()) {
        let summary = summary_of_any(&passes, &cases);
        let text = render_csv(&summary).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(rows.len(), summary.cases.len() * 3);
    }
}

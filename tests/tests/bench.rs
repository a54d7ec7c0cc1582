//! The tool-choice bench on the real model, through the real binary.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use serde_json::Value;
use tenpass_tests::Tenpass;

const SOME: [&str; 6] = ["--family", "delegation", "--family", "small-talk", "--seed", "7"];

fn bench(tenpass: &Tenpass, more: &[&str]) -> Value {
    let mut words = vec!["bench", "tools", "--format", "json", "--max-tokens", "96"];
    words.extend_from_slice(&SOME);
    words.extend_from_slice(more);
    tenpass.json(&words)
}

/// (case, passed, total) of every case of the first configuration.
fn cells(report: &Value) -> Vec<(String, u64, u64)> {
    let number = |value: &Value| value.as_u64().unwrap();
    let cases = report["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let rate = &case["cells"][0]["rate"];
            (case["case"].as_str().unwrap().to_owned(), number(&rate["passed"]), number(&rate["total"]))
        })
        .collect()
}

#[test]
fn ten_passes_of_every_case_are_measured_kept_and_graded_again() {
    let tenpass = Tenpass::new();
    let report = bench(&tenpass, &[]);
    let cells = cells(&report);
    assert!(cells.len() >= 7, "{cells:?}");
    assert!(cells.iter().all(|(_, _, total)| *total == 10), "{cells:?}");
    let configuration = &report["configurations"][0];
    assert_eq!(configuration["structure"], "grammar", "SmolLM2's template knows no tools");
    assert_eq!(configuration["invalid"], 0);
    let prompt = configuration["measured"]["prompt_tokens"]["max"].as_f64().unwrap();
    assert!((300.0..4000.0).contains(&prompt), "{prompt} prompt tokens");

    // A grammar admits no call outside the declared shape.
    assert_eq!(configuration["recovered"], 0);
    let again = tenpass.json(&["runs", "regrade", "latest", "--format", "json"]);
    assert_eq!((again["changed"].as_u64(), again["graded"].as_u64()), (Some(0), Some(10 * cells.len() as u64)));

    let (case, _, _) = &cells[0];
    let pass = tenpass.json(&["runs", "show", "latest", "--case", case, "--pass", "3", "--format", "json"]);
    let pass = &pass[0];
    let raw: Value = serde_json::from_str(pass["pass"]["text"].as_str().unwrap()).unwrap_or(Value::Null);
    let truncated = pass["pass"]["finish"] == "length";
    assert!(truncated || raw["name"].is_string(), "constrained text is a call: {}", pass["pass"]["text"]);
    assert!(pass["request"]["request"]["messages"].as_array().unwrap().len() >= 2);
    assert!(pass["outcome"]["success"].is_boolean());

    let shown = tenpass.ok(&["runs", "show", "latest"]);
    assert!(shown.contains("passed") && shown.contains("95 % interval"), "{shown}");
}

#[test]
fn one_seed_gives_one_result() {
    let (first, second) = (Tenpass::new(), Tenpass::new());
    let few = ["--passes", "4"];
    assert_eq!(cells(&bench(&first, &few)), cells(&bench(&second, &few)));
}

#[test]
fn strategies_are_configurations_of_one_run() {
    let tenpass = Tenpass::new();
    let report =
        bench(&tenpass, &["--structure", "native,text", "--tools", "all,router", "--passes", "2", "--filter", "talk"]);
    let labels: Vec<&str> =
        report["configurations"].as_array().unwrap().iter().map(|c| c["label"].as_str().unwrap()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(labels.iter().any(|label| label.contains("native") && label.contains("router")), "{labels:?}");
    assert_eq!(report["comparisons"].as_array().unwrap().len(), 3);
}

#[test]
fn the_prompt_shown_is_the_prompt_measured() {
    let tenpass = Tenpass::new();
    let shown = tenpass.json(&["prompt", "show", "--case", "talk-thanks", "--format", "json"]);
    assert_eq!(shown["tokens"], shown["server_tokens"]);
    assert!(shown["text"].as_str().unwrap().contains("<|im_start|>system"));
    tenpass.ok(&["bench", "tools", "--filter", "talk-thanks", "--passes", "1", "--max-tokens", "16"]);
    let pass = tenpass.json(&["runs", "show", "latest", "--case", "talk-thanks", "--pass", "1", "--format", "json"]);
    assert_eq!(pass[0]["pass"]["usage"]["prompt_tokens"], shown["tokens"]);
}

#[test]
fn parts_of_a_partition_merge_into_the_whole() {
    let tenpass = Tenpass::new();
    for part in ["1/2", "2/2"] {
        bench(&tenpass, &["--passes", "2", "--partition", part]);
    }
    let runs = tenpass.json(&["runs", "list", "--format", "json"]);
    let ids: Vec<&str> = runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    let merged = tenpass.ok(&["runs", "merge", ids[0], ids[1]]);
    let id = merged.split_whitespace().next().unwrap();
    let whole = tenpass.json(&["runs", "show", id, "--format", "json"]);
    let direct = Tenpass::new();
    assert_eq!(cells(&whole), cells(&bench(&direct, &["--passes", "2"])));
}

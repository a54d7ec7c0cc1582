//! `tenpass query`, and tables as CSV and Parquet, through the real binary.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::process::Output;

use serde_json::Value;
use tenpass_tests::Tenpass;

/// Two runs of a few cases on recorded answers, the first one blessed.
fn measured() -> Tenpass {
    let tenpass = Tenpass::new();
    let replay = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(replay.path(), "{\"match\":null,\"text\":\"hello\"}\n").unwrap();
    let spec = format!("replay:{}", replay.path().display());
    for _ in 0..2 {
        tenpass.ok(&["bench", "tools", "--model", &spec, "--filter", "talk", "--passes", "2"]);
    }
    tenpass.ok(&["runs", "bless", "latest"]);
    tenpass
}

/// The words of a command as a shell takes it: blanks part them, except between double quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn run(tenpass: &Tenpass, words: &[&str]) -> Output {
    tenpass.command(words).output().unwrap()
}

#[test]
fn every_documented_example_works() {
    let tenpass = measured();
    let folder = tempfile::tempdir().unwrap();
    let help = tenpass.ok(&["query", "--help"]);
    let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  tenpass ")).collect();
    assert!(examples.len() >= 5, "{help}");
    for example in examples {
        let words = words(example);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = tenpass.command(&words).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(example.contains("--out") || !output.stdout.is_empty(), "{example}");
    }
    assert!(std::fs::read(folder.path().join("passes.parquet")).unwrap().starts_with(b"PAR1"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing partial is left");
}

#[test]
fn answers_agree_with_the_runs() {
    let tenpass = measured();
    let shown = tenpass.json(&["runs", "show", "latest", "--format", "json"]);
    let sql = "SELECT sum(passed) AS passed, sum(total) AS total, max(run) = latest() AS latest, \
               baseline('tools') = latest('tools') AS blessed FROM cells WHERE run = latest()";
    let answer = tenpass.json(&["query", sql, "--format", "json"]);
    let rate = &shown["configurations"][0]["rate"];
    assert!(rate["total"].as_u64().is_some_and(|total| total > 0), "{shown}");
    assert_eq!((&answer[0]["passed"], &answer[0]["total"]), (&rate["passed"], &rate["total"]));
    assert_eq!((&answer[0]["latest"], &answer[0]["blessed"]), (&Value::from(1), &Value::from(1)));
    let csv = tenpass.ok(&["query", "SELECT run, passes FROM runs", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn a_mistake_is_one_line_and_a_hint() {
    let tenpass = measured();
    for (sql, error, hint) in [
        ("DELETE FROM passes", "DELETE is refused: a query only reads", "write one SELECT"),
        ("PRAGMA query_only = 0", "PRAGMA query_only is refused", "write one SELECT"),
        ("ATTACH 'x.sqlite' AS x", "ATTACH is refused", "write one SELECT"),
        ("SELECT clas FROM passes", "no such column: clas, at character 8", "did you mean class?"),
        ("SELECT 1; SELECT 2", "there is more than one statement", "write one SELECT"),
    ] {
        let output = run(&tenpass, &["query", sql]);
        assert_eq!(output.status.code(), Some(2), "{sql}");
        let said = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with(&format!("error: {error}")) && lines[1].contains(hint), "{said}");
    }
    let output = run(&tenpass, &["query", "SELECT [case], run, rate FROM cells", "--wide", "case,bench,rate"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("there are: case, run, rate"));
}

#[test]
fn tables_are_csv_and_parquet_too() {
    let tenpass = measured();
    for command in [
        "runs list",
        "runs show latest",
        "runs regrade latest",
        "cases list",
        "models list",
        "trace list",
        "trace stats",
        "journal show",
        "memory show",
        "claims bench",
        "config show",
        "query --tables",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let csv = tenpass.ok(&[&words[..], &["--format", "csv"]].concat());
        let columns = csv.lines().next().unwrap_or_default().split(',').count();
        assert!(columns >= 3, "{command}: {csv}");
        let output = run(&tenpass, &[&words[..], &["--format", "parquet"]].concat());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"), "{command}");
    }
    let one = run(&tenpass, &["runs", "show", "latest", "--case", "talk-hello", "--pass", "1", "--format", "csv"]);
    assert_eq!(one.status.code(), Some(2));
}

//! Work divided over processes and servers, and old runs cleared away: through the real binary.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};

fn run_folder(store: &Path, id: &str) -> PathBuf {
    store.join(id)
}

fn ids(tenpass: &Tenpass) -> Vec<String> {
    let runs = tenpass.json(&["runs", "list", "--format", "json"]);
    runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of a file without what depends on the moment, by what they are about.
fn timeless(path: &Path, volatile: &[&str]) -> BTreeMap<String, String> {
    let all = lines(path).into_iter().map(|mut line| {
        let key = format!("{} {} {}", line["case"], line["configuration"], line["pass"]);
        for name in volatile {
            line.as_object_mut().unwrap().remove(*name);
        }
        (key, line.to_string())
    });
    all.collect()
}

#[test]
fn parts_of_the_embedded_model_are_byte_for_byte_the_run_of_one_process() {
    let words = ["--filter", "talk", "--filter", "question", "--passes", "2", "--seed", "5", "--max-tokens", "24"];
    let bench = |tenpass: &Tenpass, more: &[&str]| {
        tenpass.ok(&[&["bench", "tools", "--jobs", "1"], &words[..], more].concat());
    };
    let (whole, parts) = (Tenpass::new(), Tenpass::new());
    bench(&whole, &[]);
    let folders: Vec<PathBuf> = (1..=3).map(|part| parts.runs.path().join(format!("part {part}"))).collect();
    for (number, folder) in folders.iter().enumerate() {
        let part = format!("{}/3", number + 1);
        bench(&parts, &["--partition", &part, "--runs-dir", folder.to_str().unwrap()]);
    }
    let from: Vec<&str> = folders.iter().map(|folder| folder.to_str().unwrap()).collect();
    let merged = parts.json(&[&["runs", "merge", "--format", "json", "--from"], &from[..]].concat());
    let id = merged["run"].as_str().unwrap();
    assert_eq!(merged["passes"], merged["total"]);
    assert_eq!(merged["parts"].as_array().unwrap().len(), 3);
    let (one, other) = (run_folder(whole.runs.path(), &ids(&whole)[0]), run_folder(parts.runs.path(), id));
    let equal = |name: &str, volatile: &[&str]| {
        let (one, other) = (timeless(&one.join(name), volatile), timeless(&other.join(name), volatile));
        assert!(one.len() >= 18, "{} lines of {name}", one.len());
        assert_eq!(one, other, "{name}");
    };
    // The texts, the calls, the seeds and the grades: everything but moments and the warmth of a cache.
    equal("outcomes.jsonl", &["first_call_ms"]);
    for line in lines(&other.join("passes.jsonl")) {
        assert_eq!(line["attempt"], 1);
    }
    equal("passes.jsonl", &["started", "timings", "cold", "usage"]);
    assert_eq!(fs::read(one.join("cases.jsonl")).unwrap(), fs::read(other.join("cases.jsonl")).unwrap());

    // The same again is the same run; a part by its path joins as well; a foreign one is refused.
    let again = parts.json(&[&["runs", "merge", "--format", "json", "--from"], &from[..]].concat());
    assert_eq!(again["run"], id);
    let path = |folder: &Path| {
        let run = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        run.into_iter().find(|path| path.join("manifest.json").is_file()).unwrap().display().to_string()
    };
    let paths: Vec<String> = folders.iter().map(|folder| path(folder)).collect();
    let text = parts.ok(&["runs", "merge", &paths[2], &paths[0], &paths[1]]);
    assert_eq!(text.trim(), format!("{id} joins 3 parts"));
    let error = parts.fails(2, &["runs", "merge", &paths[0], &paths[1]]);
    assert!(error.contains("part 3/3 is missing"), "{error}");
    let error = parts.fails(2, &["runs", "merge", "--from", parts.agent.path().to_str().unwrap()]);
    assert!(error.contains("is a part"), "{error}");
}

/// Answers with its seed, so that two servers of one model say the same.
fn server(pause: Duration) -> ScriptServer {
    ScriptServer::start(move |body| Scripted { pause, ..Scripted::text(format!("{} it is.", body["seed"])) })
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_run_loses_no_pass() {
    let tenpass = Tenpass::new();
    let (dying, healthy) = (server(Duration::from_millis(40)), server(Duration::from_millis(40)));
    let (first, second) = (format!("{}/v1", dying.address()), format!("{}/v1", healthy.address()));
    let spec = format!("openai:{first},{second}#scripted");
    let words =
        ["bench", "tools", "--model", &spec, "--filter", "talk", "--passes", "10", "--jobs", "2", "--seed", "3"];
    let child = tenpass.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while dying.requests().len() < 6 {
        assert!(Instant::now() < deadline, "the first server was asked {} times", dying.requests().len());
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(dying);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let folder = run_folder(tenpass.runs.path(), &ids(&tenpass)[0]);
    let passes = lines(&folder.join("passes.jsonl"));
    let mut by_endpoint: BTreeMap<String, usize> = BTreeMap::new();
    for pass in passes.iter().filter(|pass| pass["final"] == true) {
        assert_eq!((&pass["end"], &pass["fault"]), (&"answered".into(), &Value::Null), "{pass}");
        assert_eq!(pass["text"], format!("{} it is.", pass["seed"]));
        *by_endpoint.entry(pass["endpoint"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(by_endpoint.values().sum::<usize>(), 40, "{by_endpoint:?}");
    assert!(by_endpoint[&first] >= 3 && by_endpoint[&second] > by_endpoint[&first], "{by_endpoint:?}");
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let configuration = &manifest["configurations"][0];
    assert_eq!((&configuration["jobs"], &configuration["spec"]), (&4.into(), &spec.as_str().into()));
    // A dead server at the beginning is named, and the others begin without it.
    let output = tenpass.run(&["bench", "tools", "--model", &spec, "--filter", "talk-hello", "--passes", "2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("does not answer") && said.contains(&first), "{said}");
    drop(healthy);
    let error = tenpass.fails(3, &["bench", "tools", "--model", &spec, "--filter", "talk-hello"]);
    assert!(error.contains("cannot reach"), "{error}");
    let error = tenpass.fails(2, &["bench", "tools", "--model", &format!("openai:{first},{first}#x")]);
    assert!(error.contains("named twice"), "{error}");
}

#[test]
fn old_runs_are_listed_first_and_removed_when_told() {
    let tenpass = Tenpass::new();
    let answers = tenpass.agent.path().join("answers.jsonl");
    fs::write(&answers, "{\"text\":\"yes\"}\n").unwrap();
    let spec = format!("replay:{}", answers.display());
    let bench = || tenpass.ok(&["bench", "tools", "--model", &spec, "--filter", "talk-hello", "--passes", "1"]);
    for _ in 0..4 {
        bench();
    }
    let all = ids(&tenpass);
    let blessed = &all[2];
    tenpass.ok(&["runs", "bless", blessed]);
    let untouched = tenpass.ok(&["runs", "gc"]);
    assert_eq!(untouched.trim(), "nothing to remove; 4 runs stay");
    let listed = tenpass.run(&["runs", "gc", "--older-than", "0d", "--keep", "1"]);
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    // The newest run may be the blessed one.
    let is_listed = |id: &&String| text.contains(id.as_str());
    let going: Vec<String> = all.iter().filter(is_listed).cloned().collect();
    assert!((2..=3).contains(&going.len()) && !going.contains(blessed), "{text}");
    assert!(text.contains(&format!("{} runs would go", going.len())), "{text}");
    assert!(String::from_utf8_lossy(&listed.stderr).contains("--yes"));
    assert_eq!(ids(&tenpass).len(), 4);
    let rows = tenpass.json(&["runs", "gc", "--older-than", "0d", "--keep", "1", "--yes", "--format", "json"]);
    for row in rows.as_array().unwrap() {
        let id = row["run"].as_str().unwrap().to_owned();
        assert_eq!(row["removed"], going.contains(&id), "{row}");
        assert_eq!(row["kept"] == "baseline", id == *blessed, "{row}");
    }
    let left = ids(&tenpass);
    assert!(all.iter().all(|id| left.contains(id) != going.contains(id)), "{left:?}");
    tenpass.fails(2, &["runs", "show", &going[0]]);
    let error = tenpass.run(&["runs", "gc", "--older-than", "99999999999999999999d"]);
    assert_eq!(error.status.code(), Some(2));
}

#[test]
fn job_files_are_written_for_every_scheduler() {
    let tenpass = Tenpass::new();
    let out = tenpass.agent.path().join("the jobs");
    let out = out.to_str().unwrap();
    for (scheduler, files) in [
        ("slurm", &["parts.sbatch", "merge.sbatch", "submit.sh"][..]),
        ("kubernetes", &["volume.yaml", "parts.yaml", "merge.yaml"]),
        ("github", &["tenpass-nightly.yml"]),
    ] {
        let written = tenpass.ok(&["nightly", "--jobs", scheduler, "--parts", "5", "--out", out]);
        let names: Vec<&str> = written.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, files);
        for file in files {
            let text = fs::read_to_string(Path::new(out).join(file)).unwrap();
            assert!(text.starts_with('#'), "{file} says how to submit it");
        }
    }
    let error = tenpass.fails(2, &["nightly", "--jobs", "slurm", "--parts", "900", "--out", out]);
    assert!(error.contains("900 parts are more than the"), "{error}");
}

//! `tenpass nightly --jobs slurm` on a real Slurm: an array of four parts, one of them killed in the
//! middle and requeued, joined to the run that one process would have made.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]
#![cfg(target_os = "linux")]

mod cluster;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cluster::Cluster;
use serde_json::{Value, json};
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};

const PARTS: usize = 4;
const PASSES: usize = 6;
/// A few cases for every part.
const FILTER: [&str; 3] = ["delegate", "talk", "question"];

/// A server whose answer is decided by the seed, and takes long enough to be killed in.
fn server() -> ScriptServer {
    ScriptServer::start(|body| {
        let seed = body["seed"].as_u64().unwrap();
        let answer = match seed % 3 {
            0 => Scripted::call("write_document", json!({ "instruction": format!("letter {seed}") })),
            1 => Scripted::text(format!("I would rather not, {seed} times over.")),
            _ => Scripted::text(format!("{seed}")),
        };
        Scripted { pause: Duration::from_millis(60), ..answer }
    })
}

/// Settings of the night, in a file of its own.
fn configuration(folder: &Path, model: &str) -> PathBuf {
    let path = folder.join("config.toml");
    let text = format!(
        "[bench]\npasses = {PASSES}\njobs = 1\n[nightly]\nbenches = [\"tools\"]\nmodels = [\"{model}\"]\nfilter = {FILTER:?}\n"
    );
    fs::write(&path, text).unwrap();
    path
}

/// The only run of a store.
fn only_run(store: &Path) -> PathBuf {
    let runs: Vec<PathBuf> = fs::read_dir(store)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("manifest.json").is_file())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.into_iter().next().unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn manifest(run: &Path) -> Value {
    serde_json::from_slice(&fs::read(run.join("manifest.json")).unwrap()).unwrap()
}

/// What was measured, without moments, durations and places: equal for equal runs.
fn measured(run: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (file, volatile) in [
        ("passes.jsonl", &["started", "timings", "cold", "endpoint", "attempt"][..]),
        ("outcomes.jsonl", &["first_call_ms", "attempt"]),
    ] {
        for mut line in lines(&run.join(file)) {
            if line["final"] == false {
                continue;
            }
            let fields = line.as_object_mut().unwrap();
            for name in volatile {
                fields.remove(*name);
            }
            let key = format!("{file} {} {} {}", line["case"], line["configuration"], line["pass"]);
            assert!(found.insert(key.clone(), line.to_string()).is_none(), "{key} is there twice");
        }
    }
    found
}

fn passes_of(store: &Path) -> usize {
    let Ok(entries) = fs::read_dir(store) else { return 0 };
    let files = entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("passes.jsonl")).ok());
    files.map(|text| text.lines().count()).sum()
}

#[test]
fn four_parts_of_which_one_is_killed_make_the_run_of_one_process() {
    let (first, second) = (server(), server());
    let address = |server: &ScriptServer| format!("{}/v1", server.address());
    let model = format!("openai:{},{}#scripted", address(&first), address(&second));
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let configuration = configuration(folder.path(), &model);
    let jobs = folder.path().join("the night's jobs");
    let with_settings = |mut command: Command| {
        command.env("TENPASS_CONFIG", &configuration);
        command
    };
    let parts = PARTS.to_string();
    let words = ["nightly", "--jobs", "slurm", "--parts", &parts, "--out", jobs.to_str().unwrap()];
    let output = with_settings(tenpass.command(&words)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let script = fs::read_to_string(jobs.join("parts.sbatch")).unwrap();
    let seed = script.lines().find_map(|line| line.strip_prefix("seed=")).unwrap().to_owned();

    let cluster = Cluster::start();
    // The environment of the submission is that of the jobs: runs folder and settings come along.
    let mut submit = Command::new("sh");
    submit
        .arg(jobs.join("submit.sh"))
        .envs(tenpass.command(&[]).get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
    let output = cluster.command(with_settings(submit)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let array = said.split(['\u{20}', ',']).nth(1).unwrap().to_owned();

    // The second part is killed in the middle of its work.
    let store = tenpass.runs.path().join("parts").join(&seed).join("tools-1");
    let second_part = store.join("2");
    cluster.wait_for("the second part's first passes", Duration::from_mins(1), || passes_of(&second_part) >= 2);
    let task = format!("{array}_2");
    let requeued = cluster.ask("scontrol", &["requeue", &task]);
    assert!(requeued.status.success(), "{}", String::from_utf8_lossy(&requeued.stderr));
    // Slurm lets a requeued task wait for two minutes; an administrator does not. Sooner than in the next
    // second but one, though, the node takes the new start for the one it has just killed.
    let killed = Instant::now();
    cluster.wait_for("the second part to begin again", Duration::from_secs(90), || {
        let reason = cluster.ask("squeue", &["-h", "-j", &task, "-o", "%r"]);
        if reason.stdout.trim_ascii() == b"BeginTime" && killed.elapsed() > Duration::from_secs(3) {
            cluster.ask("scontrol", &["update", &format!("JobId={task}"), "StartTime=now"]);
        }
        fs::read_to_string(jobs.join("part-2.log")).is_ok_and(|log| log.contains("DUE TO JOB REQUEUE"))
            && manifest(&only_run(&second_part))["sessions"].as_array().unwrap().len() == 2
    });
    cluster.wait_for("the queue to be empty", Duration::from_secs(90), || {
        let queue = cluster.ask("squeue", &["-h"]);
        queue.status.success() && queue.stdout.trim_ascii().is_empty()
    });
    let log = |name: &str| fs::read_to_string(jobs.join(name)).unwrap_or_default();
    let merged = only_run(tenpass.runs.path());
    let merged_manifest = manifest(&merged);
    assert_eq!(merged_manifest["parts"].as_array().unwrap().len(), PARTS, "{}", log("merge.log"));
    assert!(log("merge.log").contains(&format!("joins {PARTS} parts")), "{}", log("merge.log"));
    assert!(jobs.join("tools-1.html").is_file(), "{}", log("merge.log"));
    for part in 1..=PARTS {
        let sessions = manifest(&only_run(&store.join(part.to_string())))["sessions"].as_array().unwrap().len();
        assert_eq!(sessions, if part == 2 { 2 } else { 1 }, "{}", log(&format!("part-{part}.log")));
    }

    // One process, the same seed.
    let alone = Tenpass::new();
    let passes = PASSES.to_string();
    let mut words = vec!["bench", "tools", "--model", &model, "--passes", &passes, "--seed", &seed];
    words.extend(FILTER.iter().flat_map(|text| ["--filter", text]));
    let output = alone.command(&words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let whole = only_run(alone.runs.path());
    let (expected, found) = (measured(&whole), measured(&merged));
    assert_eq!(expected.len(), found.len());
    let cases = lines(&whole.join("cases.jsonl")).len();
    assert!(cases >= 2 * PARTS, "{cases} cases");
    assert_eq!(expected.len(), 2 * cases * PASSES, "a pass and an outcome each");
    for (key, line) in &expected {
        assert_eq!(found.get(key), Some(line), "{key}");
    }
    assert_eq!(fs::read(merged.join("cases.jsonl")).unwrap(), fs::read(whole.join("cases.jsonl")).unwrap());
    let digests = |manifest: &Value| manifest["digests"].clone();
    assert_eq!(digests(&merged_manifest), digests(&manifest(&whole)));
    // Both servers took part.
    assert!(!first.requests().is_empty() && !second.requests().is_empty());
}

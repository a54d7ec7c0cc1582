//! `tenpass train wake`, from synthetic voices to a head that ONNX Runtime and openWakeWord run.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tenpass_tests::{Tenpass, asset, finished, python};

/// A word of four syllables: so few voices do not teach a short one.
const WORD: &str = "hey computer";
/// Fewest of the words that a head must hit on voices it never heard: it was 0.69 where this was written. Chance hits
/// none of them at this few false wakes, and a head that fires always is counted out by those.
const LEAST_HIT: f64 = 0.4;
/// Most false wakes an hour on sound it never heard: a head that fires at chance, once in a hundred frames, would have
/// 400.
const MOST_PER_HOUR: f64 = 60.0;

/// A small training by espeak-ng and flite; the work folder decides whether anything is spoken again.
fn train(tenpass: &Tenpass, folder: &Path, name: &str, more: &[&str]) -> Value {
    let (out, work) = (folder.join(name), folder.join("work"));
    let mut words = vec!["train", "wake", "--word", WORD, "--synthetic", "150", "--steps", "800", "--target", "20"];
    let (out, work) = (out.display().to_string(), work.display().to_string());
    words.extend(["--voices", "espeak:en-us,espeak:en-gb,flite", "--out", &out, "--work", &work, "--format", "json"]);
    words.extend(more);
    serde_json::from_str(&tenpass.ok(&words)).expect("a record")
}

#[test]
fn a_head_from_scratch_beats_chance_is_the_same_by_seed_and_runs_elsewhere() {
    asset("speech-embedding");
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let record = train(&tenpass, folder.path(), "head.onnx", &[]);
    let test = &record["test"];
    let (words, misses) = (test["words"].as_f64().unwrap(), test["misses"].as_f64().unwrap());
    let per_hour = test["false_wakes"].as_f64().unwrap() / test["hours"].as_f64().unwrap();
    assert!(words >= 20.0, "{test}");
    assert!((words - misses) / words >= LEAST_HIT, "{misses} of {words} missed: {test}");
    assert!(per_hour <= MOST_PER_HOUR, "{test}");

    let again = train(&tenpass, folder.path(), "again.onnx", &[]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("head.onnx"), read("again.onnx"), "the same seed gives the same file");
    assert_eq!(record, again);
    let other = train(&tenpass, folder.path(), "other.onnx", &["--seed", "1"]);
    assert_ne!(record["head_sha256"], other["head_sha256"]);

    runs_elsewhere(&tenpass, folder.path());
    bench(&tenpass, folder.path());
}

/// Our own scores of random windows against ONNX Runtime's, and a clip through openWakeWord 0.4.0.
fn runs_elsewhere(tenpass: &Tenpass, folder: &Path) {
    let python = python("openwakeword", &["openwakeword==0.4.0", "onnxruntime==1.32.0", "numpy"]);
    let script = folder.join("elsewhere.py");
    std::fs::write(&script, SCRIPT).unwrap();
    let clip = first_word(folder);
    let scored = tenpass.ok(&[
        "wake",
        "score",
        &clip,
        "--head",
        &folder.join("head.onnx").display().to_string(),
        "--format",
        "json",
    ]);
    let scored: Value = serde_json::from_str(&scored).unwrap();
    let ours = scored.pointer("/0/peak").and_then(Value::as_f64).expect("a peak");
    let mut command = Command::new(python);
    command.arg(&script).arg(folder.join("head.onnx")).arg(&clip);
    let printed = finished(&mut command, "openWakeWord");
    let theirs: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(theirs["input"], serde_json::json!([1, 16, 96]));
    assert_eq!(theirs["output"], serde_json::json!([1, 1]));
    // openWakeWord puts other noise before the clip: the peaks are near, not equal.
    let peak = theirs["peak"].as_f64().unwrap();
    assert!((peak - ours).abs() < 0.2, "ours {ours}, openWakeWord's {peak}");
}

/// The first recording of the word that was held out for the test.
fn first_word(folder: &Path) -> String {
    let corpus = folder.join("work/held-out");
    let manifest = std::fs::read_to_string(corpus.join("corpus.toml")).unwrap();
    let clip = manifest
        .split("[[clip]]")
        .find(|clip| clip.contains(&format!("wake = \"{WORD}\"")))
        .expect("a word was held out");
    let file = clip.lines().find_map(|line| line.strip_prefix("file = \"")).unwrap().trim_end_matches('"');
    corpus.join(file).display().to_string()
}

/// What was held out is benched; the head's own training sounds are refused.
fn bench(tenpass: &Tenpass, folder: &Path) {
    let path = |name: &str| folder.join(name).display().to_string();
    let (corpus, svg) = (path("work/held-out"), path("det.svg"));
    let printed = tenpass.ok(&[
        "bench",
        "wake",
        "--head",
        &path("head.onnx"),
        "--head",
        &path("other.onnx"),
        "--corpus",
        &corpus,
        "--svg",
        &svg,
        "--format",
        "json",
    ]);
    let summary: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(summary["heads"].as_array().unwrap().len(), 2);
    assert!(summary["heads"][0]["words"].as_u64().unwrap() > 5, "{summary}");
    assert!(summary["heads"][0]["proves"].as_str().unwrap().contains("at 95 %"));
    assert_eq!(summary["differences"].as_array().unwrap().len(), 1);
    assert!(std::fs::read_to_string(svg).unwrap().contains("false wakes an hour"));
    let both = [corpus.as_str(), &path("work/speech")].map(str::to_owned);
    let refused = tenpass.fails(2, &["bench", "wake", "--head", &path("head.onnx"), "--corpus", &both[0], &both[1]]);
    assert!(refused.contains("was trained on"), "{refused}");
}

const SCRIPT: &str = r#"
import json, sys, wave
import numpy, onnxruntime
from openwakeword.model import Model
head, clip = sys.argv[1:]
session = onnxruntime.InferenceSession(head, providers=["CPUExecutionProvider"])
shape = lambda ports: list(ports[0].shape)
random = numpy.random.default_rng(1)
scores = [float(session.run(None, {session.get_inputs()[0].name: random.normal(0, 8, (1, 16, 96)).astype("float32")})[0][0, 0]) for _ in range(20)]
assert all(0 <= score <= 1 for score in scores)
with wave.open(clip) as file:
    assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
    samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype=numpy.int16)
silence = numpy.random.default_rng(2).integers(-2, 3, 32000).astype(numpy.int16)
samples = numpy.concatenate([silence, samples, silence[:16000]])
model = Model(wakeword_model_paths=[head])
peak = 0.0
for start in range(0, len(samples) - 1279, 1280):
    peak = max(peak, max(model.predict(samples[start:start + 1280]).values()))
print(json.dumps({"input": shape(session.get_inputs()), "output": shape(session.get_outputs()), "peak": float(peak)}))
"#;

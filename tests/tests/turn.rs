//! Voice turns and barge-in through the real binary: real speech to text, a real voice, a real voice detector.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::path::Path;

use serde_json::Value;
use tenpass_tests::{Tenpass, asset};

/// A few closed commands and sentences that are none, spoken by espeak-ng.
fn corpus(tenpass: &Tenpass, folder: &Path) -> String {
    let corpus = folder.join("few").to_str().unwrap().to_owned();
    for (kind, file, most) in
        [("--commands", "corpora/commands/commands.toml", "5"), ("--others", "corpora/commands/other.toml", "3")]
    {
        let words =
            ["corpus", "synth", &corpus, kind, file, "--most", most, "--language", "en", "--voice", "espeak:en-us"];
        tenpass.ok(&words);
    }
    corpus
}

#[test]
fn turns_are_measured_part_by_part_and_parts_sum_to_the_total() {
    for needed in ["silero-vad", "whisper-tiny-en"] {
        asset(needed);
    }
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(&tenpass, folder.path());
    let bench = |more: &[&str]| {
        let mut words = vec!["bench", "turn", "--corpus", &corpus, "--engine", "whisper.cpp:whisper-tiny-en+q8+cut"];
        words.extend(["--voice", "espeak:en-us", "--format", "json", "--answer-ms", "400"]);
        words.extend_from_slice(more);
        tenpass.json(&words)
    };
    let found = bench(&["--clips", "8"]);
    let passes = found["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 8);
    let mut answered = 0;
    for pass in passes.iter().filter(|pass| pass["total_us"].is_u64()) {
        let parts: u64 = pass["parts_us"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).sum();
        assert_eq!(Some(parts), pass["total_us"].as_u64(), "{pass}");
        // The endpoint alone takes a third of a second, and the device its 20 ms.
        assert!(parts > 250_000 && pass["parts_us"][5].as_u64().unwrap() >= 20_000, "{pass}");
        if pass["kind"] == "model" {
            assert!(pass["parts_us"][3].as_u64().unwrap() >= 400_000, "{pass}");
        }
        answered += 1;
    }
    assert!(answered >= 6, "{found:#}");
    for row in found["summary"].as_array().unwrap() {
        let parts: f64 = row["parts_ms"].as_array().unwrap().iter().map(|part| part.as_f64().unwrap()).sum();
        let mean: Vec<f64> = passes
            .iter()
            .filter(|pass| pass["kind"] == row["kind"] && pass["total_us"].is_u64())
            .map(|pass| pass["total_us"].as_f64().unwrap() / 1000.0)
            .collect();
        assert!((parts - mean.iter().sum::<f64>() / mean.len() as f64).abs() < 1e-6, "{row}");
        assert!(row["p50_low_ms"].as_f64() <= row["p50_ms"].as_f64(), "{row}");
    }
    let real = bench(&["--clips", "1", "--real-time"]);
    let pass = &real["passes"][0];
    let parts: u64 = pass["parts_us"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).sum();
    assert!(pass["total_us"].as_u64().is_none_or(|total| total == parts), "{pass}");
}

#[test]
fn a_loud_voice_interrupts_and_the_agent_does_not_interrupt_itself() {
    asset("silero-vad");
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(&tenpass, folder.path());
    let words = ["bench", "barge", "--corpus", &corpus, "--voice", "espeak:en-us", "--hours", "0.05"];
    let bench = || -> Value {
        let mut words = words.to_vec();
        words.extend(["--snr", "-20,20", "--trials", "6", "--format", "json"]);
        tenpass.json(&words)
    };
    let found = bench();
    let summary = &found["summary"];
    let (quiet, loud) = (&summary["levels"][0], &summary["levels"][1]);
    assert_eq!((&quiet["snr_db"], &quiet["trials"]), (&Value::from(-20.0), &Value::from(6)));
    assert_eq!(quiet["missed"], 6, "{found:#}");
    assert!(loud["missed"].as_u64().unwrap() <= 2, "{found:#}");
    assert!(loud["stop_p50_ms"].as_f64().unwrap() >= 220.0, "{loud}");
    assert!(summary["playback_h"].as_f64().unwrap() >= 0.05);
    assert!(summary["false_stops"].as_u64().unwrap() <= 1, "{summary:#}");
    // The same seed is the same room, the same voices, the same answer.
    assert_eq!(bench()["summary"], *summary);
}

//! A candidate beside the head in service: recorded days in seconds, conditions, promotion, rollback, and a swap that
//! is killed in between. With real heads and real speech, through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenpass_audio::augment::{Colour, noise};
use tenpass_audio::{Audio, SPEECH_RATE, write_wav};
use tenpass_tests::{Tenpass, finished, python};

/// The public heads may be used in tests only; they come with this package.
const PACKAGES: &[&str] = &["openwakeword==0.4.0", "onnxruntime==1.32.0", "numpy==2.3.5"];

/// A head of the package.
fn head(name: &str) -> PathBuf {
    let python = python("wake", PACKAGES);
    let code = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let packages = finished(Command::new(python).args(["-c", code]), "python");
    let path = Path::new(packages.trim()).join("openwakeword/resources/models").join(name);
    assert!(path.is_file(), "{} is not in the package", path.display());
    path
}

/// What espeak-ng says, at 16 kHz.
fn said(text: &str) -> Vec<f32> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("said.wav");
    finished(Command::new("espeak-ng").args(["-v", "en-us", "-s", "140", "-w"]).arg(&path).arg(text), "espeak-ng");
    tenpass_audio::read(&path).unwrap().at_rate(SPEECH_RATE).samples
}

/// A stretch with the words at these seconds; between them the room is not quite silent.
fn stretch(seconds: f64, words: &[(f64, &[f32])]) -> Audio {
    let mut sound = noise(Colour::Pink, seconds, SPEECH_RATE, 1);
    sound.samples.iter_mut().for_each(|sample| *sample *= 0.003);
    for (at_s, word) in words {
        let begin = (at_s * f64::from(SPEECH_RATE)) as usize;
        for (out, sample) in sound.samples[begin..].iter_mut().zip(*word) {
            *out += sample;
        }
    }
    sound
}

/// A command about the heads of this folder.
fn at<'a>(folder: &'a str, typed: &[&'a str]) -> Vec<&'a str> {
    let mut words = typed.to_vec();
    words.extend(["--folder", folder]);
    words
}

fn json_of(tenpass: &Tenpass, code: i32, words: &[&str]) -> Value {
    let output = tenpass.run(words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "tenpass {}:\n{error}", words.join(" "));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|fault| panic!("{fault}: {error}"))
}

#[test]
fn a_week_of_recorded_days_in_seconds_then_a_decision_and_back() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let days = folder.path().join("days");
    fs::create_dir(&days).unwrap();
    let (alexa, jarvis) = (said("alexa"), said("hey jarvis"));
    let mut sound = stretch(14.0, &[(3.0, &alexa), (9.0, &jarvis)]);
    let notes = json!({
        "clock_s": 43_200.0, "playback": [[8.5, 11.0]], "probes": [2.5],
        "heard": [{ "at_s": 3.0, "is": "wake" }],
    });
    for day in 23..30_u8 {
        // No two days are the same to the sample: the same recording would count once.
        *sound.samples.last_mut().unwrap() = f32::from(day) / 1000.0;
        write_wav(&days.join(format!("2026-11-{day}T080000.wav")), &sound).unwrap();
        fs::write(days.join(format!("2026-11-{day}T080000.json")), notes.to_string()).unwrap();
    }
    let wake = folder.path().join("wake");
    let (champion, candidate) = (head("alexa_v0.1.onnx"), head("hey_jarvis_v0.1.onnx"));
    let (champion, candidate) = (champion.to_str().unwrap(), candidate.to_str().unwrap());
    let (wake_word, days) = (wake.to_str().unwrap(), days.to_str().unwrap());

    let words = |typed: &[&'static str]| at(wake_word, typed);
    let mut start = words(&["shadow", "start"]);
    start.extend(["--from", days, "--candidate", candidate]);
    let mut first = words(&["promote", "accept", "wake", "--despite", "the first"]);
    first.extend(["--candidate", champion]);
    tenpass.ok(&first);

    let begin = Instant::now();
    let text = tenpass.ok(&start);
    assert!(begin.elapsed() < Duration::from_mins(1), "a week took {:?}", begin.elapsed());
    assert!(text.contains("14 events, 14 on which the two disagree"), "{text}");
    // The same hours count once.
    assert!(tenpass.ok(&start).starts_with("0 events"), "a recording counts twice");
    let status = json_of(&tenpass, 0, &words(&["shadow", "status", "--format", "json"]));
    let found = &status["evidence"];
    assert_eq!(found["days"], 7);
    assert!((found["clock_h"].as_f64().unwrap() - 84.0).abs() < 0.01, "{found}");
    // Every day the one in service hears its word, labelled by a person, and the candidate does not.
    assert_eq!((&found["wakes"]["human"], &found["wakes_champion_only"]), (&json!(7), &json!(7)), "{found}");
    assert_eq!(
        (&found["probes"], &found["probes_champion"], &found["probes_candidate"]),
        (&json!(7), &json!(7), &json!(0))
    );
    // The candidate fires on the other phrase while the agent speaks, and nobody has said what that was.
    assert_eq!((&found["unlabelled_discordant"], &found["self_triggers"]), (&json!(7), &json!(7)), "{found}");
    probes_give_the_absolute_rate(&tenpass, folder.path(), wake_word, &[("alexa", &alexa), ("jarvis", &jarvis)]);
    let event = status["unlabelled"][0]["id"].as_str().unwrap().to_owned();
    let sound =
        wake.join("shadow").join(fs::read_dir(wake.join("shadow")).unwrap().next().unwrap().unwrap().file_name());
    assert_eq!(fs::metadata(sound.join(format!("{event}.wav"))).unwrap().len(), 44 + 4 * 32_000);

    let mut label = words(&["shadow", "label"]);
    label.extend([event.as_str(), "other"]);
    tenpass.ok(&label);
    assert!(
        tenpass.fails(2, &words(&["shadow", "label", "20000101T000000-000", "other"])).contains("there is no event")
    );

    let judged = json_of(&tenpass, 1, &words(&["promote", "status", "wake", "--format", "json"]));
    let states: Vec<&str> = judged["proposal"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| condition["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["not-yet", "not-yet", "not-yet", "not-held"], "{judged:#}");
    let refused = tenpass.fails(1, &words(&["promote", "accept", "wake"]));
    assert!(refused.contains("not every condition holds") && refused.contains("--despite"), "{refused}");
    tenpass.ok(&words(&["promote", "reject", "wake", "--reason", "wakes on itself"]));
    tenpass.ok(&words(&["promote", "accept", "wake", "--despite", "an exercise"]));
    let now = json_of(&tenpass, 1, &words(&["promote", "status", "wake", "--format", "json"]));
    assert_eq!(fs::read(wake.join("service.onnx")).unwrap(), fs::read(candidate).unwrap());
    tenpass.ok(&words(&["promote", "rollback", "wake"]));
    assert_eq!(fs::read(wake.join("service.onnx")).unwrap(), fs::read(champion).unwrap());
    // The record has it all: what was rejected keeps its measurements.
    let decisions: Vec<&str> =
        now["record"].as_array().unwrap().iter().map(|line| line["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["accepted", "rejected", "accepted"]);
    assert_eq!(now["record"][1]["evidence"]["wakes_champion_only"], 7);
    assert_eq!(now["record"][2]["despite"], "an exercise");
}

/// Recordings of the word stand for someone who is asked: each counts once, and what neither head hears shows.
fn probes_give_the_absolute_rate(tenpass: &Tenpass, folder: &Path, wake: &str, words: &[(&str, &[f32])]) {
    let probes = folder.join("probes");
    fs::create_dir(&probes).unwrap();
    for (name, word) in words {
        write_wav(&probes.join(format!("{name}.wav")), &stretch(4.0, &[(1.0, *word)])).unwrap();
    }
    write_wav(&probes.join("nobody.wav"), &stretch(2.0, &[])).unwrap();
    let probe = at(wake, &["shadow", "probe", "--format", "json", "--from", probes.to_str().unwrap()]);
    // Seven of the days before: the head in service heard all, the candidate none.
    let missed = |found: &Value| -> Vec<u64> {
        found.as_array().unwrap().iter().map(|row| row["missed"].as_u64().unwrap()).collect()
    };
    let found = json_of(tenpass, 0, &probe);
    assert_eq!((&found[0]["probes"], missed(&found)), (&json!(10), vec![2, 9, 1]), "{found:#}");
    assert_eq!(missed(&json_of(tenpass, 0, &probe)), [2, 9, 1], "a recording counts twice");
    let status = json_of(tenpass, 0, &at(wake, &["shadow", "status", "--format", "json"]));
    assert_eq!(status["evidence"]["days"], 7, "probes are no exposure");
}

#[test]
fn the_head_in_service_listens_where_none_is_named() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let clip = folder.path().join("said.wav");
    write_wav(&clip, &stretch(4.0, &[(1.5, &said("hey jarvis"))])).unwrap();
    let clip = clip.to_str().unwrap();
    let score = ["wake", "score", clip, "--format", "json"];
    let events = |found: &Value| found[0]["events"].as_u64().unwrap();

    // Its own threshold lies beside the head, and a typed one wins.
    let own = folder.path().join("own.onnx");
    fs::copy(head("hey_jarvis_v0.1.onnx"), &own).unwrap();
    fs::write(own.with_extension("json"), r#"{"threshold": 1.0}"#).unwrap();
    let with_head = |more: &[&str]| {
        let mut words = score.to_vec();
        words.extend(["--head", own.to_str().unwrap()]);
        words.extend(more);
        events(&json_of(&tenpass, 0, &words))
    };
    assert_eq!((with_head(&[]), with_head(&["--threshold", "0.5"])), (0, 1));

    let bare = head("hey_jarvis_v0.1.onnx");
    tenpass.ok(&["promote", "accept", "wake", "--despite", "the first", "--candidate", bare.to_str().unwrap()]);
    let found = json_of(&tenpass, 0, &score);
    assert_eq!((&found[0]["head"], events(&found)), (&json!("hey_jarvis_v0.1"), 1), "{found:#}");
    let text = tenpass.ok(&["promote", "status", "wake"]);
    assert!(text.starts_with("in service: hey_jarvis_v0.1.onnx since ") && text.contains(", from "), "{text}");
}

#[test]
fn a_swap_that_is_killed_leaves_the_old_head_or_the_new_one_whole() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let wake = folder.path().join("wake");
    let heads = [head("alexa_v0.1.onnx"), head("hey_mycroft_v0.1.onnx")];
    let bytes = heads.each_ref().map(|head| fs::read(head).unwrap());
    let accept = |which: usize| {
        let mut command = tenpass.command(&["promote", "accept", "wake", "--despite", "killed", "--folder"]);
        command.arg(&wake).arg("--candidate").arg(&heads[which]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command
    };
    assert!(accept(0).status().unwrap().success());
    assert!(accept(1).status().unwrap().success());

    // Each is killed when a file shows how far it is: no clock decides, and a kill that comes too late is repeated.
    let at = |name: &str| wake.join(name).exists();
    let signs: [&dyn Fn() -> bool; 6] = [
        &|| at("next.onnx.partial") || at("next.onnx"),
        &|| at("next.onnx"),
        &|| at("next-previous.onnx.partial") || at("next-previous.onnx"),
        &|| at("next-previous.json"),
        &|| at("swap.json"),
        &|| at("swap.json") && !at("next.onnx"),
    ];
    let (mut in_service, mut killed) = (1, 0);
    for attempt in 0..120 {
        let mut child = accept(1 - in_service).spawn().unwrap();
        let sign = signs[attempt % signs.len()];
        while !sign() && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());

        let head = fs::read(wake.join("service.onnx")).unwrap();
        let found = bytes.iter().position(|bytes| *bytes == head).expect("the head in service is whole");
        let status =
            tenpass.run(&["promote", "status", "wake", "--folder", wake.to_str().unwrap(), "--format", "json"]);
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        let name = heads[found].file_name().unwrap().to_str().unwrap();
        assert_eq!(status["in_service"]["name"], name, "{status:#}");
        assert_ne!(status["previous"]["name"], name, "the other head can be gone back to");
        in_service = found;
        if killed == 2 * signs.len() {
            let record = status["record"].as_array().unwrap();
            assert!(record.iter().any(|line| line["decision"] == "recovered"), "{record:#?}");
            return;
        }
    }
    panic!("only {killed} of 120 were killed in time");
}

//! `tenpass say` with real voices.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenpass_audio::{Audio, read};
use tenpass_tests::{Tenpass, asset};

const ENGLISH: &str = "The quick brown fox jumps over the lazy dog.";
const FRENCH: &str = "Bonjour, je voudrais un café et un verre d'eau.";

/// Speaks into a file of a folder and gives the report with the sound.
fn speak(tenpass: &Tenpass, folder: &Path, name: &str, words: &[&str]) -> (Value, Audio) {
    let path = folder.join(name);
    let out = path.to_str().unwrap();
    let mut all = vec!["say", "--format", "json", "--out", out];
    all.extend_from_slice(words);
    let report = tenpass.json(&all);
    let audio = read(&path).unwrap();
    assert!(audio.samples.iter().all(|sample| sample.is_finite() && sample.abs() <= 1.0));
    assert!(audio.level_dbfs() > -45.0, "{name} is almost silent: {} dB", audio.level_dbfs());
    (report, audio)
}

/// What whisper hears, as words in small letters.
fn heard(tenpass: &Tenpass, path: &Path, language: &str) -> Vec<String> {
    asset("whisper-base");
    let printed = tenpass.json(&[
        "transcribe",
        path.to_str().unwrap(),
        "--engine",
        "whisper.cpp:whisper-base",
        "--language",
        language,
        "--format",
        "json",
    ]);
    let text = printed.pointer("/0/text").or_else(|| printed.pointer("/text")).and_then(Value::as_str).unwrap();
    words(text)
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[test]
fn piper_speaks_plausibly_and_alike_for_a_seed() {
    for name in ["onnxruntime", "piper-joe"] {
        asset(name);
    }
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let say = |name: &str, seed: &str, speed: &str| {
        let words = [ENGLISH, "--voice", "piper:piper-joe", "--threads", "1", "--seed", seed, "--speed", speed];
        speak(&tenpass, folder.path(), name, &words)
    };
    let (report, first) = say("a.wav", "1", "1");
    assert_eq!((report["voice"].as_str().unwrap(), first.rate), ("piper:piper-joe", 22_050));
    assert!((1.5..5.0).contains(&first.seconds()), "{} s", first.seconds());
    let (_, again) = say("b.wav", "1", "1");
    assert!(first == again, "the same seed gave another sound");
    let (_, other) = say("c.wav", "2", "1");
    assert!(first != other, "another seed gave the same sound");
    let (_, fast) = say("d.flac", "1", "1.6");
    assert!(fast.seconds() < first.seconds() * 0.8, "{} s and {} s", fast.seconds(), first.seconds());
    assert_eq!(heard(&tenpass, &folder.path().join("a.wav"), "en"), words(ENGLISH));
}

#[test]
fn kokoro_speaks_english_and_french_so_that_it_is_understood() {
    for name in ["onnxruntime", "kokoro-82m", "kokoro-voices"] {
        asset(name);
    }
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let (report, english) = speak(&tenpass, folder.path(), "en.wav", &[ENGLISH, "--voice", "kokoro:af_heart"]);
    assert_eq!((report["chunks"].as_u64(), english.rate), (Some(1), 24_000));
    assert!((1.5..5.5).contains(&english.seconds()), "{} s", english.seconds());
    assert_eq!(heard(&tenpass, &folder.path().join("en.wav"), "en"), words(ENGLISH));
    let (_, french) = speak(&tenpass, folder.path(), "fr.wav", &[FRENCH, "--voice", "kokoro:ff_siwis"]);
    assert!((1.5..6.0).contains(&french.seconds()), "{} s", french.seconds());
    let found = heard(&tenpass, &folder.path().join("fr.wav"), "fr");
    assert_eq!(found, words(FRENCH));
}

#[test]
fn programs_speak_and_markdown_is_read_as_a_person_would() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    for (name, voice) in [("a.wav", "espeak:fr-fr+f2"), ("b.wav", "flite:kal16"), ("c.wav", "espeak:en-gb")] {
        let (_, audio) = speak(&tenpass, folder.path(), name, &["Bonjour 12", "--voice", voice]);
        let (_, again) = speak(&tenpass, folder.path(), "again.wav", &["Bonjour 12", "--voice", voice]);
        assert!(audio == again && audio.seconds() > 0.5, "{voice}: {} s", audio.seconds());
    }
    let markdown = folder.path().join("text.md");
    std::fs::write(&markdown, "# Prix\n- **12,50 €** à 14h30\n").unwrap();
    let planned = tenpass.ok(&["say", "--file", markdown.to_str().unwrap(), "--language", "fr", "--dry-run"]);
    assert_eq!(planned, "Prix. douze euros cinquante à quatorze heures trente.\n");
    let sound = tenpass.command(&["say", "hello", "--voice", "flite:slt", "--out", "-"]).output().unwrap();
    assert!(sound.status.success() && sound.stdout.starts_with(b"RIFF"));
}

#[test]
fn voices_are_listed_and_espeak_serves_where_nothing_else_is() {
    let (tenpass, home) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let bare = |words: &[&str]| {
        let output = tenpass.command(words).env("TENPASS_HOME", home.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let listed = bare(&["say", "--list", "--language", "fr", "--format", "json"]);
    assert!(listed.as_array().unwrap().len() > 100);
    assert!(listed.as_array().unwrap().iter().all(|voice| voice["engine"] == "espeak"), "{listed}");
    let out = home.path().join("fallback.wav");
    let report = bare(&["say", FRENCH, "--out", out.to_str().unwrap(), "--format", "json"]);
    assert_eq!(report["voice"], "espeak:fr-fr");
    asset("kokoro-82m");
    let listed = tenpass.ok(&["say", "--list"]);
    assert!(listed.contains("kokoro:af_heart") && listed.contains("piper:piper-joe"), "{listed}");
}

#[cfg(unix)]
#[test]
fn chunks_are_played_in_order_and_a_missing_player_is_told_at_once() {
    use std::os::unix::fs::PermissionsExt as _;

    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let none = tenpass.command(&["say", "hello"]).env("PATH", folder.path()).output().unwrap();
    let error = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(3) && error.contains("no program that plays sound"), "{error}");
    // A fake player: it keeps what it is given.
    let (player, played) = (folder.path().join("pw-play"), folder.path().join("played"));
    std::fs::create_dir(&played).unwrap();
    std::fs::write(&player, format!("#!/bin/sh\ncp \"$1\" '{}'\n", played.display())).unwrap();
    std::fs::set_permissions(&player, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let text = "This is the first sentence of two. And this is the second one.";
    let output = tenpass.command(&["say", text, "--voice", "flite:slt"]).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["0.wav", "1.wav"] {
        let audio = read(&played.join(name)).unwrap();
        assert!(audio.seconds() > 1.0 && audio.level_dbfs() > -30.0, "{name}: {} s", audio.seconds());
    }
}

/// A copy of the Piper voice in a folder, changed.
fn copied(folder: &Path, change: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>)) -> String {
    let voice = asset("piper-joe");
    let settings = PathBuf::from(format!("{}.json", voice.display()));
    let (mut model, mut json) = (std::fs::read(&voice).unwrap(), std::fs::read(settings).unwrap());
    change(&mut model, &mut json);
    let path = folder.join("voice.onnx");
    std::fs::write(&path, model).unwrap();
    std::fs::write(folder.join("voice.onnx.json"), json).unwrap();
    format!("piper:{}", path.display())
}

#[test]
fn mistakes_and_missing_things_are_a_clear_line_each() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let out = folder.path().join("x.wav");
    let out = out.to_str().unwrap();
    for (code, voice, part) in [
        (2, "siri:x", "is no voice"),
        (2, "kokoro:nobody", "no voice `nobody`"),
        (2, "flite:bob", "no voice `bob`"),
        (2, "espeak:en-us+nobody", "no variant `nobody`"),
        (2, "espeak:xx-yy", "no language `xx-yy`"),
        (3, "piper:unheard", "the Piper voice unheard"),
        (2, "piper:/nowhere/voice.onnx", "no file /nowhere/voice.onnx"),
        (3, "elevenlabs:abc", "offline"),
    ] {
        let error = tenpass.fails(code, &["say", "hello", "--out", out, "--voice", voice]);
        assert!(error.contains(part), "{voice}: {error}");
    }
    for (words, part) in [
        (&["say", "…", "--out", out][..], "nothing to say"),
        (&["say", "hi", "--out", "x.mp3"], "neither .wav nor .flac"),
        (&["say", "hi", "--out", "/nowhere/x.wav"], "no folder /nowhere"),
        (&["say", "🎉 👍🏽", "--out", out], "nothing to say"),
        (&["say", "hi", "--speed", "9", "--out", out], "--speed 9"),
        (&["say", "--file", "/nowhere/text.md"], "/nowhere/text.md"),
    ] {
        let error = tenpass.fails(2, words);
        assert!(error.contains(part), "{words:?}: {error}");
    }
    assert!(!Path::new(out).exists(), "a failed call left a file");
}

#[test]
fn damaged_voices_and_libraries_are_a_clear_line_each() {
    asset("onnxruntime");
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let out = folder.path().join("x.wav");
    let say = |voice: &str, library: Option<&Path>| {
        let mut command = tenpass.command(&["say", "hello", "--out", out.to_str().unwrap(), "--voice", voice]);
        if let Some(library) = library {
            command.env("ORT_DYLIB_PATH", library);
        }
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.lines().count() <= 2 && error.starts_with("error: "), "{error}");
        error
    };
    let spec = copied(folder.path(), |model, _| model.truncate(1_000_000));
    assert!(say(&spec, None).contains("damaged"), "a truncated model");
    let spec = copied(folder.path(), |model, _| *model = b"<html>not found</html>".to_vec());
    assert!(say(&spec, None).contains("voice.onnx"), "a page instead of a model");
    let spec = copied(folder.path(), |_, json| json.truncate(json.len() / 2));
    assert!(say(&spec, None).contains("voice.onnx.json"), "truncated settings");
    let spec = copied(folder.path(), |_, json| *json = br#"{"audio":{"sample_rate":1}}"#.to_vec());
    assert!(say(&spec, None).contains("missing field"), "settings of something else");
    assert!(say("piper:piper-joe", Some(Path::new("/nowhere/lib.so"))).contains("ONNX Runtime (/nowhere/lib.so)"));
    let text = folder.path().join("lib.so");
    std::fs::write(&text, "not a library").unwrap();
    assert!(say("piper:piper-joe", Some(&text)).contains("no ONNX Runtime can be loaded"));
}

/// Answers one request with this; gives what was asked.
fn service(status: &'static str, body: Vec<u8>) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut text, mut part) = (Vec::new(), [0; 4096]);
        while !text.ends_with(b"}}") {
            let count = stream.read(&mut part).unwrap();
            assert!(count > 0, "the request ended early");
            text.extend_from_slice(&part[..count]);
        }
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).unwrap();
        String::from_utf8(text).unwrap()
    });
    (address, asked)
}

#[test]
fn elevenlabs_is_asked_only_when_named_and_its_refusals_are_clear() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let out = folder.path().join("paid.wav");
    let say = |address: &str| {
        let settings = folder.path().join("config.toml");
        std::fs::write(&settings, format!("[speech]\nelevenlabs = \"{address}\"\nelevenlabs_key_env = \"TEST_KEY\"\n"))
            .unwrap();
        let words = ["say", "It is 5 pm.", "--voice", "elevenlabs:Voice1", "--out", out.to_str().unwrap()];
        let mut command = tenpass.command(&words);
        command.env("TENPASS_CONFIG", &settings).env("TEST_KEY", "top-secret").env_remove("TENPASS_OFFLINE");
        command.output().unwrap()
    };
    let samples: Vec<u8> =
        (0..24_000_i32).flat_map(|at| ((at % 200 - 100) * 100).to_le_bytes()[..2].to_vec()).collect();
    let (address, asked) = service("200 OK", samples);
    let output = say(&address);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let request = asked.join().unwrap();
    assert!(request.contains("xi-api-key: top-secret") && request.contains("It is five p m."), "{request}");
    let audio = read(&out).unwrap();
    assert!(audio.rate == 24_000 && (audio.seconds() - 1.0).abs() < 0.01, "{} s", audio.seconds());
    for (status, part) in [
        ("401 Unauthorized", "key is refused"),
        ("402 Payment Required", "credits"),
        ("429 Too Many Requests", "too many"),
    ] {
        let (address, asked) = service(status, b"{}".to_vec());
        let output = say(&address);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(3) && error.contains(part) && !error.contains("secret"), "{error}");
        asked.join().unwrap();
    }
}

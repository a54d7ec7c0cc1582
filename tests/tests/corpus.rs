//! Corpora through the real binary: the shipped set is what it says, synthesis is repeatable to the last byte, one
//! changed byte is named, and every bad sound file has a clear result.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenpass_tests::{Tenpass, asset, repository};

const SMALL: &str = "corpora/small";

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Every file below a folder with its bytes, sorted.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// A corpus of the wake word by two small engines, with two rounds.
fn kora(tenpass: &Tenpass, folder: &Path, more: &[&str]) -> String {
    let folder = text(folder);
    let words = ["corpus", "synth", &folder, "--wake", "Kora", "--language", "en"];
    let voices = ["--voice", "espeak:en-us", "--voice", "flite:slt", "--rounds", "2", "--seed", "7"];
    tenpass.ok(&[&words[..], &voices[..], more].concat())
}

#[test]
fn the_shipped_set_is_frozen_small_and_whole() {
    let tenpass = Tenpass::new();
    let said = tenpass.ok(&["corpus", "verify", SMALL]);
    assert!(said.contains("frozen, as corpus.toml says"), "{said}");
    let list = tenpass.json(&["corpus", "list", "--format", "json"]);
    let small = list.as_array().unwrap().iter().find(|row| row["name"] == "small").unwrap();
    let count = |column: &str| small[column].as_u64().unwrap();
    assert!(count("commands") >= 50 && count("none") >= 30 && count("noise") >= 4, "{small}");
    assert!(count("wake") >= 12 && count("voices") >= 6, "{small}");
    assert_eq!((small["languages"].as_str(), small["hash"].as_str().unwrap().len()), (Some("en fr"), 64));
    let bytes: usize = files(&repository().join(SMALL)).iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 9_000_000, "{bytes} bytes");
}

#[test]
fn the_shipped_clips_say_what_they_are() {
    let tenpass = Tenpass::new();
    let clips = tenpass.json(&["corpus", "list", SMALL, "--clips", "--format", "json"]);
    let commands = fs::read_to_string(repository().join("corpora/commands/commands.toml")).unwrap();
    for clip in clips.as_array().unwrap() {
        let intent = clip["intent"].as_str().unwrap();
        let known = ["none", "wake", "silence", "noise"].contains(&intent);
        assert!(known || commands.contains(&format!("id = \"{intent}\"")), "{clip}");
        assert_eq!(clip["text"] == "", ["silence", "noise"].contains(&intent), "{clip}");
        assert_eq!(clip["wake"].is_null(), clip["word_end_s"].is_null(), "{clip}");
        if let Some(end) = clip["speech_end_s"].as_f64() {
            assert!(end > 0.1 && end < clip["seconds"].as_f64().unwrap(), "{clip}");
        }
    }
    let human = clips.as_array().unwrap().iter().filter(|clip| clip["synthetic"] == false).count();
    assert!(human >= 10, "{human} human clips");
}

#[test]
fn synthesis_twice_gives_the_same_bytes() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    // The name of a new corpus is that of its folder.
    let (first, second) = (folder.path().join("a/kora"), folder.path().join("b/kora"));
    kora(&tenpass, &first, &["--noise", "3", "--noise-seconds", "1"]);
    kora(&tenpass, &second, &["--noise", "3", "--noise-seconds", "1", "--jobs", "1"]);
    let made = files(&first);
    assert_eq!(made.len(), 2 * 3 + 3 + 1);
    assert_eq!(made, files(&second));
    // Once more adds nothing; another seed does.
    let again = kora(&tenpass, &first, &[]);
    assert!(again.contains("9 clips"), "{again}");
    assert_eq!(made, files(&first));
    let other = text(&folder.path().join("c/kora"));
    tenpass.ok(&["corpus", "synth", &other, "--wake", "Kora", "--voice", "flite:slt", "--rounds", "1", "--seed", "8"]);
    assert!(files(Path::new(&other)).iter().all(|(name, bytes)| !made.contains(&(name.clone(), bytes.clone()))));
}

#[test]
fn one_changed_byte_is_named() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("kora");
    kora(&tenpass, &corpus, &[]);
    let name = text(&corpus);
    let frozen = tenpass.ok(&["corpus", "freeze", &name]);
    assert!(frozen.contains("frozen with 6 clips, hash "), "{frozen}");
    tenpass.ok(&["corpus", "verify", &name]);
    // It does not grow any more, in either way.
    let error = tenpass.fails(2, &["corpus", "synth", &name, "--wake", "Kora"]);
    assert!(error.contains("was frozen on "), "{error}");
    let error = tenpass.fails(2, &["corpus", "freeze", &name]);
    assert!(error.contains("was frozen on "), "{error}");
    let (file, mut bytes) = files(&corpus.join("en")).swap_remove(0);
    bytes[200] ^= 1;
    fs::write(corpus.join("en").join(&file), bytes).unwrap();
    fs::write(corpus.join("new.wav"), b"x").unwrap();
    let output = tenpass.run(&["corpus", "verify", &name, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    let changed = format!("en/{}", file.display());
    let told: Vec<(&str, &str)> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["file"].as_str().unwrap(), finding["difference"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(changed.as_str(), "changed"), ("new.wav", "surplus")]);
}

#[test]
fn telephone_prompts_become_clips() {
    let tenpass = Tenpass::new();
    asset("asterisk-prompts-en");
    let folder = tempfile::tempdir().unwrap();
    let corpus = text(&folder.path().join("prompts"));
    let words = ["corpus", "import", "asterisk", &corpus, "--language", "en", "--most", "12", "--words", "4"];
    let output = tenpass.run(&words);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.contains("12 prompts imported") && told.contains("without a text"),
        "{told}"
    );
    let clips = tenpass.json(&["corpus", "list", &corpus, "--clips", "--format", "json"]);
    for clip in clips.as_array().unwrap() {
        assert_eq!((&clip["voice"], &clip["synthetic"]), (&Value::from("Allison Smith"), &Value::from(false)));
        assert!(clip["text"].as_str().unwrap().split_whitespace().count() >= 4);
    }
    tenpass.ok(&["corpus", "verify", &corpus]);
}

/// A recording session: room noise with three buzzes in it, the second too quiet.
fn session(path: &Path) {
    let mut seed = 1u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (f64::from(seed >> 16) / 65_536.0 - 0.5) * 0.002
    };
    let mut samples = Vec::new();
    for level in [0.3, 0.004, 0.3, 0.25] {
        for n in 0..16_000 * 4 {
            let speech = if (16_000..28_000).contains(&n) { level * (f64::from(n) * 0.11).sin() } else { 0.0 };
            samples.push(((speech + noise()) * 32_767.0) as i16);
        }
    }
    fs::write(path, wav(16_000, 1, 16, 1, &samples.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())).unwrap();
}

#[test]
fn a_recording_is_cut_checked_and_asked_for_again() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let (from, corpus) = (text(&folder.path().join("session.wav")), text(&folder.path().join("mine")));
    session(Path::new(&from));
    let words = ["corpus", "record", &corpus, "--wake", "kora", "--language", "en", "--count", "3", "--from", &from];
    let output = tenpass.run(&[&words[..], &["--room", "kitchen", "--voice", "Ada"]].concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("3/3: say: kora") && told.contains("say again: kora"), "{told}");
    let clips = tenpass.json(&["corpus", "list", &corpus, "--clips", "--format", "json"]);
    let clips = clips.as_array().unwrap();
    assert_eq!(clips.len(), 3);
    for clip in clips {
        assert_eq!((&clip["voice"], &clip["room"], &clip["wake"]), (&"Ada".into(), &"kitchen".into(), &"kora".into()));
        let (seconds, end) = (clip["seconds"].as_f64().unwrap(), clip["word_end_s"].as_f64().unwrap());
        assert!((seconds - 1.25).abs() < 0.1 && (end - 1.0).abs() < 0.05, "{clip}");
    }
    // Without a microphone, or a build that opens one: one line, and no corpus.
    let none = text(&folder.path().join("none"));
    let error = tenpass.fails(3, &["corpus", "record", &none, "--wake", "kora"]);
    assert!(error.contains("microphone") && error.contains("hint: "), "{error}");
    assert!(!Path::new(&none).exists());
}

/// A WAV file.
fn wav(rate: u32, channels: u16, bits: u16, tag: u16, data: &[u8]) -> Vec<u8> {
    let align = channels * bits / 8;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((data.len() as u32 + 36).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0");
    bytes.extend(tag.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * u32::from(align)).to_le_bytes());
    bytes.extend(align.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn every_bad_sound_has_a_clear_result() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let (from, corpus) = (folder.path().join("x.wav"), text(&folder.path().join("mine")));
    let whole = wav(16_000, 1, 16, 1, &vec![0; 32_000]);
    let cases: [(&str, Vec<u8>, i32, &str); 9] = [
        ("empty", Vec::new(), 2, "x.wav: is empty"),
        ("text", b"no sound at all".to_vec(), 2, "neither WAV nor FLAC"),
        ("cut header", whole[..30].to_vec(), 2, "ends inside its header"),
        ("no channels", wav(16_000, 0, 16, 1, &[0; 100]), 2, "0 channels"),
        ("rate", wav(7, 1, 16, 1, &[0; 100]), 2, "7 samples a second"),
        ("bits", wav(16_000, 1, 12, 1, &[0; 100]), 2, "contradicts itself|12 bits"),
        ("µ-law", wav(8_000, 1, 8, 7, &[0; 100]), 2, "µ-law"),
        // These are sound, and nobody speaks in it.
        ("no samples", wav(16_000, 1, 16, 1, &[]), 1, "the sound has ended"),
        ("cut data", whole[..9_000].to_vec(), 1, "the sound has ended"),
    ];
    for (name, bytes, code, words) in cases {
        fs::write(&from, bytes).unwrap();
        let given = text(&from);
        let output = tenpass.run(&["corpus", "record", &corpus, "--wake", "kora", "--from", &given]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {told}");
        assert!(words.split('|').any(|words| told.contains(words)), "{name}: {told}");
        assert!(!told.contains("panicked"), "{name}: {told}");
    }
    // Other forms of sound are as good as 16 bits at 16 kHz: the same session as stereo floats at 44.1 kHz.
    let mut data = Vec::new();
    for n in 0..44_100 * 4 {
        let speech = if (44_100..88_200).contains(&n) { 0.3 * (n as f32 * 0.04).sin() } else { 0.0 };
        let dither = if n % 2 == 0 { 0.0005f32 } else { -0.0005 };
        (0..2).for_each(|_| data.extend((speech + dither).to_le_bytes()));
    }
    fs::write(&from, wav(44_100, 2, 32, 3, &data)).unwrap();
    let said = tenpass.ok(&["corpus", "record", &corpus, "--wake", "kora", "--from", &text(&from)]);
    assert!(said.contains("1 recorded now"), "{said}");
}

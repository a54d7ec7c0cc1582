//! Speech to text with real models: the importer, both engines, the gate, `tenpass transcribe`.
//!
//! English voices are espeak-ng and flite, spoken by the test itself; French is a recorded telephone prompt.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use tenpass_audio::{Audio, SPEECH_RATE, read, resample, write_wav};
use tenpass_stt::{Decoding, Files, SttSpec, Transcriber, load};
use tenpass_tests::{Tenpass, asset, finished};

const TINY: &str = "whisper-tiny-en";

fn files(model: &str, tokenizer: &str) -> Files {
    Files { weights: asset(model), tokenizer: Some(asset(tokenizer)), vad: Some(asset("silero-vad")) }
}

fn engine(spec: &str) -> Box<dyn Transcriber> {
    let spec = SttSpec::parse(spec).unwrap();
    let files = files(&spec.model, spec.tokenizer_asset());
    load(&spec, &files).expect("the engine loads")
}

static CPP: LazyLock<Box<dyn Transcriber>> = LazyLock::new(|| engine("whisper.cpp:whisper-tiny-en"));
static CANDLE: LazyLock<Box<dyn Transcriber>> = LazyLock::new(|| engine("candle:whisper-tiny-en"));

/// Speaks a text: flite's voices by their names, espeak-ng's by `espeak:VOICE`.
fn speak(voice: &str, text: &str) -> Audio {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clip.wav");
    let mut command = if let Some(voice) = voice.strip_prefix("espeak:") {
        let mut command = Command::new("espeak-ng");
        command.args(["-v", voice, "-s", "150", "-w"]).arg(&path).arg(text);
        command
    } else {
        let mut command = Command::new("flite");
        command.args(["-voice", voice, "-t", text, "-o"]).arg(&path);
        command
    };
    finished(&mut command, voice);
    read(&path).unwrap().at_rate(SPEECH_RATE)
}

fn words(text: &str) -> String {
    let kept: String = text.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn heard(engine: &dyn Transcriber, audio: &Audio, decoding: &Decoding) -> String {
    words(&engine.transcribe(audio, decoding).expect("a transcript").text())
}

fn english() -> Decoding {
    Decoding { language: Some("en".to_owned()), ..Decoding::default() }
}

const SPOKEN: [(&str, &str); 4] = [
    ("slt", "Please remind me to call the doctor tomorrow morning."),
    ("slt", "Play some music in the kitchen."),
    ("rms", "Set a timer for ten minutes."),
    ("slt", "What time is it?"),
];

#[test]
fn both_engines_hear_what_was_said() {
    for (voice, text) in SPOKEN {
        let audio = speak(voice, text);
        let cpp = heard(CPP.as_ref(), &audio, &english());
        let candle = heard(CANDLE.as_ref(), &audio, &english());
        let number = words(text).replace("ten", "10");
        assert!(cpp == words(text) || cpp == number, "{cpp:?} is not {text:?}");
        assert_eq!(cpp, candle, "the engines differ on {text:?}");
    }
}

#[test]
fn beams_fallback_blocks_and_a_cut_context_hear_the_same_commands() {
    let arms: Vec<(String, Decoding)> = [
        ("whisper.cpp:whisper-tiny-en", Decoding { beams: 3, ..english() }),
        ("whisper.cpp:whisper-tiny-en", Decoding { fallback: true, ..english() }),
        ("whisper.cpp:whisper-tiny-en", Decoding { cut_context: true, ..english() }),
        ("whisper.cpp:whisper-tiny-en+q8", english()),
        ("whisper.cpp:whisper-tiny-en+q5", english()),
        ("whisper.cpp:whisper-tiny-en+q8+cut", english()),
        ("candle:whisper-tiny-en", Decoding { beams: 2, cut_context: true, ..english() }),
        ("candle:whisper-tiny-en+cut", Decoding { fallback: true, ..english() }),
    ]
    .map(|(spec, decoding)| (spec.to_owned(), decoding))
    .into();
    let clips: Vec<(Audio, String)> =
        SPOKEN[..2].iter().map(|(voice, text)| (speak(voice, text), words(text))).collect();
    for (spec, decoding) in arms {
        let engine = engine(&spec);
        for (audio, text) in &clips {
            assert_eq!(heard(engine.as_ref(), audio, &decoding), *text, "{spec}, {decoding:?}");
        }
    }
}

#[test]
fn two_seconds_of_silence_are_empty_whatever_the_prompt() {
    let vocabulary = "Vocabulary: light, kitchen, timer, garage, music.";
    let sentences = "Turn on the light. Set a timer. Open the garage door. ".repeat(40);
    let mut noise = tenpass_audio::Random::new(7);
    let hiss: Vec<f32> = (0..2 * SPEECH_RATE).map(|_| (noise.normal() * 0.003) as f32).collect();
    for audio in [Audio::silence(2.0, SPEECH_RATE), Audio::silence(2.0, 44_100), Audio::new(hiss, SPEECH_RATE)] {
        for engine in [CPP.as_ref(), CANDLE.as_ref()] {
            for prompt in [None, Some(vocabulary), Some(sentences.as_str())] {
                for fallback in [false, true] {
                    let decoding = Decoding { prompt: prompt.map(str::to_owned), fallback, ..english() };
                    let transcript = engine.transcribe(&audio, &decoding).unwrap();
                    assert!(transcript.segments.is_empty(), "{:?}", transcript.segments);
                    assert!((transcript.audio_s - 2.0).abs() < 1e-3);
                }
            }
        }
    }
}

#[test]
fn a_long_prompt_guides_and_does_not_break() {
    // Longer than the 223 tokens that count, with markers that must stay text, and ended by the name.
    let prompt =
        format!("<|endoftext|><|notimestamps|>{} Names: Kaitlyn Quixley.", "Some words before it. ".repeat(120));
    let audio = speak("slt", "Please call Kaitlyn Quixley.");
    for engine in [CPP.as_ref(), CANDLE.as_ref()] {
        let text = heard(engine, &audio, &Decoding { prompt: Some(prompt.clone()), ..english() });
        assert!(text.starts_with("please call") && text.contains("quixley"), "{text}");
    }
}

#[test]
fn what_cannot_be_transcribed_is_refused_in_words() {
    for engine in [CPP.as_ref(), CANDLE.as_ref()] {
        let refused = |audio: &Audio, decoding: &Decoding| engine.transcribe(audio, decoding).unwrap_err().to_string();
        for gate in [true, false] {
            let short = refused(&Audio::silence(0.05, SPEECH_RATE), &Decoding { gate, ..english() });
            assert_eq!(short, "the sound has 50 ms; at least 100 ms are needed");
        }
        assert!(refused(&Audio::new(Vec::new(), 8000), &english()).contains("0 ms"));
        assert!(refused(&Audio::new(vec![0.0; 800], 0), &english()).contains("0 Hz"));
        assert!(refused(&Audio::new(vec![f32::NAN; 16_000], SPEECH_RATE), &english()).contains("no number"));
        let second = Audio::silence(1.0, SPEECH_RATE);
        let french = refused(&second, &Decoding { language: Some("fr".to_owned()), ..english() });
        assert_eq!(french, "language \"fr\": whisper-tiny-en knows English only");
        assert!(refused(&second, &Decoding { beams: 0, ..english() }).contains("0 beams"));
        assert!(refused(&second, &Decoding { beams: 9, ..english() }).contains("9 beams"));
    }
}

#[test]
fn the_gate_keeps_times_in_their_place_and_any_rate_goes_in() {
    let spoken = speak("slt", SPOKEN[0].1);
    let mut samples = vec![0.0; 8 * SPEECH_RATE as usize];
    samples.extend_from_slice(&spoken.samples);
    samples.extend(vec![0.0; 45 * SPEECH_RATE as usize]);
    samples.extend_from_slice(&spoken.samples);
    let (first, second) = (8.0, 53.0 + spoken.seconds());
    let slow = Audio::new(resample(&samples, SPEECH_RATE, 44_100), 44_100);
    let transcript = CPP.transcribe(&slow, &english()).unwrap();
    let twice = format!("{0} {0}", words(SPOKEN[0].1));
    assert_eq!(words(&transcript.text()), twice);
    let starts: Vec<f64> = transcript.segments.iter().map(|segment| segment.start_s).collect();
    assert!((starts[0] - first).abs() < 0.7, "{starts:?}");
    assert!(starts.iter().any(|start| (start - second).abs() < 0.7), "{starts:?} and not {second}");
    for segment in &transcript.segments {
        assert!(segment.start_s <= segment.end_s && segment.end_s <= transcript.audio_s + 0.01);
        assert!(segment.log_probability < 0.0 && segment.log_probability > -1.0);
        assert!((0.0..0.6).contains(&segment.no_speech) && segment.temperature == 0.0);
    }
    assert!((transcript.audio_s - samples.len() as f64 / 16_000.0).abs() < 0.01);
}

#[test]
fn base_hears_a_french_speaker_and_finds_the_language_by_itself() {
    let clip = "corpora/small/fr/june-wallack/vm-passchanged.flac";
    let audio = read(&tenpass_tests::repository().join(clip)).unwrap();
    for spec in ["whisper.cpp:whisper-base", "candle:whisper-base+cut"] {
        let transcript = engine(spec).transcribe(&audio, &Decoding::default()).unwrap();
        assert_eq!(transcript.language, "fr", "{spec}");
        let heard = words(&transcript.text());
        assert!(heard.contains("mot de passe a été changé"), "{spec}: {heard}");
    }
}

#[test]
fn the_vocabulary_is_openais_and_a_converted_model_is_made_once() {
    // SHA-256 of all tokens, a line feed between them, from openai-whisper's tiktoken files.
    for (tokenizer, digest) in [
        ("whisper-base-tokenizer", "17b6323df2cc502a969f241ce6effdae0bf586b2a8ec159bde316d915c1c41ab"),
        ("whisper-tiny-en-tokenizer", "7db3ecccc3244b0f6caf9087f7d9c8224cbb8bdc6d01888e547329c0e064260f"),
    ] {
        let words = tenpass_stt::import::vocabulary_words(&std::fs::read(asset(tokenizer)).unwrap()).unwrap();
        assert_eq!(sha256(&words.join(&b'\n')), digest, "{tokenizer}");
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = copied(folder.path());
    let spec = SttSpec::parse(&format!("whisper.cpp:{}+q8", copy.display())).unwrap();
    let files = Files { weights: copy, tokenizer: None, vad: None };
    let info = load(&spec, &files).unwrap().info().clone();
    assert_eq!((info.quantisation.as_str(), info.multilingual), ("q8_0", false));
    assert_eq!(info.digest, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a");
    let converted: Vec<PathBuf> = std::fs::read_dir(folder.path().join("converted"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .collect();
    let [ggml] = converted.as_slice() else { panic!("{converted:?}") };
    let made = std::fs::metadata(ggml).unwrap().modified().unwrap();
    drop(load(&spec, &files).unwrap());
    assert_eq!(std::fs::metadata(ggml).unwrap().modified().unwrap(), made, "it was converted again");
    // The file itself is a model too, without any vocabulary beside it.
    let direct = SttSpec::parse(&format!("whisper.cpp:{}", ggml.display())).unwrap();
    let files = Files { weights: ggml.clone(), tokenizer: None, vad: None };
    let text = heard(
        load(&direct, &files).unwrap().as_ref(),
        &speak("slt", SPOKEN[1].1),
        &Decoding { gate: false, ..english() },
    );
    assert_eq!(text, words(SPOKEN[1].1));
    // One that was cut is refused by name, and one in the cache is made again.
    let whole = std::fs::read(ggml).unwrap();
    std::fs::write(ggml, &whole[..whole.len() - 1000]).unwrap();
    let error = load(&direct, &files).err().expect("a damaged file is refused").to_string();
    assert!(error.contains("ends inside") && error.contains(".bin"), "{error}");
    let again = Files { weights: folder.path().join("model.bin"), tokenizer: None, vad: None };
    drop(load(&spec, &again).unwrap());
    assert_eq!(std::fs::read(ggml).unwrap(), whole);
}

/// A copy of the tiny model with its vocabulary beside it.
fn copied(folder: &Path) -> PathBuf {
    let weights = folder.join("model.bin");
    std::fs::copy(asset(TINY), &weights).unwrap();
    std::fs::copy(asset("whisper-tiny-en-tokenizer"), folder.join("tokenizer.json")).unwrap();
    weights
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_damaged_model_is_named_by_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let weights = copied(folder.path());
    let clip = folder.path().join("clip.wav");
    write_wav(&clip, &speak("slt", SPOKEN[3].1)).unwrap();
    let whole = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &whole[..whole.len() / 3]).unwrap();
    let tenpass = Tenpass::new();
    let clip = clip.display().to_string();
    for name in ["whisper.cpp", "candle"] {
        let spec = format!("{name}:{}", weights.display());
        let error = tenpass.fails(3, &["transcribe", &clip, "--engine", &spec]);
        assert!(error.contains("model.bin: ends inside"), "{error}");
    }
    assert!(!folder.path().join("converted").exists());
    std::fs::write(&weights, b"#!/bin/sh\n").unwrap();
    let spec = format!("whisper.cpp:{}", weights.display());
    assert!(tenpass.fails(3, &["transcribe", &clip, "--engine", &spec]).contains("is no Whisper model"));
    for (spec, wanted) in [
        ("whisper:tiny", "no engine"),
        ("whisper.cpp:whisper-tiny-en+q4", "+q4"),
        ("candle:whisper-tiny-en+q8", "only whisper.cpp"),
        ("whisper.cpp:whisper-tiny-e", "whisper-tiny-e"),
    ] {
        let error = tenpass.fails(2, &["transcribe", &clip, "--engine", spec]);
        assert!(error.contains(wanted), "{spec}: {error}");
    }
}

#[test]
fn every_kind_of_file_has_a_clear_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let spoken = speak("slt", SPOKEN[1].1);
    write_wav(Path::new(&path("mono.wav")), &spoken).unwrap();
    let plain = std::fs::read(path("mono.wav")).unwrap();
    for (name, rate, channels, bits) in [
        ("odd.wav", 22_051, 1, 16),
        ("stereo.wav", 44_100, 2, 16),
        ("eight.wav", 8000, 1, 8),
        ("float.wav", 48_000, 2, 32),
    ] {
        std::fs::write(path(name), wav(&resample(&spoken.samples, SPEECH_RATE, rate), rate, channels, bits)).unwrap();
    }
    std::fs::write(path("cut.wav"), &plain[..plain.len() - 301]).unwrap();
    std::fs::write(path("empty.wav"), b"").unwrap();
    std::fs::write(path("noise.wav"), b"this is no sound at all, whatever its name says").unwrap();
    std::fs::write(path("nothing.wav"), wav(&[], 16_000, 1, 16)).unwrap();
    let tenpass = Tenpass::new();
    let spec = ["--engine", "whisper.cpp:whisper-tiny-en+q8+cut", "--language", "en"];
    let names = ["mono.wav", "odd.wav", "stereo.wav", "eight.wav", "float.wav", "cut.wav"].map(path);
    let mut all = vec!["transcribe", "--format", "json"];
    all.extend(spec);
    all.extend(names.iter().map(String::as_str));
    let output = tenpass.json(&all);
    for entry in output.as_array().unwrap() {
        assert_eq!(words(entry["text"].as_str().unwrap()), words(SPOKEN[1].1), "{entry}");
        assert_eq!(entry["engine"], "whisper.cpp:whisper-tiny-en+q8+cut");
    }
    for (name, wanted) in
        [("empty.wav", "empty"), ("noise.wav", "noise.wav"), ("nothing.wav", "0 ms"), ("none.wav", "none.wav")]
    {
        let mut words = vec!["transcribe"];
        words.extend(spec);
        let name = path(name);
        words.push(&name);
        assert!(tenpass.fails(2, &words).contains(wanted), "{name}");
    }
}

/// A WAV file: 16 bits, 8 bits, or 32-bit floats, the same in every channel.
fn wav(samples: &[f32], rate: u32, channels: u16, bits: u16) -> Vec<u8> {
    let mut data = Vec::new();
    for sample in samples {
        for _ in 0..channels {
            match bits {
                8 => data.push((sample * 127.0 + 128.0) as u8),
                16 => data.extend(((sample * 32_767.0) as i16).to_le_bytes()),
                _ => data.extend(sample.to_le_bytes()),
            }
        }
    }
    let frame = channels * bits / 8;
    let mut bytes =
        [b"RIFF".as_slice(), &(36 + data.len() as u32).to_le_bytes(), b"WAVEfmt ", &16u32.to_le_bytes()].concat();
    bytes.extend([if bits == 32 { 3u16 } else { 1 }, channels].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([rate, rate * u32::from(frame)].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([frame, bits].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn texts_subtitles_and_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let clip = folder.path().join("clip.wav");
    write_wav(&clip, &speak("slt", SPOKEN[0].1)).unwrap();
    let out = folder.path().join("out").display().to_string();
    let (tenpass, name) = (Tenpass::new(), clip.display().to_string());
    let call = |more: &[&str]| {
        let mut words = vec!["transcribe", name.as_str(), "--engine", "whisper.cpp:whisper-tiny-en+q8"];
        words.extend(more);
        tenpass.ok(&words)
    };
    assert_eq!(words(&call(&[])), words(SPOKEN[0].1));
    let srt = call(&["--format", "srt"]);
    assert!(srt.starts_with("1\n00:00:00,") && srt.contains(" --> 00:00:0") && srt.ends_with("\n\n"), "{srt}");
    let vtt = call(&["--format", "vtt"]);
    assert!(vtt.starts_with("WEBVTT\n\n00:00:00.") && vtt.contains(" --> 00:00:0"), "{vtt}");
    let json: Value = serde_json::from_str(&call(&["--format", "json"])).unwrap();
    assert_eq!((json["language"].as_str(), json["file"].as_str()), (Some("en"), Some(name.as_str())));
    assert!(json["segments"][0]["end_s"].as_f64().unwrap() > 1.0);
    assert_eq!(call(&["--format", "vtt", "--out", &out]), "");
    assert_eq!(std::fs::read_to_string(Path::new(&out).join("clip.vtt")).unwrap(), vtt);
    let mut stdin = tenpass.command(&["transcribe", "-", "--engine", "whisper.cpp:whisper-tiny-en+q8"]);
    stdin.stdin(std::fs::File::open(&clip).unwrap());
    assert_eq!(words(&finished(&mut stdin, "transcribe -")), words(SPOKEN[0].1));
    assert!(tenpass.fails(2, &["transcribe", "-", "-"]).contains("stdin"));
    let twice = tenpass.fails(2, &["transcribe", &name, &name, "--out", &out]);
    assert!(twice.contains("another file's text"), "{twice}");
}

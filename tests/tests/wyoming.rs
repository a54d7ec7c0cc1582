//! The Wyoming server with the protocol's own client, on real engines.
//!
//! Needs the program espeak-ng and python3 with pip. The wake word's head comes with the Python openWakeWord and
//! stays in the test's environment: its licence forbids more.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tenpass_audio::{Audio, SPEECH_RATE, write_wav};
use tenpass_stt::{Decoding, SttSpec};
use tenpass_tests::{asset, finished, python};
use tenpass_tts::VoiceSpec;
use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head};
use tenpass_wyoming::{Agent, Answer, Asked, NamedVoice, Services, WakeService, WakeWord, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// An agent that deletes nothing.
struct Careful;

impl Agent for Careful {
    fn name(&self) -> &'static str {
        "careful"
    }

    fn answer(&self, asked: Asked) -> Answer<'_> {
        let answer = if asked.text.contains("delete") {
            Err("that needs an approval".to_owned())
        } else {
            Ok(format!("You asked: {}", asked.text))
        };
        Box::pin(async move { answer })
    }
}

/// A sentence of espeak-ng in a WAV file, with a second of quiet on both sides.
fn spoken(path: &Path, text: &str) {
    finished(Command::new("espeak-ng").args(["-v", "en-us", "-s", "150", "-w"]).arg(path).arg(text), "espeak-ng");
    let speech = tenpass_audio::read(path).unwrap().at_rate(SPEECH_RATE);
    let quiet = vec![0.0; SPEECH_RATE as usize * 2];
    let samples = [quiet.as_slice(), &speech.samples, &quiet].concat();
    write_wav(path, &Audio::new(samples, SPEECH_RATE)).unwrap();
}

fn services(heads: &Path) -> Services {
    let stt = tenpass_stt::Files {
        weights: asset("whisper-tiny-en"),
        tokenizer: Some(asset("whisper-tiny-en-tokenizer")),
        vad: Some(asset("silero-vad")),
    };
    let ears = tenpass_stt::load(&SttSpec::parse("whisper.cpp:whisper-tiny-en").unwrap(), &stt).unwrap();
    let mut files = tenpass_tts::Files { onnxruntime: Some(asset("onnxruntime")), ..tenpass_tts::Files::default() };
    let folder = asset("piper-joe");
    files.piper.insert("piper-joe".to_owned(), if folder.is_dir() { onnx(&folder) } else { folder });
    let voice = tenpass_tts::open(&VoiceSpec::parse("piper:piper-joe").unwrap(), &files).unwrap();
    let model = EmbeddingModel::load(&asset("speech-embedding")).unwrap();
    let head = heads.join("hey_jarvis_v0.1.onnx");
    let detector = move |_: &[&WakeWord]| {
        let head = Head::load(&head).map_err(|error| error.to_string())?;
        Detector::new(&model, vec![head], DetectorConfig::default()).map_err(|error| error.to_string())
    };
    let word =
        WakeWord { name: "hey_jarvis".to_owned(), phrase: "hey jarvis".to_owned(), languages: vec!["en".to_owned()] };
    Services {
        ears: Some(Arc::from(ears)),
        decoding: Decoding::default(),
        languages: vec!["en".to_owned()],
        voices: vec![NamedVoice {
            name: "piper-joe".to_owned(),
            languages: vec!["en".to_owned()],
            voice: Arc::from(voice),
        }],
        wake: Some(Arc::new(WakeService { words: vec![word], detector: Box::new(detector) })),
        agent: Some(Arc::new(Careful)),
    }
}

fn onnx(folder: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "onnx")).unwrap()
}

#[test]
fn the_protocols_own_client_is_served() {
    let wake = python("wake", &["openwakeword==0.4.0", "onnxruntime==1.32.0", "numpy==2.3.5"]);
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let packages = finished(Command::new(wake).args(["-c", script]), "python");
    let heads = Path::new(packages.trim()).join("openwakeword/resources/models");
    let client = python("wyoming", &["wyoming==1.8.0"]);
    let folder = tempfile::tempdir().unwrap();
    let (with_word, without) = (folder.path().join("with.wav"), folder.path().join("without.wav"));
    spoken(&with_word, "hey jarvis");
    spoken(&without, "It will rain tomorrow.");

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let server = runtime.spawn(serve(listener, Arc::new(services(&heads)), stop.clone()));
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/data/wyoming_client.py");
    let mut command = Command::new(client);
    command.arg(program).arg(port.to_string()).arg(&with_word).arg(&without);
    let printed = finished(&mut command, "the Wyoming client");
    // A connection that stays open does not hold the end.
    let open = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stop.cancel();
    runtime.block_on(server).unwrap();
    drop(open);

    let found: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(found["asr"], serde_json::json!(["whisper.cpp:whisper-tiny-en"]));
    assert_eq!(found["tts"], serde_json::json!(["piper-joe"]));
    assert_eq!(found["wake"], serde_json::json!([["hey_jarvis", "hey jarvis"]]));
    assert_eq!(found["handle"], serde_json::json!(["careful"]));
    assert_eq!((found["pong"].as_str(), found["again"].as_str()), (Some("here"), Some("again")));
    let heard = found["heard"].as_str().unwrap().to_lowercase();
    assert!(heard.contains("quick brown fox") && heard.contains("lazy dog"), "{heard}");
    let (once, streamed) = (found["spoken_s"].as_f64().unwrap(), found["streamed_s"].as_f64().unwrap());
    assert!(once > 1.0 && (streamed / once - 1.0).abs() < 0.4, "{streamed} s streamed, {once} s at once");
    assert_eq!(found["answer"], "You asked: what is left of the budget?");
    assert_eq!(found["refusal"], "that needs an approval");
    assert!(found["no_voice"].as_str().unwrap().contains("there is no voice \"nobody\""));
    assert_eq!(found["detected"][0], "hey_jarvis");
    let at = found["detected"][1].as_u64().unwrap();
    assert!((2_000..4_500).contains(&at), "detected at {at} ms");
    assert_eq!(found["not_detected"], true);
    assert!(found["no_word"].as_str().unwrap().contains("there is hey_jarvis"));
    assert_eq!(found["malformed"], "error");
}

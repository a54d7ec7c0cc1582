//! The wake word against ONNX Runtime and the Python openWakeWord, and on synthetic voices.
//!
//! Needs the assets `speech-embedding` and `silero-vad`, the programs espeak-ng and flite, and python3 with pip.
//! The published heads come with the Python package and stay in the test's environment: their licence
//! forbids more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure in a test is a panic")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use tenpass_audio::{Audio, SPEECH_RATE, write_wav};
use tenpass_tests::{Tenpass, asset, finished, python, repository};
use tenpass_wake::{
    Detector, DetectorConfig, EMBEDDING, Embedding, EmbeddingModel, Event, FrontEnd, HOP, Head, Output, Region,
    RegionOptions, VAD_BLOCK, Vad, dither, spectrogram, speech_regions,
};

const PACKAGES: &[&str] = &["openwakeword==0.4.0", "onnxruntime==1.32.0", "numpy==2.3.5"];
/// Dense ones with one and with several classes, one with a second opinion in a branch, one recurrent.
const HEADS: [&str; 6] = ["alexa", "hey_jarvis", "hey_marvin", "hey_mycroft", "timer", "weather"];
const READ: &str = "The quick brown fox jumps over the lazy dog, and then it sleeps for a while in the warm sun.";

fn environment() -> PathBuf {
    python("wake", PACKAGES)
}

/// Where the published heads are.
fn heads() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
        let packages = finished(Command::new(environment()).args(["-c", script]), "python");
        Path::new(packages.trim()).join("openwakeword/resources/models")
    })
}

fn head(name: &str) -> Head {
    Head::load(&heads().join(format!("{name}_v0.1.onnx"))).unwrap()
}

fn model() -> EmbeddingModel {
    EmbeddingModel::load(&asset("speech-embedding")).unwrap()
}

fn vad() -> Vad {
    Vad::load(&asset("silero-vad")).unwrap()
}

/// Speech of a voice: `espeak:VOICE` or `flite:VOICE`, at 16 kHz.
fn speak(voice: &str, text: &str) -> Vec<f32> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("speech.wav");
    let (program, name) = voice.split_once(':').unwrap();
    let mut command = if program == "espeak" {
        let mut command = Command::new("espeak-ng");
        command.args(["-v", name, "-s", "150", "-w"]).arg(&path).arg(text);
        command
    } else {
        let mut command = Command::new("flite");
        command.args(["-voice", name, "-t", text, "-o"]).arg(&path);
        command
    };
    finished(&mut command, program);
    tenpass_audio::read(&path).unwrap().at_rate(SPEECH_RATE).samples
}

/// Noise of a quiet room, from a seed.
fn room(samples: usize, level: f32, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let noise = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state as f32 / u32::MAX as f32 - 0.5) * 2.0 * level
    };
    (0..samples).map(noise).collect()
}

/// Speech in a quiet room: 3 s before it, 2.5 s after it.
fn in_room(speech: &[f32]) -> Vec<f32> {
    [&room(48_000, 1e-4, 1), speech, &room(40_000, 1e-4, 2)].concat()
}

fn largest<'a>(pairs: impl Iterator<Item = (&'a Value, f32)>) -> f64 {
    pairs.map(|(wanted, found)| (wanted.as_f64().unwrap() - f64::from(found)).abs()).fold(0.0, f64::max)
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

#[test]
fn it_agrees_with_onnx_runtime_and_openwakeword() {
    let folder = TempDir::new().unwrap();
    let sounds = [
        in_room(&speak("espeak:en-us", "hey jarvis")),
        in_room(&speak("flite:slt", "hey jarvis")),
        in_room(&speak("flite:rms", READ)),
    ];
    let mut files = Vec::new();
    for (place, sound) in sounds.iter().enumerate() {
        let peak = sound.iter().fold(0.0f32, |peak, sample| peak.max(sample.abs()));
        for level_db in [-3.0f32, -50.0] {
            let gain = 10f32.powf(level_db / 20.0) / peak;
            let audio = Audio::new(sound.iter().map(|sample| sample * gain).collect(), SPEECH_RATE);
            // What is compared is what the file holds: 16 bits.
            let audio = Audio::from_i16(&audio.to_i16(), SPEECH_RATE);
            let path = folder.path().join(format!("{place}_{level_db}.wav"));
            write_wav(&path, &audio).unwrap();
            files.push((path, audio.samples));
        }
    }
    let mut script = Command::new(environment());
    script.arg(repository().join("tests/data/wake_golden.py")).arg(asset("silero-vad"));
    script.args(files.iter().map(|(path, _)| path));
    let golden: Value = serde_json::from_str(&finished(&mut script, "wake_golden.py")).unwrap();
    let (model, mut vad) = (model(), vad());
    let mut jarvis_peak = 0.0f64;
    for ((path, samples), golden) in files.iter().zip(list(&golden)) {
        let name = path.file_name().unwrap().display();
        for (hop, wanted) in list(&golden["mel"]).iter().enumerate() {
            let end = (hop + 1) * HOP;
            let found = spectrogram(&samples[end.saturating_sub(1760)..end]).concat();
            assert_eq!(list(wanted).len(), found.len());
            let difference = largest(list(wanted).iter().zip(found));
            assert!(difference <= 1e-4, "{name}: mel of hop {hop} differs by {difference}");
        }
        let embeddings = FrontEnd::new(&model).clip(samples);
        assert_eq!(embeddings.len(), list(&golden["embeddings"]).len());
        for (place, (wanted, found)) in list(&golden["embeddings"]).iter().zip(&embeddings).enumerate() {
            let difference = largest(list(wanted).iter().zip(found.iter().copied()));
            assert!(difference <= 1e-3, "{name}: embedding {place} differs by {difference}");
        }
        jarvis_peak = jarvis_peak.max(compare_heads(&golden["heads"], &embeddings));
        compare_package(&golden["scores"], &embeddings);
        let found = vad.probabilities(&samples[..samples.len() / VAD_BLOCK * VAD_BLOCK]);
        let difference = largest(list(&golden["voice"]).iter().zip(found));
        assert!(difference <= 1e-3, "{name}: speech probability differs by {difference}");
    }
    assert!(jarvis_peak > 0.9, "the word that was compared on is not heard at all: {jarvis_peak}");
}

/// Every published head, of every kind there is, over the whole stream; returns the peak of "hey jarvis".
fn compare_heads(golden: &Value, embeddings: &[Embedding]) -> f64 {
    let mut peak = 0.0f64;
    for name in HEADS {
        let head = head(name);
        let windows = list(&golden[format!("{name}_v0.1")]);
        assert_eq!(windows.len(), (embeddings.len() + 1).saturating_sub(head.frames()), "{name}");
        for (place, (wanted, window)) in windows.iter().zip(embeddings.windows(head.frames())).enumerate() {
            let found = head.scores(window);
            assert_eq!(list(wanted).len(), found.len());
            let difference = largest(list(wanted).iter().zip(found));
            assert!(difference <= 1e-4, "{name} at window {place} differs by {difference}");
            if name == "hey_jarvis" {
                peak = peak.max(wanted[0].as_f64().unwrap());
            }
        }
    }
    peak
}

/// The package's own stream starts with noise of its own: compared are frames whose window is all sound.
fn compare_package(golden: &Value, embeddings: &[Embedding]) {
    for name in ["hey_jarvis", "alexa"] {
        let (head, wanted) = (head(name), list(&golden[format!("{name}_v0.1")]));
        // The first embedding came with the tenth hop.
        for (place, window) in embeddings.windows(head.frames()).enumerate() {
            let (wanted, found) = (wanted[place + 9 + 15].as_f64().unwrap(), head.score(window));
            let difference = (wanted - f64::from(found)).abs();
            assert!(difference <= 1e-4, "{name} at window {place}: {found} instead of {wanted}");
        }
    }
}

/// Heads alone: the same embeddings through ours and through ONNX Runtime.
#[test]
fn every_published_head_scores_as_in_onnx_runtime() {
    let script = r#"
import json, sys, numpy, onnxruntime
found = {}
for path in sys.argv[1:]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    port = session.get_inputs()[0]
    scores = []
    for seed in range(40):
        n = numpy.arange(port.shape[1] * 96, dtype=numpy.int64)
        window = (((n * 7919 + seed * 104729) % 2003).astype(numpy.float32) / 100 - 10) * (seed + 1) / 10
        scores.append(session.run(None, {port.name: window.reshape(1, -1, 96)})[0].ravel().tolist())
    found[path] = scores
print(json.dumps(found))
"#;
    let paths: Vec<String> =
        HEADS.iter().map(|name| heads().join(format!("{name}_v0.1.onnx")).display().to_string()).collect();
    let golden = finished(Command::new(environment()).args(["-c", script]).args(&paths), "python");
    let golden: Value = serde_json::from_str(&golden).unwrap();
    for path in &paths {
        let head = Head::load(Path::new(path)).unwrap();
        for (seed, wanted) in list(&golden[path]).iter().enumerate() {
            let flat: Vec<f32> = (0..head.frames() * EMBEDDING)
                .map(|n| (((n * 7919 + seed * 104_729) % 2003) as f32 / 100.0 - 10.0) * (seed + 1) as f32 / 10.0)
                .collect();
            let window: Vec<Embedding> = flat.as_chunks::<EMBEDDING>().0.to_vec();
            let difference = largest(list(wanted).iter().zip(head.scores(&window)));
            assert!(difference <= 1e-4, "{path}, window {seed}: {difference}");
        }
    }
    assert_eq!(HEADS.map(|name| head(name).frames()), [16, 16, 16, 16, 34, 22]);
    assert_eq!(head("timer").classes(), 7);
}

fn detector(heads: Vec<Head>) -> Detector {
    Detector::new(&model(), heads, DetectorConfig::default()).unwrap().with_vad(vad())
}

#[test]
fn the_word_fires_once_by_several_voices_and_read_speech_does_not() {
    let mut detector = detector(vec![head("hey_jarvis")]);
    let voices = ["espeak:en-us", "espeak:en-gb", "espeak:en-us+m3", "flite:kal", "flite:rms", "flite:slt"];
    for voice in voices {
        let word = speak(voice, "hey jarvis");
        detector.reset();
        let sound = in_room(&word);
        let events = detector.events(&sound);
        assert_eq!(events.len(), 1, "{voice}: {:?}", events.iter().map(|event| event.time_s).collect::<Vec<_>>());
        let (event, word_end_s) = (&events[0], 3.0 + word.len() as f64 / 16_000.0);
        assert!(event.time_s > 3.2 && event.time_s < word_end_s + 0.5, "{voice} at {} s", event.time_s);
        assert!(event.peak >= 0.5 && event.strength >= 0.5 && event.speech.unwrap() >= 0.5, "{voice}: {event:?}");
        detector.reset();
        let events = detector.events(&in_room(&speak(voice, READ)));
        assert_eq!(events.len(), 0, "{voice} reading");
    }
}

#[test]
fn a_thousand_starts_in_a_quiet_room_give_no_event() {
    let mut detector = detector(vec![head("hey_jarvis"), head("alexa")]);
    let (mut events, mut scored) = (0, 0u64);
    for start in 0..1000u32 {
        detector.reset();
        let level = [0.0, 1e-5, 1e-4, 1e-3][start as usize % 4];
        detector.push(
            &room(20_480 + 12_800 + (start as usize * 37) % 1280, level, start),
            &mut |output| match output {
                Output::Fired(_) => events += 1,
                Output::Frame(frame) => {
                    assert!(frame.index >= 16 || frame.scores.iter().all(Option::is_none), "a cold frame was scored");
                    scored += u64::from(frame.scores[0].is_some());
                }
                _ => {}
            },
        );
    }
    assert_eq!(events, 0);
    assert!(scored >= 10_000, "{scored}");
}

/// The end of a word that woke is still in the room when the stream starts again.
#[test]
fn a_restart_at_the_word_does_not_fire_again() {
    let mut detector = detector(vec![head("hey_jarvis")]);
    for voice in ["espeak:en-us", "flite:slt", "flite:rms"] {
        let sound = in_room(&speak(voice, "hey jarvis"));
        detector.reset();
        let mut at = 0;
        while detector.events(&sound[at..at + 320]).is_empty() {
            at += 320;
        }
        for back in [0usize, 4_000, 12_000] {
            detector.reset();
            let refired = detector.events(&sound[at.saturating_sub(back)..]);
            assert_eq!(refired.len(), 0, "{voice}, {back} samples back");
        }
    }
}

#[test]
fn a_burst_counts_once_and_two_words_twice() {
    let mut detector = detector(vec![head("hey_jarvis")]);
    let word = speak("flite:slt", "hey jarvis");
    let sound = in_room(&word);
    let mut echoed = sound.clone();
    for (place, sample) in sound.iter().enumerate() {
        for (delay, gain) in [(3_200, 0.5), (6_400, 0.25)] {
            if let Some(later) = echoed.get_mut(place + delay) {
                *later += sample * gain;
            }
        }
    }
    assert_eq!(detector.events(&echoed).len(), 1);
    detector.reset();
    // The same word again within the refractory time belongs to the event.
    let twice = [&sound[..48_000], &word, &room(1_600, 1e-4, 7), &word, &room(64_000, 1e-4, 8)].concat();
    let mut told = Vec::new();
    detector.push(&twice, &mut |output| match output {
        Output::Fired(event) => told.push(("fired", event.peak)),
        Output::Ended(event) => told.push(("ended", event.peak)),
        _ => {}
    });
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, ["fired", "ended"]);
    assert!(told[1].1 >= told[0].1);
    detector.reset();
    assert_eq!(detector.events(&[&sound[..], &sound].concat()).len(), 2);
}

#[test]
fn cuts_change_no_score_and_the_pre_roll_begins_before_the_words_end() {
    let word = speak("espeak:en-gb", "hey jarvis");
    let sound = in_room(&word);
    let run = |cut: usize| {
        let mut detector = detector(vec![head("hey_jarvis"), head("timer")]);
        let (mut scores, mut events): (Vec<Option<u32>>, Vec<Event>) = (Vec::new(), Vec::new());
        for part in sound.chunks(cut) {
            detector.push(part, &mut |output| match output {
                Output::Frame(frame) => scores.extend(frame.scores.iter().map(|score| score.map(f32::to_bits))),
                Output::Fired(event) => events.push(event.clone()),
                _ => {}
            });
        }
        (scores, events)
    };
    let whole = run(160_000);
    assert_eq!(whole.1.len(), 1);
    for cut in [1, 160, 1280, 1999] {
        assert_eq!(run(cut), whole, "in pieces of {cut}");
    }
    // Speech recognition begins 100 ms before where the word is taken to end.
    let mut detector = detector(vec![head("hey_jarvis")]);
    let mut at = 0;
    let event = loop {
        let found = detector.events(&sound[at..at + 320]);
        at += 320;
        if let Some(event) = found.into_iter().next() {
            break event;
        }
    };
    let start = ((event.word_end_s - 0.1) * 16_000.0).round() as usize;
    assert_eq!(detector.speech_after(&event), sound[start..at]);
    assert_eq!(detector.pre_roll(), sound[at - 24_000..at]);
}

#[test]
fn speech_is_found_where_it_is() {
    let speech = speak("flite:rms", READ);
    let quiet = room(32_000, 1e-4, 3);
    let sound = [&quiet[..], &speech, &quiet, &speech, &quiet].concat();
    let audio = Audio::new(sound, SPEECH_RATE);
    let options = RegionOptions { hangover_ms: 600, ..RegionOptions::default() };
    let length_s = speech.len() as f64 / 16_000.0;
    for audio in [audio.clone(), audio.at_rate(44_100)] {
        let regions = speech_regions(&mut vad(), &audio, &options);
        let [Region { start_s: a, end_s: b }, Region { start_s: c, end_s: d }] = regions[..] else {
            panic!("{regions:?}")
        };
        for (found, wanted) in [(a, 2.0), (b, 2.0 + length_s), (c, 4.0 + length_s), (d, 4.0 + 2.0 * length_s)] {
            assert!((found - wanted).abs() < 0.5, "{found} {wanted}");
        }
    }
    assert_eq!(speech_regions(&mut vad(), &Audio::new(room(160_000, 3e-3, 4), SPEECH_RATE), &options), []);
}

#[test]
fn a_model_that_ends_early_is_an_error() {
    for path in [heads().join("hey_jarvis_v0.1.onnx"), asset("speech-embedding"), asset("silero-vad")] {
        let bytes = std::fs::read(&path).unwrap();
        let folder = TempDir::new().unwrap();
        let cut = folder.path().join("cut.onnx");
        for part in 0..24 {
            std::fs::write(&cut, &bytes[..bytes.len() * part / 24]).unwrap();
            let error = Head::load(&cut).unwrap_err().to_string();
            assert!(error.contains("cut.onnx"), "{error}");
            assert!(EmbeddingModel::load(&cut).is_err() && Vad::load(&cut).is_err());
        }
    }
    // Whole models of another kind are refused as well.
    assert!(Head::load(&asset("speech-embedding")).unwrap_err().to_string().contains("a head's is [1, frames, 96]"));
    assert!(Vad::load(&asset("speech-embedding")).unwrap_err().to_string().contains("not silero VAD"));
    assert!(EmbeddingModel::load(&asset("silero-vad")).unwrap_err().to_string().contains("not the speech embedding"));
}

/// A WAV of two channels of 8 bits at 44.1 kHz.
fn odd_wav(path: &Path, samples: &[f32]) {
    let samples = Audio::new(samples.to_vec(), SPEECH_RATE).at_rate(44_100).samples;
    let mut bytes = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0".to_vec();
    bytes.extend(44_100u32.to_le_bytes());
    bytes.extend(88_200u32.to_le_bytes());
    bytes.extend(b"\x02\0\x08\0data");
    bytes.extend((2 * samples.len() as u32).to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| [((sample * 127.0).round() + 128.0) as u8; 2]));
    let riff = (bytes.len() - 8) as u32;
    bytes[4..8].copy_from_slice(&riff.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn files_are_scored_and_listened_to_through_the_binary() {
    let (tenpass, folder) = (Tenpass::new(), TempDir::new().unwrap());
    let jarvis = heads().join("hey_jarvis_v0.1.onnx").display().to_string();
    let word = speak("flite:slt", "hey jarvis");
    let (short, odd) = (folder.path().join("short.wav"), folder.path().join("odd.wav"));
    // No room around the word: the clip is shorter than what a stream needs to warm up.
    write_wav(&short, &Audio::new(word.clone(), SPEECH_RATE)).unwrap();
    odd_wav(&odd, &word);
    let (short, odd) = (short.display().to_string(), odd.display().to_string());
    let rows = tenpass.json(&["wake", "score", &short, &odd, "--head", &jarvis, "--format", "json"]);
    for row in list(&rows) {
        assert!(row["peak"].as_f64().unwrap() > 0.9 && row["events"] == 1, "{row}");
        assert!((row["seconds"].as_f64().unwrap() - word.len() as f64 / 16_000.0).abs() < 0.01, "{row}");
    }
    assert_eq!(list(&rows).len(), 2);

    let long = folder.path().join("long.wav");
    let sound = [in_room(&word), in_room(&word)].concat();
    write_wav(&long, &Audio::new(sound.clone(), SPEECH_RATE)).unwrap();
    let long = long.display().to_string();
    let lines = tenpass.ok(&["wake", "listen", "--head", &jarvis, "--from", &long, "--vad", "--format", "json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2, "{lines}");
    assert!(events.iter().all(|event| event["head"] == "hey_jarvis_v0.1" && event["speech"].as_f64().unwrap() >= 0.5));

    // The same through a pipe, cut in the middle of samples.
    let mut command = tenpass.command(&["wake", "listen", "--head", &jarvis, "--from", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let bytes: Vec<u8> = Audio::new(sound, SPEECH_RATE).to_i16().into_iter().flat_map(i16::to_le_bytes).collect();
    let mut stdin = child.stdin.take().unwrap();
    let feeding = std::thread::spawn(move || bytes.chunks(1_001).try_for_each(|part| stdin.write_all(part)));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().filter(|line| line.contains("hey_jarvis_v0.1")).count(), 2, "{lines}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let (tenpass, folder) = (Tenpass::new(), TempDir::new().unwrap());
    let clip = folder.path().join("clip.wav");
    write_wav(&clip, &Audio::new(dither(16_000), SPEECH_RATE)).unwrap();
    let clip = clip.display().to_string();
    // Nothing is named or in service: the shipped head, with its own threshold.
    let output = tenpass.run(&["wake", "score", &clip]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("scored by kora (the shipped head), threshold 0."), "{told}");
    let broken = folder.path().join("broken.onnx");
    std::fs::write(&broken, b"\x08\x07\x3a\xff\x01no graph").unwrap();
    let error = tenpass.fails(2, &["wake", "score", &clip, "--head", &broken.display().to_string()]);
    assert!(error.contains("broken.onnx: it ends in the middle"), "{error}");
    let jarvis = heads().join("hey_jarvis_v0.1.onnx").display().to_string();
    let error = tenpass.fails(2, &["wake", "score", &clip, "--head", &jarvis, "--hits", "4", "--of", "3"]);
    assert!(error.contains("hits is 4: from 1 to as many as `of`"), "{error}");
    let error = tenpass.fails(2, &["wake", "score", "missing.wav", "--head", &jarvis]);
    assert!(error.contains("missing.wav"), "{error}");
    let verifier = folder.path().join("verifier.pkl");
    std::fs::write(&verifier, b"\x80\x04\x95").unwrap();
    let verifier = verifier.display().to_string();
    let error = tenpass.fails(2, &["wake", "score", &clip, "--head", &jarvis, "--verifier", &verifier]);
    assert!(error.contains("verifier.pkl"), "{error}");
    let help = tenpass.ok(&["wake", "listen", "--help"]);
    assert!(help.contains("not authentication"), "{help}");
}

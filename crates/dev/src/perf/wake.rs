//! Microseconds a frame of 80 ms: front end with one and with twenty heads, beside the Python openWakeWord on ONNX Runtime
//! and the oww-rs crate, one thread each, on the same sound.
//!
//! Ours is the difference between a long and a short file through the binary: starting and loading
//! cancel, reading the file and the event machines are counted. The peers count their own loops. The peaks
//! of the head must agree.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::measure::{Subject, fastest};
use crate::shell::Workspace;

const PYTHON: &str = include_str!("wake_peer.py");
const CRATE: &str = include_str!("wake_peer.rs.txt");
/// Frames of the long and of the short sound: 10 and 2 minutes.
const LONG: usize = 7_500;
const SHORT: usize = 1_500;
/// How often ours is run; the fastest counts.
const TIMES: u32 = 5;
/// Bytes of a frame: 1280 samples of 16 bits.
const FRAME: usize = 2_560;
/// Bytes of flite's WAV header.
const HEADER: usize = 44;
const HEADS: [usize; 2] = [1, 20];

/// What one arm needs for a frame, and the first head's peak.
struct Row {
    name: &'static str,
    heads: usize,
    us: f64,
    peak: f64,
}

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<Value> {
    let subject = Subject::new(workspace, "wake-sounds")?;
    let python = venv(workspace)?;
    let sound = sound(&subject.runs)?;
    let raw = subject.runs.join("sound.raw");
    std::fs::write(&raw, &sound)?;
    let heads = heads(&python, &subject.runs)?;
    let mut rows = Vec::new();
    for count in HEADS {
        rows.push(ours(&subject, &sound, &heads[..count])?);
        rows.push(theirs(&python, &subject.runs, &raw, &heads[..count])?);
    }
    match oww_rs(workspace) {
        Ok(program) => {
            for count in HEADS {
                let mut command = Command::new(&program);
                command.arg(&heads[0]).arg(count.to_string()).arg(&raw);
                rows.push(measured("oww-rs", count, &mut command)?);
            }
        }
        Err(error) => println!("oww-rs could not be built, it needs the headers of ALSA: {error:#}"),
    }
    for row in &rows {
        let heads = if row.heads == 1 { "head " } else { "heads" };
        let ours = rows.iter().find(|other| other.name == "tenpass" && other.heads == row.heads);
        let times = ours.map_or(1.0, |ours| row.us / ours.us);
        println!(
            "{:<28} {:>2} {heads} {:>9.1} µs a frame {times:>6.1} × ours   peak {:.6}",
            row.name, row.heads, row.us, row.peak
        );
    }
    let apart =
        rows.iter().filter(|row| row.name != "oww-rs").map(|row| (row.peak - rows[0].peak).abs()).fold(0.0, f64::max);
    ensure!(apart <= 1e-3, "the scores differ by {apart}");
    println!("(wanted: the Python at least 3 ×, the fastest peer at least 1 ×)");
    let named = |row: &Row| json!({ "name": row.name, "heads": row.heads, "us_per_frame": row.us, "peak": row.peak });
    Ok(json!({ "frames": LONG, "rows": rows.iter().map(named).collect::<Vec<_>>() }))
}

fn ours(subject: &Subject, sound: &[u8], heads: &[PathBuf]) -> anyhow::Result<Row> {
    let mut seconds = [0.0; 2];
    let mut peak = 0.0;
    for (seconds, frames) in seconds.iter_mut().zip([SHORT, LONG]) {
        let path = subject.runs.join(format!("{frames}.wav"));
        std::fs::write(&path, wav(&sound[..frames * FRAME]))?;
        let path = path.display().to_string();
        let mut words = vec!["wake", "score", &path, "--format", "json"];
        let heads: Vec<String> = heads.iter().map(|head| head.display().to_string()).collect();
        for head in &heads {
            words.extend(["--head", head]);
        }
        let best = fastest(TIMES, || {
            let measured = subject.run(&words)?;
            let rows: Value = serde_json::from_str(&measured.stdout).context("the scores are not JSON")?;
            peak = rows[0]["peak"].as_f64().context("there is no peak")?;
            Ok(measured.wall)
        })?;
        *seconds = best.as_secs_f64();
    }
    let us = (seconds[1] - seconds[0]) / (LONG - SHORT) as f64 * 1e6;
    Ok(Row { name: "tenpass", heads: heads.len(), us, peak })
}

fn theirs(python: &Path, folder: &Path, raw: &Path, heads: &[PathBuf]) -> anyhow::Result<Row> {
    let script = folder.join("wake_peer.py");
    std::fs::write(&script, PYTHON)?;
    measured("openWakeWord, ONNX Runtime", heads.len(), Command::new(python).arg(&script).arg(raw).args(heads))
}

/// Runs a peer that prints its figures as JSON.
fn measured(name: &'static str, heads: usize, command: &mut Command) -> anyhow::Result<Row> {
    let output = command.output().with_context(|| format!("{name} does not start"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let found: Value = serde_json::from_slice(&output.stdout).with_context(|| format!("{name} did not print JSON"))?;
    let number = |key: &str| found[key].as_f64().with_context(|| format!("{name} tells no {key}"));
    Ok(Row { name, heads, us: number("us")?, peak: number("peak")? })
}

/// Ten minutes: a sentence and the word in turn, spoken by flite, which speaks at 16 kHz.
fn sound(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let mut sound = Vec::new();
    let mut parts = Vec::new();
    for (voice, text) in
        [("slt", "hey jarvis"), ("rms", "The quick brown fox jumps over the lazy dog."), ("rms", "hey jarvis")]
    {
        let path = folder.join("part.wav");
        let status = Command::new("flite").args(["-voice", voice, "-t", text, "-o"]).arg(&path).status();
        ensure!(status.context("flite does not start")?.success(), "flite failed");
        parts.push(std::fs::read(&path)?.split_off(HEADER));
    }
    // One step of a 16-bit sample, up and down: no microphone is silent.
    let pause: Vec<u8> = (0..32_000i16).flat_map(|at| (at % 3 - 1).to_le_bytes()).collect();
    while sound.len() < LONG * FRAME {
        for part in &parts {
            sound.extend_from_slice(&pause);
            sound.extend_from_slice(part);
        }
    }
    sound.truncate(LONG * FRAME);
    Ok(sound)
}

/// A WAV of one channel, 16 bits, 16 kHz.
fn wav(samples: &[u8]) -> Vec<u8> {
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((samples.len() as u32 + 36).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(16_000u32.to_le_bytes());
    bytes.extend(32_000u32.to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend((samples.len() as u32).to_le_bytes());
    bytes.extend(samples);
    bytes
}

/// The published "hey jarvis" under twenty names: the Python package tells heads apart by them.
fn heads(python: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let output = Command::new(python).args(["-c", script]).output()?;
    let packages = String::from_utf8(output.stdout)?;
    let head = Path::new(packages.trim()).join("openwakeword/resources/models/hey_jarvis_v0.1.onnx");
    (0..HEADS[1])
        .map(|place| {
            let copy = folder.join(format!("head-{place}.onnx"));
            std::fs::copy(&head, &copy).with_context(|| format!("{} is not there", head.display()))?;
            Ok(copy)
        })
        .collect()
}

/// A virtual environment with openWakeWord, made once.
fn venv(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("perf").join("wake-venv");
    let python = folder.join("bin").join("python");
    let has_it =
        || Command::new(&python).args(["-c", "import openwakeword"]).output().is_ok_and(|made| made.status.success());
    if has_it() {
        return Ok(python);
    }
    println!("installing openwakeword into {}", folder.display());
    let packages = ["openwakeword==0.4.0", "onnxruntime==1.32.0", "numpy==2.3.5"].map(str::to_owned);
    let install = ["-m", "pip", "install", "--quiet"].map(str::to_owned).into_iter().chain(packages).collect();
    let steps: [(&Path, Vec<String>); 2] =
        [(Path::new("python3"), vec!["-m".into(), "venv".into(), folder.display().to_string()]), (&python, install)];
    for (program, words) in steps {
        let status = Command::new(program).args(&words).status().context("python3 does not start")?;
        ensure!(status.success(), "python3 {} ended with {status}", words.join(" "));
    }
    ensure!(has_it(), "openwakeword was installed and cannot be imported");
    Ok(python)
}

/// A program around the oww-rs crate, in a workspace of its own under the target folder.
fn oww_rs(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("perf").join("oww-rs");
    std::fs::create_dir_all(folder.join("src"))?;
    let manifest = "[package]\nname = \"wake-peer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\noww-rs = \"=0.3.3\"\n\n[workspace]\n";
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    std::fs::write(folder.join("src/main.rs"), CRATE)?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--target-dir"]).arg(folder.join("target")).current_dir(&folder);
    let status = cargo.status().context("cargo does not start")?;
    ensure!(status.success(), "cargo build ended with {status}");
    Ok(folder.join("target/release").join(format!("wake-peer{}", std::env::consts::EXE_SUFFIX)))
}

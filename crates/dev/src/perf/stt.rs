//! Real-time factors of our engines beside pywhispercpp and faster-whisper, on the same sounds and weights, and what
//! each arm hears wrong.
//!
//! Short sounds are the WAV files of a folder (`--clips DIR`, with their texts in `texts.json`) or sentences that
//! espeak-ng speaks; the long sound is all of them after each other, a minute and a half of it. Loading is not counted;
//! the fastest of several runs counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::measure::Subject;
use crate::shell::Workspace;

const PEERS: &str = include_str!("stt_peers.py");
/// How often a sound is transcribed by each; the fastest counts.
const TIMES: usize = 2;
/// Seconds of the long sound: several windows of Whisper.
const LONG_S: f64 = 90.0;
/// Bytes of a second at 16 kHz, 16 bits.
const SECOND: f64 = 32_000.0;
/// Bytes of a plain WAV header.
const HEADER: usize = 44;

/// Our arms: engine, and whether the encoder's context is cut.
const ARMS: [&str; 6] = [
    "whisper.cpp:whisper-tiny-en",
    "whisper.cpp:whisper-tiny-en+q8",
    "whisper.cpp:whisper-tiny-en+cut",
    "whisper.cpp:whisper-tiny-en+q8+cut",
    "whisper.cpp:whisper-tiny-en+q5+cut",
    "candle:whisper-tiny-en+cut",
];

/// Commands that are spoken when no folder is named.
const SENTENCES: [&str; 12] = [
    "Turn on the kitchen light.",
    "What time is it?",
    "Set a timer for ten minutes.",
    "Play some music in the living room.",
    "Open the garage door.",
    "Add milk and bread to my shopping list.",
    "Remind me to call the doctor tomorrow.",
    "Read my new messages.",
    "Stop the music.",
    "Turn the volume down.",
    "Close all the windows.",
    "What will the weather be like on Sunday?",
];

/// A sound with what is said in it.
struct Clip {
    path: PathBuf,
    text: String,
    seconds: f64,
}

/// What one arm heard.
struct Arm {
    name: String,
    /// Text and seconds for each sound, the long one last.
    heard: Vec<(String, f64)>,
}

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<Value> {
    let subject = Subject::new(workspace, "stt-sounds")?;
    let mut clips = match arguments {
        [] => spoken(&subject.runs)?,
        [flag, folder] if flag == "--clips" => from_folder(Path::new(folder), &subject.runs)?,
        _ => bail!("perf stt takes --clips DIR and nothing else"),
    };
    clips.push(long(&clips, &subject.runs)?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut arms = Vec::new();
    for spec in ARMS {
        arms.push(ours(&subject, spec, threads, &clips)?);
    }
    let (peers, versions) = peers(workspace, &subject, threads, &clips)?;
    arms.extend(peers);
    print(&arms, &clips, threads);
    let rows: Vec<Value> = arms.iter().map(|arm| row(arm, &clips)).collect();
    Ok(json!({ "threads": threads, "clips": clips.len() - 1, "long_s": LONG_S, "versions": versions, "arms": rows }))
}

fn print(arms: &[Arm], clips: &[Clip], threads: usize) {
    let short: f64 = clips[..clips.len() - 1].iter().map(|clip| clip.seconds).sum();
    let long = clips.last().map_or(0.0, |clip| clip.seconds);
    println!(
        "{} commands of {short:.0} s in all, one sound of {long:.0} s, tiny.en, {threads} threads",
        clips.len() - 1
    );
    println!("{:<36} {:>12} {:>12} {:>12} {:>12}", "", "RTF, short", "WER, short", "RTF, long", "WER, long");
    for arm in arms {
        let row = row(arm, clips);
        let of = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        let (short, long) = (of("rtf_short"), of("rtf_long"));
        let (wrong, wrong_long) = (of("wer_short"), of("wer_long"));
        println!("{:<36} {short:>12.4} {wrong:>12.4} {long:>12.4} {wrong_long:>12.4}", arm.name);
    }
    for (what, key) in [("commands", "rtf_short"), ("the long sound", "rtf_long")] {
        let fastest = |own: bool| {
            let of = arms.iter().filter(|arm| arm.name.contains(':') == own);
            of.min_by(|a, b| factor(a, clips, key).total_cmp(&factor(b, clips, key)))
        };
        if let (Some(own), Some(peer)) = (fastest(true), fastest(false)) {
            let ratio = factor(peer, clips, key) / factor(own, clips, key);
            println!("on {what} {} is {ratio:.2} times as fast as {}", own.name, peer.name);
        }
    }
}

fn factor(arm: &Arm, clips: &[Clip], key: &str) -> f64 {
    row(arm, clips)[key].as_f64().unwrap_or(f64::INFINITY)
}

fn row(arm: &Arm, clips: &[Clip]) -> Value {
    let last = clips.len() - 1;
    let factor = |range: std::ops::Range<usize>| {
        let work: f64 = arm.heard[range.clone()].iter().map(|(_, seconds)| seconds).sum();
        work / clips[range].iter().map(|clip| clip.seconds).sum::<f64>()
    };
    let wrong = |range: std::ops::Range<usize>| {
        let (mut errors, mut words) = (0, 0);
        for (clip, (text, _)) in clips[range.clone()].iter().zip(&arm.heard[range]) {
            let (truth, heard) = (normalised(&clip.text), normalised(text));
            errors += distance(&truth, &heard);
            words += truth.len();
        }
        errors as f64 / words.max(1) as f64
    };
    json!({
        "arm": arm.name, "rtf_short": factor(0..last), "rtf_long": factor(last..last + 1),
        "wer_short": wrong(0..last), "wer_long": wrong(last..last + 1),
        "heard": arm.heard.iter().map(|(text, seconds)| json!({ "text": text, "seconds": seconds })).collect::<Vec<_>>(),
    })
}

/// One of our arms. The sounds are named several times in one call, so that loading is apart.
fn ours(subject: &Subject, spec: &str, threads: usize, clips: &[Clip]) -> anyhow::Result<Arm> {
    let threads = threads.to_string();
    let mut words = vec!["transcribe", "--engine", spec, "--format", "json", "--language", "en", "--no-gate"];
    words.extend(["--threads", &threads]);
    let paths: Vec<String> = clips.iter().map(|clip| clip.path.display().to_string()).collect();
    for _ in 0..TIMES {
        words.extend(paths.iter().map(String::as_str));
    }
    let printed: Value = serde_json::from_str(&subject.run(&words)?.stdout).context("the transcripts are not JSON")?;
    let entries = printed.as_array().context("the transcripts are no list")?;
    ensure!(entries.len() == TIMES * clips.len(), "{} transcripts came", entries.len());
    let of = |entry: &Value| -> anyhow::Result<(String, f64)> {
        let text = entry["text"].as_str().context("a transcript has no text")?.to_owned();
        Ok((text, entry["total_ms"].as_f64().context("a transcript has no time")? / 1e3))
    };
    let mut heard = Vec::new();
    for at in 0..clips.len() {
        let runs = (0..TIMES).map(|time| of(&entries[time * clips.len() + at])).collect::<anyhow::Result<Vec<_>>>()?;
        let best = runs.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
        heard.push((runs[0].0.clone(), best));
    }
    Ok(Arm { name: spec.to_owned(), heard })
}

/// The peers on the same weights: CTranslate2's own, and the ggml file that was converted from them.
fn peers(
    workspace: &Workspace,
    subject: &Subject,
    threads: usize,
    clips: &[Clip],
) -> anyhow::Result<(Vec<Arm>, Value)> {
    let python = venv(workspace)?;
    let weights = PathBuf::from(subject.run(&["models", "path", "whisper-tiny-en"])?.stdout.trim());
    let tokenizer = PathBuf::from(subject.run(&["models", "path", "whisper-tiny-en-tokenizer"])?.stdout.trim());
    let folder = subject.runs.join("ct2");
    std::fs::create_dir_all(&folder)?;
    link(&weights, &folder.join("model.bin"))?;
    link(&tokenizer, &folder.join("tokenizer.json"))?;
    std::fs::write(folder.join("vocabulary.json"), vocabulary(&tokenizer)?)?;
    // CTranslate2 looks here for what is suppressed; without the file it fails while it decodes. A blank and the end
    // are no beginning.
    let settings =
        json!({ "suppress_ids": [], "suppress_ids_begin": [220, 50_256], "alignment_heads": [], "lang_ids": [] });
    std::fs::write(folder.join("config.json"), settings.to_string())?;
    let converted = weights.with_file_name("converted");
    let ggml = std::fs::read_dir(&converted)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.to_string_lossy().ends_with("-f16.bin"))
        .context("the converted model is not there")?;
    let script = subject.runs.join("stt_peers.py");
    std::fs::write(&script, PEERS)?;
    let mut command = Command::new(&python);
    command.arg(&script).arg(&folder).arg(&ggml).arg(threads.to_string()).arg(TIMES.to_string());
    command.args(clips.iter().map(|clip| &clip.path)).env("HF_HUB_OFFLINE", "1");
    let output = command.output().context("python does not start")?;
    ensure!(output.status.success(), "stt_peers.py failed: {}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).context("stt_peers.py did not print JSON")?;
    let found: BTreeMap<String, Vec<Value>> = serde_json::from_value(printed["arms"].clone())?;
    let arms = found.into_iter().map(|(name, rows)| {
        let heard = rows.iter().map(|row| {
            (row["text"].as_str().unwrap_or_default().to_owned(), row["seconds"].as_f64().unwrap_or(f64::NAN))
        });
        Arm { name, heard: heard.collect() }
    });
    let versions = json!({ "faster-whisper": printed["faster-whisper"], "ctranslate2": printed["ctranslate2"],
        "pywhispercpp": printed["pywhispercpp"] });
    Ok((arms.collect(), versions))
}

/// All tokens in order, which CTranslate2 wants apart: words, markers, and the 1,501 timestamps.
fn vocabulary(tokenizer: &Path) -> anyhow::Result<String> {
    let json: Value = serde_json::from_str(&std::fs::read_to_string(tokenizer)?)?;
    let mut tokens = BTreeMap::new();
    for (token, id) in json["model"]["vocab"].as_object().context("a tokenizer without a vocabulary")? {
        tokens.insert(id.as_u64().context("an id that is no number")?, token.clone());
    }
    for added in json["added_tokens"].as_array().into_iter().flatten() {
        let token = added["content"].as_str().context("a token without text")?;
        tokens.insert(added["id"].as_u64().context("an id that is no number")?, token.to_owned());
    }
    let first = tokens.keys().last().copied().context("an empty vocabulary")? + 1;
    let times = (0..1501u64).filter(|_| !tokens.values().any(|token| token == "<|0.00|>"));
    let times: Vec<String> = times.map(|step| format!("<|{}.{:02}|>", step / 50, step % 50 * 2)).collect();
    tokens.extend((first..).zip(times));
    Ok(serde_json::to_string(&tokens.into_values().collect::<Vec<_>>())?)
}

fn link(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))?;
    Ok(())
}

/// A virtual environment with the peers, made once.
fn venv(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("perf").join("stt-venv");
    let python = folder.join("bin").join("python");
    let has_them = || {
        let test = ["-c", "import faster_whisper, pywhispercpp.model"];
        Command::new(&python).args(test).output().is_ok_and(|made| made.status.success())
    };
    if has_them() {
        return Ok(python);
    }
    println!("installing faster-whisper and pywhispercpp into {}", folder.display());
    let steps: [(&Path, Vec<String>); 2] = [
        (Path::new("python3"), vec!["-m".into(), "venv".into(), folder.display().to_string()]),
        (&python, ["-m", "pip", "install", "--quiet", "faster-whisper", "pywhispercpp"].map(str::to_owned).to_vec()),
    ];
    for (program, words) in steps {
        let status = Command::new(program).args(&words).status().context("python3 does not start")?;
        ensure!(status.success(), "python3 {} ended with {status}", words.join(" "));
    }
    ensure!(has_them(), "the peers were installed and cannot be imported");
    Ok(python)
}

/// Sentences spoken by espeak-ng.
fn spoken(folder: &Path) -> anyhow::Result<Vec<Clip>> {
    let mut clips = Vec::new();
    for (at, text) in SENTENCES.iter().enumerate() {
        let raw = folder.join(format!("raw-{at}.wav"));
        let status = Command::new("espeak-ng").args(["-v", "en-us", "-s", "150", "-w"]).arg(&raw).arg(text).status();
        ensure!(status.context("espeak-ng does not start")?.success(), "espeak-ng failed");
        clips.push(resampled(&raw, &folder.join(format!("clip-{at}.wav")), (*text).to_owned())?);
    }
    Ok(clips)
}

/// The WAV files that `texts.json` of a folder names: `{"file.wav": "what is said"}`.
fn from_folder(source: &Path, folder: &Path) -> anyhow::Result<Vec<Clip>> {
    let texts = source.join("texts.json");
    let json = std::fs::read_to_string(&texts).with_context(|| format!("cannot read {}", texts.display()))?;
    let texts: BTreeMap<String, String> = serde_json::from_str(&json)?;
    ensure!(!texts.is_empty(), "{} names no sounds", source.display());
    let mut clips = Vec::new();
    for (at, (name, text)) in texts.into_iter().enumerate() {
        clips.push(resampled(&source.join(name), &folder.join(format!("clip-{at}.wav")), text)?);
    }
    Ok(clips)
}

/// The same sound at 16 kHz, one channel, 16 bits, which every peer reads: by linear interpolation, the same for all.
fn resampled(from: &Path, to: &Path, text: String) -> anyhow::Result<Clip> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    let field = |at: usize| bytes.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    ensure!(bytes.starts_with(b"RIFF") && bytes.len() > HEADER, "{} is no WAV file", from.display());
    ensure!((field(20), field(22), field(34)) == (1, 1, 16), "{} is not 16 bits, one channel", from.display());
    let rate = f64::from(field(24)) + 65_536.0 * f64::from(field(26));
    let data = bytes.windows(4).position(|four| four == b"data").context("a WAV file without data")? + 8;
    let samples: Vec<f64> =
        bytes[data..].chunks_exact(2).map(|two| f64::from(i16::from_le_bytes([two[0], two[1]]))).collect();
    let count = (samples.len() as f64 * 16_000.0 / rate) as usize;
    let at = |place: f64| {
        let (index, part) = (place as usize, place.fract());
        let next = samples.get(index + 1).or(samples.last()).copied().unwrap_or(0.0);
        samples.get(index).copied().unwrap_or(0.0) * (1.0 - part) + next * part
    };
    let pcm: Vec<u8> =
        (0..count).flat_map(|index| (at(index as f64 * rate / 16_000.0).round() as i16).to_le_bytes()).collect();
    write(to, &pcm)?;
    Ok(Clip { path: to.to_owned(), text, seconds: pcm.len() as f64 / SECOND })
}

/// All sounds after each other, again and again, with half a second between them.
fn long(clips: &[Clip], folder: &Path) -> anyhow::Result<Clip> {
    let (mut pcm, mut texts) = (Vec::new(), Vec::new());
    for clip in clips.iter().cycle() {
        if pcm.len() as f64 > LONG_S * SECOND {
            break;
        }
        pcm.extend_from_slice(&std::fs::read(&clip.path)?[HEADER..]);
        pcm.resize(pcm.len() + SECOND as usize / 2, 0);
        texts.push(clip.text.clone());
    }
    let path = folder.join("long.wav");
    write(&path, &pcm)?;
    Ok(Clip { path, text: texts.join(" "), seconds: pcm.len() as f64 / SECOND })
}

fn write(path: &Path, pcm: &[u8]) -> anyhow::Result<()> {
    let size = u32::try_from(pcm.len())?;
    let mut bytes = [b"RIFF".as_slice(), &(36 + size).to_le_bytes(), b"WAVEfmt ", &16u32.to_le_bytes()].concat();
    bytes.extend([1u16, 1].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([16_000u32, 32_000].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend([2u16, 16].iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend_from_slice(b"data");
    bytes.extend(size.to_le_bytes());
    bytes.extend_from_slice(pcm);
    std::fs::write(path, bytes)?;
    Ok(())
}

/// Words in lower case without punctuation.
fn normalised(text: &str) -> Vec<String> {
    let kept = text.to_lowercase().replace(['-', '’'], " ");
    let words =
        kept.split_whitespace().map(|word| word.chars().filter(|character| character.is_alphanumeric()).collect());
    words.filter(|word: &String| !word.is_empty()).collect()
}

/// Words to change, leave out and put in.
fn distance(truth: &[String], heard: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (at, word) in truth.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (other, spoken) in heard.iter().enumerate() {
            let changed = diagonal + usize::from(word != spoken);
            diagonal = row[other + 1];
            row[other + 1] = changed.min(diagonal + 1).min(row[other] + 1);
        }
    }
    row[heard.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_changed_left_out_and_put_in() {
        let of = |truth: &str, heard: &str| distance(&normalised(truth), &normalised(heard));
        assert_eq!(of("Turn on the light.", "turn on the light"), 0);
        assert_eq!(of("turn on the light", "turn the old lights"), 3);
        assert_eq!(of("", "one two"), 2);
        assert_eq!(of("one two", ""), 2);
    }
}

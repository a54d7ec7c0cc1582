//! `tenpass say`: speaks a text, to the speakers or into a file.

mod listing;
mod player;
mod voices;

pub(super) use player::Player;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tenpass_audio::Audio;
use tenpass_frame::Kind;
use tenpass_tts::{Cancel, Chunker, SpeakOptions, SpeechStream, Spoken, Voice, open, speak_stream};

use crate::args::Format;
use crate::args::speech::say::Say;
use crate::commands::speech::voices::voice_files;
use crate::commands::table::{Columns, export, table, whole_file};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Largest text file that is read out.
const MOST_BYTES: u64 = 10_000_000;
/// Silence between two chunks in a file, in seconds.
const PAUSE_S: f64 = 0.15;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Say) -> Result<Exit, Failure> {
    if command.list {
        return listing::list(context, command.language.as_deref(), command.format.format);
    }
    if !(0.25..=4.0).contains(&command.speed) {
        return Err(Failure::mistake(format!("--speed {} is not from 0.25 to 4", command.speed)));
    }
    let text = text(command)?;
    let language = voices::language(command, &text)?;
    let chunks = chunks(&text, &language);
    if command.dry_run {
        return dry_run(context, command.format.format, &chunks);
    }
    if chunks.is_empty() {
        return Err(Failure::mistake("there is nothing to say in this text").hint("give some words"));
    }
    // What is wrong with the way out is told before a model is loaded.
    let way = match &command.out {
        Some(path) => {
            check_name(path)?;
            None
        }
        None => Some(player::Player::find()?),
    };
    let started = Instant::now();
    let files = voice_files(context, command.threads.map(usize::from))?;
    let spec = voices::choose(context, command, &language, &files)?;
    let voice: Arc<dyn Voice> = Arc::from(open(&spec, &files)?);
    let load_ms = started.elapsed().as_secs_f64() * 1e3;
    let options = SpeakOptions { speed: command.speed, seed: command.seed, ..SpeakOptions::default() };
    let name = voice.info().spec.clone();
    let stream = speak_stream(voice, chunks, options, &Cancel::new());
    if let Some(player) = way {
        return player.play(stream);
    }
    let Some(path) = &command.out else { return Ok(Exit::Yes) };
    let (audio, timing) = gather(stream)?;
    write(context, path, &audio)?;
    if path.as_os_str() != "-" {
        let report = Report::new(name, load_ms, &audio, timing);
        print(context, command.format.format, path, &report)?;
    }
    Ok(Exit::Yes)
}

/// The text to be spoken.
fn text(command: &Say) -> Result<String, Failure> {
    let Some(path) = &command.file else { return Ok(command.text.join(" ")) };
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| Failure::file(path, &error);
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        std::fs::File::open(path).map_err(failed)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(
            Failure::mistake(format!("{} is longer than {MOST_BYTES} bytes", path.display())).hint("say it in parts")
        );
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::mistake(format!("{} is not UTF-8 text", path.display())).hint("give a text or Markdown file")
    })
}

fn chunks(text: &str, language: &str) -> Vec<String> {
    let mut chunker = Chunker::speaking(language);
    let mut found = chunker.push(text);
    found.extend(chunker.finish());
    found
}

/// A chunk, as `--dry-run` lists it.
#[derive(Serialize)]
struct Planned<'a> {
    chunk: u64,
    characters: u64,
    text: &'a str,
}

const PLANNED: &Columns = &[("chunk", Kind::Int), ("characters", Kind::Int), ("text", Kind::Text)];

fn dry_run(context: &Context, format: Format, chunks: &[String]) -> Result<Exit, Failure> {
    let rows: Vec<Planned<'_>> = chunks
        .iter()
        .enumerate()
        .map(|(index, text)| Planned { chunk: index as u64, characters: text.chars().count() as u64, text })
        .collect();
    match format {
        Format::Table => chunks.iter().for_each(|chunk| context.printer.out(chunk)),
        Format::Json => context.printer.json(&rows)?,
        Format::Csv | Format::Parquet => export(context.printer, format, PLANNED, &rows)?,
    }
    Ok(Exit::Yes)
}

/// How long it took.
#[derive(Debug, Default)]
struct Timing {
    chunks: usize,
    first_chunk_ms: f64,
    synthesis_ms: f64,
    /// Length of the chunks, without the pauses between them: those cost nothing to make.
    speech_s: f64,
}

/// All chunks after each other.
fn gather(stream: SpeechStream) -> Result<(Audio, Timing), Failure> {
    let mut audio = Audio::default();
    let mut timing = Timing::default();
    for spoken in stream {
        let Spoken { index, audio: chunk, synthesis_ms, .. } = spoken?;
        if index == 0 {
            timing.first_chunk_ms = synthesis_ms;
            audio.rate = chunk.rate;
        } else {
            let pause = (PAUSE_S * f64::from(audio.rate)) as usize;
            audio.samples.extend(std::iter::repeat_n(0.0, pause));
        }
        timing.chunks += 1;
        timing.synthesis_ms += synthesis_ms;
        timing.speech_s += chunk.seconds();
        audio.samples.extend(chunk.at_rate(audio.rate).samples);
    }
    Ok((audio, timing))
}

/// Refuses a name whose form or folder cannot be written, before anything is spoken.
fn check_name(path: &Path) -> Result<(), Failure> {
    let form = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    if path.as_os_str() == "-" {
        return Ok(());
    }
    if matches!(form.as_deref(), Some("wav" | "flac")) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        return match folder {
            Some(folder) if !folder.is_dir() => {
                Err(Failure::mistake(format!("there is no folder {}", folder.display()))
                    .hint("create it, or name another file"))
            }
            _ => Ok(()),
        };
    }
    Err(Failure::mistake(format!("{} is neither .wav nor .flac", path.display())).hint("name the file --out NAME.wav"))
}

fn write(context: &Context, path: &Path, audio: &Audio) -> Result<(), Failure> {
    let is_flac = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("flac"));
    let bytes = if is_flac { tenpass_audio::flac_bytes(audio) } else { tenpass_audio::wav_bytes(audio) };
    let bytes = bytes.map_err(|error| Failure::mistake(&error).hint(error.hint()))?;
    if path.as_os_str() != "-" {
        return whole_file(path, |out| out.write_all(&bytes).map_err(|error| Failure::file(path, &error)));
    }
    let mut out = context.printer.bytes();
    match out.write_all(&bytes).and_then(|()| out.flush()) {
        // Whoever read it has heard enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::file(path, &error)),
        _ => Ok(()),
    }
}

/// What was made, as the command reports it.
#[derive(Debug, Serialize)]
struct Report {
    voice: String,
    seconds: f64,
    rate: u32,
    chunks: u64,
    load_ms: f64,
    first_chunk_ms: f64,
    synthesis_ms: f64,
    real_time_factor: f64,
}

impl Report {
    fn new(voice: String, load_ms: f64, audio: &Audio, timing: Timing) -> Self {
        let seconds = audio.seconds();
        Self {
            voice,
            seconds,
            rate: audio.rate,
            chunks: timing.chunks as u64,
            load_ms,
            first_chunk_ms: timing.first_chunk_ms,
            synthesis_ms: timing.synthesis_ms,
            real_time_factor: timing.synthesis_ms / 1e3 / timing.speech_s.max(1e-9),
        }
    }
}

const REPORTED: &Columns = &[
    ("voice", Kind::Text),
    ("seconds", Kind::Float),
    ("rate", Kind::Int),
    ("chunks", Kind::Int),
    ("load_ms", Kind::Float),
    ("first_chunk_ms", Kind::Float),
    ("synthesis_ms", Kind::Float),
    ("real_time_factor", Kind::Float),
];

fn print(context: &Context, format: Format, path: &Path, report: &Report) -> Result<(), Failure> {
    match format {
        Format::Json => context.printer.json(report),
        Format::Csv | Format::Parquet => export(context.printer, format, REPORTED, &[report]),
        Format::Table => {
            let row = vec![
                path.display().to_string(),
                report.voice.clone(),
                format!("{:.2} s", report.seconds),
                format!("{:.0} ms", report.first_chunk_ms),
                format!("{:.2}", report.real_time_factor),
            ];
            context.printer.out(&table(
                &["file", "voice", "length", "first chunk", "real-time factor"],
                &[row],
                &[2, 3, 4],
            ));
            Ok(())
        }
    }
}

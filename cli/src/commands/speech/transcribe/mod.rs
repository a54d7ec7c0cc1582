//! `tenpass transcribe`.

mod engine;
mod sound;

use std::path::{Path, PathBuf};

use serde::Serialize;
use tenpass_stt::{Decoding, Segment, SttError, SttSpec, Transcriber, Transcript, subtitles};

use crate::args::speech::transcribe::{Transcribe, TranscriptFormat};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
pub(super) use engine::{failure, open_engine};
use sound::SoundFile;

/// A prompt is 223 tokens; what is larger than this is no prompt.
const MOST_PROMPT: u64 = 1 << 20;

/// One sound in JSON.
#[derive(Debug, Serialize)]
struct Written<'a> {
    file: String,
    engine: &'a str,
    text: String,
    #[serde(flatten)]
    transcript: &'a Transcript,
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Transcribe) -> Result<Exit, Failure> {
    let typed = command.engine.as_ref().unwrap_or(&context.resolved.settings.speech.stt);
    let spec = SttSpec::parse(typed).map_err(failure)?;
    let decoding = decoding(command)?;
    let outputs = outputs(command)?;
    // The first file is opened before the model is loaded: a mistyped name costs no seconds.
    let mut first = Some(SoundFile::open(&command.files[0])?);
    let engine = open_engine(context, &spec, decoding.gate)?;
    let mut all = Vec::new();
    for (at, path) in command.files.iter().enumerate() {
        let mut sound = match first.take() {
            Some(sound) => sound,
            None => SoundFile::open(path)?,
        };
        // Plain text is printed as it is heard; an hour would be long to wait for.
        let printed = command.format == TranscriptFormat::Text && outputs.is_none();
        let several = command.files.len() > 1;
        if printed && several {
            context.printer.out(&format!("{}:", path.display()));
        }
        let mut heard = |segment: &Segment| {
            if printed {
                context.printer.out(&format!("{}{}", if several { "  " } else { "" }, segment.text));
            }
        };
        let transcript = transcribe(engine.as_ref(), &mut sound, path, &decoding, &mut heard)?;
        if let Some(note) = sound.note() {
            context.printer.note(&format!("warning: {}: {note}", path.display()));
        }
        if transcript.segments.is_empty() {
            context.printer.note(&format!("{}: no speech was heard", path.display()));
        }
        let written = Written {
            file: path.display().to_string(),
            engine: &engine.info().spec,
            text: transcript.text(),
            transcript: &transcript,
        };
        match outputs.as_ref().map(|outputs| &outputs[at]) {
            Some(output) => {
                let text = rendered(command.format, &written)?;
                std::fs::write(output, text).map_err(|error| Failure::file(output, &error))?;
                context.printer.note(&format!("{}: {}", path.display(), output.display()));
            }
            None if command.format == TranscriptFormat::Json && command.files.len() > 1 => {
                all.push(serde_json::to_value(&written).map_err(Failure::bug)?);
            }
            None if printed => {}
            None => context.printer.out(&rendered(command.format, &written)?),
        }
    }
    if !all.is_empty() {
        context.printer.json(&all)?;
    }
    Ok(Exit::Yes)
}

fn transcribe(
    engine: &dyn Transcriber,
    sound: &mut SoundFile,
    path: &Path,
    decoding: &Decoding,
    heard: &mut dyn FnMut(&Segment),
) -> Result<Transcript, Failure> {
    engine.transcribe_stream(sound, decoding, heard).map_err(|error| {
        let short = matches!(error, SttError::Short { .. });
        let named = match error {
            SttError::Input(problem) if !problem.starts_with(&path.display().to_string()) => {
                SttError::Input(format!("{}: {problem}", path.display()))
            }
            other => other,
        };
        let failure = failure(named);
        let message = if short { format!("{}: {}", path.display(), failure.message) } else { failure.message.clone() };
        Failure { message, ..failure }
    })
}

fn decoding(command: &Transcribe) -> Result<Decoding, Failure> {
    let prompt = match &command.prompt_file {
        Some(path) => {
            let size = std::fs::metadata(path).map_err(|error| Failure::file(path, &error))?.len();
            if size > MOST_PROMPT {
                return Err(Failure::mistake(format!("{}: {size} bytes are no prompt", path.display())));
            }
            Some(std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?)
        }
        None => command.prompt.clone(),
    };
    Ok(Decoding {
        language: command.language.clone(),
        prompt,
        beams: command.beams,
        fallback: command.fallback,
        cut_context: command.cut_context,
        gate: !command.no_gate,
        threads: command.threads.map_or(0, usize::from),
        enough: None,
    })
}

/// Where each sound's text goes, and the folder for them; two sounds never share a file.
fn outputs(command: &Transcribe) -> Result<Option<Vec<PathBuf>>, Failure> {
    let stdin = command.files.iter().filter(|path| *path == Path::new("-")).count();
    if stdin > 1 {
        return Err(Failure::mistake("- stands for stdin, which can be read once"));
    }
    let Some(folder) = &command.out else { return Ok(None) };
    let mut outputs: Vec<PathBuf> = Vec::new();
    for path in &command.files {
        let stem = path.file_stem().filter(|_| path != Path::new("-")).unwrap_or("stdin".as_ref());
        let mut name = stem.to_owned();
        name.push(format!(".{}", command.format.extension()));
        let output = folder.join(name);
        if outputs.contains(&output) {
            let message = format!("{}: another file's text would be {} too", path.display(), output.display());
            return Err(Failure::mistake(message).hint("transcribe them into different folders"));
        }
        outputs.push(output);
    }
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    Ok(Some(outputs))
}

fn rendered(format: TranscriptFormat, written: &Written<'_>) -> Result<String, Failure> {
    let segments = &written.transcript.segments;
    Ok(match format {
        TranscriptFormat::Text => segments.iter().map(|segment| format!("{}\n", segment.text)).collect(),
        TranscriptFormat::Json => serde_json::to_string_pretty(written).map_err(Failure::bug)?,
        TranscriptFormat::Srt => subtitles::srt(segments),
        TranscriptFormat::Vtt => subtitles::vtt(segments),
    })
}

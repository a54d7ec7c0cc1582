//! `tenpass shadow start`.

use std::path::{Path, PathBuf};

use tenpass_audio::Audio;
use tenpass_speech::commands::Commands;
use tenpass_stt::{Decoding, SttSpec, Transcriber};
use tenpass_train::records::digest_file;
use tenpass_train::shadow::{Follow, Found, Listener, RecordedDay, Rule, ShadowSetup, recorded_days};
use tenpass_train::wake::Record;
use tenpass_wake::{DetectorConfig, EmbeddingModel, Head, Vad, Verifier};

use super::super::assets::asset;
use super::super::commands::commands_path;
use super::super::head::head_of;
use super::super::{source, transcribe};
use super::places::{Places, thresholds};
use crate::args::speech::shadow::Start;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Samples of a minute: after so many the exposure is written.
const MINUTE: usize = 60 * 16_000;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Start) -> Result<Exit, Failure> {
    let places = Places::new(context, command.folder.as_deref());
    let (champion, champion_name) = champion(context, command, &places)?;
    let (folder, champion, candidate) = heads(command, &places, &champion)?;
    let days = match command.from.as_deref() {
        Some(path) if path != Path::new("-") => Some(recorded_days(path)?),
        _ => None,
    };
    let follow = follow(context, command)?;
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let threshold_on = command.threshold.unwrap_or(DetectorConfig::default().threshold_on);
    let usual = DetectorConfig::default();
    let setup = ShadowSetup {
        model: &model,
        champion: &champion,
        candidate: &candidate,
        names: [champion_name, name_of(&command.candidate)],
        vad: Some(Vad::load(&asset(context, "silero-vad")?)?),
        verifier: command.verifier.as_deref().map(Verifier::load).transpose()?,
        detector: DetectorConfig { threshold_on, threshold_off: usual.threshold_off.min(threshold_on), ..usual },
        thresholds: thresholds([&champion, &candidate]),
        rule: if command.e_value { Rule::EValue } else { Rule::FixedHorizon { days: command.horizon } },
    };
    let start = days.as_ref().and_then(|days| days.first()).map_or(places.now, |day| day.start);
    let mut listener = Listener::new(setup, &folder, start, follow)?;
    let found = match days {
        Some(days) => recorded(context, &mut listener, &days)?,
        None => live(&mut listener, command.from.is_some())?,
    };
    context.printer.out(&format!("{}: {}", counted(found), folder.join("shadow.jsonl").display()));
    Ok(Exit::Yes)
}

/// Events in words.
fn counted(found: Found) -> String {
    let plural = if found.events == 1 { "" } else { "s" };
    format!("{} event{plural}, {} on which the two disagree", found.events, found.discordant)
}

/// All recordings that do not count yet.
fn recorded(context: &Context, listener: &mut Listener<'_>, days: &[RecordedDay]) -> Result<Found, Failure> {
    let mut found = Found::default();
    for day in days {
        let file = day.file.display();
        let Some(now) = listener.play(day)? else {
            context.printer.note(&format!("{file}: it was listened to before and counts once"));
            continue;
        };
        let new = Found { events: now.events - found.events, discordant: now.discordant - found.discordant };
        context.printer.note(&format!("{file}: {}", counted(new)));
        found = now;
    }
    Ok(found)
}

/// The head to compare with, and its name.
fn champion(context: &Context, command: &Start, places: &Places) -> Result<(PathBuf, String), Failure> {
    let head = head_of(context, places, command.champion.as_deref())?;
    context.printer.note(&format!("compared with {}", head.told()));
    Ok((head.path, format!("{}.onnx", head.name)))
}

fn name_of(head: &Path) -> String {
    head.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The shadow's folder with copies of both heads, once both are known to be heads and not the same.
fn heads(command: &Start, places: &Places, champion: &Path) -> Result<(PathBuf, PathBuf, PathBuf), Failure> {
    Head::load(champion)?;
    Head::load(&command.candidate)?;
    if digest_file(champion)? == digest_file(&command.candidate)? {
        return Err(Failure::mistake(format!("{} is the head in service itself", command.candidate.display()))
            .hint("train another one: tenpass train wake"));
    }
    let folder = places.shadow_of(&command.candidate)?;
    let champion = kept(&folder, champion, "champion.onnx")?;
    let candidate = kept(&folder, &command.candidate, "candidate.onnx")?;
    Ok((folder, champion, candidate))
}

/// Copies a head, and the record of its training, into the shadow's folder: the file may change or go.
fn kept(folder: &Path, head: &Path, name: &str) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    let copy = folder.join(name);
    std::fs::copy(head, &copy).map_err(|error| Failure::file(head, &error))?;
    let record = Record::path(head);
    if record.is_file() {
        std::fs::copy(&record, Record::path(&copy)).map_err(|error| Failure::file(&record, &error))?;
    }
    Ok(copy)
}

/// Says what followed an event, where an engine was named.
fn follow(context: &Context, command: &Start) -> Result<Option<Follow<'static>>, Failure> {
    let Some(spec) = &command.follow else { return Ok(None) };
    let spec = SttSpec::parse(spec).map_err(transcribe::failure)?;
    let commands = Commands::load(&commands_path(context, None)?)?;
    let engine = transcribe::open_engine(context, &spec, true)?;
    let language = command.language.clone();
    let decoding = Decoding { language: Some(language.clone()), ..Decoding::default() };
    Ok(Some(Box::new(move |sound| followed(engine.as_ref(), &commands, &decoding, &language, sound))))
}

/// A valid command followed, nothing did, or something else, which says nothing.
fn followed(
    engine: &dyn Transcriber,
    commands: &Commands,
    decoding: &Decoding,
    language: &str,
    sound: &Audio,
) -> Option<bool> {
    let text = engine.transcribe(sound, decoding).ok()?.text();
    if tenpass_speech::is_phantom(&text) {
        return Some(false);
    }
    let command =
        commands.dispatch(&text, language).id().is_some() || commands.dispatch_heard(&text, language).id().is_some();
    command.then_some(true)
}

/// What the microphone or stdin gives, until it ends; the exposure is written every minute.
fn live(listener: &mut Listener<'_>, stdin: bool) -> Result<Found, Failure> {
    let mut heard = 0;
    let mut hear = |samples: &[f32]| {
        listener.push(samples)?;
        heard += samples.len();
        if heard >= MINUTE {
            heard = 0;
            listener.flush()?;
        }
        Ok(true)
    };
    if stdin {
        source::stdin(&mut hear)?;
    } else {
        source::microphone("tenpass shadow start … --from -", &mut hear)?;
    }
    Ok(listener.end(None)?)
}

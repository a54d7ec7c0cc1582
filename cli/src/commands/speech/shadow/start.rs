//! `tenpass shadow start`.

use std::io::Read;
use std::path::{Path, PathBuf};

use tenpass_audio::{Audio, Resampler, SPEECH_RATE};
use tenpass_speech::commands::Commands;
use tenpass_stt::{Decoding, SttSpec, Transcriber};
use tenpass_train::records::digest_file;
use tenpass_train::shadow::{Follow, Found, Listener, RecordedDay, Rule, ShadowSetup, recorded_days};
use tenpass_train::wake::Record;
use tenpass_wake::{DetectorConfig, EmbeddingModel, Head, Vad, Verifier};

use super::super::assets::asset;
use super::super::transcribe;
use super::places::{Places, thresholds};
use crate::args::speech::shadow::Start;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where the closed commands of a checkout or project are.
const COMMANDS: &str = "corpora/commands/commands.toml";

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
        None if command.from.is_some() => stdin(&mut listener)?,
        None => microphone(&mut listener)?,
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
    if let Some(named) = command.champion.clone().or_else(|| context.resolved.settings.speech.wake_head.clone()) {
        let name = name_of(&named);
        return Ok((named, name));
    }
    let service = places.service()?;
    let name = service.current()?.map(|head| head.name);
    service.head().zip(name).ok_or_else(|| {
        Failure::backend("no head is in service").hint(
            "name one with --champion FILE, or put a first one into service: tenpass promote accept wake --candidate FILE \
             --despite \"the first\"",
        )
    })
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
    let path = context.in_project(None, "corpora").map(|_| PathBuf::from(COMMANDS))?;
    let path = context.home.project.as_ref().map_or(path.clone(), |project| project.join(&path));
    let commands = Commands::load(&path).map_err(|error| {
        let hint = error.hint();
        Failure::mistake(&error).hint(hint)
    })?;
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

/// Listens, and writes the exposure every minute.
struct Minutes<'a, 'b> {
    listener: &'a mut Listener<'b>,
    heard: usize,
}

impl Minutes<'_, '_> {
    fn push(&mut self, samples: &[f32]) -> Result<(), Failure> {
        self.listener.push(samples)?;
        self.heard += samples.len();
        if self.heard >= MINUTE {
            self.heard = 0;
            self.listener.flush()?;
        }
        Ok(())
    }
}

/// What the microphone hears, until it is gone.
fn microphone(listener: &mut Listener<'_>) -> Result<Found, Failure> {
    const PIPE: &str = "arecord -q -f S16_LE -r 16000 -c 1 | tenpass shadow start … --from -";
    let mut opened = tenpass_audio::microphone(None)
        .map_err(|error| Failure::backend(&error).hint(format!("{}; or pipe it in: {PIPE}", error.hint())))?;
    let mut resampler = Resampler::new(opened.rate(), SPEECH_RATE);
    let (mut block, mut samples) = (Vec::new(), Vec::new());
    let mut minutes = Minutes { listener, heard: 0 };
    while opened.next_block(&mut block).map_err(Failure::backend)? {
        samples.clear();
        resampler.push(&block, &mut samples);
        minutes.push(&samples)?;
    }
    Ok(minutes.listener.end(None)?)
}

/// 16-bit samples on stdin until they end.
fn stdin(listener: &mut Listener<'_>) -> Result<Found, Failure> {
    let mut input = std::io::stdin().lock();
    let (mut bytes, mut kept) = ([0_u8; 2560], 0);
    let mut samples = Vec::with_capacity(1280);
    let mut minutes = Minutes { listener, heard: 0 };
    loop {
        let count = match input.read(&mut bytes[kept..]) {
            Ok(0) => return Ok(minutes.listener.end(None)?),
            Ok(count) => kept + count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::backend(format!("stdin: {error}"))),
        };
        let (pairs, half) = bytes[..count].as_chunks::<2>();
        samples.clear();
        samples.extend(pairs.iter().map(|pair| f32::from(i16::from_le_bytes(*pair)) / 32_768.0));
        // A pipe may end a read in the middle of a sample.
        kept = half.len();
        if kept == 1 {
            bytes[0] = bytes[count - 1];
        }
        minutes.push(&samples)?;
    }
}

//! `tenpass corpus import`.

use std::path::PathBuf;

use tenpass_corpus::{Imported, Prompts, import_prompts};

use super::opened;
use crate::args::speech::corpus::Asterisk;
use crate::commands::speech::assets::asset;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// Who speaks in the packages.
const SPEAKERS: [(&str, &str); 2] = [("en", "Allison Smith"), ("fr", "June Wallack")];

/// Carries out `import asterisk`.
pub(super) fn asterisk(context: &Context, command: &Asterisk) -> Result<Exit, Failure> {
    let known = SPEAKERS.iter().find(|(language, _)| *language == command.language).map(|(_, name)| *name);
    let (sounds, texts) = places(context, command, known.is_some())?;
    let Some(voice) = command.voice.as_deref().or(known) else {
        return Err(Failure::mistake(format!("who speaks the prompts of `{}` is not known", command.language))
            .hint("name them with --voice"));
    };
    let mut corpus = opened(&command.new, "human telephone prompts of Asterisk", "CC-BY-SA-3.0")?;
    let prompts = Prompts {
        sounds,
        texts,
        language: command.language.clone(),
        voice: voice.to_owned(),
        most: command.most.map(|most| most as usize),
        words: command.words as usize,
        flac: !command.wav,
    };
    let progress = StageProgress::new(context.printer);
    let imported = import_prompts(&mut corpus, &prompts, &mut |done, total| {
        progress.tell("prompts", done, total);
        true
    });
    progress.end();
    tell(context, &imported?);
    let summary = corpus.summary();
    let line =
        format!("{}: {} clips, {:.1} minutes, hash {}", summary.folder, summary.clips, summary.minutes, summary.hash);
    context.printer.out(&line);
    Ok(Exit::Yes)
}

fn places(context: &Context, command: &Asterisk, known: bool) -> Result<(PathBuf, PathBuf), Failure> {
    if let (Some(sounds), Some(texts)) = (&command.sounds, &command.texts) {
        return Ok((sounds.clone(), texts.clone()));
    }
    if !known {
        return Err(Failure::mistake(format!(
            "the catalogue has no prompts in `{}`, only en and fr",
            command.language
        ))
        .hint("name --sounds and --texts"));
    }
    let folder = asset(context, &format!("asterisk-prompts-{}", command.language))?;
    let texts = folder.join(format!("core-sounds-{}.txt.gz", command.language));
    Ok((folder, texts))
}

fn tell(context: &Context, imported: &Imported) {
    let printer = context.printer;
    for problem in &imported.unusable {
        printer.note(&format!("warning: {problem}"));
    }
    let mut line = format!("{} prompts imported, {} were there", imported.written, imported.before);
    let passed_over = [
        (imported.without_text, "without a text"),
        (imported.without_sound, "texts without a sound"),
        (imported.no_speech, "that are no speech"),
        (imported.short, "too short"),
        (imported.unusable.len(), "unusable"),
    ];
    let passed_over: Vec<String> =
        passed_over.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    if !passed_over.is_empty() {
        line.push_str(&format!("; passed over: {}", passed_over.join(", ")));
    }
    printer.note(&line);
}

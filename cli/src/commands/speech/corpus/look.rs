//! `tenpass corpus list`, `verify` and `freeze`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tenpass_corpus::{Clip, Corpus, CorpusError, Finding, Summary, folders};
use tenpass_frame::Kind;

use crate::args::Format;
use crate::commands::table::{Columns, show, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where corpora are in a checkout or project.
const CORPORA: &str = "corpora";

/// Lists corpora, or the clips of one.
pub(super) fn list(context: &Context, folder: Option<&Path>, clips: bool, format: Format) -> Result<Exit, Failure> {
    let folder = folder.unwrap_or(Path::new(CORPORA));
    if clips {
        return list_clips(context, &Corpus::open(folder)?, format);
    }
    let corpora = folders(folder)?.iter().map(|folder| Corpus::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<Summary> = corpora.iter().map(Corpus::summary).collect();
    show(context.printer, format, &[], &rows, || {
        if rows.is_empty() {
            return format!("no corpora below {}", folder.display());
        }
        let cells = rows.iter().map(|row| {
            vec![
                row.name.clone(),
                row.clips.to_string(),
                format!("{:.1}", row.minutes),
                row.commands.to_string(),
                row.wake.to_string(),
                row.none.to_string(),
                row.noise.to_string(),
                row.voices.to_string(),
                row.languages.clone(),
                row.frozen.get(..10).unwrap_or("open").to_owned(),
                row.hash[..12].to_owned(),
                row.folder.clone(),
            ]
        });
        let header = [
            "corpus",
            "clips",
            "minutes",
            "commands",
            "wake",
            "other",
            "noise",
            "voices",
            "languages",
            "frozen",
            "hash",
            "folder",
        ];
        table(&header, &cells.collect::<Vec<_>>(), &[1, 2, 3, 4, 5, 6, 7])
    })?;
    Ok(Exit::Yes)
}

/// Columns of clips.
const CLIP_COLUMNS: &Columns = &[
    ("file", Kind::Text),
    ("seconds", Kind::Float),
    ("text", Kind::Text),
    ("intent", Kind::Text),
    ("language", Kind::Text),
    ("voice", Kind::Text),
    ("synthetic", Kind::Bool),
    ("day", Kind::Text),
    ("room", Kind::Text),
    ("wake", Kind::Text),
    ("word_end_s", Kind::Float),
    ("speech_end_s", Kind::Float),
    ("snr_db", Kind::Float),
    ("sha256", Kind::Text),
];

/// A clip as a row: every column always there.
#[derive(Serialize)]
struct ClipRow<'a> {
    file: &'a str,
    seconds: f64,
    text: &'a str,
    intent: &'a str,
    language: &'a str,
    voice: &'a str,
    synthetic: bool,
    day: &'a str,
    room: &'a str,
    wake: Option<&'a str>,
    word_end_s: Option<f64>,
    speech_end_s: Option<f64>,
    snr_db: Option<f64>,
    sha256: &'a str,
}

impl<'a> From<&'a Clip> for ClipRow<'a> {
    fn from(clip: &'a Clip) -> Self {
        Self {
            file: &clip.file,
            seconds: clip.seconds,
            text: &clip.text,
            intent: &clip.intent,
            language: &clip.language,
            voice: &clip.voice,
            synthetic: clip.synthetic,
            day: &clip.day,
            room: &clip.room,
            wake: clip.wake.as_deref(),
            word_end_s: clip.word_end_s,
            speech_end_s: clip.speech_end_s,
            snr_db: clip.snr_db,
            sha256: &clip.sha256,
        }
    }
}

fn list_clips(context: &Context, corpus: &Corpus, format: Format) -> Result<Exit, Failure> {
    let rows: Vec<ClipRow<'_>> = corpus.clips().iter().map(ClipRow::from).collect();
    show(context.printer, format, CLIP_COLUMNS, &rows, || {
        let cells = rows.iter().map(|row| {
            let optional =
                |value: Option<f64>, digits| value.map_or(String::new(), |value| format!("{value:.digits$}"));
            vec![
                row.intent.to_owned(),
                row.language.to_owned(),
                format!("{:.2}", row.seconds),
                optional(row.word_end_s, 2),
                optional(row.snr_db, 0),
                row.room.to_owned(),
                row.voice.to_owned(),
                row.text.to_owned(),
            ]
        });
        let header = ["intent", "language", "seconds", "word end", "snr", "room", "voice", "text"];
        table(&header, &cells.collect::<Vec<_>>(), &[2, 3, 4])
    })?;
    Ok(Exit::Yes)
}

/// A difference with the corpus it is in.
#[derive(Serialize)]
struct FindingRow {
    corpus: String,
    #[serde(flatten)]
    finding: Finding,
}

/// Holds corpora against their manifests.
pub(super) fn verify(context: &Context, given: &[PathBuf], format: Format) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    let given: Vec<&Path> =
        if given.is_empty() { vec![Path::new(CORPORA)] } else { given.iter().map(PathBuf::as_path).collect() };
    for folder in given {
        let found = folders(folder)?;
        if found.is_empty() {
            return Err(CorpusError::None(folder.to_owned()).into());
        }
        all.extend(found);
    }
    let (mut rows, mut fine) = (Vec::new(), Vec::new());
    for folder in all {
        let corpus = Corpus::open(&folder)?;
        let findings = corpus.verify()?;
        if findings.is_empty() {
            let state = if corpus.manifest().frozen.is_some() { "frozen" } else { "open" };
            fine.push(format!("{}: {} clips, {state}, as corpus.toml says", folder.display(), corpus.clips().len()));
        }
        let name = folder.display().to_string();
        rows.extend(findings.into_iter().map(|finding| FindingRow { corpus: name.clone(), finding }));
    }
    let columns: &Columns =
        &[("corpus", Kind::Text), ("file", Kind::Text), ("difference", Kind::Text), ("problem", Kind::Text)];
    show(context.printer, format, columns, &rows, || {
        let line = |row: &FindingRow| format!("{}/{}: {}", row.corpus, row.finding.file, row.finding.problem);
        fine.iter().cloned().chain(rows.iter().map(line)).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if rows.is_empty() { Exit::Yes } else { Exit::No })
}

/// Freezes a corpus.
pub(super) fn freeze(context: &Context, folder: &Path) -> Result<Exit, Failure> {
    let mut corpus = Corpus::open(folder)?;
    let findings = corpus.freeze(jiff::Timestamp::now())?;
    if findings.is_empty() {
        let (count, hash) = (corpus.clips().len(), corpus.hash());
        context.printer.out(&format!("{}: frozen with {count} clips, hash {hash}", folder.display()));
        return Ok(Exit::Yes);
    }
    for finding in &findings {
        context.printer.out(&format!("{}/{}: {}", folder.display(), finding.file, finding.problem));
    }
    context.printer.note("not frozen: its files are not what corpus.toml says");
    Ok(Exit::No)
}

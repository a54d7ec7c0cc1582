//! `tenpass say --list`.

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_tts::{VoiceInfo, present};

use crate::args::Format;
use crate::commands::speech::voices::voice_files;
use crate::commands::table::{Columns, show, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// A voice, as it is listed.
#[derive(Serialize)]
struct Listed {
    voice: String,
    engine: String,
    language: String,
    rate: u32,
    natural: bool,
}

const LISTED: &Columns = &[
    ("voice", Kind::Text),
    ("engine", Kind::Text),
    ("language", Kind::Text),
    ("rate", Kind::Int),
    ("natural", Kind::Bool),
];

/// Prints the voices of this machine, of one language if it is named.
pub(super) fn list(context: &Context, language: Option<&str>, format: Format) -> Result<Exit, Failure> {
    let found = present(&voice_files(context, None)?);
    let rows: Vec<Listed> = found
        .into_iter()
        .filter(|voice| language.is_none_or(|language| voice.language == language))
        .map(listed)
        .collect();
    if rows.is_empty() {
        return Err(Failure::backend("there is no voice on this machine")
            .hint("install espeak-ng with the system's package manager, then: tenpass models pull onnxruntime kokoro-82m kokoro-voices"));
    }
    show(context.printer, format, LISTED, &rows, || text(&rows))?;
    Ok(Exit::Yes)
}

fn listed(voice: VoiceInfo) -> Listed {
    let VoiceInfo { spec, engine, language, rate, natural } = voice;
    Listed { voice: spec, engine, language, rate, natural }
}

/// The table for people: the hundred variants of espeak-ng are a line a language.
fn text(rows: &[Listed]) -> String {
    let variants = |base: &str| rows.iter().filter(|row| row.voice.starts_with(&format!("{base}+"))).count();
    let lines = rows.iter().filter(|row| !row.voice.contains('+')).map(|row| {
        let more = if row.engine == "espeak" {
            format!("{}+VARIANT ({})", row.voice, variants(&row.voice))
        } else {
            String::new()
        };
        vec![
            row.voice.clone(),
            row.language.clone(),
            row.rate.to_string(),
            if row.natural { "natural" } else { "plain" }.to_owned(),
            more,
        ]
    });
    table(&["voice", "language", "rate", "kind", "also"], &lines.collect::<Vec<_>>(), &[2])
}

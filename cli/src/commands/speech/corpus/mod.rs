//! `tenpass corpus`.

mod import;
mod look;
mod phrases;
mod record;
mod synth;
mod voices;

use std::path::Path;

use tenpass_corpus::{Corpus, CorpusError, MANIFEST};

use crate::args::speech::corpus::{Corpus as Command, Import, NewCorpus};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Synth(command) => synth::run(context, command),
        Command::Record(command) => record::run(context, command),
        Command::Import(Import::Asterisk(command)) => import::asterisk(context, command),
        Command::Freeze { corpus } => look::freeze(context, corpus),
        Command::Verify { folders, format } => look::verify(context, folders, format.format),
        Command::List { folder, clips, format } => look::list(context, folder.as_deref(), *clips, format.format),
    }
}

impl From<CorpusError> for Failure {
    fn from(error: CorpusError) -> Self {
        let hint = error.hint();
        match error {
            CorpusError::Speechless(_) => Self::backend(error).hint(hint),
            _ => Self::mistake(error).hint(hint),
        }
    }
}

/// The corpus in a folder, or a new one.
fn opened(new: &NewCorpus, description: &str, licence: &str) -> Result<Corpus, Failure> {
    if new.corpus.join(MANIFEST).is_file() {
        let corpus = Corpus::open(&new.corpus)?;
        // Said before an hour of work, not after it.
        if let Some(frozen) = &corpus.manifest().frozen {
            let day = frozen.get(..10).unwrap_or(frozen).to_owned();
            return Err(CorpusError::Frozen { name: corpus.manifest().name.clone(), day }.into());
        }
        return Ok(corpus);
    }
    let name = new.name.clone().unwrap_or_else(|| name_of(&new.corpus));
    let description = new.description.as_deref().unwrap_or(description);
    let licence = new.licence.as_deref().unwrap_or(licence);
    Ok(Corpus::create(&new.corpus, &name, description, licence)?)
}

/// A folder's name as a corpus may be called.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = |letter: char| if letter.is_ascii_lowercase() || letter.is_ascii_digit() { letter } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "corpus".to_owned() } else { name.to_owned() }
}

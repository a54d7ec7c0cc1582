//! What corpora there are, in numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::corpus::MANIFEST;
use crate::{Corpus, CorpusError};

/// How deep below the folder corpora are looked for.
const DEPTH: usize = 3;

/// A corpus in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub folder: String,
    /// Clips in it.
    pub clips: u64,
    /// Minutes of sound.
    pub minutes: f64,
    /// Clips that are a closed command.
    pub commands: u64,
    /// Clips with a wake word in them.
    pub wake: u64,
    /// Clips of speech that is no command.
    pub none: u64,
    /// Clips of silence and noise.
    pub noise: u64,
    /// Voices and persons.
    pub voices: u64,
    /// Languages, sorted, with spaces between.
    pub languages: String,
    /// The licence of the sound.
    pub licence: String,
    /// When it was frozen; empty while it may grow.
    pub frozen: String,
    /// [`Corpus::hash`].
    pub hash: String,
    /// One line about it.
    pub description: String,
}

impl Corpus {
    /// The corpus in numbers.
    pub fn summary(&self) -> Summary {
        let manifest = self.manifest();
        let of = |intents: &[&str]| {
            self.clips().iter().filter(|clip| intents.contains(&clip.intent.as_str())).count() as u64
        };
        let voices: BTreeSet<&str> =
            self.clips().iter().map(|clip| clip.voice.as_str()).filter(|v| !v.is_empty()).collect();
        let languages: BTreeSet<&str> =
            self.clips().iter().map(|clip| clip.language.as_str()).filter(|l| !l.is_empty()).collect();
        let clips = self.clips().len() as u64;
        Summary {
            name: manifest.name.clone(),
            folder: self.folder().display().to_string(),
            clips,
            minutes: self.clips().iter().map(|clip| clip.seconds).sum::<f64>() / 60.0,
            commands: clips - of(&["none", "wake", "silence", "noise"]),
            wake: self.clips().iter().filter(|clip| clip.wake.is_some()).count() as u64,
            none: of(&["none"]),
            noise: of(&["silence", "noise"]),
            voices: voices.len() as u64,
            languages: languages.into_iter().collect::<Vec<_>>().join(" "),
            licence: manifest.licence.clone(),
            frozen: manifest.frozen.clone().unwrap_or_default(),
            hash: self.hash(),
            description: manifest.description.clone(),
        }
    }
}

/// The folders with a corpus below a folder (or the folder itself), sorted.
pub fn folders(below: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let mut found = Vec::new();
    look(below, DEPTH, &mut found)?;
    found.sort();
    Ok(found)
}

fn look(folder: &Path, deeper: usize, found: &mut Vec<PathBuf>) -> Result<(), CorpusError> {
    if folder.join(MANIFEST).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    if deeper == 0 {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(|error| CorpusError::file(folder, error))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look(&entry.path(), deeper - 1, found)?;
        }
    }
    Ok(())
}

/// Clips by intent and language, for people who want to know what is in it.
pub fn intents(corpus: &Corpus) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for clip in corpus.clips() {
        *counts.entry((clip.intent.clone(), clip.language.clone())).or_default() += 1;
    }
    counts
}

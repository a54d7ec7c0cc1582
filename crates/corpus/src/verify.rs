//! Holding a corpus against what its manifest says.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use tenpass_audio::open;

use crate::corpus::{MANIFEST, file_hash};
use crate::{Clip, Corpus, CorpusError};

/// Files beside the sound that belong to any corpus.
const BESIDE: [&str; 4] = [MANIFEST, "README.md", "LICENCE", "LICENSE"];
/// Lengths may differ by so much: manifests are rounded.
const TOLERANCE_S: f64 = 1e-4;
/// Folders in folders that are looked into.
const DEEPEST: usize = 16;

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The file is not there.
    Missing,
    /// Its bytes are others.
    Changed,
    /// Its bytes are those, and its length is not what the manifest says.
    Length,
    /// It is there and not in the manifest.
    Surplus,
    /// It is no sound.
    Unreadable,
    /// The manifest itself was changed after freezing.
    Manifest,
}

impl Difference {
    /// One word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Length => "length",
            Self::Surplus => "surplus",
            Self::Unreadable => "unreadable",
            Self::Manifest => "manifest",
        }
    }
}

/// A file that is not what the manifest says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The file, as the manifest names it.
    pub file: String,
    /// What is wrong with it.
    pub difference: Difference,
    /// In words.
    pub problem: String,
}

impl Finding {
    fn new(file: &str, difference: Difference, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), difference, problem: problem.into() }
    }
}

impl Corpus {
    /// Names every file that is missing, changed, of another length or not listed; and `corpus.toml`, where it was
    /// changed after freezing. Nothing, if all is well.
    pub fn verify(&self) -> Result<Vec<Finding>, CorpusError> {
        let mut findings = Vec::new();
        if let Some(digest) = &self.manifest().digest
            && *digest != self.hash()
        {
            let problem = "what it says about the files was changed after the corpus was frozen";
            findings.push(Finding::new(MANIFEST, Difference::Manifest, problem));
        }
        if self.manifest().frozen.is_some() != self.manifest().digest.is_some() {
            let problem = "a frozen corpus has both `frozen` and `digest`, this one only one of them";
            findings.push(Finding::new(MANIFEST, Difference::Manifest, problem));
        }
        for clip in self.clips() {
            findings.extend(self.examine(clip)?);
        }
        let mut there = BTreeSet::new();
        collect(self.folder(), "", DEEPEST, &mut there)?;
        let surplus = there.iter().filter(|file| !self.has(file) && !BESIDE.contains(&file.as_str()));
        findings.extend(surplus.map(|file| Finding::new(file, Difference::Surplus, "is not listed in corpus.toml")));
        Ok(findings)
    }

    fn examine(&self, clip: &Clip) -> Result<Option<Finding>, CorpusError> {
        let path = self.path(clip);
        if !path.is_file() {
            return Ok(Some(Finding::new(&clip.file, Difference::Missing, "is not there")));
        }
        if file_hash(&path)? != clip.sha256 {
            let problem = "is not the file that was put in: its SHA-256 is another one";
            return Ok(Some(Finding::new(&clip.file, Difference::Changed, problem)));
        }
        let seconds = match length_s(&path) {
            Ok(seconds) => seconds,
            Err(error) => return Ok(Some(Finding::new(&clip.file, Difference::Unreadable, error.to_string()))),
        };
        if (seconds - clip.seconds).abs() > TOLERANCE_S {
            let problem = format!("is {seconds:.4} s long, {:.4} s says corpus.toml", clip.seconds);
            return Ok(Some(Finding::new(&clip.file, Difference::Length, problem)));
        }
        let late =
            [clip.word_end_s, clip.speech_end_s].into_iter().flatten().find(|time| *time > seconds + TOLERANCE_S);
        Ok(late.map(|time| {
            let problem = format!("ends after {seconds:.3} s, before the {time:.3} s at which speech in it ends");
            Finding::new(&clip.file, Difference::Length, problem)
        }))
    }
}

/// Counted, not believed.
fn length_s(path: &Path) -> Result<f64, tenpass_audio::AudioError> {
    let mut reader = open(path)?;
    let (mut block, mut count) = (Vec::new(), 0u64);
    while reader.next_block(&mut block)? {
        count += block.len() as u64;
    }
    Ok(count as f64 / f64::from(reader.rate()))
}

fn collect(folder: &Path, below: &str, deeper: usize, files: &mut BTreeSet<String>) -> Result<(), CorpusError> {
    let entries = std::fs::read_dir(folder).map_err(|error| CorpusError::file(folder, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| CorpusError::file(folder, error))?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        // Links are not followed: a folder behind one is a surplus file.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && deeper > 0 {
            collect(&entry.path(), &format!("{name}/"), deeper - 1, files)?;
        } else {
            files.insert(name);
        }
    }
    Ok(())
}

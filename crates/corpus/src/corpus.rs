//! A corpus on disk: open, grow, freeze.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenpass_audio::{Audio, flac_bytes, read_noted, wav_bytes};

use crate::{Clip, CorpusError, Manifest};

/// The manifest's name in the corpus's folder.
pub const MANIFEST: &str = "corpus.toml";
/// The version of the format that is written and read.
pub const FORMAT: u32 = 1;
/// A manifest that is longer is not read: half a million clips.
const LONGEST_MANIFEST: u64 = 256 << 20;

/// A folder with `corpus.toml` and its sound files.
#[derive(Debug, Clone)]
pub struct Corpus {
    folder: PathBuf,
    manifest: Manifest,
    names: HashSet<String>,
}

impl Corpus {
    /// Opens the corpus in a folder. The files are not looked at: see [`Corpus::verify`] and [`Corpus::load`].
    pub fn open(folder: &Path) -> Result<Self, CorpusError> {
        let path = folder.join(MANIFEST);
        let size = match std::fs::metadata(&path) {
            Ok(data) => data.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(CorpusError::None(folder.to_owned()));
            }
            Err(error) => return Err(CorpusError::file(&path, error)),
        };
        if size > LONGEST_MANIFEST {
            return Err(CorpusError::manifest(&path, format!("is {size} bytes long, more than any corpus needs")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| CorpusError::file(&path, error))?;
        let manifest: Manifest =
            toml::from_str(&text).map_err(|error| CorpusError::manifest(&path, error.to_string().trim_end()))?;
        let names = checked(&manifest).map_err(|problem| CorpusError::manifest(&path, problem))?;
        Ok(Self { folder: folder.to_owned(), manifest, names })
    }

    /// Begins a corpus in a new or empty folder.
    pub fn create(folder: &Path, name: &str, description: &str, licence: &str) -> Result<Self, CorpusError> {
        let manifest = Manifest {
            format: FORMAT,
            name: name.to_owned(),
            description: description.to_owned(),
            licence: licence.to_owned(),
            frozen: None,
            digest: None,
            clips: Vec::new(),
        };
        checked(&manifest).map_err(CorpusError::Unusable)?;
        std::fs::create_dir_all(folder).map_err(|error| CorpusError::file(folder, error))?;
        let mut there = std::fs::read_dir(folder).map_err(|error| CorpusError::file(folder, error))?;
        if there.next().is_some() {
            return Err(CorpusError::Occupied(folder.to_owned()));
        }
        let corpus = Self { folder: folder.to_owned(), manifest, names: HashSet::new() };
        corpus.save()?;
        Ok(corpus)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it is.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files.
    pub fn clips(&self) -> &[Clip] {
        &self.manifest.clips
    }

    /// Where a clip's file lies.
    pub fn path(&self, clip: &Clip) -> PathBuf {
        self.folder.join(&clip.file)
    }

    /// Whether there is a clip of this name.
    pub fn has(&self, file: &str) -> bool {
        self.names.contains(file)
    }

    /// SHA-256 over everything that the manifest says about the files, their hashes included: two corpora with the
    /// same hash hold the same sound with the same truth. Name, description and time of freezing do not count.
    pub fn hash(&self) -> String {
        let mut clips: Vec<&Clip> = self.manifest.clips.iter().collect();
        clips.sort_by(|a, b| a.file.cmp(&b.file));
        let mut hasher = Sha256::new();
        for clip in clips {
            // A clip holds strings, numbers and options of them only: it always becomes JSON.
            let line = serde_json::to_string(clip).unwrap_or_default();
            hasher.update(line.as_bytes());
            hasher.update(b"\n");
        }
        hex(&hasher.finalize())
    }

    /// Reads a clip, after holding its file against the hash.
    pub fn load(&self, clip: &Clip) -> Result<Audio, CorpusError> {
        let path = self.path(clip);
        let found = file_hash(&path)?;
        if found != clip.sha256 {
            let problem = format!(
                "is not the file that was put in: its SHA-256 begins {}, not {}",
                &found[..12],
                head(&clip.sha256)
            );
            return Err(CorpusError::Changed { path, problem });
        }
        Ok(read_noted(&path)?.0)
    }

    fn open_only(&self) -> Result<(), CorpusError> {
        match &self.manifest.frozen {
            None => Ok(()),
            Some(time) => {
                let day = time.get(..10).unwrap_or(time).to_owned();
                Err(CorpusError::Frozen { name: self.manifest.name.clone(), day })
            }
        }
    }

    /// Puts a sound in, as WAV or FLAC of 16 bits as the name says, and saves the manifest. Hash and length are filled in.
    pub fn add(&mut self, clip: Clip, audio: &Audio) -> Result<(), CorpusError> {
        self.put(clip, audio)?;
        self.save()
    }

    /// As [`Corpus::add`], without saving: for many, with [`Corpus::save`] now and then and at the end.
    pub fn put(&mut self, mut clip: Clip, audio: &Audio) -> Result<(), CorpusError> {
        self.open_only()?;
        fault(&clip).map_or(Ok(()), |problem| Err(CorpusError::Unusable(problem)))?;
        if self.has(&clip.file) {
            return Err(CorpusError::Unusable(format!("{} is in the corpus already", clip.file)));
        }
        if audio.samples.is_empty() {
            return Err(CorpusError::Unusable(format!("{}: the sound is empty", clip.file)));
        }
        let bytes = if is_flac(&clip.file) { flac_bytes(audio)? } else { wav_bytes(audio)? };
        let path = self.path(&clip);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| CorpusError::file(folder, error))?;
        }
        replace(&path, &bytes)?;
        clip.sha256 = hex(&Sha256::digest(&bytes));
        clip.seconds = rounded(audio.seconds());
        self.names.insert(clip.file.clone());
        self.manifest.clips.push(clip);
        Ok(())
    }

    /// Writes the manifest: whoever looks finds the old one or the whole new one.
    pub fn save(&self) -> Result<(), CorpusError> {
        let path = self.folder.join(MANIFEST);
        let text = toml::to_string(&self.manifest).map_err(|error| CorpusError::manifest(&path, error.to_string()))?;
        replace(&path, text.as_bytes())
    }

    /// Ends growing: every file is held against its hash, then time and digest are written. Says what is wrong
    /// instead, if anything is.
    pub fn freeze(&mut self, now: jiff::Timestamp) -> Result<Vec<crate::Finding>, CorpusError> {
        self.open_only()?;
        if self.manifest.clips.is_empty() {
            return Err(CorpusError::Unusable(format!("the corpus {} has no clips", self.manifest.name)));
        }
        self.manifest.clips.sort_by(|a, b| a.file.cmp(&b.file));
        let findings = self.verify()?;
        if findings.is_empty() {
            let seconds = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
            self.manifest.frozen = Some(seconds.to_string());
            self.manifest.digest = Some(self.hash());
            self.save()?;
        }
        Ok(findings)
    }
}

fn head(text: &str) -> &str {
    text.get(..12).unwrap_or(text)
}

/// To a microsecond: what a manifest needs, and what survives being written.
pub(crate) fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn file_hash(path: &Path) -> Result<String, CorpusError> {
    let failed = |error| CorpusError::file(path, error);
    let mut hasher = Sha256::new();
    let mut file = std::fs::File::open(path).map_err(failed)?;
    std::io::copy(&mut file, &mut hasher).map_err(failed)?;
    Ok(hex(&hasher.finalize()))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), CorpusError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!("{name}.{}.partial", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written.map_err(|error| CorpusError::file(path, error))
}

/// Whether the manifest can be believed; gives the names of its files.
fn checked(manifest: &Manifest) -> Result<HashSet<String>, String> {
    if manifest.format != FORMAT {
        return Err(format!("has format {}; this tenpass reads format {FORMAT}", manifest.format));
    }
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if manifest.name.is_empty() || !manifest.name.chars().all(fits) {
        return Err(format!("`{}` is no name for a corpus; use a-z, 0-9 and `-`", manifest.name));
    }
    let mut names = HashSet::with_capacity(manifest.clips.len());
    for clip in &manifest.clips {
        if let Some(problem) = fault(clip) {
            return Err(problem);
        }
        if !names.insert(clip.file.clone()) {
            return Err(format!("{} is listed twice", clip.file));
        }
    }
    Ok(names)
}

/// What is wrong with an entry.
fn fault(clip: &Clip) -> Option<String> {
    let inside = !clip.file.contains(['\\', '\0', ':'])
        && clip.file.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if !inside {
        return Some(format!("`{}` is no path inside a corpus", clip.file));
    }
    if !(has_ending(&clip.file, "wav") || is_flac(&clip.file)) {
        return Some(format!("{} must end in .wav or .flac", clip.file));
    }
    let times = [("word_end_s", clip.word_end_s), ("speech_end_s", clip.speech_end_s), ("seconds", Some(clip.seconds))];
    for (name, time) in times {
        if time.is_some_and(|time| !time.is_finite() || time < 0.0) {
            return Some(format!("{}: {name} must be a time in seconds", clip.file));
        }
    }
    if clip.intent.is_empty() {
        return Some(format!("{} has no intent; one without a command is `none`", clip.file));
    }
    None
}

fn is_flac(file: &str) -> bool {
    has_ending(file, "flac")
}

/// A manifest's paths are written in lower case.
fn has_ending(file: &str, ending: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

//! What the benches of speech keep: `runs/speech/<id>/`.
//!
//! - `manifest.json` ([`Manifest`]): what was measured, on what, with what. Written once, before the first pass.
//! - `passes.jsonl`: one pass a line, appended and flushed as it ends, so that a run that was stopped loses nothing
//!   that was finished. A last line that was cut off is no pass and is taken away when the run goes on.
//!
//! A pass names itself ([`Pass::key`]); to resume is to run what has no line yet. Files of a newer format are refused.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The format that is written, and the newest that is read.
pub const FORMAT: u32 = 1;
/// The folder under that of all runs.
const FOLDER: &str = "speech";
const MANIFEST: &str = "manifest.json";
const PASSES: &str = "passes.jsonl";
const MOST_MANIFEST_BYTES: u64 = 64 << 20;
const MOST_LINE_BYTES: u64 = 16 << 20;

/// Why a run cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}{}: {problem}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// A newer program wrote it.
    #[error("{path}: format {found} is newer than {FORMAT}, which this program knows")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// No run has this name.
    #[error("there is no run {query} of bench {bench} in {folder}")]
    Unknown {
        /// What was asked for.
        query: String,
        /// Of which bench.
        bench: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Several runs begin like this.
    #[error("{query} is the beginning of {} runs: {}", found.len(), found.join(", "))]
    Several {
        /// What was asked for.
        query: String,
        /// Their ids.
        found: Vec<String>,
    },
    /// Another process is writing it.
    #[error("run {id} is being written by another process")]
    Busy {
        /// The run.
        id: String,
    },
    /// The run measured something else.
    #[error("run {id} cannot go on: {problem}")]
    Different {
        /// The run.
        id: String,
        /// What is not the same.
        problem: String,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the folder of runs (--runs-dir), its permissions and free space",
            Self::Invalid { .. } => "restore the file from a copy, or start a run anew",
            Self::Newer { .. } => "update tenpass: runs of older formats stay readable",
            Self::Unknown { .. } => "name a run by its id, by how its id begins, or as `latest`",
            Self::Several { .. } => "type more of the id",
            Self::Busy { .. } => "wait for it, or stop it with Ctrl-C: what is finished is kept",
            Self::Different { .. } => "leave --resume away to start a run of its own",
        }
    }
}

/// An engine or model that took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// As it was named.
    pub spec: String,
    /// SHA-256 of its file.
    pub digest: String,
}

/// A corpus that took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// Its name.
    pub name: String,
    /// SHA-256 over its manifest or files.
    pub digest: String,
    /// How many clips of it were used.
    pub clips: u64,
}

/// Where the numbers come from: program, source and machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Revision of the source it was run in, when there is one.
    #[serde(default)]
    pub revision: Option<String>,
    /// Whether tracked files differed from it.
    #[serde(default)]
    pub dirty: bool,
    /// The machine.
    #[serde(default)]
    pub hardware: Value,
    /// What was typed.
    #[serde(default)]
    pub passed: Map<String, Value>,
    /// What was filled in.
    #[serde(default)]
    pub defaulted: Map<String, Value>,
}

/// `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the files.
    pub format: u32,
    /// The run.
    pub id: String,
    /// Its bench: `stt`, `wake`, `turn`, `barge`, `blind`.
    pub bench: String,
    /// When it was started, RFC 3339.
    pub started: String,
    /// Program, source, machine, arguments.
    pub provenance: Provenance,
    /// Engines and models.
    pub engines: Vec<EngineRecord>,
    /// Corpora.
    pub corpora: Vec<CorpusRecord>,
    /// Where randomness comes from.
    pub seed: u64,
    /// Whatever else the bench needs to score the passes again.
    #[serde(default)]
    pub details: Value,
}

/// One line of `passes.jsonl`, or of another file of the run.
pub trait Pass: Serialize + DeserializeOwned {
    /// The file in the run's folder.
    const FILE: &'static str = PASSES;

    /// Names the pass in its run.
    fn key(&self) -> String;
}

/// A run on disk.
#[derive(Debug, Clone)]
pub struct SpeechRun {
    folder: PathBuf,
    manifest: Manifest,
}

impl SpeechRun {
    /// Starts a run of a bench below the folder of all runs. `fill` completes the manifest.
    pub fn create(runs: &Path, bench: &str, fill: impl FnOnce(&mut Manifest)) -> Result<Self, StoreError> {
        let now = jiff::Timestamp::now();
        let id = new_id(now);
        let mut manifest = Manifest {
            format: FORMAT,
            id: id.clone(),
            bench: bench.to_owned(),
            started: jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string(),
            provenance: Provenance::default(),
            engines: Vec::new(),
            corpora: Vec::new(),
            seed: 0,
            details: Value::Null,
        };
        fill(&mut manifest);
        let folder = runs.join(FOLDER).join(&id);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::File { path, source }
        };
        let parent = runs.join(FOLDER);
        std::fs::create_dir_all(&parent).map_err(failed(&parent))?;
        // A folder that exists is another run's.
        std::fs::create_dir(&folder).map_err(failed(&folder))?;
        let path = folder.join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).map_err(|error| failed(&path)(error.into()))?;
        let partial = folder.join("manifest.json.partial");
        let write = || {
            let mut file = File::create(&partial)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&partial, &path)
        };
        write().map_err(failed(&path))?;
        Ok(Self { folder, manifest })
    }

    /// Opens the run in a folder.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(MANIFEST);
        let failed = |source| StoreError::File { path: path.clone(), source };
        let mut text = String::new();
        let file = File::open(&path).map_err(failed)?;
        file.take(MOST_MANIFEST_BYTES).read_to_string(&mut text).map_err(failed)?;
        let invalid = |error: &serde_json::Error| StoreError::Invalid {
            path: path.clone(),
            line: Some(error.line()),
            problem: error.to_string(),
        };
        // The format first: a newer file may have any shape.
        let value: Value = serde_json::from_str(&text).map_err(|error| invalid(&error))?;
        match value["format"].as_u64() {
            Some(found) if found > u64::from(FORMAT) => return Err(StoreError::Newer { path, found }),
            Some(_) => {}
            None => {
                return Err(StoreError::Invalid { path, line: None, problem: "there is no `format`".to_owned() });
            }
        }
        let manifest = serde_json::from_str(&text).map_err(|error| invalid(&error))?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// Finds a run of a bench: `latest`, an id, or how one begins.
    pub fn find(runs: &Path, bench: &str, query: &str) -> Result<Self, StoreError> {
        let folder = runs.join(FOLDER);
        let unknown =
            || StoreError::Unknown { query: query.to_owned(), bench: bench.to_owned(), folder: folder.clone() };
        let mut ids = ids(&folder)?;
        if query != "latest" {
            ids.retain(|id| id.starts_with(query));
            if let Some(exact) = ids.iter().position(|id| id == query) {
                ids = vec![ids.swap_remove(exact)];
            }
        }
        let mut found = Vec::new();
        for id in ids {
            match Self::open(&folder.join(&id)) {
                Ok(run) if run.manifest.bench == bench => found.push(run),
                Ok(_) => {}
                // An exact name deserves its own error; others may be broken without being in the way.
                Err(error) if id == query => return Err(error),
                Err(_) => {}
            }
        }
        if query == "latest" || found.len() < 2 {
            return found.pop().ok_or_else(unknown);
        }
        Err(StoreError::Several {
            query: query.to_owned(),
            found: found.iter().map(|run| run.manifest.id.clone()).collect(),
        })
    }

    /// The runs of a bench, oldest first; broken ones are left out.
    pub fn list(runs: &Path, bench: &str) -> Result<Vec<Self>, StoreError> {
        let folder = runs.join(FOLDER);
        let opened = ids(&folder)?.into_iter().filter_map(|id| Self::open(&folder.join(id)).ok());
        Ok(opened.filter(|run| run.manifest.bench == bench).collect())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it measures.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Every finished pass, in the order they ended. Of two with one name the later counts.
    pub fn passes<P: Pass>(&self) -> Result<Vec<P>, StoreError> {
        let path = self.folder.join(P::FILE);
        let failed = |source| StoreError::File { path: path.clone(), source };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut reader = BufReader::new(file);
        let mut passes: Vec<P> = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        for number in 1.. {
            let mut line = Vec::new();
            let read = reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line).map_err(failed)?;
            // What was cut off is no pass.
            if read == 0 || line.last() != Some(&b'\n') {
                break;
            }
            let pass: P = serde_json::from_slice(&line).map_err(|error| StoreError::Invalid {
                path: path.clone(),
                line: Some(number),
                problem: error.to_string(),
            })?;
            match places.insert(pass.key(), passes.len()) {
                None => passes.push(pass),
                Some(before) => {
                    places.insert(pass.key(), before);
                    passes[before] = pass;
                }
            }
        }
        Ok(passes)
    }

    /// The names of the finished passes.
    pub fn done<P: Pass>(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.passes::<P>()?.iter().map(Pass::key).collect())
    }

    /// Appends passes; one writer at a time.
    pub fn writer(&self) -> Result<Writer, StoreError> {
        self.writer_of(PASSES)
    }

    /// Appends to the file of one kind of passes ([`Pass::FILE`]); one writer at a time.
    pub fn writer_of(&self, file: &str) -> Result<Writer, StoreError> {
        let path = self.folder.join(file);
        let failed = |source| StoreError::File { path: path.clone(), source };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(StoreError::Busy { id: self.manifest.id.clone() });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        let whole = whole_lines(&mut file).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        Ok(Writer { file, path })
    }
}

/// Appends to a file of passes.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// Writes a pass and hands it to the system before it returns.
    pub fn append<P: Pass>(&mut self, pass: &P) -> Result<(), StoreError> {
        let failed = |source| StoreError::File { path: self.path.clone(), source };
        let mut line = serde_json::to_vec(pass).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        // One write a line: another reader sees all of it, or none.
        self.file.write_all(&line).and_then(|()| self.file.flush()).map_err(failed)
    }
}

/// Bytes up to the last line end.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        block.clear();
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(file).take(end - start).read_to_end(&mut block)?;
        if let Some(last) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The ids below a folder, oldest first: they begin with the time.
fn ids(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::File { path: folder.to_owned(), source }),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut ids: Vec<String> = names.filter(|name| folder.join(name).join(MANIFEST).is_file()).collect();
    ids.sort();
    Ok(ids)
}

/// UTC time and four letters, as runs of language models are called. The first two count milliseconds, so that runs of
/// one second sort in the order they were started; the others are random.
fn new_id(now: jiff::Timestamp) -> String {
    const LETTERS: &[u8] = b"23456789abcdefghjkmnpqrstuvwxyz";
    let count = LETTERS.len() as u64;
    let step = u64::try_from(now.subsec_millisecond()).unwrap_or(0) * count * count / 1000;
    let random = RandomState::new().hash_one((std::process::id(), now.as_nanosecond()));
    let mut id = now.strftime("%Y%m%d-%H%M%S-").to_string();
    for digit in [step / count, step, random, random / count] {
        id.push(char::from(LETTERS[(digit % count) as usize]));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Counted {
        name: String,
        value: u32,
    }

    impl Pass for Counted {
        fn key(&self) -> String {
            self.name.clone()
        }
    }

    fn pass(name: &str, value: u32) -> Counted {
        Counted { name: name.to_owned(), value }
    }

    fn new(runs: &Path) -> SpeechRun {
        SpeechRun::create(runs, "stt", |manifest| manifest.seed = 7).unwrap()
    }

    #[test]
    fn what_was_appended_is_read_and_the_cut_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let run = new(folder.path());
        assert!(run.passes::<Counted>().unwrap().is_empty());
        let mut writer = run.writer().unwrap();
        writer.append(&pass("a", 1)).unwrap();
        writer.append(&pass("b", 2)).unwrap();
        drop(writer);
        let path = run.folder().join(PASSES);
        // The process was killed in the middle of a line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"name\":\"c\",\"val").unwrap();
        assert_eq!(run.passes::<Counted>().unwrap(), [pass("a", 1), pass("b", 2)]);
        let mut writer = run.writer().unwrap();
        writer.append(&pass("c", 3)).unwrap();
        writer.append(&pass("a", 9)).unwrap();
        drop(writer);
        assert_eq!(run.passes::<Counted>().unwrap(), [pass("a", 9), pass("b", 2), pass("c", 3)]);
        assert_eq!(run.done::<Counted>().unwrap().len(), 3);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let run = new(folder.path());
        std::fs::write(run.folder().join(PASSES), "{\"name\":\"a\",\"value\":1}\n{oops}\n").unwrap();
        let error = run.passes::<Counted>().unwrap_err().to_string();
        assert!(error.contains("passes.jsonl, line 2"), "{error}");
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let run = new(folder.path());
        let first = run.writer().unwrap();
        assert!(matches!(run.writer(), Err(StoreError::Busy { .. })));
        drop(first);
        assert!(run.writer().is_ok());
    }

    #[test]
    fn ids_sort_by_time_within_a_second() {
        let at = |ms: i64| new_id(jiff::Timestamp::from_millisecond(1_790_000_000_000 + ms).unwrap());
        let ids: Vec<String> = (0..1000).step_by(2).map(at).collect();
        assert!(ids.windows(2).all(|pair| pair[0][..18] < pair[1][..18]), "{:?}", &ids[..3]);
        assert!(ids.iter().all(|id| id.len() == 20));
    }

    #[test]
    fn runs_are_found_by_name_and_bench_and_newer_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let first = new(folder.path());
        let other = SpeechRun::create(folder.path(), "wake", |_| {}).unwrap();
        let find = |query: &str| SpeechRun::find(folder.path(), "stt", query);
        assert_eq!(find("latest").unwrap().manifest(), first.manifest());
        assert_eq!(find(&first.manifest().id).unwrap().manifest().seed, 7);
        assert!(matches!(find(&other.manifest().id), Err(StoreError::Unknown { .. })));
        let second = new(folder.path());
        assert!(matches!(find("2"), Err(StoreError::Several { .. })));
        assert_eq!(SpeechRun::list(folder.path(), "stt").unwrap().len(), 2);
        let path = second.folder().join(MANIFEST);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"format\": 1", "\"format\": 2", 1)).unwrap();
        assert!(matches!(find(&second.manifest().id), Err(StoreError::Newer { found: 2, .. })));
        std::fs::write(&path, "{").unwrap();
        assert!(matches!(find(&second.manifest().id), Err(StoreError::Invalid { .. })));
        assert!(matches!(
            SpeechRun::find(&folder.path().join("none"), "stt", "latest"),
            Err(StoreError::Unknown { .. })
        ));
    }
}

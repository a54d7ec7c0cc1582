//! Where an imported run comes from: `imported.json` in its folder, so that a file is not read twice unawares.
//!
//! ```json
//! { "format": "inspect", "file": "2026-11-30.eval", "sha256": "…" }
//! ```

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenpass_bench::store::{Run, list_runs};

use crate::ExchangeError;

/// File name within the run's folder.
const FILE: &str = "imported.json";
/// Bytes read at a time.
const BLOCK: usize = 1 << 16;

/// A file, or a folder of files, that a run was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The format, as it is typed: `inspect`, `llama-tool-bench`.
    pub format: String,
    /// The name of the file or folder, without where it lay.
    pub file: String,
    /// sha256 of the file; of a folder that of its files, by name.
    pub sha256: String,
}

impl Source {
    /// Of a file, or of the files of a folder, before it is imported.
    pub fn of(format: &str, path: &Path) -> Result<Self, ExchangeError> {
        let mut hash = Sha256::new();
        if path.is_dir() {
            for file in files_in(path)? {
                add(&mut hash, &file)?;
            }
        } else {
            add(&mut hash, path)?;
        }
        let file = path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string());
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { format: format.to_owned(), file, sha256 })
    }

    /// Of a run that was imported; `None` of one that was measured here, or imported before sources were kept.
    pub fn of_run(run: &Run) -> Option<Self> {
        serde_json::from_slice(&fs::read(run.directory().join(FILE)).ok()?).ok()
    }

    /// The run of `store` that was read from the same bytes.
    pub fn known(&self, store: &Path) -> Result<Option<String>, ExchangeError> {
        let mut runs = list_runs(store)?.into_iter().filter_map(|entry| entry.run.ok());
        let is_same = |run: &Run| Self::of_run(run).is_some_and(|other| other.sha256 == self.sha256);
        Ok(runs.find(is_same).map(|run| run.id().to_owned()))
    }

    /// Keeps it with the run.
    pub fn keep(&self, run: &Run) -> Result<(), ExchangeError> {
        let path = run.directory().join(FILE);
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| ExchangeError::write(&path, error.into()))?;
        text.push(b'\n');
        fs::write(&path, text).map_err(|error| ExchangeError::write(&path, error))
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, ExchangeError> {
    let failed = |error: io::Error| ExchangeError::read(folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn add(hash: &mut Sha256, path: &Path) -> Result<(), ExchangeError> {
    let failed = |error: io::Error| ExchangeError::read(path, error);
    let mut file = File::open(path).map_err(failed)?;
    let mut block = vec![0; BLOCK];
    loop {
        let count = file.read(&mut block).map_err(failed)?;
        if count == 0 {
            return Ok(());
        }
        hash.update(&block[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_its_bytes_and_not_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (a, b, c) = (write("a.eval", "abc"), write("b.eval", "abc"), write("c.eval", "abd"));
        let of = |path: &Path| Source::of("inspect", path).unwrap();
        assert_eq!(of(&a).sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!((of(&a).sha256, of(&b).file.as_str()), (of(&b).sha256, "b.eval"));
        assert_ne!(of(&a).sha256, of(&c).sha256);
        let before = of(folder.path()).sha256;
        fs::write(&c, "abe").unwrap();
        assert_ne!(of(folder.path()).sha256, before);
        assert!(Source::of("inspect", &folder.path().join("none")).is_err());
        assert_eq!(of(&a).known(&folder.path().join("runs")).unwrap(), None, "an empty store knows nothing");
    }
}

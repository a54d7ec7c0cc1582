//! The note beside an asset that saves hashing it again: what was hashed, and when it last changed.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::{Asset, digest};

/// The note's name inside the asset's folder.
pub(crate) const NAME: &str = ".tenpass.json";
/// The newest form that this version writes and reads.
const VERSION: u32 = 1;

/// One file of an asset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Relative to the asset's folder, with `/`.
    pub(crate) path: String,
    /// Bytes.
    pub(crate) size: u64,
    /// Nanoseconds since 1970 of the last change.
    pub(crate) modified_ns: u64,
    /// Lower-case hex.
    pub(crate) sha256: String,
}

/// The note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sidecar {
    version: u32,
    /// The asset's own hash.
    pub(crate) sha256: String,
    pub(crate) files: Vec<FileRecord>,
}

impl Sidecar {
    /// Reads the note of a folder. Anything unreadable counts as no note: the files are hashed again.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(NAME)).ok()?;
        serde_json::from_slice(&text).ok().filter(|sidecar: &Self| sidecar.version <= VERSION)
    }

    /// Hashes an asset's files as they are. A file asset is its one file, a folder asset everything.
    pub(crate) fn measure(asset: &Asset, folder: &Path) -> io::Result<Self> {
        let paths = match &asset.file {
            Some(file) => vec![file.clone()],
            None => files_below(folder)?,
        };
        let files = paths
            .into_iter()
            .map(|path| {
                let (size, modified_ns) = facts(&folder.join(&path))?;
                let (sha256, _) = digest::file(&folder.join(&path))?;
                Ok(FileRecord { path, size, modified_ns, sha256 })
            })
            .collect::<io::Result<Vec<_>>>()?;
        let sha256 = match (&asset.file, files.first()) {
            (Some(_), Some(only)) => only.sha256.clone(),
            _ => digest::tree(files.iter().map(|file| (file.path.as_str(), file.sha256.as_str()))),
        };
        Ok(Self { version: VERSION, sha256, files })
    }

    /// True when every file still has the size and time of change noted, and none was added.
    pub(crate) fn is_current(&self, asset: &Asset, folder: &Path) -> bool {
        let unchanged = |file: &FileRecord| {
            facts(&folder.join(&file.path)).is_ok_and(|facts| facts == (file.size, file.modified_ns))
        };
        let complete = match &asset.file {
            Some(name) => self.files.len() == 1 && self.files[0].path == *name,
            None => files_below(folder).is_ok_and(|paths| paths.iter().eq(self.files.iter().map(|file| &file.path))),
        };
        complete && self.files.iter().all(unchanged)
    }

    /// Writes the note, by a rename.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other)?;
        let temporary = folder.join(format!("{NAME}.{}", std::process::id()));
        std::fs::write(&temporary, text)?;
        std::fs::rename(&temporary, folder.join(NAME))
    }
}

/// Size and time of change of a regular file.
fn facts(path: &Path) -> io::Result<(u64, u64)> {
    let data = std::fs::metadata(path)?;
    if !data.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let modified = data.modified()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    Ok((data.len(), modified.as_nanos() as u64))
}

/// Every file below a folder in byte order of its path, our notes apart.
fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    fn walk(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|_| io::Error::other("a file name is not UTF-8"))?;
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            if entry.file_type()?.is_dir() {
                walk(&entry.path(), &path, paths)?;
            } else if !path.starts_with(NAME) {
                paths.push(path);
            }
        }
        Ok(())
    }
    let mut paths = Vec::new();
    walk(folder, "", &mut paths)?;
    paths.sort_unstable();
    Ok(paths)
}

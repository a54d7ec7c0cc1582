//! Files of a world on disk: written with the world's time, and looked at afterwards.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::played::FileState;
use crate::store::sha256_hex;

/// Longest file whose text is kept.
const TEXT_BYTES: usize = 4_096;
/// Most that is read of a file of a world.
const MOST_BYTES: u64 = 64 << 20;

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, text: &str, time: SystemTime) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    set_time(path, time)
}

/// Makes a file of this many bytes, which takes no room.
pub(super) fn write_sized(path: &Path, bytes: u64, time: SystemTime) -> io::Result<()> {
    let file = File::create(path)?;
    file.set_len(bytes)?;
    file.set_times(FileTimes::new().set_modified(time))
}

fn set_time(path: &Path, time: SystemTime) -> io::Result<()> {
    File::open(path)?.set_times(FileTimes::new().set_modified(time))
}

/// Gives everything below `root` this time, so that what a tool wrote was written at the world's
/// time. A system that refuses shows the real time.
pub(super) fn settle(root: &Path, time: SystemTime) {
    let Ok(entries) = walk(root) else { return };
    for entry in entries.iter().rev().filter(|entry| entry.kind != Kind::Link) {
        if fs::metadata(&entry.path).and_then(|metadata| metadata.modified()).ok() != Some(time) {
            let _ = set_time(&entry.path, time);
        }
    }
    let _ = set_time(root, time);
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
}

/// Something in a folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Below the root, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// Everything below a folder, links not followed, a folder before what is in it.
pub(super) fn walk(root: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    let mut waiting = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = match entry.file_type()? {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::File,
            };
            if kind == Kind::Folder {
                waiting.push((entry.path(), format!("{name}/")));
            }
            found.push(Entry { name, path: entry.path(), kind });
        }
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

/// The files below a folder, with their state.
pub(super) fn states(root: &Path) -> io::Result<BTreeMap<String, FileState>> {
    let files = walk(root)?.into_iter().filter(|entry| entry.kind == Kind::File);
    files.map(|entry| Ok((entry.name, state(&entry.path)?))).collect()
}

fn state(path: &Path) -> io::Result<FileState> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let sha256 = sha256_hex(&bytes);
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= TEXT_BYTES);
    Ok(FileState { sha256, text })
}

//! Where files go: the system's trash, or a folder laid out like one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Zoned;

/// Why a file stays where it is.
#[derive(Debug, thiserror::Error)]
#[error("{path:?} could not be moved to the trash: {reason}")]
pub struct TrashError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub reason: String,
}

/// A place that files can be taken back from.
pub trait Trash: Send + Sync {
    /// Moves one file there, whole or not at all.
    fn put(&self, path: &Path, now: &Zoned) -> Result<(), TrashError>;
}

/// The trash of the desktop (freedesktop, macOS, Windows).
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTrash;

impl Trash for SystemTrash {
    fn put(&self, path: &Path, _now: &Zoned) -> Result<(), TrashError> {
        trash::delete(path).map_err(|error| TrashError { path: path.to_owned(), reason: error.to_string() })
    }
}

/// A folder laid out as the freedesktop trash specification 1.0 says: `files/NAME` with
/// `info/NAME.trashinfo`. For simulated worlds and tests, and for machines without a desktop.
#[derive(Debug, Clone)]
pub struct FolderTrash {
    folder: PathBuf,
}

impl FolderTrash {
    /// A trash in this folder, which is created when first used. It has to be on the same file
    /// system as what is put there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where everything in it came from, sorted.
    pub fn origins(&self) -> io::Result<Vec<PathBuf>> {
        let infos = match fs::read_dir(self.folder.join("info")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            infos => infos?,
        };
        let mut origins = Vec::new();
        for info in infos {
            let text = fs::read_to_string(info?.path())?;
            origins.extend(text.lines().find_map(|line| Some(PathBuf::from(decoded(line.strip_prefix("Path=")?)))));
        }
        origins.sort();
        Ok(origins)
    }

    fn move_in(&self, path: &Path, now: &Zoned) -> io::Result<()> {
        let (files, infos) = (self.folder.join("files"), self.folder.join("info"));
        fs::create_dir_all(&files)?;
        fs::create_dir_all(&infos)?;
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_string_lossy().into_owned();
        let content = format!(
            "[Trash Info]\nPath={}\nDeletionDate={}\n",
            encoded(&path.to_string_lossy()),
            now.strftime("%Y-%m-%dT%H:%M:%S")
        );
        for number in 1..10_000_u32 {
            let own = if number == 1 { name.clone() } else { format!("{name}.{number}") };
            let info = infos.join(format!("{own}.trashinfo"));
            // The information is written first: its name is the reservation.
            let mut file = match OpenOptions::new().write(true).create_new(true).open(&info) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let target = files.join(&own);
            let moved = if fs::symlink_metadata(&target).is_ok() {
                // Something without information stands there; it is not ours to replace.
                let _ = fs::remove_file(&info);
                continue;
            } else {
                file.write_all(content.as_bytes()).and_then(|()| fs::rename(path, &target))
            };
            if moved.is_err() {
                let _ = fs::remove_file(&info);
            }
            return moved;
        }
        Err(io::Error::other("the trash has too many files of this name"))
    }
}

impl Trash for FolderTrash {
    fn put(&self, path: &Path, now: &Zoned) -> Result<(), TrashError> {
        self.move_in(path, now).map_err(|error| TrashError { path: path.to_owned(), reason: error.to_string() })
    }
}

/// Percent codes for everything but plain characters and `/`.
fn encoded(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let code =
            after.first_chunk::<2>().and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! One whitelisted folder, as a handle, and what of it may be planned.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::files::{Identity, Protected, identity, invisible, sensitive};

/// Most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 50_000;

/// A file of a plan, with all that must still hold when it is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) modified: SystemTime,
    identity: Identity,
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    /// Canonical.
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Everything that may be planned, oldest first.
    pub(crate) entries: Vec<Entry>,
    /// Folders, links, hidden, sensitive and protected entries, which never are.
    pub(crate) left_out: usize,
    /// The folder holds more than were looked at.
    pub(crate) more: bool,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        let identity = identity(&dir.dir_metadata()?);
        Ok(Self { dir, path, identity })
    }

    /// Looks at every direct child.
    pub(crate) fn scan(&self, protected: &Protected) -> io::Result<Scan> {
        let mut scan = Scan::default();
        for (seen, entry) in self.dir.entries()?.enumerate() {
            if seen >= MOST_ENTRIES {
                scan.more = true;
                break;
            }
            let found = entry.ok().and_then(|entry| self.entry(entry.file_name().to_str()?, protected));
            match found {
                Some(entry) => scan.entries.push(entry),
                None => scan.left_out += 1,
            }
        }
        scan.entries.sort_by(|left, right| (left.modified, &left.name).cmp(&(right.modified, &right.name)));
        Ok(scan)
    }

    /// The entry, when it may be planned.
    fn entry(&self, name: &str, protected: &Protected) -> Option<Entry> {
        if name.starts_with('.') || name.chars().any(invisible) {
            return None;
        }
        let path = self.path.join(name);
        if sensitive(name).is_some() || protected.covers(&path) || protected.lies_beneath(&path) {
            return None;
        }
        let metadata = self.dir.symlink_metadata(name).ok()?;
        let identity = identity(&metadata);
        if !metadata.is_file() || metadata.nlink() != 1 || hidden(&metadata) || protected.is(identity) {
            return None;
        }
        Some(Entry {
            name: name.to_owned(),
            bytes: metadata.len(),
            modified: metadata.modified().ok()?.into_std(),
            identity,
        })
    }

    /// The file is, on its own handle, still the one that was planned.
    pub(crate) fn unchanged(&self, entry: &Entry, protected: &Protected) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        // Where the content may not be read, the entry itself has to do.
        let metadata = match self.dir.open_with(&entry.name, &options) {
            Ok(file) => file.metadata(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.dir.symlink_metadata(&entry.name),
            Err(error) => Err(error),
        };
        metadata
            .is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1 && identity(&metadata) == entry.identity)
            && self.entry(&entry.name, protected).as_ref() == Some(entry)
    }

    /// There is nothing under this name any more.
    pub(crate) fn is_gone(&self, name: &str) -> bool {
        self.dir.symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

#[cfg(windows)]
fn hidden(metadata: &Metadata) -> bool {
    use cap_std::fs::MetadataExt as _;
    const HIDDEN_OR_SYSTEM: u32 = 0x2 | 0x4;
    metadata.file_attributes() & HIDDEN_OR_SYSTEM != 0
}

#[cfg(not(windows))]
fn hidden(_metadata: &Metadata) -> bool {
    false
}

//! Which documents a folder holds. Links are never followed, neither now nor between looking and
//! reading: every name is opened relative to the handle of its folder.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::files::{Protected, identity, sensitive};

/// Most documents, deepest folder, largest document in bytes.
const MAX_DOCUMENTS: usize = 5_000;
const MAX_DEPTH: usize = 8;
const MAX_BYTES: u64 = 20 << 20;
/// Most entries that are looked at.
const MAX_ENTRIES: usize = 50_000;

/// One document.
#[derive(Debug)]
pub(super) struct Found {
    folder: std::sync::Arc<Dir>,
    name: String,
    /// Changes with time and size.
    pub(super) stamp: String,
}

impl Found {
    /// Its bytes, if it still is a plain file with one name and no larger than allowed.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let file = self.folder.open_with(&self.name, &options)?;
        if !is_plain(&file.metadata()?) {
            return Err(io::Error::other("no plain file"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// A regular file of a size that is read, with no second name: a hard link could lead to a file
/// from outside the folder.
fn is_plain(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() <= MAX_BYTES && metadata.nlink() == 1
}

/// The documents under `root` by their name in it (`/` between folders), as far as `reads` wants
/// them. Hidden, sensitive and protected ones are left out.
pub(super) fn documents(
    root: &Path,
    protected: &Protected,
    reads: impl Fn(&str) -> bool,
) -> io::Result<BTreeMap<String, Found>> {
    let mut found = BTreeMap::new();
    let mut entries = 0;
    let mut folders = vec![(String::new(), Dir::open_ambient_dir(root, ambient_authority())?, 0)];
    while let Some((path, folder, depth)) = folders.pop() {
        let folder = std::sync::Arc::new(folder);
        // A folder that cannot be listed hides nothing else.
        let Ok(listing) = folder.entries() else { continue };
        for entry in listing.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES || found.len() >= MAX_DOCUMENTS {
                return Ok(found);
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            let full = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            if name.starts_with('.') || name.starts_with('~') || sensitive(&full).is_some() {
                continue;
            }
            let Ok(metadata) = folder.symlink_metadata(&name) else { continue };
            // The application's own memory and journals are no documents, wherever they lie.
            if protected.covers(&root.join(&full)) || protected.is(identity(&metadata)) {
                continue;
            }
            if metadata.is_dir() && depth < MAX_DEPTH {
                if let Ok(inner) = folder.open_dir_nofollow(&name) {
                    folders.push((full, inner, depth + 1));
                }
            } else if is_plain(&metadata) && reads(&name) {
                let stamp = stamp(&metadata);
                found.insert(full, Found { folder: std::sync::Arc::clone(&folder), name, stamp });
            }
        }
    }
    Ok(found)
}

fn stamp(metadata: &Metadata) -> String {
    let modified = metadata.modified().map_or(UNIX_EPOCH, cap_std::time::SystemTime::into_std);
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}.{:09}-{}", since.as_secs(), since.subsec_nanos(), metadata.len())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(root: &Path) -> Vec<String> {
        documents(root, &Protected::default(), |name| name.contains(".txt")).unwrap().into_keys().collect()
    }

    #[test]
    fn hidden_sensitive_linked_and_unreadable_things_are_left_out() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.txt"), "outside").unwrap();
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["sub", ".hidden", ".ssh", "a/b"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for name in [
            "one.txt",
            "sub/two.txt",
            "a/b/three.txt",
            ".four.txt",
            ".hidden/five.txt",
            ".ssh/six.txt",
            "passwords.txt",
            "seven.bin",
            "~eight.txt",
        ] {
            fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), at("link.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), at("folder")).unwrap();
        std::os::unix::fs::symlink(root.path(), at("loop")).unwrap();
        fs::hard_link(outside.path().join("secret.txt"), at("hard.txt")).unwrap();
        fs::File::create(at("huge.txt")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(names(root.path()), ["a/b/three.txt", "one.txt", "sub/two.txt"]);
    }

    #[test]
    fn a_file_that_became_a_link_is_not_read() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.txt"), "outside").unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("one.txt"), "inside").unwrap();
        let found = documents(root.path(), &Protected::default(), |_| true).unwrap();
        assert_eq!(found["one.txt"].read().unwrap(), b"inside");
        fs::remove_file(root.path().join("one.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), root.path().join("one.txt")).unwrap();
        assert!(found["one.txt"].read().is_err());
    }
}

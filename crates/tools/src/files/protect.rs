//! What no tool may reach even where it lies beneath a root: the application's own files.
//!
//! A protected path is compared twice. As a path, because it may not exist yet, and creating the
//! configuration is as bad as changing it. As an identity (device and file number), because a
//! bind mount or another spelling leads to the same place under another path.

use std::path::{Path, PathBuf};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Metadata;

use super::name::fold;

/// Device and file number of something on disk.
pub(crate) type Identity = (u64, u64);

/// The identity of what a handle or an entry is.
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// The identity of what stands at a path now, links followed.
pub(crate) fn identity_at(path: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(identity(&Metadata::from_just_metadata(metadata)))
}

/// The protected paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Protected {
    /// Absolute, links resolved as far as they existed, and folded for comparison.
    folded: Vec<PathBuf>,
    /// As given, to look their identities up when they exist.
    paths: Vec<PathBuf>,
}

impl Protected {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let absolute: Vec<PathBuf> =
            paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect();
        let mut folded: Vec<PathBuf> = absolute.iter().map(|path| folded(path)).collect();
        folded.extend(absolute.iter().map(|path| self::folded(&canonical(path))));
        Self { folded, paths: absolute }
    }

    /// The path is protected or lies beneath something that is.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        let path = folded(path);
        self.folded.iter().any(|protected| path.starts_with(protected))
    }

    /// Something protected is to lie beneath the path, which therefore must not become a file.
    pub(crate) fn lies_beneath(&self, path: &Path) -> bool {
        let path = folded(path);
        self.folded.iter().any(|protected| protected.starts_with(&path))
    }

    /// What stands there is one of the protected files or folders.
    pub(crate) fn is(&self, identity: Identity) -> bool {
        self.paths.iter().any(|path| identity_at(path) == Some(identity))
    }
}

/// The path with the links of its existing part resolved.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    match existing {
        Some((ancestor, resolved)) => match path.strip_prefix(ancestor) {
            Ok(rest) if rest.as_os_str().is_empty() => resolved,
            Ok(rest) => resolved.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

fn folded(path: &Path) -> PathBuf {
    path.components().map(|component| fold(&component.as_os_str().to_string_lossy())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_path_covers_itself_what_is_beneath_and_other_spellings() {
        let protected = Protected::new(&[PathBuf::from("/app/Config"), PathBuf::from("/app/mémoire.md")]);
        for path in ["/app/Config", "/app/config/x/y", "/app/CONFIG", "/app/me\u{301}moire.md"] {
            assert!(protected.covers(Path::new(path)), "{path}");
        }
        for path in ["/app", "/app/configuration", "/app/Config.bak", "/ap", "/"] {
            assert!(!protected.covers(Path::new(path)), "{path}");
        }
        assert!(protected.lies_beneath(Path::new("/app")));
        assert!(!protected.lies_beneath(Path::new("/apple")));
    }
}

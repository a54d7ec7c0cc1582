//! From a typed path to handles, one name at a time.
//!
//! Every folder on the way is opened relative to the handle of the folder before it, without
//! following links; a link is read, checked and walked in the same way. So there is no moment
//! between a check and a use: what was checked is the handle that is used, and a folder swapped
//! for a link makes the next step fail instead of leading somewhere else.

use std::collections::VecDeque;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};

use super::error::FileError;
use super::protect::{Protected, identity};

/// Most links that one path may pass.
const MOST_LINKS: usize = 16;

/// Where a walk ended.
pub(crate) struct Walked {
    /// The folder that the last name is in; for a root or folder itself, that folder.
    pub(crate) folder: Dir,
    /// Names from the root to `folder`, links resolved.
    pub(crate) above: Vec<String>,
    /// What was found.
    pub(crate) end: End,
    /// A link was passed.
    pub(crate) linked: bool,
}

/// What stands at the end of a path.
pub(crate) enum End {
    /// A folder; `Walked::folder` is its handle.
    Folder,
    /// Something that is neither folder nor link, under this name in `Walked::folder`.
    Entry(String, Metadata),
    /// A link, when the last name was not to be followed.
    Link,
    /// Nothing: the names that do not exist, first one first.
    Missing(Vec<String>),
}

impl Walked {
    /// Names from the root to the end.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = self.above.clone();
        match &self.end {
            End::Folder | End::Link => {}
            End::Entry(name, _) => names.push(name.clone()),
            End::Missing(rest) => names.extend(rest.iter().cloned()),
        }
        names
    }
}

/// One walk below one root.
pub(crate) struct Walk<'a> {
    /// The root's handle.
    pub(crate) root: &'a Dir,
    /// The root's canonical path.
    pub(crate) base: &'a Path,
    /// What must not be reached.
    pub(crate) protected: &'a Protected,
    /// The path as typed, for messages.
    pub(crate) typed: &'a str,
    /// Follow a link at the very end (reads do, writes do not).
    pub(crate) follow: bool,
}

impl Walk<'_> {
    /// Walks the names.
    pub(crate) fn go(&self, names: &[String]) -> Result<Walked, FileError> {
        let mut pending: VecDeque<String> = names.iter().cloned().collect();
        let mut stack: Vec<(String, Dir)> = Vec::new();
        let mut links = 0;
        while let Some(name) = pending.pop_front() {
            if name == ".." {
                // Only a link's target can say so.
                stack.pop().ok_or_else(|| self.leaves())?;
                continue;
            }
            let folder = stack.last().map_or(self.root, |(_, folder)| folder);
            self.check_path(&stack, &name)?;
            let metadata = match folder.symlink_metadata(&name) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    pending.push_front(name);
                    return self.missing(&stack, pending, links > 0);
                }
                Err(source) => return Err(self.io("looking up", source)),
            };
            if metadata.is_symlink() {
                if pending.is_empty() && !self.follow {
                    return self.ended(&stack, End::Link, links > 0);
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(FileError::LinkLoop { path: self.typed.to_owned() });
                }
                let target = folder.read_link_contents(&name).map_err(|source| self.io("reading the link", source))?;
                self.target(&target)?.into_iter().rev().for_each(|name| pending.push_front(name));
            } else if metadata.is_dir() {
                let next =
                    folder.open_dir_nofollow(&name).map_err(|source| self.swapped("opening the folder", source))?;
                self.check_folder(&next)?;
                stack.push((name, next));
            } else if pending.is_empty() {
                self.check_identity(&metadata)?;
                return self.ended(&stack, End::Entry(name, metadata), links > 0);
            } else {
                return Err(FileError::NotAFolder { path: self.typed.to_owned() });
            }
        }
        self.ended(&stack, End::Folder, links > 0)
    }

    /// A protected path is refused by name, whether it exists or not.
    fn check_path(&self, stack: &[(String, Dir)], name: &str) -> Result<(), FileError> {
        let mut path: PathBuf = self.base.to_owned();
        path.extend(stack.iter().map(|(name, _)| name));
        path.push(name);
        if self.protected.covers(&path) { Err(self.protected()) } else { Ok(()) }
    }

    /// A protected folder is refused by what it is, whatever it is called.
    pub(crate) fn check_folder(&self, folder: &Dir) -> Result<(), FileError> {
        let metadata = folder.dir_metadata().map_err(|source| self.io("looking up", source))?;
        self.check_identity(&metadata)
    }

    pub(crate) fn check_identity(&self, metadata: &Metadata) -> Result<(), FileError> {
        if self.protected.is(identity(metadata)) { Err(self.protected()) } else { Ok(()) }
    }

    /// A link's target as names; absolute ones leave the root by definition.
    fn target(&self, target: &Path) -> Result<Vec<String>, FileError> {
        target
            .components()
            .filter(|component| !matches!(component, Component::CurDir))
            .map(|component| match component {
                Component::Normal(name) => name.to_str().map(str::to_owned).ok_or_else(|| self.leaves()),
                Component::ParentDir => Ok("..".to_owned()),
                _ => Err(self.leaves()),
            })
            .collect()
    }

    fn missing(&self, stack: &[(String, Dir)], pending: VecDeque<String>, linked: bool) -> Result<Walked, FileError> {
        let rest: Vec<String> = pending.into();
        if rest.iter().any(|name| name == "..") {
            return Err(FileError::NotFound { path: self.typed.to_owned(), similar: None });
        }
        let mut path: PathBuf = self.base.to_owned();
        path.extend(stack.iter().map(|(name, _)| name));
        path.extend(&rest);
        if self.protected.covers(&path) {
            return Err(self.protected());
        }
        self.ended(stack, End::Missing(rest), linked)
    }

    fn ended(&self, stack: &[(String, Dir)], end: End, linked: bool) -> Result<Walked, FileError> {
        let folder = stack.last().map_or(self.root, |(_, folder)| folder);
        let folder = folder.try_clone().map_err(|source| self.io("opening the folder", source))?;
        let above = stack.iter().map(|(name, _)| name.clone()).collect();
        Ok(Walked { folder, above, end, linked })
    }

    fn leaves(&self) -> FileError {
        FileError::LinkLeaves { path: self.typed.to_owned() }
    }

    pub(crate) fn protected(&self) -> FileError {
        FileError::Protected { path: self.typed.to_owned() }
    }

    pub(crate) fn io(&self, action: &'static str, source: io::Error) -> FileError {
        FileError::Io { action, path: self.typed.to_owned(), source }
    }

    /// An entry that was a folder or file a moment ago and is a link now.
    pub(crate) fn swapped(&self, action: &'static str, source: io::Error) -> FileError {
        match source.kind() {
            io::ErrorKind::PermissionDenied => self.io(action, source),
            _ => FileError::Changed { path: self.typed.to_owned() },
        }
    }
}

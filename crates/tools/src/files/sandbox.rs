//! The folders that file tools may use, opened once as directory handles.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::error::FileError;
use super::name::{self, RootName, fold};
use super::protect::{Protected, canonical, identity, identity_at};
use super::sensitive::sensitive;
use super::walk::{End, Walk, Walked};

/// What a [`Sandbox`] is opened with.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// The one folder that may be written, created when absent. Paths are relative to it.
    pub root: PathBuf,
    /// Folders that may only be read, as (name, folder): `name/…` leads into them.
    pub read_only: Vec<(String, PathBuf)>,
    /// Files and folders that stay out of reach even beneath a root, existing or not yet:
    /// configuration, journals, memory, database, models.
    pub protected: Vec<PathBuf>,
    /// What `~` stands for; a path with it must still lie beneath a root.
    pub home: Option<PathBuf>,
    /// Most characters of a file that one call returns (R9: 8,000).
    pub read_cap: usize,
    /// Most characters that one call writes (R9: 50,000).
    pub write_cap: usize,
    /// Largest file that is opened, in bytes (R9: 50 MB).
    pub file_cap: u64,
}

impl SandboxOptions {
    /// The default caps, with only a writable root.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            read_only: Vec::new(),
            protected: Vec::new(),
            home: std::env::home_dir(),
            read_cap: 8_000,
            write_cap: 50_000,
            file_cap: 50 * 1_000_000,
        }
    }
}

/// Directory handles plus what is refused below them.
#[derive(Debug)]
pub struct Sandbox {
    roots: Vec<Root>,
    names: Vec<RootName>,
    protected: Protected,
    options: SandboxOptions,
}

#[derive(Debug)]
struct Root {
    folder: Dir,
    /// Canonical path.
    base: PathBuf,
}

/// A file's bytes and what its handle said about it.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: Option<SystemTime>,
}

/// What a path leads to, for an inspection.
#[derive(Debug)]
pub(crate) struct Located {
    /// The resolved path below its root, with the root's name.
    pub(crate) path: String,
    /// Why it is sensitive.
    pub(crate) sensitive: Option<&'static str>,
}

/// One entry of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: ItemKind,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemKind {
    Folder,
    File,
    Link,
    Special,
}

/// A folder's entries, sorted: folders first, then by name.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Item>,
    /// Entries whose name begins with a dot and that were not asked for.
    pub(crate) hidden: usize,
    /// The folder holds more than are looked at.
    pub(crate) more: bool,
}

/// Most entries of one folder that are looked at.
const MOST_ENTRIES: usize = 20_000;

impl Sandbox {
    /// Opens every root. The writable root is created when it is absent; a read-only one must exist.
    pub fn open(options: SandboxOptions) -> Result<Self, FileError> {
        std::fs::create_dir_all(&options.root).map_err(|source| root_error(&options.root, &source.to_string()))?;
        let mut roots = vec![open_root(&options.root)?];
        let mut names = vec![RootName { name: String::new(), absolute: absolute(&options.root, &roots[0].base) }];
        for (name, path) in &options.read_only {
            check_root_name(name, path, &names)?;
            let root = open_root(path)?;
            names.push(RootName { name: name.clone(), absolute: absolute(path, &root.base) });
            roots.push(root);
        }
        let protected = Protected::new(&options.protected);
        if let Some(root) = roots.iter().find(|root| protected.covers(&root.base)) {
            return Err(root_error(&root.base, "it belongs to the application itself"));
        }
        Ok(Self { roots, names, protected, options })
    }

    /// What it was opened with.
    pub fn options(&self) -> &SandboxOptions {
        &self.options
    }

    /// The canonical path of the writable root.
    pub fn root(&self) -> &Path {
        &self.roots[0].base
    }

    /// The names of the read-only roots.
    pub(crate) fn read_only_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().skip(1).map(|root| root.name.as_str())
    }

    /// Walks a typed path. Writes never follow a link at its end.
    pub(crate) fn walk(&self, path: &str, follow: bool) -> Result<(usize, Walked), FileError> {
        let typed = name::parse(path, &self.names, self.options.home.as_deref())?;
        let walked = self.walker(typed.root, path, follow).go(&typed.names)?;
        Ok((typed.root, walked))
    }

    pub(crate) fn walker<'a>(&'a self, root: usize, typed: &'a str, follow: bool) -> Walk<'a> {
        let Root { folder, base } = &self.roots[root];
        Walk { root: folder, base, protected: &self.protected, typed, follow }
    }

    /// Where a read of this path would lead, without opening the file.
    pub(crate) fn locate(&self, path: &str) -> Result<Located, FileError> {
        let (root, walked) = self.walk(path, true)?;
        self.located(path, root, &walked)
    }

    fn located(&self, path: &str, root: usize, walked: &Walked) -> Result<Located, FileError> {
        let resolved = self.shown(root, &walked.names());
        let by_place = sensitive(self.roots[root].base.join(walked.names().join("/")));
        let by_name = sensitive(path);
        match (by_name, by_place) {
            // The confirmation shows what was typed, so it must be what is read.
            (None, Some(what)) if walked.linked => Err(FileError::SensitiveLink { path: path.to_owned(), what }),
            (named, placed) => Ok(Located { path: resolved, sensitive: named.or(placed) }),
        }
    }

    /// A resolved path as a reader may type it again.
    pub(crate) fn shown(&self, root: usize, names: &[String]) -> String {
        let mut parts: Vec<&str> = Vec::new();
        if root > 0 {
            parts.push(&self.names[root].name);
        }
        parts.extend(names.iter().map(String::as_str));
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    /// Reads a file whole.
    pub(crate) fn read(&self, path: &str) -> Result<(Located, Content), FileError> {
        let (root, walked) = self.walk(path, true)?;
        let located = self.located(path, root, &walked)?;
        let name = match &walked.end {
            End::Entry(name, metadata) => {
                check_regular(path, metadata)?;
                name
            }
            End::Folder => return Err(FileError::NotAFile { path: path.to_owned(), kind: "a folder" }),
            End::Link => return Err(FileError::LinkLeaves { path: path.to_owned() }),
            End::Missing(rest) => return Err(not_found(path, &walked, rest)),
        };
        let walk = self.walker(root, path, true);
        let mut options = OpenOptions::new();
        options.read(true);
        let file = open_entry(&walk, &walked.folder, name, options)?;
        let content = self.read_handle(&walk, file)?;
        Ok((located, content))
    }

    /// Reads from a handle after judging the handle itself.
    pub(crate) fn read_handle(&self, walk: &Walk<'_>, mut file: File) -> Result<Content, FileError> {
        let metadata = self.check_handle(walk, &file)?;
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        let cap = self.options.file_cap;
        file.by_ref().take(cap + 1).read_to_end(&mut bytes).map_err(|source| walk.io("reading", source))?;
        // It may have grown since.
        if bytes.len() as u64 > cap {
            return Err(FileError::TooLarge { path: walk.typed.to_owned(), bytes: bytes.len() as u64, cap });
        }
        Ok(Content { bytes, modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std) })
    }

    /// The handle is a regular file with one name, not protected, and not too large.
    pub(crate) fn check_handle(&self, walk: &Walk<'_>, file: &File) -> Result<Metadata, FileError> {
        let metadata = file.metadata().map_err(|source| walk.io("looking up", source))?;
        check_regular(walk.typed, &metadata)?;
        walk.check_identity(&metadata)?;
        let cap = self.options.file_cap;
        if metadata.len() > cap {
            return Err(FileError::TooLarge { path: walk.typed.to_owned(), bytes: metadata.len(), cap });
        }
        Ok(metadata)
    }

    /// Lists a folder. Protected entries do not exist for it.
    pub(crate) fn list(&self, path: &str, hidden: bool) -> Result<(Located, Listing), FileError> {
        let (root, walked) = self.walk(path, true)?;
        let located = self.located(path, root, &walked)?;
        match &walked.end {
            End::Folder => {}
            End::Missing(rest) => return Err(not_found(path, &walked, rest)),
            End::Entry(..) | End::Link => return Err(FileError::NotAFolder { path: path.to_owned() }),
        }
        let walk = self.walker(root, path, true);
        let place = self.roots[root].base.join(walked.above.join("/"));
        let entries = walked.folder.entries().map_err(|source| walk.io("listing", source))?;
        let mut listing = Listing { items: Vec::new(), hidden: 0, more: false };
        for entry in entries.take(MOST_ENTRIES + 1) {
            if listing.items.len() + listing.hidden >= MOST_ENTRIES {
                listing.more = true;
                break;
            }
            let Ok(entry) = entry else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(metadata) = entry.metadata() else { continue };
            if self.protected.covers(&place.join(&name)) || self.protected.is(identity(&metadata)) {
                continue;
            }
            if name.starts_with('.') && !hidden {
                listing.hidden += 1;
                continue;
            }
            listing.items.push(item(name, &metadata));
        }
        listing.items.sort_by(|left, right| {
            (left.kind != ItemKind::Folder, fold(&left.name), &left.name).cmp(&(
                right.kind != ItemKind::Folder,
                fold(&right.name),
                &right.name,
            ))
        });
        Ok((located, listing))
    }

    /// A write below this root is allowed: it is the writable one, and no read-only root is
    /// reached through it.
    pub(crate) fn check_writable(&self, path: &str, root: usize, walked: &Walked) -> Result<(), FileError> {
        let read_only =
            |index: usize| FileError::ReadOnly { path: path.to_owned(), root: self.names[index].name.clone() };
        if root > 0 {
            return Err(read_only(root));
        }
        let place = self.roots[0].base.join(walked.names().join("/"));
        let inside = self.roots.iter().skip(1).position(|other| {
            place.starts_with(&other.base)
                || identity_at(&other.base).is_some_and(|known| {
                    walked.folder.dir_metadata().is_ok_and(|metadata| identity(&metadata) == known)
                })
        });
        inside.map_or(Ok(()), |index| Err(read_only(index + 1)))
    }

    pub(crate) fn protected(&self) -> &Protected {
        &self.protected
    }

    /// The canonical path of names below a root.
    pub(crate) fn place(&self, root: usize, names: &[String]) -> PathBuf {
        let mut place = self.roots[root].base.clone();
        place.extend(names);
        place
    }
}

/// Opens one entry of a folder without following a link and without waiting for a pipe's other end.
pub(crate) fn open_entry(
    walk: &Walk<'_>,
    folder: &Dir,
    name: &str,
    mut options: OpenOptions,
) -> Result<File, FileError> {
    options.follow(FollowSymlinks::No).nonblock(true);
    folder.open_with(name, &options).map_err(|source| walk.swapped("opening", source))
}

/// Regular, with one name.
pub(crate) fn check_regular(path: &str, metadata: &Metadata) -> Result<(), FileError> {
    if metadata.is_dir() {
        return Err(FileError::NotAFile { path: path.to_owned(), kind: "a folder" });
    }
    if !metadata.is_file() {
        return Err(FileError::NotAFile { path: path.to_owned(), kind: "a device, pipe or socket" });
    }
    match metadata.nlink() {
        0 => Err(FileError::Changed { path: path.to_owned() }),
        1 => Ok(()),
        links => Err(FileError::HardLinked { path: path.to_owned(), links }),
    }
}

/// Nothing there; perhaps something that differs only by case or accents.
pub(crate) fn not_found(path: &str, walked: &Walked, rest: &[String]) -> FileError {
    let similar = rest.first().and_then(|name| same_name(&walked.folder, name));
    FileError::NotFound { path: path.to_owned(), similar }
}

/// An entry whose name differs only by case or accents.
pub(crate) fn same_name(folder: &Dir, name: &str) -> Option<String> {
    let wanted = fold(name);
    let entries = folder.entries().ok()?;
    entries
        .take(MOST_ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|existing| existing != name && fold(existing) == wanted)
}

fn item(name: String, metadata: &Metadata) -> Item {
    let kind = match metadata {
        metadata if metadata.is_dir() => ItemKind::Folder,
        metadata if metadata.is_symlink() => ItemKind::Link,
        metadata if metadata.is_file() => ItemKind::File,
        _ => ItemKind::Special,
    };
    Item {
        name,
        kind,
        bytes: metadata.len(),
        modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
    }
}

fn open_root(path: &Path) -> Result<Root, FileError> {
    let base = path.canonicalize().map_err(|source| root_error(path, &source.to_string()))?;
    let folder = Dir::open_ambient_dir(&base, ambient_authority())
        .map_err(|source: io::Error| root_error(path, &source.to_string()))?;
    Ok(Root { folder, base })
}

fn absolute(path: &Path, base: &Path) -> Vec<PathBuf> {
    let mut paths = vec![base.to_owned()];
    let typed = std::path::absolute(path).unwrap_or_else(|_| canonical(path));
    if typed != base {
        paths.push(typed);
    }
    paths
}

fn check_root_name(name: &str, path: &Path, known: &[RootName]) -> Result<(), FileError> {
    let plain =
        !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || "-_ ".contains(character));
    if !plain || name::check_name(name, name).is_err() {
        return Err(root_error(path, &format!("the name {name:?} needs letters, digits, `-` or `_`")));
    }
    if known.iter().any(|root| fold(&root.name) == fold(name)) {
        return Err(root_error(path, &format!("two folders are called {name:?}")));
    }
    Ok(())
}

fn root_error(path: &Path, reason: &str) -> FileError {
    FileError::Root { path: path.display().to_string(), reason: reason.to_owned() }
}

//! Creating, appending to and changing files. Each either happens whole or not at all.

use std::io::{self, Write as _};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::error::FileError;
use super::protect::identity;
use super::sandbox::{Sandbox, check_regular, not_found, open_entry, same_name};
use super::walk::{End, Walked};
use crate::documents::TextFile;

/// A new file that could be written.
pub(crate) struct NewFile {
    /// Its path, as it may be typed again.
    pub(crate) path: String,
    /// Folders that will be created on the way, as paths.
    pub(crate) folders: Vec<String>,
    walked: Walked,
    rest: Vec<String>,
}

/// An existing text file and what it will become.
pub(crate) struct Change {
    /// Its path, as it may be typed again.
    pub(crate) path: String,
    /// Before.
    pub(crate) before: TextFile,
    /// What is put at its end, line breaks and encoding adapted; or the whole new text.
    pub(crate) text: String,
    name: String,
    walked: Walked,
    metadata: Metadata,
}

impl Sandbox {
    /// Checks that a new file may be made there, without making it.
    pub(crate) fn plan_new(&self, path: &str, content: &str) -> Result<NewFile, FileError> {
        self.check_length(content)?;
        let (root, walked) = self.walk(path, false)?;
        self.check_writable(path, root, &walked)?;
        let rest = match &walked.end {
            End::Missing(rest) => rest.clone(),
            End::Link => return Err(FileError::LinkWrite { path: path.to_owned() }),
            End::Folder | End::Entry(..) => return Err(FileError::Exists { path: path.to_owned() }),
        };
        // A folder made behind a dangling link would stand where nobody typed it.
        if walked.linked && rest.len() > 1 {
            return Err(FileError::LinkWrite { path: path.to_owned() });
        }
        let mut names = walked.names();
        if self.protected().lies_beneath(&self.place(root, &names)) {
            return Err(FileError::Protected { path: path.to_owned() });
        }
        if let Some(existing) = rest.first().and_then(|name| same_name(&walked.folder, name)) {
            return Err(FileError::SameName { path: path.to_owned(), existing });
        }
        let shown = self.shown(root, &names);
        let mut folders = Vec::new();
        for _ in 1..rest.len() {
            names.pop();
            folders.insert(0, self.shown(root, &names));
        }
        Ok(NewFile { path: shown, folders, walked, rest })
    }

    /// Makes a new file. It fails rather than replace one that appeared in the meantime.
    pub(crate) fn create(&self, path: &str, content: &str) -> Result<NewFile, FileError> {
        let new = self.plan_new(path, content)?;
        let walk = self.walker(0, path, false);
        let mut folder = new.walked.folder.try_clone().map_err(|source| walk.io("opening the folder", source))?;
        let (name, folders) = new.rest.split_last().ok_or(FileError::Empty)?;
        for made in folders {
            folder.create_dir(made).map_err(|source| walk.swapped("creating the folder", source))?;
            folder = folder.open_dir_nofollow(made).map_err(|source| walk.swapped("opening the folder", source))?;
            walk.check_folder(&folder)?;
        }
        let mut file = exclusive(&folder, name).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
            _ => walk.io("creating", source),
        })?;
        if let Err(source) = file.write_all(content.as_bytes()).and_then(|()| file.sync_all()) {
            drop(file);
            let _ = folder.remove_file(name);
            return Err(walk.io("writing", source));
        }
        sync_folder(&folder);
        Ok(new)
    }

    /// Reads a text file that is to be added to, and adapts the text to it.
    pub(crate) fn plan_append(&self, path: &str, content: &str) -> Result<Change, FileError> {
        self.check_length(content)?;
        let mut change = self.existing(path)?;
        let mut text = change.before.adapt(content);
        // What is added is a line of its own unless the file already ends one.
        let before = &change.before.text;
        if !before.is_empty() && !before.ends_with('\n') && !text.starts_with(['\n', '\r']) {
            text.insert_str(0, change.before.line_break());
        }
        change.text = text;
        self.encoded(path, &change, false)?;
        Ok(change)
    }

    /// Adds text at the end of an existing text file.
    pub(crate) fn append(&self, path: &str, content: &str) -> Result<Change, FileError> {
        let change = self.plan_append(path, content)?;
        let bytes = self.encoded(path, &change, false)?;
        let walk = self.walker(0, path, false);
        let mut options = OpenOptions::new();
        options.append(true);
        let mut file = open_entry(&walk, &change.walked.folder, &change.name, options)?;
        let metadata = self.check_handle(&walk, &file)?;
        unchanged(path, &change.metadata, &metadata)?;
        if let Err(source) = file.write_all(&bytes).and_then(|()| file.sync_all()) {
            let _ = file.set_len(metadata.len());
            return Err(walk.io("writing", source));
        }
        Ok(change)
    }

    /// Reads an existing text file for a change.
    pub(crate) fn existing(&self, path: &str) -> Result<Change, FileError> {
        let (root, walked) = self.walk(path, false)?;
        self.check_writable(path, root, &walked)?;
        let (name, metadata) = match &walked.end {
            End::Entry(name, metadata) => (name.clone(), metadata.clone()),
            End::Link => return Err(FileError::LinkWrite { path: path.to_owned() }),
            End::Folder => return Err(FileError::NotAFile { path: path.to_owned(), kind: "a folder" }),
            End::Missing(rest) => return Err(not_found(path, &walked, rest)),
        };
        check_regular(path, &metadata)?;
        let walk = self.walker(root, path, false);
        let mut options = OpenOptions::new();
        options.read(true);
        let file = open_entry(&walk, &walked.folder, &name, options)?;
        unchanged(path, &metadata, &self.check_handle(&walk, &file)?)?;
        let content = self.read_handle(&walk, file)?;
        let before =
            TextFile::decode(&content.bytes).map_err(|kind| FileError::NotText { path: path.to_owned(), kind })?;
        let shown = self.shown(root, &walked.names());
        Ok(Change { path: shown, before, text: String::new(), name, walked, metadata })
    }

    /// Puts `change.text` in the place of the file's text: a new file beside it, then a rename.
    pub(crate) fn replace(&self, path: &str, change: &Change) -> Result<(), FileError> {
        let bytes = self.encoded(path, change, true)?;
        let walk = self.walker(0, path, false);
        let folder = &change.walked.folder;
        let temporary = format!(".{}.tenpass-tmp", uuid::Uuid::new_v4().simple());
        let mut file = exclusive(folder, &temporary).map_err(|source| walk.io("creating", source))?;
        let done = (|| {
            file.set_permissions(change.metadata.permissions()).map_err(|source| walk.io("writing", source))?;
            file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(|source| walk.io("writing", source))?;
            let now = folder.symlink_metadata(&change.name).map_err(|source| walk.swapped("looking up", source))?;
            unchanged(path, &change.metadata, &now)?;
            folder.rename(&temporary, folder, &change.name).map_err(|source| walk.io("replacing", source))
        })();
        if done.is_err() {
            let _ = folder.remove_file(&temporary);
        } else {
            sync_folder(folder);
        }
        done
    }

    /// The bytes of `change.text` in the file's own encoding, as the whole file or as its new end.
    pub(crate) fn encoded(&self, path: &str, change: &Change, whole: bool) -> Result<Vec<u8>, FileError> {
        let bytes = change.before.encode(&change.text, whole).map_err(|character| FileError::Unencodable {
            path: path.to_owned(),
            encoding: change.before.encoding.name(),
            character,
        })?;
        let kept = if whole { 0 } else { change.metadata.len() };
        let (length, cap) = (kept + bytes.len() as u64, self.options().file_cap);
        if length > cap {
            return Err(FileError::TooLarge { path: path.to_owned(), bytes: length, cap });
        }
        Ok(bytes)
    }

    pub(crate) fn check_length(&self, content: &str) -> Result<(), FileError> {
        let (characters, cap) = (content.chars().count(), self.options().write_cap);
        if characters > cap { Err(FileError::TextTooLong { characters, cap }) } else { Ok(()) }
    }
}

/// A new file, by this call and no other.
pub(super) fn exclusive(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    folder.open_with(name, &options)
}

/// The same file with the same content as far as size and time tell.
fn unchanged(path: &str, before: &Metadata, now: &Metadata) -> Result<(), FileError> {
    check_regular(path, now)?;
    let same =
        identity(before) == identity(now) && before.len() == now.len() && before.modified().ok() == now.modified().ok();
    if same { Ok(()) } else { Err(FileError::Changed { path: path.to_owned() }) }
}

/// Makes a new name durable; best effort, since not every file system can.
pub(super) fn sync_folder(folder: &Dir) {
    if let Ok(folder) = folder.try_clone() {
        let _ = folder.into_std_file().sync_all();
    }
}

impl Change {
    /// Bytes on disk before the change.
    pub(crate) fn bytes(&self) -> u64 {
        self.metadata.len()
    }
}

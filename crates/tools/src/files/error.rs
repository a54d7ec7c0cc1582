//! Everything that can stand between a typed path and a file.

use std::io;

use crate::documents::DocumentError;

/// Why a file was not listed, read or written. Nothing was changed when one of these is returned.
///
/// The messages are the tool results that the model reads, so each names the thing and the value.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path or one of its names is longer than any file system allows.
    #[error("the path is too long: {bytes} bytes")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The path has a `..` in it.
    #[error("the path {path:?} climbs with `..`, which is never followed")]
    Climbs {
        /// As typed.
        path: String,
    },
    /// The path hides separators or dots behind percent codes.
    #[error("the path {path:?} hides a separator, a dot or a zero byte behind percent codes")]
    PercentCoded {
        /// As typed.
        path: String,
    },
    /// The path has control, direction or zero-width characters in it.
    #[error("the path {path:?} has an invisible character in it")]
    Invisible {
        /// As typed.
        path: String,
    },
    /// A name ends in a dot or a space, or begins with a space.
    #[error("the name {name:?} begins or ends with a space, or ends with a dot")]
    Edge {
        /// The name.
        name: String,
    },
    /// A name that some systems reserve for devices.
    #[error("the name {name:?} is reserved for a device on some systems")]
    Reserved {
        /// The name.
        name: String,
    },
    /// The absolute path lies beneath no folder of the sandbox.
    #[error("{path:?} is outside the folders that may be used: {allowed}")]
    Outside {
        /// As typed.
        path: String,
        /// The folders, for the reader.
        allowed: String,
    },
    /// A symbolic link on the way points out of the folder it is in.
    #[error("{path:?} is or passes a symbolic link that leaves its folder")]
    LinkLeaves {
        /// As typed.
        path: String,
    },
    /// Too many symbolic links on the way.
    #[error("{path:?} passes too many symbolic links")]
    LinkLoop {
        /// As typed.
        path: String,
    },
    /// Writing through a symbolic link.
    #[error("{path:?} is a symbolic link; links are never written through")]
    LinkWrite {
        /// As typed.
        path: String,
    },
    /// A harmless name that links to a sensitive file.
    #[error("{path:?} is a symbolic link to {what}")]
    SensitiveLink {
        /// As typed.
        path: String,
        /// What it links to.
        what: &'static str,
    },
    /// The file has other names that may lie anywhere.
    #[error("{path:?} has {links} hard links, so it may be the same file as one outside")]
    HardLinked {
        /// As typed.
        path: String,
        /// Its link count.
        links: u64,
    },
    /// A device, pipe or socket.
    #[error("{path:?} is {kind}, not a file")]
    NotAFile {
        /// As typed.
        path: String,
        /// `a folder`, `a device, pipe or socket`.
        kind: &'static str,
    },
    /// Something on the way is not a folder.
    #[error("{path:?} is not a folder")]
    NotAFolder {
        /// As typed, or the part that is no folder.
        path: String,
    },
    /// The application's own configuration, journals, memory, database or models.
    #[error("{path:?} belongs to this application and is out of reach of its tools")]
    Protected {
        /// As typed.
        path: String,
    },
    /// A write beneath a read-only root.
    #[error("{path:?} is in the read-only folder {root:?}")]
    ReadOnly {
        /// As typed.
        path: String,
        /// The read-only root's name.
        root: String,
    },
    /// There is no such file or folder.
    #[error("there is no {path:?}{}", suggestion(similar.as_ref()))]
    NotFound {
        /// As typed.
        path: String,
        /// A name in that folder that differs only by case or spelling of accents.
        similar: Option<String>,
    },
    /// A new file was asked for and one exists.
    #[error("{path:?} exists already; nothing was written")]
    Exists {
        /// As typed.
        path: String,
    },
    /// A new file would differ from an existing one only by case or spelling of accents.
    #[error("{path:?} would differ from the existing {existing:?} only by case or accents; nothing was written")]
    SameName {
        /// As typed.
        path: String,
        /// The name that exists.
        existing: String,
    },
    /// The file is larger than the cap.
    #[error("{path:?} is {bytes} bytes long; the limit is {cap}")]
    TooLarge {
        /// As typed.
        path: String,
        /// Its size.
        bytes: u64,
        /// The cap.
        cap: u64,
    },
    /// The text to write is longer than the cap.
    #[error("the text is {characters} characters long; the limit is {cap}; nothing was written")]
    TextTooLong {
        /// Its length.
        characters: usize,
        /// The cap.
        cap: usize,
    },
    /// The file changed while it was being worked on.
    #[error("{path:?} changed in the meantime; nothing was written")]
    Changed {
        /// As typed.
        path: String,
    },
    /// Only plain text can be changed.
    #[error("{path:?} is {kind}; only plain text files can be changed")]
    NotText {
        /// As typed.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// The text has a character that the file's encoding does not have.
    #[error("{path:?} is written in {encoding}, which does not have the character {character:?}; nothing was written")]
    Unencodable {
        /// As typed.
        path: String,
        /// The encoding's name.
        encoding: &'static str,
        /// The first character without a code.
        character: char,
    },
    /// The text to replace is not in the file.
    #[error("the text to replace is not in {path:?}; nothing was written")]
    TextAbsent {
        /// As typed.
        path: String,
    },
    /// The text to replace stands in several places.
    #[error("the text to replace stands {count} times in {path:?}; nothing was written")]
    TextAmbiguous {
        /// As typed.
        path: String,
        /// How often.
        count: usize,
    },
    /// More places than a confirmation can show.
    #[error(
        "the text to replace stands {count} times in {path:?}, more than the {limit} a confirmation shows; nothing was written"
    )]
    TooManyPlaces {
        /// As typed.
        path: String,
        /// How often.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// Old and new text are the same.
    #[error("the new text is the old text; nothing was written")]
    NoChange,
    /// The content could not be read as a document.
    #[error("{path:?}: {source}")]
    Document {
        /// As typed.
        path: String,
        /// Why.
        source: DocumentError,
    },
    /// The system refused.
    #[error("{action} {path:?}: {source}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// As typed.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A folder of the sandbox cannot be opened, or its name is unusable.
    #[error("folder {path:?} cannot be opened: {reason}")]
    Root {
        /// The folder.
        path: String,
        /// Why.
        reason: String,
    },
}

fn suggestion(similar: Option<&String>) -> String {
    similar.map(|name| format!("; there is {name:?}")).unwrap_or_default()
}

impl FileError {
    /// What to do about it; empty where the message says all there is.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "name a file or folder relative to the working folder",
            Self::Climbs { .. } | Self::PercentCoded { .. } | Self::Invisible { .. } | Self::Outside { .. } => {
                "write the path relative to the working folder, plainly"
            }
            Self::Edge { .. } | Self::Reserved { .. } => "choose another name",
            Self::SensitiveLink { .. } => "ask for the file itself, by its own path",
            Self::NotFound { .. } | Self::NotAFolder { .. } => "list the folder to see what is there",
            Self::Exists { .. } => {
                "update_file changes an existing file, append_file adds to it; or choose another name"
            }
            Self::SameName { .. } => "use the existing name with update_file or append_file, or choose another name",
            Self::TextAbsent { .. } => "read the file and copy the text exactly, spaces and line breaks included",
            Self::TextAmbiguous { .. } => "give a longer text that stands there once, or set `all` to true",
            Self::TooManyPlaces { .. } => "change it in smaller steps",
            Self::TextTooLong { .. } => "write less, or in several files",
            Self::ReadOnly { .. } => "write in the working folder instead",
            Self::Changed { .. } => "read it again first",
            Self::Unencodable { .. } => "leave that character out",
            Self::Document { source, .. } => source.hint(),
            _ => "",
        }
    }

    /// Message and hint, as a tool result says them.
    pub fn explain(&self) -> String {
        match self.hint() {
            "" => format!("{self}."),
            hint => format!("{self}. Hint: {hint}."),
        }
    }

    /// True when the message quotes a name or content that was found on disk rather than typed.
    pub(crate) fn quotes_disk(&self) -> bool {
        matches!(self, Self::SameName { .. } | Self::NotFound { similar: Some(_), .. } | Self::Document { .. })
    }

    /// True when the path is fine and there is just nothing to be read: a failure of the call, not
    /// a refusal of it.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::NotAFolder { .. } | Self::NotAFile { .. } | Self::Io { .. })
    }
}

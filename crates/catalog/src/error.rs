//! What can go wrong between a name and a verified file.

use std::io;
use std::path::{Path, PathBuf};

/// A catalogue that cannot be read, or an asset that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No asset has this name.
    #[error("no model `{name}` in the catalogue")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest name there is.
        suggestion: Option<String>,
    },
    /// A catalogue file with a mistake in it.
    #[error("{place}: {message}")]
    Invalid {
        /// `file:line`.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The asset does not run on this kind of machine.
    #[error("{name} is for {wanted}, this machine is {here}")]
    Platform {
        /// The asset.
        name: String,
        /// The platforms it is for.
        wanted: String,
        /// This platform.
        here: String,
    },
    /// Every source failed.
    #[error("cannot pull {name}: {}", failures.iter().map(|(source, error)| format!("{source}: {error}")).collect::<Vec<_>>().join("; "))]
    NoSource {
        /// The asset.
        name: String,
        /// Each source tried, and why it failed.
        failures: Vec<(String, SourceError)>,
        /// Where a copy may be put by hand.
        place: PathBuf,
    },
    /// The disk has no room.
    #[error("no space left on the disk of {}: {name} needs {needed_bytes} bytes", path.display())]
    DiskFull {
        /// The asset.
        name: String,
        /// The folder of models.
        path: PathBuf,
        /// Bytes that the pull needs at its peak.
        needed_bytes: u64,
    },
    /// A file or folder of the store cannot be used.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

impl CatalogError {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io { path: path.to_owned(), reason: error.to_string() }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { suggestion: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::Unknown { .. } => "`tenpass models list` shows what there is".into(),
            Self::Invalid { .. } => "correct the catalogue file".into(),
            Self::Platform { .. } => "use a machine of that kind, or install the program yourself".into(),
            Self::NoSource { place, failures, .. } => {
                if failures.iter().any(|(_, error)| matches!(error, SourceError::Offline)) {
                    "allow the network (drop --offline, unset TENPASS_OFFLINE), and pull it once".into()
                } else {
                    format!(
                        "connect to the network or install pip, and try again; or copy the file to {}",
                        place.display()
                    )
                }
            }
            Self::DiskFull { .. } => "free some space, or point TENPASS_HOME at a larger disk".into(),
            Self::Io { .. } => "check that the folder of models can be written (TENPASS_HOME)".into(),
        }
    }
}

/// Why one source failed. Messages are one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The network is switched off.
    #[error("the network is switched off")]
    Offline,
    /// The client program of this source is not on this machine.
    #[error("{program} is not on this machine")]
    NoClient {
        /// What is missing.
        program: String,
    },
    /// The client program failed.
    #[error("{program}: {reason}")]
    Client {
        /// The program.
        program: String,
        /// Its own last error line.
        reason: String,
    },
    /// The server cannot be reached, or the connection broke.
    #[error("{reason}")]
    Network {
        /// The reason.
        reason: String,
    },
    /// The server answered with an error.
    #[error("the server answered HTTP {status}")]
    Http {
        /// The status code.
        status: u16,
    },
    /// The download or archive is not what the catalogue says.
    #[error("{reason}")]
    Content {
        /// What differs.
        reason: String,
    },
    /// The bytes are not those that the catalogue pins. Nothing of them was kept.
    #[error("wrong sha256: expected {expected}, got {got}")]
    WrongHash {
        /// The pinned hash.
        expected: String,
        /// The hash of what came.
        got: String,
    },
    /// The disk has no room.
    #[error("no space left on the disk")]
    DiskFull,
    /// A file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

impl SourceError {
    /// An error of the file system at `path`, with the full disk told apart.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::DiskFull;
        }
        Self::Io { path: path.to_owned(), reason: error.to_string() }
    }

    /// True when the same request may succeed a moment later.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Network { .. } => true,
            Self::Http { status } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            _ => false,
        }
    }
}

//! Files that are whole or not there.

use std::io::Write as _;
use std::path::Path;

use crate::error::WakeError;

/// Writes beside the file and renames it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WakeError> {
    let failed = |error| WakeError::file(path, error);
    let name = path.file_name().ok_or_else(|| failed(std::io::Error::other("it names no file")))?;
    let partial = path.with_file_name(format!("{}.{}.partial", name.to_string_lossy(), std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        failed(error)
    })
}

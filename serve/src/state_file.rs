//! Files beside the journals: `serve.json` with the token of the running server (0600, removed at the
//! end), and `state.json` with counts only (K96).

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::json;
use tenpass_tools::assistant::AgentFolder;

use crate::application::Application;

/// The name of the file with the token.
pub const RUNNING_FILE: &str = "serve.json";
/// The name of the file with the counts.
pub const STATE_FILE: &str = "state.json";

/// `serve.json`: `{"address","token","pid","started"}`.
pub(crate) struct RunningFile(PathBuf);

impl RunningFile {
    pub(crate) fn write(folder: &AgentFolder, address: SocketAddr, token: &str) -> io::Result<Self> {
        let path = folder.path().join(RUNNING_FILE);
        let started = jiff::Timestamp::now().to_string();
        let content = json!({ "address": address, "token": token, "pid": std::process::id(), "started": started });
        replace(&path, &format!("{content:#}\n"))?;
        Ok(Self(path))
    }

    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes `state.json`. It is for others to read; that it cannot be written stops nothing.
pub(crate) fn write_state(application: &Application) {
    let conversations = &application.conversations;
    conversations.index.refresh();
    let mut counts = conversations.index.counts();
    if let Some(live) = conversations.model.live() {
        counts.set_memo(&live.memo);
    }
    if let Ok(text) = serde_json::to_string_pretty(&counts) {
        let _ = replace(&application.options.folder.path().join(STATE_FILE), &format!("{text}\n"));
    }
}

/// Puts a file in the place of another, whole or not at all, for its owner only.
pub(crate) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary).and_then(|mut file| {
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_file_is_for_its_owner_and_goes() {
        let place = tempfile::tempdir().unwrap();
        let folder = AgentFolder::new(place.path());
        std::fs::write(place.path().join(RUNNING_FILE), "of a server that was killed").unwrap();
        let running = RunningFile::write(&folder, "127.0.0.1:1".parse().unwrap(), "secret").unwrap();
        let path = place.path().join(RUNNING_FILE);
        let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!((value["token"].as_str(), value["address"].as_str()), (Some("secret"), Some("127.0.0.1:1")));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        running.remove();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

//! What lies where in the agent's folder.

use std::path::{Path, PathBuf};

use tenpass_trace::journal::{INTENTIONS_JOURNAL, TRACE_JOURNAL, journal_path};

/// The agent's own folder: everything here but [`AgentFolder::files`] is out of the tools' reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFolder(PathBuf);

impl AgentFolder {
    /// The folder at this path, whether it exists or not.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The folder, in which the journals lie too.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the folder where there is none, for its owner only.
    pub fn create(&self) -> std::io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0)
    }

    /// The journal of what happened.
    pub fn trace(&self) -> PathBuf {
        journal_path(&self.0, TRACE_JOURNAL)
    }

    /// The journal of what the model meant to do.
    pub fn intentions(&self) -> PathBuf {
        journal_path(&self.0, INTENTIONS_JOURNAL)
    }

    /// The key of both journals.
    pub fn journal_key(&self) -> PathBuf {
        self.0.join("journal.key")
    }

    /// Conversations, exchanges, provider answers, spending.
    pub fn database(&self) -> PathBuf {
        self.0.join("conversations.sqlite")
    }

    /// The memory, unless the settings name another file.
    pub fn memory(&self) -> PathBuf {
        self.0.join("memory.md")
    }

    /// The folder that may be written to, unless the settings name another one.
    pub fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    /// The index of the local search.
    pub fn documents_index(&self) -> PathBuf {
        self.0.join("documents.sqlite")
    }

    /// What was typed before, for the arrow keys.
    pub fn history(&self) -> PathBuf {
        self.0.join("history.txt")
    }

    /// What probes found out about models.
    pub fn probes(&self) -> PathBuf {
        self.0.join("probes.json")
    }

    /// What tools must not reach when they may write to `files`: the whole folder, or, when `files`
    /// lies in it, everything else in it, existing or not yet.
    pub(super) fn protected(&self, files: &Path) -> Vec<PathBuf> {
        let lies_within = [files.to_owned(), resolved(files)]
            .iter()
            .any(|files| files != &self.0 && (files.starts_with(&self.0) || files.starts_with(resolved(&self.0))));
        if !lies_within {
            return vec![self.0.clone()];
        }
        let mut paths =
            vec![self.trace(), self.intentions(), self.journal_key(), self.memory(), self.history(), self.probes()];
        for database in [self.database(), self.documents_index()] {
            paths.extend(["", "-wal", "-shm", "-journal"].map(|ending| with_ending(&database, ending)));
        }
        paths.extend([self.trace(), self.intentions()].map(|journal| with_ending(&journal, ".lock")));
        // Heads in service and secrets of servers, whether they are there yet or not.
        paths.extend(["wake", "serve.json", "state.json", "embeddings.token"].map(|name| self.0.join(name)));
        // Torn lines, journals that were set aside: what is there by now.
        let there = std::fs::read_dir(&self.0).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let inside = resolved(files);
        paths.extend(there.filter(|path| !inside.starts_with(resolved(path))));
        paths.sort();
        paths.dedup();
        paths
    }
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_files_is_protected_and_a_folder_elsewhere_protects_all_of_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = AgentFolder::new(place.path().join("agent"));
        folder.create().unwrap();
        std::fs::create_dir(folder.files()).unwrap();
        std::fs::write(folder.path().join("intentions.jsonl.torn-3"), "x").unwrap();
        let protected = folder.protected(&folder.files());
        assert!(protected.contains(&folder.journal_key()) && protected.contains(&folder.memory()));
        assert!(protected.contains(&folder.path().join("intentions.jsonl.torn-3")));
        assert!(protected.iter().all(|path| !folder.files().starts_with(path)));
        assert_eq!(folder.protected(place.path()), [folder.path().to_owned()]);
        assert_eq!(folder.protected(folder.path()), [folder.path().to_owned()], "the folder itself is no files folder");
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_its_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let folder = AgentFolder::new(place.path().join("deep/agent"));
        folder.create().unwrap();
        folder.create().unwrap();
        assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

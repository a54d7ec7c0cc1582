//! The file, the tools, the triggers.

mod disk;
mod tools;
mod triggers;

use jiff::{Timestamp, Zoned};

use super::MemoryFile;

fn now() -> Timestamp {
    "2026-03-01T09:30:00Z".parse().unwrap()
}

fn zoned() -> Zoned {
    "2026-03-01T10:30:00+01:00[Europe/Paris]".parse().unwrap()
}

/// A memory in a folder of its own.
fn world() -> (tempfile::TempDir, MemoryFile) {
    let folder = tempfile::tempdir().unwrap();
    let file = MemoryFile::open(folder.path().join("memory.md")).unwrap();
    (folder, file)
}

fn entries(file: &MemoryFile) -> Vec<String> {
    file.show().unwrap().entries().iter().map(|entry| entry.text.clone()).collect()
}

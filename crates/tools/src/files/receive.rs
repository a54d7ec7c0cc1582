//! A file that the person hands over: into the writable folder, under a free name, never over
//! another file.

use std::io::{self, Write as _};

use super::error::FileError;
use super::name::{check_name, invisible};
use super::sandbox::Sandbox;
use super::walk::End;
use super::write::{exclusive, sync_folder};

/// Names that are tried before giving up: `notes.txt`, `notes (2).txt`, …
const MOST_NAMES: usize = 100;
/// Longest name in bytes that leaves room for a number.
const LONGEST: usize = 200;

/// A file that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Its path below the writable folder, as tools take it.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

impl Sandbox {
    /// Stores a file under its own last name, or under the next free one (`notes (2).txt`).
    pub fn receive(&self, name: &str, content: &[u8]) -> Result<Received, FileError> {
        let cap = self.options().file_cap;
        if content.len() as u64 > cap {
            return Err(FileError::TooLarge { path: plain(name), bytes: content.len() as u64, cap });
        }
        let name = plain(name);
        check_name(&name, &name)?;
        for number in 1..=MOST_NAMES {
            let candidate = numbered(&name, number);
            let (root, walked) = self.walk(&candidate, false)?;
            self.check_writable(&candidate, root, &walked)?;
            let End::Missing(rest) = &walked.end else { continue };
            if rest.len() != 1 || super::sandbox::same_name(&walked.folder, &candidate).is_some() {
                continue;
            }
            if self.protected().lies_beneath(&self.place(root, &walked.names())) {
                return Err(FileError::Protected { path: candidate });
            }
            let walk = self.walker(0, &candidate, false);
            let mut file = match exclusive(&walked.folder, &candidate) {
                Ok(file) => file,
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(walk.io("creating", source)),
            };
            if let Err(source) = file.write_all(content).and_then(|()| file.sync_all()) {
                drop(file);
                let _ = walked.folder.remove_file(&candidate);
                return Err(walk.io("writing", source));
            }
            sync_folder(&walked.folder);
            return Ok(Received { path: candidate, bytes: content.len() as u64 });
        }
        Err(FileError::Exists { path: name })
    }
}

/// The last part of a name as a browser sends it, without what cannot be seen or is no name here.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .filter(|character| !invisible(*character))
        .map(|character| if r#"<>:"|?*%"#.contains(character) { '_' } else { character })
        .collect();
    let mut kept = kept.trim().trim_matches('.').trim().to_owned();
    while kept.len() > LONGEST {
        kept.pop();
    }
    if kept.is_empty() { "file".to_owned() } else { kept }
}

fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem} ({number}).{ending}"),
        _ => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SandboxOptions;
    use super::*;

    #[test]
    fn a_file_is_never_written_over_another() {
        let place = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::open(SandboxOptions::new(place.path())).unwrap();
        let paths: Vec<String> =
            ["a.txt", "a.txt", "A.TXT", "../../a.txt", "C:\\x\\a.txt", ".hidden", "..", "a%2e.txt"]
                .iter()
                .map(|name| sandbox.receive(name, b"x").unwrap().path)
                .collect();
        let expected = ["a.txt", "a (2).txt", "A (2).TXT", "a (3).txt", "a (4).txt", "hidden", "file", "a_2e.txt"];
        // Names that differ only by case stand beside each other under another number.
        assert_eq!(paths[..2], expected[..2]);
        assert_eq!(paths[5..], expected[5..]);
        let mut lower: Vec<String> = paths.iter().map(|path| path.to_lowercase()).collect();
        lower.sort();
        lower.dedup();
        assert_eq!(lower.len(), paths.len(), "{paths:?}");
        assert!(paths.iter().all(|path| place.path().join(path).is_file()));
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), paths.len());
    }

    #[test]
    fn reserved_names_and_links_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::open(SandboxOptions::new(place.path())).unwrap();
        assert!(sandbox.receive("CON", b"x").is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path().join("b.txt"), place.path().join("b.txt")).unwrap();
            let received = sandbox.receive("b.txt", b"x");
            assert!(received.as_ref().is_ok_and(|file| file.path == "b (2).txt"), "{received:?}");
            assert!(!outside.path().join("b.txt").exists());
        }
    }
}

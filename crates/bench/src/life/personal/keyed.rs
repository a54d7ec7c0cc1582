//! The file that keeps replacements the same from case to case.
//!
//! ```text
//! placeholders.json   { "format": 1, "key": "<64 hexadecimal digits>", "placeholders": { "<mac>": "Julie", … } }
//! ```
//! It lies in the agent's folder with mode 0600. What was replaced is not in it, only its HMAC-SHA256
//! under the file's own key; nothing of it is stored with a case. Without the file, replacements would
//! be chosen anew, and a word would have two.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tenpass_agent::fold;

use super::propose::Kind;
use crate::life::LifeError;

/// The name of the file in the agent's folder.
pub const PLACEHOLDERS_FILE: &str = "placeholders.json";

const FORMAT: u32 = 1;
/// The largest file that is read.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Replacements that are tried before a number is put behind one.
const ATTEMPTS: u32 = 4_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: u32,
    key: String,
    placeholders: BTreeMap<String, String>,
}

/// Replacements that were given before.
#[derive(Debug)]
pub struct Placeholders {
    /// `None`: they live as long as this value.
    path: Option<PathBuf>,
    key: [u8; 32],
    given: BTreeMap<String, String>,
}

/// Something that needs a replacement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    pub(super) kind: Kind,
    /// The folded word, or the canonical writing.
    pub(super) canonical: String,
}

impl Placeholders {
    /// Those of the agent's folder; the file is made when something is first replaced.
    pub fn open(folder: &Path) -> Result<Self, LifeError> {
        let path = folder.join(PLACEHOLDERS_FILE);
        match read(&path)? {
            Some((key, given)) => Ok(Self { path: Some(path), key, given }),
            None => Ok(Self { path: Some(path), key: fresh_key(), given: BTreeMap::new() }),
        }
    }

    /// Replacements under this key that are kept nowhere.
    pub fn in_memory(key: [u8; 32]) -> Self {
        Self { path: None, key, given: BTreeMap::new() }
    }

    /// The replacement that was given before.
    pub(super) fn find(&self, wanted: &Wanted) -> Option<&str> {
        self.given.get(&hex(&self.mac(wanted))).map(String::as_str)
    }

    /// The replacement of each, made where there is none yet: none that another thing has, and none that
    /// is among the folded words of `taken`. One writer at a time; what another process gave meanwhile
    /// is taken over.
    pub(super) fn assign(&mut self, wanted: &[Wanted], taken: &BTreeSet<String>) -> Result<Vec<String>, LifeError> {
        if wanted.iter().all(|wanted| self.find(wanted).is_some()) {
            return Ok(wanted.iter().filter_map(|wanted| self.find(wanted)).map(str::to_owned).collect());
        }
        let lock = self.path.as_deref().map(lock).transpose()?;
        if let Some((key, given)) = self.path.as_deref().map(read).transpose()?.flatten() {
            (self.key, self.given) = (key, given);
        }
        let mut used: BTreeSet<String> = self.given.values().map(|given| fold(given)).collect();
        let mut assigned = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let hash = self.mac(wanted);
            let mac = hex(&hash);
            if let Some(given) = self.given.get(&mac) {
                assigned.push(given.clone());
                continue;
            }
            let is_free = |made: &String| {
                let folded = fold(made);
                folded != wanted.canonical && !used.contains(&folded) && !taken.contains(&folded)
            };
            let made =
                (0..ATTEMPTS).map(|attempt| wanted.kind.propose(&hash, attempt, &wanted.canonical)).find(is_free);
            let made =
                made.unwrap_or_else(|| format!("{}{}", wanted.kind.propose(&hash, 0, &wanted.canonical), &mac[..6]));
            used.insert(fold(&made));
            self.given.insert(mac, made.clone());
            assigned.push(made);
        }
        self.save()?;
        drop(lock);
        Ok(assigned)
    }

    /// A replacement for something that is not to be kept.
    pub(super) fn unkept(&self, wanted: &Wanted) -> String {
        wanted.kind.propose(&self.mac(wanted), 0, &wanted.canonical)
    }

    fn mac(&self, wanted: &Wanted) -> [u8; 32] {
        let mut block = [0_u8; 64];
        block[..32].copy_from_slice(&self.key);
        let mut state = Hmac::<Sha256>::new(&block.into());
        state.update(wanted.kind.class().as_bytes());
        state.update(&[0]);
        state.update(wanted.canonical.as_bytes());
        state.finalize().into_bytes().into()
    }

    fn save(&self) -> Result<(), LifeError> {
        let Some(path) = &self.path else { return Ok(()) };
        let failed = |source| LifeError::Write { path: path.clone(), source };
        let stored = Stored { format: FORMAT, key: hex(&self.key), placeholders: self.given.clone() };
        let text = serde_json::to_string_pretty(&stored).map_err(|error| failed(io::Error::other(error)))?;
        let unfinished = path.with_extension(format!("json.{}", uuid::Uuid::new_v4().simple()));
        let written =
            private(OpenOptions::new().write(true).create_new(true)).open(&unfinished).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.write_all(b"\n")?;
                file.sync_all()?;
                fs::rename(&unfinished, path)
            });
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written.map_err(failed)
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// 32 bytes of three random identifiers: more than 256 random bits, hashed.
fn fresh_key() -> [u8; 32] {
    let mut hasher = Sha256::new();
    for _ in 0..3 {
        hasher.update(uuid::Uuid::new_v4().as_bytes());
    }
    hasher.finalize().into()
}

type Contents = ([u8; 32], BTreeMap<String, String>);

fn read(path: &Path) -> Result<Option<Contents>, LifeError> {
    let failed = |source| LifeError::Read { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if readable_by_others(&file).map_err(failed)? {
        return Err(LifeError::ReadableByOthers { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
    let damaged = |reason: String| LifeError::Placeholders { path: path.to_owned(), reason };
    let stored: Stored = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if stored.format != FORMAT {
        return Err(damaged(format!("its format is {}, this version knows {FORMAT}", stored.format)));
    }
    let key = unhex(&stored.key).ok_or_else(|| damaged("its key is not 64 hexadecimal digits".to_owned()))?;
    Ok(Some((key, stored.placeholders)))
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0_u8; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
    }
    Some(bytes)
}

/// Waits until no other process changes the file.
fn lock(path: &Path) -> Result<File, LifeError> {
    let path = path.with_extension("lock");
    let failed = |source| LifeError::Write { path: path.clone(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = private(OpenOptions::new().create(true).truncate(false).write(true)).open(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

#[cfg(unix)]
fn readable_by_others(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_file: &File) -> io::Result<bool> {
    Ok(false)
}

/// Options that make a file for its owner only.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::super::names::Gender;
    use super::*;

    fn wanted(word: &str) -> Wanted {
        Wanted { kind: Kind::First(Gender::Feminine, false), canonical: word.to_owned() }
    }

    #[test]
    fn what_was_given_stays_and_nothing_replaced_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Placeholders::open(folder.path()).unwrap();
        let names = ["marie", "zoe", "berthe"].map(wanted);
        let given = first.assign(&names, &BTreeSet::new()).unwrap();
        let again = Placeholders::open(folder.path()).unwrap();
        assert_eq!(names.iter().map(|name| again.find(name).unwrap()).collect::<Vec<_>>(), given);
        assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 3);
        let text = fs::read_to_string(folder.path().join(PLACEHOLDERS_FILE)).unwrap().to_lowercase();
        assert!(!text.contains("marie") && !text.contains("berthe"), "{text}");
    }

    #[test]
    fn a_replacement_is_no_word_of_the_text() {
        let mut placeholders = Placeholders::in_memory([7; 32]);
        let free = placeholders.assign(&[wanted("marie")], &BTreeSet::new()).unwrap();
        let mut other = Placeholders::in_memory([7; 32]);
        let taken = BTreeSet::from([fold(&free[0])]);
        assert_ne!(other.assign(&[wanted("marie")], &taken).unwrap(), free);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_and_a_damaged_one_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(PLACEHOLDERS_FILE);
        Placeholders::open(folder.path()).unwrap().assign(&[wanted("zoe")], &BTreeSet::new()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Placeholders::open(folder.path()).unwrap_err();
        assert!(matches!(&error, LifeError::ReadableByOthers { .. }) && error.hint().contains("chmod"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "{").unwrap();
        assert!(matches!(Placeholders::open(folder.path()), Err(LifeError::Placeholders { .. })));
        fs::write(&path, "{\"format\": 2, \"key\": \"\", \"placeholders\": {}}").unwrap();
        assert!(Placeholders::open(folder.path()).unwrap_err().to_string().contains("format is 2"));
    }

    #[test]
    fn two_that_begin_together_agree() {
        let folder = tempfile::tempdir().unwrap();
        let handles: Vec<_> = (0..4)
            .map(|_| {
                let path = folder.path().to_owned();
                std::thread::spawn(move || {
                    let mut placeholders = Placeholders::open(&path).unwrap();
                    placeholders.assign(&["marie", "zoe", "lea"].map(wanted), &BTreeSet::new()).unwrap()
                })
            })
            .collect();
        let given: BTreeSet<Vec<String>> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
        assert_eq!(given.len(), 1, "{given:?}");
    }
}

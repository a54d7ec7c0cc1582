//! The key of the journals: 32 random bytes in a file that only its owner can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::JournalError;
use super::line::Mac;

/// The secret of the hash chains. Whoever has it can forge a journal; whoever has not cannot change
/// a byte unnoticed.
#[derive(Clone)]
pub struct JournalKey {
    state: Hmac<Sha256>,
}

impl std::fmt::Debug for JournalKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "JournalKey({})", self.id())
    }
}

impl JournalKey {
    /// A key from its bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut block = [0_u8; 64];
        block[..32].copy_from_slice(bytes);
        // HMAC pads a short key with zeros, so this is the key itself, without a length to refuse.
        Self { state: Hmac::<Sha256>::new(&block.into()) }
    }

    /// Reads the key, or makes one where there is none yet. The file has mode 0600 and is refused
    /// with any other user's bits set; two processes that start together get the same key.
    pub fn load_or_create(path: &Path) -> Result<Self, JournalError> {
        match Self::load(path) {
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|source| JournalError::NoRandomness { source })?;
        match create(path, &bytes) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
            Err(error) => Err(JournalError::io("create the journal key", path)(error)),
            Ok(()) => Ok(Self::from_bytes(&bytes)),
        }
    }

    /// Reads the key; a missing file is an error.
    pub fn load(path: &Path) -> Result<Self, JournalError> {
        let read = JournalError::io("read the journal key", path);
        let mut text = Vec::new();
        let opened = File::open(path).and_then(|file| {
            let mode = mode(&file)?;
            file.take(1024).read_to_end(&mut text)?;
            Ok(mode)
        });
        let mode = opened.map_err(read)?;
        if mode & 0o077 != 0 {
            return Err(JournalError::KeyReadableByOthers { path: path.to_owned(), mode });
        }
        let key = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<Mac>().ok());
        key.map(|key| Self::from_bytes(&key.0))
            .ok_or_else(|| JournalError::KeyDamaged { path: path.to_owned(), length: text.len() })
    }

    /// 16 hexadecimal digits that tell keys apart and say nothing about them.
    pub fn id(&self) -> String {
        self.mac(&[b"tenpass journal key id"]).to_string()[..16].to_owned()
    }

    /// HMAC-SHA256 over the parts.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> Mac {
        let mut state = self.state.clone();
        for part in parts {
            state.update(part);
        }
        Mac(state.finalize().into_bytes().into())
    }
}

#[cfg(unix)]
fn mode(file: &File) -> io::Result<u32> {
    Ok(std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o777)
}

#[cfg(not(unix))]
fn mode(_file: &File) -> io::Result<u32> {
    Ok(0o600)
}

/// Options that create a new file for its owner only.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates the key file, whole or not at all: the bytes go to a file of another name, which then
/// gets this one if it is still free.
fn create(path: &Path, bytes: &[u8; 32]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let text = format!("{}\n", Mac(*bytes));
    let unfinished = folder.join(format!(".journal-key-{}", uuid::Uuid::new_v4().simple()));
    write_new(&unfinished, &text)?;
    let linked = fs::hard_link(&unfinished, path);
    fs::remove_file(&unfinished)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_new(path, &text)?,
        other => other?,
    }
    sync_folder(folder)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes a new name in the folder durable, where folders can be synced.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_4231_test_case_2_with_a_padded_key() {
        let mut key = [0_u8; 32];
        key[..4].copy_from_slice(b"Jefe");
        let mac = JournalKey::from_bytes(&key).mac(&[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac.to_string(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/journal.key");
        assert!(JournalKey::load(&path).is_err());
        let key = JournalKey::load_or_create(&path).unwrap();
        assert_eq!(key.id(), JournalKey::load_or_create(&path).unwrap().id());
        assert_eq!(fs::read_to_string(&path).unwrap().len(), 65);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let another = JournalKey::load_or_create(&folder.path().join("another.key")).unwrap();
        assert_ne!(key.id(), another.id());
        assert_eq!(format!("{key:?}"), format!("JournalKey({})", key.id()));
    }

    #[test]
    fn processes_that_start_together_get_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.key");
        let ids: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| JournalKey::load_or_create(&path).unwrap().id())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.key");
        JournalKey::load_or_create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = JournalKey::load_or_create(&path).unwrap_err();
            assert!(matches!(error, JournalError::KeyReadableByOthers { mode: found, .. } if found == mode));
            assert!(error.hint().contains("chmod 600"));
        }
    }

    #[test]
    fn a_damaged_key_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.key");
        for text in ["", "abc", &"g".repeat(64), &"A".repeat(64), &"a".repeat(66)] {
            let _ = fs::remove_file(&path);
            write_new(&path, text).unwrap();
            assert!(matches!(JournalKey::load_or_create(&path), Err(JournalError::KeyDamaged { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

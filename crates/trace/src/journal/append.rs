//! Writing one journal.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::key::{private, sync_folder};
use super::line::{Anchor, Head, Line, Mac, Notice, authenticate, parse};
use super::tail::{Tail, first_line, tail};
use super::{JournalError, JournalKey, VERSION};

/// How long opening waits for another process that is about to end.
const LOCK_WAIT: Duration = Duration::from_millis(500);
/// How often it looks.
const LOCK_STEP: Duration = Duration::from_millis(20);
/// The first line is shorter than this.
const FIRST_LINE_BYTES: u64 = 4096;

/// When a line counts as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When it is on the disk: it survives a power cut.
    #[default]
    Synced,
    /// When the operating system has it: it survives the end of this process in any way.
    Flushed,
}

/// What opening found at the end of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// There was no journal; its first line was written.
    pub created: bool,
    /// A write had been cut off; its bytes were moved to another file and a notice of it was
    /// written into the journal.
    pub torn: Option<Torn>,
    /// Only the newline of the last line was missing, and was added.
    pub completed: bool,
}

/// A write that was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The number its line would have had.
    pub seq: u64,
    /// How many bytes of it were there.
    pub bytes: u64,
    /// Where they are now.
    pub saved_as: PathBuf,
}

/// An open journal: the only one of its file, over all processes, while it lives.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    name: String,
    key: JournalKey,
    file: File,
    length: u64,
    head: Head,
    synced: Head,
    last_anchor: Option<Anchor>,
    poisoned: bool,
    _lock: File,
}

impl Journal {
    /// Opens or creates the journal `name` in this file, and repairs a torn last line.
    ///
    /// Refuses a file whose first or last lines do not verify: what is broken must not be continued.
    pub fn open(path: &Path, key: &JournalKey, name: &str) -> Result<(Self, Recovery), JournalError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(JournalError::io("create the folder of", path))?;
        }
        let lock = lock(path)?;
        let mut file = private(OpenOptions::new().read(true).append(true).create(true))
            .open(path)
            .map_err(JournalError::io("open the journal", path))?;
        let read = || JournalError::io("read the journal", path);
        let length = file.metadata().map_err(read())?.len();
        let mut end = tail(&mut file, length).map_err(read())?;
        if let Some(header) = first_line(&mut file, FIRST_LINE_BYTES).map_err(read())? {
            check_header(path, key, name, &header)?;
        } else if end.end_of_lines > 0 {
            return Err(broken(path, "beginning", "its first line is too long"));
        }
        let (last, last_anchor) = check_tail(path, key, name, &end)?;
        let completed = complete(path, key, name, last, &mut file, &mut end)?;
        let head = completed.or(last).unwrap_or(Head { seq: 0, mac: Mac::ZERO });
        let length = file.metadata().map_err(read())?.len();
        let (path, name, key) = (path.to_owned(), name.to_owned(), key.clone());
        let mut journal =
            Self { path, name, key, file, length, head, synced: head, last_anchor, poisoned: false, _lock: lock };
        let mut recovery = Recovery { completed: completed.is_some(), ..Recovery::default() };
        let fragment = if completed.is_some() { Vec::new() } else { end.fragment };
        let seq = if last.is_some() { head.seq + 1 } else { 0 };
        if !fragment.is_empty() {
            recovery.torn = Some(journal.set_aside(&fragment, seq)?);
        }
        if last.is_none() && completed.is_none() {
            journal.write_header()?;
            recovery.created = true;
        }
        if let Some(torn) = &recovery.torn {
            let saved_as = torn.saved_as.file_name().unwrap_or_default().to_string_lossy().into_owned();
            journal.notice(Notice::Torn { bytes: torn.bytes, saved_as }, None)?;
        }
        Ok((journal, recovery))
    }

    /// Adds a record and returns when it is on the disk.
    pub fn append<T: Serialize>(&mut self, record: &T) -> Result<Head, JournalError> {
        self.append_anchored(record, None, Durability::Synced)
    }

    /// The last line written.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The last line that is known to be on the disk.
    pub fn synced_head(&self) -> Head {
        self.synced
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The head of the other journal that the last lines name.
    pub(super) fn last_anchor(&self) -> Option<&Anchor> {
        self.last_anchor.as_ref()
    }

    /// Adds a record with the head of another journal.
    pub(super) fn append_anchored<T: Serialize>(
        &mut self,
        record: &T,
        anchor: Option<Anchor>,
        durability: Durability,
    ) -> Result<Head, JournalError> {
        let record = serde_json::value::to_raw_value(record).map_err(|source| JournalError::Encode { source })?;
        self.write(&Line { anchor, record: Some(&record), ..self.next_line() }, durability)
    }

    /// Adds what the journal has to say about itself.
    pub(super) fn notice(&mut self, notice: Notice, anchor: Option<Anchor>) -> Result<Head, JournalError> {
        self.write(&Line { anchor, notice: Some(notice), ..self.next_line() }, Durability::Synced)
    }

    fn write_header(&mut self) -> Result<(), JournalError> {
        let header = Line {
            journal: Some(self.name.clone()),
            version: Some(VERSION),
            key: Some(self.key.id()),
            seq: 0,
            ..self.next_line()
        };
        self.write(&header, Durability::Synced)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sync_folder(folder).map_err(JournalError::io("sync the folder of", &self.path))
    }

    fn next_line(&self) -> Line<'static> {
        Line {
            journal: None,
            version: None,
            key: None,
            seq: self.head.seq + 1,
            at: format!("{:.3}", jiff::Timestamp::now()),
            prev: self.head.mac,
            anchor: None,
            record: None,
            notice: None,
        }
    }

    /// One write, one sync. A write that fails halfway is undone; where that fails too, or where it
    /// is unknown what the disk has, the journal takes no more lines.
    fn write(&mut self, line: &Line<'_>, durability: Durability) -> Result<Head, JournalError> {
        if self.poisoned {
            return Err(JournalError::Poisoned { path: self.path.clone() });
        }
        let (bytes, mac) = line.seal(&self.key, &self.name)?;
        if let Err(error) = self.file.write_all(&bytes) {
            self.poisoned = truncate(&self.path, self.length).is_err();
            return Err(JournalError::io("write to the journal", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        self.head = Head { seq: line.seq, mac };
        match durability {
            Durability::Synced => self.sync()?,
            Durability::Flushed => {}
        }
        Ok(self.head)
    }

    /// Puts every line on the disk.
    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        if let Err(error) = self.file.sync_data() {
            self.poisoned = true;
            return Err(JournalError::io("sync the journal", &self.path)(error));
        }
        self.synced = self.head;
        Ok(())
    }

    /// Moves a fragment to a file of its own, then cuts it off.
    fn set_aside(&mut self, fragment: &[u8], seq: u64) -> Result<Torn, JournalError> {
        let save = || JournalError::io("save a torn line of", &self.path);
        let (mut copy, saved_as) = new_beside(&self.path, seq).map_err(save())?;
        copy.write_all(fragment).and_then(|()| copy.sync_all()).map_err(save())?;
        self.length -= fragment.len() as u64;
        truncate(&self.path, self.length).map_err(JournalError::io("cut a torn line off", &self.path))?;
        Ok(Torn { seq, bytes: fragment.len() as u64, saved_as })
    }
}

/// The lock lives in a file of its own: on some systems a locked file cannot be read.
pub(super) fn lock(path: &Path) -> Result<File, JournalError> {
    let action = || JournalError::io("lock the journal", path);
    let beside = with_suffix(path, ".lock");
    let file = private(OpenOptions::new().append(true).create(true)).open(beside).map_err(action())?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(action()(error)),
            Err(TryLockError::WouldBlock) if begin.elapsed() >= LOCK_WAIT => {
                return Err(JournalError::Locked { path: path.to_owned() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_STEP),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// `<file>.torn-<seq>`, or the same with a number when there is one from an earlier time.
fn new_beside(path: &Path, seq: u64) -> io::Result<(File, PathBuf)> {
    for attempt in 1..1000 {
        let again = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let beside = with_suffix(path, &format!(".torn-{seq}{again}"));
        match private(OpenOptions::new().write(true).create_new(true)).open(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, beside)),
        }
    }
    Err(io::Error::other("too many torn lines of this number were saved before"))
}

/// Not through the journal's own handle: a handle that only appends may not cut on every system.
fn truncate(path: &Path, length: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}

fn broken(path: &Path, place: &'static str, reason: &str) -> JournalError {
    JournalError::Broken { path: path.to_owned(), place, reason: reason.to_owned() }
}

fn check_header(path: &Path, key: &JournalKey, name: &str, bytes: &[u8]) -> Result<(), JournalError> {
    let unreadable = || broken(path, "beginning", "its first line is not the first line of a journal");
    let header = parse(bytes).map_err(|_| unreadable())?;
    let (Some(found), Some(version)) = (header.journal, header.version) else { return Err(unreadable()) };
    let path = path.to_owned();
    if header.key.is_some_and(|id| id != key.id()) {
        return Err(JournalError::WrongKey { path });
    }
    if found != name {
        return Err(JournalError::OtherJournal { path, found, wanted: name.to_owned() });
    }
    if version > VERSION {
        return Err(JournalError::Newer { path, version });
    }
    if authenticate(key, name, bytes).is_none() {
        return Err(broken(&path, "beginning", "its first line was edited"));
    }
    Ok(())
}

/// The head of the complete lines, if there are any, and the last anchor, after checking the last
/// two lines.
fn check_tail(
    path: &Path,
    key: &JournalKey,
    name: &str,
    end: &Tail,
) -> Result<(Option<Head>, Option<Anchor>), JournalError> {
    let mut head: Option<Head> = None;
    let mut anchor = None;
    for bytes in &end.lines {
        let mac =
            authenticate(key, name, bytes).ok_or_else(|| broken(path, "end", "one of its last lines was edited"))?;
        let line = parse(bytes).map_err(|error| broken(path, "end", &error.to_string()))?;
        if head.is_some_and(|before| line.prev != before.mac || line.seq != before.seq + 1) {
            return Err(broken(path, "end", &format!("the line with seq {} does not follow the one before", line.seq)));
        }
        head = Some(Head { seq: line.seq, mac });
        anchor = line.anchor.or(anchor);
    }
    Ok((head, anchor))
}

/// A fragment that lacks nothing but its newline is a line: adds the newline.
fn complete(
    path: &Path,
    key: &JournalKey,
    name: &str,
    last: Option<Head>,
    file: &mut File,
    end: &mut Tail,
) -> Result<Option<Head>, JournalError> {
    let Some(mac) = authenticate(key, name, &end.fragment) else { return Ok(None) };
    let Ok(line) = parse(&end.fragment) else { return Ok(None) };
    let follows = last.map_or(line.seq == 0, |last| line.seq == last.seq + 1 && line.prev == last.mac);
    if !follows {
        return Ok(None);
    }
    let head = Head { seq: line.seq, mac };
    file.write_all(b"\n")
        .and_then(|()| file.sync_data())
        .map_err(JournalError::io("complete the last line of", path))?;
    Ok(Some(head))
}

#[cfg(test)]
#[path = "append_tests.rs"]
mod tests;

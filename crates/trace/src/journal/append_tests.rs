//! Tests of writing one journal.

use std::collections::BTreeMap;

use super::super::{Entry, records};
use super::*;

fn key() -> JournalKey {
    JournalKey::from_bytes(&[1; 32])
}

fn open(path: &Path) -> (Journal, Recovery) {
    Journal::open(path, &key(), "test").unwrap()
}

fn written(path: &Path) -> Vec<String> {
    records::<String>(path).unwrap().map(|entry| entry.unwrap().record).collect()
}

/// A journal with the records "0" to "count - 1".
fn filled(path: &Path, count: usize) -> Vec<u8> {
    let (mut journal, _) = open(path);
    for number in 0..count {
        journal.append(&number.to_string()).unwrap();
    }
    fs::read(path).unwrap()
}

#[test]
fn lines_are_numbered_chained_and_read_back_over_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/test.jsonl");
    let (journal, recovery) = open(&path);
    assert!(recovery.created && recovery.torn.is_none());
    assert_eq!(journal.head().seq, 0);
    drop(journal);
    for number in 1..=3 {
        let (mut journal, recovery) = open(&path);
        assert_eq!(recovery, Recovery::default());
        assert_eq!(journal.append(&format!("record {number}")).unwrap().seq, number);
        assert_eq!(journal.head(), journal.synced_head());
    }
    let entries: Vec<Entry<String>> = records(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(entries[2].record, "record 3");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"journal\":\"test\",\"version\":1,\"key\":\""), "{text}");
    assert!(text.lines().nth(1).unwrap().contains("\"record\":\"record 1\",\"mac\":\""));
}

#[test]
fn a_line_torn_at_any_byte_is_set_aside_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(&folder.path().join("whole.jsonl"), 3);
    let begin = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in begin..whole.len() {
        let path = folder.path().join(format!("{cut}.jsonl"));
        fs::write(&path, &whole[..cut]).unwrap();
        let (mut journal, recovery) = open(&path);
        let lost = &whole[begin..cut];
        let only_the_newline = cut == whole.len() - 1;
        assert_eq!(recovery.completed, only_the_newline, "{cut}");
        if lost.is_empty() || only_the_newline {
            assert_eq!(recovery.torn, None, "{cut}");
        } else {
            let torn = recovery.torn.unwrap();
            assert_eq!((torn.seq, torn.bytes), (3, lost.len() as u64));
            assert_eq!(torn.saved_as, folder.path().join(format!("{cut}.jsonl.torn-3")));
            assert_eq!(fs::read(&torn.saved_as).unwrap(), lost);
        }
        journal.append(&"after").unwrap();
        drop(journal);
        let expected: &[&str] = if only_the_newline { &["0", "1", "2", "after"] } else { &["0", "1", "after"] };
        assert_eq!(written(&path), expected);
        assert_eq!(open(&path).1, Recovery::default());
    }
}

#[test]
fn a_torn_first_line_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let whole = filled(&folder.path().join("whole.jsonl"), 0);
    for cut in 1..whole.len() {
        let path = folder.path().join(format!("{cut}.jsonl"));
        fs::write(&path, &whole[..cut]).unwrap();
        let (mut journal, recovery) = open(&path);
        assert_eq!((recovery.completed, recovery.created), (cut == whole.len() - 1, cut < whole.len() - 1));
        assert_eq!(recovery.torn.map(|torn| torn.seq), (cut < whole.len() - 1).then_some(0));
        journal.append(&"after").unwrap();
        drop(journal);
        assert_eq!(written(&path), ["after"]);
        assert_eq!(open(&path).1, Recovery::default());
    }
}

#[test]
fn saved_fragments_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let whole = filled(&path, 1);
    for fragment in ["{\"seq\":2,\"first", "{\"seq\":2,\"second"] {
        fs::write(&path, [&whole, fragment.as_bytes()].concat()).unwrap();
        let torn = open(&path).1.torn.unwrap();
        assert_eq!(fs::read_to_string(torn.saved_as).unwrap(), fragment);
    }
}

#[test]
fn a_broken_end_or_beginning_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let whole = String::from_utf8(filled(&path, 3)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let edited = lines[3].replace("\"2\"", "\"9\"");
    let header = lines[0].replace("\"version\":1", "\"version\": 1");
    let cases: BTreeMap<&str, String> = BTreeMap::from([
        ("edited last line", join(&[lines[0], lines[1], lines[2], &edited])),
        ("edited line before it", join(&[lines[0], lines[1], &lines[2].replace("\"1\"", "\"8\""), lines[3]])),
        ("deleted line before it", join(&[lines[0], lines[1], lines[3]])),
        ("swapped", join(&[lines[0], lines[1], lines[3], lines[2]])),
        ("empty line", join(&[lines[0], lines[1], ""])),
        ("edited first line", join(&[&header, lines[1], lines[2], lines[3]])),
        ("no first line", join(&[lines[1], lines[2], lines[3]])),
        ("not a journal", "# notes\n\nsome text\n".into()),
    ]);
    for (name, text) in cases {
        fs::write(&path, &text).unwrap();
        let error = Journal::open(&path, &key(), "test").unwrap_err();
        assert!(matches!(error, JournalError::Broken { .. }), "{name}: {error}");
        assert!(error.hint().contains("journal verify"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{name}: the file was touched");
    }
}

#[test]
fn another_key_another_name_and_a_newer_version_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    filled(&path, 1);
    let other = JournalKey::from_bytes(&[2; 32]);
    assert!(matches!(Journal::open(&path, &other, "test"), Err(JournalError::WrongKey { .. })));
    let error = Journal::open(&path, &key(), "another").unwrap_err();
    assert!(
        matches!(error, JournalError::OtherJournal { found, wanted, .. } if found == "test" && wanted == "another")
    );
    let newer = fs::read_to_string(&path).unwrap().replace("\"version\":1", "\"version\":2");
    fs::write(&path, newer).unwrap();
    assert!(matches!(Journal::open(&path, &key(), "test"), Err(JournalError::Newer { version: 2, .. })));
}

#[test]
fn only_one_may_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let (journal, _) = open(&path);
    let error = Journal::open(&path, &key(), "test").unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }) && error.hint().contains("close"));
    drop(journal);
    open(&path);
}

#[test]
fn a_write_that_fails_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let (mut journal, _) = open(&path);
    journal.append(&"one").unwrap();
    let before = fs::read(&path).unwrap();
    let writable = std::mem::replace(&mut journal.file, File::open(&path).unwrap());
    assert!(matches!(journal.append(&"lost"), Err(JournalError::Io { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    journal.file = writable;
    assert_eq!(journal.append(&"two").unwrap().seq, 2);
    drop(journal);
    assert_eq!(written(&path), ["one", "two"]);
}

#[test]
fn a_record_longer_than_a_line_is_refused_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let (mut journal, _) = open(&path);
    let error = journal.append(&"x".repeat(super::super::LINE_BYTES)).unwrap_err();
    assert!(matches!(error, JournalError::TooLong { .. }));
    journal.append(&"x".repeat(1_000_000)).unwrap();
    drop(journal);
    assert_eq!(written(&path)[0].len(), 1_000_000);
    assert_eq!(open(&path).1, Recovery::default());
}

#[cfg(unix)]
#[test]
fn the_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.jsonl");
    let whole = filled(&path, 1);
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    open(&path);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
    }
}

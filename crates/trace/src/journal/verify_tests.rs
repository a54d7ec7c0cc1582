//! Tests of checking the journals: whatever is done to the files is found.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::super::HeadKeeper;
use super::super::testing::{MemoryKeeper, filled, key};
use super::*;

const BOTH: [&str; 2] = [TRACE_JOURNAL, INTENTIONS_JOURNAL];

fn read(directory: &Path, name: &str) -> Vec<String> {
    fs::read_to_string(journal_path(directory, name)).unwrap().lines().map(str::to_owned).collect()
}

fn write(directory: &Path, name: &str, lines: &[String]) {
    let ending = if lines.is_empty() { "" } else { "\n" };
    let text = lines.join("\n") + ending;
    fs::write(journal_path(directory, name), text).unwrap();
}

fn heads(keeper: &MemoryKeeper) -> Heads {
    keeper.known().unwrap()
}

/// The findings of a journal of 13 lines (trace) or 5 (intentions) after `change`, without heads.
fn after(name: &str, change: impl FnOnce(&mut Vec<String>)) -> Vec<(u64, FindingKind)> {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 4);
    let mut lines = read(folder.path(), name);
    change(&mut lines);
    write(folder.path(), name, &lines);
    let verification = verify(folder.path(), &key(), None);
    let (changed, other): (Vec<_>, Vec<_>) = verification.files.iter().partition(|file| file.name == name);
    assert!(other[0].ok, "{verification:#?}");
    assert_eq!(changed[0].ok, verification.ok);
    changed[0].findings.iter().map(|finding| (finding.line, finding.kind)).collect()
}

#[test]
fn journals_as_they_were_written_verify() {
    let folder = tempfile::tempdir().unwrap();
    assert!(verify(folder.path(), &key(), None).ok, "nothing was ever written");
    let keeper = filled(folder.path(), 4);
    let verification = verify(folder.path(), &key(), Some(&heads(&keeper)));
    let lines: Vec<u64> = verification.files.iter().map(|file| file.lines).collect();
    assert!(verification.ok && lines == [13, 5], "{verification:#?}");
    assert!(verification.files.iter().all(|file| file.findings.is_empty()));
}

#[test]
fn every_change_is_found_at_its_line() {
    use FindingKind::{BadJson, CutTail, Deleted, Edited, Inserted, Reordered};
    for (name, count) in [(TRACE_JOURNAL, 13), (INTENTIONS_JOURNAL, 5)] {
        // The first line, one inside, the last one.
        for line in [0, 2, count - 1] {
            let found = after(name, |lines| lines[line] = lines[line].replacen("\"seq\":", "\"seq\": ", 1));
            assert_eq!(found, [(line as u64 + 1, Edited)], "edited {name} {line}");
            let found = after(name, |lines| lines[line].truncate(40));
            assert_eq!(found, [(line as u64 + 1, BadJson)], "cut short {name} {line}");
            let found = after(name, |lines| lines.insert(line, "{\"seq\":99,\"record\":{}}".into()));
            assert_eq!(found, [(line as u64 + 1, Inserted)], "inserted {name} {line}");
            let found = after(name, |lines| lines.push(lines[line].clone()));
            assert_eq!(found, [(count as u64 + 1, Inserted)], "copied {name} {line}");
        }
        for line in [0, 2, count - 2] {
            let found = after(name, |lines| drop(lines.remove(line)));
            assert_eq!(found, [(line as u64 + 1, Deleted)], "deleted {name} {line}");
            let found = after(name, |lines| lines.swap(line, line + 1));
            assert_eq!(found, [(line as u64 + 2, Reordered)], "swapped {name} {line}");
        }
        let found = after(name, |lines| lines.push(String::new()));
        assert_eq!(found, [(count as u64 + 1, BadJson)], "an empty line at the end");
    }
    // The last trace line was written after the last intention: only the database knows it.
    assert_eq!(after(TRACE_JOURNAL, |lines| lines.truncate(10)), [(10, CutTail)]);
    assert_eq!(after(INTENTIONS_JOURNAL, |lines| lines.truncate(4)), [(4, CutTail)]);
    assert_eq!(after(INTENTIONS_JOURNAL, |lines| lines.truncate(1)), [(1, CutTail)]);
    assert_eq!(after(INTENTIONS_JOURNAL, Vec::clear), [(0, CutTail)]);
}

#[test]
fn deleted_lines_are_named_as_a_range() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 4);
    let mut lines = read(folder.path(), TRACE_JOURNAL);
    lines.drain(3..6);
    write(folder.path(), TRACE_JOURNAL, &lines);
    let findings = verify(folder.path(), &key(), None).files.remove(0).findings;
    assert_eq!(findings[0].detail, "the lines with seq 3 to 5 are missing before this one");
    assert_eq!(findings.len(), 1);
}

#[test]
fn tails_cut_at_the_same_moment_are_found_by_the_heads_alone() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = filled(folder.path(), 4);
    // As after the third turn.
    for (name, count) in [(TRACE_JOURNAL, 10), (INTENTIONS_JOURNAL, 4)] {
        let lines = read(folder.path(), name);
        write(folder.path(), name, &lines[..count]);
    }
    assert!(verify(folder.path(), &key(), None).ok);
    let verification = verify(folder.path(), &key(), Some(&heads(&keeper)));
    let kinds: Vec<FindingKind> = verification.files.iter().map(|file| file.findings[0].kind).collect();
    assert_eq!(kinds, [FindingKind::CutTail; 2]);
    assert!(verification.files[0].findings[0].detail.starts_with("3 lines are missing at the end: the database"));
    // Nothing left at all.
    for name in BOTH {
        fs::remove_file(journal_path(folder.path(), name)).unwrap();
    }
    let verification = verify(folder.path(), &key(), Some(&heads(&keeper)));
    assert!(verification.files.iter().all(|file| file.findings[0].kind == FindingKind::Missing));
}

#[test]
fn another_key_is_one_finding() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = filled(folder.path(), 4);
    let other = super::super::JournalKey::from_bytes(&[9; 32]);
    for file in verify(folder.path(), &other, Some(&heads(&keeper))).files {
        assert_eq!(file.findings.iter().map(|found| found.kind).collect::<Vec<_>>(), [FindingKind::WrongKey]);
    }
}

#[test]
fn swapped_files_are_one_finding_each() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = filled(folder.path(), 4);
    let [trace, intentions] = BOTH.map(|name| read(folder.path(), name));
    write(folder.path(), TRACE_JOURNAL, &intentions);
    write(folder.path(), INTENTIONS_JOURNAL, &trace);
    for file in verify(folder.path(), &key(), Some(&heads(&keeper))).files {
        assert_eq!(file.findings.iter().map(|found| found.kind).collect::<Vec<_>>(), [FindingKind::Swapped]);
    }
}

#[test]
fn a_journal_of_another_directory_with_the_same_key_does_not_fit() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(folder.path(), 4);
    filled(other.path(), 6);
    let lines = read(other.path(), INTENTIONS_JOURNAL);
    write(folder.path(), INTENTIONS_JOURNAL, &lines);
    let verification = verify(folder.path(), &key(), None);
    assert!(verification.files[1].findings.iter().any(|found| found.kind == FindingKind::Replaced));
    // A line of one in the other: authentic, but after another line.
    let mut mixed = read(folder.path(), TRACE_JOURNAL);
    mixed[5] = read(other.path(), TRACE_JOURNAL)[5].clone();
    write(folder.path(), TRACE_JOURNAL, &mixed);
    let verification = verify(folder.path(), &key(), None);
    assert!(verification.files[0].findings.iter().any(|found| found.line == 6), "{verification:#?}");
}

#[test]
fn findings_are_capped() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 1);
    let mut lines = read(folder.path(), TRACE_JOURNAL);
    lines.extend((0..500).map(|number| format!("junk {number}")));
    write(folder.path(), TRACE_JOURNAL, &lines);
    let findings = verify(folder.path(), &key(), None).files.remove(0).findings;
    assert_eq!(findings.len(), FINDINGS + 1);
    assert_eq!(findings[FINDINGS].detail, "400 more findings");
}

#[derive(Debug, Clone)]
enum Change {
    Byte { at: prop::sample::Index, to: u8 },
    InsertByte { at: prop::sample::Index, byte: u8 },
    RemoveByte { at: prop::sample::Index },
    Truncate { at: prop::sample::Index },
    RemoveLines { from: prop::sample::Index, count: usize },
    Swap { one: prop::sample::Index, other: prop::sample::Index },
    Copy { from: prop::sample::Index, to: prop::sample::Index },
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        6 => (index(), any::<u8>()).prop_map(|(at, to)| Change::Byte { at, to }),
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::InsertByte { at, byte }),
        2 => index().prop_map(|at| Change::RemoveByte { at }),
        1 => index().prop_map(|at| Change::Truncate { at }),
        1 => (index(), 1..4_usize).prop_map(|(from, count)| Change::RemoveLines { from, count }),
        1 => (index(), index()).prop_map(|(one, other)| Change::Swap { one, other }),
        1 => (index(), index()).prop_map(|(from, to)| Change::Copy { from, to }),
    ]
}

fn apply(bytes: &[u8], change: &Change) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    match change {
        Change::Byte { at, to } => changed[at.index(bytes.len())] = *to,
        Change::InsertByte { at, byte } => changed.insert(at.index(bytes.len()), *byte),
        Change::RemoveByte { at } => drop(changed.remove(at.index(bytes.len()))),
        Change::Truncate { at } => changed.truncate(at.index(bytes.len())),
        Change::RemoveLines { from, count } => {
            let from = from.index(lines.len());
            lines.drain(from..(from + count).min(lines.len()));
            changed = lines.concat();
        }
        Change::Swap { one, other } => {
            let count = lines.len();
            lines.swap(one.index(count), other.index(count));
            changed = lines.concat();
        }
        Change::Copy { from, to } => {
            lines.insert(to.index(lines.len()), lines[from.index(lines.len())]);
            changed = lines.concat();
        }
    }
    changed
}

proptest! {
    /// Whatever changes in either file is found, with the heads kept elsewhere. Only a missing last
    /// newline is no fault, for a crash leaves it so and nothing is lost.
    #[test]
    fn any_change_is_found(which in 0..2_usize, changes in prop::collection::vec(change(), 1..4)) {
        static ORIGINAL: std::sync::OnceLock<([Vec<u8>; 2], Heads)> = std::sync::OnceLock::new();
        let (files, heads) = ORIGINAL.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let keeper = filled(folder.path(), 4);
            (BOTH.map(|name| fs::read(journal_path(folder.path(), name)).unwrap()), heads(&keeper))
        });
        let changed = changes.iter().fold(files[which].clone(), |bytes, change| {
            if bytes.is_empty() { bytes } else { apply(&bytes, change) }
        });
        prop_assume!(changed != files[which]);
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in BOTH.iter().zip(files) {
            fs::write(journal_path(folder.path(), name), bytes).unwrap();
        }
        fs::write(journal_path(folder.path(), BOTH[which]), &changed).unwrap();
        let verification = verify(folder.path(), &key(), Some(heads));
        prop_assert!(!verification.files[which].findings.is_empty());
        // Bytes after the last newline are what a crash leaves: reported, not a fault.
        let only_torn = changed == files[which][..files[which].len() - 1] || changed.starts_with(&files[which]);
        prop_assert!(!verification.ok || only_torn, "{verification:#?}");
        // The chain is not continued unless its end is right, and what is wrong stays found.
        if super::super::Journal::open(&journal_path(folder.path(), BOTH[which]), &key(), BOTH[which]).is_ok() {
            let again = verify(folder.path(), &key(), Some(heads));
            prop_assert!(!again.ok || only_torn, "{again:#?}");
        }
    }
}

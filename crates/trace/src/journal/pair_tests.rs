//! Tests of the pair of journals.

use std::fs;

use super::super::testing::{MemoryKeeper, between, end, filled, intention, key, open, request};
use super::super::{FindingKind, records, verify};
use super::*;

/// Keeps the first `lines` lines of a journal.
fn cut(directory: &Path, name: &str, lines: usize) {
    let path = journal_path(directory, name);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_inclusive('\n').take(lines).collect::<String>()).unwrap();
}

#[test]
fn an_intention_is_on_the_disk_when_the_call_returns() {
    let folder = tempfile::tempdir().unwrap();
    let (journals, recovery) = Journals::open(folder.path(), &key(), None).unwrap();
    assert!(recovery.trace.created && recovery.intentions.created && recovery.lost.is_empty());
    let head = journals.intention(&intention(1)).unwrap();
    assert_eq!(journals.heads()[INTENTIONS_JOURNAL], head);
    let path = journal_path(folder.path(), INTENTIONS_JOURNAL);
    let stored: Vec<Intention> = records(&path).unwrap().map(|entry| entry.unwrap().record).collect();
    assert_eq!(stored, [intention(1)]);
    assert!(fs::read_to_string(path).unwrap().lines().nth(1).unwrap().contains("\"journal\":\"orchestrator-trace\""));
}

#[test]
fn a_flushed_trace_is_named_by_others_only_once_it_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let (journals, _) = Journals::open_with(folder.path(), &key(), None, Durability::Flushed).unwrap();
    let synced = journals.trace(&request()).unwrap();
    journals.trace(&between()).unwrap();
    assert_eq!(journals.heads()[TRACE_JOURNAL], synced);
    journals.intention(&intention(1)).unwrap();
    assert_eq!(journals.lock().intentions.head().seq, 1);
    let text = fs::read_to_string(journal_path(folder.path(), INTENTIONS_JOURNAL)).unwrap();
    assert!(text.contains(&format!("\"seq\":1,\"mac\":\"{}\"", synced.mac)), "{text}");
    let last = journals.trace(&end()).unwrap();
    assert_eq!(journals.heads()[TRACE_JOURNAL], last);
}

#[test]
fn a_second_process_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_journals, _) = Journals::open(folder.path(), &key(), None).unwrap();
    assert!(matches!(Journals::open(folder.path(), &key(), None), Err(JournalError::Locked { .. })));
}

#[test]
fn threads_append_whole_lines_in_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = Arc::new(MemoryKeeper::default());
    let (journals, _) = open(folder.path(), &keeper);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journals = &journals;
            scope.spawn(move || {
                for number in 0..10 {
                    journals.intention(&intention(thread * 10 + number)).unwrap();
                    journals.trace(&if number % 2 == 0 { request() } else { between() }).unwrap();
                }
            });
        }
        // Somebody checks meanwhile.
        scope.spawn(|| {
            for _ in 0..10 {
                let known = keeper.known().unwrap();
                let verification = verify(folder.path(), &key(), Some(&known));
                assert!(verification.ok, "{verification:#?}");
            }
        });
    });
    let verification = verify(folder.path(), &key(), Some(&journals.heads()));
    assert!(verification.ok && verification.files.iter().all(|file| file.lines == 41), "{verification:#?}");
}

#[test]
fn a_loss_is_found_at_the_next_start_and_stays_written_down() {
    // Lines kept of the trace (of 10) and of the intentions (of 4).
    for (trace, intentions) in [(10, 3), (9, 4), (8, 3), (1, 1), (9, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let keeper = filled(folder.path(), 3);
        cut(folder.path(), TRACE_JOURNAL, trace);
        cut(folder.path(), INTENTIONS_JOURNAL, intentions);
        let (journals, recovery) = open(folder.path(), &keeper);
        let expected: Vec<&str> = [(trace < 10, TRACE_JOURNAL), (intentions < 4, INTENTIONS_JOURNAL)]
            .into_iter()
            .filter_map(|(lost, name)| lost.then_some(name))
            .collect();
        let found: Vec<&str> = recovery.lost.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, expected, "{trace} {intentions}");
        for turn in 0..10 {
            journals.intention(&intention(turn)).unwrap();
            journals.trace(&end()).unwrap();
        }
        drop(journals);
        let (journals, recovery) = open(folder.path(), &keeper);
        assert_eq!(recovery, JournalsRecovery::default(), "the same loss is not found twice");
        drop(journals);
        let verification = verify(folder.path(), &key(), Some(&keeper.known().unwrap()));
        for file in &verification.files {
            let cut = file.findings.iter().any(|finding| finding.kind == FindingKind::CutTail);
            assert_eq!(cut, expected.contains(&file.name.as_str()), "{verification:#?}");
        }
    }
}

#[test]
fn a_deleted_journal_is_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = filled(folder.path(), 2);
    fs::remove_file(journal_path(folder.path(), INTENTIONS_JOURNAL)).unwrap();
    let verification = verify(folder.path(), &key(), None);
    assert_eq!(verification.files[1].findings[0].kind, FindingKind::Missing);
    let (_, recovery) = open(folder.path(), &keeper);
    assert_eq!((recovery.lost.len(), recovery.lost[0].1.seq), (1, 2));
    assert!(!verify(folder.path(), &key(), None).ok);
}

#[test]
fn a_torn_line_is_recovered_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = filled(folder.path(), 1);
    let path = journal_path(folder.path(), TRACE_JOURNAL);
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"seq\":4,\"at\":\"20");
    fs::write(&path, text).unwrap();
    let before = verify(folder.path(), &key(), Some(&keeper.known().unwrap()));
    let torn = |verification: &super::super::Verification| {
        assert!(verification.ok, "{verification:#?}");
        let findings = &verification.files[0].findings;
        assert_eq!((findings.len(), findings[0].kind, findings[0].line), (1, FindingKind::TornLine, 5));
    };
    torn(&before);
    let (journals, recovery) = open(folder.path(), &keeper);
    assert_eq!(recovery.trace.torn.as_ref().map(|torn| (torn.seq, torn.bytes)), Some((4, 17)));
    assert!(recovery.lost.is_empty());
    journals.trace(&end()).unwrap();
    torn(&verify(folder.path(), &key(), Some(&keeper.known().unwrap())));
}

#[test]
fn a_keeper_that_fails_stops_the_opening_and_not_the_writing() {
    struct Broken(bool);
    impl HeadKeeper for Broken {
        fn known(&self) -> Result<Heads, String> {
            if self.0 { Ok(Heads::new()) } else { Err("unreadable".into()) }
        }
        fn keep(&self, _: &Heads) -> Result<(), String> {
            Err("full".into())
        }
        fn forget(&self) -> Result<(), String> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let error = Journals::open(folder.path(), &key(), Some(Arc::new(Broken(false)))).unwrap_err();
    assert!(matches!(error, JournalError::Heads { .. }));
    let (journals, _) = Journals::open(folder.path(), &key(), Some(Arc::new(Broken(true)))).unwrap();
    journals.intention(&intention(1)).unwrap();
    assert_eq!(journals.keeper_error().as_deref(), Some("full"));
}

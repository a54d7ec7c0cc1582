//! A process that is killed at any moment loses nothing it was told is safe.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::testing::{between, end, intention, key, request};
use super::{HeadKeeper, INTENTIONS_JOURNAL, Journals, journal_path, records, verify};
use crate::Intention;
use crate::database::{Database, SpendKind};

/// Names the directory for the process that will be killed.
const DIRECTORY: &str = "TENPASS_TEST_CRASH_DIRECTORY";
const CAP_MICROS: u64 = 1_000_000;
const CALL_MICROS: u64 = 30_000;
const DAY: &str = "2025-03-03";

fn open(directory: &Path) -> (Journals, Arc<Database>) {
    let database = Arc::new(Database::open(&directory.join("store.sqlite")).unwrap());
    let keeper: Arc<dyn HeadKeeper> = Arc::<Database>::clone(&database);
    let (journals, recovery) = Journals::open(directory, &key(), Some(keeper)).unwrap();
    assert!(recovery.lost.is_empty(), "{recovery:?}");
    (journals, database)
}

/// Turns without end; says each number when its intention is safe, as one that asks would.
fn work(directory: &Path) {
    let (journals, database) = open(directory);
    for call in 1.. {
        journals.trace(&request()).unwrap();
        journals.intention(&intention(call)).unwrap();
        writeln!(std::io::stdout(), "safe {call}").unwrap();
        if let Ok(reservation) = database.reserve(SpendKind::Usd, CALL_MICROS, CAP_MICROS, DAY) {
            writeln!(std::io::stdout(), "paid {call}").unwrap();
            if call % 2 == 0 {
                database.settle(reservation, CALL_MICROS).unwrap();
            }
        }
        journals.trace(&between()).unwrap();
        journals.trace(&end()).unwrap();
    }
}

#[test]
fn a_killed_process_loses_no_intention_and_no_spending() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return work(Path::new(&directory));
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut paid, mut before) = (0, 0);
    for kill_after in [1, 2, 5, 9, 14, 3, 7, 1] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "journal::crash_tests::a_killed_process_loses_no_intention_and_no_spending"])
            .args(["--nocapture", "--test-threads=1"])
            .env(DIRECTORY, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let is_safe = |line: &String| line.contains("safe ");
        let mut heard: Vec<String> = Vec::new();
        while heard.iter().filter(|line| is_safe(line)).count() < kill_after {
            heard.push(said.next().expect("the process ended by itself"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        heard.extend(said);
        let safe = heard.iter().filter(|line| is_safe(line)).count();
        paid += heard.iter().filter(|line| line.contains("paid ")).count() as u64;

        let path = journal_path(folder.path(), INTENTIONS_JOURNAL);
        let on_disk = records::<Intention>(&path).unwrap().map(Result::unwrap).count() - before;
        assert!(on_disk >= safe, "{on_disk} of {safe}");
        let (journals, database) = open(folder.path());
        before = records::<Intention>(&path).unwrap().count();
        let spent = database.spent(SpendKind::Usd, DAY).unwrap().total_micros();
        assert!(spent >= paid * CALL_MICROS && spent <= CAP_MICROS, "{spent} of {paid} calls");
        let verification = verify(folder.path(), &key(), Some(&database.journal_heads().unwrap()));
        assert!(verification.ok, "{verification:#?}");
        drop(journals);
    }
    assert!(before >= 42);
}

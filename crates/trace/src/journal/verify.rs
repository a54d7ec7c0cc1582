//! Checking the journals: every line, each file against the other, both against heads kept elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::line::{Anchor, Head, Mac, Notice};
use super::pair::{Heads, INTENTIONS_JOURNAL, TRACE_JOURNAL, journal_path};
use super::scan::{Scan, State};
use super::{JournalKey, VERSION};

/// Findings of a file beyond this one are counted in its last finding.
pub const FINDINGS: usize = 100;

/// What can be wrong with a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A line was changed.
    Edited,
    /// A line is no JSON any more.
    BadJson,
    /// Lines are missing before this one.
    Deleted,
    /// A line stands at another place than it was written.
    Reordered,
    /// A line was added that the journal never wrote, or a copy of one.
    Inserted,
    /// Authentic lines of two histories of the journal stand in one file.
    Replaced,
    /// Lines are missing at the end.
    CutTail,
    /// The file is missing.
    Missing,
    /// The file is another journal.
    Swapped,
    /// The journal was written with another key.
    WrongKey,
    /// A later version wrote the journal.
    Newer,
    /// The file cannot be read.
    Unreadable,
    /// A write was cut off: recovered, or to be recovered when the journal is opened. No tampering.
    TornLine,
    /// More findings than are listed.
    More,
}

impl FindingKind {
    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::BadJson => "bad_json",
            Self::Deleted => "deleted",
            Self::Reordered => "reordered",
            Self::Inserted => "inserted",
            Self::Replaced => "replaced",
            Self::CutTail => "cut_tail",
            Self::Missing => "missing",
            Self::Swapped => "swapped",
            Self::WrongKey => "wrong_key",
            Self::Newer => "newer",
            Self::Unreadable => "unreadable",
            Self::TornLine => "torn_line",
            Self::More => "more",
        }
    }

    /// False for what happens without anybody's doing: a torn line.
    pub fn is_fault(self) -> bool {
        self != Self::TornLine
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line of the file, from 1; 0 for the file as a whole.
    pub line: u64,
    /// What.
    pub kind: FindingKind,
    /// In words.
    pub detail: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The journal's name.
    pub name: String,
    /// Complete lines.
    pub lines: u64,
    /// Nothing was found but torn lines.
    pub ok: bool,
    /// What was found, in the order of the lines.
    pub findings: Vec<Finding>,
}

/// Both files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Both are as they were written.
    pub ok: bool,
    /// The trace, then the intentions.
    pub files: Vec<FileReport>,
}

/// Checks both journals of a directory. Read `heads` ([`super::HeadKeeper::known`]) before: the
/// journals may be in use, and grow meanwhile.
pub fn verify(directory: &Path, key: &JournalKey, heads: Option<&Heads>) -> Verification {
    let mut checked = [TRACE_JOURNAL, INTENTIONS_JOURNAL].map(|name| Checked::new(directory, key, name));
    read_both(&mut checked);
    for file in &mut checked {
        file.check_lines();
    }
    let [trace, intentions] = &mut checked;
    cross_check(trace, intentions);
    cross_check(intentions, trace);
    for file in &mut checked {
        if let Some(head) = heads.and_then(|heads| heads.get(file.name)) {
            file.expect_head(*head, "the database");
        }
    }
    let files = checked.map(Checked::report);
    Verification { ok: files.iter().all(|file| file.ok), files: files.into() }
}

/// Reads the first file, the second, then what was added to the first meanwhile: so everything the
/// second one names was read. What the added lines name in the second one may not have been.
fn read_both(checked: &mut [Checked<'_>; 2]) {
    let [first, second] = checked;
    first.advance();
    let anchors = first.scan.as_ref().map_or(0, |scan| scan.anchors.len());
    second.advance();
    first.advance();
    if let Some(scan) = &mut first.scan {
        scan.anchors.truncate(anchors);
    }
}

/// Every head of `journal` that `witness` names must be in it.
fn cross_check(journal: &mut Checked<'_>, witness: &mut Checked<'_>) {
    let Some(scan) = &witness.scan else { return };
    for (line, Anchor { journal: named, head }) in &scan.anchors {
        if named == journal.name {
            journal.expect_head(*head, &format!("line {line} of {}", witness.name));
        }
    }
    if journal.missing && journal.cut.is_none() && witness.line_count() > 1 {
        journal.find(0, FindingKind::Missing, "the file does not exist, and the other journal does".into());
    }
}

/// One file while it is checked.
struct Checked<'a> {
    name: &'static str,
    key: &'a JournalKey,
    scan: Option<Scan<'a>>,
    missing: bool,
    /// The authentic lines by their `seq`: MAC and line number.
    known: BTreeMap<u64, (Mac, u64)>,
    /// The `seq` after the last line.
    end: u64,
    /// It was never this journal, so the others cannot say anything about its lines.
    foreign: bool,
    /// The latest head that is missing at the end, and who remembers it.
    cut: Option<(Head, String)>,
    findings: Vec<Finding>,
    more: u64,
}

impl<'a> Checked<'a> {
    fn new(directory: &Path, key: &'a JournalKey, name: &'static str) -> Self {
        let mut checked = Self {
            name,
            key,
            scan: None,
            missing: false,
            known: BTreeMap::new(),
            end: 0,
            foreign: false,
            cut: None,
            findings: Vec::new(),
            more: 0,
        };
        match Scan::open(&journal_path(directory, name), key, name) {
            Ok(scan) => checked.scan = Some(scan),
            Err(error) if error.kind() == io::ErrorKind::NotFound => checked.missing = true,
            Err(error) => checked.unreadable(&error),
        }
        checked
    }

    fn unreadable(&mut self, error: &io::Error) {
        self.foreign = true;
        self.find(0, FindingKind::Unreadable, error.to_string());
    }

    fn advance(&mut self) {
        if let Some(Err(error)) = self.scan.as_mut().map(Scan::advance) {
            self.unreadable(&error);
        }
    }

    fn line_count(&self) -> u64 {
        self.scan.as_ref().map_or(0, |scan| scan.lines.len() as u64)
    }

    fn find(&mut self, line: u64, kind: FindingKind, detail: String) {
        if self.findings.iter().any(|finding| finding.line == line && finding.kind == kind) {
            return;
        }
        if self.findings.len() < FINDINGS {
            self.findings.push(Finding { line, kind, detail });
        } else {
            self.more += 1;
        }
    }

    /// Checks the file by itself.
    fn check_lines(&mut self) {
        let Some(scan) = self.scan.take() else { return };
        if !self.check_identity(&scan) {
            let mut chain = super::chain::Chain::default();
            for line in &scan.lines {
                match line.state {
                    State::Authentic { seq, prev, mac } => chain.authentic(line.number, seq, prev, mac),
                    State::Bad { seq, json } => chain.bad(line.number, seq, json),
                }
            }
            let (known, end, findings) = chain.finish();
            (self.known, self.end) = (known, end);
            for Finding { line, kind, detail } in findings {
                self.find(line, kind, detail);
            }
        }
        for (line, notice) in &scan.notices {
            self.check_notice(*line, notice);
        }
        let last = scan.lines.len() as u64;
        if let Some(bytes) = scan.fragment {
            let detail = format!("a write was cut off after {bytes} bytes; opening the journal sets them aside");
            self.find(last + 1, FindingKind::TornLine, detail);
        }
        if scan.lacks_newline {
            let detail = "the last line lacks its newline; opening the journal adds it".into();
            self.find(last, FindingKind::TornLine, detail);
        }
        self.scan = Some(scan);
    }

    /// True, with one finding, when the whole file is something else than this journal.
    fn check_identity(&mut self, scan: &Scan<'_>) -> bool {
        let header = &scan.header;
        let authentic = scan.lines.iter().any(|line| matches!(line.state, State::Authentic { .. }));
        let (kind, detail) = match &header.journal {
            Some(journal) if journal != self.name && header.authentic_as_named => {
                (FindingKind::Swapped, format!("the file holds the journal {journal}"))
            }
            Some(_) if !authentic && header.key.as_ref().is_some_and(|id| *id != self.key.id()) => {
                (FindingKind::WrongKey, "the journal was written with another key".into())
            }
            Some(_) if header.version.is_some_and(|version| version > VERSION) && header.authentic_as_named => {
                (FindingKind::Newer, format!("the journal has a later format version than {VERSION}"))
            }
            _ => return false,
        };
        self.foreign = true;
        self.find(1, kind, detail);
        true
    }

    fn check_notice(&mut self, line: u64, notice: &Notice) {
        match notice {
            Notice::Torn { bytes, saved_as } => {
                let detail = format!("a write was cut off here; its {bytes} bytes were recovered into {saved_as}");
                self.find(line, FindingKind::TornLine, detail);
            }
            Notice::CutTail { journal, seq, .. } if journal == self.name => {
                let detail = format!("opening the journal found that it once went on to the line with seq {seq}");
                self.find(line, FindingKind::CutTail, detail);
            }
            Notice::CutTail { .. } => {}
        }
    }

    /// Checks that the journal has, or had an edited line for, this head.
    fn expect_head(&mut self, head: Head, witness: &str) {
        if self.foreign {
            return;
        }
        match self.known.get(&head.seq) {
            Some((mac, _)) if *mac == head.mac => {}
            Some((_, line)) => {
                let detail = format!("another line with seq {} stood here when {witness} was written", head.seq);
                self.find(*line, FindingKind::Replaced, detail);
            }
            // Inside: already found as edited or deleted. Or no later than what is known to be cut.
            None if head.seq < self.end || self.cut.as_ref().is_some_and(|(cut, _)| head.seq <= cut.seq) => {}
            None => self.cut = Some((head, witness.to_owned())),
        }
    }

    fn report(mut self) -> FileReport {
        let lines = self.line_count();
        if let Some((head, witness)) = self.cut.take() {
            let lost = head.seq + 1 - self.end;
            let detail = format!("{lost} lines are missing at the end: {witness} knows the line with seq {}", head.seq);
            let kind = if self.missing { FindingKind::Missing } else { FindingKind::CutTail };
            self.find(lines, kind, detail);
        }
        self.findings.sort_by_key(|finding| finding.line);
        if self.more > 0 {
            let detail = format!("{} more findings", self.more);
            self.findings.push(Finding { line: 0, kind: FindingKind::More, detail });
        }
        let ok = self.findings.iter().all(|finding| !finding.kind.is_fault());
        FileReport { name: self.name.to_owned(), lines, ok, findings: self.findings }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;

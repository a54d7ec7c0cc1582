//! What happened to a chain, from the lines that are left of it.
//!
//! Lines whose MAC is right say for certain where they belong; the others are explained by the gap
//! they stand in: as many as are missing there were edited, the rest was inserted. Numbers that are
//! still missing at the end were deleted; those that turned up later were moved.

use std::collections::BTreeMap;

use super::line::Mac;
use super::verify::{Finding, FindingKind};

/// A line whose MAC is wrong.
#[derive(Debug, Clone, Copy)]
struct Bad {
    number: u64,
    seq: Option<u64>,
    json: bool,
}

/// The lines seen so far.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// Authentic lines by `seq`: MAC and line number.
    known: BTreeMap<u64, (Mac, u64)>,
    /// Numbers that are missing, with the line at which that was noticed.
    missing: BTreeMap<u64, u64>,
    /// Wrong lines since the last authentic one.
    bad: Vec<Bad>,
    /// The `seq` that comes next.
    expected: u64,
    /// The MAC of the line before, when it is known.
    previous: Option<Mac>,
    findings: Vec<Finding>,
}

impl Chain {
    fn find(&mut self, line: u64, kind: FindingKind, detail: String) {
        self.findings.push(Finding { line, kind, detail });
    }

    /// A line whose MAC is wrong.
    pub(super) fn bad(&mut self, number: u64, seq: Option<u64>, json: bool) {
        self.bad.push(Bad { number, seq, json });
    }

    /// A line whose MAC is right.
    pub(super) fn authentic(&mut self, number: u64, seq: u64, prev: Mac, mac: Mac) {
        if let Some((known, first)) = self.known.get(&seq).copied() {
            let kind = if known == mac { FindingKind::Inserted } else { FindingKind::Replaced };
            self.find(number, kind, format!("line {first} has the same number (seq {seq})"));
            return;
        }
        self.known.insert(seq, (mac, number));
        if seq < self.expected {
            self.missing.remove(&seq);
            self.find(number, FindingKind::Reordered, format!("the line with seq {seq} was written earlier"));
            return;
        }
        let whole = self.bad.is_empty() && seq == self.expected;
        self.explain_gap(seq, number);
        if whole && self.previous.is_some_and(|previous| previous != prev) {
            let detail = format!("the line with seq {seq} was written after another line than the one before it");
            self.find(number, FindingKind::Replaced, detail);
        }
        self.expected = seq + 1;
        self.previous = Some(mac);
    }

    /// Accounts for the numbers from the expected one up to `seq`, and for the wrong lines.
    fn explain_gap(&mut self, seq: u64, number: u64) {
        let mut bad = std::mem::take(&mut self.bad);
        let mut gap = seq - self.expected;
        // A line that still says its number is the one it says.
        let (expected, mut named) = (self.expected, Vec::new());
        bad.retain(|line| {
            let fits = line.seq.filter(|claimed| (expected..seq).contains(claimed) && !named.contains(claimed));
            named.extend(fits);
            if fits.is_some() {
                self.findings.push(edited(*line));
            }
            fits.is_none()
        });
        gap -= named.len() as u64;
        let mut nameless = 0;
        for line in bad {
            if nameless < gap {
                nameless += 1;
                self.findings.push(edited(line));
            } else {
                self.find(line.number, FindingKind::Inserted, "the journal never wrote this line".into());
            }
        }
        // The nameless ones stand for the first numbers that are free.
        let free = (expected..seq).filter(|seq| !named.contains(seq)).skip(nameless as usize);
        self.missing.extend(free.map(|seq| (seq, number)));
    }

    /// The authentic lines, the `seq` after the last line, and what was found.
    pub(super) fn finish(mut self) -> (BTreeMap<u64, (Mac, u64)>, u64, Vec<Finding>) {
        // Wrong lines at the end: each stands for one number, unless it names one that is taken.
        for line in std::mem::take(&mut self.bad) {
            if line.seq.is_none_or(|seq| seq == self.expected) {
                self.expected += 1;
                self.findings.push(edited(line));
            } else {
                self.find(line.number, FindingKind::Inserted, "the journal never wrote this line".into());
            }
        }
        let mut missing = std::mem::take(&mut self.missing).into_iter().peekable();
        while let Some((first, line)) = missing.next() {
            let mut last = first;
            while let Some((next, _)) = missing.next_if(|(next, at)| *next == last + 1 && *at == line) {
                last = next;
            }
            let detail = match last - first {
                0 => format!("the line with seq {first} is missing before this one"),
                _ => format!("the lines with seq {first} to {last} are missing before this one"),
            };
            self.find(line, FindingKind::Deleted, detail);
        }
        (self.known, self.expected, self.findings)
    }
}

fn edited(line: Bad) -> Finding {
    let (kind, detail) = if line.json {
        (FindingKind::Edited, "the line was changed")
    } else {
        (FindingKind::BadJson, "the line was changed: it is no json any more")
    };
    Finding { line: line.number, kind, detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings for lines written as `(seq, prev, mac)`, or as `None` for a wrong one.
    fn found(lines: &[Option<(u64, u8, u8)>]) -> Vec<(u64, FindingKind)> {
        let mut chain = Chain::default();
        for (line, number) in lines.iter().zip(1..) {
            match line {
                Some((seq, prev, mac)) => chain.authentic(number, *seq, Mac([*prev; 32]), Mac([*mac; 32])),
                None => chain.bad(number, None, true),
            }
        }
        chain.finish().2.iter().map(|finding| (finding.line, finding.kind)).collect()
    }

    #[test]
    fn a_line_that_follows_another_one_is_found_by_prev_alone() {
        assert_eq!(found(&[Some((0, 0, 1)), Some((1, 1, 2)), Some((2, 2, 3))]), []);
        assert_eq!(found(&[Some((0, 0, 1)), Some((1, 1, 2)), Some((2, 9, 3))]), [(3, FindingKind::Replaced)]);
        assert_eq!(found(&[Some((0, 0, 1)), Some((1, 1, 2)), Some((1, 1, 9))]), [(3, FindingKind::Replaced)]);
    }

    #[test]
    fn wrong_lines_are_explained_by_the_gap_they_stand_in() {
        use FindingKind::{Deleted, Edited, Inserted};
        // Three are missing and two stand there: two edited, one deleted.
        let lines = [Some((0, 0, 1)), None, None, Some((4, 4, 5))];
        assert_eq!(found(&lines), [(2, Edited), (3, Edited), (4, Deleted)]);
        // One is missing and two stand there.
        assert_eq!(found(&[Some((0, 0, 1)), None, None, Some((2, 2, 3))]), [(2, Edited), (3, Inserted)]);
        // None is missing.
        assert_eq!(found(&[Some((0, 0, 1)), None, Some((1, 1, 2))]), [(2, Inserted)]);
    }

    #[test]
    fn a_line_moved_far_away_is_not_deleted() {
        let lines = [Some((0, 0, 1)), Some((2, 2, 3)), Some((3, 3, 4)), Some((1, 1, 2)), Some((4, 4, 5))];
        assert_eq!(found(&lines), [(4, FindingKind::Reordered)]);
    }
}

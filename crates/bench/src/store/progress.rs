//! Which passes of a run are settled, read from its files in one walk.

use std::collections::HashMap;
use std::path::Path;

use crate::store::lines::{LineReader, Place, parse_line};
use crate::store::record::{OutcomeHead, PassHead};
use crate::store::{Manifest, OUTCOMES, PASSES, StoreError};

/// Which passes a run has. One byte a pass, so that it stays small for any run.
#[derive(Debug)]
pub(crate) struct Progress {
    configurations: usize,
    passes: usize,
    settled: Vec<bool>,
    /// Of settled passes: whether the answer is right; `None` when there was none to judge.
    results: Vec<Option<bool>>,
    /// Attempts already made at passes that are not settled.
    attempts: HashMap<usize, u32>,
}

impl Progress {
    /// Of a run that has nothing yet.
    pub(crate) fn empty(cases: usize, configurations: usize, passes: u32) -> Self {
        let passes = passes as usize;
        let slots = cases * configurations * passes;
        Self {
            configurations,
            passes,
            settled: vec![false; slots],
            results: vec![None; slots],
            attempts: HashMap::new(),
        }
    }

    /// Of the files in `directory`, together with the places of final pass lines that have no
    /// outcome (the process ended between the two). A line that names an unknown case or
    /// configuration is an error: it belongs to another run.
    pub(crate) fn scan(
        directory: &Path,
        manifest: &Manifest,
        cases: &[&str],
    ) -> Result<(Self, Vec<Place>), StoreError> {
        let mut progress = Self::empty(cases.len(), manifest.configurations.len(), manifest.passes);
        let keys = Keys::new(manifest, cases);
        let mut ungraded: HashMap<usize, (u32, Place)> = HashMap::new();
        walk(&directory.join(PASSES), |path, place, bytes| {
            let head: PassHead<'_> = parse_line(path, place, bytes)?;
            let slot = keys.slot(path, place, &head.case, &head.configuration, head.pass)?;
            progress.note(slot, &head);
            if head.is_final {
                ungraded.insert(slot, (head.attempt, place));
            }
            Ok(())
        })?;
        walk(&directory.join(OUTCOMES), |path, place, bytes| {
            let head: OutcomeHead<'_> = parse_line(path, place, bytes)?;
            let slot = keys.slot(path, place, &head.case, &head.configuration, head.pass)?;
            progress.results[slot] = head.success;
            if ungraded.get(&slot).is_some_and(|(attempt, _)| *attempt == head.attempt) {
                ungraded.remove(&slot);
            }
            Ok(())
        })?;
        let mut places: Vec<Place> = ungraded.into_values().map(|(_, place)| place).collect();
        places.sort_by_key(|place| place.offset);
        Ok((progress, places))
    }

    fn note(&mut self, slot: usize, head: &PassHead<'_>) {
        if head.is_settled() {
            self.settled[slot] = true;
            self.attempts.remove(&slot);
        } else if !self.settled[slot] {
            self.attempts.insert(slot, head.attempt);
        }
    }

    /// Notes the grade of a pass whose process ended before it was written.
    pub(crate) fn grade(&mut self, case: usize, configuration: usize, pass: u32, success: Option<bool>) {
        let slot = (case * self.configurations + configuration) * self.passes + pass as usize - 1;
        self.results[slot] = success;
    }

    /// Settles a pass, for tests.
    #[cfg(test)]
    pub(crate) fn settle(&mut self, case: usize, configuration: usize, pass: u32, success: Option<bool>) {
        let slot = (case * self.configurations + configuration) * self.passes + pass as usize - 1;
        self.settled[slot] = true;
        self.results[slot] = success;
    }

    /// What is known of every pass, case after case, configuration after configuration: `None` when it
    /// needs an answer, then whether that is right.
    pub(crate) fn results(&self) -> impl Iterator<Item = Option<Option<bool>>> {
        self.settled.iter().zip(&self.results).map(|(settled, result)| settled.then_some(*result))
    }

    /// Attempts already made at a pass that needs an answer.
    pub(crate) fn attempts(&self, case: usize, configuration: usize, pass: u32) -> u32 {
        let slot = (case * self.configurations + configuration) * self.passes + pass as usize - 1;
        self.attempts.get(&slot).copied().unwrap_or(0)
    }

    /// Passes that need nothing more.
    pub(crate) fn settled(&self) -> u64 {
        self.settled.iter().filter(|settled| **settled).count() as u64
    }

    /// Passes of one case and configuration that still need an answer, each with the attempts
    /// already made at it.
    pub(crate) fn missing(&self, case: usize, configuration: usize) -> Vec<(u32, u32)> {
        let first = (case * self.configurations + configuration) * self.passes;
        (0..self.passes)
            .filter(|pass| !self.settled[first + pass])
            .map(|pass| (pass as u32 + 1, self.attempts.get(&(first + pass)).copied().unwrap_or(0)))
            .collect()
    }
}

fn walk(path: &Path, mut each: impl FnMut(&Path, Place, &[u8]) -> Result<(), StoreError>) -> Result<(), StoreError> {
    if let Some(mut reader) = LineReader::open(path)? {
        while let Some((place, bytes)) = reader.next()? {
            each(path, place, bytes)?;
        }
    }
    Ok(())
}

/// Positions of the names in a run's lines.
struct Keys<'a> {
    cases: HashMap<&'a str, usize>,
    configurations: HashMap<&'a str, usize>,
    passes: u32,
}

impl<'a> Keys<'a> {
    fn new(manifest: &'a Manifest, cases: &[&'a str]) -> Self {
        let ids = manifest.configurations.iter().map(|configuration| configuration.id.as_str());
        Self {
            cases: cases.iter().copied().enumerate().map(|(index, id)| (id, index)).collect(),
            configurations: ids.enumerate().map(|(index, id)| (id, index)).collect(),
            passes: manifest.passes,
        }
    }

    fn slot(&self, path: &Path, place: Place, case: &str, configuration: &str, pass: u32) -> Result<usize, StoreError> {
        let bad = |what: String| StoreError::line(path, place.number, format!("the run has no {what}"));
        let case = self.cases.get(case).ok_or_else(|| bad(format!("case `{case}`")))?;
        let configuration =
            self.configurations.get(configuration).ok_or_else(|| bad(format!("configuration `{configuration}`")))?;
        if pass == 0 || pass > self.passes {
            return Err(bad(format!("pass {pass}")));
        }
        Ok((case * self.configurations.len() + configuration) * self.passes as usize + pass as usize - 1)
    }
}

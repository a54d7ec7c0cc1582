//! Which passes come next in a run that stops what is decided.
//!
//! Passes are handed out in waves over all cases, so that whenever the run stops every case has had its
//! share. A case with a gate ("8 of 10") gets no more passes a wave than could decide it: what is handed
//! out is what a judge who looks after every pass would have asked for. It is closed when its gate is
//! decided under every configuration, so that all have equal passes. The other cases get [`WAVE`] passes a
//! wave.
//!
//! Where a baseline is compared, an e-value over pairs of passes is looked at when a wave has ended. Pairs
//! count in one order, first passes of all cases, then second ones, so that a resumed run decides as an
//! uninterrupted one does.

use std::collections::{HashSet, VecDeque};

use tenpass_stats::{Gate, SafeStratified, Tally};

use crate::run::schedule::{Turn, schedule};
use crate::store::{DecidedComparison, EarlyStop, Progress};

/// Passes of a case without a gate in one wave.
const WAVE: u32 = 2;

/// One pass, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Open,
    Given,
    Right,
    Wrong,
    Invalid,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Hand out these passes, with the attempts already made at them.
    Work(Turn, Vec<u32>),
    /// What comes next depends on passes that are not finished.
    Wait,
    /// Nothing is left.
    End,
}

/// What is known about one candidate.
#[derive(Debug)]
struct Candidate {
    configuration: usize,
    evidence: SafeStratified,
    better: u64,
    worse: u64,
    /// The pair that is looked at next: pass and case.
    next: (u32, usize),
    decided: Option<(f64, u32)>,
}

/// Hands out passes in waves.
#[derive(Debug)]
pub(super) struct Waves {
    cases: usize,
    configurations: usize,
    passes: u32,
    group: usize,
    gate: Gate,
    gated: Vec<bool>,
    slots: Vec<Slot>,
    /// Passes that every configuration of a case is to have by now.
    target: Vec<u32>,
    /// The wave in which the target was set.
    set_in: Vec<u32>,
    wave: u32,
    /// Where cases without a gate stand that are furthest behind: in one wave only these go on.
    behind: u32,
    queue: VecDeque<Turn>,
    candidates: Vec<Candidate>,
    /// An e-value that decides.
    bound: f64,
    /// Repeated passes are one observation: only the first pair of a case counts.
    greedy: bool,
    stopped: Vec<bool>,
    /// Cases whose passes that are not needed are counted in `not_needed`.
    counted: Vec<bool>,
    not_needed: u64,
}

/// What a run is made of, for [`Waves::new`].
pub(super) struct Shape<'a> {
    /// Ids of the cases.
    pub(super) cases: &'a [&'a str],
    pub(super) configurations: usize,
    pub(super) passes: u32,
    /// Cases a configuration takes before the next one has its turn, were all passes handed out at once.
    pub(super) cases_per_turn: usize,
    /// Some configuration answers every pass alike.
    pub(super) greedy: bool,
}

impl Waves {
    /// With what the run has already.
    pub(super) fn new(shape: &Shape<'_>, rules: &EarlyStop, progress: &Progress) -> Self {
        let (cases, configurations, passes) = (shape.cases.len(), shape.configurations, shape.passes);
        let gated: HashSet<&str> = rules.gated.iter().flatten().map(String::as_str).collect();
        let slot = |found: Option<Option<bool>>| match found {
            None => Slot::Open,
            Some(Some(true)) => Slot::Right,
            Some(Some(false)) => Slot::Wrong,
            Some(None) => Slot::Invalid,
        };
        let candidates = if rules.during.is_some() { 1..configurations } else { 0..0 };
        let count = candidates.len();
        let mut waves = Self {
            cases,
            configurations,
            passes,
            // As many passes a turn as without waves.
            group: shape.cases_per_turn.max(1) * passes.div_ceil(WAVE) as usize,
            gate: Gate { need: rules.gate, of: passes },
            gated: shape.cases.iter().map(|id| rules.gated.is_none() || gated.contains(id)).collect(),
            slots: progress.results().map(slot).collect(),
            target: vec![0; cases],
            set_in: vec![0; cases],
            wave: 0,
            behind: 0,
            queue: VecDeque::new(),
            candidates: candidates.map(Candidate::new).collect(),
            bound: rules.during.map_or(f64::INFINITY, |level| count as f64 / level),
            greedy: shape.greedy,
            stopped: vec![false; configurations],
            counted: vec![false; cases],
            not_needed: 0,
        };
        for case in 0..cases {
            waves.target[case] = waves.reached(case);
        }
        waves.recount();
        waves
    }

    /// Passes up to which an earlier session had come: whatever it began is finished first.
    fn reached(&self, case: usize) -> u32 {
        let is_known = |pass: &u32| (0..self.configurations).any(|one| self.slot(case, one, *pass) != Slot::Open);
        let highest = (1..=self.passes).rev().find(is_known).unwrap_or(0);
        if self.gated[case] { highest } else { highest.next_multiple_of(WAVE).min(self.passes) }
    }

    fn place(&self, case: usize, configuration: usize, pass: u32) -> usize {
        (case * self.configurations + configuration) * self.passes as usize + pass as usize - 1
    }

    fn slot(&self, case: usize, configuration: usize, pass: u32) -> Slot {
        self.slots[self.place(case, configuration, pass)]
    }

    fn cell(&self, case: usize, configuration: usize) -> &[Slot] {
        let first = self.place(case, configuration, 1);
        &self.slots[first..first + self.passes as usize]
    }

    /// How a pass ended; `None` when there was no answer to judge.
    pub(super) fn note(&mut self, case: usize, configuration: usize, pass: u32, success: Option<bool>) {
        let place = self.place(case, configuration, pass);
        self.slots[place] = match success {
            Some(true) => Slot::Right,
            Some(false) => Slot::Wrong,
            None => Slot::Invalid,
        };
        self.count(case);
    }

    /// A configuration was given up.
    pub(super) fn stop(&mut self, configuration: usize) {
        self.stopped[configuration] = true;
        self.recount();
    }

    /// Counts the passes of a case that are not needed, once it is decided.
    fn count(&mut self, case: usize) {
        if !self.counted[case] && self.is_finished(case) {
            self.counted[case] = true;
            let cells = (0..self.configurations).map(|one| self.cell(case, one));
            self.not_needed += cells.flatten().filter(|slot| **slot == Slot::Open).count() as u64;
        }
    }

    /// Counts anew: somebody does not take part any more.
    fn recount(&mut self) {
        self.not_needed = 0;
        self.counted.fill(false);
        for case in 0..self.cases {
            self.count(case);
            if !self.counted[case] {
                let out = (0..self.configurations).filter(|one| self.is_out(*one)).map(|one| self.cell(case, one));
                self.not_needed += out.flatten().filter(|slot| **slot == Slot::Open).count() as u64;
            }
        }
    }

    /// Whether nothing more is asked of a configuration.
    fn is_out(&self, configuration: usize) -> bool {
        let decided = |candidate: &Candidate| candidate.decided.is_some();
        let by_evidence = match self.candidates.iter().find(|candidate| candidate.configuration == configuration) {
            Some(candidate) => decided(candidate),
            None => !self.candidates.is_empty() && self.candidates.iter().all(decided),
        };
        self.stopped[configuration] || by_evidence
    }

    fn taking_part(&self) -> impl Iterator<Item = usize> {
        (0..self.configurations).filter(|configuration| !self.is_out(*configuration))
    }

    /// The passes to hand out next.
    pub(super) fn next(&mut self) -> Next {
        loop {
            if let Some(next) = self.take_queued() {
                return next;
            }
            let waits = self.slots.contains(&Slot::Given);
            // A comparison is looked at when its wave has ended, so that all cases weigh the same in it.
            if waits && !self.candidates.is_empty() {
                return Next::Wait;
            }
            self.look();
            if (0..self.cases).all(|case| self.is_finished(case)) {
                return if waits { Next::Wait } else { Next::End };
            }
            self.begin_wave();
            if self.queue.is_empty() {
                return if waits { Next::Wait } else { Next::End };
            }
        }
    }

    /// Whether nothing is left.
    pub(super) fn is_over(&mut self) -> bool {
        self.next() == Next::End
    }

    fn begin_wave(&mut self) {
        self.wave += 1;
        // After a resume some cases may lack passes that others have.
        let ungated = (0..self.cases).filter(|case| !self.gated[*case] && !self.is_finished(*case));
        let stands = |case: usize| {
            let is_short = |one| self.cell(case, one)[..self.target[case] as usize].contains(&Slot::Open);
            if self.taking_part().any(is_short) { self.target[case].saturating_sub(WAVE) } else { self.target[case] }
        };
        self.behind = ungated.map(stands).min().unwrap_or(0);
        let turns = schedule(self.cases, self.configurations, self.group);
        let open = |turn: &Turn| !self.is_out(turn.configuration) && !self.is_finished(turn.case);
        let mut turns: Vec<Turn> = turns.filter(open).collect();
        if self.wave.is_multiple_of(2) {
            // Whoever came last comes first now.
            turns.reverse();
            turns.sort_by_key(|turn| turn.case / self.group);
        }
        self.queue = turns.into();
    }

    /// The first turn of the queue that can be taken, staying with one configuration while others could
    /// disturb it; `None` when the queue is empty.
    fn take_queued(&mut self) -> Option<Next> {
        let mut place = 0;
        while let Some(turn) = self.queue.get(place).copied() {
            if self.is_out(turn.configuration) {
                self.queue.remove(place);
                continue;
            }
            if self.queue.front().is_some_and(|front| front.configuration != turn.configuration) {
                break;
            }
            if !self.set_target(turn.case) {
                place += 1;
                continue;
            }
            self.queue.remove(place);
            let passes = self.take(turn);
            if !passes.is_empty() {
                return Some(Next::Work(turn, passes));
            }
        }
        (!self.queue.is_empty()).then_some(Next::Wait)
    }

    /// Says, once a wave, how far the case is to come in it; false while that depends on unfinished passes.
    fn set_target(&mut self, case: usize) -> bool {
        if self.set_in[case] == self.wave {
            return true;
        }
        let cells = || self.taking_part().map(|configuration| self.cell(case, configuration));
        if cells().any(|cell| cell.contains(&Slot::Given)) {
            return false;
        }
        let target = self.target[case];
        let waits = !self.gated[case] && !self.candidates.is_empty() && target > self.behind;
        let has_holes = cells().any(|cell| cell[..target as usize].contains(&Slot::Open));
        if !has_holes && !waits {
            self.target[case] = (target + self.wave_size(case)).min(self.passes);
        }
        self.set_in[case] = self.wave;
        true
    }

    /// The most passes that could not decide the case's gate any sooner.
    fn wave_size(&self, case: usize) -> u32 {
        if !self.gated[case] {
            return if self.candidates.is_empty() { self.passes } else { WAVE };
        }
        let needed = |configuration| {
            let so_far = self.tally(case, configuration);
            if self.gate.decided(so_far).is_some() {
                return 0;
            }
            let failures = self.gate.of - self.gate.need + 1;
            (self.gate.need - so_far.passed()).min(failures - so_far.failed())
        };
        self.taking_part().map(needed).max().unwrap_or(0)
    }

    fn tally(&self, case: usize, configuration: usize) -> Tally {
        let cell = self.cell(case, configuration);
        let count = |wanted: Slot| cell.iter().filter(|slot| **slot == wanted).count() as u32;
        Tally::new(count(Slot::Right), count(Slot::Wrong))
    }

    /// Whether all that is to come of a case has been handed out, as far as can be told now.
    fn is_finished(&self, case: usize) -> bool {
        let mut cells = self.taking_part().map(|configuration| (configuration, self.cell(case, configuration)));
        let target = self.target[case] as usize;
        cells.all(|(configuration, cell)| {
            let handed_out = !cell[..target].contains(&Slot::Open);
            let decided = self.gated[case]
                && !cell.contains(&Slot::Given)
                && self.gate.decided(self.tally(case, configuration)).is_some();
            handed_out && (target == self.passes as usize || decided)
        })
    }

    fn take(&mut self, turn: Turn) -> Vec<u32> {
        let numbers = 1..=self.target[turn.case];
        let passes: Vec<u32> =
            numbers.filter(|pass| self.slot(turn.case, turn.configuration, *pass) == Slot::Open).collect();
        for pass in &passes {
            let place = self.place(turn.case, turn.configuration, *pass);
            self.slots[place] = Slot::Given;
        }
        passes
    }

    /// Adds the pairs that are complete now to the evidence.
    fn look(&mut self) {
        let mut candidates = std::mem::take(&mut self.candidates);
        for candidate in &mut candidates {
            while candidate.decided.is_none() {
                let (pass, case) = candidate.next;
                if pass > self.passes || case >= self.cases || self.greedy && pass > 1 {
                    break;
                }
                let pair = (self.slot(case, 0, pass), self.slot(case, candidate.configuration, pass));
                let is_open = |slot: Slot| matches!(slot, Slot::Open | Slot::Given);
                if is_open(pair.0) || is_open(pair.1) {
                    // A case that is closed has no such pass; any other has, but not yet.
                    if !self.is_finished(case) || pass <= self.target[case] {
                        break;
                    }
                } else {
                    candidate.see(pair, self.bound, pass);
                }
                candidate.next = if case + 1 == self.cases { (pass + 1, 0) } else { (pass, case + 1) };
            }
        }
        let decided = candidates.iter().any(|candidate| candidate.decided.is_some());
        self.candidates = candidates;
        if decided {
            self.recount();
        }
    }

    /// What was decided by evidence, and the passes of each case that ended before all had run.
    pub(super) fn results(&self, names: &[String]) -> (Vec<DecidedComparison>, Vec<(usize, u32)>) {
        let decided = self.candidates.iter().filter_map(|candidate| {
            let (e_value, passes) = candidate.decided?;
            Some(DecidedComparison {
                configuration: names[candidate.configuration].clone(),
                e_value,
                better: candidate.better,
                worse: candidate.worse,
                passes,
            })
        });
        let is_closed = |case: &usize| {
            self.gated[*case]
                && self.target[*case] < self.passes
                && (0..self.configurations).all(|one| self.gate.decided(self.tally(*case, one)).is_some())
        };
        let closed = (0..self.cases).filter(is_closed).map(|case| (case, self.target[case]));
        (decided.collect(), closed.collect())
    }

    /// Passes of which is known that they will not be needed.
    pub(super) fn not_needed(&self) -> u64 {
        self.not_needed
    }
}

impl Candidate {
    fn new(configuration: usize) -> Self {
        let evidence = SafeStratified::new();
        Self { configuration, evidence, better: 0, worse: 0, next: (1, 0), decided: None }
    }

    fn see(&mut self, pair: (Slot, Slot), bound: f64, pass: u32) {
        let one = |slot: Slot| match slot {
            Slot::Right => Some(Tally::new(1, 0)),
            Slot::Wrong => Some(Tally::new(0, 1)),
            _ => None,
        };
        // A pass without an answer has no partner.
        let Some((before, after)) = one(pair.0).zip(one(pair.1)) else { return };
        self.better += u64::from(after.passed() > before.passed());
        self.worse += u64::from(after.passed() < before.passed());
        let e_value = self.evidence.update(before, after);
        if e_value >= bound {
            self.decided = Some((e_value, pass));
        }
    }
}

#[cfg(test)]
#[path = "waves_tests.rs"]
mod tests;

//! Counts: successes out of passes, and the same case under two configurations.

/// Successes and failures of one case under one configuration. INVALID passes are in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tally {
    passed: u32,
    failed: u32,
}

impl Tally {
    /// `passed` successes and `failed` failures.
    pub const fn new(passed: u32, failed: u32) -> Self {
        Self { passed, failed }
    }

    /// Counts one more pass.
    pub fn record(&mut self, success: bool) {
        let side = if success { &mut self.passed } else { &mut self.failed };
        *side = side.saturating_add(1);
    }

    /// Successes.
    pub const fn passed(self) -> u32 {
        self.passed
    }

    /// Failures.
    pub const fn failed(self) -> u32 {
        self.failed
    }

    /// Passes that were scored.
    pub const fn total(self) -> u32 {
        self.passed.saturating_add(self.failed)
    }

    /// Nothing was scored.
    pub const fn is_empty(self) -> bool {
        self.total() == 0
    }

    /// The success rate; `None` when nothing was scored.
    pub fn rate(self) -> Option<f64> {
        (!self.is_empty()).then(|| f64::from(self.passed) / f64::from(self.total()))
    }

    /// The two tallies together.
    pub const fn plus(self, other: Self) -> Self {
        Self { passed: self.passed.saturating_add(other.passed), failed: self.failed.saturating_add(other.failed) }
    }
}

/// One case under two configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pair {
    /// Under configuration A, the baseline.
    pub before: Tally,
    /// Under configuration B.
    pub after: Tally,
    /// The scenario family: cases of one family are not independent of each other.
    pub cluster: usize,
}

impl Pair {
    /// A case that shares its family (cluster 0) with every other such case.
    pub const fn new(before: Tally, after: Tally) -> Self {
        Self { before, after, cluster: 0 }
    }

    /// The same case, in this cluster.
    pub const fn in_cluster(self, cluster: usize) -> Self {
        Self { cluster, ..self }
    }

    /// Rate after minus rate before; `None` when a side has no scored pass.
    pub fn difference(self) -> Option<f64> {
        Some(self.after.rate()? - self.before.rate()?)
    }
}

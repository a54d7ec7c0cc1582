//! What a comparison says when it is not the only one, or not the only look at the passes.

use super::data::RunComparison;
use super::judge::ALPHA;
use super::needed;
use crate::numbers::p_value;

impl RunComparison {
    /// Corrects for `comparisons` made together; `p` is this one's after Holm. With a `level`, that is what
    /// looks during the run have left of the usual 5 %.
    pub fn correct(&mut self, p: f64, comparisons: usize, level: Option<f64>) {
        let factor = if self.delta.p > 0.0 { p / self.delta.p } else { 1.0 };
        self.hold_to(factor, level.unwrap_or(ALPHA), &format!("corrected for {comparisons} comparisons (Holm)"));
    }

    /// Holds the exact test to `level` instead of 5 %: the rest was spent on looks during the run.
    pub fn hold_to_level(&mut self, level: f64) {
        let percent = 100.0 * level;
        self.hold_to(1.0, level, &format!("at the {percent:.0} % that the looks during the run have left"));
    }

    /// Opens the question again when the test, its p-value times `factor`, does not reach `level`. What
    /// single guard cases prove has a correction of its own.
    fn hold_to(&mut self, factor: f64, level: f64, how: &str) {
        let decided = self.verdict == "REAL" || self.verdict == "REGRESSED";
        if !decided || !self.guards_worse.is_empty() {
            return;
        }
        // With targets named, a regression may be that of all cases.
        let by_all = self.regressed && self.delta.high >= 0.0;
        let p = (factor * if by_all { self.all.p } else { self.delta.p }).min(1.0);
        if p <= level {
            return;
        }
        self.reasons.insert(
            0,
            format!(
                "alone this would be {}, but {how} the exact test does not confirm it (p = {})",
                self.verdict,
                p_value(p)
            ),
        );
        "INCONCLUSIVE".clone_into(&mut self.verdict);
        self.regressed = false;
        let needed = needed(&self.delta, self.smallest_effect);
        (self.passes_needed, self.passes_still) = (Some(needed.per_case), Some(needed.still));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{cells, compared, request};

    /// Twenty cases from 9 to 7 of ten: shown alone.
    fn regressed() -> crate::RunComparison {
        let cells = cells(20, 9, 7);
        let found = compared(&cells, 10, request(&cells));
        assert_eq!((found.verdict.as_str(), found.regressed), ("REGRESSED", true));
        found
    }

    #[test]
    fn what_the_corrected_test_does_not_confirm_is_open_again() {
        let mut found = regressed();
        found.correct(0.045, 3, None);
        assert!(found.regressed, "0.045 holds at 5 %");
        let mut strict = found.clone();
        strict.correct(0.045, 3, Some(0.04));
        assert!(!strict.regressed);
        found.correct(0.06, 3, None);
        assert_eq!((found.verdict.as_str(), found.regressed), ("INCONCLUSIVE", false));
        assert!(found.reasons[0].starts_with("alone this would be REGRESSED, but corrected for 3 comparisons"));
        assert!(found.reasons[0].ends_with("(p = 0.060)"), "{}", found.reasons[0]);
    }

    #[test]
    fn looks_during_the_run_leave_a_stricter_level() {
        let mut found = regressed();
        found.delta.p = 0.045;
        found.hold_to_level(0.04);
        assert!(!found.regressed && found.reasons[0].contains("at the 4 % that"), "{:?}", found.reasons);
        let mut sure = regressed();
        sure.hold_to_level(0.04);
        assert!(sure.regressed);
    }

    #[test]
    fn a_guard_proven_worse_needs_no_other_proof() {
        let mut found = regressed();
        found.guards_worse = vec!["guard".to_owned()];
        found.correct(1.0, 3, None);
        assert!(found.regressed);
    }
}

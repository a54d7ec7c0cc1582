//! Anytime-valid evidence: e-values, which may be looked at after every pass.
//!
//! An e-value of 20 or more rejects at 5 %, of 100 or more at 1 %, at whatever moment one chooses to
//! look or stop: under the null hypothesis the chance that it EVER exceeds 1/α is at most α. It is
//! the money of a gambler who starts with 1 and bets against the null at fair odds. What is won on
//! independent blocks multiplies.

use std::collections::{BTreeMap, VecDeque};

use crate::binomial::at_most;
use crate::hypergeometric::Hypergeometric;
use crate::special::{beta_quantile, ln_gamma};
use crate::tally::Tally;

/// Evidence that wins outnumber losses by more than a fair coin would, ties left out:
/// 2^(w+l+1)·B(w+1, l+1)·\[1 − I_½(w+1, l+1)\]. The bet is spread evenly over all chances of a win
/// above ½. One-sided: losses only lower it.
pub fn sign_e_value(wins: u32, losses: u32) -> f64 {
    let (w, l) = (f64::from(wins), f64::from(losses));
    let ln_beta = ln_gamma(w + 1.0) + ln_gamma(l + 1.0) - ln_gamma(w + l + 2.0);
    let ln = (w + l + 1.0) * std::f64::consts::LN_2 + ln_beta;
    let above_half = at_most(wins, wins.saturating_add(losses).saturating_add(1), 0.5);
    (ln + above_half.ln()).exp().min(f64::MAX)
}

/// The prior of [`SafeTwoByTwo`]: Beta(0.18, 0.18) on each side, as recommended by the authors.
const PRIOR: f64 = 0.18;

/// One table at any time: are the two rates equal? (Turner, Ly, Grünwald, arXiv 2106.02693.)
///
/// Each block, some passes before and some after, is bet on with the rates expected from the blocks
/// before it: likelihood under the two rates over likelihood under their mean, weighted by passes.
/// Two-sided. For many cases at once take [`SafeStratified`]: multiplied over cases of ten passes,
/// what each table pays to learn its own rates eats the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SafeTwoByTwo {
    before: Tally,
    after: Tally,
    ln_e: f64,
    ln_most: f64,
}

impl SafeTwoByTwo {
    /// No evidence yet: 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block and gives the e-value so far. How many passes a block holds must not depend on
    /// how they turn out; the smaller the blocks, the faster it learns.
    pub fn update(&mut self, before: Tally, after: Tally) -> f64 {
        let expected = |tally: Tally| (f64::from(tally.passed()) + PRIOR) / (f64::from(tally.total()) + 2.0 * PRIOR);
        let (rate_before, rate_after) = (expected(self.before), expected(self.after));
        let (n, m) = (f64::from(before.total()), f64::from(after.total()));
        if n + m > 0.0 {
            let common = (n * rate_before + m * rate_after) / (n + m);
            let ratio = |tally: Tally, rate: f64| {
                f64::from(tally.passed()) * (rate / common).ln()
                    + f64::from(tally.failed()) * ((1.0 - rate) / (1.0 - common)).ln()
            };
            self.ln_e += ratio(before, rate_before) + ratio(after, rate_after);
        }
        (self.before, self.after) = (self.before.plus(before), self.after.plus(after));
        self.ln_most = self.ln_most.max(self.ln_e);
        self.e_value()
    }

    /// The evidence against equal rates so far.
    pub fn e_value(&self) -> f64 {
        self.ln_e.exp().min(f64::MAX)
    }

    /// A p-value that holds at any time: 1 over the largest e-value so far.
    pub fn p_value(&self) -> f64 {
        (-self.ln_most).exp().min(1.0)
    }
}

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The baseline, A.
    Before,
    /// The candidate, B.
    After,
}

/// Effects that [`SafeStratified`] bets on.
const EFFECTS: usize = 32;
/// The prior of the effect, as the chance that the one success of a discordant pair is the later
/// one: Beta(2, 2).
const EFFECT_PRIOR: f64 = 2.0;

/// Many cases at any time: is any case's rate changed?
///
/// Every case is a stratum with a rate of its own (arXiv 2106.02693 for the bets, 2302.11401 for
/// strata that learn from each other). A block is a few passes of one case, before and after. Given
/// its successes in all, their split is hypergeometric whatever the rate when nothing changed, and
/// Fisher's noncentral hypergeometric under an odds ratio; the bet is the ratio of the two, and the
/// case's rate cancels. What is won multiplies over blocks and cases, for each of 32 odds ratios,
/// spread as a Beta(2, 2) prior; the e-value is the mean over them. So all cases learn one effect.
/// With one pass a side, a pair in which only one passed is all that counts.
///
/// Two-sided. Measured at α = 0.01: 60 cases, ten passes and a true rise of 20 points stop after
/// three or four passes a side.
#[derive(Debug, Clone, PartialEq)]
pub struct SafeStratified {
    bets: Vec<Bet>,
    ln_most: f64,
    waiting: BTreeMap<usize, Waiting>,
}

/// A bet on one odds ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bet {
    /// ln of the odds ratio.
    effect: f64,
    /// ln of what a discordant pair multiplies the money by: only after passed, only before passed.
    ln_gain: f64,
    ln_loss: f64,
    /// ln of the money so far.
    ln_money: f64,
}

/// Passes of one case that wait for a partner from the other side.
#[derive(Debug, Clone, PartialEq, Default)]
struct Waiting {
    before: VecDeque<bool>,
    after: VecDeque<bool>,
}

impl Default for SafeStratified {
    fn default() -> Self {
        Self::new()
    }
}

impl SafeStratified {
    /// No evidence yet: 1.
    pub fn new() -> Self {
        let bet = |i: usize| {
            let chance = beta_quantile(EFFECT_PRIOR, EFFECT_PRIOR, (i as f64 + 0.5) / EFFECTS as f64);
            Bet {
                effect: (chance / (1.0 - chance)).ln(),
                ln_gain: (2.0 * chance).ln(),
                ln_loss: (2.0 - 2.0 * chance).ln(),
                ln_money: 0.0,
            }
        };
        Self { bets: (0..EFFECTS).map(bet).collect(), ln_most: 0.0, waiting: BTreeMap::new() }
    }

    /// Adds one valid pass of a case and gives the e-value so far. The first pass before is paired
    /// with the first after, the second with the second, and so on.
    pub fn record(&mut self, case: usize, side: Side, success: bool) -> f64 {
        let waiting = self.waiting.entry(case).or_default();
        let (own, other) = match side {
            Side::Before => (&mut waiting.before, &mut waiting.after),
            Side::After => (&mut waiting.after, &mut waiting.before),
        };
        let Some(partner) = other.pop_front() else {
            own.push_back(success);
            return self.e_value();
        };
        let single = |success: bool| Tally::new(u32::from(success), u32::from(!success));
        match side {
            Side::Before => self.update(single(success), single(partner)),
            Side::After => self.update(single(partner), single(success)),
        }
    }

    /// Adds a block of one case, and gives the e-value so far. How many passes a block holds must
    /// not depend on how they turn out.
    pub fn update(&mut self, before: Tally, after: Tally) -> f64 {
        let successes = before.passed().saturating_add(after.passed());
        if (before.total(), after.total()) == (1, 1) {
            match (before.passed(), after.passed()) {
                (0, 1) => self.bets.iter_mut().for_each(|bet| bet.ln_money += bet.ln_gain),
                (1, 0) => self.bets.iter_mut().for_each(|bet| bet.ln_money += bet.ln_loss),
                _ => return self.e_value(),
            }
        } else {
            let chances = Hypergeometric::new(before.total(), after.total(), successes);
            for bet in &mut self.bets {
                bet.ln_money += ln_ratio(&chances, bet.effect, after.passed());
            }
        }
        self.ln_most = self.ln_most.max(self.ln_e_value());
        self.e_value()
    }

    /// The logarithm of [`Self::e_value`].
    pub fn ln_e_value(&self) -> f64 {
        let most = self.bets.iter().fold(f64::NEG_INFINITY, |most, bet| most.max(bet.ln_money));
        let mean = self.bets.iter().map(|bet| (bet.ln_money - most).exp()).sum::<f64>() / EFFECTS as f64;
        most + mean.ln()
    }

    /// The evidence so far against "no case changed".
    pub fn e_value(&self) -> f64 {
        self.ln_e_value().exp().min(f64::MAX)
    }

    /// A p-value that holds at any time: 1 over the largest e-value so far.
    pub fn p_value(&self) -> f64 {
        (-self.ln_most).exp().min(1.0)
    }
}

/// ln of P(`passed` after | margins, odds ratio e^`effect`) over the same with odds ratio 1:
/// e^(effect·y) over its mean under the null.
fn ln_ratio(chances: &Hypergeometric, effect: f64, passed: u32) -> f64 {
    let last = chances.weights.len() - 1;
    // Counted from the end that weighs most, so that nothing overflows.
    let from_top = |i: usize| if effect > 0.0 { i as f64 - last as f64 } else { i as f64 };
    let mean: f64 = chances.weights.iter().enumerate().map(|(i, weight)| weight * (effect * from_top(i)).exp()).sum();
    effect * from_top((passed - chances.first) as usize) - mean.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_seen_is_no_evidence_and_agreement_is_none_either() {
        assert!((sign_e_value(0, 0) - 1.0).abs() < 1e-12);
        let mut evidence = SafeStratified::new();
        assert!((evidence.e_value() - 1.0).abs() < 1e-12 && (evidence.p_value() - 1.0).abs() < 1e-12);
        for case in 0..50 {
            evidence.record(case, Side::Before, true);
            evidence.record(case, Side::After, true);
        }
        assert!((evidence.e_value() - 1.0).abs() < 1e-12);
        let mut table = SafeTwoByTwo::new();
        assert!((table.update(Tally::default(), Tally::default()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn passes_of_a_case_are_paired_in_the_order_they_came() {
        let (mut recorded, mut blocks) = (SafeStratified::new(), SafeStratified::new());
        // The third pass before fits nothing but the third after, and the fourth after waits.
        let before = [false, false, true];
        for success in before {
            recorded.record(3, Side::Before, success);
        }
        for _ in 0..4 {
            recorded.record(3, Side::After, true);
        }
        // A pass of another case is no partner.
        recorded.record(4, Side::Before, false);
        for success in before {
            blocks.update(Tally::new(u32::from(success), u32::from(!success)), Tally::new(1, 0));
        }
        assert!((recorded.e_value() - blocks.e_value()).abs() < 1e-12 && recorded.e_value() > 1.0);
    }

    #[test]
    fn overwhelming_evidence_stays_a_number() {
        assert!(sign_e_value(u32::MAX / 2, 0).is_finite() && sign_e_value(0, u32::MAX / 2) >= 0.0);
        let mut evidence = SafeStratified::new();
        let found = evidence.update(Tally::new(0, 5000), Tally::new(5000, 0));
        assert!(found.is_finite() && found > 1e300 && evidence.p_value() >= 0.0);
        let mut table = SafeTwoByTwo::new();
        table.update(Tally::new(0, 1000), Tally::new(1000, 0));
        assert!(table.update(Tally::new(0, 1000), Tally::new(1000, 0)).is_finite());
    }

    #[test]
    fn the_sign_e_value_is_fair_money() {
        // After n votes of a fair coin its mean is 1, whatever n.
        for n in [1_u32, 7, 30] {
            let mean: f64 = (0..=n)
                .map(|w| (crate::special::ln_choose(n, w) - f64::from(n) * 2_f64.ln()).exp() * sign_e_value(w, n - w))
                .sum();
            assert!((mean - 1.0).abs() < 1e-10, "{n}: {mean}");
        }
    }

    fn block() -> impl Strategy<Value = (u32, u32)> {
        (1_u32..5, 1_u32..5)
    }

    fn chance(passed: u32, of: u32, rate: f64) -> f64 {
        crate::special::ln_choose(of, passed).exp() * rate.powi(passed as i32) * (1.0 - rate).powi((of - passed) as i32)
    }

    proptest! {
        #[test]
        fn the_next_block_is_a_fair_bet_whatever_came_before(
            history in prop::collection::vec((0_u32..3, 0_u32..3, 0_u32..3, 0_u32..3), 0..8),
            (n, m) in block(),
            rate in 0.01_f64..0.99,
        ) {
            let (mut strata, mut table) = (SafeStratified::new(), SafeTwoByTwo::new());
            for (a, x, b, y) in history {
                strata.update(Tally::new(a, x), Tally::new(b, y));
                table.update(Tally::new(a, x), Tally::new(b, y));
            }
            let mean = |after: &dyn Fn(Tally, Tally) -> f64| -> f64 {
                let tables = (0..=n).flat_map(|a| (0..=m).map(move |b| (a, b)));
                tables
                    .map(|(a, b)| {
                        chance(a, n, rate) * chance(b, m, rate) * after(Tally::new(a, n - a), Tally::new(b, m - b))
                    })
                    .sum()
            };
            let next = mean(&|before, after| strata.clone().update(before, after));
            prop_assert!((next / strata.e_value() - 1.0).abs() < 1e-9, "{next} {}", strata.e_value());
            // Here the null is only kept at bay: the mean may be less.
            let next = mean(&|before, after| table.clone().update(before, after));
            prop_assert!(next <= table.e_value() * (1.0 + 1e-9), "{next} {}", table.e_value());
        }

        #[test]
        fn both_directions_weigh_the_same(blocks in prop::collection::vec((0_u32..4, 0_u32..4, 0_u32..4, 0_u32..4), 1..10)) {
            let (mut there, mut back) = (SafeStratified::new(), SafeStratified::new());
            for (a, x, b, y) in blocks {
                there.update(Tally::new(a, x), Tally::new(b, y));
                back.update(Tally::new(b, y), Tally::new(a, x));
            }
            prop_assert!((there.e_value() / back.e_value() - 1.0).abs() < 1e-9);
        }
    }
}

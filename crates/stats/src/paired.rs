//! Two systems on the same items, once each: what the items say on which the two disagree.
//!
//! `b` items passed only before, `c` only after; those on which both agree carry no evidence about
//! a difference, only about how small it can be.

use crate::binomial::at_most;
use crate::interval::Interval;
use crate::special::normal_critical;

/// Up to so many discordant items the binomial coefficients are whole in a float.
const SUMMED_UP_TO: u32 = 50;

/// McNemar's exact test, two-sided: 2·Σ over i ≤ min(b, c) of C(b + c, i)/2^(b+c), at most 1.
/// 1 when nothing is discordant.
pub fn mcnemar_exact(b: u32, c: u32) -> f64 {
    let (discordant, fewer) = (b.saturating_add(c), b.min(c));
    let tail = if discordant <= SUMMED_UP_TO {
        // Whole numbers below 2^53: no rounding at all.
        let ways = (0..fewer).scan(1.0, |ways, i| {
            *ways *= f64::from(discordant - i) / f64::from(i + 1);
            *ways = ways.round();
            Some(*ways)
        });
        (1.0 + ways.sum::<f64>()) / 2_f64.powi(discordant as i32)
    } else {
        at_most(fewer, discordant, 0.5)
    };
    (2.0 * tail).min(1.0)
}

/// The sign test, two-sided: wins against losses, ties left out. The same arithmetic as
/// [`mcnemar_exact`]; blind votes between two voices are judged by it.
pub fn sign_test(wins: u32, losses: u32) -> f64 {
    mcnemar_exact(wins, losses)
}

/// Tango's score interval of the paired difference (c − b)/n, after minus before (Statistics in
/// Medicine 17, 1998): two-sided, with a width even when nothing is discordant.
///
/// `n` counts all pairs; when it is smaller than b + c it counts as b + c. Without pairs nothing is
/// known: `[−1, 1]`.
pub fn tango(b: u32, c: u32, n: u32, confidence: f64) -> Interval {
    let critical = normal_critical(confidence);
    Interval { low: bound(b, c, n, critical, Side::Low), high: bound(b, c, n, critical, Side::High) }
}

/// The one-sided lower bound of the paired difference (c − b)/n: a candidate is not inferior by the
/// margin m when this exceeds −m. Without any disagreement 30, 60 and 100 pairs give −0.083,
/// −0.043 and −0.026 at 95 %.
pub fn tango_lower(b: u32, c: u32, n: u32, confidence: f64) -> f64 {
    bound(b, c, n, normal_critical(2.0 * confidence - 1.0), Side::Low)
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Low,
    High,
}

fn bound(b: u32, c: u32, n: u32, critical: f64, side: Side) -> f64 {
    let (b, c) = (f64::from(b), f64::from(c));
    let n = f64::from(n).max(b + c);
    let end = if side == Side::Low { -1.0 } else { 1.0 };
    if n <= 0.0 || !critical.is_finite() {
        return end;
    }
    // The score falls as the difference rises, through 0 at the observed one.
    let observed = (c - b) / n;
    let beyond = |difference: f64| score(b, c, n, difference).abs() > critical;
    let (mut inside, mut outside) = (observed, end);
    // Each step halves the distance, which is at most 2: it ends below the last bit.
    for _ in 0..60 {
        let middle = f64::midpoint(inside, outside);
        if beyond(middle) { outside = middle } else { inside = middle }
    }
    f64::midpoint(inside, outside)
}

/// How many standard errors the observed difference lies above `difference`, with the rate of
/// "only before" at its most likely value under that difference.
fn score(b: f64, c: f64, n: f64, difference: f64) -> f64 {
    let spread = difference * (1.0 - difference);
    let linear = -b - c + (2.0 * n - c + b) * difference;
    let root = (linear * linear + 8.0 * n * b * spread).max(0.0).sqrt();
    // Both forms are the same root; the other one would cancel.
    let only_before = if linear <= 0.0 { (root - linear) / (4.0 * n) } else { 2.0 * b * spread / (root + linear) };
    let variance = n * (2.0 * only_before + spread);
    let distance = c - b - n * difference;
    if distance.abs() < 1e-12 { 0.0 } else { distance / variance.max(1e-300).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_check_values_of_the_promotion_rule() {
        let points = |n: u32| format!("{:.1}", 100.0 * tango_lower(0, 0, n, 0.95));
        assert_eq!([points(30), points(60), points(100)], ["-8.3", "-4.3", "-2.6"]);
        // 93 to 80 of 100 in 30 pairs would be "not significantly worse".
        assert!((mcnemar_exact(4, 0) - 0.125).abs() < 1e-12);
    }

    #[test]
    fn nothing_discordant_and_nothing_at_all() {
        assert!((mcnemar_exact(0, 0) - 1.0).abs() < 1e-15);
        assert_eq!(tango(0, 0, 0, 0.95), Interval { low: -1.0, high: 1.0 });
        // More disagreements than pairs: as many pairs as disagreements.
        assert_eq!(tango(3, 4, 2, 0.95), tango(3, 4, 7, 0.95));
    }

    #[test]
    fn counts_at_the_end_of_their_range() {
        assert!(mcnemar_exact(u32::MAX, u32::MAX) <= 1.0);
        assert!(tango(u32::MAX, 0, u32::MAX, 0.95).high < 0.0);
    }

    #[test]
    fn few_items_are_summed_without_rounding() {
        // 2·(1 + 6)/64 and 2·(1 + 10)/1024
        assert_eq!([(5, 1), (1, 9)].map(|(b, c)| mcnemar_exact(b, c).to_string()), ["0.21875", "0.021484375"]);
        for b in 0..=25 {
            let summed = mcnemar_exact(b, 50 - b);
            assert!((summed / (2.0 * at_most(b, 50, 0.5)).min(1.0) - 1.0).abs() < 1e-12, "{b}: {summed}");
        }
    }

    proptest! {
        #[test]
        fn tango_holds_the_estimate_and_mirrors(b in 0_u32..40, c in 0_u32..40, same in 0_u32..60) {
            prop_assume!(b + c + same > 0);
            let n = b + c + same;
            let (there, back) = (tango(b, c, n, 0.95), tango(c, b, n, 0.95));
            prop_assert!(there.contains((f64::from(c) - f64::from(b)) / f64::from(n)) && there.width() > 0.0);
            prop_assert!(there.low >= -1.0 && there.high <= 1.0);
            prop_assert!((there.low + back.high).abs() < 1e-9, "{there:?} {back:?}");
            prop_assert!(tango(b, c, n, 0.99).width() > there.width());
            prop_assert!((tango_lower(b, c, n, 0.975) - there.low).abs() < 1e-9);
        }

        #[test]
        fn a_wider_split_is_never_less_significant(b in 0_u32..60, c in 1_u32..60) {
            prop_assume!(b >= c);
            prop_assert!(mcnemar_exact(b + 1, c - 1) <= mcnemar_exact(b, c) + 1e-12);
            prop_assert!((mcnemar_exact(b, c) - mcnemar_exact(c, b)).abs() < 1e-12);
        }
    }
}

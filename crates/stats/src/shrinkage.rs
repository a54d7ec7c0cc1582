//! Rates drawn towards the average of all cases, so that a ranking is not led by luck.

use crate::tally::Tally;

/// How the true rates of cases are spread: a beta distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaBinomial {
    /// The mean of the true rates.
    pub mean: f64,
    /// α + β: how many passes the average of all cases is worth against a case's own. ∞ when the
    /// cases differ no more than chance alone would make them.
    pub precision: f64,
}

/// Fits the spread by moments (Kleinman, Journal of the American Statistical Association 68, 1973,
/// each case weighted by its passes). `None` with fewer than two scored cases, or when no case has
/// a second pass: then chance and spread cannot be told apart.
pub fn beta_binomial(tallies: &[Tally]) -> Option<BetaBinomial> {
    let scored: Vec<(f64, f64)> =
        tallies.iter().filter_map(|tally| Some((f64::from(tally.total()), tally.rate()?))).collect();
    let passes: f64 = scored.iter().map(|(n, _)| n).sum();
    if scored.len() < 2 || scored.iter().all(|(n, _)| *n < 2.0) {
        return None;
    }
    let mean = scored.iter().map(|(n, rate)| n * rate).sum::<f64>() / passes;
    let single = mean * (1.0 - mean);
    if single <= 0.0 {
        return Some(BetaBinomial { mean, precision: f64::INFINITY });
    }
    let spread: f64 = scored.iter().map(|(n, rate)| n * (rate - mean) * (rate - mean)).sum();
    let by_chance = scored.iter().map(|(n, _)| 1.0 - n / passes).sum::<f64>();
    let at_most = scored.iter().map(|(n, _)| n * (1.0 - n / passes)).sum::<f64>();
    // The correlation of two passes of one case, 1/(α + β + 1).
    let correlation = (spread / single - by_chance) / (at_most - by_chance);
    let precision = if correlation <= 0.0 { f64::INFINITY } else { (1.0 / correlation.min(1.0) - 1.0).max(0.0) };
    Some(BetaBinomial { mean, precision })
}

impl BetaBinomial {
    /// The rate of a case drawn towards the mean: (y + mean·precision)/(K + precision). For ranking
    /// cases, never for a gate or a published rate.
    pub fn shrunken(&self, tally: Tally) -> f64 {
        if tally.is_empty() || self.precision.is_infinite() {
            return self.mean;
        }
        (f64::from(tally.passed()) + self.mean * self.precision) / (f64::from(tally.total()) + self.precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cases_that_differ_by_chance_alone_all_get_the_mean() {
        let alike: Vec<Tally> = [5, 6, 5, 4, 5].iter().map(|&y| Tally::new(y, 10 - y)).collect();
        let fit = beta_binomial(&alike).unwrap();
        assert!(fit.precision.is_infinite() && (fit.shrunken(alike[3]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn cases_that_always_or_never_pass_keep_their_rates() {
        let apart = [Tally::new(10, 0), Tally::new(0, 10), Tally::new(10, 0), Tally::new(0, 10)];
        let fit = beta_binomial(&apart).unwrap();
        assert!(fit.precision < 1e-9 && fit.shrunken(apart[0]) > 0.999 && fit.shrunken(apart[1]) < 0.001);
    }

    #[test]
    fn one_case_or_one_pass_each_cannot_be_fitted() {
        assert_eq!(beta_binomial(&[Tally::new(3, 7), Tally::default()]), None);
        assert_eq!(beta_binomial(&[Tally::new(1, 0), Tally::new(0, 1), Tally::new(1, 0)]), None);
        let always = beta_binomial(&[Tally::new(10, 0), Tally::new(10, 0)]).unwrap();
        assert!((always.shrunken(Tally::new(3, 0)) - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn few_passes_are_drawn_further_and_order_is_kept(cells in prop::collection::vec((0_u32..=10, 1_u32..4), 3..30)) {
            let tallies: Vec<_> = cells.iter().map(|&(y, times)| Tally::new(y * times, (10 - y) * times)).collect();
            let fit = beta_binomial(&tallies).unwrap();
            for tally in &tallies {
                let (raw, drawn) = (tally.rate().unwrap(), fit.shrunken(*tally));
                prop_assert!((drawn - fit.mean).abs() <= (raw - fit.mean).abs() + 1e-12);
                prop_assert!((raw - fit.mean) * (drawn - fit.mean) >= -1e-12);
                let more = Tally::new(tally.passed() * 2, tally.failed() * 2);
                prop_assert!((fit.shrunken(more) - fit.mean).abs() >= (drawn - fit.mean).abs() - 1e-12);
            }
        }
    }
}

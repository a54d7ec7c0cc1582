//! A paired difference whose items come in clusters: flip the signs of whole clusters.

use std::collections::BTreeMap;

use crate::random::SplitMix64;

/// Up to this many clusters every flip is tried: about a million.
const EXACT_UP_TO: usize = 20;
/// Whole differences are counted exactly as long as they sum to no more than this.
const COUNTED_UP_TO: f64 = 100_000.0;
/// Flips drawn where not all can be tried; the smallest p is one in this many.
const DRAWN: u32 = 20_000;

/// The outcome of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Two-sided p-value.
    pub p: f64,
    /// Every flip was counted; otherwise they were drawn at random.
    pub exact: bool,
    /// Clusters that differ at all: the observations there really are.
    pub clusters: usize,
}

/// The share of sign flips, one sign a cluster, whose sum lies at least as far from 0 as the
/// observed one. Voices that speak one command are a cluster: they are not independent.
///
/// Each item is its cluster and its difference, after minus before. Exact when the differences of
/// each cluster sum to whole numbers, or with at most 20 clusters; otherwise 20,000 flips are drawn
/// from `seed`, and p counts the observed one among them. 1 when no cluster differs. Values that
/// are not finite are left out.
pub fn permutation_clustered(items: &[(usize, f64)], seed: u64) -> Permutation {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for (cluster, difference) in items.iter().filter(|(_, difference)| difference.is_finite()) {
        *sums.entry(*cluster).or_default() += difference;
    }
    let largest = sums.values().fold(0.0_f64, |largest, sum| largest.max(sum.abs()));
    let sums: Vec<f64> = sums.into_values().filter(|sum| sum.abs() > 1e-12 * largest).collect();
    let observed = sums.iter().sum::<f64>().abs();
    let total = sums.iter().map(|sum| sum.abs()).sum::<f64>();
    // Sums that are equal but for rounding count as equal.
    let enough = observed - 1e-9 * total;
    let whole = total <= COUNTED_UP_TO && sums.iter().all(|sum| (sum - sum.round()).abs() < 1e-9);
    let (p, exact) = if sums.is_empty() {
        (1.0, true)
    } else if sums.len() <= EXACT_UP_TO {
        (every_flip(&sums, enough), true)
    } else if whole {
        (counted(&sums, enough), true)
    } else {
        (drawn(&sums, enough, seed), false)
    };
    Permutation { p: p.min(1.0), exact, clusters: sums.len() }
}

/// All signed sums of the halves, then all pairs of them.
fn every_flip(sums: &[f64], enough: f64) -> f64 {
    let signed = |sums: &[f64]| {
        sums.iter()
            .fold(vec![0.0], |all: Vec<f64>, sum| all.iter().flat_map(|so_far| [so_far + sum, so_far - sum]).collect())
    };
    let (left, right) = sums.split_at(sums.len() / 2);
    let (left, right) = (signed(left), signed(right));
    let far: usize = left.iter().map(|l| right.iter().filter(|r| (l + **r).abs() >= enough).count()).sum();
    far as f64 / (left.len() * right.len()) as f64
}

/// The distribution of the signed sum of whole numbers, by convolution.
fn counted(sums: &[f64], enough: f64) -> f64 {
    let steps: Vec<usize> = sums.iter().map(|sum| sum.abs().round() as usize).collect();
    let total: usize = steps.iter().sum();
    // chance[i] is that of the sum 2i − (total so far): how much of it has a plus sign.
    let mut chance = vec![0.0; total + 1];
    chance[0] = 1.0;
    let mut reached = 0;
    for step in steps {
        for i in (0..=reached).rev() {
            let half = chance[i] / 2.0;
            chance[i] = half;
            chance[i + step] += half;
        }
        reached += step;
    }
    let far = chance.iter().enumerate().filter(|(i, _)| (2.0 * *i as f64 - total as f64).abs() >= enough);
    far.map(|(_, chance)| chance).sum()
}

fn drawn(sums: &[f64], enough: f64, seed: u64) -> f64 {
    let mut random = SplitMix64::new(seed);
    let far = (0..DRAWN)
        .filter(|_| {
            let flipped = |chunk: &[f64]| {
                let bits = random.bits();
                chunk.iter().enumerate().map(|(i, sum)| if bits >> i & 1 == 1 { *sum } else { -sum }).sum::<f64>()
            };
            sums.chunks(64).map(flipped).sum::<f64>().abs() >= enough
        })
        .count();
    (far as f64 + 1.0) / (f64::from(DRAWN) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::mcnemar_exact;
    use proptest::prelude::*;

    #[test]
    fn clusters_that_do_not_differ_are_no_observations() {
        let found = permutation_clustered(&[(0, 1.0), (0, -1.0), (1, 0.0), (2, f64::NAN)], 1);
        assert_eq!((found.clusters, found.exact), (0, true));
        assert!((found.p - 1.0).abs() < 1e-15);
        assert!((permutation_clustered(&[], 1).p - 1.0).abs() < 1e-15);
    }

    #[test]
    fn eight_voices_of_one_command_are_one_observation() {
        let items: Vec<(usize, f64)> = (0..8).map(|_| (0, 1.0)).collect();
        let found = permutation_clustered(&items, 1);
        assert_eq!(found.clusters, 1);
        assert!((found.p - 1.0).abs() < 1e-15);
    }

    #[test]
    fn drawing_comes_near_counting_and_repeats_with_its_seed() {
        // Halves are not counted, and there are too many to try.
        let items: Vec<(usize, f64)> = (0..60).map(|i| (i, if i % 3 == 0 { -0.5 } else { 0.5 })).collect();
        let drawn = permutation_clustered(&items, 7);
        assert!(!drawn.exact);
        let whole: Vec<(usize, f64)> = items.iter().map(|(cluster, d)| (*cluster, d * 2.0)).collect();
        let counted = permutation_clustered(&whole, 7);
        assert!(counted.exact && (drawn.p - counted.p).abs() < 0.002, "{drawn:?} {counted:?}");
        assert_eq!(permutation_clustered(&items, 7), drawn);
        assert_ne!(permutation_clustered(&items, 8), drawn);
    }

    proptest! {
        #[test]
        fn with_one_item_a_cluster_it_is_mcnemar(b in 0_u32..30, c in 0_u32..30) {
            let signs = (0..b + c).map(|i| (i as usize, if i < b { -1.0 } else { 1.0 }));
            let found = permutation_clustered(&signs.collect::<Vec<_>>(), 1);
            prop_assert!(found.exact && (found.p - mcnemar_exact(b, c)).abs() < 1e-9, "{found:?}");
        }

        #[test]
        fn counting_equals_trying_every_flip(sums in prop::collection::vec(-6_i32..=6, 1..12)) {
            let sums: Vec<f64> = sums.into_iter().filter(|sum| *sum != 0).map(f64::from).collect();
            prop_assume!(!sums.is_empty());
            let enough = sums.iter().sum::<f64>().abs() - 1e-6;
            prop_assert!((counted(&sums, enough) - every_flip(&sums, enough)).abs() < 1e-12);
        }
    }
}

//! Choosing the next token.
//!
//! The chain is the one of llama.cpp's default: top-k, top-p and min-p on the unscaled
//! distribution, then temperature. Random numbers are a function of (seed, position), so a pass
//! gives the same answer whatever else is in the batch.

use tenpass_model::SamplingOptions;

/// Candidates kept when `top_k` is 0 (keep all): beyond this rank the probability mass of a
/// usable model is below rounding.
const MOST_CANDIDATES: usize = 1024;

/// A token with its logit, most likely first in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) token: u32,
    pub(crate) logit: f32,
}

/// How many candidates a set of options needs.
pub(crate) fn candidates_needed(options: &SamplingOptions) -> usize {
    match (options.temperature <= 0.0, options.top_k) {
        (true, _) => 1,
        (false, 0) => MOST_CANDIDATES,
        (false, k) => (k as usize).min(MOST_CANDIDATES),
    }
}

/// The `count` most likely tokens among those allowed, most likely first; ties by token id.
pub(crate) fn most_likely(logits: &[f32], allowed: Option<&dyn Fn(u32) -> bool>, count: usize) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::with_capacity(2 * count + 1);
    let mut threshold = f32::NEG_INFINITY;
    for (token, logit) in logits.iter().enumerate() {
        // Most tokens fail the comparison, so the mask is asked for few of them.
        if *logit > threshold && allowed.is_none_or(|allowed| allowed(token as u32)) {
            kept.push(Candidate { token: token as u32, logit: *logit });
            if kept.len() >= 2 * count.max(8) {
                keep(&mut kept, count);
                threshold = kept.last().map_or(threshold, |last| last.logit);
            }
        }
    }
    keep(&mut kept, count);
    kept
}

fn keep(candidates: &mut Vec<Candidate>, count: usize) {
    candidates.sort_unstable_by(|a, b| b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token)));
    candidates.truncate(count);
}

/// Picks one of the candidates (most likely first, not empty) for the token at `position`.
pub(crate) fn pick(candidates: &[Candidate], options: &SamplingOptions, position: u64) -> Option<u32> {
    let best = candidates.first()?;
    if options.temperature <= 0.0 {
        return Some(best.token);
    }
    let kept = &candidates[..candidates_needed(options).min(candidates.len())];
    let weights: Vec<f64> = kept.iter().map(|candidate| f64::from(candidate.logit - best.logit).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut last = weights.len();
    if options.top_p < 1.0 {
        let mut sum = 0.0;
        last = weights
            .iter()
            .position(|weight| {
                sum += weight / total;
                sum >= f64::from(options.top_p)
            })
            .map_or(last, |index| index + 1);
    }
    let floor = f64::from(options.min_p);
    let kept: Vec<(u32, f64)> = kept[..last]
        .iter()
        .zip(&weights)
        .filter(|(_, weight)| **weight >= floor)
        .map(|(candidate, _)| {
            (candidate.token, (f64::from(candidate.logit - best.logit) / f64::from(options.temperature)).exp())
        })
        .collect();
    let total: f64 = kept.iter().map(|(_, weight)| weight).sum();
    let mut left = uniform(options.seed, position) * total;
    for (token, weight) in &kept {
        left -= weight;
        if left < 0.0 {
            return Some(*token);
        }
    }
    kept.last().map(|(token, _)| *token)
}

/// A number in [0, 1) from a seed and a position (two rounds of SplitMix64).
fn uniform(seed: u64, position: u64) -> f64 {
    let mixed = split_mix(split_mix(seed).wrapping_add(position.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn options(temperature: f32, top_k: u32, top_p: f32, min_p: f32, seed: u64) -> SamplingOptions {
        SamplingOptions { temperature, top_k, top_p, min_p, seed, ..SamplingOptions::default() }
    }

    proptest! {
        #[test]
        fn the_selection_equals_a_full_sort(logits in prop::collection::vec(-9.0f32..9.0, 1..300), count in 1usize..50, modulus in 1u32..4) {
            let allowed = move |token: u32| token.is_multiple_of(modulus);
            let mut all: Vec<Candidate> = logits.iter().enumerate()
                .map(|(token, logit)| Candidate { token: token as u32, logit: *logit })
                .filter(|candidate| allowed(candidate.token)).collect();
            keep(&mut all, count);
            prop_assert_eq!(most_likely(&logits, Some(&allowed), count), all);
        }

        #[test]
        fn a_pick_respects_every_limit(logits in prop::collection::vec(-9.0f32..9.0, 2..60), seed: u64, top_k in 1u32..20, position: u64) {
            let options = options(0.8, top_k, 0.9, 0.1, seed);
            let candidates = most_likely(&logits, None, candidates_needed(&options));
            let token = pick(&candidates, &options, position).unwrap();
            let rank = candidates.iter().position(|candidate| candidate.token == token).unwrap();
            prop_assert!(rank < top_k as usize);
            prop_assert!(f64::from(candidates[rank].logit - candidates[0].logit).exp() >= 0.1 - 1e-6);
        }
    }

    #[test]
    fn frequencies_follow_the_distribution() {
        // Weights 1, 1/2, 1/4 at temperature 1: expected shares 4/7, 2/7, 1/7.
        let logits = [0.0, -std::f32::consts::LN_2, -2.0 * std::f32::consts::LN_2];
        let mut counts = [0u32; 3];
        for seed in 0..70_000 {
            let options = options(1.0, 0, 1.0, 0.0, seed);
            counts[pick(&most_likely(&logits, None, 3), &options, seed % 5).unwrap() as usize] += 1;
        }
        for (count, expected) in counts.iter().zip([40_000.0, 20_000.0, 10_000.0]) {
            // Five standard deviations of a binomial count.
            assert!((f64::from(*count) - expected).abs() < 5.0 * (expected * 0.6f64).sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn temperature_zero_is_the_most_likely_token() {
        let logits = [0.1, 3.0, 2.9];
        let options = options(0.0, 40, 0.9, 0.0, 5);
        assert_eq!(pick(&most_likely(&logits, None, candidates_needed(&options)), &options, 0), Some(1));
    }
}

//! The random numbers of training: small, fast, and a state of one word that a checkpoint can hold.

use sha2::{Digest, Sha256};

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Begins with this seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Begins with a seed of its own for every purpose: the same seed and words give the same numbers.
    pub fn of(seed: u64, words: &[&str]) -> Self {
        Self::new(seed_of(seed, words))
    }

    /// Where it stands; [`Random::new`] goes on from there.
    pub const fn state(&self) -> u64 {
        self.state
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A whole number below `end`; 0 where `end` is 0.
    pub const fn below(&mut self, end: usize) -> usize {
        ((self.bits() as u128 * end as u128) >> 64) as usize
    }

    /// From 0 to below 1.
    pub const fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `low` to below `high`.
    pub const fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True in this share of the cases.
    pub const fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Normally distributed, mean 0, variance 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A seed of its own for every purpose.
pub fn seed_of(seed: u64, words: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for word in words {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word.as_bytes());
    }
    let digest = hash.finalize();
    u64::from_le_bytes(std::array::from_fn(|at| digest[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_and_go_on_from_a_state() {
        let mut random = Random::new(1_234_567);
        // The published sequence of SplitMix64 for this seed.
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
        let mut same = Random::new(random.state());
        assert_eq!(same.bits(), random.bits());
    }

    #[test]
    fn purposes_have_seeds_of_their_own() {
        assert_ne!(seed_of(1, &["a", "bc"]), seed_of(1, &["ab", "c"]));
        assert_ne!(seed_of(1, &["a"]), seed_of(2, &["a"]));
        assert_eq!(seed_of(1, &["a"]), seed_of(1, &["a"]));
    }

    #[test]
    fn ranges_hold_and_moments_are_right() {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit()) && random.below(7) < 7));
        assert_eq!(random.below(0), 0);
    }
}

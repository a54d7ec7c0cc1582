//! One seed a pass.

use sha2::{Digest, Sha256};

/// The seed of one pass: from the run's seed, the case and the pass's number, so that
/// configurations of one run meet the same random numbers and no two passes share them by design.
///
/// 31 bits and never 0: some servers keep 32 bits, read the top one as a sign, or take 0 (or all
/// ones) for "choose one yourself".
pub fn pass_seed(run_seed: u64, case: &str, pass: u32) -> u64 {
    salted_seed(run_seed, 0, case, pass)
}

/// [`pass_seed`] of a configuration with a salt: copies of one configuration would otherwise give the same
/// answers twice, which shows nothing.
pub fn salted_seed(run_seed: u64, salt: u32, case: &str, pass: u32) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(b"tenpass pass seed 1\0");
    hasher.update(run_seed.to_le_bytes());
    hasher.update(pass.to_le_bytes());
    hasher.update(case.as_bytes());
    if salt != 0 {
        hasher.update(b"\0");
        hasher.update(salt.to_le_bytes());
    }
    let mut first = [0; 4];
    first.copy_from_slice(&hasher.finalize()[..4]);
    u64::from(u32::from_le_bytes(first) >> 1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_by_run_case_and_pass_and_never_change() {
        let base = pass_seed(1, "a", 1);
        assert_eq!(base, pass_seed(1, "a", 1));
        let others = [pass_seed(2, "a", 1), pass_seed(1, "b", 1), pass_seed(1, "a", 2)];
        assert!(others.iter().all(|other| *other != base));
        assert!(others.iter().all(|seed| (1..1 << 31).contains(seed)));
        assert_eq!(base, salted_seed(1, 0, "a", 1));
        assert_ne!(salted_seed(1, 1, "a", 1), base);
        assert_ne!(salted_seed(1, 1, "a", 1), salted_seed(1, 2, "a", 1));
        // Stored runs depend on this value (computed apart, with Python's hashlib).
        assert_eq!(base, 735_987_511);
    }
}

//! The quiet noise that fills a stream before its first sample.
//!
//! Silence of exact zeros is a sound that no microphone makes, and noise of another seed would make every
//! start another one. So: triangular noise of one step of a 16-bit sample, always the same.

/// As long as a head's window: 2 s.
pub(crate) const DITHER_SAMPLES: usize = 32_000;

/// Quiet noise of so many samples, full scale at ±1: what a detector starts with, and what a clip can be
/// surrounded by. Always the same.
pub fn dither(samples: usize) -> Vec<f32> {
    let mut state = 0x7465_6e70_6173_7331u64;
    let mut uniform = || {
        // splitmix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1u32 << 24) as f32
    };
    (0..samples).map(|_| (uniform() - uniform()) / 32_768.0).collect()
}

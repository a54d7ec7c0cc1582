//! Arithmetic: convolution tiles and dot products, one thread.
//!
//! The same code in three forms: AVX-512, AVX2 with FMA, and portable. Which one runs is found when a
//! model is loaded.

mod dot;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use dot::{dot, matrix_vector};
pub(crate) use tile::{Packed, Taps};

/// What the processor can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simd {
    /// 16 floats, 32 registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 8 floats, 16 registers.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes of loops.
    Portable,
}

impl Simd {
    /// The best form that this processor has.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                return Self::Avx512;
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Every form that this processor has: for tests.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let mut all = vec![Self::best()];
        #[cfg(not(target_arch = "x86_64"))]
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if Self::best() == Self::Avx512 {
            all.push(Self::Avx2);
        }
        all.push(Self::Portable);
        all.dedup();
        all
    }
}

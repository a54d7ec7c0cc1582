//! Vector helpers over `f32` slices, compiled for several instruction sets.
//!
//! The bodies are plain loops with independent accumulators; the wrappers compile them once with
//! AVX-512, once with AVX2 + FMA and once for the baseline, and pick at run time. Without this the
//! exponentials of softmax and SiLU alone would cost as much as the matrix products.
#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the bodies must be compiled inside each instruction set's wrapper, and index loops are what the compiler turns into vectors"
)]
#![allow(unsafe_code, reason = "calling a function compiled for a processor feature that was just detected")]

const LANES: usize = 16;

#[inline(always)]
pub(super) fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// e^x with a relative error below 2e-7 on [-87, 88]: range reduction and a degree-6 polynomial.
#[inline(always)]
fn exponential<const FMA: bool>(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding it rounds to the nearest integer
    let x = x.clamp(-87.0, 88.0);
    let n = multiply_add::<FMA>(x, std::f32::consts::LOG2_E, ROUND) - ROUND;
    // ln 2 in two parts, so that the reduced argument keeps its low bits.
    let r = multiply_add::<FMA>(n, -0.693_359_4, x);
    let r = multiply_add::<FMA>(n, 2.121_944_4e-4, r);
    let mut p = 1.388_889e-3;
    for c in [8.333_334e-3, 4.166_666_8e-2, 0.166_666_67, 0.5, 1.0, 1.0] {
        p = multiply_add::<FMA>(p, r, c);
    }
    let scale = f32::from_bits((((n as i32) + 127) << 23) as u32);
    p * scale
}

#[inline(always)]
fn dot_body<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a_head, a_tail) = a.as_chunks::<LANES>();
    let (b_head, b_tail) = b.as_chunks::<LANES>();
    for (x, y) in a_head.iter().zip(b_head) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<FMA>(x[lane], y[lane], sums[lane]);
        }
    }
    let tail: f32 = a_tail.iter().zip(b_tail).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + tail
}

#[inline(always)]
fn exp_weights_body<const FMA: bool>(scores: &mut [f32], maximum: f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (head, tail) = scores.as_chunks_mut::<LANES>();
    for chunk in head {
        for lane in 0..LANES {
            chunk[lane] = exponential::<FMA>(chunk[lane] - maximum);
            sums[lane] += chunk[lane];
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for score in tail {
        *score = exponential::<FMA>(*score - maximum);
        sum += *score;
    }
    sum
}

#[inline(always)]
fn silu_mul_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (gate, up) in gate.iter_mut().zip(up) {
        *gate = *gate / (1.0 + exponential::<FMA>(-*gate)) * up;
    }
}

#[inline(always)]
fn gelu_mul_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (gate, up) in gate.iter_mut().zip(up) {
        let x = *gate;
        // 0.5 x (1 + tanh(u)) = x / (1 + e^(-2u)): the tanh form that Gemma was trained with.
        let u = 0.797_884_6 * x * (1.0 + 0.044_715 * x * x);
        *gate = x / (1.0 + exponential::<FMA>(-2.0 * u)) * up;
    }
}

/// Compiles a body for several instruction sets and picks one at run time.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident, $body:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub(crate) fn $name($($arg: $type),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn wide($($arg: $type),*) $(-> $ret)? { $body::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn middle($($arg: $type),*) $(-> $ret)? { $body::<true>($($arg),*) }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                    // SAFETY: the features were just detected.
                    return unsafe { wide($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the features were just detected.
                    return unsafe { middle($($arg),*) };
                }
            }
            $body::<false>($($arg),*)
        }
    };
}

pub(super) use dispatch;

dispatch!(
    /// Inner product of two slices of equal length.
    dot, dot_body, (a: &[f32], b: &[f32]) -> f32
);
dispatch!(
    /// Replaces each score s by e^(s - maximum) and returns their sum.
    exp_weights, exp_weights_body, (scores: &mut [f32], maximum: f32) -> f32
);
dispatch!(
    /// `gate = SiLU(gate) * up`.
    silu_mul, silu_mul_body, (gate: &mut [f32], up: &[f32])
);
dispatch!(
    /// `gate = GELU(gate) * up` (tanh form).
    gelu_mul, gelu_mul_body, (gate: &mut [f32], up: &[f32])
);

/// `out = x / rms(x) * weight`.
pub(crate) fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let mean_square = dot(x, x) / x.len() as f32;
    let scale = 1.0 / (mean_square + epsilon).sqrt();
    for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exponentials_agree_with_the_standard_library(x in -80.0f32..80.0) {
            let expected = f64::from(x).exp();
            for ours in [exponential::<false>(x), { let mut s = [x]; exp_weights(&mut s, 0.0) }] {
                prop_assert!((f64::from(ours) / expected - 1.0).abs() < 1e-6, "{x}: {ours} against {expected}");
            }
        }

        #[test]
        fn dot_agrees_with_a_double_precision_sum(values in prop::collection::vec((-2.0f32..2.0, -2.0f32..2.0), 0..200)) {
            let (a, b): (Vec<f32>, Vec<f32>) = values.into_iter().unzip();
            let expected: f64 = a.iter().zip(&b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - expected).abs() < 1e-3);
        }

        #[test]
        fn activations_agree_with_their_definitions(x in -20.0f32..20.0, up in -3.0f32..3.0) {
            let (mut silu, mut gelu) = ([x], [x]);
            silu_mul(&mut silu, &[up]);
            gelu_mul(&mut gelu, &[up]);
            let (x, up) = (f64::from(x), f64::from(up));
            let expected_silu = x / (1.0 + (-x).exp()) * up;
            let expected_gelu = 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh()) * up;
            prop_assert!((f64::from(silu[0]) - expected_silu).abs() < 1e-4);
            prop_assert!((f64::from(gelu[0]) - expected_gelu).abs() < 1e-4);
        }
    }
}

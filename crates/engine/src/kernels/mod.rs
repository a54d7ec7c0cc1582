//! Arithmetic kernels: vector helpers and matrix products, chosen at run time by what the
//! processor can do.

mod matrix;
mod vector;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub(crate) use matrix::{Matrix, multiply_all};
pub(crate) use vector::{axpy, dot, gelu_mul, exp_weights, rms_norm, silu_mul};

//! Arithmetic kernels: vector helpers and matrix products, chosen at run time by what the
//! processor can do.

mod attention;
mod matrix;
mod vector;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub(crate) use attention::{Keys, score, weigh};
pub(crate) use matrix::{Matrix, multiply_all};
pub(crate) use vector::{exp_weights, gelu_mul, rms_norm, silu_mul};

//! One weight matrix, with the kernel that suits this processor.

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};
use gemm::{Parallelism, gemm};

#[cfg(target_arch = "x86_64")]
use super::vnni::{Activations, Packed};

/// Batch rows from which a dense f32 product is faster than the quantised one (dependencies.md).
const DENSE_FROM: usize = 40;

/// A matrix of `outputs` rows and `inputs` columns, multiplied as `x * Wᵀ`.
pub(crate) struct Matrix {
    outputs: usize,
    inputs: usize,
    kernel: Kernel,
}

enum Kernel {
    /// 8-bit tiles, where the processor has AVX-512 VNNI.
    #[cfg(target_arch = "x86_64")]
    Packed(Packed),
    /// Everywhere else: candle's Q8_0 product for few rows, dense f32 for many.
    Portable { quantised: Option<QMatMul>, dense: Vec<f32> },
}

impl Matrix {
    /// Whether a row's product is the same to the last bit in every batch.
    pub(crate) fn is_batch_invariant(&self) -> bool {
        !matches!(self.kernel, Kernel::Portable { .. })
    }

    /// Builds the matrix from row-major values.
    pub(crate) fn new(weights: Vec<f32>, outputs: usize, inputs: usize) -> candle_core::Result<Self> {
        #[cfg(target_arch = "x86_64")]
        if let Some(packed) = Packed::new(&weights, outputs, inputs) {
            return Ok(Self { outputs, inputs, kernel: Kernel::Packed(packed) });
        }
        Self::portable(weights, outputs, inputs)
    }

    /// The kernel without special instructions; also the reference in tests.
    pub(crate) fn portable(weights: Vec<f32>, outputs: usize, inputs: usize) -> candle_core::Result<Self> {
        let quantised = if inputs.is_multiple_of(32) {
            let tensor = Tensor::from_slice(&weights, (outputs, inputs), &Device::Cpu)?;
            Some(QMatMul::from_qtensor(QTensor::quantize(&tensor, GgmlDType::Q8_0)?)?)
        } else {
            None
        };
        Ok(Self { outputs, inputs, kernel: Kernel::Portable { quantised, dense: weights } })
    }

    /// Number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// The values of one row.
    pub(crate) fn row(&self, row: usize, out: &mut [f32]) {
        match &self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Packed(packed) => packed.row(row, out),
            Kernel::Portable { dense, .. } => out.copy_from_slice(&dense[row * self.inputs..(row + 1) * self.inputs]),
        }
    }

    /// `x * Wᵀ` for a row-major batch of `inputs` columns.
    pub(crate) fn multiply(&self, x: &[f32]) -> candle_core::Result<Vec<f32>> {
        Ok(multiply_all(&[self], x)?.swap_remove(0))
    }

    fn multiply_portable(
        &self,
        x: &[f32],
        quantised: Option<&QMatMul>,
        dense: &[f32],
    ) -> candle_core::Result<Vec<f32>> {
        let rows = x.len() / self.inputs;
        match quantised {
            Some(quantised) if rows < DENSE_FROM => {
                let x = Tensor::from_slice(x, (rows, self.inputs), &Device::Cpu)?;
                quantised.forward(&x)?.flatten_all()?.to_vec1()
            }
            _ => Ok(dense_product(x, dense, rows, self.outputs, self.inputs)),
        }
    }
}

/// Multiplies one batch with several matrices, preparing the batch once.
pub(crate) fn multiply_all(matrices: &[&Matrix], x: &[f32]) -> candle_core::Result<Vec<Vec<f32>>> {
    #[cfg(target_arch = "x86_64")]
    let mut prepared: Option<Activations> = None;
    matrices
        .iter()
        .map(|matrix| match &matrix.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Packed(packed) => {
                let prepared = prepared.get_or_insert_with(|| Activations::new(x, matrix.inputs));
                let mut out = vec![0.0; x.len() / matrix.inputs * matrix.outputs];
                packed.multiply(prepared, &mut out);
                Ok(out)
            }
            Kernel::Portable { quantised, dense } => matrix.multiply_portable(x, quantised.as_ref(), dense),
        })
        .collect()
}

/// `a * bᵀ` in f32: a is rows x inner, b is columns x inner, both row-major.
fn dense_product(a: &[f32], b: &[f32], rows: usize, columns: usize, inner: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows * columns];
    assert!(a.len() >= rows * inner && b.len() >= columns * inner);
    #[allow(unsafe_code, reason = "the gemm crate takes pointers; lengths are asserted above")]
    // SAFETY: every index stays inside the three slices, whose lengths were just checked.
    unsafe {
        gemm(
            rows,
            columns,
            inner,
            out.as_mut_ptr(),
            1,
            columns as isize,
            false,
            a.as_ptr(),
            1,
            inner as isize,
            b.as_ptr(),
            inner as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(seed: u64, count: usize) -> Vec<f32> {
        let mut state = seed | 1;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f32 / (1u64 << 24) as f32) * 2.0 - 1.0
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_kernel_agrees_with_the_dense_product(rows in 1usize..50, outputs in 1usize..80, blocks in 1usize..5, seed: u64) {
            let inputs = blocks * 32;
            let weights = values(seed, outputs * inputs);
            let x = values(seed ^ 7, rows * inputs);
            let expected = dense_product(&x, &weights, rows, outputs, inputs);
            for matrix in [Matrix::new(weights.clone(), outputs, inputs).unwrap(), Matrix::portable(weights, outputs, inputs).unwrap()] {
                let ours = matrix.multiply(&x).unwrap();
                // Two roundings to 8 bits: the error grows with the root of the length.
                let tolerance = 0.02 * (inputs as f32).sqrt();
                for (ours, expected) in ours.iter().zip(&expected) {
                    prop_assert!((ours - expected).abs() < tolerance, "{ours} against {expected}");
                }
            }
        }

        #[test]
        fn a_row_does_not_depend_on_its_batch(rows in 2usize..20, outputs in 1usize..70, seed: u64) {
            let weights = values(seed, outputs * 64);
            let x = values(seed ^ 7, rows * 64);
            let matrix = Matrix::new(weights, outputs, 64).unwrap();
            if matches!(matrix.kernel, Kernel::Portable { .. }) {
                return Ok(()); // dense and quantised products round differently by design
            }
            let batch = matrix.multiply(&x).unwrap();
            for row in 0..rows {
                let alone = matrix.multiply(&x[row * 64..(row + 1) * 64]).unwrap();
                prop_assert_eq!(&alone[..], &batch[row * outputs..(row + 1) * outputs]);
            }
        }
    }

    #[test]
    fn rows_read_back_within_the_rounding_step() {
        let weights = values(3, 40 * 64);
        let matrix = Matrix::new(weights.clone(), 40, 64).unwrap();
        let mut row = vec![0.0; 64];
        for index in 0..40 {
            matrix.row(index, &mut row);
            for (ours, original) in row.iter().zip(&weights[index * 64..]) {
                assert!((ours - original).abs() <= 1.0 / 127.0);
            }
        }
    }
}

//! Matrix products in 8-bit integers for processors with AVX-512 VNNI.
//!
//! Weights are quantised per output row in blocks of 32 (as GGUF's Q8_0) and stored in tiles of 16
//! output rows, so that one 64-byte load holds 4 inputs of 16 outputs. Activations are quantised
//! per block of 32 in the same way. `vpdpbusd` multiplies unsigned by signed bytes: weights are
//! stored with 128 added, and the sum is corrected by -128 times the sum of the activations.
//! Integer sums within a block are exact, so a row's result does not depend on the batch it is in.
#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the bodies must be compiled inside each instruction set's wrapper, and index loops are what the compiler turns into vectors"
)]
#![allow(unsafe_code, reason = "vector intrinsics; every pointer stays inside slices whose lengths are asserted")]

use std::arch::x86_64::{
    __m512, __m512i, _mm_storeu_si128, _mm512_abs_ps, _mm512_add_epi32, _mm512_cvtepi32_epi8, _mm512_cvtepi32_ps,
    _mm512_cvtps_epi32, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512,
    _mm512_mask_storeu_ps, _mm512_max_ps, _mm512_mul_ps, _mm512_reduce_add_epi32, _mm512_reduce_max_ps,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
};

use rayon::prelude::*;

/// Values that share one scale.
const BLOCK: usize = 32;
/// Output rows of a tile: the lanes of a 512-bit register.
const TILE: usize = 16;
/// Tiles a task handles together.
const TILES: usize = 2;
/// Batch rows the kernel handles together: 6 x 2 sums in f32, as many in i32, and the operands
/// fill the 32 registers.
const ROWS: usize = 6;

/// True where [`Packed::multiply`] may be called.
pub(crate) fn supported() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni")
}

/// A weight matrix of `outputs` rows and `inputs` columns, packed for the kernel.
pub(crate) struct Packed {
    outputs: usize,
    inputs: usize,
    quants: Vec<u8>,
    scales: Vec<f32>,
}

/// Activations quantised once and multiplied with several matrices.
pub(crate) struct Activations {
    rows: usize,
    inputs: usize,
    quants: Vec<i8>,
    scales: Vec<f32>,
    corrections: Vec<i32>,
}

/// The slices of one row: values, quants, scales, corrections.
type Rows<'a> = (((&'a [f32], &'a mut [i8]), &'a mut [f32]), &'a mut [i32]);

impl Activations {
    /// Quantises `rows` rows of `inputs` values; `inputs` must be a multiple of 32.
    pub(crate) fn new(values: &[f32], inputs: usize) -> Self {
        let rows = values.len() / inputs;
        let blocks = inputs / BLOCK;
        let mut quants = vec![0i8; rows * inputs];
        let mut scales = vec![0.0; rows * blocks];
        let mut corrections = vec![0; rows * blocks];
        let fill = |(((values, quants), scales), corrections): Rows<'_>| {
            // SAFETY: `supported` was checked when the matrix was packed.
            unsafe { quantise_row(values, quants, scales, corrections) }
        };
        values
            .par_chunks_exact(inputs)
            .zip(quants.par_chunks_exact_mut(inputs))
            .zip(scales.par_chunks_exact_mut(blocks))
            .zip(corrections.par_chunks_exact_mut(blocks))
            // A small batch is not worth handing to another thread.
            .with_min_len(((1 << 16) / inputs).max(1))
            .for_each(fill);
        Self { rows, inputs, quants, scales, corrections }
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn quantise_row(values: &[f32], quants: &mut [i8], scales: &mut [f32], corrections: &mut [i32]) {
    for (((values, quants), scale), correction) in
        values.as_chunks::<BLOCK>().0.iter().zip(quants.as_chunks_mut::<BLOCK>().0).zip(scales).zip(corrections)
    {
        // SAFETY: both arrays hold 32 values, two registers of 16.
        unsafe {
            let (low, high) = (_mm512_loadu_ps(values.as_ptr()), _mm512_loadu_ps(values.as_ptr().add(TILE)));
            let largest = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(low), _mm512_abs_ps(high)));
            let inverse = _mm512_set1_ps(if largest > 0.0 { 127.0 / largest } else { 0.0 });
            // Rounds to nearest, ties to even, as the conversion by addition in `quantise_block` does.
            let low = _mm512_cvtps_epi32(_mm512_mul_ps(low, inverse));
            let high = _mm512_cvtps_epi32(_mm512_mul_ps(high, inverse));
            _mm_storeu_si128(quants.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(low));
            _mm_storeu_si128(quants.as_mut_ptr().add(TILE).cast(), _mm512_cvtepi32_epi8(high));
            *scale = largest / 127.0;
            *correction = -128 * _mm512_reduce_add_epi32(_mm512_add_epi32(low, high));
        }
    }
}

/// Quantises one block and returns its scale.
#[inline(always)]
fn quantise_block(values: &[f32; BLOCK], quants: &mut [i8; BLOCK]) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let mut largest = [0.0f32; TILE];
    for (index, value) in values.iter().enumerate() {
        let slot = &mut largest[index % TILE];
        *slot = if value.abs() > *slot { value.abs() } else { *slot };
    }
    let largest = largest.iter().fold(0.0f32, |a, b| a.max(*b));
    let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    for (quant, value) in quants.iter_mut().zip(values) {
        *quant = ((value * inverse + ROUND) - ROUND) as i32 as i8;
    }
    largest / 127.0
}

impl Packed {
    /// Packs a row-major matrix; `None` when the processor or the width does not allow it.
    pub(crate) fn new(weights: &[f32], outputs: usize, inputs: usize) -> Option<Self> {
        if !supported() || !inputs.is_multiple_of(BLOCK) || inputs == 0 {
            return None;
        }
        let blocks = inputs / BLOCK;
        let tiles = outputs.div_ceil(TILE * TILES) * TILES;
        let mut quants = vec![128u8; tiles * blocks * BLOCK * TILE];
        let mut scales = vec![0.0f32; tiles * blocks * TILE];
        quants
            .par_chunks_exact_mut(blocks * BLOCK * TILE)
            .zip(scales.par_chunks_exact_mut(blocks * TILE))
            .enumerate()
            .for_each(|(tile, (quants, scales))| {
                let mut block_quants = [0i8; BLOCK];
                for lane in 0..TILE {
                    let Some(row) = weights.get((tile * TILE + lane) * inputs..).and_then(|rest| rest.get(..inputs))
                    else {
                        break;
                    };
                    for (block, values) in row.as_chunks::<BLOCK>().0.iter().enumerate() {
                        scales[block * TILE + lane] = quantise_block(values, &mut block_quants);
                        for (index, quant) in block_quants.iter().enumerate() {
                            let (group, byte) = (index / 4, index % 4);
                            quants[block * BLOCK * TILE + group * TILE * 4 + lane * 4 + byte] =
                                (i16::from(*quant) + 128) as u8;
                        }
                    }
                }
            });
        Some(Self { outputs, inputs, quants, scales })
    }

    /// The values of one row, dequantised: the token embedding of a tied output matrix.
    pub(crate) fn row(&self, row: usize, out: &mut [f32]) {
        let blocks = self.inputs / BLOCK;
        let (tile, lane) = (row / TILE, row % TILE);
        for (index, out) in out.iter_mut().enumerate() {
            let (block, inner) = (index / BLOCK, index % BLOCK);
            let at = (tile * blocks + block) * BLOCK * TILE + (inner / 4) * TILE * 4 + lane * 4 + inner % 4;
            *out = (f32::from(self.quants[at]) - 128.0) * self.scales[(tile * blocks + block) * TILE + lane];
        }
    }

    /// `out[m][n] = sum_k a[m][k] * w[n][k]`, `out` row-major with `outputs` columns.
    pub(crate) fn multiply(&self, activations: &Activations, out: &mut [f32]) {
        assert_eq!(activations.inputs, self.inputs);
        assert_eq!(out.len(), activations.rows * self.outputs);
        let pairs = self.quants.len() / (self.inputs * TILE * TILES);
        let target = Shared(out.as_mut_ptr());
        // Few tasks: each costs a hand-over between threads.
        let share = pairs.div_ceil(rayon::current_num_threads() * 4).max(4);
        (0..pairs.div_ceil(share)).into_par_iter().for_each(|task| {
            for pair in task * share..((task + 1) * share).min(pairs) {
                // SAFETY: `supported` was checked by `new`; each pair writes its own columns.
                unsafe { self.pair(activations, pair, target) };
            }
        });
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    unsafe fn pair(&self, activations: &Activations, pair: usize, out: Shared) {
        let mut row = 0;
        while row < activations.rows {
            let left = activations.rows - row;
            // SAFETY: the rows and columns addressed are inside the slices checked by `multiply`.
            unsafe {
                match left {
                    1 => self.kernel::<1>(activations, row, pair, out),
                    2 => self.kernel::<2>(activations, row, pair, out),
                    3 => self.kernel::<3>(activations, row, pair, out),
                    4 => self.kernel::<4>(activations, row, pair, out),
                    5 => self.kernel::<5>(activations, row, pair, out),
                    _ => self.kernel::<ROWS>(activations, row, pair, out),
                }
            }
            row += left.min(ROWS);
        }
    }

    /// Sums for `R` batch rows and the 32 outputs of one pair of tiles.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[inline]
    unsafe fn kernel<const R: usize>(&self, activations: &Activations, row: usize, pair: usize, out: Shared) {
        let blocks = self.inputs / BLOCK;
        let tile_quants = blocks * BLOCK * TILE;
        let tile_scales = blocks * TILE;
        // SAFETY: offsets stay below the lengths that `new` and `Activations::new` allocated.
        unsafe {
            let weights = self.quants.as_ptr().add(pair * TILES * tile_quants);
            let scales = self.scales.as_ptr().add(pair * TILES * tile_scales);
            let quants = activations.quants.as_ptr().add(row * self.inputs);
            let row_scales = activations.scales.as_ptr().add(row * blocks);
            let corrections = activations.corrections.as_ptr().add(row * blocks);
            let mut sums: [[__m512; TILES]; R] = [[_mm512_setzero_ps(); TILES]; R];
            for block in 0..blocks {
                let mut integers: [[__m512i; TILES]; R] = [[_mm512_set1_epi32(0); TILES]; R];
                for r in 0..R {
                    integers[r] = [_mm512_set1_epi32(*corrections.add(r * blocks + block)); TILES];
                }
                for group in 0..BLOCK / 4 {
                    let at = block * BLOCK * TILE + group * TILE * 4;
                    let first = _mm512_loadu_si512(weights.add(at).cast());
                    let second = _mm512_loadu_si512(weights.add(tile_quants + at).cast());
                    for r in 0..R {
                        let four =
                            quants.add(r * self.inputs + block * BLOCK + group * 4).cast::<i32>().read_unaligned();
                        let four = _mm512_set1_epi32(four);
                        integers[r][0] = _mm512_dpbusd_epi32(integers[r][0], first, four);
                        integers[r][1] = _mm512_dpbusd_epi32(integers[r][1], second, four);
                    }
                }
                let first = _mm512_loadu_ps(scales.add(block * TILE));
                let second = _mm512_loadu_ps(scales.add(tile_scales + block * TILE));
                for r in 0..R {
                    let scale = _mm512_set1_ps(*row_scales.add(r * blocks + block));
                    sums[r][0] =
                        _mm512_fmadd_ps(_mm512_cvtepi32_ps(integers[r][0]), _mm512_mul_ps(first, scale), sums[r][0]);
                    sums[r][1] =
                        _mm512_fmadd_ps(_mm512_cvtepi32_ps(integers[r][1]), _mm512_mul_ps(second, scale), sums[r][1]);
                }
            }
            for r in 0..R {
                for tile in 0..TILES {
                    let column = (pair * TILES + tile) * TILE;
                    let valid = self.outputs.saturating_sub(column).min(TILE);
                    if valid > 0 {
                        let mask = ((1u32 << valid) - 1) as u16;
                        _mm512_mask_storeu_ps(out.0.add((row + r) * self.outputs + column), mask, sums[r][tile]);
                    }
                }
            }
        }
    }
}

/// The output pointer, shared by tasks that write disjoint columns.
#[derive(Clone, Copy)]
struct Shared(*mut f32);
// SAFETY: tasks write disjoint columns of one allocation that outlives them.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

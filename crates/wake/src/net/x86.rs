//! The same sums with AVX-512, and with AVX2 and FMA.
#![allow(unsafe_code, reason = "vector loads and calls into code for a processor that was asked for its features")]
#![allow(clippy::inline_always, reason = "a helper must be compiled with the features of its caller")]

use std::arch::x86_64::{
    __m256, __m512, _MM_HINT_T0, _mm_prefetch, _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_storeu_ps, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_reduce_add_ps,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::dot::ROWS;
use super::tile::{POSITIONS, Taps, WIDEST};

/// Sums of up to eight positions and `width` (16, 32 or 48) channels. `starts` reach within `input`.
pub(super) fn sums_avx512(
    input: &[f32],
    starts: &[usize],
    taps: Taps,
    weights: &[f32],
    bias: &[f32; WIDEST],
    width: usize,
    sums: &mut [f32; POSITIONS * WIDEST],
) {
    check(input, starts, taps, weights, width);
    // SAFETY: `Simd::Avx512` exists only where the processor has AVX-512F; `check` has compared every
    // reach with the slices.
    unsafe {
        match (starts.len(), width / 16) {
            (8, 3) => tile_avx512::<8, 3>(input, starts, taps, weights, bias, sums),
            (4, 3) => tile_avx512::<4, 3>(input, starts, taps, weights, bias, sums),
            (2, 3) => tile_avx512::<2, 3>(input, starts, taps, weights, bias, sums),
            (_, 3) => tile_avx512::<1, 3>(input, starts, taps, weights, bias, sums),
            (8, 2) => tile_avx512::<8, 2>(input, starts, taps, weights, bias, sums),
            (4, 2) => tile_avx512::<4, 2>(input, starts, taps, weights, bias, sums),
            (2, 2) => tile_avx512::<2, 2>(input, starts, taps, weights, bias, sums),
            (_, 2) => tile_avx512::<1, 2>(input, starts, taps, weights, bias, sums),
            (8, _) => tile_avx512::<8, 1>(input, starts, taps, weights, bias, sums),
            (4, _) => tile_avx512::<4, 1>(input, starts, taps, weights, bias, sums),
            (2, _) => tile_avx512::<2, 1>(input, starts, taps, weights, bias, sums),
            _ => tile_avx512::<1, 1>(input, starts, taps, weights, bias, sums),
        }
    }
}

/// Sums of up to eight positions and 24 channels.
pub(super) fn sums_avx2(
    input: &[f32],
    starts: &[usize],
    taps: Taps,
    weights: &[f32],
    bias: &[f32; WIDEST],
    sums: &mut [f32; POSITIONS * WIDEST],
) {
    check(input, starts, taps, weights, 24);
    // SAFETY: `Simd::Avx2` exists only where the processor has AVX2 and FMA; `check` has compared every
    // reach with the slices.
    unsafe {
        // Sixteen registers hold the sums of four positions.
        for (half, sums) in starts.chunks(4).zip(sums.as_chunks_mut::<96>().0) {
            match half.len() {
                4 => tile_avx2::<4>(input, half, taps, weights, bias, sums),
                2 => tile_avx2::<2>(input, half, taps, weights, bias, sums),
                _ => tile_avx2::<1>(input, half, taps, weights, bias, sums),
            }
        }
    }
}

fn check(input: &[f32], starts: &[usize], taps: Taps, weights: &[f32], width: usize) {
    assert!(starts.iter().all(|start| start + taps.reach() <= input.len()) && matches!(starts.len(), 1 | 2 | 4 | 8));
    assert!(weights.len() == taps.segments * taps.length * width && width <= WIDEST);
}

#[target_feature(enable = "avx512f")]
unsafe fn tile_avx512<const P: usize, const V: usize>(
    input: &[f32],
    starts: &[usize],
    taps: Taps,
    weights: &[f32],
    bias: &[f32; WIDEST],
    sums: &mut [f32; POSITIONS * WIDEST],
) {
    // SAFETY: the caller has checked that every position's taps lie in `input`, that `weights` has V vectors
    // an input, and P × V vectors fit into `sums`.
    unsafe {
        let mut sum = [[_mm512_setzero_ps(); V]; P];
        for sum in &mut sum {
            for (v, sum) in sum.iter_mut().enumerate() {
                *sum = _mm512_loadu_ps(bias.as_ptr().add(v * 16));
            }
        }
        let mut weight = weights.as_ptr();
        for segment in 0..taps.segments {
            let from: [*const f32; P] = std::array::from_fn(|p| input.as_ptr().add(starts[p] + segment * taps.stride));
            for k in 0..taps.length {
                let row: [__m512; V] = std::array::from_fn(|v| _mm512_loadu_ps(weight.add(v * 16)));
                for p in 0..P {
                    let value = _mm512_set1_ps(*from[p].add(k));
                    for v in 0..V {
                        sum[p][v] = _mm512_fmadd_ps(value, row[v], sum[p][v]);
                    }
                }
                weight = weight.add(V * 16);
            }
        }
        for (p, sum) in sum.iter().enumerate() {
            for (v, sum) in sum.iter().enumerate() {
                _mm512_storeu_ps(sums.as_mut_ptr().add((p * V + v) * 16), *sum);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn tile_avx2<const P: usize>(
    input: &[f32],
    starts: &[usize],
    taps: Taps,
    weights: &[f32],
    bias: &[f32; WIDEST],
    sums: &mut [f32; 96],
) {
    // SAFETY: as for AVX-512, with three vectors of eight an input.
    unsafe {
        let mut sum = [[_mm256_setzero_ps(); 3]; P];
        for sum in &mut sum {
            for (v, sum) in sum.iter_mut().enumerate() {
                *sum = _mm256_loadu_ps(bias.as_ptr().add(v * 8));
            }
        }
        let mut weight = weights.as_ptr();
        for segment in 0..taps.segments {
            let from: [*const f32; P] = std::array::from_fn(|p| input.as_ptr().add(starts[p] + segment * taps.stride));
            for k in 0..taps.length {
                let row: [__m256; 3] = std::array::from_fn(|v| _mm256_loadu_ps(weight.add(v * 8)));
                for p in 0..P {
                    let value = _mm256_set1_ps(*from[p].add(k));
                    for v in 0..3 {
                        sum[p][v] = _mm256_fmadd_ps(value, row[v], sum[p][v]);
                    }
                }
                weight = weight.add(24);
            }
        }
        for (p, sum) in sum.iter().enumerate() {
            for (v, sum) in sum.iter().enumerate() {
                _mm256_storeu_ps(sums.as_mut_ptr().add((p * 3 + v) * 8), *sum);
            }
        }
    }
}

/// Sum of products.
pub(super) fn dot_avx512(one: &[f32], two: &[f32]) -> f32 {
    assert_eq!(one.len(), two.len(), "vectors of one product have one length");
    // SAFETY: `Simd::Avx512` exists only where the processor has AVX-512F.
    unsafe { dot_512(one, two) }
}

#[target_feature(enable = "avx512f")]
fn dot_512(one: &[f32], two: &[f32]) -> f32 {
    let mut sum = [_mm512_setzero_ps(); 4];
    let (one_blocks, one_rest) = one.as_chunks::<64>();
    let (two_blocks, two_rest) = two.as_chunks::<64>();
    let (one_vectors, one_rest) = one_rest.as_chunks::<16>();
    let (two_vectors, two_rest) = two_rest.as_chunks::<16>();
    for (one, two) in one_blocks.iter().zip(two_blocks) {
        for (v, sum) in sum.iter_mut().enumerate() {
            // SAFETY: a block has four vectors of 16.
            let (one, two) =
                unsafe { (_mm512_loadu_ps(one.as_ptr().add(v * 16)), _mm512_loadu_ps(two.as_ptr().add(v * 16))) };
            *sum = _mm512_fmadd_ps(one, two, *sum);
        }
    }
    for (one, two) in one_vectors.iter().zip(two_vectors) {
        // SAFETY: a block has one vector.
        let (one, two) = unsafe { (_mm512_loadu_ps(one.as_ptr()), _mm512_loadu_ps(two.as_ptr())) };
        sum[0] = _mm512_fmadd_ps(one, two, sum[0]);
    }
    let total = _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3]));
    _mm512_reduce_add_ps(total) + one_rest.iter().zip(two_rest).map(|(one, two)| one * two).sum::<f32>()
}

/// Sum of products.
pub(super) fn dot_avx2(one: &[f32], two: &[f32]) -> f32 {
    assert_eq!(one.len(), two.len(), "vectors of one product have one length");
    // SAFETY: `Simd::Avx2` exists only where the processor has AVX2 and FMA.
    unsafe { dot_256(one, two) }
}

#[target_feature(enable = "avx2,fma")]
fn dot_256(one: &[f32], two: &[f32]) -> f32 {
    let mut sum = [_mm256_setzero_ps(); 4];
    let (one_blocks, one_rest) = one.as_chunks::<32>();
    let (two_blocks, two_rest) = two.as_chunks::<32>();
    let (one_vectors, one_rest) = one_rest.as_chunks::<8>();
    let (two_vectors, two_rest) = two_rest.as_chunks::<8>();
    for (one, two) in one_blocks.iter().zip(two_blocks) {
        for (v, sum) in sum.iter_mut().enumerate() {
            // SAFETY: a block has four vectors of 8.
            let (one, two) =
                unsafe { (_mm256_loadu_ps(one.as_ptr().add(v * 8)), _mm256_loadu_ps(two.as_ptr().add(v * 8))) };
            *sum = _mm256_fmadd_ps(one, two, *sum);
        }
    }
    for (one, two) in one_vectors.iter().zip(two_vectors) {
        // SAFETY: a block has one vector.
        let (one, two) = unsafe { (_mm256_loadu_ps(one.as_ptr()), _mm256_loadu_ps(two.as_ptr())) };
        sum[0] = _mm256_fmadd_ps(one, two, sum[0]);
    }
    let total = _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3]));
    lanes(total) + one_rest.iter().zip(two_rest).map(|(one, two)| one * two).sum::<f32>()
}

/// Sums of products of four rows and one vector.
pub(super) fn rows_avx512(rows: [&[f32]; ROWS], vector: &[f32]) -> [f32; ROWS] {
    assert!(rows.iter().all(|row| row.len() == vector.len()), "vectors of one product have one length");
    // SAFETY: the form exists only where the processor has AVX-512F.
    unsafe { rows_512(rows, vector) }
}

#[target_feature(enable = "avx512f")]
fn rows_512(rows: [&[f32]; ROWS], vector: &[f32]) -> [f32; ROWS] {
    let mut sums = [[_mm512_setzero_ps(); 2]; ROWS];
    let (blocks, rest) = vector.as_chunks::<32>();
    let row_blocks = rows.map(|row| row.as_chunks::<32>().0);
    let vector_length = vector.len();
    for (place, vector) in blocks.iter().enumerate() {
        for v in 0..2 {
            // SAFETY: a block has two vectors of 16.
            let value = unsafe { _mm512_loadu_ps(vector.as_ptr().add(v * 16)) };
            for (sum, blocks) in sums.iter_mut().zip(row_blocks) {
                // SAFETY: as above; rows have as many blocks as the vector.
                let weight = unsafe {
                    let at = blocks[place].as_ptr().add(v * 16);
                    // The rows of the next group: prefetching of the processor ends at every page. An address
                    // behind the matrix is not read.
                    _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(ROWS * vector_length).cast());
                    _mm512_loadu_ps(at)
                };
                sum[v] = _mm512_fmadd_ps(value, weight, sum[v]);
            }
        }
    }
    let done = blocks.len() * 32;
    std::array::from_fn(|row| {
        let sum = &sums[row];
        let tail: f32 = rest.iter().zip(&rows[row][done..]).map(|(one, two)| one * two).sum();
        _mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1])) + tail
    })
}

/// Sums of products of four rows and one vector.
pub(super) fn rows_avx2(rows: [&[f32]; ROWS], vector: &[f32]) -> [f32; ROWS] {
    assert!(rows.iter().all(|row| row.len() == vector.len()), "vectors of one product have one length");
    // SAFETY: the form exists only where the processor has AVX2 and FMA.
    unsafe { rows_256(rows, vector) }
}

#[target_feature(enable = "avx2,fma")]
fn rows_256(rows: [&[f32]; ROWS], vector: &[f32]) -> [f32; ROWS] {
    let mut sums = [[_mm256_setzero_ps(); 2]; ROWS];
    let (blocks, rest) = vector.as_chunks::<16>();
    let row_blocks = rows.map(|row| row.as_chunks::<16>().0);
    let vector_length = vector.len();
    for (place, vector) in blocks.iter().enumerate() {
        for v in 0..2 {
            // SAFETY: a block has two vectors of 8.
            let value = unsafe { _mm256_loadu_ps(vector.as_ptr().add(v * 8)) };
            for (sum, blocks) in sums.iter_mut().zip(row_blocks) {
                // SAFETY: as above; rows have as many blocks as the vector.
                let weight = unsafe {
                    let at = blocks[place].as_ptr().add(v * 8);
                    // The rows of the next group: prefetching of the processor ends at every page. An address
                    // behind the matrix is not read.
                    _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(ROWS * vector_length).cast());
                    _mm256_loadu_ps(at)
                };
                sum[v] = _mm256_fmadd_ps(value, weight, sum[v]);
            }
        }
    }
    let done = blocks.len() * 16;
    std::array::from_fn(|row| {
        let sum = &sums[row];
        let tail: f32 = rest.iter().zip(&rows[row][done..]).map(|(one, two)| one * two).sum();
        lanes(_mm256_add_ps(sum[0], sum[1])) + tail
    })
}

#[target_feature(enable = "avx2")]
fn lanes(sum: __m256) -> f32 {
    let mut lanes = [0.0f32; 8];
    // SAFETY: eight lanes are stored into eight floats.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
    lanes.iter().sum()
}

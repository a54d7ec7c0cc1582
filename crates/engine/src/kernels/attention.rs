//! The two products of attention, over keys in blocks of 16 tokens and values in rows.
//!
//! Every sum is taken in one order, dimension after dimension and token after token, whatever the
//! batch or the cutting of the history into segments: a row's result is the same to the last bit
//! alone and in company. That matters because the 8-bit matrices round what comes in, and a
//! difference in the last bit would grow into another token.
#![allow(
    clippy::inline_always,
    clippy::needless_range_loop,
    reason = "the bodies must be compiled inside each instruction set's wrapper, and index loops are what the compiler turns into vectors"
)]
#![allow(
    unsafe_code,
    reason = "calling a function compiled for a processor feature that was just detected; inner loops without bounds checks, asserted before"
)]

use super::vector::{dispatch, multiply_add};
use crate::cache::LANES;

/// Query lines handled together by [`score`]: with two blocks of keys, 16 sums fill half the
/// registers.
const LINES: usize = 8;
/// Blocks of keys handled together; one line alone needs as many independent sums to keep the
/// arithmetic units busy.
const BLOCKS: usize = 4;
/// Lines handled together by [`weigh`].
const WEIGH_LINES: usize = 4;
/// Dimensions handled together by [`weigh`].
const WIDTH: usize = 64;

/// Keys of one head: blocks of `size x 16`, one every `stride` values.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) blocks: usize,
}

/// One panel (`size x n`) against one block, in plain loops.
#[inline(always)]
fn score_block<const FMA: bool, const N: usize>(
    panel: &[f32],
    size: usize,
    keys: &[f32],
    scores: &mut [f32],
    stride: usize,
) {
    let mut sums = [[0.0f32; LANES]; N];
    for dimension in 0..size {
        let Some(key) = keys[dimension * LANES..].first_chunk::<LANES>() else { return };
        for line in 0..N {
            let query = panel[dimension * N + line];
            for lane in 0..LANES {
                sums[line][lane] = multiply_add::<FMA>(query, key[lane], sums[line][lane]);
            }
        }
    }
    for (line, sums) in sums.iter().enumerate() {
        scores[line * stride..][..LANES].copy_from_slice(sums);
    }
}

/// One panel against `B` blocks, in 512-bit registers: the compiler does not keep that many sums
/// in registers by itself.
///
/// # Safety
/// `panel` holds `size x N` values, `keys` `size x 16` every `key_stride`, and `scores` 16 for each
/// block every `stride`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn score_wide<const N: usize, const B: usize>(
    panel: *const f32,
    size: usize,
    keys: *const f32,
    key_stride: usize,
    scores: *mut f32,
    stride: usize,
) {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps};
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[_mm512_setzero_ps(); B]; N];
        for dimension in 0..size {
            let mut key = [_mm512_setzero_ps(); B];
            for block in 0..B {
                key[block] = _mm512_loadu_ps(keys.add(block * key_stride + dimension * LANES));
            }
            for line in 0..N {
                let query = _mm512_set1_ps(*panel.add(dimension * N + line));
                for block in 0..B {
                    sums[line][block] = _mm512_fmadd_ps(query, key[block], sums[line][block]);
                }
            }
        }
        for line in 0..N {
            for block in 0..B {
                _mm512_storeu_ps(scores.add(line * stride + block * LANES), sums[line][block]);
            }
        }
    }
}

/// One panel (`size x n`) against all blocks of `keys`.
#[inline(always)]
fn score_panel<const FMA: bool>(panel: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize) {
    let n = panel.len() / size;
    assert!(n == 0 || scores.len() >= (n - 1) * stride + keys.blocks * LANES);
    assert!(keys.blocks == 0 || keys.values.len() >= (keys.blocks - 1) * keys.stride + size * LANES);
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        let mut block = 0;
        while block < keys.blocks {
            let four = keys.blocks - block >= BLOCKS;
            let (panel, from, to) = (panel.as_ptr(), block * keys.stride, block * LANES);
            // SAFETY: the feature was just detected; lengths were asserted above.
            unsafe {
                let (from, to) = (keys.values.as_ptr().add(from), scores.as_mut_ptr().add(to));
                let step = keys.stride;
                match (n, four) {
                    (1, true) => score_wide::<1, 4>(panel, size, from, step, to, stride),
                    (2, true) => score_wide::<2, 4>(panel, size, from, step, to, stride),
                    (3, true) => score_wide::<3, 4>(panel, size, from, step, to, stride),
                    (4, true) => score_wide::<4, 4>(panel, size, from, step, to, stride),
                    (_, true) => {
                        score_wide::<LINES, 2>(panel, size, from, step, to, stride);
                        score_wide::<LINES, 2>(panel, size, from.add(2 * step), step, to.add(2 * LANES), stride);
                    }
                    (1, false) => score_wide::<1, 1>(panel, size, from, step, to, stride),
                    (2, false) => score_wide::<2, 1>(panel, size, from, step, to, stride),
                    (3, false) => score_wide::<3, 1>(panel, size, from, step, to, stride),
                    (4, false) => score_wide::<4, 1>(panel, size, from, step, to, stride),
                    (_, false) => score_wide::<LINES, 1>(panel, size, from, step, to, stride),
                }
            }
            block += if four { BLOCKS } else { 1 };
        }
        return;
    }
    for block in 0..keys.blocks {
        let (keys, scores) = (&keys.values[block * keys.stride..], &mut scores[block * LANES..]);
        match n {
            1 => score_block::<FMA, 1>(panel, size, keys, scores, stride),
            2 => score_block::<FMA, 2>(panel, size, keys, scores, stride),
            3 => score_block::<FMA, 3>(panel, size, keys, scores, stride),
            4 => score_block::<FMA, 4>(panel, size, keys, scores, stride),
            _ => score_block::<FMA, LINES>(panel, size, keys, scores, stride),
        }
    }
}

/// How many of the lines that are left make the next panel.
fn panel_lines(left: usize) -> usize {
    match left {
        0..=4 => left,
        5..LINES => 4,
        _ => LINES,
    }
}

#[inline(always)]
fn score_body<const FMA: bool>(lines: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize) {
    let count = lines.len() / size;
    // Lines are turned once into panels, in which one dimension of all lines lies together.
    let mut panels = vec![0.0; lines.len()];
    let mut line = 0;
    while line < count {
        let n = panel_lines(count - line);
        let panel = &mut panels[line * size..(line + n) * size];
        for (offset, query) in lines[line * size..(line + n) * size].chunks_exact(size).enumerate() {
            for (dimension, value) in query.iter().enumerate() {
                panel[dimension * n + offset] = *value;
            }
        }
        line += n;
    }
    // Some blocks at a time, so that they stay in the first cache while all panels pass.
    for block in (0..keys.blocks).step_by(2 * BLOCKS) {
        let values = &keys.values[block * keys.stride..];
        let part = Keys { values, blocks: (keys.blocks - block).min(2 * BLOCKS), ..keys };
        let mut line = 0;
        while line < count {
            let n = panel_lines(count - line);
            let panel = &panels[line * size..(line + n) * size];
            score_panel::<FMA>(panel, size, part, &mut scores[line * stride + block * LANES..], stride);
            line += n;
        }
    }
}

#[inline(always)]
fn weigh_lines<const FMA: bool, const N: usize>(
    weights: &[f32],
    stride: usize,
    values: &[f32],
    row: usize,
    count: usize,
    out: &mut [f32],
    size: usize,
) {
    let mut sums = [[0.0f32; WIDTH]; N];
    for (line, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&out[line * size..line * size + WIDTH]);
    }
    assert!(count == 0 || (weights.len() >= (N - 1) * stride + count && values.len() >= (count - 1) * row + WIDTH));
    for token in 0..count {
        // SAFETY: token < count, and the assertion covers the last token of the last line.
        let value: &[f32; WIDTH] = unsafe { &*values.as_ptr().add(token * row).cast() };
        for line in 0..N {
            // SAFETY: as above.
            let weight = unsafe { *weights.get_unchecked(line * stride + token) };
            for lane in 0..WIDTH {
                sums[line][lane] = multiply_add::<FMA>(weight, value[lane], sums[line][lane]);
            }
        }
    }
    for (line, sums) in sums.iter().enumerate() {
        out[line * size..line * size + WIDTH].copy_from_slice(sums);
    }
}

#[inline(always)]
fn weigh_rest<const FMA: bool>(weights: &[f32], values: &[f32], row: usize, count: usize, out: &mut [f32]) {
    for (token, weight) in weights.iter().enumerate().take(count) {
        for (out, value) in out.iter_mut().zip(&values[token * row..]) {
            *out = multiply_add::<FMA>(*weight, *value, *out);
        }
    }
}

#[inline(always)]
fn weigh_body<const FMA: bool>(
    weights: &[f32],
    stride: usize,
    values: &[f32],
    row: usize,
    count: usize,
    out: &mut [f32],
    size: usize,
) {
    let lines = out.len() / size;
    let mut line = 0;
    while line < lines {
        let step = (lines - line).min(WEIGH_LINES);
        let weights = &weights[line * stride..];
        let mut dimension = 0;
        while dimension + WIDTH <= size {
            let (values, out) = (&values[dimension..], &mut out[line * size + dimension..]);
            match step {
                1 => weigh_lines::<FMA, 1>(weights, stride, values, row, count, out, size),
                2 => weigh_lines::<FMA, 2>(weights, stride, values, row, count, out, size),
                3 => weigh_lines::<FMA, 3>(weights, stride, values, row, count, out, size),
                _ => weigh_lines::<FMA, WEIGH_LINES>(weights, stride, values, row, count, out, size),
            }
            dimension += WIDTH;
        }
        if dimension < size {
            for part in line..line + step {
                let out = &mut out[part * size + dimension..(part + 1) * size];
                weigh_rest::<FMA>(&weights[(part - line) * stride..], &values[dimension..], row, count, out);
            }
        }
        line += step;
    }
}

dispatch!(
    /// Scores of some query lines (`n x size`) against blocks of 16 keys: the score of line l and
    /// key k goes to `scores[l * stride + k]`; the last block's unused lanes are written too.
    score, score_body, (lines: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize)
);
dispatch!(
    /// Adds `count` values, each weighted, to every line of `out` (`n x size`). Line l's weights
    /// begin at `weights[l * stride]`, token t's values at `values[t * row]`.
    weigh, weigh_body, (weights: &[f32], stride: usize, values: &[f32], row: usize, count: usize, out: &mut [f32], size: usize)
);

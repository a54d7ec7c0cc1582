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
#![allow(unsafe_code, reason = "calling a function compiled for a processor feature that was just detected")]

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

/// `N` lines against one block.
#[inline(always)]
fn score_lines<const FMA: bool, const N: usize>(
    lines: &[f32],
    size: usize,
    keys: Keys<'_>,
    scores: &mut [f32],
    stride: usize,
) {
    let mut a = [[0.0f32; LANES]; N];
    let keys_a = &keys.values[..size * LANES];
    for dimension in 0..size {
        let Some(key_a) = keys_a[dimension * LANES..].first_chunk::<LANES>() else { return };
        for line in 0..N {
            let query = lines[line * size + dimension];
            for lane in 0..LANES {
                a[line][lane] = multiply_add::<FMA>(query, key_a[lane], a[line][lane]);
            }
        }
    }
    for line in 0..N {
        scores[line * stride..][..LANES].copy_from_slice(&a[line]);
    }
}

/// `N` lines against two blocks. The sums are arrays of their own because the compiler keeps only
/// those in registers.
#[inline(always)]
fn score_pairs<const FMA: bool, const N: usize>(
    lines: &[f32],
    size: usize,
    keys: Keys<'_>,
    scores: &mut [f32],
    stride: usize,
) {
    let mut a = [[0.0f32; LANES]; N];
    let mut b = [[0.0f32; LANES]; N];
    let keys_a = &keys.values[..size * LANES];
    let keys_b = &keys.values[keys.stride..keys.stride + size * LANES];
    for dimension in 0..size {
        let at = dimension * LANES;
        let Some(key_a) = keys_a[at..].first_chunk::<LANES>() else { return };
        let Some(key_b) = keys_b[at..].first_chunk::<LANES>() else { return };
        for line in 0..N {
            let query = lines[line * size + dimension];
            for lane in 0..LANES {
                a[line][lane] = multiply_add::<FMA>(query, key_a[lane], a[line][lane]);
            }
            for lane in 0..LANES {
                b[line][lane] = multiply_add::<FMA>(query, key_b[lane], b[line][lane]);
            }
        }
    }
    for line in 0..N {
        let scores = &mut scores[line * stride..];
        scores[..LANES].copy_from_slice(&a[line]);
        scores[LANES..2 * LANES].copy_from_slice(&b[line]);
    }
}

/// `N` lines against four blocks: few lines alone would leave the arithmetic units waiting.
#[inline(always)]
fn score_fours<const FMA: bool, const N: usize>(
    lines: &[f32],
    size: usize,
    keys: Keys<'_>,
    scores: &mut [f32],
    stride: usize,
) {
    let mut a = [[0.0f32; LANES]; N];
    let mut b = [[0.0f32; LANES]; N];
    let mut c = [[0.0f32; LANES]; N];
    let mut d = [[0.0f32; LANES]; N];
    let keys_a = &keys.values[..size * LANES];
    let keys_b = &keys.values[keys.stride..keys.stride + size * LANES];
    let keys_c = &keys.values[2 * keys.stride..2 * keys.stride + size * LANES];
    let keys_d = &keys.values[3 * keys.stride..3 * keys.stride + size * LANES];
    for dimension in 0..size {
        let at = dimension * LANES;
        let Some(key_a) = keys_a[at..].first_chunk::<LANES>() else { return };
        let Some(key_b) = keys_b[at..].first_chunk::<LANES>() else { return };
        let Some(key_c) = keys_c[at..].first_chunk::<LANES>() else { return };
        let Some(key_d) = keys_d[at..].first_chunk::<LANES>() else { return };
        for line in 0..N {
            let query = lines[line * size + dimension];
            for lane in 0..LANES {
                a[line][lane] = multiply_add::<FMA>(query, key_a[lane], a[line][lane]);
            }
            for lane in 0..LANES {
                b[line][lane] = multiply_add::<FMA>(query, key_b[lane], b[line][lane]);
            }
            for lane in 0..LANES {
                c[line][lane] = multiply_add::<FMA>(query, key_c[lane], c[line][lane]);
            }
            for lane in 0..LANES {
                d[line][lane] = multiply_add::<FMA>(query, key_d[lane], d[line][lane]);
            }
        }
    }
    for line in 0..N {
        let scores = &mut scores[line * stride..];
        scores[..LANES].copy_from_slice(&a[line]);
        scores[LANES..2 * LANES].copy_from_slice(&b[line]);
        scores[2 * LANES..3 * LANES].copy_from_slice(&c[line]);
        scores[3 * LANES..4 * LANES].copy_from_slice(&d[line]);
    }
}

#[inline(always)]
fn score_four<const FMA: bool>(lines: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize) -> usize {
    match lines.len() / size {
        1 => score_fours::<FMA, 1>(lines, size, keys, scores, stride),
        2 => score_fours::<FMA, 2>(lines, size, keys, scores, stride),
        3 => score_fours::<FMA, 3>(lines, size, keys, scores, stride),
        4..LINES => {
            score_fours::<FMA, 4>(lines, size, keys, scores, stride);
            return 4;
        }
        _ => {
            score_pairs::<FMA, LINES>(lines, size, keys, scores, stride);
            let keys = Keys { values: &keys.values[2 * keys.stride..], ..keys };
            score_pairs::<FMA, LINES>(lines, size, keys, &mut scores[2 * LANES..], stride);
            return LINES;
        }
    }
    lines.len() / size
}

#[inline(always)]
fn score_one<const FMA: bool>(lines: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize) -> usize {
    match lines.len() / size {
        1 => score_lines::<FMA, 1>(lines, size, keys, scores, stride),
        2 => score_lines::<FMA, 2>(lines, size, keys, scores, stride),
        3 => score_lines::<FMA, 3>(lines, size, keys, scores, stride),
        4..LINES => {
            score_lines::<FMA, 4>(lines, size, keys, scores, stride);
            return 4;
        }
        _ => {
            score_lines::<FMA, LINES>(lines, size, keys, scores, stride);
            return LINES;
        }
    }
    lines.len() / size
}

#[inline(always)]
fn score_body<const FMA: bool>(lines: &[f32], size: usize, keys: Keys<'_>, scores: &mut [f32], stride: usize) {
    let count = lines.len() / size;
    let mut block = 0;
    while block < keys.blocks {
        let part = Keys { values: &keys.values[block * keys.stride..], ..keys };
        let four = keys.blocks - block >= BLOCKS;
        let mut line = 0;
        while line < count {
            let (lines, scores) = (&lines[line * size..], &mut scores[line * stride + block * LANES..]);
            line += if four {
                score_four::<FMA>(lines, size, part, scores, stride)
            } else {
                score_one::<FMA>(lines, size, part, scores, stride)
            };
        }
        block += if four { BLOCKS } else { 1 };
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
    let mut own = [&weights[..0]; N];
    for (line, slot) in own.iter_mut().enumerate() {
        *slot = &weights[line * stride..][..count];
    }
    for token in 0..count {
        let Some(value) = values[token * row..].first_chunk::<WIDTH>() else { break };
        for line in 0..N {
            let weight = own[line][token];
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

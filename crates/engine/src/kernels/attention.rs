//! The two products of attention, over keys in blocks of 16 tokens and values in rows.
//!
//! Every sum is taken in one order, dimension after dimension and token after token, whatever the
//! batch or the cutting of the history into segments: a row's result is the same to the last bit
//! alone and in company. That matters because the 8-bit matrices round what comes in, and a
//! difference in the last bit would grow into another token.
#![allow(unsafe_code, reason = "calling a function compiled for a processor feature that was just detected")]

use super::vector::{dispatch, multiply_add};
use crate::cache::LANES;

/// Query lines handled together: 8 x 2 sums and two keys fill half the registers.
pub(crate) const LINES: usize = 8;
/// Lines handled together by [`weigh`].
const WEIGH_LINES: usize = 4;
/// Dimensions handled together by [`weigh`].
const WIDTH: usize = 64;

#[inline(always)]
fn score_lines<const FMA: bool, const N: usize>(lines: &[f32], size: usize, keys: &[f32], scores: &mut [f32], stride: usize) {
    let mut sums = [[0.0f32; LANES]; N];
    let (keys, _) = keys.as_chunks::<LANES>();
    for (dimension, key) in keys.iter().enumerate().take(size) {
        for line in 0..N {
            let query = lines[line * size + dimension];
            for lane in 0..LANES {
                sums[line][lane] = multiply_add::<FMA>(query, key[lane], sums[line][lane]);
            }
        }
    }
    for (line, sums) in sums.iter().enumerate() {
        scores[line * stride..line * stride + LANES].copy_from_slice(sums);
    }
}

#[inline(always)]
fn score_body<const FMA: bool>(lines: &[f32], size: usize, keys: &[f32], scores: &mut [f32], stride: usize) {
    let count = lines.len() / size;
    let mut line = 0;
    while line < count {
        let (lines, scores) = (&lines[line * size..], &mut scores[line * stride..]);
        match count - line {
            1 => score_lines::<FMA, 1>(lines, size, keys, scores, stride),
            2 => score_lines::<FMA, 2>(lines, size, keys, scores, stride),
            3 => score_lines::<FMA, 3>(lines, size, keys, scores, stride),
            4..LINES => score_lines::<FMA, 4>(lines, size, keys, scores, stride),
            _ => score_lines::<FMA, LINES>(lines, size, keys, scores, stride),
        }
        line += match count - line {
            rest @ 1..=3 => rest,
            4..LINES => 4,
            _ => LINES,
        };
    }
}

#[inline(always)]
fn weigh_lines<const FMA: bool, const N: usize>(weights: &[f32], stride: usize, values: &[f32], row: usize, count: usize, out: &mut [f32], size: usize) {
    let mut sums = [[0.0f32; WIDTH]; N];
    for (line, sums) in sums.iter_mut().enumerate() {
        sums.copy_from_slice(&out[line * size..line * size + WIDTH]);
    }
    for token in 0..count {
        let Some(value) = values[token * row..].first_chunk::<WIDTH>() else { break };
        for line in 0..N {
            let weight = weights[line * stride + token];
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
fn weigh_body<const FMA: bool>(weights: &[f32], stride: usize, values: &[f32], row: usize, count: usize, out: &mut [f32], size: usize) {
    let lines = out.len() / size;
    let mut line = 0;
    while line < lines {
        let step = if lines - line >= WEIGH_LINES { WEIGH_LINES } else { 1 };
        let weights = &weights[line * stride..];
        let mut dimension = 0;
        while dimension + WIDTH <= size {
            let (values, out) = (&values[dimension..], &mut out[line * size + dimension..]);
            if step == WEIGH_LINES {
                weigh_lines::<FMA, WEIGH_LINES>(weights, stride, values, row, count, out, size);
            } else {
                weigh_lines::<FMA, 1>(weights, stride, values, row, count, out, size);
            }
            dimension += WIDTH;
        }
        for part in line..line + step {
            let out = &mut out[part * size + dimension..(part + 1) * size];
            weigh_rest::<FMA>(&weights[(part - line) * stride..], &values[dimension..], row, count, out);
        }
        line += step;
    }
}

dispatch!(
    /// Scores of some query lines (`n x size`) against one block of 16 keys (`size x 16`): line l
    /// goes to `scores[l * stride..][..16]`.
    score, score_body, (lines: &[f32], size: usize, keys: &[f32], scores: &mut [f32], stride: usize)
);
dispatch!(
    /// Adds `count` values, each weighted, to every line of `out` (`n x size`). Line l's weights
    /// begin at `weights[l * stride]`, token t's values at `values[t * row]`.
    weigh, weigh_body, (weights: &[f32], stride: usize, values: &[f32], row: usize, count: usize, out: &mut [f32], size: usize)
);

//! Attention over shared segments and private tails.
//!
//! The keys of a shared segment are read once for all rows that use it: per segment and key head,
//! the queries of those rows form one matrix. Each task returns a partial softmax (maximum, sum,
//! weighted values) and partials are merged per row, so that a row's segments can be processed
//! apart (the merge of arXiv 1805.02867, as in FlashAttention).

use std::collections::HashMap;

use gemm::{Parallelism, gemm};
use rayon::prelude::*;

use crate::cache::{KvBuffer, SegmentRef, path_len};
use crate::kernels::{axpy, dot, exp_weights};

/// Scores a task may hold: 1 MiB, so that they stay in a core's cache.
const MOST_SCORES: usize = 1 << 18;
/// Keys from which a matrix product is cheaper than single inner products.
const PRODUCT_FROM: usize = 24;

/// The rows of one sequence in this step.
pub(crate) struct Span<'a> {
    /// First row in the batch.
    pub(crate) row: usize,
    /// Tokens this step, one row each.
    pub(crate) count: usize,
    /// Shared history.
    pub(crate) path: &'a [SegmentRef],
    /// Private history, this step's keys and values included.
    pub(crate) tail: &'a KvBuffer,
    /// Tokens in the tail before this step.
    pub(crate) tail_before: usize,
}

/// Head counts and sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heads {
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) size: usize,
    /// Tokens a row may look back at, itself included.
    pub(crate) window: Option<usize>,
}

/// Some rows against the keys of one buffer and one key head.
struct Task<'a> {
    keys: &'a [f32],
    values: &'a [f32],
    kv_head: usize,
    /// Keys to look at.
    len: usize,
    /// Batch row and the range of keys it may see.
    rows: Vec<(usize, usize, usize)>,
}

struct Partial {
    maxima: Vec<f32>,
    sums: Vec<f32>,
    values: Vec<f32>,
}

/// Attention of one layer: `queries` and the result are `rows x heads x size`.
pub(crate) fn attend(queries: &[f32], spans: &[Span<'_>], layer: usize, heads: Heads) -> Vec<f32> {
    let rows = spans.iter().map(|span| span.count).sum::<usize>();
    let tasks = plan(spans, layer, heads);
    let partials: Vec<Partial> = if rows * tasks.len() < 8 {
        tasks.iter().map(|task| run(task, queries, heads)).collect()
    } else {
        tasks.par_iter().map(|task| run(task, queries, heads)).collect()
    };
    let mut merged = Merge::new(rows, heads);
    for (task, partial) in tasks.iter().zip(&partials) {
        merged.add(task, partial);
    }
    merged.finish()
}

/// Which rows meet which keys.
fn plan<'a>(spans: &[Span<'a>], layer: usize, heads: Heads) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    let depth = spans.iter().map(|span| span.path.len()).max().unwrap_or(0);
    for level in 0..depth {
        let mut groups: HashMap<(usize, usize), Vec<&Span<'a>>> = HashMap::new();
        let mut order = Vec::new();
        for span in spans.iter().filter(|span| span.path.len() > level) {
            let key = span.path[level].key();
            groups.entry(key).or_insert_with(|| { order.push(key); Vec::new() }).push(span);
        }
        for key in order {
            let members = &groups[&key];
            let segment = &members[0].path[level];
            let start = path_len(&members[0].path[..level]);
            let rows = members.iter().flat_map(|span| {
                let first = path_len(span.path) + span.tail_before;
                (0..span.count).map(move |offset| visible(span.row + offset, first + offset, start, segment.len, heads.window))
            });
            push(&mut tasks, &segment.buffer, layer, segment.len, &rows.collect::<Vec<_>>(), heads);
        }
    }
    for span in spans {
        let start = path_len(span.path);
        let rows: Vec<_> = (0..span.count)
            .map(|offset| {
                let position = start + span.tail_before + offset;
                visible(span.row + offset, position, start, span.tail_before + offset + 1, heads.window)
            })
            .collect();
        push(&mut tasks, span.tail, layer, span.tail_before + span.count, &rows, heads);
    }
    tasks
}

/// A row and the keys `low..high` of a buffer starting at `start` that the token at `position` sees.
fn visible(row: usize, position: usize, start: usize, high: usize, window: Option<usize>) -> (usize, usize, usize) {
    let low = window.map_or(0, |window| (position + 1).saturating_sub(window + start));
    (row, low.min(high), high)
}

fn push<'a>(tasks: &mut Vec<Task<'a>>, buffer: &'a KvBuffer, layer: usize, len: usize, rows: &[(usize, usize, usize)], heads: Heads) {
    let rows: Vec<_> = rows.iter().copied().filter(|(_, low, high)| low < high).collect();
    if rows.is_empty() || len == 0 {
        return;
    }
    let group = heads.heads / heads.kv_heads;
    let share = (MOST_SCORES / (len * group)).clamp(1, 128);
    for chunk in rows.chunks(share) {
        for kv_head in 0..heads.kv_heads {
            tasks.push(Task { keys: &buffer.keys[layer], values: &buffer.values[layer], kv_head, len, rows: chunk.to_vec() });
        }
    }
}

fn run(task: &Task<'_>, queries: &[f32], heads: Heads) -> Partial {
    let (size, group) = (heads.size, heads.heads / heads.kv_heads);
    let lines = task.rows.len() * group;
    let scale = 1.0 / (size as f32).sqrt();
    let mut block = Vec::with_capacity(lines * size);
    for (row, _, _) in &task.rows {
        let from = (row * heads.heads + task.kv_head * group) * size;
        block.extend(queries[from..from + group * size].iter().map(|value| value * scale));
    }
    let stride = heads.kv_heads * size;
    let mut scores = vec![0.0; lines * task.len];
    score(&mut scores, &block, task, stride, size);
    let mut partial = Partial { maxima: vec![f32::NEG_INFINITY; lines], sums: vec![0.0; lines], values: vec![0.0; lines * size] };
    for (line, scores) in scores.chunks_exact_mut(task.len).enumerate() {
        let (_, low, high) = task.rows[line / group];
        let seen = &mut scores[low..high];
        let maximum = seen.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        partial.maxima[line] = maximum;
        partial.sums[line] = exp_weights(seen, maximum);
        scores[..low].fill(0.0);
        scores[high..].fill(0.0);
    }
    weigh(&mut partial.values, &scores, task, stride, size);
    partial
}

/// `scores = block * keysᵀ`.
fn score(scores: &mut [f32], block: &[f32], task: &Task<'_>, stride: usize, size: usize) {
    let lines = block.len() / size;
    let keys = &task.keys[task.kv_head * size..];
    assert!(keys.len() >= (task.len - 1) * stride + size);
    if task.len < PRODUCT_FROM {
        for (scores, query) in scores.chunks_exact_mut(task.len).zip(block.chunks_exact(size)) {
            for (index, score) in scores.iter_mut().enumerate() {
                *score = dot(query, &keys[index * stride..index * stride + size]);
            }
        }
        return;
    }
    #[allow(unsafe_code, reason = "the gemm crate takes pointers; lengths are asserted")]
    // SAFETY: block is lines x size, keys hold task.len rows of `size` at `stride`, scores lines x len.
    unsafe {
        gemm(
            lines, task.len, size,
            scores.as_mut_ptr(), 1, task.len as isize, false,
            block.as_ptr(), 1, size as isize,
            keys.as_ptr(), stride as isize, 1,
            0.0, 1.0, false, false, false, Parallelism::None,
        );
    }
}

/// `out = weights * values`.
fn weigh(out: &mut [f32], weights: &[f32], task: &Task<'_>, stride: usize, size: usize) {
    let lines = out.len() / size;
    let values = &task.values[task.kv_head * size..];
    assert!(values.len() >= (task.len - 1) * stride + size);
    if task.len < PRODUCT_FROM {
        for (out, weights) in out.chunks_exact_mut(size).zip(weights.chunks_exact(task.len)) {
            for (index, weight) in weights.iter().enumerate() {
                axpy(*weight, &values[index * stride..index * stride + size], out);
            }
        }
        return;
    }
    #[allow(unsafe_code, reason = "the gemm crate takes pointers; lengths are asserted")]
    // SAFETY: weights are lines x len, values hold task.len rows of `size` at `stride`, out lines x size.
    unsafe {
        gemm(
            lines, size, task.len,
            out.as_mut_ptr(), 1, size as isize, false,
            weights.as_ptr(), 1, task.len as isize,
            values.as_ptr(), 1, stride as isize,
            0.0, 1.0, false, false, false, Parallelism::None,
        );
    }
}

/// The running softmax of every row and head.
struct Merge {
    heads: Heads,
    maxima: Vec<f32>,
    sums: Vec<f32>,
    values: Vec<f32>,
}

impl Merge {
    fn new(rows: usize, heads: Heads) -> Self {
        let lines = rows * heads.heads;
        Self { heads, maxima: vec![f32::NEG_INFINITY; lines], sums: vec![0.0; lines], values: vec![0.0; lines * heads.size] }
    }

    fn add(&mut self, task: &Task<'_>, partial: &Partial) {
        let (size, group) = (self.heads.size, self.heads.heads / self.heads.kv_heads);
        for (index, (row, _, _)) in task.rows.iter().enumerate() {
            for member in 0..group {
                let from = index * group + member;
                let to = row * self.heads.heads + task.kv_head * group + member;
                let maximum = self.maxima[to].max(partial.maxima[from]);
                let keep = (self.maxima[to] - maximum).exp();
                let gain = (partial.maxima[from] - maximum).exp();
                self.maxima[to] = maximum;
                self.sums[to] = self.sums[to] * keep + partial.sums[from] * gain;
                let target = &mut self.values[to * size..(to + 1) * size];
                for (target, value) in target.iter_mut().zip(&partial.values[from * size..(from + 1) * size]) {
                    *target = *target * keep + value * gain;
                }
            }
        }
    }

    fn finish(mut self) -> Vec<f32> {
        for (values, sum) in self.values.chunks_exact_mut(self.heads.size).zip(&self.sums) {
            let inverse = 1.0 / sum;
            values.iter_mut().for_each(|value| *value *= inverse);
        }
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use proptest::prelude::*;

    fn noise(seed: u64, count: usize) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2) | 1;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
            })
            .collect()
    }

    fn buffer(seed: u64, len: usize, width: usize) -> KvBuffer {
        let mut buffer = KvBuffer::new(1);
        buffer.keys[0] = noise(seed, len * width);
        buffer.values[0] = noise(seed ^ 99, len * width);
        buffer.advance(&vec![0; len]);
        buffer
    }

    /// The textbook formula in f64 over the concatenated history.
    fn reference(query: &[f32], keys: &[f32], values: &[f32], low: usize, high: usize, width: usize, kv: usize, size: usize) -> Vec<f64> {
        let scores: Vec<f64> = (low..high)
            .map(|t| (0..size).map(|i| f64::from(query[i]) * f64::from(keys[t * width + kv * size + i])).sum::<f64>() / (size as f64).sqrt())
            .collect();
        let maximum = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - maximum).exp()).collect();
        let sum: f64 = weights.iter().sum();
        (0..size).map(|i| (low..high).map(|t| weights[t - low] * f64::from(values[t * width + kv * size + i])).sum::<f64>() / sum).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn shared_segments_give_the_textbook_result(
            seed: u64, shared in 1usize..60, used in 1usize..60, tail in 0usize..40, count in 1usize..6,
            others in 0usize..4, window in prop::option::of(1usize..50),
        ) {
            let (heads, kv_heads, size) = (6, 2, 16);
            let width = kv_heads * size;
            let used = used.min(shared);
            let segment = Arc::new(buffer(seed, shared, width));
            let tails: Vec<KvBuffer> = (0..=others).map(|i| buffer(seed ^ (i as u64 + 5), tail + count, width)).collect();
            let path = [SegmentRef { buffer: Arc::clone(&segment), len: used }];
            let spans: Vec<Span<'_>> = tails.iter().enumerate()
                .map(|(i, tail_buffer)| Span { row: i * count, count, path: &path, tail: tail_buffer, tail_before: tail })
                .collect();
            let queries = noise(seed ^ 1234, (others + 1) * count * heads * size);
            let out = attend(&queries, &spans, 0, Heads { heads, kv_heads, size, window });
            for (i, tail_buffer) in tails.iter().enumerate() {
                let keys = [&segment.keys[0][..used * width], &tail_buffer.keys[0][..]].concat();
                let values = [&segment.values[0][..used * width], &tail_buffer.values[0][..]].concat();
                for j in 0..count {
                    let high = used + tail + j + 1;
                    let low = window.map_or(0, |w| high.saturating_sub(w));
                    for h in 0..heads {
                        let at = ((i * count + j) * heads + h) * size;
                        let expected = reference(&queries[at..at + size], &keys, &values, low, high, width, h / (heads / kv_heads), size);
                        for (ours, expected) in out[at..at + size].iter().zip(&expected) {
                            prop_assert!((f64::from(*ours) - expected).abs() < 1e-4, "{ours} against {expected}");
                        }
                    }
                }
            }
        }
    }
}

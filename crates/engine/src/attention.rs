//! Attention over shared segments and private tails.
//!
//! A task takes some rows and one key head. It walks the rows' histories segment by segment: rows
//! that share a segment are scored against its keys together, so that a shared prefix is read
//! once for all of them. Scores of one row lie side by side in the order of the tokens, whatever
//! segments they came from; softmax and the weighted sum follow that order (see
//! [`crate::kernels`]), so the batch changes no result.

use rayon::prelude::*;

use crate::cache::{KvBuffer, LANES, SegmentRef, path_len};
use crate::kernels::{Keys, exp_weights, score, weigh};

/// Scores a task may hold: 512 KiB, so that they and a stretch of keys stay in a core's cache.
const MOST_SCORES: usize = 1 << 17;

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
    pub(crate) queries: usize,
    pub(crate) keys: usize,
    pub(crate) size: usize,
    /// Tokens a row may look back at, itself included.
    pub(crate) window: Option<usize>,
}

/// Some rows with one key head.
struct Task {
    kv_head: usize,
    rows: Vec<Row>,
}

/// One token row.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Index of its span.
    span: usize,
    /// Its place in the batch.
    place: usize,
    /// Tokens it sees, itself included.
    seen: usize,
}

/// Consecutive rows of a task that share a buffer at one place of their histories.
struct Stretch<'a> {
    buffer: &'a KvBuffer,
    /// Absolute position of the buffer's first token.
    start: usize,
    /// Tokens of the buffer that at least one of the rows may see.
    len: usize,
    rows: std::ops::Range<usize>,
}

/// Attention of one layer: `queries` and the result are `rows x heads x size`.
pub(crate) fn attend(queries: &[f32], spans: &[Span<'_>], layer: usize, heads: Heads) -> Vec<f32> {
    let tasks = plan(spans, heads);
    let run = |task: &Task| run(task, queries, spans, layer, heads);
    let results: Vec<Vec<f32>> =
        if tasks.len() < 2 { tasks.iter().map(run).collect() } else { tasks.par_iter().map(run).collect() };
    let mut out = vec![0.0; queries.len()];
    let width = heads.queries / heads.keys * heads.size;
    for (task, result) in tasks.iter().zip(&results) {
        for (row, values) in task.rows.iter().zip(result.chunks_exact(width)) {
            let at = row.place * heads.queries * heads.size + task.kv_head * width;
            out[at..at + width].copy_from_slice(values);
        }
    }
    out
}

/// Cuts the batch into tasks: rows in the order of the spans, as many as the scores allow.
fn plan(spans: &[Span<'_>], heads: Heads) -> Vec<Task> {
    let rows: Vec<Row> = spans
        .iter()
        .enumerate()
        .flat_map(|(index, span)| {
            let first = path_len(span.path) + span.tail_before + 1;
            (0..span.count).map(move |offset| Row { span: index, place: span.row + offset, seen: first + offset })
        })
        .collect();
    let longest = rows.iter().map(|row| row.seen).max().unwrap_or(0);
    let group = heads.queries / heads.keys;
    let most = (MOST_SCORES / (padded(longest) * group)).clamp(1, 64);
    // Enough tasks for every thread, and no more than that without need.
    let share = rows.len().div_ceil(rayon::current_num_threads()).clamp(1, most);
    rows.chunks(share)
        .flat_map(|rows| (0..heads.keys).map(move |kv_head| Task { kv_head, rows: rows.to_vec() }))
        .collect()
}

/// Scores of a line: its tokens, and room for the lanes of the last block.
fn padded(tokens: usize) -> usize {
    tokens.next_multiple_of(LANES) + LANES
}

/// The buffers of the rows' histories, in the order of their tokens.
fn stretches<'a>(rows: &[Row], spans: &'a [Span<'a>]) -> Vec<Stretch<'a>> {
    let mut found = Vec::new();
    let depth = rows.iter().map(|row| spans[row.span].path.len()).max().unwrap_or(0);
    for level in 0..=depth {
        let mut from = 0;
        while from < rows.len() {
            let span = &spans[rows[from].span];
            let key = |span: &Span<'_>| span.path.get(level).map(SegmentRef::key);
            let same = |row: &Row| {
                let other = &spans[row.span];
                if span.path.len() > level { key(other) == key(span) } else { row.span == rows[from].span }
            };
            let to = from + rows[from..].iter().take_while(|row| same(row)).count();
            if let Some(segment) = span.path.get(level) {
                let start = path_len(&span.path[..level]);
                found.push(Stretch { buffer: &segment.buffer, start, len: segment.len, rows: from..to });
            } else if span.path.len() == level {
                let start = path_len(span.path);
                let seen = rows[from..to].iter().map(|row| row.seen).max().unwrap_or(start);
                found.push(Stretch { buffer: span.tail, start, len: seen - start, rows: from..to });
            }
            from = to;
        }
    }
    found
}

fn run(task: &Task, queries: &[f32], spans: &[Span<'_>], layer: usize, heads: Heads) -> Vec<f32> {
    let (size, group) = (heads.size, heads.queries / heads.keys);
    let width = heads.keys * size;
    let scale = 1.0 / (size as f32).sqrt();
    let mut lines = Vec::with_capacity(task.rows.len() * group * size);
    for row in &task.rows {
        let from = (row.place * heads.queries + task.kv_head * group) * size;
        lines.extend(queries[from..from + group * size].iter().map(|value| value * scale));
    }
    let stride = padded(task.rows.iter().map(|row| row.seen).max().unwrap_or(0));
    let mut scores = vec![0.0; task.rows.len() * group * stride];
    let stretches = stretches(&task.rows, spans);
    // Ordered by position, so that the unused lanes of a buffer's last block are overwritten by
    // the buffer after it.
    for stretch in &stretches {
        let keys = &stretch.buffer.keys[layer];
        let (first, last) = (stretch.rows.start * group, stretch.rows.end * group);
        let keys = Keys {
            values: &keys[task.kv_head * size * LANES..],
            stride: width * LANES,
            blocks: stretch.len.div_ceil(LANES),
        };
        score(&lines[first * size..last * size], size, keys, &mut scores[first * stride + stretch.start..], stride);
    }
    let mut sums = Vec::with_capacity(task.rows.len() * group);
    for (line, scores) in scores.chunks_exact_mut(stride).enumerate() {
        let seen = task.rows[line / group].seen;
        let low = heads.window.map_or(0, |window| seen.saturating_sub(window));
        let visible = &mut scores[low..seen];
        let maximum = visible.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
        sums.push(exp_weights(visible, maximum));
        scores[..low].fill(0.0);
        scores[seen..].fill(0.0);
    }
    let mut out = vec![0.0; lines.len()];
    for stretch in &stretches {
        let values = &stretch.buffer.values[layer][task.kv_head * size..];
        let (first, last) = (stretch.rows.start * group, stretch.rows.end * group);
        let weights = &scores[first * stride + stretch.start..];
        weigh(weights, stride, values, width, stretch.len, &mut out[first * size..last * size], size);
    }
    for (out, sum) in out.chunks_exact_mut(size).zip(&sums) {
        let inverse = 1.0 / sum;
        for value in out.iter_mut() {
            *value *= inverse;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

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
        buffer.append(0, &noise(seed, len * width), &noise(seed ^ 0x63, len * width), width);
        buffer.advance(&vec![0; len]);
        buffer
    }

    /// The textbook formula in f64 over the concatenated history.
    #[allow(clippy::too_many_arguments, reason = "the formula has that many")]
    fn reference(
        query: &[f32],
        keys: &[f32],
        values: &[f32],
        low: usize,
        high: usize,
        width: usize,
        kv: usize,
        size: usize,
    ) -> Vec<f64> {
        let scores: Vec<f64> = (low..high)
            .map(|t| {
                (0..size).map(|i| f64::from(query[i]) * f64::from(keys[t * width + kv * size + i])).sum::<f64>()
                    / (size as f64).sqrt()
            })
            .collect();
        let maximum = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - maximum).exp()).collect();
        let sum: f64 = weights.iter().sum();
        (0..size)
            .map(|i| {
                (low..high).map(|t| weights[t - low] * f64::from(values[t * width + kv * size + i])).sum::<f64>() / sum
            })
            .collect()
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
            let queries = noise(seed ^ 0x4d2, (others + 1) * count * heads * size);
            let out = attend(&queries, &spans, 0, Heads { queries: heads, keys: kv_heads, size, window });
            for (i, tail_buffer) in tails.iter().enumerate() {
                let tail_seed = seed ^ (i as u64 + 5);
                let keys = [&noise(seed, shared * width)[..used * width], &noise(tail_seed, (tail + count) * width)[..]].concat();
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn neither_company_nor_segments_change_a_bit(seed: u64, cut in 1usize..50, total in 51usize..90, others in 1usize..5) {
            let (heads, kv_heads, size) = (6, 2, 64);
            let width = kv_heads * size;
            let all = Heads { queries: heads, keys: kv_heads, size, window: None };
            let (keys, values) = (noise(seed, total * width), noise(seed ^ 1, total * width));
            let part = |from: usize, to: usize| {
                let mut buffer = KvBuffer::new(1);
                buffer.append(0, &keys[from * width..to * width], &values[from * width..to * width], width);
                buffer.advance(&vec![0; to - from]);
                buffer
            };
            let query = noise(seed ^ 2, heads * size);
            let whole = part(0, total);
            let alone = attend(&query, &[Span { row: 0, count: 1, path: &[], tail: &whole, tail_before: total - 1 }], 0, all);
            let path = [SegmentRef { buffer: Arc::new(part(0, cut)), len: cut }];
            let tail = part(cut, total);
            let spans: Vec<Span<'_>> = (0..=others)
                .map(|row| Span { row, count: 1, path: &path, tail: &tail, tail_before: total - cut - 1 })
                .collect();
            let mut queries = noise(seed ^ 3, others * heads * size);
            queries.extend_from_slice(&query);
            let together = attend(&queries, &spans, 0, all);
            prop_assert_eq!(&together[others * heads * size..], &alone[..]);
        }
    }
}

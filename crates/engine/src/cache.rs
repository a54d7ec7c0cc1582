//! Keys and values: shared, immutable segments and private, growing tails.
//!
//! A sequence's history is a path of [`SegmentRef`]s followed by a [`KvBuffer`]. Attention is
//! causal, so the first n tokens of a segment are valid for every continuation of them: two
//! prompts that differ after n tokens share a segment by using only its first n. The
//! [`PrefixCache`] finds the longest such path for a new prompt and forgets the least recently
//! used segments when its memory is used up.

use std::sync::Arc;

/// Tokens whose keys lie side by side: the lanes of a 512-bit register.
pub(crate) const LANES: usize = 16;

/// Keys and values of consecutive tokens.
#[derive(Debug, Clone)]
pub(crate) struct KvBuffer {
    /// Per layer, in blocks of 16 tokens: `kv_width x 16`, so that one dimension of 16 tokens is
    /// one load. The last block may be partly filled.
    pub(crate) keys: Vec<Vec<f32>>,
    /// Per layer: `tokens x kv_width`, row-major.
    pub(crate) values: Vec<Vec<f32>>,
    tokens: Vec<u32>,
}

impl KvBuffer {
    pub(crate) fn new(layers: usize) -> Self {
        Self { keys: vec![Vec::new(); layers], values: vec![Vec::new(); layers], tokens: Vec::new() }
    }

    /// Number of tokens whose keys and values are complete in every layer.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Records that the keys and values of `tokens` were appended to every layer.
    pub(crate) fn advance(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
    }

    /// Appends keys and values (`tokens x kv_width`, row-major) to one layer.
    pub(crate) fn append(&mut self, layer: usize, keys: &[f32], values: &[f32], kv_width: usize) {
        let first = self.values[layer].len() / kv_width;
        let after = first + values.len() / kv_width;
        let blocks = &mut self.keys[layer];
        blocks.resize(after.div_ceil(LANES) * LANES * kv_width, 0.0);
        for (token, keys) in (first..after).zip(keys.chunks_exact(kv_width)) {
            let block = token / LANES * LANES * kv_width + token % LANES;
            for (dimension, key) in keys.iter().enumerate() {
                blocks[block + dimension * LANES] = *key;
            }
        }
        self.values[layer].extend_from_slice(values);
    }

    /// Drops what an abandoned step appended beyond the recorded tokens.
    pub(crate) fn rewind(&mut self, kv_width: usize) {
        let tokens = self.tokens.len();
        for keys in &mut self.keys {
            keys.truncate(tokens.div_ceil(LANES) * LANES * kv_width);
        }
        for values in &mut self.values {
            values.truncate(tokens * kv_width);
        }
    }
}

/// The first `len` tokens of a shared segment.
#[derive(Debug, Clone)]
pub(crate) struct SegmentRef {
    pub(crate) buffer: Arc<KvBuffer>,
    pub(crate) len: usize,
}

impl SegmentRef {
    /// Equal exactly when both see the same tokens of the same memory.
    pub(crate) fn key(&self) -> (usize, usize) {
        (Arc::as_ptr(&self.buffer).addr(), self.len)
    }
}

/// Tokens covered by a path.
pub(crate) fn path_len(path: &[SegmentRef]) -> usize {
    path.iter().map(|segment| segment.len).sum()
}

struct Entry {
    path: Vec<SegmentRef>,
    tokens: Vec<u32>,
    used: u64,
}

/// Prompts whose keys and values are still in memory.
pub(crate) struct PrefixCache {
    entries: Vec<Entry>,
    clock: u64,
    most_tokens: usize,
}

impl PrefixCache {
    /// A cache of at most `most_tokens` tokens.
    pub(crate) fn new(most_tokens: usize) -> Self {
        Self { entries: Vec::new(), clock: 0, most_tokens }
    }

    /// The longest cached prefix of `prompt`, at most `prompt.len() - 1` tokens: the last token
    /// must be evaluated to give logits.
    pub(crate) fn longest(&mut self, prompt: &[u32]) -> Vec<SegmentRef> {
        let limit = prompt.len().saturating_sub(1);
        let mut best: Option<(usize, usize)> = None;
        for (index, entry) in self.entries.iter().enumerate() {
            let common = entry.tokens.iter().zip(&prompt[..limit]).take_while(|(a, b)| a == b).count();
            if common > best.map_or(0, |(length, _)| length) {
                best = Some((common, index));
            }
        }
        let Some((mut length, index)) = best else { return Vec::new() };
        self.clock += 1;
        self.entries[index].used = self.clock;
        let mut path = Vec::new();
        for segment in &self.entries[index].path {
            if length == 0 {
                break;
            }
            let len = segment.len.min(length);
            path.push(SegmentRef { buffer: Arc::clone(&segment.buffer), len });
            length -= len;
        }
        path
    }

    /// Remembers an evaluated prompt.
    pub(crate) fn insert(&mut self, tokens: &[u32], path: &[SegmentRef]) {
        self.clock += 1;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.tokens == tokens) {
            entry.used = self.clock;
            return;
        }
        self.entries.push(Entry { path: path.to_vec(), tokens: tokens.to_vec(), used: self.clock });
        while self.tokens() > self.most_tokens && self.entries.len() > 1 {
            let oldest =
                self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.used).map_or(0, |(index, _)| index);
            self.entries.swap_remove(oldest);
        }
    }

    /// Distinct tokens held, each segment counted once.
    fn tokens(&self) -> usize {
        let mut seen = std::collections::HashMap::new();
        for segment in self.entries.iter().flat_map(|entry| &entry.path) {
            seen.insert(Arc::as_ptr(&segment.buffer).addr(), segment.buffer.len());
        }
        seen.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(tokens: &[u32]) -> SegmentRef {
        let mut buffer = KvBuffer::new(1);
        buffer.advance(tokens);
        SegmentRef { len: tokens.len(), buffer: Arc::new(buffer) }
    }

    #[test]
    fn a_prompt_shares_the_longest_prefix_but_never_all_of_itself() {
        let mut cache = PrefixCache::new(100);
        let system = segment(&[1, 2, 3]);
        cache.insert(&[1, 2, 3, 4, 5], &[system.clone(), segment(&[4, 5])]);
        assert_eq!(path_len(&cache.longest(&[1, 2, 3, 4, 9])), 4);
        assert_eq!(path_len(&cache.longest(&[1, 2, 3, 4, 5])), 4);
        assert_eq!(path_len(&cache.longest(&[1, 2, 3, 4, 5, 6])), 5);
        assert_eq!(path_len(&cache.longest(&[1, 7])), 1);
        assert!(cache.longest(&[8]).is_empty());
        assert_eq!(cache.longest(&[1, 2, 3, 9])[0].key(), system.key());
    }

    #[test]
    fn the_least_recently_used_prompt_is_forgotten_first() {
        let mut cache = PrefixCache::new(4);
        cache.insert(&[1, 1], &[segment(&[1, 1])]);
        cache.insert(&[2, 2], &[segment(&[2, 2])]);
        assert_eq!(path_len(&cache.longest(&[1, 1, 1])), 2);
        cache.insert(&[3, 3], &[segment(&[3, 3])]);
        assert!(cache.longest(&[2, 2, 2]).is_empty());
        assert_eq!(path_len(&cache.longest(&[1, 1, 1])), 2);
    }
}

//! Merging neighbouring symbols in order of priority: the heart of both algorithms.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No token, or no neighbour.
pub(super) const NONE: u32 = u32::MAX;

/// A part of the text that is one token so far (`id` may be [`NONE`]).
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) id: u32,
    previous: u32,
    next: u32,
}

impl Symbol {
    pub(super) fn new(start: usize, end: usize, id: u32) -> Self {
        Self { start: start as u32, end: end as u32, id, previous: NONE, next: NONE }
    }
}

/// Merges until nothing can be merged, the smallest key first and the leftmost of equals.
/// `pair` gives a pair's key and the token it becomes.
pub(super) fn merge(symbols: &mut [Symbol], pair: impl Fn(&Symbol, &Symbol) -> Option<(u32, u32)>) {
    let count = symbols.len() as u32;
    for (index, symbol) in symbols.iter_mut().enumerate() {
        symbol.previous = (index as u32).checked_sub(1).unwrap_or(NONE);
        symbol.next = if index as u32 + 1 < count { index as u32 + 1 } else { NONE };
    }
    let mut queue = BinaryHeap::new();
    let propose = |queue: &mut BinaryHeap<_>, symbols: &[Symbol], left: u32, right: u32| {
        if left == NONE || right == NONE {
            return;
        }
        let (first, second) = (&symbols[left as usize], &symbols[right as usize]);
        if let Some((key, id)) = pair(first, second) {
            // The end tells a proposal from one that a later merge made stale.
            queue.push(Reverse((key, left, right, first.end, second.end, id)));
        }
    };
    for left in 1..count {
        propose(&mut queue, symbols, left - 1, left);
    }
    while let Some(Reverse((_, left, right, middle, end, id))) = queue.pop() {
        let (first, second) = (symbols[left as usize], symbols[right as usize]);
        let current = first.start < first.end && second.start < second.end;
        if !current || first.end != middle || second.end != end || first.next != right {
            continue;
        }
        symbols[left as usize] = Symbol { end: second.end, id, next: second.next, ..first };
        symbols[right as usize].end = second.start;
        if second.next != NONE {
            symbols[second.next as usize].previous = left;
        }
        propose(&mut queue, symbols, first.previous, left);
        propose(&mut queue, symbols, left, second.next);
    }
}

/// The symbols that are left, in order.
pub(super) fn survivors(symbols: &[Symbol]) -> impl Iterator<Item = &Symbol> {
    symbols.iter().filter(|symbol| symbol.start < symbol.end)
}

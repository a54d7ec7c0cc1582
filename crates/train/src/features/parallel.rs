//! The same work on many things, on a few threads, with the results in order.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Does `work` for each item on `threads` threads; results are in the order of the items, and `done` is
/// told how many are finished. The first error in that order ends it; work that was begun is finished.
pub fn parallel<T: Sync, R: Send, E: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(usize, &T) -> Result<R, E> + Sync,
    done: &(dyn Fn(usize) + Sync),
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let finished = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(at, item);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_an_error_ends_it() {
        let items: Vec<u32> = (0..100).collect();
        let found = parallel(&items, 3, |_, item| Ok::<_, String>(item * 2), &|_| ()).unwrap();
        assert_eq!(found, (0..100).map(|item| item * 2).collect::<Vec<_>>());
        let failed = parallel(&items, 2, |_, item| if *item == 40 { Err("40") } else { Ok(()) }, &|_| ());
        assert_eq!(failed, Err("40"));
        assert_eq!(parallel(&[] as &[u32], 2, |_, _| Ok::<_, ()>(1), &|_| ()), Ok(vec![]));
    }
}

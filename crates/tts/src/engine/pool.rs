//! Models that many voices share: as many of each as can run side by side, handed out in turns, and kept no longer
//! than somebody holds them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The shared models of a process.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<Vec<Shared<T>>>);

/// All that is loaded of one file for one count of threads.
#[derive(Debug)]
struct Shared<T> {
    path: PathBuf,
    threads: usize,
    models: Vec<Weak<T>>,
    next: usize,
}

impl<T> Pool<T> {
    /// Without a model.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A model of this file that runs with so many threads: a new one while there are fewer than `most`, then each
    /// in turn. Others wait while one is loaded, so that none is loaded twice.
    pub(crate) fn get<E>(
        &self,
        path: &Path,
        threads: usize,
        most: usize,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter_mut().for_each(|shared| shared.models.retain(|model| model.strong_count() > 0));
        all.retain(|shared| !shared.models.is_empty());
        let known = all.iter_mut().find(|shared| shared.path == path && shared.threads == threads);
        if let Some(shared) = known {
            if shared.models.len() >= most {
                shared.next = (shared.next + 1) % shared.models.len();
                if let Some(model) = shared.models[shared.next].upgrade() {
                    return Ok(model);
                }
            }
            let model = Arc::new(load()?);
            shared.models.push(Arc::downgrade(&model));
            return Ok(model);
        }
        let model = Arc::new(load()?);
        let models = vec![Arc::downgrade(&model)];
        all.push(Shared { path: path.to_owned(), threads, models, next: 0 });
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gets a model; each that is loaded has the next number.
    fn get(pool: &Pool<u32>, loaded: &mut u32, path: &str, threads: usize, most: usize) -> Arc<u32> {
        let model = pool.get(Path::new(path), threads, most, || {
            *loaded += 1;
            Ok::<_, ()>(*loaded)
        });
        model.unwrap()
    }

    #[test]
    fn as_many_as_run_side_by_side_are_loaded_and_take_turns() {
        let (pool, mut loaded) = (Pool::new(), 0);
        let held: Vec<Arc<u32>> = (0..6).map(|_| get(&pool, &mut loaded, "a", 1, 2)).collect();
        assert_eq!(loaded, 2);
        let numbers: Vec<u32> = held.iter().map(|model| **model).collect();
        assert_eq!(numbers[..2], [1, 2]);
        for number in [1, 2] {
            assert_eq!(numbers.iter().filter(|other| **other == number).count(), 3, "{numbers:?}");
        }
        assert!(Arc::ptr_eq(&held[2], &held[4]));
    }

    #[test]
    fn another_file_or_count_of_threads_is_another_model() {
        let (pool, mut loaded) = (Pool::new(), 0);
        let first = get(&pool, &mut loaded, "a", 1, 1);
        let others = [get(&pool, &mut loaded, "b", 1, 1), get(&pool, &mut loaded, "a", 2, 1)];
        assert!(others.iter().all(|other| !Arc::ptr_eq(&first, other)));
        assert!(Arc::ptr_eq(&first, &get(&pool, &mut loaded, "a", 1, 1)));
        assert_eq!(loaded, 3);
    }

    #[test]
    fn what_nobody_holds_is_gone_and_a_failure_leaves_nothing_behind() {
        let (pool, mut loaded) = (Pool::new(), 0);
        let failed = pool.get(Path::new("a"), 1, 1, || Err::<u32, _>("broken"));
        assert_eq!(failed.unwrap_err(), "broken");
        let first = get(&pool, &mut loaded, "a", 1, 1);
        let weak = Arc::downgrade(&first);
        drop(first);
        assert!(weak.upgrade().is_none());
        assert_eq!(*get(&pool, &mut loaded, "a", 1, 1), 2);
    }
}

//! Stopping a voice while it speaks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

type Action = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    /// What stops the work under way, with its number.
    actions: Mutex<(u64, Vec<(u64, Action)>)>,
}

/// A switch that is thrown once. Clones are the same switch.
#[derive(Clone, Default)]
pub struct Cancel(Arc<State>);

impl std::fmt::Debug for Cancel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

impl Cancel {
    /// A switch that is not thrown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Throws it: work under way ends within milliseconds, further work does not begin.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let actions = self.0.actions.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        for (_, action) in actions {
            action();
        }
    }

    /// Whether it was thrown.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Calls `action` when the switch is thrown, as long as what is returned lives.
    pub(crate) fn on_cancel(&self, action: impl Fn() + Send + Sync + 'static) -> Registered<'_> {
        let action: Action = Arc::new(action);
        let mut actions = self.0.actions.lock().unwrap_or_else(PoisonError::into_inner);
        actions.0 += 1;
        let number = actions.0;
        actions.1.push((number, Arc::clone(&action)));
        drop(actions);
        // Thrown between the caller's look and the registration.
        if self.is_cancelled() {
            action();
        }
        Registered { cancel: self, number }
    }
}

/// An action that is registered.
pub(crate) struct Registered<'a> {
    cancel: &'a Cancel,
    number: u64,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let mut actions = self.cancel.0.actions.lock().unwrap_or_else(PoisonError::into_inner);
        actions.1.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn actions_run_once_while_registered_and_at_once_when_late() {
        let count = Arc::new(AtomicUsize::new(0));
        let cancel = Cancel::new();
        let add = |count: &Arc<AtomicUsize>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::SeqCst);
            }
        };
        drop(cancel.on_cancel(add(&count)));
        let kept = cancel.on_cancel(add(&count));
        cancel.clone().cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        drop(kept);
        let _late = cancel.on_cancel(add(&count));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        assert!(cancel.is_cancelled());
    }
}

//! One endpoint of a pool: what it is doing, how often it failed, and until when it rests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Connect, EndpointState, is_endpoints_fault};
use crate::{ChatModel, ModelError};

/// Rest after a first failure; doubles with every further one.
const FIRST_REST: Duration = Duration::from_millis(500);
/// The longest rest.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// An endpoint.
pub(super) struct Member {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) connect: Connect,
    /// Held while the endpoint is asked what it serves.
    pub(super) connecting: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `None` until the endpoint has said what it serves, and again after a failure.
    model: Option<Arc<dyn ChatModel>>,
    in_flight: usize,
    begun: u64,
    completed: u64,
    /// Failures since its last answer.
    failures: u32,
    failed_at: Option<Instant>,
    /// Raised by every failure: what was begun before one says nothing about the time after it.
    era: u64,
    fault: Option<ModelError>,
    is_left_out: bool,
}

/// What decides who gets the next request: the smallest does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Works, or may show with one request that it works again.
    Ready { in_flight: usize, begun: u64 },
    /// Has failed, and is being tried by another request.
    Tried { in_flight: usize },
    /// Has failed a moment ago: asked when there is no other.
    Rests { until: Instant },
}

impl State {
    fn rests_until(&self) -> Option<Instant> {
        let doubled = FIRST_REST.saturating_mul(1 << self.failures.saturating_sub(1).min(16));
        self.failed_at.filter(|_| self.failures > 0).map(|at| at + doubled.min(LONGEST_REST))
    }
}

impl Member {
    pub(super) fn new(index: usize, name: String, connect: Connect) -> Self {
        Self { index, name, connect, connecting: tokio::sync::Mutex::default(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its model, when it has said what it serves.
    pub(super) fn model(&self) -> Option<Arc<dyn ChatModel>> {
        self.state().model.clone()
    }

    /// Notes what it serves.
    pub(super) fn connected(&self, model: Arc<dyn ChatModel>) {
        self.state().model = Some(model);
    }

    /// Notes that it could not be reached at the beginning.
    pub(super) fn absent(&self, error: &ModelError) {
        self.fail(error, 0);
    }

    /// Never asks it again.
    pub(super) fn leave_out(&self, error: &ModelError) {
        let mut state = self.state();
        state.is_left_out = true;
        state.fault = Some(error.clone());
    }

    /// Its place in the queue for the next request; `None` when it is left out.
    pub(super) fn rank(&self) -> Option<Rank> {
        let state = self.state();
        if state.is_left_out {
            return None;
        }
        let resting = state.rests_until().filter(|until| *until > Instant::now());
        Some(match resting {
            Some(until) => Rank::Rests { until },
            None if state.failures > 0 && state.in_flight > 0 => Rank::Tried { in_flight: state.in_flight },
            None => Rank::Ready { in_flight: state.in_flight, begun: state.begun },
        })
    }

    pub(super) fn report(&self) -> EndpointState {
        let state = self.state();
        EndpointState {
            name: self.name.clone(),
            in_flight: state.in_flight,
            completed: state.completed,
            fault: state.fault.clone(),
        }
    }

    fn fail(&self, error: &ModelError, era: u64) {
        let mut state = self.state();
        // Requests that were under way together fail together: that is one failure.
        if state.era == era {
            state.failures = state.failures.saturating_add(1);
            state.failed_at = Some(Instant::now());
            state.era += 1;
        }
        if !state.is_left_out {
            state.fault = Some(error.clone());
        }
        state.model = None;
    }
}

/// A place at an endpoint, free again when it is dropped.
pub(super) struct Lease {
    member: Arc<Member>,
    era: u64,
}

impl Lease {
    pub(super) fn take(member: &Arc<Member>) -> Self {
        let mut state = member.state();
        state.in_flight += 1;
        state.begun += 1;
        let era = state.era;
        drop(state);
        Self { member: Arc::clone(member), era }
    }

    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    /// The endpoint has answered: whatever was wrong with it is over.
    pub(super) fn completed(&self) {
        let mut state = self.member.state();
        state.completed += 1;
        if state.era == self.era {
            state.failures = 0;
            state.fault = None;
        }
    }

    /// The request has failed; the endpoint rests if it is to blame.
    pub(super) fn failed(&self, error: &ModelError) {
        if is_endpoints_fault(error) {
            self.member.fail(error, self.era);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.member.state().in_flight -= 1;
    }
}

//! How a run is carried out. Nothing here changes what an answer is worth.

use std::path::PathBuf;
use std::time::Duration;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The store's folder (`runs`).
    pub store: PathBuf,
    /// Go on with this run (its name, the beginning of it, or `latest`).
    pub resume: Option<String>,
    /// Attempts at a pass, the first included, before a transient fault makes it INVALID.
    pub attempts: u32,
    /// Pause before the second attempt; doubles with every further one.
    pub retry_pause: Duration,
    /// Give a configuration up after this many INVALID passes in a row.
    pub give_up_after: u32,
    /// Ask each configuration once, unrecorded, before the first pass.
    pub warm_up: bool,
    /// Cases a configuration takes before the next one has its turn. 1 interleaves per case;
    /// more lets an engine batch several cases while configurations still alternate.
    pub cases_per_turn: usize,
}

impl RunOptions {
    /// The defaults, in the store at `store`.
    pub fn new(store: impl Into<PathBuf>) -> Self {
        Self {
            store: store.into(),
            resume: None,
            attempts: 3,
            retry_pause: Duration::from_millis(250),
            give_up_after: 5,
            warm_up: false,
            cases_per_turn: 1,
        }
    }
}

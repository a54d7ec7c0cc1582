//! What a pull tells while it works. Printing is the caller's.

use std::path::Path;

use crate::SourceError;

/// One step of a pull.
#[derive(Debug, Clone, PartialEq)]
pub enum PullEvent<'a> {
    /// Another process pulls the same asset; this one waits for it.
    Waiting,
    /// A source is tried.
    Trying {
        /// The source, as the catalogue names it.
        source: &'a str,
    },
    /// Bytes fetched so far from this source. Packed archives may be smaller than the asset.
    Bytes {
        /// Fetched, those of an earlier attempt included.
        done: u64,
        /// Expected in all; an estimate for archives.
        total: u64,
    },
    /// A source failed; the next one follows.
    Failed {
        /// The source.
        source: &'a str,
        /// Why.
        error: &'a SourceError,
    },
    /// The hash is being checked.
    Verifying,
    /// The asset is in place.
    Done {
        /// Where.
        path: &'a Path,
    },
}

/// Takes the events of a pull. Called from several threads.
pub trait Progress: Sync {
    /// Takes one event.
    fn event(&self, event: &PullEvent<'_>);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn event(&self, _: &PullEvent<'_>) {}
}

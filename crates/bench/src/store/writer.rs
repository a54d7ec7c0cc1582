//! The writer thread: the only place that appends to a run while it goes on.
//!
//! Entries arrive over a bounded channel and are acknowledged once their bytes were handed to the
//! system in one write. The disk is only waited for at the end ([`RunWriter::close`]): a killed
//! process loses nothing, a lost machine loses at most its last seconds, which `--resume` sees as
//! a torn line or as missing passes.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use crate::store::lines::{LineFile, OpenAppend};
use crate::store::record::{OutcomeRecord, PassRecord, RequestRecord};
use crate::store::{OUTCOMES, PASSES, REQUESTS, StoreError};

/// Entries that may wait for the writer.
const QUEUE: usize = 256;

/// One line to append.
#[derive(Debug)]
pub(crate) enum Entry {
    /// To `requests.jsonl`; the caller sees to it that each comes once.
    Request(Box<RequestRecord>),
    /// To `passes.jsonl`.
    Pass(Arc<PassRecord>),
    /// To `outcomes.jsonl`.
    Outcome(Arc<OutcomeRecord>),
}

struct Job {
    entry: Entry,
    done: oneshot::Sender<()>,
}

/// The writer has failed; [`RunWriter::close`] tells why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriterStopped;

/// Sends entries to the writer thread.
#[derive(Debug, Clone)]
pub(crate) struct WriterHandle {
    sender: mpsc::Sender<Job>,
}

impl WriterHandle {
    /// Returns once the entry's bytes are with the system.
    pub(crate) async fn write(&self, entry: Entry) -> Result<(), WriterStopped> {
        let (done, written) = oneshot::channel();
        self.sender.send(Job { entry, done }).await.map_err(|_| WriterStopped)?;
        written.await.map_err(|_| WriterStopped)
    }
}

/// The three files, open for appending.
pub(crate) struct RunFiles {
    requests: LineFile,
    passes: LineFile,
    outcomes: LineFile,
    kept: u64,
}

impl RunFiles {
    /// Opens them, cutting off torn last lines. `kept` settled passes are in them already.
    pub(crate) fn open(directory: &Path, kept: u64, open: OpenAppend) -> Result<Self, StoreError> {
        Ok(Self {
            requests: LineFile::open(directory.join(REQUESTS), open)?,
            passes: LineFile::open(directory.join(PASSES), open)?,
            outcomes: LineFile::open(directory.join(OUTCOMES), open)?,
            kept,
        })
    }

    /// Appends one entry.
    pub(crate) fn push(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let written = match entry {
            Entry::Request(record) => self.requests.push(&**record),
            Entry::Pass(record) => self.passes.push(&**record),
            Entry::Outcome(record) => self.outcomes.push(&**record),
        };
        written.map_err(|error| error.with_kept(self.kept))?;
        if matches!(entry, Entry::Pass(record) if record.is_settled()) {
            self.kept += 1;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let kept = self.kept;
        [&mut self.requests, &mut self.passes, &mut self.outcomes]
            .into_iter()
            .try_for_each(LineFile::sync)
            .map_err(|error| error.with_kept(kept))
    }
}

/// The writer thread.
pub(crate) struct RunWriter {
    handle: WriterHandle,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl RunWriter {
    /// Starts the thread.
    pub(crate) fn start(directory: &Path, files: RunFiles) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("run-writer".to_owned())
            .spawn(move || write_all(files, receiver))
            .map_err(|error| StoreError::write(directory, error))?;
        Ok(Self { handle: WriterHandle { sender }, thread })
    }

    /// For those who have something to write.
    pub(crate) fn handle(&self) -> WriterHandle {
        self.handle.clone()
    }

    /// Waits for everything sent so far, brings it to the disk and returns the writer's error, if
    /// it had one. Other handles must have been dropped, or this waits for them.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        let Self { handle, thread } = self;
        drop(handle);
        match tokio::task::spawn_blocking(move || thread.join()).await {
            Ok(Ok(result)) => result,
            // A panic of the thread is a bug; let it be one here too.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => std::panic::resume_unwind(Box::new(error)),
        }
    }
}

fn write_all(mut files: RunFiles, mut receiver: mpsc::Receiver<Job>) -> Result<(), StoreError> {
    while let Some(Job { entry, done }) = receiver.blocking_recv() {
        // On an error the receiver drops: everyone who waits for an acknowledgement learns of it.
        files.push(&entry)?;
        let _ = done.send(());
    }
    files.sync()
}

//! A full disk, simulated below the writer: what the public interface cannot reach.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::execute::execute_with;
use super::{RunError, RunEvent, RunOptions, execute};
use crate::store::lines::{AppendFile, open_append};
use crate::store::{RunState, StoreError, open_run};

#[path = "../../tests/common/mod.rs"]
mod common;

use common::{FakeModel, configuration, details, measured, options, plan};

/// A fake for a disk with a quota: `passes.jsonl` takes [`QUOTA`] bytes, the rest of a write that
/// crosses it is lost as on a real one.
struct QuotaFile {
    file: Box<dyn AppendFile>,
    left: usize,
}

const QUOTA: usize = 4_000;

impl AppendFile for QuotaFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = bytes.len().min(self.left);
        self.left -= fits;
        self.file.append(&bytes[..fits])?;
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.cut(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

/// The same, on a disk that cannot even take back what it half wrote.
struct StuckFile(QuotaFile);

impl AppendFile for StuckFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.append(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.0.left == 0 { Err(io::ErrorKind::StorageFull.into()) } else { self.0.cut(length) }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

fn with_quota(path: &Path) -> io::Result<Box<dyn AppendFile>> {
    let left = if path.ends_with("passes.jsonl") { QUOTA } else { usize::MAX };
    Ok(Box::new(QuotaFile { file: open_append(path)?, left }))
}

fn with_stuck_quota(path: &Path) -> io::Result<Box<dyn AppendFile>> {
    let left = if path.ends_with("passes.jsonl") { QUOTA } else { usize::MAX };
    Ok(Box::new(StuckFile(QuotaFile { file: open_append(path)?, left })))
}

async fn fill_the_disk(open: crate::store::lines::OpenAppend) {
    let store = tempfile::tempdir().unwrap();
    let full_plan = || plan(4, 10, vec![configuration(Arc::new(FakeModel::by_seed("a")), 3)]);
    let cancel = CancellationToken::new();
    let ignore = |_: &RunEvent| {};
    let error = execute_with(full_plan(), options(store.path()), &ignore, cancel.clone(), open).await.unwrap_err();
    let RunError::Store(StoreError::Write { kept: Some(kept), path, .. }) = &error else { panic!("{error}") };
    assert!(path.ends_with("passes.jsonl") && *kept > 0, "{error}");
    assert!(error.to_string().ends_with(&format!("; all {kept} passes written before are kept")), "{error}");
    assert!(error.hint().contains("--resume"));
    assert!(!cancel.is_cancelled(), "the caller's token is the caller's");
    let run = open_run(store.path(), "latest").unwrap();
    assert_eq!(run.manifest().state(), RunState::Failed);
    assert_eq!(details(store.path(), run.id()).len() as u64, *kept);

    let resume = RunOptions { resume: Some("latest".into()), ..options(store.path()) };
    let outcome = execute(full_plan(), resume, &ignore, cancel).await.unwrap();
    assert_eq!((outcome.state, outcome.measured), (RunState::Complete, 40 - kept));
    let roomy = tempfile::tempdir().unwrap();
    let whole = common::run(full_plan(), options(roomy.path())).await.unwrap();
    assert_eq!(measured(store.path(), &outcome.run), measured(roomy.path(), &whole.run));
}

#[tokio::test]
async fn a_full_disk_ends_the_run_and_keeps_what_was_written() {
    fill_the_disk(with_quota).await;
}

#[tokio::test]
async fn a_line_that_could_not_be_taken_back_is_torn() {
    fill_the_disk(with_stuck_quota).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_real_full_device_is_reported_with_its_file() {
    fn full(path: &Path) -> io::Result<Box<dyn AppendFile>> {
        /// The device refuses to be cut, too; opening must not depend on it.
        struct Device(std::fs::File);
        impl AppendFile for Device {
            fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
                self.0.append(bytes)
            }
            fn cut(&mut self, _: u64) -> io::Result<()> {
                Ok(())
            }
            fn sync(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        if path.ends_with("outcomes.jsonl") {
            return Ok(Box::new(Device(std::fs::OpenOptions::new().write(true).open("/dev/full")?)));
        }
        open_append(path)
    }
    let store = tempfile::tempdir().unwrap();
    let plan = plan(1, 2, vec![configuration(Arc::new(FakeModel::by_seed("a")), 1)]);
    let ignore = |_: &RunEvent| {};
    let error = execute_with(plan, options(store.path()), &ignore, CancellationToken::new(), full).await.unwrap_err();
    let path = open_run(store.path(), "latest").unwrap().directory().join("outcomes.jsonl");
    let reason = io::Error::from_raw_os_error(28);
    let expected = format!("cannot write {}: {reason}; all 1 passes written before are kept", path.display());
    assert_eq!(error.to_string(), expected);
}

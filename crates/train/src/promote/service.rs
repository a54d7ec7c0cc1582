//! The head in service and its swap.
//!
//! ```text
//! wake/service.onnx      the head in service        wake/service.json     what it is and since when
//! wake/previous.onnx     the one before             wake/previous.json
//! wake/swap.json         while a swap is under way  wake/next.*           what it brings
//! wake/record.jsonl      every decision, chained
//! ```
//!
//! A swap writes everything new beside the old, says what it means to do in `swap.json`, and then renames. The rename
//! of `service.onnx` decides: whoever opens the folder after a crash finishes the swap when that has happened
//! and undoes it when it has not. The file of the head is whole at every moment.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use super::conditions::Proposal;
use super::evidence::Evidence;
use crate::records::{RecordError, append_chained, digest, read_chained};

/// Largest head that is put into service.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What is in service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InService {
    /// The file's name when it was put here.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Since when, local time.
    pub since: DateTime,
    /// The threshold that its training has chosen, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Where the file lay when it was put here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// The record of its training, as it lay beside the file: the word, what it was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<serde_json::Value>,
}

/// A head on its way into service.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Incoming {
    /// What it is called, where that is not its file's name.
    pub name: Option<String>,
    /// The file.
    pub head: PathBuf,
    /// Where it came from, where that is not the file.
    pub from: Option<PathBuf>,
    /// The threshold that its training has chosen.
    pub threshold: Option<f32>,
    /// The record of its training.
    pub record: Option<serde_json::Value>,
}

/// A line of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum Decision {
    /// A person put a candidate into service.
    Accepted {
        /// When.
        at: DateTime,
        /// The candidate.
        head: String,
        /// SHA-256 of its file.
        sha256: String,
        /// SHA-256 of the head it replaces; empty for the first.
        replaces: String,
        /// Why, where conditions did not hold.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        despite: Option<String>,
        /// What was measured.
        evidence: Box<Evidence>,
        /// What was proposed.
        proposal: Proposal,
    },
    /// A person turned a candidate down. Its measurements stay.
    Rejected {
        /// When.
        at: DateTime,
        /// The candidate.
        head: String,
        /// SHA-256 of its file.
        sha256: String,
        /// Why.
        reason: String,
        /// What was measured.
        evidence: Box<Evidence>,
        /// What was proposed.
        proposal: Proposal,
    },
    /// The previous head was put back.
    #[serde(rename = "rolled-back")]
    RolledBack {
        /// When.
        at: DateTime,
        /// SHA-256 of the head that went.
        from: String,
        /// SHA-256 of the head that came back.
        to: String,
    },
    /// A swap that a crash had interrupted was finished or undone.
    Recovered {
        /// When.
        at: DateTime,
        /// Whether it was finished.
        finished: bool,
        /// SHA-256 of the head in service now.
        sha256: String,
    },
}

/// Why the head in service cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is no head to go back to.
    #[error("there is no previous head")]
    NoPrevious,
    /// The candidate is in service already.
    #[error("{0} is in service already")]
    Already(String),
    /// The record is broken.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A test stopped here.
    #[error("stopped after {0:?}")]
    Stopped(Step),
}

impl ServiceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path and its permissions",
            Self::Format { .. } => "give a head as .onnx, as `tenpass train wake` writes it",
            Self::NoPrevious => "accept a candidate first; the head before it is then kept",
            Self::Already(_) => "name another candidate",
            Self::Record(error) => error.hint(),
            Self::Stopped(_) => "run the command again",
        }
    }
}

/// Steps of a swap, after each of which the power may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The new head and its description lie beside the old.
    Staged,
    /// The old head was copied for going back.
    Kept,
    /// The intention is written.
    Meant,
    /// The new head is in service.
    Swapped,
    /// The old head can be gone back to.
    Previous,
    /// The descriptions are in place.
    Described,
}

/// What a swap means to do.
#[derive(Debug, Serialize, Deserialize)]
struct Swap {
    old: Option<InService>,
    new: InService,
}

/// The folder with the head in service.
#[derive(Debug)]
pub struct Service {
    folder: PathBuf,
    stop_after: Option<Step>,
}

impl Service {
    /// Opens it, and finishes or undoes a swap that a crash has interrupted.
    pub fn open(folder: &Path, now: DateTime) -> Result<Self, ServiceError> {
        let service = Self { folder: folder.to_owned(), stop_after: None };
        if service.path("swap.json").exists() || service.path("next.onnx").exists() {
            let _lock = service.lock()?;
            service.recover(now)?;
        }
        Ok(service)
    }

    /// The file of the head in service, if there is one.
    pub fn head(&self) -> Option<PathBuf> {
        Some(self.path("service.onnx")).filter(|path| path.is_file())
    }

    /// Where the record lies.
    pub fn record_path(&self) -> PathBuf {
        self.path("record.jsonl")
    }

    /// Every decision so far.
    pub fn record(&self) -> Result<Vec<Decision>, ServiceError> {
        Ok(read_chained(&self.record_path())?)
    }

    /// Appends a decision.
    pub fn note(&self, decision: &Decision) -> Result<(), ServiceError> {
        let _lock = self.lock()?;
        Ok(append_chained(&self.record_path(), decision)?)
    }

    /// What is in service.
    pub fn current(&self) -> Result<Option<InService>, ServiceError> {
        self.described("service")
    }

    /// What can be gone back to.
    pub fn previous(&self) -> Result<Option<InService>, ServiceError> {
        self.described("previous")
    }

    /// Puts a head into service; `decision` is told what is replaced and is recorded before the swap.
    pub fn accept(
        &self,
        head: Incoming,
        now: DateTime,
        decision: impl FnOnce(Option<&InService>, &InService) -> Decision,
    ) -> Result<InService, ServiceError> {
        let _lock = self.lock()?;
        self.recover(now)?;
        let bytes = read_head(&head.head)?;
        let file_name = || head.head.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let new = InService {
            name: head.name.clone().unwrap_or_else(file_name),
            sha256: digest(&bytes),
            since: now,
            threshold: head.threshold,
            from: head.from.or(Some(head.head)),
            record: head.record,
        };
        let old = self.current()?;
        if old.as_ref().is_some_and(|old| old.sha256 == new.sha256) {
            return Err(ServiceError::Already(new.name));
        }
        append_chained(&self.record_path(), &decision(old.as_ref(), &new))?;
        self.swap(old, &bytes, &new)?;
        Ok(new)
    }

    /// Puts the previous head back; the two change places, so that a second call undoes the first.
    pub fn rollback(&self, now: DateTime) -> Result<InService, ServiceError> {
        let _lock = self.lock()?;
        self.recover(now)?;
        let previous = self.previous()?.ok_or(ServiceError::NoPrevious)?;
        let bytes = read_head(&self.path("previous.onnx"))?;
        let old = self.current()?;
        let new = InService { since: now, ..previous };
        append_chained(
            &self.record_path(),
            &Decision::RolledBack {
                at: now,
                from: old.as_ref().map(|old| old.sha256.clone()).unwrap_or_default(),
                to: new.sha256.clone(),
            },
        )?;
        self.swap(old, &bytes, &new)?;
        Ok(new)
    }

    fn swap(&self, old: Option<InService>, bytes: &[u8], new: &InService) -> Result<(), ServiceError> {
        self.write("next.onnx", bytes)?;
        self.write_json("next.json", new)?;
        self.reached(Step::Staged)?;
        if let Some(old) = &old {
            let kept =
                std::fs::read(self.path("service.onnx")).map_err(|source| self.failed("service.onnx", source))?;
            self.write("next-previous.onnx", &kept)?;
            self.write_json("next-previous.json", old)?;
        }
        self.reached(Step::Kept)?;
        self.write_json("swap.json", &Swap { old, new: new.clone() })?;
        self.reached(Step::Meant)?;
        self.rename("next.onnx", "service.onnx")?;
        self.reached(Step::Swapped)?;
        self.finish()
    }

    /// What follows the rename that decides; each part may have been done before.
    fn finish(&self) -> Result<(), ServiceError> {
        for (from, to) in [("next-previous.onnx", "previous.onnx"), ("next-previous.json", "previous.json")] {
            if self.path(from).exists() {
                self.rename(from, to)?;
            }
        }
        self.reached(Step::Previous)?;
        if self.path("next.json").exists() {
            self.rename("next.json", "service.json")?;
        }
        self.reached(Step::Described)?;
        self.remove("swap.json")
    }

    /// Finishes or undoes what a crash has interrupted.
    fn recover(&self, now: DateTime) -> Result<(), ServiceError> {
        let swap = match std::fs::read(self.path("swap.json")) {
            Ok(bytes) => serde_json::from_slice::<Swap>(&bytes).ok(),
            Err(_) => None,
        };
        let in_service = self.head().map(|path| read_head(&path)).transpose()?.map(|bytes| digest(&bytes));
        let finished = swap.as_ref().is_some_and(|swap| in_service.as_ref() == Some(&swap.new.sha256));
        let staged = ["next.onnx", "next.json", "next-previous.onnx", "next-previous.json"];
        if swap.is_none() && !staged.iter().any(|name| self.path(name).exists()) {
            return Ok(());
        }
        if finished {
            self.finish()?;
        } else {
            // The intention goes last: until then this is done again after another crash.
            for name in staged {
                self.remove(name)?;
            }
            self.remove("swap.json")?;
        }
        let sha256 = in_service.unwrap_or_default();
        Ok(append_chained(&self.record_path(), &Decision::Recovered { at: now, finished, sha256 })?)
    }

    fn described(&self, which: &str) -> Result<Option<InService>, ServiceError> {
        let head = self.path(&format!("{which}.onnx"));
        if !head.is_file() {
            return Ok(None);
        }
        let sha256 = digest(&read_head(&head)?);
        let name = format!("{which}.json");
        let text = std::fs::read_to_string(self.path(&name)).map_err(|source| self.failed(&name, source))?;
        let found: InService = serde_json::from_str(&text)
            .map_err(|error| ServiceError::Format { path: self.path(&name), problem: error.to_string() })?;
        if found.sha256 != sha256 {
            let problem = format!("{which}.onnx has the hash {sha256}, not {}", found.sha256);
            return Err(ServiceError::Format { path: self.path(&name), problem });
        }
        Ok(Some(found))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn failed(&self, name: &str, source: std::io::Error) -> ServiceError {
        ServiceError::File { path: self.path(name), source }
    }

    /// One swap at a time, among all processes.
    fn lock(&self) -> Result<File, ServiceError> {
        std::fs::create_dir_all(&self.folder).map_err(|source| self.failed("", source))?;
        let lock = File::create(self.path("lock")).map_err(|source| self.failed("lock", source))?;
        lock.lock().map_err(|source| self.failed("lock", source))?;
        Ok(lock)
    }

    /// Writes a file under another name, flushes it, and renames it.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ServiceError> {
        let partial = format!("{name}.partial");
        let mut file = File::create(self.path(&partial)).map_err(|source| self.failed(&partial, source))?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|source| self.failed(&partial, source))?;
        self.rename(&partial, name)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), ServiceError> {
        let text = serde_json::to_vec_pretty(value).map_err(|error| self.failed(name, error.into()))?;
        self.write(name, &text)
    }

    /// Renames within the folder, and flushes the folder.
    fn rename(&self, from: &str, to: &str) -> Result<(), ServiceError> {
        std::fs::rename(self.path(from), self.path(to)).map_err(|source| self.failed(from, source))?;
        self.flush()
    }

    fn remove(&self, name: &str) -> Result<(), ServiceError> {
        match std::fs::remove_file(self.path(name)) {
            Ok(()) => self.flush(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(self.failed(name, source)),
        }
    }

    fn flush(&self) -> Result<(), ServiceError> {
        if cfg!(unix) {
            File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(|source| self.failed("", source))?;
        }
        Ok(())
    }

    /// Where a test lets the power fail.
    fn reached(&self, step: Step) -> Result<(), ServiceError> {
        if self.stop_after == Some(step) { Err(ServiceError::Stopped(step)) } else { Ok(()) }
    }
}

fn read_head(path: &Path) -> Result<Vec<u8>, ServiceError> {
    let failed = |source| ServiceError::File { path: path.to_owned(), source };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size == 0 || size > MOST_BYTES {
        return Err(ServiceError::Format { path: path.to_owned(), problem: format!("{size} bytes are no head") });
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promote::conditions::Limits;

    const NOW: &str = "2026-11-30T08:00:00";

    fn now() -> DateTime {
        NOW.parse().unwrap()
    }

    fn accepted(old: Option<&InService>, new: &InService) -> Decision {
        let evidence = Evidence::default();
        let proposal = Proposal::of(&evidence, &Limits::default());
        Decision::Accepted {
            at: now(),
            head: new.name.clone(),
            sha256: new.sha256.clone(),
            replaces: old.map(|old| old.sha256.clone()).unwrap_or_default(),
            despite: Some("a test".into()),
            evidence: Box::new(evidence),
            proposal,
        }
    }

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let scene = Self { folder: tempfile::tempdir().unwrap() };
            for name in ["a", "b", "c"] {
                std::fs::write(scene.folder.path().join(format!("{name}.onnx")), format!("head {name}")).unwrap();
            }
            scene
        }

        fn open(&self, stop_after: Option<Step>) -> Service {
            let mut service = Service::open(&self.folder.path().join("wake"), now()).unwrap();
            service.stop_after = stop_after;
            service
        }

        fn accept(&self, name: &str, stop_after: Option<Step>) -> Result<InService, ServiceError> {
            let head = self.folder.path().join(format!("{name}.onnx"));
            let head = Incoming { head, threshold: Some(0.6), ..Incoming::default() };
            self.open(stop_after).accept(head, now(), accepted)
        }

        fn state(&self) -> (String, String) {
            let service = self.open(None);
            let name = |found: Option<InService>| found.map(|found| found.name).unwrap_or_default();
            (name(service.current().unwrap()), name(service.previous().unwrap()))
        }
    }

    #[test]
    fn accepted_rolled_back_and_rolled_back_again() {
        let scene = Scene::new();
        assert!(matches!(scene.open(None).rollback(now()), Err(ServiceError::NoPrevious)));
        scene.accept("a", None).unwrap();
        assert_eq!(scene.state(), ("a.onnx".into(), String::new()));
        scene.accept("b", None).unwrap();
        assert!(matches!(scene.accept("b", None), Err(ServiceError::Already(_))));
        assert_eq!(scene.state(), ("b.onnx".into(), "a.onnx".into()));
        scene.open(None).rollback(now()).unwrap();
        assert_eq!(scene.state(), ("a.onnx".into(), "b.onnx".into()));
        scene.open(None).rollback(now()).unwrap();
        assert_eq!(scene.state(), ("b.onnx".into(), "a.onnx".into()));
        assert_eq!(scene.open(None).record().unwrap().len(), 4);
        assert_eq!(std::fs::read(scene.open(None).head().unwrap()).unwrap(), b"head b");
    }

    #[test]
    fn after_a_crash_at_any_step_the_old_or_the_new_head_is_in_service_and_can_be_gone_back_from() {
        for (step, finished) in [
            (Step::Staged, false),
            (Step::Kept, false),
            (Step::Meant, false),
            (Step::Swapped, true),
            (Step::Previous, true),
            (Step::Described, true),
        ] {
            let scene = Scene::new();
            scene.accept("a", None).unwrap();
            scene.accept("b", None).unwrap();
            assert!(matches!(scene.accept("c", Some(step)), Err(ServiceError::Stopped(_))));
            let expected = if finished { ("c.onnx", "b.onnx") } else { ("b.onnx", "a.onnx") };
            assert_eq!(scene.state(), (expected.0.into(), expected.1.into()), "{step:?}");
            let last = scene.open(None).record().unwrap().pop();
            assert!(matches!(last, Some(Decision::Recovered { finished: found, .. }) if found == finished), "{step:?}");
            let names: Vec<String> = std::fs::read_dir(scene.folder.path().join("wake"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.contains("next") || name.contains("swap"))
                .collect();
            assert!(names.is_empty(), "{step:?}: {names:?}");
            scene.open(None).rollback(now()).unwrap();
            assert_eq!(scene.state(), (expected.1.into(), expected.0.into()), "{step:?}");
        }
    }

    #[test]
    fn an_edited_or_empty_head_is_refused() {
        let scene = Scene::new();
        scene.accept("a", None).unwrap();
        std::fs::write(scene.folder.path().join("wake/service.onnx"), "something else").unwrap();
        assert!(scene.open(None).current().unwrap_err().to_string().contains("has the hash"));
        std::fs::write(scene.folder.path().join("c.onnx"), "").unwrap();
        assert!(scene.accept("c", None).is_err());
        let none = Incoming { head: scene.folder.path().join("none.onnx"), ..Incoming::default() };
        assert!(scene.open(None).accept(none, now(), accepted).is_err());
    }
}

//! A pull: lock, sources in order, hash, one rename.

use std::path::{Path, PathBuf};

use crate::lock::PullLock;
use crate::sidecar::Sidecar;
use crate::source::Fetch;
use crate::store::State;
use crate::{Asset, CatalogError, Progress, PullEvent, Source, SourceError, Store};

impl Store {
    /// Fetches an asset unless it is there, and gives its path. A second process that pulls the same
    /// asset waits for the first and then finds it there.
    pub fn pull(&self, name: &str, progress: &dyn Progress) -> Result<PathBuf, CatalogError> {
        let asset = self.catalog.entry(name)?;
        if let State::Present { path } = self.state(asset) {
            return Ok(path);
        }
        if !asset.runs_here() {
            let (wanted, here) = (asset.platforms.join(", "), Asset::this_platform());
            return Err(CatalogError::Platform { name: name.to_owned(), wanted, here });
        }
        let lock_file = self.root.join(".locks").join(format!("{name}.lock"));
        let waiting = || progress.event(&PullEvent::Waiting);
        let _lock = PullLock::take(&lock_file, waiting).map_err(|error| CatalogError::io(&lock_file, &error))?;
        if let State::Present { path } = self.state(asset) {
            return Ok(path);
        }
        let pull = Pull { store: self, asset, staging: self.root.join(".staging").join(name), progress };
        pull.run()?;
        let path = self.main_path(asset);
        progress.event(&PullEvent::Done { path: &path });
        Ok(path)
    }
}

/// A pull that holds the lock.
struct Pull<'a> {
    store: &'a Store,
    asset: &'a Asset,
    staging: PathBuf,
    progress: &'a dyn Progress,
}

impl Pull<'_> {
    fn run(&self) -> Result<(), CatalogError> {
        std::fs::create_dir_all(&self.staging).map_err(|error| CatalogError::io(&self.staging, &error))?;
        let mut failures = Vec::new();
        for source in &self.asset.sources {
            let label = source.to_string();
            self.progress.event(&PullEvent::Trying { source: &label });
            match self.try_source(source) {
                Ok(()) => {
                    let _ = std::fs::remove_dir_all(&self.staging);
                    return Ok(());
                }
                Err(SourceError::DiskFull) => {
                    return Err(CatalogError::DiskFull {
                        name: self.asset.name.clone(),
                        path: self.store.root.clone(),
                        needed_bytes: peak_bytes(self.asset, source),
                    });
                }
                Err(error) => {
                    self.progress.event(&PullEvent::Failed { source: &label, error: &error });
                    failures.push((label, error));
                }
            }
        }
        // Gone unless something in it can be resumed.
        let _ = std::fs::remove_dir(&self.staging);
        let place = match &self.asset.file {
            Some(file) => self.store.folder(self.asset).join(file),
            None => self.store.folder(self.asset),
        };
        Err(CatalogError::NoSource { name: self.asset.name.clone(), failures, place })
    }

    /// One source; once more from the start when resumed bytes turn out to be wrong.
    fn try_source(&self, source: &Source) -> Result<(), SourceError> {
        let needed = peak_bytes(self.asset, source).saturating_sub(bytes_below(&self.staging));
        if fs4::available_space(&self.staging).is_ok_and(|free| free < needed) {
            return Err(SourceError::DiskFull);
        }
        let resumed = bytes_below(&self.staging) > 0;
        match self.fetch_and_install(source) {
            Err(SourceError::WrongHash { .. } | SourceError::Content { .. }) if resumed => {
                self.fetch_and_install(source)
            }
            other => other,
        }
    }

    fn fetch_and_install(&self, source: &Source) -> Result<(), SourceError> {
        let target = self.staging.join("new");
        let result = self.fetch(source, &target);
        let _ = std::fs::remove_dir_all(&target);
        for scratch in ["client", "unpack", "old"] {
            let _ = std::fs::remove_dir_all(self.staging.join(scratch));
        }
        if matches!(result, Err(SourceError::WrongHash { .. } | SourceError::Content { .. })) {
            // What is wrong is not resumed.
            let _ = std::fs::remove_dir_all(&self.staging);
            std::fs::create_dir_all(&self.staging).map_err(|error| SourceError::io(&self.staging, &error))?;
        }
        result
    }

    fn fetch(&self, source: &Source, target: &Path) -> Result<(), SourceError> {
        let _ = std::fs::remove_dir_all(target);
        std::fs::create_dir_all(target).map_err(|error| SourceError::io(target, &error))?;
        let (asset, means, progress) = (self.asset, &self.store.means, self.progress);
        Fetch { asset, means, staging: &self.staging, target, progress }.run(source)?;
        progress.event(&PullEvent::Verifying);
        let note = Sidecar::measure(asset, target).map_err(|error| SourceError::io(target, &error))?;
        if note.sha256 != asset.sha256 {
            return Err(SourceError::WrongHash { expected: asset.sha256.clone(), got: note.sha256 });
        }
        note.write(target).map_err(|error| SourceError::io(target, &error))?;
        self.install(target)
    }

    /// Puts the finished folder in place of a missing or damaged one.
    fn install(&self, target: &Path) -> Result<(), SourceError> {
        let place = self.store.folder(self.asset);
        let old = self.staging.join("old");
        let swap = || {
            if place.exists() {
                let _ = std::fs::remove_dir_all(&old);
                std::fs::rename(&place, &old)?;
            }
            std::fs::rename(target, &place)
        };
        swap().map_err(|error| SourceError::io(&place, &error))
    }
}

/// Bytes that fetching from this source needs at its peak: with packages, the archives beside the files.
fn peak_bytes(asset: &Asset, source: &Source) -> u64 {
    match source {
        Source::Url { .. } => asset.size,
        Source::Hf { files, .. } if files.len() == 1 => asset.size,
        _ => asset.size.saturating_mul(2),
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_below(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(size).sum()
}

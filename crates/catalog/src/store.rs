//! The folder of models: what is there, and whether it is whole.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::download::Limits;
use crate::sidecar::Sidecar;
use crate::source::Means;
use crate::tools::Tools;
use crate::{Asset, Catalog, CatalogError};

/// The catalogue and the folder in which its assets are kept.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) catalog: Catalog,
    pub(crate) root: PathBuf,
    pub(crate) means: Means,
}

/// Whether an asset is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// There and whole.
    Present {
        /// What [`Store::path`] gives.
        path: PathBuf,
    },
    /// Not there.
    Missing,
    /// There, and not what the catalogue pins.
    Damaged {
        /// What differs.
        reason: String,
    },
}

/// One row of `tenpass models list`.
#[derive(Debug, Clone, Serialize)]
pub struct Listed<'a> {
    /// The asset.
    pub asset: &'a Asset,
    /// Whether it is there.
    #[serde(flatten)]
    pub state: State,
    /// False where this machine cannot use it.
    pub runs_here: bool,
}

/// The outcome of hashing an asset again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The asset.
    pub name: String,
    /// What was found.
    #[serde(flatten)]
    pub state: State,
}

impl Store {
    /// A store in this folder, which need not exist yet.
    pub fn new(catalog: Catalog, root: impl Into<PathBuf>) -> Self {
        Self { catalog, root: root.into(), means: Means::default() }
    }

    /// Looks for the client programs elsewhere than on this process's `PATH`.
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.means.tools = tools;
        self
    }

    /// Switches the network off: only the Hugging Face cache and finished archives are used.
    pub fn with_offline(mut self, offline: bool) -> Self {
        self.means.offline = offline;
        self
    }

    /// Waits at most this long for a server's connection.
    pub fn with_connect_timeout(mut self, connect: std::time::Duration) -> Self {
        self.means.limits = Limits { connect, ..self.means.limits };
        self
    }

    /// Uses another Hugging Face cache, and another address for its hub.
    pub fn with_hub(mut self, cache: PathBuf, endpoint: Option<String>) -> Self {
        self.means.hub_cache = Some(cache);
        self.means.hub_endpoint = endpoint;
        self
    }

    /// The catalogue.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The folder of models.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where an asset is: its file, its main file or its folder. `None` when it is not there, damaged or
    /// unknown. Hashes nothing unless a file changed since it was last hashed.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        match self.state(self.catalog.entry(name).ok()?) {
            State::Present { path } => Some(path),
            State::Missing | State::Damaged { .. } => None,
        }
    }

    /// Every asset with its state.
    pub fn list(&self) -> Vec<Listed<'_>> {
        let row = |asset| Listed { asset, state: self.state(asset), runs_here: Asset::runs_here(asset) };
        self.catalog.assets().iter().map(row).collect()
    }

    /// Hashes an asset again, whatever was noted.
    pub fn verify(&self, name: &str) -> Result<Verified, CatalogError> {
        let asset = self.catalog.entry(name)?;
        let state = if self.is_there(asset) { self.hashed(asset) } else { State::Missing };
        Ok(Verified { name: name.to_owned(), state })
    }

    /// Hashes every asset that is there.
    pub fn verify_all(&self) -> Vec<Verified> {
        let there = self.catalog.assets().iter().filter(|asset| self.is_there(asset));
        there.map(|asset| Verified { name: asset.name.clone(), state: self.hashed(asset) }).collect()
    }

    /// The asset's own folder.
    pub(crate) fn folder(&self, asset: &Asset) -> PathBuf {
        self.root.join(&asset.name)
    }

    /// What `path` gives for an asset that is there.
    pub(crate) fn main_path(&self, asset: &Asset) -> PathBuf {
        let folder = self.folder(asset);
        match asset.file.as_ref().or(asset.main.as_ref()) {
            Some(file) => folder.join(file),
            None => folder,
        }
    }

    fn is_there(&self, asset: &Asset) -> bool {
        self.main_path(asset).exists()
    }

    /// The state, from the note where it is current.
    pub(crate) fn state(&self, asset: &Asset) -> State {
        if !self.is_there(asset) {
            return State::Missing;
        }
        let folder = self.folder(asset);
        let noted = Sidecar::read(&folder).filter(|note| note.sha256 == asset.sha256);
        if noted.is_some_and(|note| note.is_current(asset, &folder)) {
            return State::Present { path: self.main_path(asset) };
        }
        if let Some(file) = &asset.file {
            let size = std::fs::metadata(folder.join(file)).map_or(0, |data| data.len());
            if size != asset.size {
                let reason = format!("it has {size} bytes, the catalogue says {}", asset.size);
                return State::Damaged { reason };
            }
        }
        self.hashed(asset)
    }

    /// The state by hashing; a good one is noted.
    fn hashed(&self, asset: &Asset) -> State {
        let folder = self.folder(asset);
        match Sidecar::measure(asset, &folder) {
            Err(error) => State::Damaged { reason: error.to_string() },
            Ok(note) if note.sha256 == asset.sha256 => {
                // A store that cannot be written (a shared folder) works too, only slower.
                let _ = note.write(&folder);
                State::Present { path: self.main_path(asset) }
            }
            Ok(note) => {
                State::Damaged { reason: format!("its sha256 is {}, the catalogue says {}", note.sha256, asset.sha256) }
            }
        }
    }
}

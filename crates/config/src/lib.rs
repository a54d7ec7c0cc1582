//! Where things are and how they are set: directories, environment names, layered settings.
//!
//! - [`Home`] finds the folders: models, runs, cache, configuration.
//! - [`environment::VARIABLES`] declares every environment variable once; its reference page is
//!   generated from there.
//! - [`setting::SETTINGS`] declares every setting once: key, kind, flag, environment name.
//! - [`Layers`] holds what was set and where; [`Layers::resolve`] merges it. The highest layer wins:
//!   command line > environment > profile > project file > user file > embedded `default.toml`.
//!
//! The files are TOML: `tenpass.toml` in the project folder and `config.toml` in the configuration
//! folder. Both take the keys of `src/default.toml`, which is the default, the template and the
//! documentation at once. A profile is a table `[profiles.NAME]` with the same keys. An unknown key is an
//! error that names the file, the line and the nearest known key.
//!
//! This crate reads files and the environment it is handed; it writes and prints nothing.

mod defaults;
pub mod environment;
mod error;
mod file;
mod home;
mod layers;
mod reference;
pub mod setting;
mod settings;

pub use defaults::DEFAULT_FILE;
pub use error::ConfigError;
pub use home::Home;
pub use layers::{Entry, Layers, Origin, Resolved};
pub use reference::{configuration_reference, environment_reference};
pub use setting::{Value, parse_duration};
pub use settings::{Nightly, Settings};

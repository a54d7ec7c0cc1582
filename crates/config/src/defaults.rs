//! The commented default file, embedded.

/// The lowest layer: default, template and documentation of every setting.
pub const DEFAULT_FILE: &str = include_str!("default.toml");

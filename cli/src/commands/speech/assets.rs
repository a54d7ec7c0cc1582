//! The models and libraries that sound needs, from the store of assets.

use std::path::PathBuf;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where an asset of the catalogue lies on this machine. Nothing is fetched without being asked for.
pub(super) fn asset(context: &Context, name: &str) -> Result<PathBuf, Failure> {
    let store = context.store()?;
    store.catalog().entry(name)?;
    store.path(name).ok_or_else(|| Failure {
        exit: Exit::Backend,
        message: format!("{name} is not on this machine"),
        hint: Some(format!("tenpass models pull {name}")),
    })
}

/// As [`asset`], and `None` when it is not there.
pub(super) fn asset_if_there(context: &Context, name: &str) -> Result<Option<PathBuf>, Failure> {
    let store = context.store()?;
    store.catalog().entry(name)?;
    Ok(store.path(name))
}

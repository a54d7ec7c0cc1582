//! Where the numbers of a speech bench come from: program, source, machine, arguments.

use serde_json::{Map, Value};
use tenpass_bench::store::{GitState, Host};
use tenpass_listening::store::Provenance;

use crate::context::Context;

/// For the manifest of a run. `typed` is an object of arguments; those that are null or empty were not given.
pub(super) fn provenance(context: &Context, typed: &Value) -> Provenance {
    let git = context.home.project.as_deref().and_then(GitState::of);
    let (mut passed, mut defaulted) = (Map::new(), Map::new());
    for (name, value) in typed.as_object().into_iter().flatten() {
        let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let side = if empty { &mut defaulted } else { &mut passed };
        side.insert(name.clone(), value.clone());
    }
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: git.as_ref().map(|git| git.revision.clone()),
        dirty: git.is_some_and(|git| git.dirty),
        hardware: serde_json::to_value(Host::current()).unwrap_or_default(),
        passed,
        defaulted,
    }
}

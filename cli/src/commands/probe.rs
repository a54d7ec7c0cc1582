//! Which structure a model gets: what was typed, what a probe recorded, or what the model declares.

use std::path::PathBuf;
use std::sync::Arc;

use tenpass_agent::Structure;
use tenpass_agent::structure::choose;
use tenpass_bench::probe;
use tenpass_model::{ChatModel, ModelInfo};

use crate::context::Context;
use crate::failure::Failure;

/// Where probes are kept.
fn file(context: &Context) -> PathBuf {
    context.agent_folder().join("probes.json")
}

/// Probes a model, records what was found and says it.
pub(super) async fn probe(context: &Context, model: &Arc<dyn ChatModel>) -> Result<(), Failure> {
    let found = probe::probe(model).await?;
    let info = model.info();
    probe::record(&file(context), info, &found).map_err(Failure::mistake)?;
    context.printer.note(&format!("{}: structure {} ({})", info.spec, found.structure, found.reason));
    Ok(())
}

/// The structure for a model, and why.
pub(super) fn structure_for(context: &Context, info: &ModelInfo) -> (Structure, String) {
    // A file that cannot be read is no reason to fail: the declaration is always there.
    let recorded = probe::load(&file(context)).ok().and_then(|mut probes| probes.remove(&probe::key(info)));
    if let Some(found) = recorded {
        return (found.structure, format!("{} on {}", found.reason, found.at));
    }
    let choice = choose(&info.capabilities);
    (choice.structure, choice.reason.to_owned())
}

//! What answers, in rows that every front end shows.

use tenpass_agent::run::Agent;

/// The model with its strategies and sampling: names and values, those that are not known left out.
pub fn model_rows(agent: &Agent) -> Vec<(&'static str, String)> {
    let info = agent.model.info();
    let mut rows = vec![
        ("model", info.spec.clone()),
        ("structure", agent.structure().to_string()),
        ("tools", agent.settings.selection.to_string()),
        ("temperature", agent.settings.options.temperature.to_string()),
        ("seed", agent.settings.options.seed.to_string()),
    ];
    let known = [
        ("digest", info.digest.clone()),
        ("quantization", info.quantization.clone()),
        ("context", info.context.map(|tokens| format!("{tokens} tokens"))),
        ("runs on", info.runtime.clone()),
    ];
    rows.extend(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
    rows
}

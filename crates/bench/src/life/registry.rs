//! The tools of a turn, as the program defines them today.

use tenpass_trace::ToolDefinition;

use super::turns::LivedTurn;

/// Tools that only benches have: they are simulated.
const SIMULATED: &[&str] = &["open_url", "launch_app", "control_media"];

/// Every tool that the assistant had in this turn: the live ones, and those that the turn offered
/// besides.
pub(super) fn tools_of(turn: &LivedTurn, registry: &[ToolDefinition]) -> Vec<ToolDefinition> {
    let is_there =
        |tool: &&ToolDefinition| !SIMULATED.contains(&tool.name.as_str()) || turn.offered.contains(&tool.name);
    registry.iter().filter(is_there).cloned().collect()
}

/// The tools that were offered, in the order of the turn; and the names of those that are no more.
pub(super) fn offered(turn: &LivedTurn, tools: &[ToolDefinition]) -> (Vec<ToolDefinition>, Vec<String>) {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for name in &turn.offered {
        match tools.iter().find(|tool| tool.name == *name) {
            Some(tool) => found.push(tool.clone()),
            None => missing.push(name.clone()),
        }
    }
    (found, missing)
}

//! What this computer measures of itself, now: battery, processor, disks, memory, network.
//!
//! Every answer states when and over what it was measured. Network addresses are left out: they
//! tell where a person is, and no question here needs them.

mod battery;
mod measure;

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use crate::files::{Definition, blocking, string};

/// Where Linux shows batteries and chargers.
const POWER_SUPPLIES: &str = "/sys/class/power_supply";

/// `system_info`.
#[derive(Debug)]
pub struct SystemInfo {
    definition: ToolDefinition,
    power_supplies: PathBuf,
}

impl Default for SystemInfo {
    fn default() -> Self {
        Self::new()
    }
}

impl SystemInfo {
    /// Measures this computer.
    pub fn new() -> Self {
        Self::with_power_supplies(POWER_SUPPLIES)
    }

    /// Measures this computer, with batteries described in another folder (a simulated world's).
    pub fn with_power_supplies(folder: impl Into<PathBuf>) -> Self {
        let definition = Definition::new("system_info", "Measures this computer now.", ToolCategory::PcRead)
            .reads()
            .keywords(&[
                "batterie",
                "battery",
                "disque",
                "disk",
                "space",
                "place",
                "espace",
                "mémoire",
                "memory",
                "processeur",
                "cpu",
                "réseau",
                "network",
                "ordinateur",
                "computer",
            ])
            .required("topic", json!({ "type": "string", "enum": ["battery", "cpu", "disk", "memory", "network"] }))
            .build();
        Self { definition, power_supplies: folder.into() }
    }
}

impl Tool for SystemInfo {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "measures battery, processor, disks, memory and network of this computer",
            status: NoteStatus::KnownLimit,
            limit: "batteries are read on Linux only",
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        let (topic, supplies) = (string(arguments, "topic").to_owned(), self.power_supplies.clone());
        let time = context.now.strftime("%Y-%m-%d %H:%M").to_string();
        blocking(move || {
            let measured = match topic.as_str() {
                "battery" => battery::measure(&supplies),
                "cpu" => measure::processor(),
                "disk" => measure::disks(),
                "memory" => measure::memory(),
                "network" => measure::network(),
                other => {
                    return ToolOutput::error(format!(
                        "There is no topic {other:?}: battery, cpu, disk, memory or network."
                    ));
                }
            };
            ToolOutput::ok(format!("Measured on this computer at {time}. {measured}"))
        })
    }
}

#[cfg(test)]
mod tests;

//! The tools of a world, with what a scenario makes go wrong in them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Map, Value};
use tenpass_agent::tool::{CallContext, Inspection, ToolBox, ToolOutput, Tools};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCall, ToolCategory, ToolDefinition};

use super::files;
use super::scenario::{Fault, FaultKind};

/// A tool box that fails where the scenario says so.
pub(super) struct WorldTools {
    tools: Tools,
    /// What the scenario offers.
    definitions: Vec<ToolDefinition>,
    faults: Vec<Fault>,
    state: Mutex<State>,
    /// The writable folder, and the world's time: what a tool writes was written then.
    root: std::path::PathBuf,
    now: SystemTime,
}

#[derive(Debug, Default)]
struct State {
    /// Calls of each tool that ran.
    counts: HashMap<String, u32>,
    /// For each call of the turn that began to run: whether the scenario made it fail.
    ran: Vec<bool>,
}

impl WorldTools {
    /// `definitions` are what is offered of `tools`; calls of others are answered like unknown ones.
    pub(super) fn new(
        tools: Tools,
        definitions: Vec<ToolDefinition>,
        faults: Vec<Fault>,
        root: std::path::PathBuf,
        now: SystemTime,
    ) -> Self {
        Self { tools, definitions, faults, state: Mutex::default(), root, now }
    }

    /// For each call of the turn that has ended and that began to run, in order: whether it was made
    /// to fail.
    pub(super) fn take_ran(&self) -> Vec<bool> {
        std::mem::take(&mut self.state().ran)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call and gives the fault that it meets.
    fn begin(&self, tool: &str) -> Option<&Fault> {
        let mut state = self.state();
        let count = state.counts.entry(tool.to_owned()).or_default();
        *count += 1;
        let number = *count;
        let fault = self.faults.iter().find(|fault| fault.tool == tool && fault.nth.is_none_or(|nth| nth == number));
        state.ran.push(fault.is_some());
        fault
    }

    fn writes(&self, tool: &str) -> bool {
        self.definitions.iter().any(|known| known.name == tool && known.category == ToolCategory::PcWrite)
    }
}

impl ToolBox for WorldTools {
    fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    fn inspect(&self, call: &ToolCall) -> Inspection {
        self.tools.inspect(call)
    }

    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if let Some(fault) = self.begin(&call.name) {
                return failing(fault, call);
            }
            let output = self.tools.run(call, context).await;
            if self.writes(&call.name) {
                files::settle(&self.root, self.now);
            }
            output
        })
    }
}

/// What a call returns that was made to fail. The time a tool would have taken to give up is not
/// waited for.
fn failing(fault: &Fault, call: &ToolCall) -> ToolOutput {
    let said = |default: &str| if fault.text.is_empty() { default.to_owned() } else { fault.text.clone() };
    match fault.kind {
        FaultKind::Error => ToolOutput::error(said("it does not work now")),
        FaultKind::Timeout => ToolOutput::error(said("no answer came within 30 s")),
        FaultKind::Silent => ToolOutput::ok(said(&silent(&call.name, &call.arguments))),
        FaultKind::Garbage => {
            ToolOutput::ok(said("\u{fffd}\u{fffd} 0x00 <<<>>> \u{fffd}")).untrusted(call.name.clone())
        }
    }
}

/// What a tool says that did its work, in the tool's own words.
fn silent(tool: &str, arguments: &Map<String, Value>) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let amount = |content: &str| format!("{} lines, {} characters", content.lines().count(), content.chars().count());
    let (file, content) = (text("filename"), text("content"));
    match tool {
        "write_file" => format!("Created {file:?}: {}.", amount(content)),
        "append_file" => format!("Added {} at the end of {file:?}.", amount(content)),
        "update_file" => format!("Changed {file:?} in 1 place."),
        "execute_cleanup" => "Moved the files of the plan to the trash.".to_owned(),
        "write_memory" | "update_memory" => format!("Kept in the memory: {:?}.", text("entry")),
        "web_search" => format!("No results for {:?} in the web.", text("query")),
        "read_url" => "The page has no readable text (it may need scripts).".to_owned(),
        "read_file" => format!("{file:?} is empty."),
        "list_directory" => "The folder is empty.".to_owned(),
        _ => "Done.".to_owned(),
    }
}

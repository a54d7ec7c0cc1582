//! Tools that answer by a closure.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenpass_model::BoxFuture;
use tenpass_trace::{Tier, ToolCall, ToolDefinition};

use crate::tool::{CallContext, Inspection, ToolBox, ToolOutput};

type Run = dyn Fn(&ToolCall, &CallContext) -> ToolOutput + Send + Sync;
type Inspect = dyn Fn(&ToolCall) -> Inspection + Send + Sync;

/// A tool box of closures that remembers what ran.
#[derive(Clone, Default)]
pub struct ScriptedTools {
    definitions: Vec<ToolDefinition>,
    runs: HashMap<String, Arc<Run>>,
    inspections: HashMap<String, Arc<Inspect>>,
    user_tiers: HashMap<String, Tier>,
    pauses: HashMap<String, Duration>,
    ran: Arc<Mutex<Vec<ToolCall>>>,
}

impl ScriptedTools {
    /// The same tools and one more.
    pub fn with(
        mut self,
        definition: ToolDefinition,
        run: impl Fn(&ToolCall, &CallContext) -> ToolOutput + Send + Sync + 'static,
    ) -> Self {
        self.runs.insert(definition.name.clone(), Arc::new(run));
        self.definitions.push(definition);
        self
    }

    /// The same tools, of which one looks at its calls this way.
    pub fn inspecting(mut self, tool: &str, inspect: impl Fn(&ToolCall) -> Inspection + Send + Sync + 'static) -> Self {
        self.inspections.insert(tool.to_owned(), Arc::new(inspect));
        self
    }

    /// The same tools, of which the user gave one a tier.
    pub fn classified(mut self, tool: &str, tier: Tier) -> Self {
        self.user_tiers.insert(tool.to_owned(), tier);
        self
    }

    /// The same tools, of which one takes this long.
    pub fn slow(mut self, tool: &str, pause: Duration) -> Self {
        self.pauses.insert(tool.to_owned(), pause);
        self
    }

    /// Every call that ran to its end, in order.
    pub fn ran(&self) -> Vec<ToolCall> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of [`Self::ran`].
    pub fn ran_names(&self) -> Vec<String> {
        self.ran().into_iter().map(|call| call.name).collect()
    }
}

impl ToolBox for ScriptedTools {
    fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    fn user_tier(&self, tool: &str) -> Option<Tier> {
        self.user_tiers.get(tool).copied()
    }

    fn inspect(&self, call: &ToolCall) -> Inspection {
        self.inspections.get(&call.name).map(|inspect| inspect(call)).unwrap_or_default()
    }

    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if let Some(pause) = self.pauses.get(&call.name) {
                tokio::time::sleep(*pause).await;
            }
            self.ran.lock().unwrap_or_else(PoisonError::into_inner).push(call.clone());
            match self.runs.get(&call.name) {
                Some(run) => run(call, context),
                None => ToolOutput::error(format!("there is no tool {:?}", call.name)),
            }
        })
    }
}

//! The tools while the setting `offline` holds: what would need the network answers so, untouched.

use std::sync::Arc;

use serde_json::Value;
use tenpass_agent::tool::{CallContext, Inspection, ToolBox, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{Tier, ToolCall, ToolDefinition};

/// What needs the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NeedsNetwork {
    /// `web_search` searches elsewhere than on this machine.
    pub(super) search: bool,
    /// The providers that are not on this machine.
    pub(super) providers: Vec<String>,
}

/// A tool box that never lets a call reach the network.
pub(super) struct Offline<T> {
    inner: Arc<T>,
    needs: NeedsNetwork,
}

impl<T: ToolBox> Offline<T> {
    pub(super) fn new(inner: Arc<T>, needs: NeedsNetwork) -> Self {
        Self { inner, needs }
    }

    fn answer(&self, call: &ToolCall) -> Option<ToolOutput> {
        let what = match call.name.as_str() {
            "web_search" if self.needs.search => "The web cannot be searched".to_owned(),
            "read_url" => "No page can be read".to_owned(),
            "delegate_to_provider" => {
                let name = call.arguments.get("provider").and_then(Value::as_str)?;
                let provider = self.needs.providers.iter().find(|provider| *provider == name)?;
                format!("{provider} cannot be asked")
            }
            _ => return None,
        };
        Some(ToolOutput::error(format!("{what}: this computer is set to work offline. Nothing was sent.")))
    }
}

impl<T: ToolBox> ToolBox for Offline<T> {
    fn definitions(&self) -> &[ToolDefinition] {
        self.inner.definitions()
    }

    fn user_tier(&self, tool: &str) -> Option<Tier> {
        self.inner.user_tier(tool)
    }

    fn inspect(&self, call: &ToolCall) -> Inspection {
        self.inner.inspect(call)
    }

    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        match self.answer(call) {
            Some(output) => Box::pin(async move { output }),
            None => self.inner.run(call, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenpass_agent::testing::ScriptedTools;

    use super::*;

    fn answered(needs: &NeedsNetwork, name: &str, arguments: &Value) -> bool {
        let offline = Offline::new(Arc::new(ScriptedTools::default()), needs.clone());
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let output = offline.answer(&ToolCall { id: None, name: name.to_owned(), arguments });
        output.is_some_and(|output| !output.ok && output.text.contains("offline"))
    }

    #[test]
    fn only_what_needs_the_network_is_answered() {
        let needs = NeedsNetwork { search: true, providers: vec!["claude".to_owned()] };
        assert!(answered(&needs, "web_search", &json!({ "query": "x" })));
        assert!(answered(&needs, "read_url", &json!({ "url": "https://example.org" })));
        assert!(answered(&needs, "delegate_to_provider", &json!({ "provider": "claude" })));
        assert!(!answered(&needs, "delegate_to_provider", &json!({ "provider": "local" })));
        assert!(!answered(&needs, "read_file", &json!({ "filename": "a.txt" })));
        assert!(!answered(&NeedsNetwork::default(), "web_search", &json!({ "query": "x" })), "a local folder");
    }
}

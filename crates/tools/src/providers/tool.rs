//! The tool `delegate_to_provider`.

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, SideEffect, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::{Answered, Provider, ProviderError, Providers, Question, message};

/// Most characters of an answer in the result (R9); all of it is stored.
pub const MAX_ANSWER_CHARACTERS: usize = 8_000;

/// `delegate_to_provider` (auto).
pub struct DelegateToProvider {
    definition: ToolDefinition,
    providers: Providers,
}

impl DelegateToProvider {
    /// The tool over `providers`; its enum is [`Providers::offered`].
    pub fn new(providers: Providers) -> Self {
        Self { definition: definition(&providers.offered()), providers }
    }

    fn call<'a>(&self, arguments: &'a Map<String, Value>) -> Result<(Provider, &'a str), String> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let offered = self.providers.offered();
        let names = || offered.iter().map(|provider| provider.as_str()).collect::<Vec<_>>().join(", ");
        let provider = Provider::parse(text("provider"))
            .filter(|provider| offered.contains(provider))
            .ok_or_else(|| format!("provider must be one of {}", names()))?;
        match text("task") {
            "" => Err("the task is empty".to_owned()),
            task => Ok((provider, task)),
        }
    }
}

fn definition(offered: &[Provider]) -> ToolDefinition {
    let names: Vec<&str> = offered.iter().map(|provider| provider.as_str()).collect();
    let uses: Vec<String> = offered.iter().map(|provider| format!("{provider}: {}.", provider.purpose())).collect();
    let description = format!(
        "Hands a piece of work to {}. {} The application attaches the conversation.",
        if offered.contains(&Provider::Local) { "another model" } else { "a cloud model" },
        uses.join(" ")
    );
    let parameters = json!({
        "type": "object",
        "required": ["provider", "task", "reason"],
        "properties": {
            "provider": { "type": "string", "enum": names },
            "task": { "type": "string", "minLength": 1, "description": "What to do, in one or two sentences." },
            "reason": { "type": "string", "description": "Why this provider, in a few words." }
        }
    });
    let keywords =
        ["ask", "demander", "claude", "chatgpt", "deepseek", "rédiger", "lettre", "letter", "avis", "opinion", "code"];
    ToolDefinition {
        category: ToolCategory::Core,
        always: true,
        keywords: keywords.map(str::to_owned).to_vec(),
        ..ToolDefinition::new("delegate_to_provider", description).with_parameters(parameters)
    }
}

impl Tool for DelegateToProvider {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Hands long writing, second opinions and code to Claude, ChatGPT, DeepSeek or the local writer.",
            status: NoteStatus::KnownLimit,
            limit: "The clients are driven against local servers that speak the providers' protocols, not the providers.",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        Inspection { reject: self.call(arguments).err(), ..Inspection::default() }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let (provider, task) = match self.call(arguments) {
                Ok(call) => call,
                Err(reason) => return ToolOutput::error(reason),
            };
            let is_local = provider == Provider::Local;
            // What leaves the machine is masked here, whoever masked it before (K46).
            let exchange = message::build(&context.recent, &context.user_text, task, is_local).masked();
            let question = Question { exchange: &exchange, thread: &context.thread, task, now: &context.now };
            let answered = tokio::select! {
                biased;
                () = context.cancel.cancelled() => Err(ProviderError::Stopped { provider }),
                answered = self.providers.ask(provider, &question) => answered,
            };
            match answered {
                Ok(answered) => output(&answered, exchange.characters()),
                Err(error) => ToolOutput::error(error.to_string()),
            }
        })
    }
}

/// The result: whose answer it is, how much of it, and that the user has not seen it (K22).
fn output(answered: &Answered, characters: usize) -> ToolOutput {
    let total = answered.text.chars().count();
    let shown: String = answered.text.chars().take(MAX_ANSWER_CHARACTERS).collect();
    let mut scope = format!("The answer of {}", answered.provider);
    if total > MAX_ANSWER_CHARACTERS {
        scope.push_str(&format!(", its first {MAX_ANSWER_CHARACTERS} of {total} characters"));
        if answered.not_stored.is_none() {
            scope.push_str(" (recall_provider_answers finds the whole)");
        }
    } else {
        scope.push_str(&format!(", all {total} characters"));
    }
    if answered.is_cut {
        scope.push_str(", cut by its own length limit");
    }
    if answered.deduplicated {
        scope.push_str(", the same as before because the same was asked");
    }
    if answered.not_stored.is_some() {
        scope.push_str(". It could not be stored, so it cannot be recalled later");
    }
    let effect = SideEffect::Delegated {
        provider: answered.provider.as_str().to_owned(),
        characters,
        cost_usd: answered.cost_micros as f64 / 1e6,
        deduplicated: answered.deduplicated,
    };
    let mut output = ToolOutput::ok(format!("{scope}. The user has not seen it yet.\n\n{shown}"))
        .untrusted(answered.provider.as_str());
    output.effects.push(effect);
    output
}

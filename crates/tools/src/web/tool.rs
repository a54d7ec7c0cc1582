//! The tool around a [`SearchProvider`].

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::{Hit, SearchError, SearchProvider};
use crate::spend::{Budget, SpendKind};

/// Most results of one search.
pub const MAX_RESULTS: usize = 10;
const DEFAULT_RESULTS: usize = 5;
/// Most characters of a query that are sent.
const MAX_QUERY_CHARACTERS: usize = 400;
const MAX_TITLE_CHARACTERS: usize = 150;
const MAX_SNIPPET_CHARACTERS: usize = 400;
const MICROS: u64 = 1_000_000;

/// `web_search` (auto, reads).
pub struct WebSearch {
    definition: ToolDefinition,
    provider: Arc<dyn SearchProvider>,
    budget: Option<Budget>,
}

impl WebSearch {
    /// Searches with `provider`. One that costs credits also needs [`WebSearch::with_budget`].
    pub fn from_provider(provider: Arc<dyn SearchProvider>) -> Self {
        Self { definition: definition(), provider, budget: None }
    }

    /// Where credits are reserved.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    async fn search(&self, query: &str, limit: usize, context: &CallContext) -> Result<Vec<Hit>, String> {
        let credits = self.provider.credits();
        if credits == 0 {
            return self.provider.search(query, limit).await.map_err(|error| told(&error));
        }
        let unavailable = || "web_search is unavailable now".to_owned();
        // Without a budget a paid provider is never asked.
        let budget = self.budget.as_ref().ok_or_else(unavailable)?;
        let mut held = budget
            .reserve(SpendKind::WebCredits, credits * MICROS, &context.now)
            .map_err(|error| error.for_model("web_search"))?;
        held.sent();
        let found = self.provider.search(query, limit).await;
        match &found {
            Err(error) if error.is_free() => held.refused(),
            // What was reserved is the exact price: a settlement that fails changes nothing.
            _ => drop(held.settle(credits * MICROS)),
        }
        found.map_err(|error| told(&error))
    }
}

fn told(error: &SearchError) -> String {
    format!("nothing was found: {error}")
}

fn definition() -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "required": ["query", "reason"],
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": DEFAULT_RESULTS,
                "description": "Number of results."
            },
            "reason": { "type": "string", "description": "Why this search, in a few words." }
        }
    });
    let keywords =
        ["chercher", "recherche", "search", "internet", "météo", "weather", "news", "actualités", "prix", "price"];
    ToolDefinition {
        category: ToolCategory::Web,
        reads: true,
        keywords: keywords.map(str::to_owned).to_vec(),
        ..ToolDefinition::new("web_search", "Searches the web.").with_parameters(parameters)
    }
}

impl Tool for WebSearch {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Searches the web, or a folder of documents when no search service is set up.",
            status: NoteStatus::KnownLimit,
            limit: "Brave and Tavily are driven against local servers that speak their protocols, not the services.",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        let reject = query(arguments).is_empty().then(|| "the query has no words".to_owned());
        Inspection { reject, ..Inspection::default() }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let query = query(arguments);
            if query.is_empty() {
                return ToolOutput::error("the query has no words");
            }
            let limit = arguments.get("limit").and_then(Value::as_u64).map_or(DEFAULT_RESULTS, |limit| limit as usize);
            let limit = limit.clamp(1, MAX_RESULTS);
            let found = tokio::select! {
                biased;
                () = context.cancel.cancelled() => Err("stopped before the results arrived".to_owned()),
                found = self.search(&query, limit, context) => found,
            };
            match found {
                Ok(hits) => {
                    let scope = self.provider.scope();
                    ToolOutput::ok(report(&query, limit, &scope, &hits)).untrusted(scope)
                }
                Err(told) => ToolOutput::error(told),
            }
        })
    }
}

fn query(arguments: &Map<String, Value>) -> String {
    shortened(arguments.get("query").and_then(Value::as_str).unwrap_or_default(), MAX_QUERY_CHARACTERS)
}

/// The result with its scope (K22).
fn report(query: &str, limit: usize, scope: &str, hits: &[Hit]) -> String {
    let mut out = match hits.len() {
        0 => format!("No results for {query:?} in {scope}."),
        found if found < limit => format!("All {found} results for {query:?} in {scope}:"),
        found => format!("The first {found} results for {query:?} in {scope}; there may be more:"),
    };
    for (index, hit) in hits.iter().take(limit).enumerate() {
        out.push_str(&format!("\n\n{}. {}\n{}", index + 1, shortened(&hit.title, MAX_TITLE_CHARACTERS), hit.url));
        if !hit.snippet.is_empty() {
            out.push_str(&format!("\n{}", shortened(&hit.snippet, MAX_SNIPPET_CHARACTERS)));
        }
    }
    out
}

fn shortened(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let mut short: String = line.chars().take(limit - 1).collect();
    short.push('…');
    short
}

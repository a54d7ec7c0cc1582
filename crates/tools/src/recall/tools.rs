//! `search_past_conversations` and `recall_provider_answers` (auto, read).

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{Role, ToolCategory, ToolDefinition};

use super::archive::Archive;
use super::listing::{Listing, local, one_line, shown_query};

/// Most results of one search.
const MAX_RESULTS: usize = 12;
/// Most characters of a query.
const MAX_QUERY_CHARACTERS: usize = 400;

fn query(arguments: &Map<String, Value>) -> String {
    let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
    query.trim().chars().take(MAX_QUERY_CHARACTERS).collect()
}

fn definition(name: &str, description: &str, asked: &str, keywords: &[&str]) -> ToolDefinition {
    ToolDefinition {
        category: ToolCategory::Core,
        reads: true,
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        ..ToolDefinition::new(name, description).with_parameters(json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "description": asked },
                "reason": { "type": "string", "description": "Why this is looked up." }
            },
            "required": ["query", "reason"]
        }))
    }
}

fn empty_query() -> ToolOutput {
    ToolOutput::error("Nothing was searched: the query is empty.")
}

/// Searches what the user and the model said in other conversations.
pub struct SearchPastConversations {
    definition: ToolDefinition,
    archive: Arc<dyn Archive>,
}

impl SearchPastConversations {
    /// Searches this archive.
    pub fn new(archive: Arc<dyn Archive>) -> Self {
        let definition = definition(
            "search_past_conversations",
            "Searches what the user and you said on earlier days, in other conversations than this one.",
            "Words that were said then.",
            &[
                "earlier",
                "last week",
                "conversation",
                "dit",
                "parlé",
                "discuté",
                "talked",
                "said",
                "yesterday",
                "hier",
                "fois",
            ],
        );
        Self { definition, archive }
    }

    fn search(&self, query: &str, context: &CallContext) -> ToolOutput {
        let found = match self.archive.search_messages(query, MAX_RESULTS, Some(&context.thread)) {
            Ok(found) => found,
            Err(error) => return ToolOutput::error(format!("Nothing was found: {error}.")),
        };
        let scope = "every stored conversation but this one was searched, for these words and not for their meaning";
        let shown = shown_query(query);
        if found.is_empty() {
            return ToolOutput::ok(format!("No earlier message holds {shown:?}: {scope}."));
        }
        let count = found.len();
        let more = if count == MAX_RESULTS { ", there may be more" } else { "" };
        let mut listing = Listing::new(&format!("{count} earlier messages, best first{more}: {scope}."));
        for message in &found {
            let speaker = if message.role == Role::User { "the user" } else { "the assistant" };
            let title: String = one_line(&message.title).chars().take(80).collect();
            let place = if title.is_empty() { String::new() } else { format!(", in {title:?}") };
            let partial = if message.interrupted { " (interrupted, partial)" } else { "" };
            listing.add(
                &format!("{} {speaker}{place}{partial}:", local(message.at, &context.now)),
                &message.text,
                query,
            );
        }
        ToolOutput::ok(listing.finish()).untrusted("past conversations")
    }
}

impl Tool for SearchPastConversations {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Finds what you said to each other in earlier conversations.",
            status: NoteStatus::KnownLimit,
            limit: "It finds words, not meanings, and only among the last 2,000 messages.",
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            match query(arguments) {
                query if query.is_empty() => empty_query(),
                query => self.search(&query, context),
            }
        })
    }
}

/// Searches the answers that providers gave (K72).
pub struct RecallProviderAnswers {
    definition: ToolDefinition,
    archive: Arc<dyn Archive>,
}

impl RecallProviderAnswers {
    /// Searches this archive.
    pub fn new(archive: Arc<dyn Archive>) -> Self {
        let definition = definition(
            "recall_provider_answers",
            "Searches the answers that Claude, ChatGPT, DeepSeek or the local writer gave before, instead of asking and \
             paying again.",
            "Words of the task or of the answer.",
            &[
                "claude", "chatgpt", "deepseek", "réponse", "answer", "answered", "répondu", "earlier", "already",
                "déjà", "letter", "lettre",
            ],
        );
        Self { definition, archive }
    }

    fn search(&self, query: &str, context: &CallContext) -> ToolOutput {
        let found = match self.archive.search_provider_answers(query, MAX_RESULTS) {
            Ok(found) => found,
            Err(error) => return ToolOutput::error(format!("Nothing was found: {error}.")),
        };
        let scope = "every stored answer of a provider was searched, for these words and not for their meaning";
        let shown = shown_query(query);
        if found.is_empty() {
            return ToolOutput::ok(format!("No provider's answer holds {shown:?}: {scope}."));
        }
        let count = found.len();
        let more = if count == MAX_RESULTS { ", there may be more" } else { "" };
        let mut listing = Listing::new(&format!("{count} answers of providers, best first{more}: {scope}."));
        for answer in &found {
            let task: String = one_line(&answer.task).chars().take(160).collect();
            let provider: String = one_line(&answer.provider).chars().take(20).collect();
            listing.add(
                &format!("{} {provider}, asked {task:?}:", local(answer.at, &context.now)),
                &answer.text,
                query,
            );
        }
        ToolOutput::ok(listing.finish()).untrusted("past provider answers")
    }
}

impl Tool for RecallProviderAnswers {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Finds what a provider answered before, without paying for it again.",
            status: NoteStatus::KnownLimit,
            limit: "It finds words, not meanings.",
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            match query(arguments) {
                query if query.is_empty() => empty_query(),
                query => self.search(&query, context),
            }
        })
    }
}

/// The two tools on one archive.
pub fn recall_tools(archive: &Arc<dyn Archive>) -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(SearchPastConversations::new(Arc::clone(archive))),
        Box::new(RecallProviderAnswers::new(Arc::clone(archive))),
    ]
}

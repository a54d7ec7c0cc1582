//! `write_memory` and `update_memory`: what the model may do to the memory. It never touches the
//! file; it proposes, and code decides (K62).
//!
//! Both refuse in a turn that read something from outside, and keep only what the user wrote in this
//! thread. A key with a value is sent back once, then the user's own sentence is kept (K64). Each
//! real write is one [`SideEffect::MemoryWritten`] (K65).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenpass_agent::memory::{Applied, Decision, KeyValueGuard, KeyValueVerdict, Refusal, Source, section_keys};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, SideEffect, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{Role, ToolCategory, ToolDefinition};

use super::error::MemoryError;
use super::file::MemoryFile;

/// How often and how long a tool waits for another writer.
const BUSY_TRIES: u32 = 100;
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// The two tools on one file. They share the state of K64.
pub fn memory_tools(file: &Arc<MemoryFile>) -> Vec<Box<dyn Tool>> {
    let guard = Arc::new(TurnGuard::default());
    let write = WriteMemory { definition: write_definition(), file: Arc::clone(file), guard: Arc::clone(&guard) };
    let update = UpdateMemory { definition: update_definition(), file: Arc::clone(file), guard };
    vec![Box::new(write), Box::new(update)]
}

/// The K64 state of the turn that is running.
#[derive(Debug, Default)]
struct TurnGuard(Mutex<(String, KeyValueGuard)>);

impl TurnGuard {
    /// The text to keep: the entry, or the user's own sentence.
    fn judge(&self, entry: &str, context: &CallContext) -> Result<String, Refusal> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = format!("{}/{}", context.thread, context.turn);
        if state.0 != turn {
            *state = (turn, KeyValueGuard::default());
        }
        match state.1.judge(entry, &context.user_text) {
            KeyValueVerdict::Sentence => Ok(entry.to_owned()),
            KeyValueVerdict::Rejected(reason) => Err(Refusal::KeyValue { reason }),
            KeyValueVerdict::OwnSentence(sentence) => Ok(sentence),
        }
    }
}

/// What the user wrote in this thread. A user message that the application wrote, such as a summary
/// or a provider's answer, carries its markers and is not among them.
fn user_texts(context: &CallContext) -> Vec<&str> {
    let earlier = context.recent.iter().filter(|message| message.role == Role::User);
    let mut texts: Vec<&str> = earlier.map(|message| message.content.as_str()).collect();
    texts.retain(|text| !text.contains("[[tenpass:"));
    texts.push(&context.user_text);
    texts
}

/// Tries until no other writer is in the way. Dropping the future between two tries leaves nothing.
async fn waiting<T>(mut attempt: impl FnMut() -> Result<T, MemoryError>) -> Result<T, MemoryError> {
    for _ in 0..BUSY_TRIES {
        match attempt() {
            Err(MemoryError::Busy { .. }) => tokio::time::sleep(BUSY_WAIT).await,
            done => return done,
        }
    }
    attempt()
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

fn kept(applied: Applied) -> ToolOutput {
    let added = applied.added;
    let mut effects = Vec::new();
    let mut answer = format!("Kept in the memory under {}: {:?}.", added.section, added.text);
    if let Some(replaced) = applied.replaced {
        answer.push_str(&format!(" It replaces {:?}.", replaced.text));
        effects.push(SideEffect::MemoryForgotten { text: replaced.text });
    }
    answer.push_str(" The user was shown it and can take it back. Nothing else was kept.");
    effects.push(SideEffect::MemoryWritten { section: added.section.as_str().to_owned(), text: added.text });
    ToolOutput { effects, ..ToolOutput::ok(answer) }
}

fn not_kept(error: &MemoryError) -> ToolOutput {
    if let MemoryError::Refused(Refusal::Duplicate { section, text }) = error {
        return ToolOutput::ok(format!(
            "The memory holds this already under {section}: {text:?}. Nothing was written."
        ));
    }
    let hint = error.hint();
    let hint = if hint.is_empty() { hint } else { format!(" To do: {hint}.") };
    let told = match error {
        // The path is of no use to the model.
        MemoryError::Io { action, source, .. } => format!("cannot {action} the memory file: {}", source.kind()),
        MemoryError::Busy { .. } | MemoryError::Changing { .. } => "the memory file is in use".to_owned(),
        MemoryError::Refused(refusal) => refusal.to_string(),
        MemoryError::Find(error) => error.to_string(),
        _ => "the memory file cannot be used".to_owned(),
    };
    ToolOutput::error(format!("Nothing was written to the memory: {told}.{hint}"))
}

fn answered(outcome: Result<Applied, MemoryError>) -> ToolOutput {
    match outcome {
        Ok(applied) => kept(applied),
        Err(error) => not_kept(&error),
    }
}

/// `write_memory` (auto).
pub struct WriteMemory {
    definition: ToolDefinition,
    file: Arc<MemoryFile>,
    guard: Arc<TurnGuard>,
}

fn write_definition() -> ToolDefinition {
    ToolDefinition {
        category: ToolCategory::Core,
        always: true,
        keywords: words(&[
            "remember", "retenir", "souvenir", "mémoire", "memory", "noter", "retiens", "oublie", "forget",
        ]),
        ..ToolDefinition::new(
            "write_memory",
            "Keeps one lasting fact about the user, only when asked to remember it. The entry is one full sentence in \
             the user's own words and language.",
        )
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "section": {
                    "type": "string", "enum": section_keys(),
                    "description": "decisions: what was decided. patterns: who the user is and what they prefer. \
                                    open_threads: what is left to do. anomalies: what went wrong technically."
                },
                "entry": { "type": "string", "minLength": 1, "description": "One sentence of at most 180 characters." },
                "reason": { "type": "string", "description": "Why this is worth keeping." }
            },
            "required": ["section", "entry", "reason"]
        }))
    }
}

impl Tool for WriteMemory {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Keeps a fact that you ask it to remember, in a Markdown file you can edit.",
            status: NoteStatus::SeenWorking,
            limit: "",
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if context.tainted {
                return not_kept(&Refusal::Tainted.into());
            }
            let entry = match self.guard.judge(text(arguments, "entry"), context) {
                Ok(entry) => entry,
                Err(refusal) => return not_kept(&refusal.into()),
            };
            let section = text(arguments, "section").to_owned();
            let decision = Decision { should_write: true, section, entry, contradicts: None };
            let texts = user_texts(context);
            let now = context.now.timestamp();
            answered(waiting(|| self.file.try_write(&decision, Source::Thread(&texts), now)).await)
        })
    }
}

/// `update_memory` (auto).
pub struct UpdateMemory {
    definition: ToolDefinition,
    file: Arc<MemoryFile>,
    guard: Arc<TurnGuard>,
}

fn update_definition() -> ToolDefinition {
    ToolDefinition {
        category: ToolCategory::Core,
        keywords: words(&[
            "memory", "mémoire", "remember", "retenir", "update", "change", "correct", "corriger", "modifier", "longer", "désormais",
        ]),
        ..ToolDefinition::new(
            "update_memory",
            "Replaces one entry of the memory that is no longer true, only when the user says so. Name the entry by its \
             text or its id.",
        )
        .with_parameters(json!({
            "type": "object",
            "properties": {
                "id": { "type": "string", "description": "The entry's id, when it is known." },
                "old_text": { "type": "string", "description": "The entry's text, or a part of it that no other entry has." },
                "entry": { "type": "string", "minLength": 1, "description": "The new sentence, at most 180 characters." },
                "reason": { "type": "string", "description": "Why it changes." }
            },
            "required": ["entry", "reason"]
        }))
    }
}

/// What names the entry: the id when there is one, else the text.
fn needle(arguments: &Map<String, Value>) -> &str {
    let id = text(arguments, "id");
    if id.is_empty() { text(arguments, "old_text") } else { id }
}

impl Tool for UpdateMemory {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Corrects a fact it keeps about you when you say that it has changed.",
            status: NoteStatus::SeenWorking,
            limit: "",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        let missing = needle(arguments).is_empty();
        Inspection {
            reject: missing.then(|| "old_text or id must name the entry to replace".to_owned()),
            ..Inspection::default()
        }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if context.tainted {
                return not_kept(&Refusal::Tainted.into());
            }
            let entry = match self.guard.judge(text(arguments, "entry"), context) {
                Ok(entry) => entry,
                Err(refusal) => return not_kept(&refusal.into()),
            };
            let texts = user_texts(context);
            let now = context.now.timestamp();
            let needle = needle(arguments);
            answered(waiting(|| self.file.try_update(needle, &entry, Source::Thread(&texts), now)).await)
        })
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

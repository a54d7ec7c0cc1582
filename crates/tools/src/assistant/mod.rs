//! The assistant: the loop with its store around it, one turn after the other.
//!
//! ```text
//! a line ─► emergency? ─► stored ─► prompt: portrait, memory, answers, window ─► Agent::turn
//!                                                                                   │
//!      session ◄─ memory triggers ◄─ exchange, tool turn, messages stored ◄─ report ┘
//! ```
//! Chat, serve and the rounds bench differ in what they put into [`Parts`] and in the
//! [`Interaction`] they pass; what a turn is made of, and what it leaves behind, is here.

mod about;
mod claims;
mod folder;
mod folders;
mod live;
mod offline;
mod recorder;
mod remember;
mod session;
mod toolbox;

pub use about::model_rows;
pub use claims::{Unborne, unborne_claims};
pub use folder::AgentFolder;
pub use live::{Live, LiveError, LiveOptions, LiveStore, ProviderChoice, Search, live};
pub use recorder::JournalRecorder;
pub use session::{InitialSession, is_undone, mark_undone, resume, store_unanswered, store_words};
pub use toolbox::LiveTools;

use std::sync::Arc;

use tenpass_agent::Retrieval;
use tenpass_agent::feedback::{Verdict, label_from_confirmations};
use tenpass_agent::interaction::{AgentEvent, Clock, Interaction, Recorder, RunState};
use tenpass_agent::memory::{Document, prompt_entries};
use tenpass_agent::policy::Profile;
use tenpass_agent::prompt::{self, Language, Sections};
use tenpass_agent::run::{Agent, TurnError, TurnInput, TurnReport};
use tenpass_agent::session::{Exchange, SessionState, is_emergency};
use tenpass_trace::database::{self, ConfirmationLabel, Database, DatabaseError, ToolTurn};
use tenpass_trace::{Message, Role, TraceEvent, TraceRecord, TurnEnd};
use tokio_util::sync::CancellationToken;

use crate::memory::MemoryFile;
use remember::Witness;

/// Past exchanges that a delegation may take along (K71 caps their characters).
const RECENT_MESSAGES: usize = 12;

/// What an assistant is made of.
pub struct Parts {
    /// The loop with model, tools, journals and clock.
    pub agent: Agent,
    /// Conversations, exchanges, provider answers, spending.
    pub database: Arc<Database>,
    /// The memory file; `None` without a memory.
    pub memory: Option<Arc<MemoryFile>>,
    /// Choices.
    pub options: Options,
}

/// Choices of an assistant.
#[derive(Debug, Clone)]
pub struct Options {
    /// How confirmations work (K41).
    pub profile: Profile,
    /// Which memory entries a turn sees (K61, R8).
    pub retrieval: Retrieval,
    /// Which sections the prompt has.
    pub sections: Sections,
    /// Past messages that a turn sees (K24).
    pub history: usize,
    /// The persona; `None` takes the default of the language.
    pub persona: Option<String>,
    /// The language of the operator's texts; `None` takes that of the thread's first message.
    pub language: Option<Language>,
    /// What the application can do, for [`Sections::capability_memo`].
    pub capability_memo: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            retrieval: Retrieval::default(),
            sections: Sections::default(),
            history: prompt::WINDOW_MESSAGES,
            persona: None,
            language: None,
            capability_memo: String::new(),
        }
    }
}

/// What a front end decides of one turn.
#[derive(Debug, Clone)]
pub struct TurnRequest<'a> {
    /// The turn's id; unique.
    pub turn: String,
    /// What the person said.
    pub text: &'a str,
    /// How confirmations work in this turn; `None` takes [`Options::profile`].
    pub profile: Option<Profile>,
    /// The words stand in the store under this turn already ([`store_words`]).
    pub is_stored: bool,
}

impl<'a> TurnRequest<'a> {
    /// A turn with a new id and the assistant's own profile.
    pub fn new(text: &'a str) -> Self {
        Self { turn: uuid::Uuid::new_v4().to_string(), text, profile: None, is_stored: false }
    }
}

/// A turn that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum AssistantError {
    /// Another turn of the conversation runs.
    #[error(transparent)]
    Busy(#[from] TurnError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] DatabaseError),
    /// The memory file cannot be read.
    #[error("{0}")]
    Memory(String),
    /// A record could not be written.
    #[error(transparent)]
    Record(#[from] tenpass_agent::interaction::RecordError),
}

/// The loop with its store.
pub struct Assistant {
    agent: Agent,
    database: Arc<Database>,
    memory: Option<Arc<MemoryFile>>,
    options: Options,
}

impl Assistant {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self { agent: parts.agent, database: parts.database, memory: parts.memory, options: parts.options }
    }

    /// The loop.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The store.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The memory file.
    pub fn memory(&self) -> Option<&Arc<MemoryFile>> {
        self.memory.as_ref()
    }

    /// One turn: what the person said, answered. The person's words are stored before anything else,
    /// so that nothing typed is lost; cancelling `stop` ends the turn at once (K6).
    pub async fn say(
        &self,
        session: &mut SessionState,
        text: &str,
        interaction: &dyn Interaction,
        stop: CancellationToken,
    ) -> Result<TurnReport, AssistantError> {
        self.say_turn(session, TurnRequest::new(text), interaction, stop).await
    }

    /// The same for a front end that names the turn itself.
    pub async fn say_turn(
        &self,
        session: &mut SessionState,
        request: TurnRequest<'_>,
        interaction: &dyn Interaction,
        stop: CancellationToken,
    ) -> Result<TurnReport, AssistantError> {
        let TurnRequest { turn, text, profile, is_stored } = request;
        let profile = profile.unwrap_or(self.options.profile);
        if !is_stored {
            store_words(&self.database, session.thread(), &turn, text)?;
        }
        if is_emergency(text) {
            return self.emergency(session, &turn, text, profile, interaction);
        }
        let document = self.document()?;
        let input = TurnInput { profile, ..self.input(session, &turn, text, &document)? };
        let witness = Witness::new(interaction);
        let report = self.agent.turn(input, &witness, stop.clone()).await?;
        self.keep(session.thread(), &turn, text, &report)?;
        let mut written = witness.written();
        if !report.end.is_interrupted() && !stop.is_cancelled() {
            written.extend(self.remember(session.thread(), &turn, text, &report, interaction, &stop).await?);
        }
        session.push(Exchange {
            turn,
            user: text.to_owned(),
            assistant: report.text.clone(),
            end: report.end,
            memory: written,
            undone: false,
        });
        Ok(report)
    }

    /// The emergency word (K49): nothing is asked of the model.
    fn emergency(
        &self,
        session: &mut SessionState,
        turn: &str,
        text: &str,
        profile: Profile,
        interaction: &dyn Interaction,
    ) -> Result<TurnReport, AssistantError> {
        let said = Language::of(text).pick("Everything is stopped.", "Tout est arrêté.").to_owned();
        let record = |event: TraceEvent| {
            self.recorder().trace(&TraceRecord { thread: session.thread().to_owned(), turn: turn.to_owned(), event })
        };
        record(TraceEvent::Request {
            text: tenpass_trace::mask::mask(text).text,
            model: self.agent.model.info().spec.clone(),
            profile: profile.to_string(),
            think: None,
        })?;
        record(TraceEvent::Cancellation { by: "emergency".to_owned() })?;
        let report = TurnReport {
            end: TurnEnd::Emergency,
            text: said.clone(),
            author: "application".to_owned(),
            thinking: String::new(),
            messages: Vec::new(),
            ledger: Vec::new(),
            first_request: None,
            last_request: None,
            confirmations: Vec::new(),
            rounds: 0,
            tainted: false,
            fault: None,
            record_error: None,
            timings: tenpass_agent::run::TurnTimings::default(),
        };
        record(TraceEvent::Final {
            end: report.end,
            text: said.clone(),
            author: report.author.clone(),
            rounds: 0,
            calls: 0,
            ms: 0.0,
        })?;
        interaction.event(AgentEvent::State(RunState::Done));
        interaction.event(AgentEvent::Finished { end: TurnEnd::Emergency, text: said.clone() });
        session.push(Exchange {
            turn: turn.to_owned(),
            user: text.to_owned(),
            assistant: said,
            end: TurnEnd::Emergency,
            memory: Vec::new(),
            undone: false,
        });
        Ok(report)
    }

    fn recorder(&self) -> &dyn Recorder {
        &*self.agent.recorder
    }

    fn clock(&self) -> &dyn Clock {
        &*self.agent.clock
    }

    /// The memory as it is now: the person may have edited the file since the last turn.
    fn document(&self) -> Result<Document, AssistantError> {
        match &self.memory {
            Some(memory) => memory.show().map_err(|error| AssistantError::Memory(error.to_string())),
            None => Ok(Document::parse("")),
        }
    }

    fn input(
        &self,
        session: &SessionState,
        turn: &str,
        text: &str,
        document: &Document,
    ) -> Result<TurnInput, AssistantError> {
        let past = self.past(session);
        let mut query = past.clone();
        query.push(Message::user(text));
        let offered = self.agent.offer(&query);
        let answers: Vec<prompt::ProviderAnswer> = self
            .database
            .latest_provider_answers(session.thread(), prompt::ANSWERS_SHOWN)?
            .into_iter()
            .map(|answer| prompt::ProviderAnswer { provider: answer.provider, task: answer.task, text: answer.result })
            .collect();
        let language = self.options.language.unwrap_or_else(|| {
            let first = past.iter().find(|message| message.role == Role::User);
            Language::of(first.map_or(text, |message| message.content.as_str()))
        });
        let now = self.clock().now();
        let assembled = prompt::assemble(&prompt::Input {
            language,
            persona: self.options.persona.as_deref(),
            portrait: &document.portrait_for_prompt(),
            memory: &prompt_entries(document, self.options.retrieval, text),
            all: self.agent.tools.definitions(),
            offered: &offered,
            capability_memo: &self.options.capability_memo,
            now: &now,
            past: &past,
            provider_answers: &answers,
            message: text,
            sections: self.options.sections,
        });
        let recent = past.len().saturating_sub(RECENT_MESSAGES);
        Ok(TurnInput {
            thread: session.thread().to_owned(),
            turn: turn.to_owned(),
            // Some templates insist on roles that alternate; the engine's own merge alike.
            messages: prompt::join_turns(assembled.messages),
            user_text: text.to_owned(),
            profile: self.options.profile,
            think: session.think(),
            recent: past[recent..].to_vec(),
            offered: Some(offered),
            tainted: false,
            language: None,
        })
    }

    /// The window of past messages (K24), without what was taken back.
    fn past(&self, session: &SessionState) -> Vec<Message> {
        let past = session.past();
        let mut first = past.len().saturating_sub(self.options.history);
        while first < past.len() && past[first].role != Role::User {
            first += 1;
        }
        past[first..].to_vec()
    }

    /// Stores what the turn left behind: messages, exchange (K90) and, when it ended by itself with
    /// calls, the whole turn (K91).
    fn keep(&self, thread: &str, turn: &str, text: &str, report: &TurnReport) -> Result<(), AssistantError> {
        let interrupted = report.end.is_interrupted();
        let last = report.messages.len().saturating_sub(1);
        for (number, message) in report.messages.iter().enumerate() {
            let mut message = message.clone();
            if number == last && message.role == Role::Assistant && !report.thinking.is_empty() {
                message.thinking = Some(report.thinking.clone());
            }
            self.database.append_message(thread, turn, &message, interrupted && number == last)?;
        }
        let info = self.agent.model.info();
        let at = self.clock().now().timestamp();
        self.database.record_exchange(&database::Exchange {
            turn: turn.to_owned(),
            thread: thread.to_owned(),
            at,
            user: tenpass_trace::mask::mask(text).text,
            answer: report.text.clone(),
            author: report.author.clone(),
            model_digest: info.digest.clone(),
            end: report.end,
        })?;
        let Some(request) = report.last_request.as_ref().filter(|_| !report.ledger.is_empty()) else { return Ok(()) };
        let first = report.first_request.as_ref().unwrap_or(request);
        self.database.record_tool_turn(&ToolTurn {
            turn: turn.to_owned(),
            thread: thread.to_owned(),
            at,
            model: info.spec.clone(),
            request_messages: request.messages.clone(),
            tools: if first.tools.is_empty() { self.agent.tools.definitions().to_vec() } else { first.tools.clone() },
            answer: report.text.clone(),
            end: report.end,
            label: label_from_confirmations(&report.confirmations).map(|verdict| match verdict {
                Verdict::Accepted => ConfirmationLabel::Accepted,
                Verdict::Rejected | Verdict::Corrected => ConfirmationLabel::Rejected,
            }),
        })?;
        Ok(())
    }
}

/// A conversation's title: its first words.
fn title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

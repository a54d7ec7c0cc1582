//! The assembly of the assistant that works for a person: one for every front end.
//!
//! [`LiveStore::open`] takes the agent's folder (database, key, journals: one process at a time) and
//! [`LiveStore::assemble`] puts model, tools and policy on it, so that what a person types is safe
//! on disk before a model is there. [`live`] does both.
//!
//! Nothing in here reads settings or the environment: keys, addresses and folders come in
//! [`LiveOptions`]. A folder or a provider that cannot be used is left out with a note for the
//! person; what the assistant cannot be without is an error.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenpass_agent::interaction::{Recorder, SystemClock};
use tenpass_agent::memo::CapabilityMemo;
use tenpass_agent::run::{Agent, AgentSettings};
use tenpass_agent::tool::{ToolBox, Tools};
use tenpass_model::{ApiKey, ChatModel, http};
use tenpass_trace::database::{Database, DatabaseError};
use tenpass_trace::journal::{JournalError, JournalKey, Journals, JournalsRecovery};

use super::folders::{named, usable};
use super::offline::{NeedsNetwork, Offline};
use super::{AgentFolder, Assistant, JournalRecorder, LiveTools, Options, Parts};
use crate::cleanup::{CleanupOptions, SystemTrash};
use crate::files::{FileError, Sandbox, SandboxOptions};
use crate::memory::{MemoryError, MemoryFile};
use crate::page::{ReadUrl, document_extractor};
use crate::providers::{CloudEscalation, DatabaseStore, Provider, ProviderSettings, Providers};
use crate::recall::Archive;
use crate::spend::{Budget, Caps, DatabaseLedger, WhenUnreadable};
use crate::system::SystemInfo;
use crate::web::{Brave, LocalDocuments, SearchError, SearchProvider, Searxng, Tavily, WebSearch};

/// Where `web_search` searches.
#[derive(Debug, Clone)]
pub enum Search {
    /// A folder of documents; `None` is the folder that may be written to.
    Local(Option<PathBuf>),
    /// An instance at this address.
    Searxng(String),
    /// The service at this address, with its key.
    Brave(String, Option<ApiKey>),
    /// The service at this address, with its key.
    Tavily(String, Option<ApiKey>),
    /// There is no such tool.
    Off,
}

/// A cloud provider.
#[derive(Debug, Clone)]
pub struct ProviderChoice {
    /// Which.
    pub provider: Provider,
    /// Root of its API.
    pub address: String,
    /// The model asked for.
    pub model: String,
    /// Its key; without one it is offered and says what is missing.
    pub key: Option<ApiKey>,
}

/// What a live assistant is made of.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// The agent's own folder.
    pub folder: AgentFolder,
    /// The folder that may be written to; `None` is the one in [`Self::folder`].
    pub files: Option<PathBuf>,
    /// Folders that may also be read, each under its last name.
    pub read: Vec<PathBuf>,
    /// Folders whose files may be proposed for the trash.
    pub cleanup: Vec<PathBuf>,
    /// Further files and folders of the application that no tool may reach: configuration, models,
    /// runs, cache.
    pub protected: Vec<PathBuf>,
    /// The memory file; `None` is the one in [`Self::folder`].
    pub memory: Option<PathBuf>,
    /// No network may be touched.
    pub offline: bool,
    /// Where `web_search` searches.
    pub search: Search,
    /// The cloud providers.
    pub providers: Vec<ProviderChoice>,
    /// The provider that answers when the model produced nothing (K11b).
    pub escalate: Option<Provider>,
    /// What a day may cost (K47).
    pub caps: Caps,
    /// Paid calls go on when the counter cannot be read.
    pub fail_open: bool,
    /// Strategies, sampling, limits of the loop.
    pub agent: AgentSettings,
    /// Choices of the assistant; its capability memo is filled in here.
    pub options: Options,
}

/// An assistant at work.
pub struct Live {
    /// Answers.
    pub assistant: Assistant,
    /// The journals, with the watchdog's alerts.
    pub recorder: Arc<JournalRecorder>,
    /// The tools, before any setting takes the network away.
    pub tools: Arc<Tools>,
    /// The folders of the file tools.
    pub sandbox: Arc<Sandbox>,
    /// What the tools can do (K97).
    pub memo: CapabilityMemo,
    /// What the person should know: what the journals lost, what was left out.
    pub notes: Vec<String>,
}

/// Why there is no assistant.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// The agent's folder cannot be made.
    #[error("cannot create the agent's folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The journals.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The memory file.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The folder that may be written to.
    #[error(transparent)]
    Files(#[from] FileError),
    /// The search.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl LiveError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Folder { .. } => "check the folder's permissions, or name another one (agent.folder)".to_owned(),
            Self::Journal(JournalError::Locked { .. }) => {
                "another chat or server is open: close it first, or give this one another folder (agent.folder)"
                    .to_owned()
            }
            Self::Journal(error) => error.hint().to_owned(),
            Self::Database(error) => error.hint().to_owned(),
            Self::Memory(error) => error.hint(),
            Self::Files(_) => "name another folder that may be written to (--files, or files.folder)".to_owned(),
            Self::Search(error) => error.hint().to_owned(),
        }
    }
}

/// The agent's folder, taken: database and journals, before there is a model.
#[derive(Clone)]
pub struct LiveStore {
    /// Conversations, exchanges, provider answers, spending.
    pub database: Arc<Database>,
    /// The journals.
    pub recorder: Arc<JournalRecorder>,
    /// What opening the journals found.
    pub notes: Vec<String>,
}

/// Opens the store and assembles the assistant on it.
pub fn live(options: LiveOptions, model: Arc<dyn ChatModel>) -> Result<Live, LiveError> {
    LiveStore::open(&options.folder)?.assemble(options, model)
}

impl LiveStore {
    /// Takes the folder. A second process gets [`JournalError::Locked`].
    pub fn open(folder: &AgentFolder) -> Result<Self, LiveError> {
        folder.create().map_err(|source| LiveError::Folder { path: folder.path().to_owned(), source })?;
        let database = Arc::new(Database::open(&folder.database())?);
        let key = if folder.trace().exists() || folder.intentions().exists() {
            // Journals without their key are to be explained, not overwritten with another one.
            JournalKey::load(&folder.journal_key())?
        } else {
            JournalKey::load_or_create(&folder.journal_key())?
        };
        let (journals, recovery) = Journals::open(folder.path(), &key, Some(Arc::clone(&database) as _))?;
        let mut notes = recovery_notes(&recovery);
        if let Some(reason) = journals.keeper_error() {
            notes.push(format!("the heads of the journals could not be kept in the database: {reason}"));
        }
        Ok(Self { database, recorder: Arc::new(JournalRecorder::new(Arc::new(journals))), notes })
    }

    /// Puts the tools and the loop around the model.
    pub fn assemble(self, mut options: LiveOptions, model: Arc<dyn ChatModel>) -> Result<Live, LiveError> {
        let Self { database, recorder, mut notes } = self;
        let memory_path = options.memory.clone().unwrap_or_else(|| options.folder.memory());
        let memory = Arc::new(MemoryFile::open(&memory_path)?);
        let files = options.files.clone().unwrap_or_else(|| options.folder.files());
        let protected = protected(&options, &files, &memory_path);
        let sandbox = sandbox(&options, &files, &protected, &mut notes)?;
        let budget = budget(&options, &database);
        let providers = providers(&options, &database, &budget, &model, &mut notes);
        let (search, search_needs_network) = search(&options, &files, &protected, budget)?;
        let escalation = escalation(&options, &providers, &mut notes);
        let cleanup = CleanupOptions {
            protected,
            ..CleanupOptions::new(named(usable("files.cleanup", &options.cleanup, &mut notes)))
        };
        let tools = Arc::new(
            LiveTools {
                providers: Some(providers),
                memory: Some(Arc::clone(&memory)),
                archive: Arc::clone(&database) as Arc<dyn Archive>,
                search,
                pages: ReadUrl::new().with_extractor(document_extractor()),
                sandbox: Arc::clone(&sandbox),
                system: Box::new(SystemInfo::new()),
                cleanup,
                trash: Arc::new(SystemTrash),
            }
            .assemble(),
        );
        let memo = CapabilityMemo::of(&tools);
        let offered: Arc<dyn ToolBox> = if options.offline {
            let providers = remote(&options).map(|choice| choice.provider.as_str().to_owned()).collect();
            Arc::new(Offline::new(Arc::clone(&tools), NeedsNetwork { search: search_needs_network, providers }))
        } else {
            Arc::clone(&tools) as _
        };
        let clock = Arc::new(SystemClock);
        let mut agent =
            Agent::new(model, offered, Arc::clone(&recorder) as Arc<dyn Recorder>, clock, options.agent.clone());
        if let Some(escalation) = escalation {
            agent = agent.with_escalation(Arc::new(escalation));
        }
        options.options.capability_memo = memo.for_model(options.options.language.unwrap_or_default());
        let assistant = Assistant::new(Parts { agent, database, memory: Some(memory), options: options.options });
        Ok(Live { assistant, recorder, tools, sandbox, memo, notes })
    }
}

/// What the person is told about the journals.
fn recovery_notes(recovery: &JournalsRecovery) -> Vec<String> {
    let mut notes: Vec<String> = recovery
        .lost
        .iter()
        .map(|(journal, head)| {
            format!(
                "the journal {journal} lost its end: line {} was there; `tenpass journal verify` shows it",
                head.seq
            )
        })
        .collect();
    for (name, recovery) in [("orchestrator-trace", &recovery.trace), ("intentions", &recovery.intentions)] {
        if let Some(torn) = &recovery.torn {
            notes.push(format!(
                "a write to the journal {name} had been cut off: its {} bytes were saved as {}",
                torn.bytes,
                torn.saved_as.display()
            ));
        }
    }
    notes
}

fn protected(options: &LiveOptions, files: &Path, memory: &Path) -> Vec<PathBuf> {
    let mut protected = options.folder.protected(files);
    // A folder that holds the files folder cannot be closed as a whole; the agent's own is listed above.
    let holds_files = |path: &PathBuf| files.starts_with(path);
    protected.extend(options.protected.iter().filter(|path| !holds_files(path)).cloned());
    protected.push(memory.to_owned());
    protected
}

fn sandbox(
    options: &LiveOptions,
    files: &Path,
    protected: &[PathBuf],
    notes: &mut Vec<String>,
) -> Result<Arc<Sandbox>, LiveError> {
    let read_only = named(usable("files.read", &options.read, notes));
    let opened = SandboxOptions { read_only, protected: protected.to_vec(), ..SandboxOptions::new(files) };
    Ok(Arc::new(Sandbox::open(opened)?))
}

fn budget(options: &LiveOptions, database: &Arc<Database>) -> Budget {
    let choice = if options.fail_open { WhenUnreadable::Allow } else { WhenUnreadable::Refuse };
    Budget::new(Arc::new(DatabaseLedger::new(Arc::clone(database))), options.caps).when_unreadable(choice)
}

/// The providers; one whose settings cannot be used is left out with a note.
fn providers(
    options: &LiveOptions,
    database: &Arc<Database>,
    budget: &Budget,
    model: &Arc<dyn ChatModel>,
    notes: &mut Vec<String>,
) -> Providers {
    let store = Arc::new(DatabaseStore::new(Arc::clone(database)));
    let mut providers =
        Providers::new(budget.clone(), store).with_local(Arc::clone(model), options.agent.options.clone());
    for choice in &options.providers {
        let settings = ProviderSettings {
            model: choice.model.clone(),
            base_url: choice.address.clone(),
            ..ProviderSettings::new(choice.provider, choice.key.clone())
        };
        match providers.clone().with_cloud(choice.provider, settings) {
            Ok(more) => providers = more,
            // Nobody needs to hear of a provider that has no key either.
            Err(error) if choice.key.is_some() => notes.push(error.to_string()),
            Err(_) => {}
        }
    }
    providers
}

/// The search tool, and whether it needs the network.
fn search(
    options: &LiveOptions,
    files: &Path,
    protected: &[PathBuf],
    budget: Budget,
) -> Result<(Option<WebSearch>, bool), LiveError> {
    let (provider, needs_network): (Arc<dyn SearchProvider>, bool) = match &options.search {
        Search::Off => return Ok((None, false)),
        Search::Local(folder) => {
            let folder = folder.as_deref().unwrap_or(files);
            let documents = LocalDocuments::open(folder, &options.folder.documents_index())?.without(protected);
            (Arc::new(documents.with_extractor(document_extractor())), false)
        }
        Search::Searxng(address) => (Arc::new(Searxng::new(address)?), true),
        Search::Brave(address, key) => (Arc::new(Brave::at(address, key.clone())?), true),
        Search::Tavily(address, key) => (Arc::new(Tavily::at(address, key.clone())?), true),
    };
    Ok((Some(WebSearch::from_provider(provider).with_budget(budget)), needs_network))
}

/// The providers that are not on this machine.
fn remote(options: &LiveOptions) -> impl Iterator<Item = &ProviderChoice> {
    let is_here = |choice: &&ProviderChoice| http::parse_url(&choice.address).is_ok_and(|url| http::is_loopback(&url));
    options.providers.iter().filter(move |choice| !is_here(choice))
}

fn escalation(options: &LiveOptions, providers: &Providers, notes: &mut Vec<String>) -> Option<CloudEscalation> {
    let provider = options.escalate?;
    if options.offline && remote(options).any(|choice| choice.provider == provider) {
        notes.push(format!("{provider} will not be asked in place of the model: offline"));
        return None;
    }
    Some(CloudEscalation::new(providers.clone(), provider))
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;

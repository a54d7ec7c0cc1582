//! The world of a play: a folder, and the real assistant on it.
//!
//! ```text
//! world/ sandbox/        what the file tools may write, with the scenario's links
//!        read-only/NAME/ further roots
//!        cleanup/NAME/   folders that may be cleaned up (readable too)
//!        outside/        canaries that no tool may reach
//!        agent/          journals with their key, memory.md
//!        trash/
//! ```
//! The clock stands still; pages, search results and providers are the scenario's; the database is
//! in memory. Nothing in here is different from pass to pass, so that a pass can be repeated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Zoned;
use tempfile::TempDir;
use tenpass_agent::interaction::Clock;
use tenpass_agent::memory::{Document, MARKER, Section};
use tenpass_agent::policy::Profile;
use tenpass_agent::run::{Agent, AgentSettings};
use tenpass_agent::session::{SessionState, ThinkSetting};
use tenpass_agent::tool::{ToolBox as _, Tools};
use tenpass_agent::turn::Limits;
use tenpass_model::{ChatModel, SamplingOptions};
use tenpass_tools::assistant::{Assistant, JournalRecorder, LiveTools, Options, Parts};
use tenpass_tools::cleanup::{CleanupOptions, FolderTrash};
use tenpass_tools::files::{Sandbox, SandboxOptions};
use tenpass_tools::memory::MemoryFile;
use tenpass_tools::page::ReadUrl;
use tenpass_tools::providers::{DatabaseStore, Provider, ProviderSettings, Providers, Timing};
use tenpass_tools::spend::{Budget, Caps, DatabaseLedger};
use tenpass_tools::web::WebSearch;
use tenpass_trace::ToolDefinition;
use tenpass_trace::database::Database;
use tenpass_trace::journal::{Durability, JournalKey, Journals};
use uuid::Uuid;

use super::archive;
use super::cloud::{Cloud, FixedWriter};
use super::desktop::{desktop_tools, system_info};
use super::faults::WorldTools;
use super::files;
use super::play::Stage;
use super::record::{NotingRecorder, RecordingModel};
use super::scenario::{Action, ProviderAnswer, Scenario, ScenarioProfile};
use super::web::{WorldPages, WorldSearch};
use crate::store::sha256_hex;

/// When a scenario plays that names no time.
pub(super) const DEFAULT_CLOCK: &str = "2026-11-30T14:00:00+01:00[Europe/Paris]";
/// How long a confirmation stands open when the person stays silent: nobody waits for it.
const SILENCE: Duration = Duration::from_millis(200);
/// Paid web searches of a day.
const WEB_CREDITS: u32 = 100;
/// What may be spent when the scenario does not say.
const USD_PER_DAY: f64 = 1.0;

/// A world that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub(super) struct WorldError {
    what: &'static str,
    reason: String,
}

/// Says what was being made when it failed.
pub(super) fn at<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> WorldError {
    move |error| WorldError { what, reason: error.to_string() }
}

/// The clock of a world.
struct StandingClock(Zoned);

impl Clock for StandingClock {
    fn now(&self) -> Zoned {
        self.0.clone()
    }
}

/// Where things are.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) base: PathBuf,
}

impl Places {
    pub(super) fn sandbox(&self) -> PathBuf {
        self.base.join("sandbox")
    }

    pub(super) fn read_only(&self) -> PathBuf {
        self.base.join("read-only")
    }

    pub(super) fn cleanup(&self) -> PathBuf {
        self.base.join("cleanup")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.base.join("outside")
    }

    pub(super) fn agent(&self) -> PathBuf {
        self.base.join("agent")
    }

    pub(super) fn trash(&self) -> PathBuf {
        self.base.join("trash")
    }
}

/// A world, with the assistant that lives in it.
pub(super) struct World {
    pub(super) assistant: Assistant,
    pub(super) session: SessionState,
    pub(super) tools: Arc<WorldTools>,
    pub(super) recorder: Arc<NotingRecorder>,
    pub(super) key: JournalKey,
    pub(super) clock: Zoned,
    pub(super) places: Places,
    pub(super) trash: Arc<FolderTrash>,
    /// The memory as it was made.
    pub(super) memory: Document,
    /// The server of the providers, while the world lives.
    _cloud: Option<Cloud>,
    /// Goes last, with everything in it.
    _folder: TempDir,
}

/// The time of a scenario.
pub(super) fn clock_of(scenario: &Scenario) -> Result<Zoned, WorldError> {
    match &scenario.world.clock {
        Some(clock) => Ok(clock.clone()),
        None => DEFAULT_CLOCK.parse().map_err(at::<jiff::Error>("the world's time")),
    }
}

impl World {
    /// Makes the world of `scenario`, offering `tools`, with `model` asked by the loop. A turn takes
    /// at most `limit`.
    pub(super) async fn build(
        scenario: &Scenario,
        tools: &[ToolDefinition],
        stage: &Stage,
        model: RecordingModel,
        limit: Duration,
    ) -> Result<Self, WorldError> {
        let clock = clock_of(scenario)?;
        let record = Arc::clone(&model.record);
        let model: Arc<dyn ChatModel> = Arc::new(model);
        let folder = folder().map_err(at("a folder for the world"))?;
        // Links in the path of the temporary folder are not the scenario's.
        let base = folder.path().canonicalize().map_err(at("the world's folder"))?;
        let places = Places { base };
        lay_out(scenario, &places, &clock).map_err(at("the world's files"))?;
        let (database, session) = archive::build(scenario, &clock)?;
        let session = thinking(session, scenario, stage, &*model);
        let memory_file = Arc::new(MemoryFile::open(memory_path(&places)).map_err(at("the memory"))?);
        let memory = memory_file.show().map_err(at("the memory"))?;
        let key = JournalKey::load_or_create(&places.agent().join("journal.key")).map_err(at("the journals' key"))?;
        let (journals, _) =
            Journals::open_with(&places.agent(), &key, None, Durability::Flushed).map_err(at("the journals"))?;
        let recorder = Arc::new(NotingRecorder::new(JournalRecorder::new(Arc::new(journals)), record));
        let cloud = cloud(scenario).await.map_err(at("the world's providers"))?;
        let trash = Arc::new(FolderTrash::new(places.trash()));
        let live = live_tools(&Wiring {
            scenario,
            places: &places,
            database: &database,
            memory: &memory_file,
            trash: &trash,
            cloud: cloud.as_ref(),
            writer: &model,
            options: &stage.options,
        })?;
        let live_names: Vec<String> = live.definitions().iter().map(|tool| tool.name.clone()).collect();
        let offered = tools.iter().filter(|tool| live_names.contains(&tool.name)).cloned().collect();
        let now = SystemTime::from(clock.timestamp());
        let tools = Arc::new(WorldTools::new(live, offered, scenario.faults.clone(), places.sandbox(), now));
        let settings = AgentSettings {
            selection: stage.selection,
            structure: Some(stage.structure),
            options: stage.options.clone(),
            limits: Some(limits(scenario, limit)),
        };
        let agent = Agent::new(
            model,
            Arc::clone(&tools) as _,
            Arc::clone(&recorder) as _,
            Arc::new(StandingClock(clock.clone())),
            settings,
        );
        let options = Options {
            profile: profile(scenario.profile),
            retrieval: stage.memory,
            sections: stage.sections,
            ..Options::default()
        };
        let assistant = Assistant::new(Parts { agent, database, memory: Some(memory_file), options });
        Ok(Self {
            assistant,
            session,
            tools,
            recorder,
            key,
            clock,
            places,
            trash,
            memory,
            _cloud: cloud,
            _folder: folder,
        })
    }
}

/// A new folder, in memory where the system has a place for that: a journal waits for its disk.
fn folder() -> io::Result<TempDir> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("tenpass-world-");
        builder
    };
    let shared_memory = Path::new("/dev/shm");
    if cfg!(target_os = "linux")
        && shared_memory.is_dir()
        && let Ok(folder) = builder().tempdir_in(shared_memory)
    {
        return Ok(folder);
    }
    builder().tempdir()
}

fn memory_path(places: &Places) -> PathBuf {
    places.agent().join("memory.md")
}

/// Writes everything that lies on disk.
fn lay_out(scenario: &Scenario, places: &Places, clock: &Zoned) -> io::Result<()> {
    let world = &scenario.world;
    let now = SystemTime::from(clock.timestamp());
    for folder in [places.sandbox(), places.outside(), places.agent()] {
        fs::create_dir(folder)?;
    }
    for (path, text) in &world.files {
        files::write(&places.sandbox().join(path), text, now)?;
    }
    for (path, text) in &world.outside {
        files::write(&places.outside().join(path), text, now)?;
    }
    for (root, files) in &world.read_only {
        fs::create_dir_all(places.read_only().join(root))?;
        for (path, text) in files {
            files::write(&places.read_only().join(root).join(path), text, now)?;
        }
    }
    for (root, old) in &world.cleanup {
        fs::create_dir_all(places.cleanup().join(root))?;
        for file in old {
            let age = Duration::from_secs(u64::from(file.age_days) * 86_400);
            files::write_sized(&places.cleanup().join(root).join(&file.name), file.bytes, now - age)?;
        }
    }
    for (link, target) in &world.links {
        plant(&places.sandbox().join(link), Path::new(target))?;
    }
    files::settle(&places.sandbox(), now);
    fs::write(memory_path(places), memory_text(scenario, clock))
}

#[cfg(unix)]
fn plant(link: &Path, target: &Path) -> io::Result<()> {
    if let Some(folder) = link.parent() {
        fs::create_dir_all(folder)?;
    }
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn plant(_link: &Path, _target: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links are planted on Unix only"))
}

/// The memory file: the scenario's portrait and entries, which were written the day before.
fn memory_text(scenario: &Scenario, clock: &Zoned) -> String {
    let world = &scenario.world;
    let template = Document::template();
    let head = if world.portrait.trim().is_empty() {
        template.portrait().to_owned()
    } else {
        format!("{}\n\n", world.portrait.trim_end())
    };
    let yesterday = clock.timestamp() - jiff::SignedDuration::from_hours(24);
    let yesterday = jiff::Timestamp::from_second(yesterday.as_second()).unwrap_or(yesterday);
    let mut text = format!("{head}{MARKER}\n");
    for section in Section::ALL {
        text.push_str(&format!("\n## {}\n\n", section.title()));
        let entries = world.memory.iter().enumerate().filter(|(_, entry)| entry.section == section.as_str());
        for (number, entry) in entries {
            let id = entry.id.clone().unwrap_or_else(|| stable_id(&scenario.id, number).to_string());
            text.push_str(&format!("- [{yesterday}] {} <!-- id:{id} -->\n", entry.text));
        }
    }
    text
}

/// An id that is the same in every pass.
pub(super) fn stable_id(scenario: &str, number: usize) -> Uuid {
    let digest = sha256_hex(format!("{scenario}\0{number}").as_bytes());
    let value = u128::from_str_radix(&digest[..32], 16).unwrap_or_default();
    uuid::Builder::from_random_bytes(value.to_be_bytes()).into_uuid()
}

/// The thinking level: the scenario's where the model can think, else the configuration's.
fn thinking(mut session: SessionState, scenario: &Scenario, stage: &Stage, model: &dyn ChatModel) -> SessionState {
    let can_think = model.info().capabilities.thinking;
    let level = scenario.think.filter(|_| can_think).or(stage.think);
    session.set_think(level.map_or(ThinkSetting::Off, ThinkSetting::Level));
    session
}

fn limits(scenario: &Scenario, turn_timeout: Duration) -> Limits {
    let usual = Limits::for_profile(profile(scenario.profile));
    let is_silent = scenario.turns.iter().flat_map(|turn| &turn.reactions).any(|it| it.action == Action::Silent);
    Limits {
        rounds_per_loop: scenario.limits.rounds.unwrap_or(usual.rounds_per_loop),
        rounds_per_turn: scenario.limits.turn_rounds.unwrap_or(usual.rounds_per_turn),
        confirm_timeout: if is_silent { SILENCE } else { usual.confirm_timeout },
        turn_timeout,
        ..usual
    }
}

fn profile(profile: ScenarioProfile) -> Profile {
    match profile {
        ScenarioProfile::Panel => Profile::Panel,
        ScenarioProfile::Bar => Profile::Bar,
        ScenarioProfile::Voice => Profile::Voice,
    }
}

/// The providers of the cloud that the scenario has; the local writer needs no server.
async fn cloud(scenario: &Scenario) -> io::Result<Option<Cloud>> {
    let providers = &scenario.world.providers;
    if providers.keys().all(|name| name == "local") {
        return Ok(None);
    }
    Cloud::start(providers).await.map(Some)
}

/// What the live tools are made of.
struct Wiring<'a> {
    scenario: &'a Scenario,
    places: &'a Places,
    database: &'a Arc<Database>,
    memory: &'a Arc<MemoryFile>,
    trash: &'a Arc<FolderTrash>,
    cloud: Option<&'a Cloud>,
    writer: &'a Arc<dyn ChatModel>,
    options: &'a SamplingOptions,
}

/// The real tools on the world, and the simulated ones beside them.
fn live_tools(wiring: &Wiring<'_>) -> Result<Tools, WorldError> {
    let Wiring { scenario, places, database, .. } = *wiring;
    let world = &scenario.world;
    let named = |folder: PathBuf, names: Vec<&String>| -> Vec<(String, PathBuf)> {
        names.into_iter().map(|name| (name.clone(), folder.join(name))).collect()
    };
    let cleanup = named(places.cleanup(), world.cleanup.keys().collect());
    let mut read_only = named(places.read_only(), world.read_only.keys().collect());
    read_only.extend(cleanup.iter().cloned());
    let sandbox = Sandbox::open(SandboxOptions {
        read_only,
        protected: vec![places.agent()],
        home: None,
        ..SandboxOptions::new(places.sandbox())
    });
    let live = LiveTools {
        providers: Some(providers(wiring)?),
        memory: Some(Arc::clone(wiring.memory)),
        archive: Arc::clone(database) as _,
        search: Some(WebSearch::from_provider(Arc::new(WorldSearch { searches: world.search.clone() }))),
        pages: ReadUrl::from_source(Arc::new(WorldPages::new(&world.pages))),
        sandbox: Arc::new(sandbox.map_err(at("the world's folders"))?),
        system: system_info(),
        cleanup: CleanupOptions { protected: vec![places.agent()], home: None, ..CleanupOptions::new(cleanup) },
        trash: Arc::clone(wiring.trash) as _,
    };
    let mut tools = live.assemble();
    for tool in desktop_tools() {
        tools.add_boxed(tool);
    }
    Ok(tools)
}

/// The providers, through the real clients. Without a server they are not set up.
fn providers(wiring: &Wiring<'_>) -> Result<Providers, WorldError> {
    let world = &wiring.scenario.world;
    let caps = Caps::new(world.spend_left_usd.unwrap_or(USD_PER_DAY), WEB_CREDITS);
    let budget = Budget::new(Arc::new(DatabaseLedger::new(Arc::clone(wiring.database))), caps);
    let timing = Timing { first_wait: Duration::from_millis(1), ..Timing::default() };
    let store = Arc::new(DatabaseStore::new(Arc::clone(wiring.database)));
    let mut providers = Providers::new(budget, store).with_timing(timing);
    for name in world.providers.keys() {
        let (Some(provider), Some(cloud)) = (Provider::parse(name), wiring.cloud) else { continue };
        if provider != Provider::Local {
            let settings = ProviderSettings {
                base_url: cloud.root(name),
                ..ProviderSettings::new(provider, Some("a-key-of-the-bench".into()))
            };
            providers = providers.with_cloud(provider, settings).map_err(at("the world's providers"))?;
        }
    }
    let writer: Arc<dyn ChatModel> = match world.providers.get(Provider::Local.as_str()) {
        Some(answer) => Arc::new(FixedWriter::new(answer.clone())),
        None => Arc::clone(wiring.writer),
    };
    Ok(providers.with_local(writer, wiring.options.clone()))
}

/// The definitions of every tool that a scenario can have: the live ones, and the desktop tools,
/// which a scenario has only when its `tools` names them. Empty when the system has no temporary
/// folder.
pub fn definitions() -> Vec<ToolDefinition> {
    throw_away_tools().map(|tools| tools.definitions().to_vec()).unwrap_or_default()
}

/// The tools of no world: nothing is written, and none of them is ever run.
fn throw_away_tools() -> Result<Tools, WorldError> {
    let temporary = std::env::temp_dir();
    let database = Arc::new(Database::in_memory().map_err(at("a database"))?);
    let memory = MemoryFile::open(temporary.join("tenpass-no-memory.md")).map_err(at("a memory"))?;
    let sandbox = Sandbox::open(SandboxOptions::new(&temporary)).map_err(at("a folder"))?;
    let budget = Budget::new(Arc::new(DatabaseLedger::new(Arc::clone(&database))), Caps::default());
    let writer = FixedWriter::new(ProviderAnswer::Answer(String::new()));
    let providers = Providers::new(budget, Arc::new(DatabaseStore::new(Arc::clone(&database))))
        .with_local(Arc::new(writer), SamplingOptions::default());
    let live = LiveTools {
        providers: Some(providers),
        memory: Some(Arc::new(memory)),
        archive: database as _,
        search: Some(WebSearch::from_provider(Arc::new(WorldSearch { searches: Vec::new() }))),
        pages: ReadUrl::from_source(Arc::new(WorldPages::new(&std::collections::BTreeMap::new()))),
        sandbox: Arc::new(sandbox),
        system: system_info(),
        cleanup: CleanupOptions { home: None, ..CleanupOptions::new(Vec::new()) },
        trash: Arc::new(FolderTrash::new(temporary.join("tenpass-no-trash"))),
    };
    let mut tools = live.assemble();
    for tool in desktop_tools() {
        tools.add_boxed(tool);
    }
    Ok(tools)
}

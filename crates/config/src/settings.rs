//! The merged values, typed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::Home;
use crate::setting::Value;

/// Every setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The default model SPEC, unparsed.
    pub model: String,
    /// The profile in force.
    pub profile: Option<String>,
    /// No network may be touched.
    pub offline: bool,
    /// Passes of each case.
    pub passes: u32,
    /// Requests at the same time; `None` leaves it to the backend.
    pub jobs: Option<usize>,
    /// Longest time for one answer.
    pub timeout: Duration,
    /// Root of the Ollama server, without a slash at the end.
    pub ollama_address: String,
    /// Name of the environment variable that holds the key of an OpenAI-compatible server.
    pub openai_key_variable: Option<String>,
    /// Where results are kept, when it is set.
    pub runs_dir: Option<PathBuf>,
    /// How confirmations work: `panel`, `bar` or `voice` (K41).
    pub confirm: String,
    /// Where journals, conversations and memory are kept, when it is set.
    pub agent_dir: Option<PathBuf>,
    /// Rounds of one loop call (K2).
    pub rounds: u32,
    /// Rounds of one turn, retries included (K3).
    pub turn_rounds: u32,
    /// Longest time for one turn (K4).
    pub turn_timeout: Duration,
    /// Context in tokens that the agent asks for (K9).
    pub context: u32,
    /// Past messages that a turn sees (K24).
    pub history: usize,
    /// `auto`, `native`, `grammar` or `text`.
    pub structure: String,
    /// `all`, `router` or `relevance`.
    pub tool_selection: String,
    /// The provider asked when the local model produced nothing (K11); `None` asks none.
    pub escalate: Option<String>,
    /// The folder the agent may write to, when it is set.
    pub files_dir: Option<PathBuf>,
    /// Folders it may also read.
    pub read_dirs: Vec<PathBuf>,
    /// Folders that a cleanup may look into.
    pub cleanup_dirs: Vec<PathBuf>,
    /// `recent`, `relevant` or `off`.
    pub memory_retrieval: String,
    /// The memory file, when it is set.
    pub memory_file: Option<PathBuf>,
    /// How long a conversation is quiet before it is read again for the memory (K63).
    pub quiet_after: Duration,
    /// Where `web_search` searches, and with what.
    pub web: Web,
    /// The cloud providers, by name: `claude`, `chatgpt`, `deepseek`.
    pub providers: Vec<Provider>,
    /// Most that paid calls may cost a day, in millionths of a US dollar (K47).
    pub usd_micros_per_day: u64,
    /// Most paid web searches a day (K47).
    pub web_credits_per_day: u64,
    /// Whether paid calls go on when the counter cannot be read.
    pub spend_fail_open: bool,
    /// What `tenpass nightly` runs.
    pub nightly: Nightly,
    /// Ears and voice.
    pub speech: Speech,
    /// Sentence embeddings.
    pub embeddings: Embeddings,
}

/// Sentence embeddings, and the second computer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Embeddings {
    /// An asset, or the model's name on the second computer.
    pub model: String,
    /// The second computer.
    pub address: Option<String>,
    /// Its protocol: `openai` or `ollama`.
    pub api: String,
    /// Name of the variable with its token.
    pub key_variable: Option<String>,
}

/// Ears and voice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Speech {
    /// What writes down speech: SPEC of an engine, unparsed.
    pub stt: String,
    /// The wake word's head, when it is set.
    pub wake_head: Option<PathBuf>,
    /// SPEC of the English voice, unparsed; `None` is the best one present.
    pub voice_en: Option<String>,
    /// SPEC of the French voice.
    pub voice_fr: Option<String>,
    /// Root of ElevenLabs' API.
    pub elevenlabs: String,
    /// Name of the variable with its key.
    pub elevenlabs_key_variable: Option<String>,
    /// Its model.
    pub elevenlabs_model: String,
    /// The form of its sound.
    pub elevenlabs_format: String,
}

/// What `tenpass nightly` runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Nightly {
    /// `tools`, `rounds`, `claims`, and those of speech: `stt`, `wake`, `turn`, `barge`.
    pub benches: Vec<String>,
    /// Model SPECs, unparsed; none is the default model alone.
    pub models: Vec<String>,
    /// Only cases whose id contains one of these; none takes all.
    pub filter: Vec<String>,
    /// The smallest difference that matters, in millionths.
    pub delta_micros: u64,
}

/// Where `web_search` searches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Web {
    /// `local`, `searxng`, `brave`, `tavily` or `off`.
    pub search: String,
    /// The folder of documents that `local` searches, when it is set.
    pub documents: Option<PathBuf>,
    /// Root of the SearXNG server.
    pub searxng: String,
    /// Root of Brave's API.
    pub brave: String,
    /// Name of the variable with Brave's key.
    pub brave_key_variable: Option<String>,
    /// Root of Tavily's API.
    pub tavily: String,
    /// Name of the variable with Tavily's key.
    pub tavily_key_variable: Option<String>,
}

/// A cloud provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// `claude`, `chatgpt` or `deepseek`.
    pub name: &'static str,
    /// Root of its API.
    pub address: String,
    /// The model asked for.
    pub model: String,
    /// Name of the variable with its key.
    pub key_variable: Option<String>,
}

impl Settings {
    /// Where results are kept: the setting, or the home's folder.
    pub fn runs(&self, home: &Home) -> PathBuf {
        self.runs_dir.clone().unwrap_or_else(|| home.runs.clone())
    }

    /// Where journals, conversations, memory and files are kept: the setting, or the home's folder.
    pub fn agent(&self, home: &Home) -> PathBuf {
        self.agent_dir.clone().unwrap_or_else(|| home.agent.clone())
    }

    /// Takes the values apart. Every key of the table is there: the default file is complete.
    pub(crate) fn from_values(values: &BTreeMap<&'static str, Value>) -> Self {
        let text = |key: &str| match values.get(key) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let integer = |key: &str| match values.get(key) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let filled = |text: String| Some(text).filter(|text| !text.is_empty());
        let folder = |key: &str| match values.get(key) {
            Some(Value::Folder(path)) => path.clone(),
            _ => None,
        };
        let folders = |key: &str| match values.get(key) {
            Some(Value::Folders(paths)) => paths.clone(),
            _ => Vec::new(),
        };
        let texts = |key: &str| match values.get(key) {
            Some(Value::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        };
        let amount = |key: &str| match values.get(key) {
            Some(Value::Amount(micros)) => *micros,
            _ => 0,
        };
        let duration = |key: &str| match values.get(key) {
            Some(Value::Duration(length)) => *length,
            _ => Duration::from_mins(2),
        };
        let count = |key: &str| integer(key).and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
        let provider = |name: &'static str| Provider {
            name,
            address: text(&format!("providers.{name}")),
            model: text(&format!("providers.{name}_model")),
            key_variable: filled(text(&format!("providers.{name}_key_env"))),
        };
        Self {
            model: text("model"),
            profile: filled(text("profile")),
            offline: values.get("offline") == Some(&Value::Flag(true)),
            passes: count("bench.passes"),
            jobs: integer("bench.jobs").and_then(|jobs| usize::try_from(jobs).ok()),
            timeout: duration("bench.timeout"),
            ollama_address: text("ollama.address"),
            openai_key_variable: filled(text("openai.api_key_env")),
            runs_dir: folder("runs.dir"),
            confirm: text("agent.confirm"),
            agent_dir: folder("agent.folder"),
            rounds: count("agent.rounds"),
            turn_rounds: count("agent.turn_rounds"),
            turn_timeout: duration("agent.turn_timeout"),
            context: count("agent.context"),
            history: integer("agent.history").and_then(|count| usize::try_from(count).ok()).unwrap_or(0),
            structure: text("agent.structure"),
            tool_selection: text("agent.tools"),
            escalate: filled(text("agent.escalate")).filter(|name| name != "off"),
            files_dir: folder("files.folder"),
            read_dirs: folders("files.read"),
            cleanup_dirs: folders("files.cleanup"),
            memory_retrieval: text("memory.retrieval"),
            memory_file: folder("memory.file"),
            quiet_after: duration("memory.quiet_after"),
            web: Web {
                search: text("web.search"),
                documents: folder("web.documents"),
                searxng: text("web.searxng"),
                brave: text("web.brave"),
                brave_key_variable: filled(text("web.brave_key_env")),
                tavily: text("web.tavily"),
                tavily_key_variable: filled(text("web.tavily_key_env")),
            },
            providers: vec![provider("claude"), provider("chatgpt"), provider("deepseek")],
            usd_micros_per_day: amount("spend.usd_per_day"),
            nightly: Nightly {
                benches: texts("nightly.benches"),
                models: texts("nightly.models"),
                filter: texts("nightly.filter"),
                delta_micros: amount("nightly.delta"),
            },
            embeddings: Embeddings {
                model: text("embeddings.model"),
                address: filled(text("embeddings.address")),
                api: text("embeddings.api"),
                key_variable: filled(text("embeddings.key_env")),
            },
            speech: Speech {
                stt: text("speech.stt"),
                wake_head: folder("speech.wake_head"),
                voice_en: filled(text("speech.voice_en")),
                voice_fr: filled(text("speech.voice_fr")),
                elevenlabs: text("speech.elevenlabs"),
                elevenlabs_key_variable: filled(text("speech.elevenlabs_key_env")),
                elevenlabs_model: text("speech.elevenlabs_model"),
                elevenlabs_format: text("speech.elevenlabs_format"),
            },
            web_credits_per_day: integer("spend.web_credits_per_day")
                .and_then(|count| u64::try_from(count).ok())
                .unwrap_or(0),
            spend_fail_open: values.get("spend.fail_open") == Some(&Value::Flag(true)),
        }
    }
}

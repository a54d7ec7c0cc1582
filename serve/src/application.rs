//! What every handler shares.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tenpass_tools::assistant::AgentFolder;
use tokio::sync::Semaphore;

use crate::conversation::Conversations;
use crate::panels::settings::PageSettings;
use crate::security::{Hosts, Keys, RateLimit};
use crate::voice::Voice;

/// Sockets that may be open.
pub(crate) const MOST_SOCKETS: usize = 256;
/// Writing requests a second, and at once after a pause.
const WRITES: (f64, f64) = (20.0, 60.0);

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where it listens.
    pub address: SocketAddr,
    /// It may be reached from other machines.
    pub is_public: bool,
    /// Further names it answers to, without a port.
    pub names: Vec<String>,
    /// Read the page's files from here instead of from the binary.
    pub web_dir: Option<PathBuf>,
    /// The version that is shown.
    pub version: String,
    /// The agent's folder.
    pub folder: AgentFolder,
    /// Caps of the day, in millionths of a dollar and in searches.
    pub caps: (u64, u64),
    /// Paid calls go on when the counter cannot be read.
    pub fail_open: bool,
    /// How long a conversation is quiet before it is read again.
    pub quiet_after: Duration,
    /// How confirmations work: `panel`, `bar` or `voice`.
    pub profile: String,
    /// The memory file; `None` is the one in the folder.
    pub memory: Option<PathBuf>,
}

/// See the module.
pub struct Application {
    /// What it was started with.
    pub options: ServeOptions,
    /// The secrets of this start.
    pub keys: Keys,
    /// The names it answers to.
    pub hosts: Hosts,
    /// Threads and turns.
    pub conversations: Arc<Conversations>,
    /// What the page may change.
    pub settings: PageSettings,
    /// When it started.
    pub started: Instant,
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) writes: RateLimit,
    voice: OnceLock<Arc<dyn Voice>>,
}

impl Application {
    pub(crate) fn new(options: ServeOptions, keys: Keys, conversations: Arc<Conversations>) -> Self {
        let hosts = Hosts::new(options.address, options.is_public, &options.names);
        let settings = PageSettings::open(&options.folder);
        Self {
            options,
            keys,
            hosts,
            conversations,
            settings,
            started: Instant::now(),
            sockets: Arc::new(Semaphore::new(MOST_SOCKETS)),
            writes: RateLimit::new(WRITES.0, WRITES.1),
            voice: OnceLock::new(),
        }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.options.address.port()
    }

    /// Gives it ears and a voice, once.
    pub fn set_voice(&self, voice: Arc<dyn Voice>) -> bool {
        self.voice.set(voice).is_ok()
    }

    /// Its ears and voice.
    pub fn voice(&self) -> Option<&Arc<dyn Voice>> {
        self.voice.get()
    }

    /// Sockets that are open.
    pub fn open_sockets(&self) -> usize {
        MOST_SOCKETS - self.sockets.available_permits()
    }

    /// The address with a new one-time token.
    pub fn entrance(&self) -> std::io::Result<String> {
        let token = self.keys.new_link()?;
        let address = self.options.address;
        // A wildcard is no address that can be opened.
        let shown =
            if address.ip().is_unspecified() { format!("127.0.0.1:{}", address.port()) } else { address.to_string() };
        Ok(format!("http://{shown}/enter?token={token}"))
    }
}

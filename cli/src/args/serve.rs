//! `tenpass serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

use super::agent::AssistantFlags;

const HELP: &str = "\
Prints one address with a token that works once; open it in a browser. The page works on the embedded
default without any configuration. Ctrl-C ends it: what runs is stopped, what was said is kept.

Everything is answered on this machine only, unless --public is given.

Examples:
  tenpass serve
  tenpass serve --open --model ollama:gemma4:12b
  tenpass serve --link
  tenpass serve --host 0.0.0.0 --public --name desk.local
  tenpass serve --wyoming
  tenpass serve --role embeddings --host 192.168.1.20 --public --port 8441";

/// The port unless told.
pub(crate) const PORT: u16 = 8440;

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Role {
    /// The assistant.
    #[default]
    Assistant,
    /// Sentence embeddings for another computer.
    Embeddings,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) assistant: AssistantFlags,
    /// The port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub(crate) port: u16,
    /// The address to listen on; other than 127.0.0.1 needs --public
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Other machines may reach it: what is said crosses the network unencrypted
    #[arg(long)]
    pub(crate) public: bool,
    /// A name that it answers to besides numbers, with --public; repeat it for several
    #[arg(long, value_name = "NAME", requires = "public")]
    pub(crate) name: Vec<String>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print a new address of the server that runs, and leave
    #[arg(long)]
    pub(crate) link: bool,
    /// Also serve wake words, speech to text, text to speech and the agent over the Wyoming protocol, which knows no
    /// password; without an address 127.0.0.1:10300
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:10300")]
    pub(crate) wyoming: Option<std::net::SocketAddr>,
    /// What this computer does: everything, or sentence embeddings for another one
    #[arg(long, value_enum, default_value_t, value_name = "ROLE")]
    pub(crate) role: Role,
    /// Read the page's files from this folder instead of the binary, for work on them
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) web_dir: Option<PathBuf>,
}

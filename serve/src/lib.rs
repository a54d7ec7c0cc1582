//! The assistant as a server: one page, one socket, panels and routes for programs, over the loop of
//! `tenpass-agent` and the assistant of `tenpass-tools`. The contract with the page and with other
//! programs is `serve/PROTOCOL.md`; the page's files are in `serve/web`.
//!
//! ```text
//! browser ─► server (accept, caps) ─► security (gate, headers) ─► panels · files · page
//!                                                        └──────► socket ─► conversation ─► Assistant
//! ```
//! Rooms:
//! - [`server`](mod@server): binding, the routes, connections with their caps, the end.
//! - [`security`]: who may ask, and from where.
//! - [`socket`]: one client; what it may say, what waits for it.
//! - [`conversation`]: threads, running turns, confirmations, commands, judgements.
//! - [`panels`]: threads, memory, journals, watchdog, spend, capabilities, runtime, files, settings.
//! - [`model`]: the model, loaded in the background. [`records`]: what the journals say.
//! - [`markdown`]: answers as HTML that can do nothing. [`text`]: texts on their way out.
//! - [`page`](mod@page): the embedded files. [`metrics`], [`state_file`]: counts for others.
//! - [`voice`]: where the voice turn joins.
//!
//! Nothing in here reads settings, prints or loads a model: the caller gives [`ServeOptions`], an
//! open [`tenpass_tools::assistant::LiveStore`] and a [`model::Load`].

pub mod application;
pub mod conversation;
pub mod error;
pub mod markdown;
pub mod metrics;
pub mod model;
pub mod page;
pub mod panels;
pub mod programs;
pub mod records;
pub mod security;
pub mod server;
pub mod socket;
pub mod state_file;
pub mod text;
pub mod voice;

pub use application::{Application, ServeOptions};
pub use model::{Load, LoadFailure};
pub use server::{ServeError, Server};

//! The page's socket: text frames are JSON with a `type`, binary frames are sound.
//!
//! - [`Incoming`]: what a client may say, parsed and bounded.
//! - [`Outbox`]: what waits to be sent; a client that does not read is dropped.
//! - [`connection`]: one client from the upgrade to its end.

mod connection;
mod incoming;
mod outbox;
mod stalling;

pub(crate) use connection::upgrade;
pub use incoming::{Incoming, Malformed, Think, VoiceMessage};
pub use outbox::Outbox;
pub(crate) use stalling::Stalling;

//! A server of the Wyoming protocol: wake words, speech to text, text to speech, and the agent, for Home Assistant
//! and whatever else speaks it.
//!
//! An event is a line of JSON, then data as JSON, then a payload ([`frame`]). One connection may use every service:
//! what a client sent last (`transcribe`, `detect`) says where its sound goes ([`server`](serve)).
//!
//! The protocol knows no password. Whoever can reach the port can listen and speak; the agent behind it must
//! therefore do nothing that needs an approval ([`Agent`]).

pub mod frame;

mod connection;
mod describe;
mod recognise;
mod serve;
mod services;
mod speak;
mod wake;

pub use frame::{Event, FrameError};
pub use serve::{MOST_CONNECTIONS, serve};
pub use services::{Agent, Answer, Asked, NamedVoice, OpenDetector, Services, WakeService, WakeWord};

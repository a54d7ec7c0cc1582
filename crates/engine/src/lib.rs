//! The embedded model: a GGUF file, run inside this process on the CPU.
//!
//! What it is built for: many passes of one prompt, and many prompts with one prefix. A prompt's
//! keys and values are evaluated once and shared ([`cache`]); passes with the same history are one
//! row of the batch until they differ ([`scheduler`]); attention reads a shared prefix once for
//! all rows ([`attention`]); and matrices use 8-bit kernels where the processor has them
//! ([`kernels`]).
//!
//! Data: a [`tenpass_model::ChatRequest`] is rendered by the file's chat template, tokenised,
//! queued to the engine's thread, and comes back as events. Dropping the stream removes the pass
//! from the batch before the next step.

mod attention;
mod cache;
mod config;
mod embedded;
mod forward;
mod gguf;
mod grammar;
mod kernels;
mod output;
mod sampler;
mod scheduler;
mod template;
mod tokenizer;
mod weights;

pub use embedded::{EmbeddedModel, LoadOptions};
pub use scheduler::EngineCounters;

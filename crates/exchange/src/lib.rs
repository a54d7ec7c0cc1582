//! Formats of others.
//!
//! ```text
//! a run ─► inspect (.eval), junit, rows (CSV and Parquet by way of `tenpass-frame`)
//! inspect (.eval, .json), llama_tool_bench ─► a run in the store
//! ```
//! What comes from others is checked within limits of size, depth and number; a fault is named with its file,
//! line or entry, and field. What a source does not know stays empty.

mod error;
pub mod inspect;
pub mod junit;
pub mod llama_tool_bench;
mod names;
pub mod promptfoo;
pub mod rows;
mod source;
pub mod tau2;

pub use error::ExchangeError;
pub use source::Source;

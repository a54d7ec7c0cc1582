//! Recorded answers: a model that reads them from a file.
//!
//! The file is JSONL, one answer a line; empty lines and lines that start with `#` are left out.
//! ```json
//! {"match":{"case":"ID"},"text":"Yes.","calls":[{"name":"lamp","arguments":{"on":true}}],"finish":"stop"}
//! ```
//! | field | meaning |
//! |---|---|
//! | `match` | `null` or absent matches every request; else every named condition must hold: `case` (the request's label), `contains` (text in any message), `request` (the digest that `tenpass` prints, see [`request_digest`]), `seed` |
//! | `text`, `thinking`, `calls` | the answer; a call is `{"id"?,"name","arguments"}` |
//! | `finish` | `stop`, `length`, `tool_calls`, `other`; default by whether there are calls |
//! | `chunks` | in how many pieces the text comes; default 1 |
//! | `delay_ms` | wait before each piece |
//! | `error` | the fault that ends the answer instead of its end: a text, or a [`ModelError`](crate::ModelError) as `{"kind":…}` |
//! | `prompt_tokens`, `cached_tokens`, `completion_tokens` | the reported usage |
//!
//! A line `{"model":{…}}` (a [`ModelInfo`](crate::ModelInfo)) says what the recorded model was;
//! without one the replay claims every capability.
//! The lines that match a request are used in their order, and over again after the last, counted
//! for each distinct request (its seed left out): pass k of a case gets the k-th recorded answer.

mod file;
mod model;

pub use file::{Answer, Match, request_digest};
pub use model::ReplayModel;

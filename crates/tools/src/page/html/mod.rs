//! Hostile HTML → readable text.
//!
//! bytes → [`decode`](charset::decode) → [`lexer`] (linear, no tree) → [`tame`] (a small, balanced,
//! shallow document: known elements, few attributes, nothing a reader would not see) → readability
//! → text. Tree builders take quadratic time or deep recursion on documents made for it; they are
//! only ever given what `tame` wrote.

mod article;
pub(crate) mod charset;
mod lexer;
mod tame;

pub(crate) use article::{Readable, read};

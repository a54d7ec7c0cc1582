//! SQLite: conversations, exchanges, provider answers, the spending ledger (K53), and a full-text
//! index of documents.

mod columns;
mod connection;
mod error;
mod fulltext;
mod migrations;
mod terms;

pub use error::DatabaseError;
pub use fulltext::{DOCUMENT_BYTES, Document, FullTextIndex, Hit};

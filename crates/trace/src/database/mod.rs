//! SQLite: conversations, exchanges, provider answers, the spending ledger (K53), and a full-text
//! index of documents.
//!
//! - One file for the conversations ([`Database`]), another for each index of documents
//!   ([`FullTextIndex`]). Instants are RFC 3339 UTC text with milliseconds, money is millionths in
//!   integers, enums are their serde names. Tables are `STRICT`.
//! - Migrations are named, ordered and recorded in the file ([`DatabaseError::Newer`] refuses a file
//!   of a later version). The statements stand in `schema/`.
//! - Texts and arguments have been masked before they come here (K46).

mod columns;
mod connection;
mod conversations;
mod error;
mod exchanges;
mod fulltext;
mod handle;
mod heads;
mod marks;
mod migrations;
mod providers;
mod recall;
mod spending;
mod terms;
mod tool_turns;
mod window;

pub use conversations::{StoredMessage, ThreadSummary};
pub use error::DatabaseError;
pub use exchanges::{Exchange, JudgedExchange, Usage, Verdict, VerdictSource};
pub use fulltext::{DOCUMENT_BYTES, Document, FullTextIndex, Hit};
pub use handle::{CHAT_LOG_ROWS, Clock, Database, DatabaseOptions};
pub use marks::QuietThread;
pub use providers::{NewProviderAnswer, ProviderAnswer, provider_signature};
pub use recall::MessageHit;
pub use spending::{Reservation, SpendError, SpendKind, Spent};
pub use tool_turns::{ConfirmationLabel, ExportableTurn, ToolTurn};
pub use window::{INTERRUPTED_MARK, WINDOW_MESSAGES};

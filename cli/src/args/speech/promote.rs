//! `tenpass promote …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::shadow::Which;
use crate::args::TextOrJson;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Promote {
    /// Show the four conditions with their numbers, what is in service, and every decision so far
    #[command(after_help = "Example:\n  tenpass promote status wake --golden corpora/golden")]
    Status(Status),
    /// Put the candidate into service; refused while a condition does not hold
    #[command(after_help = "Example:\n  tenpass promote accept wake --candidate kora-2.onnx --golden corpora/golden")]
    Accept(Accept),
    /// Turn the candidate down; its measurements stay in the record
    #[command(after_help = "Example:\n  tenpass promote reject wake --reason \"wakes on the radio\"")]
    Reject(Reject),
    /// Put the previous head back into service
    #[command(after_help = "Example:\n  tenpass promote rollback wake")]
    Rollback(Rollback),
}

/// What is promoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// The head of the wake word.
    Wake,
}

/// What the candidate is judged by.
#[derive(Debug, Args)]
pub(crate) struct Judged {
    /// What is promoted
    #[arg(value_enum)]
    pub(crate) what: What,
    #[command(flatten)]
    pub(crate) which: Which,
    /// The frozen corpus with the wake word that both heads have to hear
    #[arg(long, value_name = "DIR")]
    pub(crate) golden: Option<PathBuf>,
    /// Voices of the golden corpus that are the user's; without it all are
    #[arg(long, value_name = "VOICE")]
    pub(crate) own: Vec<String>,
}

/// Arguments of `promote status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) judged: Judged,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `promote accept`.
#[derive(Debug, Args)]
pub(crate) struct Accept {
    #[command(flatten)]
    pub(crate) judged: Judged,
    /// Accept although conditions do not hold; the reason is recorded
    #[arg(long, value_name = "REASON")]
    pub(crate) despite: Option<String>,
}

/// Arguments of `promote reject`.
#[derive(Debug, Args)]
pub(crate) struct Reject {
    #[command(flatten)]
    pub(crate) judged: Judged,
    /// Why; it is recorded
    #[arg(long, value_name = "REASON")]
    pub(crate) reason: String,
}

/// Arguments of `promote rollback`.
#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// What is promoted
    #[arg(value_enum)]
    pub(crate) what: What,
    /// The folder of the head in service, its record and the shadow logs
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

//! What a provider gave, and the faults of a stream.

use super::Provider;

/// Longest answer that is read, in bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Of the prompt, cached ones included.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// An answer, new or stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Who wrote it.
    pub provider: Provider,
    /// The text. Untrusted.
    pub text: String,
    /// The answer reached its token limit.
    pub is_cut: bool,
    /// Millionths of a US dollar that this call cost; 0 for one that was paid for before.
    pub cost_micros: u64,
    /// The same call had been answered before (K73).
    pub deduplicated: bool,
    /// It could not be stored, and why: it cannot be recalled later.
    pub not_stored: Option<String>,
}

/// A finished stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Finished {
    pub(super) text: String,
    pub(super) is_cut: bool,
    /// `None` when the server did not count.
    pub(super) usage: Option<TokenUsage>,
}

/// What is wrong with a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StreamFault {
    /// The server reported an error in it.
    Reported(String),
    /// It ended before the answer did.
    Truncated,
    /// It is not the protocol.
    Protocol(String),
}

/// Reads one answer from the bytes of a stream.
pub(super) trait Reader: Send {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), StreamFault>;

    /// True once the answer is complete: later bytes do not matter.
    fn is_done(&self) -> bool;

    /// The end of the stream.
    fn end(self: Box<Self>) -> Result<Finished, StreamFault>;
}

impl From<tenpass_model::decode::Fault> for StreamFault {
    fn from(fault: tenpass_model::decode::Fault) -> Self {
        use tenpass_model::decode::Fault;
        match fault {
            Fault::Server { message, .. } => Self::Reported(message),
            Fault::Protocol(what) => Self::Protocol(what),
            Fault::Truncated => Self::Truncated,
        }
    }
}

/// Adds a piece of text within the cap.
pub(super) fn push(text: &mut String, piece: &str) -> Result<(), StreamFault> {
    text.push_str(piece);
    if text.len() > MAX_ANSWER_BYTES {
        return Err(StreamFault::Protocol("an answer without end".to_owned()));
    }
    Ok(())
}

//! Token ids to text, one at a time, never cutting a character.

use std::sync::Arc;

use super::Tokenizer;

/// The text of one answer as it grows.
#[derive(Clone)]
pub(crate) struct Detokenizer {
    tokenizer: Arc<Tokenizer>,
    pending: Vec<u8>,
}

impl Detokenizer {
    /// The text of a new answer.
    pub(crate) fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, pending: Vec::new() }
    }

    /// Adds a token and returns what can be read now. Bytes that cannot become a character are
    /// replaced by U+FFFD; bytes that still can are kept back.
    pub(crate) fn push(&mut self, id: u32) -> String {
        self.pending.extend_from_slice(self.tokenizer.token_bytes(id));
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.pending) {
                Ok(rest) => {
                    text.push_str(rest);
                    self.pending.clear();
                    return text;
                }
                Err(error) => {
                    let valid = error.valid_up_to();
                    text.push_str(&String::from_utf8_lossy(&self.pending[..valid]));
                    let Some(broken) = error.error_len() else {
                        self.pending.drain(..valid);
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.pending.drain(..valid + broken);
                }
            }
        }
    }

    /// What was kept back at the end of the answer.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

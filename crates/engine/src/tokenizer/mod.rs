//! The model's own tokenizer, built from its GGUF.
//!
//! Two families: byte-level BPE (`gpt2`, and its raw UTF-8 variant `gemma4`) with the
//! pre-tokenizer that `tokenizer.ggml.pre` names, and SentencePiece-style BPE by scores
//! (`llama`) with byte fallback. Token ids equal those of llama.cpp; golden vectors in the tests
//! hold that.
//!
//! Special tokens come in two kinds. *Markers* (control tokens, and user-defined ones that the
//! chat template or a tool-call format uses) carry structure: text that came from outside must
//! not produce them. [`Tokenizer::encode_guarded`] recognises them in what
//! the program wrote, and [`Tokenizer::guard`] breaks them inside untrusted text before a template is rendered with it.
//! *Plain* user-defined tokens (runs of blanks or line ends, HTML tags) are ordinary vocabulary
//! and are recognised everywhere.

mod bpe;
mod detokenizer;
mod load;
mod merge;
mod pretokenizer;
mod sentencepiece;
mod special;

pub(crate) use detokenizer::Detokenizer;

use bpe::Bpe;
use sentencepiece::SentencePiece;
use special::{Markers, Piece};

/// What a token is, as `tokenizer.ggml.token_type` stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A piece of text.
    Normal,
    /// Stands for what the vocabulary cannot write.
    Unknown,
    /// Structure: never produced from untrusted text.
    Control,
    /// A text that is always one token.
    UserDefined,
    /// A placeholder.
    Unused,
    /// One byte of a SentencePiece vocabulary.
    Byte,
}

enum Algorithm {
    Bpe(Bpe),
    SentencePiece(SentencePiece),
}

/// Text to token ids and back.
pub(crate) struct Tokenizer {
    algorithm: Algorithm,
    kinds: Vec<TokenKind>,
    /// All tokens' bytes end to end; token `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    markers: Markers,
    plain: Markers,
    bos: Option<u32>,
    eos: Option<u32>,
    ends: Vec<u32>,
    add_bos: bool,
    space_prefix: bool,
}

impl Tokenizer {
    /// Ids of `text`. With `special`, the text of a marker becomes that marker: only for text this
    /// program wrote. Neither a begin nor an end token is added.
    #[cfg(test)]
    pub(crate) fn encode(&self, text: &str, special: bool) -> Vec<u32> {
        let mut ids = Vec::new();
        if special {
            self.encode_marked(text, None, &mut ids);
        } else {
            self.encode_plain(text, true, &mut ids);
        }
        ids
    }

    /// Ids of a rendered prompt in which [`Tokenizer::guard`] put `guard` into untrusted text: the
    /// guard is left out, and what it broke does not become a marker.
    pub(crate) fn encode_guarded(&self, text: &str, guard: char) -> Vec<u32> {
        let mut ids = Vec::new();
        self.encode_marked(text, Some(guard), &mut ids);
        ids
    }

    /// Ids of text that continues other text: no space is put in front of it.
    pub(crate) fn encode_continuation(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        self.encode_plain(text, false, &mut ids);
        ids
    }

    /// `text` with `guard` inside every marker that it contains, and at its edges where a marker
    /// could come together with what stands beside it.
    pub(crate) fn guard(&self, text: &str, guard: char) -> String {
        self.markers.guard(text, guard, true)
    }

    /// As [`Tokenizer::guard`], but a text without a marker inside stays as it is.
    pub(crate) fn guard_inside(&self, text: &str, guard: char) -> String {
        self.markers.guard(text, guard, false)
    }

    /// The bytes a token stands for; a special token's are its text.
    pub(crate) fn token_bytes(&self, id: u32) -> &[u8] {
        let id = id as usize;
        match (self.offsets.get(id), self.offsets.get(id + 1)) {
            (Some(&start), Some(&end)) => &self.bytes[start as usize..end as usize],
            _ => &[],
        }
    }

    /// What a token is.
    pub(crate) fn kind(&self, id: u32) -> TokenKind {
        self.kinds.get(id as usize).copied().unwrap_or(TokenKind::Unused)
    }

    /// True for a token that carries structure rather than text.
    pub(crate) fn is_marker(&self, id: u32) -> bool {
        matches!(self.kind(id), TokenKind::Control | TokenKind::Unknown) || self.markers.contains(id)
    }

    /// True when this token ends an answer.
    pub(crate) fn is_end(&self, id: u32) -> bool {
        self.ends.binary_search(&id).is_ok()
    }

    /// Every token that ends an answer, ascending.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Number of tokens.
    pub(crate) fn vocab_size(&self) -> usize {
        self.kinds.len()
    }

    /// The token that begins a text.
    pub(crate) fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// The token that the file declares as the end.
    pub(crate) fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// True when every prompt starts with [`Tokenizer::bos`].
    pub(crate) fn adds_bos(&self) -> bool {
        self.add_bos && self.bos.is_some()
    }

    /// A token's text for templates, such as the begin token's.
    pub(crate) fn token_text(&self, id: Option<u32>) -> String {
        id.map(|id| String::from_utf8_lossy(self.token_bytes(id)).into_owned()).unwrap_or_default()
    }

    fn encode_marked(&self, text: &str, guard: Option<char>, ids: &mut Vec<u32>) {
        let mut starts = true;
        self.markers.split(text, |piece| match piece {
            Piece::Token(id) => {
                ids.push(id);
                starts = true;
            }
            Piece::Text(text) => {
                match guard.filter(|guard| text.contains(*guard)) {
                    Some(guard) => self.encode_plain(&text.replace(guard, ""), starts, ids),
                    None => self.encode_plain(text, starts, ids),
                }
                starts = false;
            }
        });
    }

    /// `starts`: the text stands at the beginning or after a special token, where SentencePiece
    /// vocabularies may want a space.
    fn encode_plain(&self, text: &str, starts: bool, ids: &mut Vec<u32>) {
        let mut starts = starts;
        self.plain.split(text, |piece| match piece {
            Piece::Token(id) => {
                ids.push(id);
                starts = true;
            }
            Piece::Text(text) => {
                match &self.algorithm {
                    Algorithm::Bpe(bpe) => bpe.encode(text, ids),
                    Algorithm::SentencePiece(model) => model.encode(text, starts && self.space_prefix, ids),
                }
                starts = false;
            }
        });
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

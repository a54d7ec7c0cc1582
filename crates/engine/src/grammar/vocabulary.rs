//! The model's vocabulary as llguidance wants it.

use std::collections::HashSet;
use std::sync::Arc;

use toktrie::{INVALID_TOKEN, TokRxInfo, TokTrie, TokenizerEnv};

use crate::tokenizer::{TokenKind, Tokenizer};

/// The trie over all tokens, and the tokenizer that cuts forced text.
pub(super) struct Vocabulary {
    tokenizer: Arc<Tokenizer>,
    trie: TokTrie,
}

impl Vocabulary {
    pub(super) fn new(tokenizer: Arc<Tokenizer>) -> Self {
        let words = words(&tokenizer);
        let ends = tokenizer.ends();
        let first = tokenizer.eos().filter(|eos| tokenizer.is_end(*eos)).or(ends.first().copied());
        let mut info = TokRxInfo::new(words.len() as u32, first.unwrap_or(INVALID_TOKEN));
        info.tok_bos = tokenizer.bos();
        let mut trie = TokTrie::from(&info, &words);
        if let Some(first) = first {
            let mut ordered = vec![first];
            ordered.extend(ends.iter().copied().filter(|end| *end != first));
            trie = trie.with_eos_tokens(&ordered);
        }
        Self { tokenizer, trie }
    }
}

/// Each token's bytes. A special token's stand behind a byte that no text contains, so no grammar
/// allows it; of two tokens with the same bytes only the one that the tokenizer would use counts.
fn words(tokenizer: &Tokenizer) -> Vec<Vec<u8>> {
    let ids = 0..tokenizer.vocab_size() as u32;
    let normal: HashSet<&[u8]> =
        ids.clone().filter(|id| tokenizer.kind(*id) == TokenKind::Normal).map(|id| tokenizer.token_bytes(id)).collect();
    let word = |id: u32| {
        let bytes = tokenizer.token_bytes(id);
        match tokenizer.kind(id) {
            _ if tokenizer.is_marker(id) => special(bytes),
            TokenKind::Unused => special(bytes),
            TokenKind::Byte if normal.contains(bytes) => Vec::new(),
            _ => bytes.to_vec(),
        }
    };
    ids.map(word).collect()
}

fn special(bytes: &[u8]) -> Vec<u8> {
    let mut word = vec![TokTrie::SPECIAL_TOKEN_MARKER];
    word.extend_from_slice(bytes);
    word
}

impl TokenizerEnv for Vocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    /// The model's own cut of the text; what is not UTF-8 (the start of a character that is not
    /// all forced) is cut greedily.
    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        for chunk in bytes.utf8_chunks() {
            ids.extend(self.tokenizer.encode_continuation(chunk.valid()));
            if !chunk.invalid().is_empty() {
                ids.extend(self.trie.greedy_tokenize(chunk.invalid()));
            }
        }
        ids
    }
}

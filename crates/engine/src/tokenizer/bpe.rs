//! Byte-pair encoding by a list of merges, over bytes or over raw characters.

use std::collections::HashMap;

use super::merge::{NONE, Symbol, merge, survivors};
use super::pretokenizer::Pretokenizer;

/// What a word is cut into before merging.
pub(super) enum Units {
    /// Single bytes, written in the vocabulary as the characters of [`byte_to_char`].
    Bytes,
    /// Characters, with blanks written `▁` and bytes of unknown characters written `<0x..>`.
    Characters(HashMap<char, u32>),
}

/// Pair of tokens → (rank, merged token).
pub(super) type Merges = HashMap<(u32, u32), (u32, u32)>;

/// A BPE vocabulary.
pub(super) struct Bpe {
    pub(super) pretokenizer: Pretokenizer,
    pub(super) units: Units,
    /// Token of each single byte.
    pub(super) bytes: Box<[Option<u32>; 256]>,
    pub(super) merges: Merges,
    /// Words that are a token as a whole, whatever the merges say.
    pub(super) words: HashMap<Box<str>, u32>,
}

impl Bpe {
    pub(super) fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        let escaped;
        let text = match self.units {
            Units::Bytes => text,
            Units::Characters(_) => {
                escaped = text.replace(' ', "▁");
                &escaped
            }
        };
        let mut symbols = Vec::new();
        self.pretokenizer.split(text, |word| {
            if let Some(&id) = self.words.get(word) {
                ids.push(id);
                return;
            }
            symbols.clear();
            self.symbols(word, &mut symbols);
            merge(&mut symbols, |left, right| self.merges.get(&(left.id, right.id)).copied());
            for symbol in survivors(&symbols) {
                match symbol.id {
                    NONE => ids.extend(self.fallback(&word[symbol.start as usize..symbol.end as usize])),
                    id => ids.push(id),
                }
            }
        });
    }

    fn symbols(&self, word: &str, symbols: &mut Vec<Symbol>) {
        match &self.units {
            Units::Bytes => symbols.extend(word.bytes().enumerate().filter_map(|(index, byte)| {
                // A byte without a token cannot be written at all; llama.cpp drops it, too.
                self.bytes[byte as usize].map(|id| Symbol::new(index, index + 1, id))
            })),
            Units::Characters(ids) => symbols.extend(word.char_indices().map(|(index, character)| {
                Symbol::new(index, index + character.len_utf8(), ids.get(&character).copied().unwrap_or(NONE))
            })),
        }
    }

    fn fallback<'a>(&'a self, text: &'a str) -> impl Iterator<Item = u32> + 'a {
        text.bytes().filter_map(|byte| self.bytes[byte as usize])
    }
}

/// The printable character that stands for a byte in GPT-2's vocabulary.
pub(super) fn byte_to_char(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if printable(byte) {
        return char::from(byte);
    }
    let index = (0..byte).filter(|&byte| !printable(byte)).count() as u32;
    char::from_u32(256 + index).unwrap_or(char::REPLACEMENT_CHARACTER)
}

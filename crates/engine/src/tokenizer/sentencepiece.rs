//! SentencePiece-style BPE: neighbours merge when their text is a token, the best score first.

use std::collections::HashMap;

use super::merge::{NONE, Symbol, merge, survivors};

/// A SentencePiece vocabulary.
pub(super) struct SentencePiece {
    /// Text → (key of its score, token). Only tokens that text may become.
    tokens: HashMap<Box<str>, (u32, u32)>,
    bytes: Box<[Option<u32>; 256]>,
    unknown: Option<u32>,
}

impl SentencePiece {
    /// `tokens` are texts (blanks written `▁`), scores and ids.
    pub(super) fn new<'a>(
        tokens: impl Iterator<Item = (&'a str, f32, u32)>,
        bytes: Box<[Option<u32>; 256]>,
        unknown: Option<u32>,
    ) -> Self {
        let tokens = tokens.map(|(text, score, id)| (text.into(), (key(score), id))).collect();
        Self { tokens, bytes, unknown }
    }

    pub(super) fn encode(&self, text: &str, space_prefix: bool, ids: &mut Vec<u32>) {
        let mut escaped = String::with_capacity(text.len() + text.len() / 4);
        if space_prefix {
            escaped.push('▁');
        }
        escaped.extend(text.chars().map(|character| if character == ' ' { '▁' } else { character }));
        let text = &escaped;
        let token = |start: usize, end: usize| self.tokens.get(&text[start..end]);
        let mut symbols: Vec<Symbol> = text
            .char_indices()
            .map(|(start, character)| {
                let end = start + character.len_utf8();
                Symbol::new(start, end, token(start, end).map_or(NONE, |(_, id)| *id))
            })
            .collect();
        merge(&mut symbols, |left, right| token(left.start as usize, right.end as usize).copied());
        for symbol in survivors(&symbols) {
            match symbol.id {
                NONE => self.fallback(&text[symbol.start as usize..symbol.end as usize], ids),
                id => ids.push(id),
            }
        }
    }

    fn fallback(&self, text: &str, ids: &mut Vec<u32>) {
        for byte in text.bytes() {
            match self.bytes[byte as usize] {
                Some(id) => ids.push(id),
                None => return ids.extend(self.unknown),
            }
        }
    }
}

/// A number that is smaller the better the score is.
fn key(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    // Order-preserving map of floats to integers, then turned round.
    let ascending = if bits >> 31 == 1 { !bits } else { bits | 0x8000_0000 };
    !ascending
}

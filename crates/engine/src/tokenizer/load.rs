//! From a GGUF's `tokenizer.ggml.*` entries to a [`Tokenizer`].

use std::collections::{HashMap, HashSet};

use tenpass_model::ModelError;

use super::bpe::{Bpe, Merges, Units, byte_to_char};
use super::pretokenizer::Pretokenizer;
use super::sentencepiece::SentencePiece;
use super::special::Markers;
use super::{Algorithm, TokenKind, Tokenizer};
use crate::gguf::Gguf;

/// Token ids must fit the 24 bits that the grammar's trie gives them.
const MAX_VOCABULARY: usize = 1 << 23;

/// Texts of tokens that end an answer, whatever the file declares as its end token.
const ENDS: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

/// Metadata keys of further tokens that end an answer.
const END_KEYS: &[&str] = &["eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"];

/// User-defined tokens of tool-call and thinking formats: structure even where the chat template
/// does not mention them, because this crate's own tool block does.
const STRUCTURE: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<tools>",
    "</tools>",
    "<think>",
    "</think>",
    "<tool_calls>",
    "</tool_calls>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
];

impl Tokenizer {
    /// Builds the tokenizer that `gguf` describes.
    pub(crate) fn from_gguf(gguf: &Gguf) -> Result<Self, ModelError> {
        let vocabulary = Vocabulary::read(gguf)?;
        let model = gguf.string("tokenizer.ggml.model")?;
        let pre = match model {
            "gemma4" => "gemma4",
            _ => gguf.optional_string("tokenizer.ggml.pre")?.unwrap_or_default(),
        };
        let algorithm = match model {
            "gpt2" | "gemma4" => Algorithm::Bpe(vocabulary.bpe(gguf, pre)?),
            "llama" => Algorithm::SentencePiece(vocabulary.sentencepiece(gguf)?),
            other => return Err(gguf.error(format!("the tokenizer model `{other}` is not supported"))),
        };
        vocabulary.finish(gguf, algorithm, pre)
    }
}

/// Texts and kinds of all tokens, before they are indexed.
struct Vocabulary<'a> {
    texts: Vec<&'a str>,
    kinds: Vec<TokenKind>,
    ids: HashMap<&'a str, u32>,
}

impl<'a> Vocabulary<'a> {
    fn read(gguf: &'a Gguf) -> Result<Self, ModelError> {
        let key = "tokenizer.ggml.tokens";
        let texts = gguf.optional_strings(key)?.ok_or_else(|| gguf.error(format!("metadata `{key}` is missing")))?;
        if texts.is_empty() || texts.len() > MAX_VOCABULARY {
            return Err(gguf.error(format!("metadata `{key}` has {} entries", texts.len())));
        }
        let ids: HashMap<&str, u32> = texts.iter().zip(0..).map(|(text, id)| (*text, id)).collect();
        let mut kinds = vec![TokenKind::Normal; texts.len()];
        if let Some(types) = gguf.optional_integers("tokenizer.ggml.token_type")? {
            if types.len() != texts.len() {
                let (have, want) = (types.len(), texts.len());
                return Err(gguf.error(format!("`tokenizer.ggml.token_type` has {have} entries for {want} tokens")));
            }
            kinds = types.into_iter().map(kind).collect();
        }
        for end in ENDS {
            if let Some(&id) = ids.get(end) {
                kinds[id as usize] = TokenKind::Control; // some converters forget to mark it
            }
        }
        Ok(Self { texts, kinds, ids })
    }

    fn bpe(&self, gguf: &Gguf, pre: &str) -> Result<Bpe, ModelError> {
        let pretokenizer = Pretokenizer::named(pre)
            .map_err(|error| gguf.error(format!("pre-tokenizer `{pre}`: {error}")))?
            .ok_or_else(|| gguf.error(format!("the pre-tokenizer `{pre}` is not known")))?;
        let raw = matches!(pre, "gemma4" | "sarvam-moe");
        let (units, bytes) = if raw {
            let single = |text: &str| {
                let mut characters = text.chars();
                characters.next().filter(|_| characters.next().is_none())
            };
            let characters = self.textual().filter_map(|(text, id)| Some((single(text)?, id))).collect();
            (Units::Characters(characters), self.bytes(|byte| format!("<0x{byte:02X}>")))
        } else {
            (Units::Bytes, self.bytes(|byte| byte_to_char(byte).to_string()))
        };
        let words = if matches!(
            pre,
            "llama3"
                | "llama-v3"
                | "llama-bpe"
                | "falcon3"
                | "falcon-h1"
                | "pixtral"
                | "midm-2.0"
                | "lfm2"
                | "jina-v5-nano"
                | "tekken"
                | "minicpm5"
        ) {
            self.textual().filter_map(|(text, id)| Some((byte_text(text)?.into(), id))).collect()
        } else if raw {
            let lines = |text: &str| text.bytes().all(|byte| byte == b'\n');
            self.textual().filter(|(text, _)| lines(text)).map(|(text, id)| (text.into(), id)).collect()
        } else {
            HashMap::new()
        };
        Ok(Bpe { pretokenizer, units, bytes, merges: self.merges(gguf)?, words })
    }

    /// Ranks by pair. A merge whose parts or result are not tokens can never happen.
    fn merges(&self, gguf: &Gguf) -> Result<Merges, ModelError> {
        let key = "tokenizer.ggml.merges";
        let lines = gguf.optional_strings(key)?.ok_or_else(|| gguf.error(format!("metadata `{key}` is missing")))?;
        let mut merges = HashMap::with_capacity(lines.len());
        let mut joined = String::new();
        for (line, rank) in lines.iter().zip(0..) {
            // The first character may itself be a blank in raw vocabularies.
            let first = line.chars().next().map_or(0, char::len_utf8);
            let Some(cut) = line[first..].find(' ').map(|cut| cut + first) else {
                return Err(gguf.error(format!("merge {rank} of `{key}` is not two tokens: {line:?}")));
            };
            let (left, right) = (&line[..cut], &line[cut + 1..]);
            joined.clear();
            joined.push_str(left);
            joined.push_str(right);
            let ids = (self.ids.get(left), self.ids.get(right), self.ids.get(joined.as_str()));
            if let (Some(&left), Some(&right), Some(&merged)) = ids {
                merges.entry((left, right)).or_insert((rank, merged));
            }
        }
        Ok(merges)
    }

    fn sentencepiece(&self, gguf: &Gguf) -> Result<SentencePiece, ModelError> {
        let key = "tokenizer.ggml.scores";
        let scores = gguf.optional_floats(key)?.ok_or_else(|| gguf.error(format!("metadata `{key}` is missing")))?;
        if scores.len() != self.texts.len() {
            let (have, want) = (scores.len(), self.texts.len());
            return Err(gguf.error(format!("`{key}` has {have} entries for {want} tokens")));
        }
        let tokens = self.textual().map(|(text, id)| (text, scores[id as usize], id));
        let unknown = self.special(gguf, "unknown")?;
        Ok(SentencePiece::new(tokens, self.bytes(|byte| format!("<0x{byte:02X}>")), unknown))
    }

    /// Tokens that ordinary text may become by merging.
    fn textual(&self) -> impl Iterator<Item = (&'a str, u32)> {
        let tokens = self.texts.iter().zip(&self.kinds).zip(0..);
        tokens
            .filter(|((_, kind), _)| matches!(kind, TokenKind::Normal | TokenKind::Unused))
            .map(|((text, _), id)| (*text, id))
    }

    fn bytes(&self, name: impl Fn(u8) -> String) -> Box<[Option<u32>; 256]> {
        Box::new(std::array::from_fn(|byte| self.ids.get(name(byte as u8).as_str()).copied()))
    }

    /// The id under `tokenizer.ggml.<name>_token_id`; one outside the vocabulary counts as absent.
    fn special(&self, gguf: &Gguf, name: &str) -> Result<Option<u32>, ModelError> {
        let id = gguf.optional_unsigned(&format!("tokenizer.ggml.{name}_token_id"))?;
        Ok(id.filter(|&id| (id as usize) < self.texts.len()))
    }

    fn finish(self, gguf: &Gguf, algorithm: Algorithm, pre: &str) -> Result<Tokenizer, ModelError> {
        let sentencepiece = matches!(algorithm, Algorithm::SentencePiece(_));
        let (bos, eos) = (self.special(gguf, "bos")?, self.special(gguf, "eos")?);
        let (bos, eos) = if sentencepiece { (bos.or(Some(1)), eos.or(Some(2))) } else { (bos, eos) };
        let bos_by_default = sentencepiece
            || matches!(
                pre,
                "llama3"
                    | "llama-v3"
                    | "llama-bpe"
                    | "falcon3"
                    | "falcon-h1"
                    | "pixtral"
                    | "midm-2.0"
                    | "lfm2"
                    | "jina-v5-nano"
                    | "tekken"
            );
        let flag = |name: &str| gguf.optional_bool(&format!("tokenizer.ggml.{name}"));
        let add_bos = flag("add_bos_token")?.unwrap_or(bos_by_default) || pre == "gemma4";
        let ends = self.ends(gguf)?;
        let template = gguf.optional_string("tokenizer.chat_template")?.unwrap_or_default();
        let (markers, plain) = self.markers(template, gguf).map_err(|reason| gguf.error(reason))?;
        let raw = sentencepiece || matches!(pre, "gemma4" | "sarvam-moe");
        let mut bytes = Vec::new();
        let mut offsets = vec![0];
        for (text, kind) in self.texts.iter().zip(&self.kinds) {
            append_bytes(text, *kind, raw, &mut bytes);
            offsets.push(bytes.len() as u32);
        }
        Ok(Tokenizer {
            algorithm,
            kinds: self.kinds,
            bytes,
            offsets,
            markers,
            plain,
            bos,
            eos,
            ends,
            add_bos,
            space_prefix: flag("add_space_prefix")?.unwrap_or(sentencepiece),
        })
    }

    fn ends(&self, gguf: &Gguf) -> Result<Vec<u32>, ModelError> {
        let mut ends: Vec<u32> = ENDS.iter().filter_map(|text| self.ids.get(text)).copied().collect();
        for name in END_KEYS {
            ends.extend(self.special(gguf, name)?);
        }
        let has = |text: &str| self.ids.contains_key(text);
        // Harmony and Solar end a message with <|end|>, an answer with the others.
        if has("<|return|>") && has("<|call|>") || has("<|calls|>") && has("<|flush|>") {
            ends.retain(|id| self.texts[*id as usize] != "<|end|>");
        }
        if has("<|tool_response>") {
            ends.retain(|id| self.texts[*id as usize] != "</s>");
        }
        ends.sort_unstable();
        ends.dedup();
        Ok(ends)
    }

    /// Special tokens as (markers, plain user-defined ones).
    fn markers(&self, template: &str, gguf: &Gguf) -> Result<(Markers, Markers), String> {
        let (mut markers, mut plain) = (Vec::new(), Vec::new());
        for ((text, kind), id) in self.texts.iter().zip(&self.kinds).zip(0..) {
            match kind {
                TokenKind::Control | TokenKind::Unknown => markers.push((id, (*text).to_owned())),
                TokenKind::UserDefined if is_structure(text, template) => markers.push((id, (*text).to_owned())),
                TokenKind::UserDefined => plain.push((id, (*text).to_owned())),
                _ => {}
            }
        }
        let strips =
            if strips_after_markers(gguf) { markers.iter().map(|(id, _)| *id).collect() } else { HashSet::new() };
        Ok((Markers::new(markers, strips)?, Markers::new(plain, HashSet::new())?))
    }
}

/// Phi-3's tokenizer swallows white space after its markers; its GGUFs do not say so.
fn strips_after_markers(gguf: &Gguf) -> bool {
    let name = gguf.optional_string("general.name").ok().flatten().unwrap_or_default().to_lowercase();
    name.contains("phi-3") || name.contains("phi3")
}

fn is_structure(text: &str, template: &str) -> bool {
    let bracketed = text.trim().len() > 2 && text.contains(['<', '>', '[', ']', '|', '｜']);
    STRUCTURE.contains(&text) || bracketed && template.contains(text)
}

fn kind(number: i64) -> TokenKind {
    match number {
        2 => TokenKind::Unknown,
        3 => TokenKind::Control,
        4 => TokenKind::UserDefined,
        5 => TokenKind::Unused,
        6 => TokenKind::Byte,
        _ => TokenKind::Normal,
    }
}

fn append_bytes(text: &str, kind: TokenKind, raw: bool, bytes: &mut Vec<u8>) {
    match kind {
        TokenKind::Normal | TokenKind::Unused | TokenKind::Byte if raw => match byte_name(text) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(text.replace('▁', " ").as_bytes()),
        },
        TokenKind::UserDefined if raw => bytes.extend_from_slice(text.replace('▁', " ").as_bytes()),
        TokenKind::Normal | TokenKind::Unused | TokenKind::Byte => match decode_bytes(text) {
            Some(decoded) => bytes.extend(decoded),
            None => bytes.extend_from_slice(text.as_bytes()),
        },
        _ => bytes.extend_from_slice(text.as_bytes()),
    }
}

/// The byte of a token written `<0x0A>`.
fn byte_name(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// Undoes GPT-2's way of writing bytes; `None` when the text is not written so.
fn decode_bytes(text: &str) -> Option<Vec<u8>> {
    text.chars().map(char_to_byte).collect()
}

/// A byte-level token as text, when it is whole characters.
fn byte_text(text: &str) -> Option<String> {
    decode_bytes(text).and_then(|bytes| String::from_utf8(bytes).ok())
}

fn char_to_byte(character: char) -> Option<u8> {
    match character as u32 {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => Some(character as u8),
        // The others follow U+0100 in the order of their values.
        0x100..=0x120 => Some((character as u32 - 0x100) as u8),
        0x121..=0x142 => Some((character as u32 - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}

//! Whisper's tokens: their bytes, the special ones, and texts as tokens.

use std::collections::HashMap;

use serde_json::Value;

/// Tokens that stand for bytes; the special ones follow. The same in every Whisper model, though in the English
/// ones the last is the end of the text.
pub(crate) const WORDS: usize = 50_257;

/// Languages in the order of their tokens.
pub const LANGUAGES: [&str; 100] = [
    "en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt", "tr", "pl", "ca", "nl", "ar", "sv", "it", "id", "hi", "fi",
    "vi", "he", "uk", "el", "ms", "cs", "ro", "da", "hu", "ta", "no", "th", "ur", "hr", "bg", "lt", "la", "mi", "ml",
    "cy", "sk", "te", "fa", "lv", "bn", "sr", "az", "sl", "kn", "et", "mk", "br", "eu", "is", "hy", "ne", "mn", "bs",
    "kk", "sq", "sw", "gl", "mr", "pa", "si", "km", "sn", "yo", "so", "af", "oc", "ka", "be", "tg", "sd", "gu", "am",
    "yi", "lo", "uz", "fo", "ht", "ps", "tk", "nn", "mt", "sa", "lb", "my", "bo", "tl", "mg", "as", "tt", "haw", "ln",
    "ha", "ba", "jw", "su", "yue",
];

/// Seconds that one step of a timestamp token stands for.
pub(crate) const TIME_STEP_S: f64 = 0.02;

/// Ids of the special tokens of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Special {
    pub(crate) end: u32,
    pub(crate) start: u32,
    pub(crate) first_language: u32,
    pub(crate) languages: u32,
    pub(crate) transcribe: u32,
    pub(crate) previous: u32,
    pub(crate) no_speech: u32,
    pub(crate) no_timestamps: u32,
    pub(crate) first_time: u32,
}

impl Special {
    /// Of a model with this many tokens.
    pub(crate) fn of(vocabulary: usize) -> Self {
        let multilingual = vocabulary >= 51_865;
        let end = 50_256 + u32::from(multilingual);
        let languages = 99 + u32::from(vocabulary == 51_866);
        let after = end + 2 + languages;
        Self {
            end,
            start: end + 1,
            first_language: end + 2,
            languages,
            // after: translate, transcribe, start of a language model, previous, no speech, no timestamps
            transcribe: after + 1,
            previous: after + 3,
            no_speech: after + 4,
            no_timestamps: after + 5,
            first_time: after + 6,
        }
    }

    /// The token of a language.
    pub(crate) fn language(&self, code: &str) -> Option<u32> {
        let at = LANGUAGES.iter().position(|language| *language == code)? as u32;
        (at < self.languages).then_some(self.first_language + at)
    }
}

/// What the tokens of a model stand for.
pub(crate) struct Vocabulary {
    pub(crate) special: Special,
    words: Vec<Vec<u8>>,
    tokenizer: Option<tokenizers::Tokenizer>,
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Vocabulary").field("special", &self.special).finish_non_exhaustive()
    }
}

impl Vocabulary {
    /// Of a `tokenizer.json` for a model with this many tokens.
    pub(crate) fn from_json(json: &[u8], vocabulary: usize) -> Result<Self, String> {
        let words = words_of(json)?;
        let special = Special::of(vocabulary);
        let end_is_a_word = words.last().is_some_and(|word| word == b"<|endoftext|>");
        if end_is_a_word != (special.end as usize == WORDS - 1) {
            let (of, wanted) =
                if end_is_a_word { ("English", "many languages") } else { ("many languages", "English") };
            return Err(format!("is the vocabulary for models of {of}, and the model is for {wanted}"));
        }
        let tokenizer = tokenizers::Tokenizer::from_bytes(json).map_err(|error| error.to_string())?;
        Ok(Self { special, words, tokenizer: Some(tokenizer) })
    }

    /// Of bytes that a ggml file carries; it can turn no text into tokens.
    pub(crate) fn from_words(words: Vec<Vec<u8>>, vocabulary: usize) -> Self {
        Self { special: Special::of(vocabulary), words, tokenizer: None }
    }

    /// Tokens of a text, or `None` without a tokenizer. Markers in it stay out: a prompt cannot give commands.
    pub(crate) fn encode(&self, text: &str) -> Option<Result<Vec<u32>, String>> {
        let tokenizer = self.tokenizer.as_ref()?;
        let encoded = tokenizer.encode(text, false).map_err(|error| error.to_string());
        Some(encoded.map(|encoded| encoded.get_ids().iter().copied().filter(|id| *id < self.special.end).collect()))
    }

    /// The text of tokens, special ones left out. A character may be spread over several tokens.
    pub(crate) fn decode(&self, ids: impl Iterator<Item = u32>) -> String {
        let words = ids.filter(|id| *id < self.special.end).filter_map(|id| self.words.get(id as usize));
        let bytes: Vec<u8> = words.flatten().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Tokens that stand for sounds that are no speech, by OpenAI's list: brackets, notes, markup.
    pub(crate) fn non_speech(&self) -> Vec<u32> {
        const LISTED: &str = "\" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (' (\" \
                              (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪ ♩ ♪ ♫ ♬ ♭ ♮ ♯";
        let ids: HashMap<&[u8], u32> = self.words.iter().map(Vec::as_slice).zip(0..).collect();
        let listed = LISTED.split(' ').filter(|text| !text.is_empty());
        let mut found: Vec<u32> = listed
            .flat_map(|text| [text.to_owned(), format!(" {text}")])
            .chain([" -", " '"].map(str::to_owned))
            .filter_map(|text| ids.get(text.as_bytes()).copied())
            .filter(|id| *id < self.special.end)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The token of one blank.
    pub(crate) fn blank(&self) -> Option<u32> {
        self.words.iter().position(|word| word == b" ").map(|at| at as u32)
    }
}

/// The bytes of every word token of a `tokenizer.json`, in order of their ids.
pub(crate) fn words_of(json: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let value: Value = serde_json::from_slice(json).map_err(|error| format!("is no tokenizer.json: {error}"))?;
    let entries = value["model"]["vocab"].as_object().ok_or("has no vocabulary in model.vocab")?;
    let bytes = byte_of_character();
    let mut words: Vec<Option<Vec<u8>>> = vec![None; WORDS];
    for (text, id) in entries {
        let id = id.as_u64().ok_or_else(|| format!("gives {text:?} an id that is no number"))?;
        // Ids from 50257 on are special tokens, which some files list here and some apart.
        let Some(word) = usize::try_from(id).ok().and_then(|id| words.get_mut(id)) else { continue };
        let special = text.starts_with("<|") && text.ends_with("|>");
        let decoded = text.chars().map(|character| bytes.get(&character).copied()).collect::<Option<Vec<u8>>>();
        let decoded = if special { text.as_bytes().to_vec() } else { decoded.ok_or_else(|| not_bytes(text))? };
        if word.replace(decoded).is_some() {
            return Err(format!("gives two tokens the id {id}"));
        }
    }
    let mut list = Vec::with_capacity(WORDS);
    for (id, word) in words.into_iter().enumerate() {
        // An English vocabulary may list its last token only among the special ones.
        let end = (id == WORDS - 1).then(|| b"<|endoftext|>".to_vec());
        list.push(word.or(end).ok_or_else(|| format!("has no token {id}; Whisper's vocabulary has 50257"))?);
    }
    if !list.iter().any(|word| word == b" ") {
        return Err("has no token for a blank".to_owned());
    }
    Ok(list)
}

fn not_bytes(text: &str) -> String {
    format!("has the token {text:?}, which is not written in GPT-2's byte alphabet")
}

/// GPT-2's alphabet: each byte as a printable character.
fn byte_of_character() -> HashMap<char, u8> {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut others = 256u32..;
    let characters = (0..=255u8).filter_map(|byte| {
        let code = if printable(byte) { Some(u32::from(byte)) } else { others.next() };
        Some((char::from_u32(code?)?, byte))
    });
    characters.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A vocabulary of the right size with made-up words.
    pub(crate) fn made_up(multilingual: bool) -> Vec<u8> {
        let characters: Vec<char> = {
            let mut pairs: Vec<(u8, char)> = byte_of_character().into_iter().map(|(text, byte)| (byte, text)).collect();
            pairs.sort_unstable();
            pairs.into_iter().map(|(_, character)| character).collect()
        };
        let mut vocab = serde_json::Map::new();
        for (id, character) in characters.iter().enumerate() {
            vocab.insert(character.to_string(), id.into());
        }
        for id in 256..WORDS - 1 {
            vocab.insert(format!("w{id}"), id.into());
        }
        let last = if multilingual { "last" } else { "<|endoftext|>" };
        vocab.insert(last.to_owned(), (WORDS - 1).into());
        serde_json::json!({ "version": "1.0", "model": { "type": "BPE", "vocab": vocab, "merges": [] }, "added_tokens": [],
            "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true } })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn special_tokens_stand_where_openai_put_them() {
        let english = Special::of(51_864);
        assert_eq!(
            (english.end, english.start, english.no_timestamps, english.first_time),
            (50_256, 50_257, 50_362, 50_363)
        );
        let many = Special::of(51_865);
        assert_eq!((many.end, many.start, many.transcribe, many.previous), (50_257, 50_258, 50_359, 50_361));
        assert_eq!((many.no_speech, many.no_timestamps, many.first_time), (50_362, 50_363, 50_364));
        assert_eq!(
            (many.language("en"), many.language("fr"), many.language("yue")),
            (Some(50_259), Some(50_265), None)
        );
        let third = Special::of(51_866);
        assert_eq!((third.language("yue"), third.first_time), (Some(50_358), 50_365));
    }

    #[test]
    fn bytes_come_back_from_the_alphabet() {
        let alphabet = byte_of_character();
        assert_eq!(alphabet.len(), 256);
        assert_eq!((alphabet[&'Ġ'], alphabet[&'Ċ'], alphabet[&'A'], alphabet[&'é']), (32, 10, 65, 0xe9));
        let words = words_of(&made_up(true)).unwrap();
        assert!((0..=255u8).all(|byte| words[usize::from(byte)] == [byte]));
        let vocabulary = Vocabulary::from_json(&made_up(true), 51_865).unwrap();
        // A character of two bytes, spread over two tokens, beside special tokens that are no text.
        let ids = [0x63, 0xc3, 0xa9, vocabulary.special.end, vocabulary.special.first_time];
        assert_eq!(vocabulary.decode(ids.into_iter()), "cé");
        assert_eq!(vocabulary.encode("cé").unwrap().unwrap(), [0x63, 0xc3, 0xa9]);
    }

    #[test]
    fn damaged_and_foreign_vocabularies_are_refused() {
        let of = |json: &[u8]| words_of(json).unwrap_err();
        assert!(of(b"{").contains("no tokenizer.json"));
        assert!(of(b"{}").contains("no vocabulary"));
        assert!(of(br#"{"model":{"vocab":{"a":0}}}"#).contains("no token 1;"));
        assert!(of(br#"{"model":{"vocab":{"a":0,"b":0}}}"#).contains("two tokens the id 0"));
        assert!(of("{\"model\":{\"vocab\":{\"日\":0}}}".as_bytes()).contains("byte alphabet"));
        let mixed = Vocabulary::from_json(&made_up(false), 51_865).unwrap_err();
        assert!(mixed.contains("for models of English"), "{mixed}");
        assert!(Vocabulary::from_json(&made_up(true), 51_864).unwrap_err().contains("the model is for English"));
    }
}

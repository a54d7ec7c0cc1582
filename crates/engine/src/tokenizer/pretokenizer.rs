//! Cutting text into words before byte-pair merging.
//!
//! A pre-tokenizer is a sequence of cuts; each splits every piece of the one before into what its
//! pattern matches and what lies between. The patterns are the published ones of the models'
//! tokenizers, with one change: `\s+(?!\S)|\s+` needs look-ahead, which the linear-time engine
//! has not. It is written `\s+`, and a run of blanks before a word gives its last one back
//! ([`Cut::Words`]), which is the same.

use std::borrow::Cow;

use regex::Regex;

/// One step of cutting.
enum Cut {
    /// Every match is a piece; what lies between is a piece too.
    Matches(Regex),
    /// As `Matches`, and a run of white space before something else leaves its last character to
    /// what follows. A run that ends in a line end does so only when `lines` is false: otherwise
    /// the pattern's own alternative for line ends made the match.
    Words { regex: Regex, lines: bool },
    /// As `Matches`, each match (a run of digits) in groups of three counted from the right.
    Thousands(Regex),
}

/// The cuts of one kind of tokenizer.
pub(super) struct Pretokenizer {
    cuts: Vec<Cut>,
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+";
const CONTRACTIONS: &str = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const LINES: &str = r"\s*[\r\n]+|\s+";
const DEEPSEEK: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##,
    r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+"
);
const UPPER: &str = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]";
const LOWER: &str = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]";
const HAN_UPPER: &str = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]";
const HAN_LOWER: &str = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]";
const CJK: &str = "[一-龥\u{3040}-ゟ゠-ヿ]+";
const ASIAN: &str = "[一-鿿㐀-䶿豈-\u{faff}\u{3040}-ゟ゠-ヿ･-ﾟ⼀-\u{2fdf}\u{0e00}-\u{0e7f}\u{0e80}-\u{0eff}\u{1780}-\u{17ff}\u{1000}-\u{109f}\u{aa60}-\u{aa7f}\u{a9e0}-\u{a9ff}가-\u{d7af}\u{1100}-\u{11ff}]+";

impl Pretokenizer {
    /// The pre-tokenizer that `tokenizer.ggml.pre` names; `None` for a name nobody here knows.
    pub(super) fn named(name: &str) -> Result<Option<Self>, regex::Error> {
        let word = r"[^\r\n\p{L}\p{N}]?\p{L}+";
        let signs = r" ?[^\s\p{L}\p{N}]+[\r\n]*";
        let llama = |digits: &str| format!("(?:{CONTRACTIONS})|{word}|{digits}|{signs}|{LINES}");
        let cuts = match name {
            "default" | "" => {
                vec![matches(r"[\p{P}\$\+<=>\^~\|]+")?, words(GPT2)?, matches(r"\p{N}+")?, matches("[0-9][0-9][0-9]")?]
            }
            "gpt-2" | "phi-2" | "jina-es" | "jina-de" | "gigachat" | "jina-v2-es" | "jina-v2-de" | "a.x-4.0"
            | "mellum" | "modern-bert" | "jina-v1-en" | "jina-v2-code" | "roberta-bpe" | "mpt" | "olmo" | "jais"
            | "trillion" | "granite-docling" | "exaone4" => vec![words(GPT2)?],
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" | "mellum2" => {
                vec![matches(r"\p{N}")?, words(GPT2)?]
            }
            "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0" | "lfm2"
            | "jina-v5-nano" | "dbrx" | "smaug-bpe" | "glm4" | "chatglm-bpe" => vec![words(llama(r"\p{N}{1,3}"))?],
            "qwen2" | "deepseek-r1-qwen" | "kormo" | "f2llmv2" | "megrez" | "stablelm2" | "hunyuan" | "solar-open"
            | "grok-2" => vec![words(llama(r"\p{N}"))?],
            "qwen35" => vec![words(format!(
                r"(?:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{LINES}"
            ))?],
            "ufakzeka" => vec![words(format!(r"{word}|\p{{N}}|{signs}|{LINES}"))?],
            "laguna" => vec![matches(r"[^\n]+|\n+")?, words(llama(r"\p{N}"))?],
            "minicpm5" => vec![matches(r"\p{N}{1,3}")?, words(llama(r"\p{N}+"))?],
            "bailingmoe" | "bailingmoe2" | "llada-moe" => {
                vec![words(format!(r"(?:{CONTRACTIONS})|{word}|\p{{N}}|{signs}|\s*[\r\n]|\s+"))?]
            }
            "seed-coder" => {
                vec![words(format!(r"(?:{CONTRACTIONS})|{word}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{LINES}"))?]
            }
            "exaone-moe" => vec![words(format!(
                r"(?:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|\s*[\r\n]|\s+"
            ))?],
            "deepseek-v3" | "hunyuan-dense" | "joyai-llm" | "hy_v4" => {
                vec![matches(r"\p{N}{1,3}")?, matches(CJK)?, words(DEEPSEEK)?]
            }
            "afmoe" => vec![thousands(r"\d+")?, matches(ASIAN)?, words(DEEPSEEK)?],
            "deepseek-llm" => vec![
                matches(r"[\r\n]")?,
                // The cased letters that the original lists one by one: without Armenian and Georgian.
                matches(r"\s?[\p{Lu}\p{Ll}\p{Lt}&&[^\x{0560}-\x{0588}\x{10D0}-\x{10FF}]]+")?,
                matches(r"\s?[!-/:-~！-／：-～‘-‟\u{3000}-。]+")?,
                matches(r"\s+$")?,
                matches(r"[一-龥\u{0800}-一가-\u{d7ff}]+")?,
                matches(r"\p{N}+")?,
            ],
            "deepseek-coder" => vec![
                matches(r"[\r\n]")?,
                matches(r"\s?\p{L}+")?,
                matches(r"\s?\p{P}+")?,
                matches(r"[一-龥\u{0800}-一가-\u{d7ff}]+")?,
                matches(r"\p{N}")?,
            ],
            "falcon" => {
                vec![matches(r"[\p{P}\$\+<=>\^~\|`]+")?, words(GPT2)?, matches("[0-9][0-9][0-9]")?]
            }
            "tekken" => vec![words(cased(UPPER, LOWER, "", r"\p{N}"))?],
            "gpt-4o" | "llama4" | "kanana2" | "talkie" | "minimax-m2" => {
                vec![words(cased(UPPER, LOWER, &format!("(?:{CONTRACTIONS})?"), r"\p{N}{1,3}"))?]
            }
            "tiny_aya" | "cohere2moe" => {
                let rest = cased(UPPER, LOWER, &format!("(?:{CONTRACTIONS})?"), r"\p{N}{1,3}");
                vec![thousands(r"\d+\b")?, words(rest)?]
            }
            "kimi-k2" => {
                let rest = cased(HAN_UPPER, HAN_LOWER, &format!("(?:{CONTRACTIONS})?"), r"\p{N}{1,3}");
                vec![words(format!(r"\p{{Han}}+|{rest}"))?]
            }
            "superbpe" => vec![matches(r"\p{N}+")?, thousands(r"\d+")?],
            "poro-chat" | "bloom" | "gpt3-finnish" => vec![matches(" ?[^(\\s|.,!?…。，、।۔،)]+")?],
            "viking" => vec![matches(" ?[^(\\s|.,!?…。，、।۔،)]+")?, matches(r"\p{N}")?],
            "gemma4" | "sarvam-moe" => vec![matches(r"[^\n]+|\n+")?],
            _ => return Ok(None),
        };
        Ok(Some(Self { cuts }))
    }

    /// Hands out the words of `text` in order.
    pub(super) fn split<'a>(&self, text: &'a str, mut take: impl FnMut(&'a str)) {
        split_from(&self.cuts, text, &mut take);
    }
}

fn split_from<'a>(cuts: &[Cut], text: &'a str, take: &mut dyn FnMut(&'a str)) {
    let Some((cut, rest)) = cuts.split_first() else { return take(text) };
    cut.apply(text, &mut |piece| split_from(rest, piece, take));
}

impl Cut {
    fn apply<'a>(&self, text: &'a str, take: &mut dyn FnMut(&'a str)) {
        let mut done = 0;
        let mut emit = |start: usize, end: usize| {
            if done < start {
                take(&text[done..start]);
            }
            if start < end {
                take(&text[start..end]);
            }
            done = end;
        };
        match self {
            Self::Matches(regex) => regex.find_iter(text).for_each(|found| emit(found.start(), found.end())),
            Self::Words { regex, lines } => {
                let mut position = 0;
                while let Some(found) = regex.find_at(text, position) {
                    position = found.end() - given_back(found.as_str(), found.end() == text.len(), *lines);
                    emit(found.start(), position);
                }
            }
            Self::Thousands(regex) => {
                regex.find_iter(text).for_each(|found| groups(found.start(), found.as_str(), &mut emit));
            }
        }
        emit(text.len(), text.len());
    }
}

/// How many bytes a run of white space leaves to what follows it.
fn given_back(found: &str, at_end: bool, lines: bool) -> usize {
    if at_end || !found.chars().all(char::is_whitespace) {
        return 0;
    }
    match found.chars().next_back() {
        Some('\n' | '\r') if lines => 0,
        Some(last) if last.len_utf8() < found.len() => last.len_utf8(),
        _ => 0,
    }
}

fn groups(start: usize, digits: &str, emit: &mut dyn FnMut(usize, usize)) {
    let count = digits.chars().count();
    let mut group = start;
    for (index, (offset, digit)) in digits.char_indices().enumerate() {
        if (count - index - 1).is_multiple_of(3) {
            let end = start + offset + digit.len_utf8();
            emit(group, end);
            group = end;
        }
    }
}

fn thousands(pattern: &str) -> Result<Cut, regex::Error> {
    Regex::new(pattern).map(Cut::Thousands)
}

fn matches(pattern: &str) -> Result<Cut, regex::Error> {
    Regex::new(pattern).map(Cut::Matches)
}

fn words<'a>(pattern: impl Into<Cow<'a, str>>) -> Result<Cut, regex::Error> {
    let pattern = pattern.into();
    let lines = pattern.contains(r"\s*[\r\n]");
    Regex::new(&pattern).map(|regex| Cut::Words { regex, lines })
}

/// Words by case, the o200k family: a word starts at a capital after small letters.
fn cased(upper: &str, lower: &str, suffix: &str, digits: &str) -> String {
    let first = r"[^\r\n\p{L}\p{N}]?";
    format!(
        r"{first}{upper}*{lower}+{suffix}|{first}{upper}+{lower}*{suffix}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{LINES}"
    )
}

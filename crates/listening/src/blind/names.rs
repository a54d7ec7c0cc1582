//! Takes out of an answer what says whose it is.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

/// What stands in the place of a name.
const HIDDEN: &str = "[model]";

/// Families of models and their makers, as they name themselves.
const KNOWN: &str = "smol ?lm ?\\d*|hugging ?face|qwen ?[\\d.]*|tongyi(?: qianwen)?|alibaba(?: cloud)?|gemma ?\\d*|gemini|google(?: deepmind)?|\
                     llama ?[\\d.]*|meta(?: ai)?|mi[sx]tral(?: ai)?|ministral|open ?ai|chat ?gpt|gpt-?[\\d.o]*|claude|anthropic|deep ?seek|\
                     phi-?[\\d.]*|microsoft|granite|ibm|command[- ]r\\+?|cohere|falcon|tii|olmo|ai2|grok|xai|nemotron|nvidia|lfm ?\\d*|liquid ai";

/// A sentence that says who speaks, up to the name.
static SELF_NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let introduces = "i am|i'm|i’m|my name is|call me|as|made by|created by|developed by|trained by|built by|from|by|\
                      je suis|je m'appelle|je m’appelle|mon nom est|en tant que|créée? par|développée? par|entraînée? par|conçue? par|par";
    let article =
        "(?:an? |the |un |une |le |la |l'|l’)?(?:large |ai |ia |language |modèle |model |assistant |de langage )*";
    insensitive(&format!(r"\b({introduces})(\s+{article})({KNOWN})\b"))
});

fn insensitive(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(true).build().ok()
}

/// The answer without its maker's names.
///
/// The names of the session's own candidates, as parts of their SPECs, go everywhere; those of known families only where the
/// answer introduces itself ("I am Qwen, made by Alibaba Cloud"), because a question may be about Google.
pub fn strip_names(answer: &str, specs: &[&str]) -> String {
    let mut text = answer.to_owned();
    // A sentence may introduce and then add its maker: twice is enough for the longest seen.
    for _ in 0..2 {
        if let Some(pattern) = SELF_NAMED.as_ref() {
            let hide = |found: &Captures<'_>| format!("{}{}{HIDDEN}", &found[1], &found[2]);
            text = pattern.replace_all(&text, hide).into_owned();
        }
    }
    for name in specs.iter().flat_map(|spec| own_names(spec)) {
        if let Some(pattern) = insensitive(&format!(r"\b{}\b", regex::escape(&name))) {
            text = pattern.replace_all(&text, HIDDEN).into_owned();
        }
    }
    text
}

/// What a model could call itself from its SPEC: `embedded:smollm2-135m` gives `smollm2-135m` and `smollm2`.
fn own_names(spec: &str) -> Vec<String> {
    let name = spec.rsplit(['/', '@']).next().unwrap_or(spec);
    let mut names = vec![name.to_owned()];
    names.extend(name.split([':', '-', '_']).map(str::to_owned));
    // Short pieces and bare numbers ("7b", "it", "q8") are words or sizes, not names.
    names.retain(|name| name.len() > 4 && name.chars().any(char::is_alphabetic) && !COMMON.contains(&name.as_str()));
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.dedup();
    names
}

/// Pieces of SPECs that are ordinary words.
const COMMON: [&str; 8] = ["embedded", "ollama", "openai", "replay", "instruct", "latest", "assistant", "small"];

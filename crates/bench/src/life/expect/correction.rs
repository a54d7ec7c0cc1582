//! A correction is a sentence: "you should have read the file, not written it". Which tools it names,
//! and whether it asks for them or against them.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use tenpass_agent::fold;
use tenpass_agent::select::similarities;
use tenpass_trace::{ToolCall, ToolDefinition};

use super::guesses::Guess;

/// Similarity to a tool's words from which on a clause names it.
const NAMES: f64 = 0.12;
/// How much more than the next tool.
const CLEARLY: f64 = 1.15;

static FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{M}0-9_\-][\p{L}\p{M}0-9_\-./]{0,120}\.[A-Za-z0-9]{1,6}\b").ok());
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"https?://[^\s"'<>)]{3,400}"#).ok());
static CLAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[;!?\n]+|[.,]\s+|\b(?:but|mais|and not|et pas|et non|not just)\b|\b(instead of|rather than|au lieu (?:de|d)|plutôt que|plutot que)\b").ok()
});

/// What a correction asks for, what says most first.
pub(super) fn guesses(correction: &str, request: &str, tools: &[ToolDefinition]) -> Vec<Guess> {
    let mut guess = Guess::new("the correction names it", 3);
    let mut forbids_all = false;
    for (clause, is_opposed) in clauses(correction) {
        let negative = is_opposed || is_negative(&clause);
        if forbids_tools(&clause) {
            forbids_all = true;
            continue;
        }
        for tool in named(&clause, tools) {
            if negative {
                guess.forbid.push(tool.name.clone());
            } else if !guess.calls.iter().any(|call| call.name == tool.name) {
                guess.calls.push(filled(tool, correction, request));
            }
        }
    }
    if forbids_all && guess.calls.is_empty() {
        return vec![Guess { no_call: true, ..Guess::new("the correction asks for an answer in words", 3) }];
    }
    guess.forbid.retain(|name| !guess.calls.iter().any(|call| call.name == *name));
    if guess.calls.is_empty() && guess.forbid.is_empty() { Vec::new() } else { vec![guess] }
}

/// The clauses, each with whether it stands behind "instead of".
fn clauses(text: &str) -> Vec<(String, bool)> {
    let Some(border) = CLAUSE.as_ref() else { return vec![(text.to_owned(), false)] };
    let mut found = Vec::new();
    let (mut from, mut is_opposed) = (0, false);
    for captures in border.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        found.push((text[from..whole.start()].to_owned(), is_opposed));
        let word = fold(whole.as_str());
        is_opposed = captures.get(1).is_some() || ["and not", "et pas", "et non"].contains(&word.trim());
        from = whole.end();
    }
    found.push((text[from..].to_owned(), is_opposed));
    found.retain(|(clause, _)| !clause.trim().is_empty());
    found
}

fn is_negative(clause: &str) -> bool {
    let folded = format!(" {} ", fold(clause));
    [
        " not ",
        "n't ",
        " never ",
        " without ",
        " no ",
        " pas ",
        " jamais ",
        " sans ",
        " aucun ",
        " ne ",
        " n'",
        " nothing ",
        " rien ",
        " dont ",
    ]
    .iter()
    .any(|word| folded.contains(word))
}

/// "just answer", "no tool": no call at all.
fn forbids_tools(clause: &str) -> bool {
    let folded = fold(clause);
    [
        "no tool",
        "any tool",
        "without tool",
        "just answer",
        "simply answer",
        "only answer",
        "just say",
        "just tell me",
        "no call",
        "sans outil",
        "aucun outil",
        "pas d'outil",
        "besoin d'outil",
        "reponds simplement",
        "repondre simplement",
        "juste repondre",
        "simplement repondre",
        "reponds directement",
        "repondre directement",
        "juste me dire",
        "answer directly",
        "answer in words",
    ]
    .iter()
    .any(|phrase| folded.contains(phrase))
}

/// The tools that a clause names: by their names, else the one whose words it has.
fn named<'t>(clause: &str, tools: &'t [ToolDefinition]) -> Vec<&'t ToolDefinition> {
    let folded = fold(clause);
    let has = |name: &str| folded.contains(&fold(name)) || folded.contains(&fold(&name.replace(['_', '-', '.'], " ")));
    let by_name: Vec<&ToolDefinition> = tools.iter().filter(|tool| has(&tool.name)).collect();
    if !by_name.is_empty() {
        return by_name;
    }
    nearest(clause, tools).into_iter().collect()
}

/// The tool whose description and keywords are clearly nearest to a text.
pub(super) fn nearest<'t>(text: &str, tools: &'t [ToolDefinition]) -> Option<&'t ToolDefinition> {
    let scores = similarities(tools, text);
    let mut ranked: Vec<(f64, &ToolDefinition)> = scores.into_iter().zip(tools).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, tool) = *ranked.first()?;
    let second = ranked.get(1).map_or(0.0, |(score, _)| *score);
    (best >= NAMES && best >= second * CLEARLY).then_some(tool)
}

/// A call of the tool with the values that the texts spell out: a file, an address, a value of a closed
/// list.
pub(super) fn filled(tool: &ToolDefinition, correction: &str, request: &str) -> ToolCall {
    let mut arguments = Map::new();
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten().filter(|(name, _)| *name != "reason") {
        let value = [correction, request].iter().find_map(|text| spelled(name, schema, text));
        if let Some(value) = value {
            arguments.insert(name.clone(), value);
        }
    }
    ToolCall { id: None, name: tool.name.clone(), arguments }
}

fn spelled(name: &str, schema: &Value, text: &str) -> Option<Value> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = fold(text).split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
        return values.iter().find(|value| value.as_str().is_some_and(|value| words.contains(&fold(value)))).cloned();
    }
    if schema.get("type").is_none_or(|kind| kind != "string") {
        return None;
    }
    let found = |regex: &LazyLock<Option<Regex>>, text: &str| {
        let hit = regex.as_ref()?.find(text)?;
        Some(Value::String(hit.as_str().trim_end_matches(['.', ',']).to_owned()))
    };
    if name.contains("url") || name.contains("address") || name.contains("link") {
        found(&ADDRESS, text)
    } else if name.contains("file") || name.contains("path") {
        // The host of an address and the halves of an e-mail address look like files.
        let is_address = |word: &&str| word.contains('@') || word.contains("://");
        let words: Vec<&str> = text.split_whitespace().filter(|word| !is_address(word)).collect();
        found(&FILE, &words.join(" "))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolDefinition> {
        crate::rounds::definitions()
    }

    #[test]
    fn an_e_mail_address_is_no_file() {
        let guess = guesses("tu devais lire le fichier", "Lis cv.txt, écris à a.b@laposte.net", &tools()).remove(0);
        assert_eq!(guess.calls[0].arguments.get("filename").and_then(Value::as_str), Some("cv.txt"));
    }

    fn read(correction: &str) -> (Vec<String>, Vec<String>, bool) {
        let mut made = guesses(correction, "Mets du thé dans notes.md", &tools());
        if made.is_empty() {
            return (vec![], vec![], false);
        }
        let guess = made.remove(0);
        (guess.calls.into_iter().map(|call| call.name).collect(), guess.forbid, guess.no_call)
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn tools_are_named_by_name_and_by_their_words() {
        for (correction, calls, forbid) in [
            ("you should have used read_file", &["read_file"][..], &[][..]),
            ("you should have read the file", &["read_file"], &[]),
            ("il fallait lire le fichier notes.md", &["read_file"], &[]),
            ("read_file, not write_file", &["read_file"], &["write_file"]),
            ("il ne fallait pas utiliser write_file", &[], &["write_file"]),
            ("read_file instead of web_search", &["read_file"], &["web_search"]),
        ] {
            assert_eq!(read(correction), (strings(calls), strings(forbid), false), "{correction}");
        }
        assert_eq!(read("just answer, without any tool"), (vec![], vec![], true));
        assert_eq!(read("réponds simplement"), (vec![], vec![], true));
        assert_eq!(read("14:30"), (vec![], vec![], false));
    }

    #[test]
    fn values_that_are_spelled_out_are_taken() {
        let guess = guesses("il fallait lire le fichier b.txt", "Lis a.txt", &tools()).remove(0);
        assert_eq!(guess.calls[0].arguments.get("filename").and_then(Value::as_str), Some("b.txt"));
        let guess =
            guesses("read the file", "Lis a.txt pour zoe@example.org, https://example.org/x.html", &tools()).remove(0);
        assert_eq!(guess.calls[0].arguments.get("filename").and_then(Value::as_str), Some("a.txt"));
        let guess = guesses("delegate_to_provider", "Ask Claude for a poem", &tools()).remove(0);
        assert_eq!(guess.calls[0].arguments.get("provider").and_then(Value::as_str), Some("claude"));
    }
}

//! Everything that one segment of a text has to hide.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::assignment::{self, Open};
use super::number;
use super::rule::{Finder, Rule};
use super::rules::RULES;
use super::value::{Kinds, entropy, is_placeholder, is_wordy, looks_random};

/// What stands for a replacement in the memory of a line: its name must tell nothing.
pub(super) const HIDDEN: char = '\u{FFFC}';
/// How often a segment is looked at again; each look finds something new or is the last.
const MAX_LOOKS: usize = 8;

/// A stretch to hide, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
    /// It goes on behind the range, up to this text (empty: as long as it is one run).
    pub(super) goes_on: Option<&'static str>,
    /// Of two that overlap, the name of the higher one stands.
    rank: usize,
}

/// A rule's pattern, compiled when it is first needed.
struct Pattern {
    name: &'static str,
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn get(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.source).ok()).as_ref()
    }
}

/// The rules with a pattern, and one set that tells which of them may match.
struct Patterns {
    heads: Option<RegexSet>,
    patterns: Vec<Pattern>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    // An escaped line end is no letter before a token.
    const LEFT: &str = r"(?:^|\\[nrtbf]|[^A-Za-z0-9])";
    let mut heads = Vec::new();
    let mut patterns = Vec::new();
    for rule in RULES.iter() {
        if let Finder::Pattern { heads: words, pattern, token } = rule.finder {
            let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
            heads.push(words.join("|"));
            let source = match pattern.strip_prefix("(?:^|[^") {
                Some(rest) => format!(r"(?:^|\\[nrtbf]|[^{rest}"),
                None if token => format!("{LEFT}{pattern}"),
                None => pattern.to_owned(),
            };
            patterns.push(Pattern { name: rule.name, source, compiled: OnceLock::new() });
        }
    }
    Patterns { heads: RegexSet::new(heads).ok(), patterns }
});

/// Words that make a random run beside them a secret.
static NEAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:\b|_|api)keys?\b|key[_\s]|token|secret|passw|passe\b|\bcl(?:és?|efs?)\b|jeton|credential|bearer|\bmdp\b|\bpwd\b").ok()
});
/// Words that make it a digest, a public key, or something else that may be known.
static PUBLIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)publi[cq]|sha-?[0-9]|md5|blake|hash|checksum|digest|fingerprint|empreinte|condensat|commit|integrity|revision|etag|ssh-(?:rsa|ed25519|dss)|ecdsa-|somme de contr|primary key|foreign key|cache|keyboard|tokeniz|base64,|\bid\b",
    )
    .ok()
});
static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z0-9+/_=-]{32,}").ok());

/// What has to be in a segment for it to be looked at.
static QUICK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)pass|mot|phrase|kennwort|contrase|code|key|cl[eé]|mdp|pwd|psw|\bpw|api|access|private|signing|encryption|master|licen|account|shared|storage|client|token|jeton|secret|cred|auth|bearer|basic|sid|sess|csrf|otp|cookie|://|---|-u |-user|[0-9]{4} ",
    )
    .ok()
});
/// The user's part of an address, so far.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@"'<>]{0,256}:[^\s/@"'<>]{1,256}$"#).ok());
/// The beginning of a key block, so far.
static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,48}-{0,4}$").ok());
static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:^|\s)(?:-u|--user|--proxy-user) $").ok());

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Can the segment hold anything at all? Cheap, and on the safe side.
pub(super) fn is_worth_a_look(text: &str) -> bool {
    QUICK.as_ref().is_none_or(|quick| quick.is_match(text))
}

/// What a segment that ends here still waits for.
pub(super) fn open(text: &str, context: Context<'_>) -> Option<Open> {
    let quick = is_worth_a_look(text);
    let start_of = |pattern: &LazyLock<Option<Regex>>| {
        pattern.as_ref().and_then(|pattern| pattern.find(text)).map(|found| Open { from: found.start(), until: None })
    };
    if !quick {
        return None;
    }
    let assigned = assignment::read(text, context.before, false).open;
    let address = text.contains("://").then(|| start_of(&ADDRESS)).flatten();
    let header = text.contains("---").then(|| start_of(&HEADER)).flatten();
    let flag = start_of(&FLAG).filter(|open| open.from > 0 || context.last.is_none_or(char::is_whitespace));
    let digits = number::open(text).map(|from| Open { from, until: None });
    [assigned, address, header, flag, digits].into_iter().flatten().min_by_key(|open| open.from)
}

/// What stands around a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'t> {
    /// The end of its line in front of it, as it came out, without replacements.
    pub(super) before: &'t str,
    /// The character in front of it.
    pub(super) last: Option<char>,
    /// Nothing follows it.
    pub(super) at_end: bool,
}

/// What the segment has to hide, sorted by where it stands.
///
/// What is left is looked at again as it will be seen, so that a second masking finds nothing more.
pub(super) fn hits(text: &str, context: Context<'_>) -> Vec<Hit> {
    let mut all = once(text, context);
    for _ in 0..MAX_LOOKS {
        if all.is_empty() {
            break;
        }
        let (seen, offsets) = as_seen(text, &all);
        let more = once(&seen, context);
        if more.is_empty() {
            break;
        }
        all.extend(more.into_iter().map(|hit| {
            let range = original(&offsets, hit.range.start, false)..original(&offsets, hit.range.end, true);
            Hit { range, ..hit }
        }));
        all = merge(text, all);
    }
    all
}

/// Where a replacement stands in the text as it is seen, and what it replaces in the text as it was.
type Moved = (Range<usize>, Range<usize>);

/// The text with `hits` replaced.
fn as_seen(text: &str, hits: &[Hit]) -> (String, Vec<Moved>) {
    let mut seen = String::with_capacity(text.len());
    let mut offsets = Vec::with_capacity(hits.len());
    let mut at = 0;
    for hit in hits {
        seen.push_str(&text[at..hit.range.start]);
        let start = seen.len();
        seen.push_str(&Rule::replacement(hit.rule));
        offsets.push((start..seen.len(), hit.range.clone()));
        at = hit.range.end;
    }
    seen.push_str(&text[at..]);
    (seen, offsets)
}

/// Where in the text a position of the seen one is: inside a replacement, the secret's start or end.
fn original(offsets: &[Moved], at: usize, end: bool) -> usize {
    let before = offsets.iter().take_while(|(seen, _)| seen.start < at || (!end && seen.start <= at)).last();
    match before {
        None => at,
        Some((seen, secret)) if at < seen.end || (end && at == seen.end) => {
            if end {
                secret.end
            } else {
                secret.start
            }
        }
        Some((seen, secret)) => secret.end + (at - seen.end),
    }
}

/// One look at a segment.
fn once(text: &str, context: Context<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    if text.len() >= 10 {
        for gap in gaps(text) {
            by_form(text, gap, context.last, &mut hits);
        }
    }
    if is_worth_a_look(text) {
        let found = assignment::read(text, context.before, context.at_end).found.into_iter();
        hits.extend(found.map(|found| Hit { range: found.range, rule: found.rule, goes_on: found.goes_on, rank: 2 }));
    }
    let mut hits = merge(text, hits);
    if by_entropy(text, context.before, &mut hits) {
        hits.sort_by_key(|hit| hit.range.start);
    }
    hits
}

/// The stretches of `text` between its replacements.
fn gaps(text: &str) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for (start, _) in text.match_indices("[secret:") {
        if let Some(length) = super::replacement_end(&text[start..]).filter(|_| start >= at) {
            gaps.push(at..start);
            at = start + length;
        }
    }
    gaps.push(at..text.len());
    gaps
}

/// Secrets with a form of their own in one gap.
fn by_form(text: &str, gap: Range<usize>, last: Option<char>, hits: &mut Vec<Hit>) {
    let Some(heads) = PATTERNS.heads.as_ref().filter(|_| gap.len() >= 10) else { return };
    // With the character in front: a pattern's `^` is the start of a line and nothing else.
    let part: Cow<'_, str> = match last.filter(|last| !last.is_whitespace()) {
        _ if gap.start > 0 => Cow::Borrowed(&text[gap.start - 1..gap.end]),
        Some(last) => Cow::Owned(format!("{last}{}", &text[gap.clone()])),
        None => Cow::Borrowed(&text[gap.clone()]),
    };
    let shift = part.len() - gap.len();
    let place = |range: Range<usize>| {
        (range.start >= shift).then(|| gap.start + range.start - shift..gap.start + range.end - shift)
    };
    for index in heads.matches(&part) {
        let pattern = &PATTERNS.patterns[index];
        let Some(regex) = pattern.get() else { continue };
        for found in regex.captures_iter(&part) {
            let Some(secret) = found.get(1).or_else(|| found.get(0)) else { continue };
            let Some(range) = place(secret.range()).filter(|_| is_accepted(pattern.name, secret.as_str())) else {
                continue;
            };
            let end = range.end + run_length(&part[secret.end()..]);
            let goes_on = (end == text.len()).then_some("");
            hits.push(Hit { range: range.start..end, rule: pattern.name, goes_on, rank: 10 + index });
        }
    }
    let cards = number::cards(&part).into_iter().filter_map(place);
    hits.extend(cards.map(|range| Hit { range, rule: "card-number", goes_on: None, rank: 1 }));
}

/// The rest of a run that a pattern did not take whole.
fn run_length(rest: &str) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count()
}

/// Rules whose pattern alone says too little.
fn is_accepted(rule: &str, secret: &str) -> bool {
    match rule {
        "url-password" => {
            let port = secret.find(['?', '#']).is_some_and(|at| secret[..at].bytes().all(|byte| byte.is_ascii_digit()));
            !port && !is_placeholder(secret)
        }
        "basic-auth" => {
            let kinds = Kinds::of(secret);
            !is_placeholder(secret)
                && !secret.starts_with("//")
                && kinds.digits < kinds.length
                && (kinds.digits > 0 || kinds.signs > 0 || kinds.upper > 0)
        }
        "voyage-key" | "vault-token" | "discord-token" => !is_wordy(secret),
        "slack-token" => secret.bytes().any(|byte| byte.is_ascii_digit()),
        _ => true,
    }
}

/// Random runs beside a telling word, where nothing else was found. What is near is what will be
/// left of the line, so that a second look sees the same.
fn by_entropy(text: &str, before: &str, hits: &mut Vec<Hit>) -> bool {
    let Some(run) = RUN.as_ref().filter(|_| text.len() >= 32) else { return false };
    let count = hits.len();
    let mut near = before.to_owned();
    let mut at = 0;
    for next in 0..=count {
        let known = hits.get(next).filter(|_| next < count).map_or(text.len()..text.len(), |hit| hit.range.clone());
        let mut shown = at;
        for found in run.find_iter(&text[at..known.start]) {
            let token = found.as_str().trim_start_matches(['-', '=', '/', '_']);
            let (start, end) = (at + found.end() - token.len(), at + found.end());
            if is_random_run(token) {
                near.push_str(&text[shown..start]);
                shown = start;
                if is_telling(&mut near) {
                    hits.push(Hit { range: start..end, rule: "high-entropy", goes_on: None, rank: 0 });
                    near.push(HIDDEN);
                    shown = end;
                }
            }
        }
        near.push_str(&text[shown..known.start]);
        near.push(HIDDEN);
        at = known.end;
    }
    hits.len() > count
}

/// Does the end of this line make a random run behind it a secret? Shortens it to that end.
fn is_telling(line: &mut String) -> bool {
    let plain = without_replacements(line);
    let start = plain.rfind('\n').map_or(0, |at| at + 1);
    let start = start.max(plain.ceil_char_boundary(plain.len().saturating_sub(64)));
    plain[start..].clone_into(line);
    is(&NEAR, line) && !is(&PUBLIC, line)
}

fn is_random_run(token: &str) -> bool {
    if token.len() > 512 {
        return false;
    }
    let kinds = Kinds::of(token);
    if token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return token.len() >= 40 && kinds.digits > 0 && kinds.digits < kinds.length;
    }
    let public = token.starts_with("AAAA") || token.starts_with("sha256-") || token.starts_with("sha512-");
    token.len() >= 32 && !public && kinds.upper > 1 && kinds.lower > 1 && entropy(token) >= 4.2 && looks_random(token)
}

/// The name in `[secret:NAME]` tells nothing about what follows.
pub(super) fn without_replacements(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[secret:") {
        plain.push_str(&rest[..at]);
        let length = super::replacement_end(&rest[at..]);
        if length.is_some() {
            plain.push(HIDDEN);
        }
        rest = &rest[at + length.unwrap_or("[secret:".len())..];
    }
    plain.push_str(rest);
    plain
}

/// Joins what overlaps; no hit cuts an older replacement in two.
fn merge(text: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    if hits.is_empty() {
        return hits;
    }
    for hit in &mut hits {
        for (at, _) in text.match_indices("[secret:") {
            let Some(length) = super::replacement_end(&text[at..]) else { continue };
            if hit.range.start < at + length && at < hit.range.end {
                hit.range = hit.range.start.min(at)..hit.range.end.max(at + length);
            }
        }
    }
    hits.retain(|hit| {
        super::replacement_end(&text[hit.range.start..]) != Some(hit.range.len()) && !hit.range.is_empty()
    });
    hits.sort_by_key(|hit| (hit.range.start, hit.range.end));
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                if hit.range.end >= last.range.end {
                    last.goes_on = hit.goes_on.or(last.goes_on.filter(|_| hit.range.end == last.range.end));
                }
                last.range.end = last.range.end.max(hit.range.end);
                if hit.rank > last.rank {
                    (last.rule, last.rank) = (hit.rule, hit.rank);
                }
            }
            _ => merged.push(hit),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.heads.is_some());
        for pattern in &PATTERNS.patterns {
            assert!(pattern.get().is_some(), "{}: {}", pattern.name, pattern.source);
        }
        assert!(
            [&*NEAR, &*PUBLIC, &*RUN, &*QUICK, &*ADDRESS, &*HEADER, &*FLAG].iter().all(|pattern| pattern.is_some())
        );
    }
}

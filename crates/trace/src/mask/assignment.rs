//! Values of telling keys: `password = …`, `"api_key": "…"`, `mot de passe : …`, `Bearer …`.
//!
//! Reads one segment of a text. What its end leaves undecided is reported, so that a stream can
//! wait for it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::key::{Class, Key, key_of_name, next_key, open_prefix};
use super::literal::{self, Element, Literal};
use super::value::{
    Kinds, is_code, is_expression, is_named_thing, is_path, is_placeholder, is_wordy, looks_like_password, looks_random,
};

/// A value that is a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
    /// It goes on behind the range, which is at its longest: up to this text.
    pub(super) goes_on: Option<&'static str>,
}

/// What more is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    /// Where the undecided part begins.
    pub(super) from: usize,
    /// Nothing is decided before this text, or the end of the line.
    pub(super) until: Option<&'static str>,
}

/// What a segment holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reading {
    pub(super) found: Vec<Found>,
    pub(super) open: Option<Open>,
}

/// How key and value are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// `key=value` without blanks.
    Tight,
    /// `key: value`, `key = value`.
    Spaced,
    /// In quotes, in an element, or the value of a JSON pair.
    Quoted,
    /// `key is value`, `key | value`, or on the next line: less sure.
    Loose,
    /// `--key value`.
    Flag,
    /// `password value`, alone on a line.
    Line,
    /// Behind a scheme such as `Bearer`; the flag says that the header's name is there too.
    Credentials(bool),
}

/// `is`, `est`, in front of a value.
static VERB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:is|est|c['’]est|was|vaut|égale)[ \u{A0}\u{202F}]{1,4}(?:[:=][ \u{A0}\u{202F}]{0,4})?").ok()
});
/// A type between a key and its value: `: &str = `.
static ANNOTATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[&A-Za-z_][A-Za-z0-9_:<>&'\[\]|?.]{0,40} ?[A-Za-z0-9_<>\[\]]{0,20} ?= {0,4}").ok());
/// Names of schemes in front of credentials.
static SCHEME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^(?:bearer|basic|token|digest|apikey|api-key|negotiate|key)[ \t:]{1,4}").ok());
/// Whose password it is, up to the sign in front of the value.
static QUALIFIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)^(?:(?:du|de|des|pour|for|of|to|on|chez|sur) |d['’])(?:[^\s:=|,;(){}"]{1,30}[ \u{A0}\u{202F}]){0,4}?[^\s:=|,;(){}"]{1,30}[ \u{A0}\u{202F}]?(?::|=|(?:is|est)[ \u{A0}])"#,
    )
    .ok()
});
static QUALIFIER_SO_FAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)^(?:(?:du|de|des|pour|for|of|to|on|chez|sur) |d['’])(?:[^\s:=|,;(){}"]{1,30}[ \u{A0}\u{202F}]){0,5}$"#,
    )
    .ok()
});
/// The end of `machine HOST login NAME` in a netrc file.
static NETRC: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\blogin[ \t]+\S+[ \t]+$").ok());

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn match_end(pattern: &LazyLock<Option<Regex>>, text: &str) -> usize {
    pattern.as_ref().and_then(|pattern| pattern.find(text)).map_or(0, |found| found.end())
}

/// Reads a segment. `before` is what stands before it on the line; `at_end` says that nothing
/// follows.
pub(super) fn read(text: &str, before: &str, at_end: bool) -> Reading {
    let mut reading = Reading::default();
    let mut at = 0;
    while let Some(key) = next_key(text, at) {
        at = key.end;
        match behind(text, &key, before, at_end) {
            Step::None => {}
            Step::Open(until) => {
                reading.open = Some(Open { from: key.start, until }).filter(|_| !at_end);
                break;
            }
            Step::Value(how, literal) => {
                let follow = text[literal.range.end..].chars().next();
                let value = &text[literal.range.clone()];
                if let Some(rule) = rule_of(&key, how, value, follow, literal.ends_line) {
                    at = at.max(literal.range.end);
                    reading.found.push(Found { range: literal.range, rule, goes_on: literal.goes_on });
                }
            }
        }
    }
    if !at_end && reading.open.is_none() {
        reading.open = open_prefix(text).map(|from| Open { from, until: None });
    }
    reading
}

/// The rule for the value of a pair of a JSON object.
pub(super) fn rule_of_pair(name: &str, value: &str) -> Option<&'static str> {
    let key = key_of_name(name)?;
    let (how, value) = match match_end(&SCHEME, value) {
        0 => (How::Quoted, value),
        scheme => (How::Credentials(true), &value[scheme..]),
    };
    rule_of(&key, how, value, None, true)
}

/// True when `name` ends with a word for a password: then a number under it is one too.
pub(super) fn is_password_name(name: &str) -> bool {
    key_of_name(name).is_some_and(|key| key.class == Class::Password)
}

enum Step {
    /// No value.
    None,
    /// More text is needed.
    Open(Option<&'static str>),
    Value(How, Literal),
}

/// Reads what stands behind `key`.
fn behind(text: &str, key: &Key<'_>, before: &str, at_end: bool) -> Step {
    let is_closer = |c: &char| matches!(c, '\\' | '"' | '\'' | '`' | '*' | ']');
    let after_key = key.end + text[key.end..].chars().take(4).take_while(is_closer).map(char::len_utf8).sum::<usize>();
    let at = literal::skip_blanks(text, after_key);
    if at >= text.len() {
        return Step::Open(None);
    }
    let apart = at > after_key;
    let Some((after, mut how)) = operator(text, key, at, apart, before).or_else(|| qualified(text, key, at, apart))
    else {
        let may_follow = apart && key.class != Class::Scheme && is(&QUALIFIER_SO_FAR, &text[at..]);
        return if may_follow { Step::Open(None) } else { Step::None };
    };
    let colon = text[at..after].ends_with([':', '：']);
    let mut at = literal::skip_blanks(text, after);
    // `**Password:** x`
    if text[at..].starts_with("**") {
        at = literal::skip_blanks(text, at + 2);
    }
    if how == How::Tight && at > after {
        how = How::Spaced;
    }
    let line_end = text[at..].chars().take(2).take_while(|c| matches!(c, '\n' | '\r')).count();
    if line_end > 0 {
        if !matches!(how, How::Tight | How::Spaced) || text[at..].starts_with("\n\n") {
            return Step::None;
        }
        at = literal::skip_blanks(text, at + line_end);
        how = How::Loose;
    }
    if at >= text.len() {
        return Step::Open(None);
    }
    if colon {
        at += match_end(&ANNOTATION, &text[at..]);
    }
    value(text, key, at, how, at_end)
}

/// What joins the key and a value: where it ends, and how.
fn operator(text: &str, key: &Key<'_>, at: usize, apart: bool, before: &str) -> Option<(usize, How)> {
    let rest = &text[at..];
    if key.class == Class::Scheme {
        return apart.then_some((at, How::Credentials(false)));
    }
    if rest.starts_with("||") || rest.starts_with("::") {
        return None;
    }
    let signs = ["=>", ":=", "->", "==", "=", ":", "：", "|"];
    if let Some(sign) = signs.into_iter().find(|sign| rest.starts_with(sign)) {
        let how = if sign == "|" { How::Loose } else { How::Tight };
        return Some((at + sign.len(), how));
    }
    if rest.starts_with('>') && text[..key.start].ends_with('<') {
        return Some((at + 1, How::Quoted));
    }
    if !apart {
        return None;
    }
    let verb = match_end(&VERB, rest);
    if verb > 0 {
        return Some((at + verb, How::Loose));
    }
    if key.name.starts_with('-') {
        return Some((at, How::Flag));
    }
    if key.class != Class::Password {
        return None;
    }
    let line = format!("{before}{}", &text[..key.start]);
    if is(&NETRC, &line) {
        return Some((at, How::Tight));
    }
    let starts_line = line.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
    starts_line.then_some((at, How::Line))
}

/// `mot de passe de la box : …`: what the key is of stands between it and the colon.
fn qualified(text: &str, key: &Key<'_>, at: usize, apart: bool) -> Option<(usize, How)> {
    let end = match_end(&QUALIFIER, &text[at..]);
    (apart && key.class != Class::Scheme && end > 0).then_some((at + end, How::Spaced))
}

/// The value from `at`.
fn value(text: &str, key: &Key<'_>, mut at: usize, mut how: How, at_end: bool) -> Step {
    if how == How::Quoted {
        return match literal::element(text, at, at_end) {
            Element::Value(literal) => Step::Value(how, literal),
            Element::Open => Step::Open(Some("<")),
            Element::None => Step::None,
        };
    }
    at += literal::prefix(&text[at..]);
    let quote = literal::quote(&text[at..]);
    let inside = at + quote.map_or(0, |(open, _)| open.len());
    if key.class == Class::Authorization || matches!(how, How::Credentials(_)) {
        let scheme = match_end(&SCHEME, &text[inside..]);
        if scheme > 0 || how == How::Credentials(false) {
            let named = key.class == Class::Authorization;
            let start = literal::skip_blanks(text, inside + scheme);
            return match literal::bare(text, start, false, at_end) {
                Some(literal) => Step::Value(How::Credentials(named), literal),
                None => Step::Open(None),
            };
        }
        // The scheme's name may not be whole yet.
        if !at_end && text[inside..].chars().all(|c| c.is_ascii_alphabetic()) {
            return Step::Open(None);
        }
    }
    if let Some((open, close)) = quote {
        if how != How::Loose {
            how = How::Quoted;
        }
        return match literal::quoted(text, at + open.len(), close, at_end) {
            Some(literal) => Step::Value(how, literal),
            None => Step::Open(Some(close)),
        };
    }
    let in_address = text[..key.start].ends_with(['?', '&']);
    match literal::bare(text, at, in_address, at_end) {
        // What follows on the line decides about a plain word, and whether it is a type.
        Some(literal) if matches!(how, How::Spaced | How::Line | How::Tight) && literal.undecided => Step::Open(None),
        Some(literal) => Step::Value(how, literal),
        None => Step::Open(None),
    }
}

/// The rule that makes this value a secret.
fn rule_of(key: &Key<'_>, how: How, value: &str, follow: Option<char>, ends_line: bool) -> Option<&'static str> {
    // What is masked in part was looked at before.
    if is_placeholder(value) || super::has_replacement(value) {
        return None;
    }
    let lower = key.name.to_lowercase();
    let is_aws = lower.contains("secret") && (lower.contains("aws") || lower.contains("access"));
    if is_aws && is_aws_secret(value) {
        return Some("aws-secret-key");
    }
    let quoted = how == How::Quoted;
    let shouted = !key.weak && key.name.chars().all(|c| !c.is_lowercase());
    let is_constant = shouted && how == How::Tight;
    if !quoted && (is_code(value) || (!is_constant && is_expression(value))) {
        return None;
    }
    let secret = match (key.class, how) {
        (Class::Scheme, _) | (_, How::Credentials(false)) => is_credential(value, &lower),
        (_, How::Credentials(true)) => {
            is_credential(value, "basic") || is_credential(value, "bearer") || looks_random(value)
        }
        (Class::Authorization, _) => looks_random(value),
        (Class::Password, _) => is_password(how, value, follow, ends_line),
        _ => is_key(shouted, key.weak, how, value),
    };
    secret.then(|| rule_name(key.class, &lower))
}

fn is_password(how: How, value: &str, follow: Option<char>, ends_line: bool) -> bool {
    let kinds = Kinds::of(value);
    match how {
        How::Quoted => !is_path(value),
        _ if is_named_thing(value) => false,
        // `login(password=given)` is code.
        How::Tight => {
            let is_name = value.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            kinds.length >= 3 && !(is_name && matches!(follow, Some(')' | ',' | '(' | '[' | ';')))
        }
        How::Spaced => {
            let is_word =
                kinds.length >= 4 && !value.contains(['_', '.', '-', '(']) && !matches!(follow, Some(';' | ',' | ')'));
            looks_like_password(value) || (ends_line && is_word)
        }
        How::Flag => !value.starts_with('-') && kinds.length >= 4 && kinds.upper < kinds.length,
        How::Loose => looks_like_password(value) && kinds.length >= 6 && kinds.digits + kinds.signs < kinds.length,
        How::Line => ends_line && is_password(How::Loose, value, follow, ends_line),
        How::Credentials(_) => false,
    }
}

fn is_key(shouted: bool, weak: bool, how: How, value: &str) -> bool {
    if is_named_thing(value) {
        return false;
    }
    let kinds = Kinds::of(value);
    let mixed = kinds.digits > 0 && kinds.lower + kinds.upper > 0 && !is_wordy(value) && !value.contains(' ');
    match how {
        How::Loose | How::Flag | How::Line => looks_random(value) && kinds.length >= 12,
        How::Tight if shouted => looks_random(value) || (kinds.length >= 8 && kinds.digits < kinds.length),
        How::Quoted if !weak => looks_random(value) || (kinds.length >= 6 && mixed),
        _ => looks_random(value),
    }
}

fn is_aws_secret(value: &str) -> bool {
    value.len() == 40 && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'='))
}

/// What stands behind `Bearer` or `Basic`, when it is no word of a sentence.
fn is_credential(value: &str, scheme: &str) -> bool {
    if scheme.ends_with("basic") {
        return literal::decodes_to_pair(value);
    }
    let kinds = Kinds::of(value);
    let mixed = kinds.digits > 0 || (kinds.upper > 1 && kinds.lower > 1);
    value.is_ascii() && kinds.length >= 16 && mixed && !is_wordy(value) && !is_named_thing(value)
}

fn rule_name(class: Class, name: &str) -> &'static str {
    const PROVIDERS: [&str; 14] = [
        "mistral",
        "cohere",
        "together",
        "deepinfra",
        "nvidia",
        "cerebras",
        "sambanova",
        "serper",
        "serpapi",
        "exa_",
        "brave",
        "searx",
        "ollama",
        "deepgram",
    ];
    let has = |part: &str| name.contains(part);
    match class {
        _ if has("heroku") => "heroku-key",
        _ if has("twilio") => "twilio-key",
        _ if has("cloudflare") || name.starts_with("cf_") => "cloudflare-key",
        _ if has("private_key_id") => "gcp-service-account",
        Class::Password => "password",
        _ if PROVIDERS.iter().any(|provider| has(provider)) => "provider-key",
        Class::Key => "api-key",
        Class::Token => "token",
        Class::Secret => "secret",
        Class::Authorization | Class::Scheme => "authorization",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(text: &str) -> Vec<(&str, &str)> {
        let found = read(text, "", true).found;
        found.iter().map(|found| (&text[found.range.clone()], found.rule)).collect()
    }

    #[test]
    fn passwords_in_every_form() {
        for (text, secret) in [
            ("PASSWORD=tulip", "tulip"),
            ("password: hunter2", "hunter2"),
            ("password: tulip\n", "tulip"),
            ("password = \"two words\"", "two words"),
            ("{\"password\":\"x\"}", "x"),
            ("{\\\"password\\\": \\\"hunter2\\\"}", "hunter2"),
            ("mot de passe : Tulipe!", "Tulipe!"),
            ("Mot de passe\u{A0}: «\u{A0}tulipe bleue\u{A0}»", "tulipe bleue"),
            ("le mot de passe est tulipe42", "tulipe42"),
            ("mdp=abc123", "abc123"),
            ("<password>tulip</password>", "tulip"),
            ("let password: &str = \"hunter2\";", "hunter2"),
            ("Server=a;Password=abc1;Database=b", "abc1"),
            ("--password hunter2 x", "hunter2"),
            ("https://a.example/?user=x&password=tulip&b=1", "tulip"),
            ("machine a login b password tulip", "tulip"),
            ("**Password:** hunter2", "hunter2"),
            ("Password:\nhunter2\n", "hunter2"),
            ("config[\"password\"] = 'tulip'", "tulip"),
            ("pwd => 'ab\\'cd'", "ab\\'cd"),
        ] {
            assert_eq!(secrets(text), [(secret, "password")], "{text}");
        }
    }

    #[test]
    fn keys_and_tokens_need_a_random_value() {
        let random = concat!("a8Fk2Lm9", "Qx4zP1");
        for (text, rule) in [
            ("api_key = ", "api-key"),
            ("clé API : ", "api-key"),
            ("clé : ", "api-key"),
            ("jeton = ", "token"),
            ("\"client_secret\": \"", "secret"),
            ("MISTRAL_API_KEY=", "provider-key"),
            ("Authorization: ", "authorization"),
            ("authorization: Token ", "authorization"),
            ("HEROKU_API_KEY=", "heroku-key"),
        ] {
            assert_eq!(secrets(&format!("{text}{random}")), [(random, rule)], "{text}");
        }
        assert_eq!(secrets("Authorization: Basic dXNlcjpwYXNz"), [("dXNlcjpwYXNz", "authorization")]);
    }

    #[test]
    fn words_of_a_sentence_are_no_values() {
        for text in [
            "The password is required.",
            "Password: at least 12 characters",
            "Mot de passe : choisissez une phrase longue",
            "password: string;",
            "password = getpass.getpass()",
            "login(user=name, password=given)",
            "token: null, secret: none",
            "the bearer of bad news, basic knowledge of things",
            "token = tokens.next()",
            "key: v2-linux-cargo-8",
            "la clé : une longue histoire",
            "PWD=/home/ada",
            "password: [secret:password]",
        ] {
            assert_eq!(secrets(text), [], "{text}");
        }
    }

    #[test]
    fn what_is_undecided_is_awaited() {
        for text in
            ["password ", "password: ", "password: tulip ", "mot de ", "password=\"two ", "Bearer ", "x=1 token=a,b"]
        {
            assert!(read(text, "", false).open.is_some(), "{text}");
        }
        for text in ["password: tulip and ", "the token fell ", "password=\"two\" ", "no key here "] {
            assert_eq!(read(text, "", false).open, None, "{text}");
        }
    }
}

//! Keys that tell that a secret follows: in identifiers and in sentences, English and French.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What kind of key it is: how sure it makes us of the value behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Password,
    Key,
    Token,
    Secret,
    /// The name of the header.
    Authorization,
    /// `Bearer`, `Basic`.
    Scheme,
}

/// A key in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'t> {
    pub(super) class: Class,
    /// The whole identifier, or the words.
    pub(super) name: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// `pass`, `auth`, `cookie`: the key alone says little.
    pub(super) weak: bool,
}

/// Groups: 1 password, 2 short password, 3 key, 4 token, 5 secret, 6 header, 7 scheme, 8 weak.
static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        ( pass(?:word|wd|phrase|code)s? | mots?[\ _-]?de[\ _-]?passes? | phrases?[\ _-](?:de[\ _-]passe|secr[eè]te)
          | codes?[\ _-](?:secret|pin) | pin[\ _-]?codes? | contraseña | passwort | kennwort )
        | ( mdp | pwd )
        | ( (?:api|access|secret|private|priv|signing|encryption|master|licen[cs]e|account|shared|storage|auth|admin|root
            |deploy|session|client|webhook|hmac|primary|secondary|subscription|consumer)[\ _.-]?keys?(?:[\ _-]?id)?
          | cl[ée]f?s?[\ _-](?:d['’e\ _-]{1,4})?(?:api|acc[eè]s|secr[eè]tes?|priv[ée]es?|ma[iî]tre(?:sse)?|chiffrement)
          | cl(?:és?|efs?) )
        | ( tokens? | jetons? )
        | ( secrets? | credentials? )
        | ( authorization )
        | ( bearer | basic )
        | ( pass | pw | psw | pswd | auth | sid | sess(?:ion)?[_-]?id | jsessionid | phpsessid | csrf | otp | cookie )",
    )
    .ok()
});
/// What may follow in the same identifier.
static SUFFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^[_.-]?(?:production|prod|dev|test|staging|live|value|plaintext|plain|text|base64|b64|enc|old|new|current|confirmation|confirm|again|[0-9]{1,3})",
    )
    .ok()
});
/// The beginning of a key of several words, at the end of a text.
static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:^|[^\p{L}\p{N}])((?:mots?(?: de)?|phrase(?: de)?|codes?|api|access|secret|private|signing|encryption|master|licen[cs]e|account|shared|storage|client|session|cl[ée]f?s?(?: d['’e] ?)?) )$",
    )
    .ok()
});

/// The first key at or after `from`.
pub(super) fn next_key(text: &str, from: usize) -> Option<Key<'_>> {
    let mut at = from;
    loop {
        let found = KEY.as_ref()?.captures_at(text, at)?;
        let whole = found.get(0)?;
        let group = (1..=8).find(|group| found.get(*group).is_some())?;
        if let Some(key) = key_at(text, whole.range(), group) {
            return Some(key);
        }
        at = whole.start() + text[whole.start()..].chars().next().map_or(1, char::len_utf8);
    }
}

/// The last key of a name, if the name ends with it.
pub(super) fn key_of_name(name: &str) -> Option<Key<'_>> {
    let mut at = 0;
    let mut last = None;
    while let Some(key) = next_key(name, at) {
        at = key.end;
        last = Some(key);
    }
    last.filter(|key| key.end == name.len())
}

/// Where a key of several words may have begun, at the end of `text`.
pub(super) fn open_prefix(text: &str) -> Option<usize> {
    let found = PREFIX.as_ref()?.captures(text)?;
    found.get(1).map(|words| words.start())
}

fn key_at(text: &str, range: Range<usize>, group: usize) -> Option<Key<'_>> {
    let before = &text[..range.start];
    let matched = &text[range.clone()];
    if is_in_replacement(text, range.start) {
        return None;
    }
    let previous = before.chars().next_back();
    let joined = previous.is_some_and(char::is_alphanumeric) && !before.ends_with("\\n") && !before.ends_with("\\t");
    let hump = previous.is_some_and(char::is_lowercase) && matched.starts_with(char::is_uppercase);
    // `article`, `compass`, `oauth`: short words, and several, count only by themselves.
    let short = matches!(group, 2 | 7 | 8) || matched.contains(' ') || matched.to_lowercase().starts_with("cl");
    if joined && !hump && short {
        return None;
    }
    let suffix = SUFFIX.as_ref().and_then(|suffix| suffix.find(&text[range.end..])).map_or(0, |found| found.end());
    let end = [range.end + suffix, range.end].into_iter().find(|end| !goes_on(&text[*end..]))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let start = before.trim_end_matches(is_part).len();
    let class = match group {
        1 | 2 => Class::Password,
        3 => Class::Key,
        5 => Class::Secret,
        6 => Class::Authorization,
        7 => Class::Scheme,
        _ => Class::Token,
    };
    Some(Key { class, name: &text[start..end], start, end, weak: group == 8 })
}

/// Does the identifier go on: `password_policy`, `token-type`?
fn goes_on(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('-') => rest.next().is_some_and(char::is_alphanumeric),
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    }
}

/// Is `at` inside of `[secret:NAME]`?
fn is_in_replacement(text: &str, at: usize) -> bool {
    let Some(open) = text[..at].rfind('[') else { return false };
    super::replacement_end(&text[open..]).is_some_and(|length| open + length > at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_identifiers() {
        for (text, class, name) in [
            ("DB_PASSWORD=", Class::Password, "DB_PASSWORD"),
            ("dbPassword:", Class::Password, "dbPassword"),
            ("PGPASSWORD=", Class::Password, "PGPASSWORD"),
            ("le mot de passe :", Class::Password, "mot de passe"),
            ("mdp=", Class::Password, "mdp"),
            ("MYSQL_PWD=", Class::Password, "MYSQL_PWD"),
            ("x-api-key:", Class::Key, "x-api-key"),
            ("SecretAccessKey", Class::Key, "SecretAccessKey"),
            ("clé d'API :", Class::Key, "clé d'API"),
            ("clé :", Class::Key, "clé"),
            ("access_token_prod=", Class::Token, "access_token_prod"),
            ("jeton", Class::Token, "jeton"),
            ("password2", Class::Password, "password2"),
            ("Bearer x", Class::Scheme, "Bearer"),
        ] {
            let key = next_key(text, 0).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((key.class, key.name), (class, name), "{text}");
        }
    }

    #[test]
    fn other_words_are_no_keys() {
        for text in [
            "password_policy: x",
            "token_type: x",
            "tokenizer",
            "article",
            "véhicule",
            "compass",
            "oauth",
            "keyboard",
            "token-count",
            "[secret:password]",
            "[secret:api-key]",
            "clémentine",
            "passenger",
            "secretary",
            "basics",
        ] {
            assert!(next_key(text, 0).is_none(), "{text}: {:?}", next_key(text, 0));
        }
    }

    #[test]
    fn a_key_of_several_words_is_awaited() {
        for text in ["mon mot ", "mot de ", "clé ", "the API ", "clé d'", "access "] {
            assert!(open_prefix(&format!("{} ", text.trim_end())).is_some(), "{text}");
        }
        assert!(open_prefix("motte ").is_none() && open_prefix("mot").is_none());
    }
}

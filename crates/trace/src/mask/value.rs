//! Does a text look like a secret, a placeholder, or something else?

use std::sync::LazyLock;

use regex::Regex;

/// What stands where a secret would, and is none.
const PLACEHOLDERS: &str = "\
    string str text null nil none true false undefined required optional value any bool boolean int integer number \
    object array bytes char varchar type option secret password passwd pwd pass token key bearer basic digest oauth \
    oauth2 jwt auth apikey api_key credentials user username login env hidden invalid missing empty unset default \
    changed incorrect wrong expired valid ok error failed yes no test foo bar todo tbd n/a na mot passe mdp \
    motdepasse oui non requis requise obligatoire facultatif vide masqué chaîne texte invalide manquant jeton clé \
    incorrecte oublié expiré the a an is your my must should will can and or for of to in on if le la les un une des \
    du de votre ton mon et ou pour dans est doit public private static const let var new self this func function \
    return async await import from same redacted censored removed placeholder";

/// Whole texts that are no secret wherever they stand: references, templates, names of algorithms.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
        \[secret:.* | …+
        | <[^<>]*>? | \{\{.* | \{[\w.\ ]*\}? | %\w*%? | %\(\w+\)s                    # <password>, {{ password }}, %PASSWORD%
        | \$[A-Z_][A-Z0-9_]* | \$[a-z_]+ | \$\{.* | \$\(.* | @[\w.{]+$ | \#\{.*     # shell, templates
        | \*{3,}\S* | \.{2,}.* | [•●∙·_=\-]+ | x{3,}\S* | X{3,}\S*
        | (?i:your|votre|insert|replace|enter)[-_\ ]\D*
        | (?i:my|mon|ma)[-_](?i:password|passwd|token|secret|api|key|mot|mdp)\D*
        | (?i:sha|md|aes|rsa|hmac|ecdsa|argon|bcrypt|scrypt|pbkdf|utf|base|oauth|tls|saml|ldap)
          [-_]?(?:1|2|2id?|3|5|8|16|32|64|128|192|224|256|384|512|1024|2048|4096)?[.,;]?
        )$",
    )
    .ok()
});
/// Whole texts without quotes that are code, types, or lengths.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
        [<>{}%…].* | \$[\w{(].*
        | (?i:process\.env|os\.environ|env|self|this|config|settings|args|opts|options|params|req|request|ctx|secrets|vars|data|input)[.\[(].*
        | [A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_<>]*)+.*
        | [a-zA-Z_][\w.:]*\(.*
        | &(?:'\w+\ )?(?:mut\ )?[A-Za-z]\w* | (?:Option|Vec|Box|Arc|String|Secret|List|Dict|Array|Map|Promise)(?:<.*|\b[A-Za-z]*)
        | \d{1,2}[-–+]\d{1,3}\S* | \d{1,3}\+?
        )$",
    )
    .ok()
});
/// Addresses, paths, versions, dates.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^(?:
        [A-Za-z][A-Za-z0-9+.-]*://.* | (?:\.{0,2}|~)/.* | [A-Za-z]:\\.*
        | v?\d+(?:\.\d+)+\S* | \d{4}-\d{2}-\d{2}\S* | \d{1,2}[/:h.]\d{1,2}\S*
        | [\w./-]+\.(?:rs|py|js|ts|go|c|h|cpp|java|json|toml|ya?ml|md|txt|pem|key|crt|html?|css|png|jpe?g|svg|pdf|sh|env|lock|xml|csv)
        | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
        )$",
    )
    .ok()
});

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Bits a character, by Shannon, over the bytes of `text`.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    let bits = |count: u32| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}

/// Counts of the kinds of characters.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Kinds {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) signs: usize,
    pub(super) length: usize,
}

impl Kinds {
    pub(super) fn of(text: &str) -> Self {
        let mut kinds = Self::default();
        for c in text.chars() {
            kinds.length += 1;
            match c {
                c if c.is_numeric() => kinds.digits += 1,
                c if c.is_uppercase() => kinds.upper += 1,
                c if c.is_alphabetic() => kinds.lower += 1,
                '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '+' | '=' | '?' | '~' | '€' | '£' | '§' => {
                    kinds.signs += 1;
                }
                _ => {}
            }
        }
        kinds
    }

    fn letters(self) -> usize {
        self.lower + self.upper
    }
}

/// A word of documentation, a template's variable, an expression.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let bare = text.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
    let lower = bare.to_lowercase();
    let first = text.chars().next();
    bare.is_empty()
        || PLACEHOLDERS.split(' ').any(|word| word == lower)
        || text.contains("...")
        || text.contains('…')
        || text.contains("${")
        || text.contains("{{")
        || (text.len() > 2 && text.chars().all(|c| Some(c) == first))
        || is(&REFERENCE, text)
        || is_label(&lower)
}

/// A call, a type, a length: only where no quotes are around it.
pub(super) fn is_code(text: &str) -> bool {
    is(&CODE, text)
}

/// `Enter your password`, `Mot de passe oublié`: several words, one of which names the thing.
fn is_label(lower: &str) -> bool {
    const NAMES: [&str; 9] = ["password", "passe", "secret", "token", "jeton", "api key", "key", "clé", "passphrase"];
    let words = lower.split_whitespace().count();
    words > 1 && NAMES.iter().any(|name| lower.contains(name)) && !lower.chars().any(|c| c.is_ascii_digit())
}

/// A path or an address.
pub(super) fn is_path(text: &str) -> bool {
    let drive = text.as_bytes().get(1..3) == Some(b":\\");
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let address =
        scheme.is_some_and(|scheme| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    drive || address || ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start))
}

/// `user.password`, `next_token`: a name in code.
pub(super) fn is_expression(text: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let dotted = text.contains('.') && text.split('.').all(is_name);
    let snake = text.contains('_') && is_name(text) && !text.chars().any(char::is_uppercase);
    dotted || snake
}

/// Is it a path, an address, a version, a date?
pub(super) fn is_named_thing(text: &str) -> bool {
    is(&NAMED, text)
}

/// A password that stands in a sentence or on a line: more than a word.
pub(super) fn looks_like_password(text: &str) -> bool {
    let kinds = Kinds::of(text);
    let digits_only = kinds.digits == kinds.length;
    let strong = kinds.signs > 0 || kinds.digits > 0;
    let inner_upper = kinds.lower > 0 && text.chars().skip(1).any(char::is_uppercase) && !is_cased(text);
    (kinds.length >= 5 && strong && !(digits_only && kinds.length < 6)) || (kinds.length >= 8 && inner_upper)
}

/// A random-looking key or token of 8 characters or more: not words, numbers, paths or versions.
pub(super) fn looks_random(text: &str) -> bool {
    let kinds = Kinds::of(text);
    if kinds.length < 8
        || !text.bytes().all(|byte| byte.is_ascii_graphic())
        || is_named_thing(text)
        || kinds.digits == kinds.length
    {
        return false;
    }
    let hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hex && kinds.length >= 16 && kinds.digits > 0 {
        return true;
    }
    if is_wordy(text) {
        return false;
    }
    let both = kinds.digits > 0 && kinds.letters() > 0;
    (kinds.digits >= 2 && kinds.letters() >= 2 && kinds.length >= 10 && entropy(text) >= 2.75)
        || (both && kinds.upper > 0 && kinds.lower > 0 && kinds.length >= 12)
        || (both && kinds.signs >= 2)
        || (kinds.upper > 4 && kinds.lower > 4 && kinds.length >= 20 && entropy(text) >= 3.8)
}

/// Words and short numbers with separators between: `v2-linux-cargo-8`, `src/main/Token/Key2`.
pub(super) fn is_wordy(text: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbers = part.len() - letters.len();
        letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && letters.len() <= 16
            && numbers <= 4
            && is_cased(letters)
    };
    text.split(['-', '_', '.', '/', ':', '+', '=']).all(is_word)
}

/// Cased like words: at most one hump for every three letters.
fn is_cased(letters: &str) -> bool {
    let bytes = letters.as_bytes();
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    humps * 3 <= bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits() {
        assert!(entropy("aaaa").abs() < 1e-12);
        assert!((entropy("abcd") - 2.0).abs() < 1e-12);
        assert!((entropy("0123456789abcdef") - 4.0).abs() < 1e-12);
    }

    #[test]
    fn placeholders_are_none() {
        for text in [
            "string",
            "null",
            "<password>",
            "${DB_PASSWORD}",
            "$PASSWORD",
            "{{ password }}",
            "********",
            "xxxxxxxx",
            "your_api_key",
            "your-token-here",
            "Enter your password",
            "Mot de passe oublié ?",
            "SHA-256,",
            "bcrypt",
            "[secret:password]",
            "…",
            "%DB_PASS%",
            "required,",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "hunter2",
            "tulipe",
            "correct horse battery staple",
            "S3cr3t!",
            "changeme",
            "p@ss",
            "1234567",
            "%Kd93!x",
            "{x9!a-7",
            "$ecr3t1",
            "*abc123",
            "my-dog-rex1",
            "base64rocks",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
        for text in [
            "process.env.TOKEN",
            "getpass()",
            "os.environ[\"X\"]",
            "8-64",
            "&str",
            "Option<String>",
            "std::env::var",
            "user.password",
        ] {
            assert!(is_code(text) || is_expression(text), "{text}");
        }
    }

    #[test]
    fn random_is_not_wordy() {
        for text in ["a8Fk2Lm9Qx4z", "9f86d081884c7d65", "Xy7-kQ2_pL9wZ3", "550e8400-e29b-41d4-a716-446655440000"] {
            assert!(looks_random(text), "{text}");
        }
        for text in [
            "v2-linux-cargo-8",
            "gpt-4o-mini",
            "prod-db-2024",
            "T_IDENT2",
            "/etc/ssl/key1.pem",
            "1.2.3-beta4",
            "4096",
            "2024-05-01T10:00:00Z",
            "https://a.example/k3y",
            "identifier",
            "src/main/Token/Key2",
            "user@example42.org",
        ] {
            assert!(!looks_random(text), "{text}");
        }
    }
}

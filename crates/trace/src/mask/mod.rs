//! Secrets masked before a model, a journal or a page sees them (K46, K52).
//!
//! [`mask`] replaces every secret in a text with `[secret:RULE]`; [`mask_value`] does so in JSON,
//! where keys tell what their values are; [`Masker`] does so in text that arrives in pieces, with
//! the same result. [`RULES`] lists what is covered. All of it is idempotent and linear in time.
//!
//! # What is found
//! - Tokens with a form of their own: a pattern each, tried only where its fixed part stands.
//! - Private keys: the whole block, also when its end is missing.
//! - Values of telling keys (`password`, `mot de passe`, `api_key`, `jeton` …) in `KEY=value`,
//!   `key: value`, JSON, XML, command lines, addresses and sentences. Any value of a password in
//!   quotes or behind `=`; elsewhere, and for other keys, one that looks like a secret.
//! - Random runs beside such a word: base64-like of 32 characters and 4.2 bits each, hex of 40.
//! - Payment card numbers with a right check digit. Account numbers (IBAN) are left: see
//!   `number.rs`.
//!
//! # What is not
//! - A secret without a form and without a telling word beside it: nobody can tell it from a hash.
//! - A password of plain words in the middle of a sentence, without quotes.
//! - Text that was encoded (base64, archives). Placeholders, references such as `${TOKEN}`, and
//!   code such as `password = read()` are left on purpose.

mod assignment;
mod block;
mod json;
mod key;
mod literal;
mod number;
mod rule;
mod rules;
mod scan;
mod stream;
#[cfg(test)]
mod tests;
mod value;

pub use json::mask_value;
pub use rule::{Rule, Sample};
pub use rules::RULES;
pub use stream::Masker;

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text with `[secret:RULE]` in their places.
    pub text: String,
    /// Names of the rules that matched, each once, in the order of their first match.
    pub found: Vec<&'static str>,
}

/// Masks every secret in `text`.
pub fn mask(text: &str) -> Masked {
    let mut masker = Masker::new();
    let mut masked = masker.push(text);
    masked.push_str(&masker.finish());
    Masked { text: masked, found: masker.found().to_vec() }
}

/// True when [`mask`] would replace something.
pub fn contains_secret(text: &str) -> bool {
    !mask(text).found.is_empty()
}

/// Is there a `[secret:NAME]` in `text`?
fn has_replacement(text: &str) -> bool {
    text.match_indices("[secret:").any(|(at, _)| replacement_end(&text[at..]).is_some())
}

/// The length of the `[secret:NAME]` at the start of `text`, if there is one.
fn replacement_end(text: &str) -> Option<usize> {
    const LONGEST_NAME: usize = 40;
    let name = text.strip_prefix("[secret:")?;
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let length = name.bytes().take(LONGEST_NAME).take_while(|byte| is_name(byte)).count();
    (length > 0 && name.as_bytes().get(length) == Some(&b']')).then_some("[secret:".len() + length + 1)
}

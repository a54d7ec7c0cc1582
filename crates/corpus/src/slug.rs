//! Names of files from texts.

use sha2::{Digest as _, Sha256};

use crate::corpus::hex;

/// Letters that are not ASCII and have a plain form.
const PLAIN: [(&str, &str); 7] =
    [("àáâãäå", "a"), ("ç", "c"), ("èéêë", "e"), ("ìíîï", "i"), ("òóôõöø", "o"), ("ùúûü", "u"), ("œ", "oe")];
const LONGEST: usize = 40;

/// Lower case, `a-z0-9` and single dashes, at most 40 characters; `x` for a text without any of these.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.to_lowercase().chars() {
        let plain = PLAIN.iter().find(|(forms, _)| forms.contains(letter)).map(|(_, plain)| *plain);
        match (plain, letter) {
            (Some(plain), _) => slug.push_str(plain),
            (None, 'a'..='z' | '0'..='9') => slug.push(letter),
            (None, '\'' | '’') => {}
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.truncate(LONGEST);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "x".to_owned() } else { slug.to_owned() }
}

/// Eight hex digits of SHA-256 over the parts.
pub(crate) fn hashed(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize()[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(slug("Qu'est-ce que c'est, œuvre n° 3 ?"), "quest-ce-que-cest-oeuvre-n-3");
        assert_eq!((slug("¿?"), slug("kokoro:af_bella")), ("x".to_owned(), "kokoro-af-bella".to_owned()));
        assert!(slug(&"word ".repeat(30)).len() <= LONGEST);
        assert_ne!(hashed(&["ab", "c"]), hashed(&["a", "bc"]));
    }
}

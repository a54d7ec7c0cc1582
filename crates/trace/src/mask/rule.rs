//! What a rule is, and seeded samples of what it covers.

/// How a rule finds what it covers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Finder {
    /// A linear-time pattern; its first group, or all of it, is the secret. It is tried only where
    /// one of `heads` stands, and for a `token` only where none goes on.
    Pattern { heads: &'static [&'static str], pattern: &'static str, token: bool },
    /// Code of this module: the value of a telling key, a block, a number with a check digit.
    Code,
}

/// One kind of secret.
///
/// Patterns are written from the public descriptions of the tokens. A secret that has no form of
/// its own is found by the key in front of it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable name, in `[secret:NAME]`: lower case, digits and hyphens.
    pub name: &'static str,
    /// What it covers, in words.
    pub covers: &'static str,
    pub(super) finder: Finder,
    pub(super) parts: &'static [Part],
}

/// A piece of a sample. Samples are put together from pieces, so that no file has a whole token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// Around the secret, not part of it.
    Around(&'static str),
    /// Fixed text of the secret.
    Text(&'static str),
    /// This many random characters of an alphabet.
    Any(&'static str, usize),
    /// A card number of 16 digits with this prefix and a right check digit, in groups of four when
    /// the flag is set.
    Card(&'static str, bool),
}

/// Alphabets of tokens.
pub(super) mod alphabet {
    pub(crate) const DIGITS: &str = "0123456789";
    pub(crate) const HEX: &str = "0123456789abcdef";
    pub(crate) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
    pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    pub(crate) const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    pub(crate) const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

/// A sample of a rule: made up, from a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The secret with what must stand around it for the rule to know it.
    pub text: String,
    /// The random pieces of the secret, none of which may be left: 4 characters or more each.
    pub pieces: Vec<String>,
}

impl Rule {
    /// A made-up secret of this kind; the same for the same seed.
    pub fn sample(&self, seed: u64) -> Sample {
        let mut random = Random(seed ^ 0x9E37_79B9_7F4A_7C15);
        let mut sample = Sample { text: String::new(), pieces: Vec::new() };
        for part in self.parts {
            match *part {
                Part::Around(text) | Part::Text(text) => sample.text.push_str(text),
                Part::Any(alphabet, length) => {
                    let piece = random.text(alphabet, length);
                    sample.text.push_str(&piece);
                    if length >= 4 {
                        sample.pieces.push(piece);
                    }
                }
                Part::Card(prefix, grouped) => {
                    let digits = random.card(prefix);
                    let joint = if grouped { " " } else { "" };
                    let groups: Vec<&str> = (0..4).map(|group| &digits[group * 4..group * 4 + 4]).collect();
                    sample.text.push_str(&groups.join(joint));
                    sample.pieces.push(groups[1..3].join(joint));
                }
            }
        }
        sample
    }

    /// What replaces a secret of this kind.
    pub(super) fn replacement(name: &str) -> String {
        format!("[secret:{name}]")
    }
}

/// SplitMix64: samples have to be the same everywhere, and nothing else.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[(self.next() % letters.len() as u64) as usize])).collect()
    }

    fn card(&mut self, prefix: &str) -> String {
        let body = format!("{prefix}{}", self.text(alphabet::DIGITS, 15 - prefix.len()));
        let check = (0..10).map(|digit| format!("{body}{digit}")).find(|number| super::number::has_check_digit(number));
        check.unwrap_or(body)
    }
}

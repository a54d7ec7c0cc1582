//! How far a transcript is from what was said: word and character errors.

use serde::Serialize;

use crate::normalise::normalise;

/// Errors and the length they are a part of; sums over clips give rates that long clips weigh more in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Errors {
    /// Substitutions, insertions and deletions.
    pub edits: u64,
    /// Words or characters of what was said.
    pub length: u64,
}

impl Errors {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self { edits: self.edits + other.edits, length: self.length + other.length }
    }

    /// Errors over length: may be above 1; `None` where nothing was said.
    pub fn rate(self) -> Option<f64> {
        (self.length > 0).then(|| self.edits as f64 / self.length as f64)
    }
}

/// A transcript against what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Distance {
    /// The same after normalisation.
    pub same: bool,
    /// Word errors.
    pub words: Errors,
    /// Character errors, spaces left out.
    pub characters: Errors,
}

/// Compares after normalisation.
pub fn distance(said: &str, heard: &str, language: &str) -> Distance {
    let (said, heard) = (normalise(said, language), normalise(heard, language));
    let letters = |words: &[String]| words.iter().flat_map(|word| word.chars()).collect::<Vec<char>>();
    let (said_letters, heard_letters) = (letters(&said), letters(&heard));
    Distance {
        same: said == heard,
        words: Errors { edits: edits(&said, &heard), length: said.len() as u64 },
        characters: Errors { edits: edits(&said_letters, &heard_letters), length: said_letters.len() as u64 },
    }
}

/// The Levenshtein distance.
pub fn edits<T: PartialEq>(a: &[T], b: &[T]) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i as u64 + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + u64::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        assert_eq!(edits(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(edits(&letters(""), &letters("abc")), 3);
        // jiwer 3: wer("the cat sat on the mat", "the cat sit on mat") = 2/6.
        let found = distance("The cat sat on the mat.", "the cat sit on mat", "en");
        assert_eq!(found.words, Errors { edits: 2, length: 6 });
        assert!(distance("Kora, read 3", "kora read three.", "en").same);
        assert_eq!(distance("", "hello", "en").words.rate(), None);
    }

    proptest! {
        #[test]
        fn a_distance_is_a_distance(a in "[ab]{0,8}", b in "[ab]{0,8}", c in "[ab]{0,8}") {
            let d = |x: &str, y: &str| edits(x.as_bytes(), y.as_bytes());
            prop_assert_eq!(d(&a, &b), d(&b, &a));
            prop_assert!(d(&a, &c) <= d(&a, &b) + d(&b, &c));
            prop_assert_eq!(d(&a, &b) == 0, a == b);
        }
    }
}

//! Requests held against each other: the same again in other words, and what there is a case for.

use std::collections::BTreeSet;

use tenpass_agent::{content_words, fold};

/// Share of common words from which on two requests are one, for a suite.
const DUPLICATE: f64 = 0.8;
/// Share of common words from which on the second asks what the first did.
const AGAIN: f64 = 0.5;
/// The same, when the second begins like an objection.
const AGAIN_AFTER_NO: f64 = 0.25;
/// Words of a request that are looked at.
const MOST_WORDS: usize = 400;

/// A request as what it says: content words and their neighbours, folded and stemmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gist {
    whole: String,
    words: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
}

impl Gist {
    pub(super) fn of(text: &str) -> Self {
        let words: Vec<String> = content_words(text).into_iter().take(MOST_WORDS).collect();
        let pairs = words.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let whole = fold(text)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        Self { whole, words: words.into_iter().collect(), pairs }
    }

    /// True when a case about one would be a case about the other.
    pub(super) fn is_duplicate_of(&self, other: &Self) -> bool {
        if self.whole == other.whole {
            return true;
        }
        let shingles = |gist: &Self| !gist.pairs.is_empty();
        let words = share(&self.words, &other.words);
        if shingles(self) && shingles(other) {
            f64::midpoint(words, share(&self.pairs, &other.pairs)) >= DUPLICATE
        } else {
            !self.words.is_empty() && words >= 1.0
        }
    }

    /// True when this, said after `before`, asks for the same.
    pub(super) fn asks_again(&self, text: &str, before: &Self) -> bool {
        if self.whole == before.whole {
            return !self.whole.is_empty();
        }
        let common = self.words.intersection(&before.words).count();
        let least = self.words.len().min(before.words.len());
        if least == 0 || common == 0 {
            return false;
        }
        let share = common as f64 / least as f64;
        (share >= AGAIN && common >= 2) || (objects(text) && share >= AGAIN_AFTER_NO)
    }
}

fn share<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> f64 {
    let union = one.union(other).count();
    if union == 0 { 0.0 } else { one.intersection(other).count() as f64 / union as f64 }
}

/// True for a message that begins like an objection to the answer before it.
pub(super) fn objects(text: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "no ",
        "no,",
        "non ",
        "non,",
        "not that",
        "not what",
        "i said",
        "i meant",
        "i asked",
        "again",
        "try again",
        "wrong",
        "that is not",
        "that's not",
        "i want",
        "je voulais",
        "je veux",
        "j'ai dit",
        "j'ai demande",
        "ce n'est pas",
        "c'est pas",
        "pas ca",
        "pas cela",
        "encore une fois",
        "recommence",
        "refais",
        "reessaie",
        "essaie encore",
        "plutot",
        "mais ",
        "but ",
        "please actually",
        "actually",
    ];
    let folded = fold(text.trim_start());
    OPENINGS.iter().any(|opening| folded.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(before: &str, after: &str) -> bool {
        Gist::of(after).asks_again(after, &Gist::of(before))
    }

    #[test]
    fn the_same_in_other_words_is_the_same() {
        assert!(again("Lis le fichier budget.xlsx et donne le total", "Donne-moi le total du fichier budget.xlsx"));
        assert!(again("Save the notes as tea.md", "No, save them as tea.md"));
        assert!(again("read notes.md", "read notes.md"));
        assert!(!again("Read notes.md", "What is the weather in the mountains?"));
        assert!(!again("merci", "oui"));
        assert!(!again("Read notes.md", "Thanks!"));
    }

    #[test]
    fn what_there_is_a_case_for_is_a_duplicate() {
        let is = |one: &str, other: &str| Gist::of(one).is_duplicate_of(&Gist::of(other));
        assert!(is("Read notes.md, please.", "read Notes.md please"));
        assert!(is("Écris la lettre au propriétaire", "ecris la lettre au proprietaire !"));
        assert!(!is("Read notes.md", "Read budget.xlsx"));
        assert!(!is("Delete the file a.txt", "Write the file a.txt"));
        assert!(is("?", "!"), "nothing against nothing");
    }
}

//! Announcements without an act (K13): "I'll open it", "Je vais l'ouvrir", "un instant, je cherche…".
//!
//! Looked at is the ANSWER of a turn in which no tool ran. Counted is the first person announcing,
//! or claiming to be in the middle of, something that only a tool does. Not counted: negations,
//! offers and conditions, questions, reports of the past, what the user should do, quotations, and
//! words that the answer itself delivers ("let me explain", "I'll write you a poem"). Linear in the
//! length of the answer; rules are regular expressions over folded text, one sentence at a time.

mod patterns;
mod phrases;
mod sentences;
mod verbs;

#[cfg(test)]
mod corpus;

use crate::words::fold;

/// True when a sentence of the answer announces an act.
pub fn is_narrated(answer: &str) -> bool {
    narrated(answer).is_some()
}

/// The first sentence that announces an act, folded to lower case without accents.
pub fn narrated(answer: &str) -> Option<String> {
    /// Characters that are looked at: an announcement in a longer answer is not its point.
    const LOOKED_AT: usize = 8_000;
    let start: String = answer.chars().take(LOOKED_AT).collect();
    let folded = fold(&sentences::without_quotations(&start));
    sentences::split(&folded).find(|sentence| patterns::announces(sentence)).map(|sentence| sentence.trim().to_owned())
}

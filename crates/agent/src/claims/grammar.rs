//! What both grammars share: the reader of a clause, the head of a verb group, its modality.

use serde::Serialize;

use super::concept::Concept;
use super::tokens::{Kind, Token};
use super::verbs::Lexicon;

/// How a clause stands to its act: tense, mood and polarity in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Modality {
    /// It was done.
    Done,
    /// It was tried, or was to be, and did not come off.
    Failed,
    /// It was not done.
    NotDone,
    /// It was tried; how it ended stands elsewhere.
    Attempted,
    /// It is going on.
    Doing,
    /// A habit, or a present without an end.
    Present,
    /// It will be done.
    Will,
    /// It can be done.
    Can,
    /// It will be possible.
    CanWill,
    /// It could be done: an offer.
    Could,
    /// It cannot be done.
    Cannot,
    /// Leave is asked to do it.
    Asks,
    /// It stands under a condition.
    Conditional,
    /// Someone else says so, or it is a guess.
    Reported,
    /// A wish, a duty, a counterfactual: nothing is said about the world.
    Unasserted,
    /// A form of "to be" before it is known what follows; never in a claim.
    #[doc(hidden)]
    Is,
    /// As [`Modality::Is`], in the past.
    #[doc(hidden)]
    Was,
}

impl Modality {
    /// The same under a negation.
    pub(super) fn negate(self, negated: bool) -> Self {
        if !negated {
            return self;
        }
        match self {
            Self::Done | Self::Attempted => Self::NotDone,
            Self::Could => Self::Failed,
            Self::Can | Self::CanWill => Self::Cannot,
            Self::Failed | Self::NotDone | Self::Cannot => self,
            _ => Self::Unasserted,
        }
    }
}

/// A verb with everything its group says about it.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The verb's token.
    pub(super) at: usize,
    /// The first token of the group.
    pub(super) start: usize,
    pub(super) concept: Concept,
    pub(super) lemma: String,
    pub(super) modality: Modality,
    pub(super) passive: bool,
    /// Present perfect, or its passive.
    pub(super) perfect: bool,
    pub(super) past: bool,
    /// Which forms a verb joined by "and" must have.
    pub(super) mask: u16,
    /// French object pronouns before the verb.
    pub(super) clitics: Vec<usize>,
}

/// Where a verb's objects end, and the next verb of the same group.
pub(super) struct Coordinates {
    pub(super) end: usize,
    pub(super) next: Option<Head>,
}

/// Reads the verb groups of one clause.
pub(super) struct Reader<'t> {
    /// The tokens of the sentence.
    pub(super) tokens: &'t [Token],
    pub(super) lexicon: &'t Lexicon,
    /// One past the last token of the clause.
    pub(super) to: usize,
}

impl<'t> Reader<'t> {
    /// The folded word at `at`, or nothing outside of the clause.
    pub(super) fn word(&self, at: usize) -> &'t str {
        if at < self.to { self.tokens.get(at).map_or("", Token::word) } else { "" }
    }

    /// The word with its accents.
    pub(super) fn accented(&self, at: usize) -> &'t str {
        if at < self.to {
            self.tokens.get(at).filter(|token| token.kind == Kind::Word).map_or("", |token| &token.text)
        } else {
            ""
        }
    }
}

//! Whose act a clause tells: the assistant's, a passive's, or someone else's.

use super::clause::{self, Clause, Governor, Link};
use super::concept::Concept;
use super::dates::{dated, is_year};
use super::extract::{Found, Passage, Subject};
use super::grammar::{Head, Modality, Reader};
use super::language::Language;
use super::nouns::class;
use super::objects;
use super::stance;
use super::tokens::Token;

impl Passage<'_> {
    /// The first verb group of a clause that speaks of an act of the assistant's.
    pub(super) fn find(
        &self,
        reader: &Reader<'_>,
        clauses: &[Clause],
        index: usize,
        before: Subject,
    ) -> Option<(Found, Subject)> {
        let clause = clauses[index];
        let first = (clause.from..clause.to).find(|at| self.first_person_at(*at));
        if let Some(at) = first {
            let inverted = at > clause.from
                && clause::FINITE.contains(&reader.word(at - 1))
                && !matches!(reader.word(at - 1), "a" | "as" | "l'");
            if inverted {
                return None;
            }
            let offer = matches!(reader.word(at), "let" | "laissez" | "laisse");
            let Some(head) = self.group(reader, if offer { at } else { at + 1 }) else {
                return self.third_person(reader, clauses, index).map(|found| (found, Subject::Other));
            };
            let generic = matches!(head.lemma.as_str(), "do" | "finish") && head.at + 1 >= clause.to;
            if head.passive && !generic {
                return None;
            }
            let linked = matches!(clause.link, Link::That | Link::Bare) && clause.governor == Governor::None;
            let antecedent =
                linked.then(|| index.checked_sub(1).map(|before| (clauses[before].from, clauses[before].to))).flatten();
            let found = Found { head, from: at, subject: (at, at + 1), antecedent, elliptical: generic };
            return Some((found, Subject::First));
        }
        if let Some(found) = self.third_person(reader, clauses, index) {
            return Some((found, Subject::Other));
        }
        if before != Subject::Other
            && let Some(found) = self.elliptical(reader, clause)
        {
            return Some((found, Subject::First));
        }
        None
    }

    pub(super) fn group(&self, reader: &Reader<'_>, at: usize) -> Option<Head> {
        match self.language {
            Language::English => reader.english_group(at),
            Language::French => reader.french_group(at),
        }
    }

    pub(super) fn first_person_at(&self, at: usize) -> bool {
        let tokens = &self.sentence.tokens;
        let word = tokens[at].word();
        let next = tokens.get(at + 1).map_or("", Token::word);
        match self.language {
            Language::English => matches!(word, "i" | "we") || word == "let" && next == "me",
            Language::French => {
                matches!(word, "je" | "j'")
                    || matches!(word, "laissez" | "laisse") && next == "moi"
                    || word == "nous" && (clause::FINITE.contains(&next) || next.ends_with("ons"))
                    || word == "on" && clause::FINITE.contains(&next)
            }
        }
    }

    /// "The file has been saved", "the system saved it".
    pub(super) fn third_person(&self, reader: &Reader<'_>, clauses: &[Clause], index: usize) -> Option<Found> {
        let clause = clauses[index];
        if clause.relative {
            return None;
        }
        for at in clause.from..clause.to {
            let word = reader.word(at);
            let auxiliary = self.auxiliary(reader, at);
            let agent = AGENTS.contains(&word) && at + 1 < clause.to;
            if !auxiliary && !agent {
                continue;
            }
            let left = if at > clause.from { reader.word(at - 1) } else { "" };
            if matches!(left, "you" | "tu" | "vous" | "he" | "she" | "y" | "who" | "qui") {
                continue;
            }
            let (head, by_agent) = match (auxiliary, agent) {
                (true, _) => (self.group(reader, at), AGENTS.contains(&left)),
                (false, _) => (self.group(reader, at + 1), true),
            };
            let Some(head) = head else { continue };
            let end = if agent { at + 1 } else { at };
            let subject = subject_range(clauses, index, end);
            let troubled = (clause.from..at)
                .any(|at| matches!(reader.word(at), "error" | "problem" | "issue" | "erreur" | "probleme"));
            if troubled {
                return None;
            }
            // "The song is now playing" says that it was started.
            let playing = head.concept == Concept::Play && head.modality == Modality::Doing && !head.passive;
            let head = if playing { Head { passive: true, modality: Modality::Done, ..head } } else { head };
            if head.passive && !agent {
                let unasserted = clause.link != Link::Bare && stance::reports_within(&reader.tokens[clause.from..at]);
                let thing = objects::named_in(&reader.tokens[subject.0..subject.1]);
                // "Saved files are stored in Documents": so it is with all of them.
                let habit = !head.past
                    && !head.perfect
                    && !thing.definite
                    && !thing.pronoun
                    && thing.count.is_none()
                    && !thing.none
                    && matches!(reader.word(at), "are" | "sont")
                    && thing.proper.is_empty();
                let listed = head.concept == Concept::List && !head.past && !head.perfect;
                if unasserted || habit || listed {
                    return None;
                }
                if subject.0 == subject.1 || !self.passive_holds(reader, &head, subject) {
                    return None;
                }
                return Some(Found { head, from: subject.0, subject, antecedent: None, elliptical: false });
            }
            if by_agent
                && !head.passive
                && matches!(head.modality, Modality::Done | Modality::Failed | Modality::NotDone)
            {
                return Some(Found { head, from: clause.from, subject: (at, at), antecedent: None, elliptical: false });
            }
        }
        None
    }

    pub(super) fn auxiliary(&self, reader: &Reader<'_>, at: usize) -> bool {
        let word = reader.word(at);
        match self.language {
            Language::English => {
                matches!(
                    word,
                    "is" | "are"
                        | "was"
                        | "were"
                        | "has"
                        | "have"
                        | "had"
                        | "will"
                        | "can"
                        | "could"
                        | "'s"
                        | "would"
                        | "should"
                        | "may"
                        | "might"
                        | "must"
                )
            }
            Language::French => {
                let plain = matches!(
                    word,
                    "est"
                        | "sont"
                        | "ont"
                        | "sera"
                        | "seront"
                        | "etait"
                        | "etaient"
                        | "peut"
                        | "peuvent"
                        | "va"
                        | "vont"
                        | "vient"
                        | "viennent"
                        | "avait"
                        | "avaient"
                        | "n'"
                        | "ne"
                        | "doit"
                        | "serait"
                );
                plain || word == "a" && reader.accented(at) == "a"
            }
        }
    }

    /// A passive is a claim about the assistant's own doing unless it names another doer or another
    /// time: "the tower was opened in 1889", "the file was created by Paul".
    pub(super) fn passive_holds(&self, reader: &Reader<'_>, head: &Head, subject: (usize, usize)) -> bool {
        let agent = (head.at + 1..reader.to).find(|at| matches!(reader.word(*at), "by" | "par"));
        if let Some(at) = agent {
            let next = reader.word(at + 1);
            let own = matches!(
                next,
                "me" | "us"
                    | "mistake"
                    | "accident"
                    | "default"
                    | "the"
                    | "nous"
                    | "moi"
                    | "erreur"
                    | "mes"
                    | "defaut"
                    | "le"
                    | "l'"
                    | "e-mail"
                    | "email"
                    | "mail"
                    | "ordre"
            ) || next.ends_with("ing");
            let own = own
                && (!matches!(next, "the" | "le" | "l'")
                    || (at + 2..at + 4).any(|at| AGENTS.contains(&reader.word(at))));
            if !own {
                return false;
            }
        }
        let dated = dated(&reader.tokens[head.at + 1..reader.to]) || dated(&reader.tokens[subject.0..head.at]);
        // French has one tense for both pasts.
        let dated = dated && (!head.perfect || self.language == Language::French);
        let year = reader.tokens.iter().any(is_year);
        let thing = objects::named_in(&reader.tokens[subject.0..subject.1]);
        let planned = thing.any(class::REMINDER | class::CALENDAR | class::ORDER);
        !((dated || year) && !planned)
            && !matches!(reader.word(head.at.saturating_sub(1)), "last" | "originally" | "first" | "initialement")
    }
}

/// Nouns for what acts on the assistant's behalf.
const AGENTS: &[&str] = &["system", "assistant", "tool", "systeme", "outil"];

fn subject_range(clauses: &[Clause], index: usize, end: usize) -> (usize, usize) {
    let clause = clauses[index];
    let linked = matches!(clause.link, Link::Bare | Link::That) && index > 0;
    // "the page you asked for is open": the subject stands before the relative clause.
    if linked && (clause.from == end || clause.link == Link::Bare) {
        return (clauses[index - 1].from, end);
    }
    (clause.from, end)
}

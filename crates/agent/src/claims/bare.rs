//! Clauses without a subject or an auxiliary: "Saved!", "2 files deleted", "After checking the web, …".

use super::clause::{self, Clause, Governor, Link};
use super::concept::Concept;
use super::dates::dated;
use super::extract::{Found, Passage};
use super::grammar::{Head, Modality, Reader};
use super::language::Language;
use super::objects;
use super::tokens::Kind;
use super::verbs::form;

impl Passage<'_> {
    /// "Saved!", "File saved to a.txt", "Fichier enregistré."
    pub(super) fn elliptical(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
        let tokens = &self.sentence.tokens;
        if !matches!(clause.link, Link::Start | Link::Comma | Link::Colon | Link::And)
            && clause.governor != Governor::After
            || clause.relative
        {
            return None;
        }
        let slice = &tokens[clause.from..clause.to];
        if let Some(found) = self.after_doing(reader, clause) {
            return Some(found);
        }
        let mut at = clause.from;
        while at < clause.to
            && (matches!(
                reader.word(at),
                "just"
                    | "successfully"
                    | "already"
                    | "now"
                    | "then"
                    | "bien"
                    | "deja"
                    | "and"
                    | "et"
                    | "also"
                    | "voila"
                    | "ok"
                    | "okay"
                    | "yes"
                    | "oui"
                    | "puis"
                    | "ensuite"
                    | "finally"
                    | "enfin"
            ) || matches!(tokens[at].kind, Kind::Mark(_)))
        {
            at += 1;
        }
        let negated = matches!(reader.word(at), "not" | "pas" | "non" | "never");
        let verb = at + usize::from(negated);
        let finite = (verb + 1..clause.to).any(|at| {
            matches!(
                reader.word(at),
                "is" | "are"
                    | "was"
                    | "were"
                    | "est"
                    | "sont"
                    | "contains"
                    | "can"
                    | "will"
                    | "peuvent"
                    | "has"
                    | "have"
                    | "means"
                    | "signifie"
                    | "veut"
                    | "indique"
            )
        });
        if reader.word(at) == "playing" && at > clause.from {
            let head = Head {
                at,
                start: at,
                concept: Concept::Play,
                lemma: "play".to_owned(),
                modality: Modality::Done,
                passive: false,
                perfect: true,
                past: true,
                mask: 0,
                clitics: Vec::new(),
            };
            return Some(Found { head, from: at, subject: (at, at), antecedent: None, elliptical: true });
        }
        if let Some(head) = self.bare_participle(reader, verb, at > clause.from).filter(|_| !finite) {
            let next = reader.word(verb + 1);
            let labelled = self.sentence.label
                && !slice.iter().any(|token| objects::named_in(std::slice::from_ref(token)).definite);
            if matches!(next, "by" | "par") || labelled && verb + 1 < clause.to {
                return None;
            }
            let head = Head { modality: head.modality.negate(negated), ..head };
            let bare = objects::named_in(&tokens[verb + 1..clause.to]);
            if bare.words.is_empty()
                && matches!(
                    head.concept,
                    Concept::Note
                        | Concept::Find
                        | Concept::Check
                        | Concept::See
                        | Concept::Take
                        | Concept::Put
                        | Concept::Get
                        | Concept::Turn
                )
            {
                return None;
            }
            return Some(Found { head, from: at, subject: (at, at), antecedent: None, elliptical: true });
        }
        // "Failed to save", "Couldn't open it", "Didn't find", "Will do".
        if self.language == Language::English
            && (matches!(reader.word(at), "failed" | "could" | "did" | "can" | "managed" | "tried" | "have")
                && !self.sentence.question)
            && (matches!(reader.word(at + 1), "not" | "to" | "just" | "successfully"))
            && let Some(head) = reader.english_group(at)
        {
            return Some(Found { head, from: at, subject: (at, at), antecedent: None, elliptical: false });
        }
        self.noun_participle(reader, clause)
    }

    /// "After checking the web, …", "Après avoir consulté la page, …": done before the main clause,
    /// unless that one lies in the future.
    pub(super) fn after_doing(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
        let tokens = &self.sentence.tokens;
        let planned =
            tokens.iter().any(|token| {
                matches!(
                    token.word(),
                    "will" | "would" | "should" | "must" | "vais" | "vas" | "dois" | "devrais" | "you" | "vous"
                )
            }) && !tokens.iter().any(|token| matches!(token.word(), "can" | "found" | "peux" | "i" | "je" | "j'"));
        let at = clause.from;
        if planned || clause.governor != Governor::After {
            return None;
        }
        let (at, entry) = match self.language {
            Language::English => (
                at,
                self.lexicon.english(reader.word(at)).iter().find(|entry| entry.bits & form::GERUND != 0).cloned()?,
            ),
            Language::French if reader.word(at) == "avoir" => (at + 1, reader.french_participle(at + 1)?),
            Language::French if reader.word(at) == "l'" && reader.word(at + 1) == "avoir" => {
                (at + 2, reader.french_participle(at + 2)?)
            }
            Language::French => return None,
        };
        let mask = if self.language == Language::English { form::GERUND } else { form::PARTICIPLE };
        let head = Head {
            at,
            start: at,
            concept: entry.concept,
            lemma: entry.lemma,
            modality: Modality::Done,
            passive: false,
            perfect: true,
            past: true,
            mask,
            clitics: Vec::new(),
        };
        Some(Found { head, from: clause.from, subject: (at, at), antecedent: None, elliptical: false })
    }

    pub(super) fn bare_participle(&self, reader: &Reader<'_>, at: usize, led: bool) -> Option<Head> {
        let entry = match self.language {
            Language::English => {
                let entry = self
                    .lexicon
                    .english(reader.word(at))
                    .iter()
                    .find(|entry| entry.bits & (form::PARTICIPLE | form::PAST) != 0)?;
                let base = self.lexicon.english(reader.word(at)).iter().any(|entry| entry.bits & form::BASE != 0);
                if base && !led {
                    return None;
                }
                entry.clone()
            }
            Language::French => {
                reader.french_participle(at).filter(|entry| entry.bits & (form::INFINITIVE | form::BASE) == 0)?
            }
        };
        let mask = match self.language {
            Language::English => form::PAST | form::PARTICIPLE,
            Language::French => form::PARTICIPLE,
        };
        Some(Head {
            at,
            start: at,
            concept: entry.concept,
            lemma: entry.lemma,
            modality: Modality::Done,
            passive: false,
            perfect: true,
            past: true,
            mask,
            clitics: Vec::new(),
        })
    }

    /// A noun and a participle without an auxiliary: "2 files deleted", "Rappel créé pour 8 h".
    pub(super) fn noun_participle(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
        let tokens = &self.sentence.tokens;
        let slice = &tokens[clause.from..clause.to];
        let finite = slice.iter().enumerate().any(|(index, token)| {
            // "set for 7 am"
            let hour = token.word() == "am" && index > 0 && slice[index - 1].kind == Kind::Number;
            !hour && clause::FINITE.contains(&token.word()) && !matches!(token.word(), "a" | "as" | "l'" | "'s" | "do")
                || matches!(
                    token.word(),
                    "contains" | "contient" | "shows" | "here" | "voici" | "how" | "comment" | "to-do"
                )
        });
        let starts = slice.first().is_some_and(|token| {
            matches!(
                token.word(),
                "the"
                    | "a"
                    | "an"
                    | "le"
                    | "la"
                    | "l'"
                    | "un"
                    | "une"
                    | "des"
                    | "in"
                    | "on"
                    | "for"
                    | "to"
                    | "with"
                    | "dans"
                    | "pour"
                    | "avec"
                    | "sur"
                    | "recently"
                    | "how"
                    | "when"
                    | "if"
                    | "you"
                    | "vous"
                    | "about"
            )
        });
        if finite || starts {
            return None;
        }
        for at in clause.from + 1..clause.to.min(clause.from + 9) {
            let Some(mut head) = self.bare_participle(reader, at, true) else { continue };
            let subject = objects::named_in(&tokens[clause.from..at]);
            if subject.classes == 0 && subject.names.is_empty() {
                continue;
            }
            let next = tokens.get(at + 1).filter(|_| at + 1 < clause.to);
            let settled = next.is_none_or(|next| {
                matches!(next.kind, Kind::Name | Kind::Number | Kind::Quote | Kind::Mark(_))
                    || AFTER_PARTICIPLE.contains(&next.word())
                    || next.word().ends_with("ly")
                    || next.word().ends_with("ment")
            });
            if !settled || next.is_some_and(|next| matches!(next.word(), "by" | "par")) || dated(&tokens[at..clause.to])
            {
                return None;
            }
            let negated = matches!(reader.word(at - 1), "not" | "pas" | "non" | "never") || subject.none;
            // "Files created: none"
            let value =
                tokens.get(clause.to + 1).filter(|_| tokens.get(clause.to).is_some_and(|mark| mark.is_mark(':')));
            let empty = value.is_some_and(|value| {
                matches!(value.folded.as_str(), "none" | "0" | "nothing" | "aucun" | "aucune" | "zero" | "rien")
            });
            head.modality = head.modality.negate(negated && !subject.none || empty);
            return Some(Found {
                head,
                from: clause.from,
                subject: (clause.from, at),
                antecedent: None,
                elliptical: false,
            });
        }
        None
    }
}

/// What may follow the participle of "file saved".
#[rustfmt::skip]
const AFTER_PARTICIPLE: &[&str] = &[
    "to", "in", "at", "as", "for", "from", "on", "into", "and", "with", "successfully", "under", "now", "too",
    "already", "also", "a", "dans", "sous", "pour", "de", "du", "sur", "avec", "et", "en", "vers", "avec",
    "chez", "aux", "au", "correctement",
];

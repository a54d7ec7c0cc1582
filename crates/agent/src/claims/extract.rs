//! Sentences to statements: who did what, in which tense, mood and polarity.

use super::clause::{self, Clause, Governor, Link};
use super::grammar::{Head, Modality, Reader};
use super::language::{self, Language};
use super::nominal;
use super::nouns::{self, Objects, class};
use super::senses::{Sense, sense};
use super::tokens::{Kind, Sentence, Token, sentences};
use super::verbs::{Concept, Lexicon, form};

/// A statement about an act.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sense: Sense,
    pub(super) modality: Modality,
    pub(super) objects: Objects,
    pub(super) language: Language,
    /// Byte offsets into the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The text of the answer itself is shown close by ("here is …").
    pub(super) shown: bool,
    /// Said of yesterday or of an earlier day, which no ledger of this turn holds.
    pub(super) earlier: bool,
    /// In the first person's present: with a question mark it proposes the act.
    pub(super) proposes: bool,
}

/// Every statement of a text, in order, and its sentences.
pub(super) fn statements(text: &str, lexicon: &Lexicon) -> (Vec<Statement>, Vec<Sentence>) {
    let sentences = sentences(text);
    let all: Vec<Token> =
        sentences.iter().flat_map(|sentence| sentence.tokens.iter().take(80)).take(2_000).cloned().collect();
    let usual = language::of(&all);
    let shown = presents(&all);
    let mut found = Vec::new();
    let mut antecedent: Option<Sense> = None;
    let last = sentences.last().map_or(0, |sentence| sentence.paragraph);
    let mut product: Option<usize> = None;
    for sentence in &sentences {
        // A draft that the answer introduces speaks for whoever will send it.
        if product.is_some_and(|first| {
            sentence.paragraph >= first && (sentence.paragraph < last || sentence.paragraph == first)
        }) {
            continue;
        }
        product = introduces(sentence).then_some(sentence.paragraph + 1).or(product);
        let languages = match language::of(&sentence.tokens).or(usual) {
            Some(language) => vec![language],
            None => vec![Language::English, Language::French],
        };
        for language in languages {
            let mut passage =
                Passage { sentence, lexicon, language, shown, found: Vec::new(), antecedent: antecedent.take() };
            passage.read();
            antecedent = passage.antecedent;
            let some = !passage.found.is_empty();
            found.append(&mut passage.found);
            if some {
                break;
            }
        }
    }
    (found, sentences)
}

/// "Here is a draft of the e-mail:", "J'ai rédigé une lettre :" before a paragraph of its own.
fn introduces(sentence: &Sentence) -> bool {
    let has = |words: &[&str]| sentence.tokens.iter().any(|token| words.contains(&token.word()));
    sentence.label
        && has(&[
            "draft",
            "letter",
            "email",
            "e-mail",
            "mail",
            "message",
            "poem",
            "story",
            "text",
            "speech",
            "brouillon",
            "lettre",
            "courriel",
            "poeme",
            "histoire",
            "texte",
            "discours",
            "proposal",
            "proposition",
            "version",
        ])
        && has(&[
            "here",
            "draft",
            "drafted",
            "prepared",
            "wrote",
            "written",
            "write",
            "below",
            "suggest",
            "brouillon",
            "voici",
            "redige",
            "prepare",
            "ecrit",
            "propose",
            "proposition",
            "suggestion",
        ])
}

/// "here is", "voici", "below": the product stands in the answer.
fn presents(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let next = tokens.get(index + 1).map_or("", Token::word);
        match token.word() {
            "here" => matches!(next, "is" | "are" | "'s" | "it"),
            "voici" | "below" | "ci-dessous" | "ci-apres" => true,
            _ => false,
        }
    })
}

pub(super) struct Passage<'a> {
    sentence: &'a Sentence,
    lexicon: &'a Lexicon,
    language: Language,
    shown: bool,
    found: Vec<Statement>,
    antecedent: Option<Sense>,
}

/// Who the last verb's subject was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    None,
    First,
    Other,
}

/// A verb group with its subject.
struct Found {
    head: Head,
    /// First token of the statement.
    from: usize,
    /// Tokens of the subject of a passive.
    subject: (usize, usize),
    /// Tokens before a relative clause, one of which is its object.
    antecedent: Option<(usize, usize)>,
    elliptical: bool,
}

impl Passage<'_> {
    fn read(&mut self) {
        let tokens = &self.sentence.tokens;
        if clause::speaker_label(tokens) {
            return;
        }
        let clauses = clause::clauses(tokens, self.language);
        let mut reported = false;
        let mut attributed = false;
        let mut subject = Subject::None;
        for (index, clause) in clauses.iter().enumerate() {
            let slice = &tokens[clause.from..clause.to];
            let before = index.checked_sub(1).map(|before| clauses[before]);
            reported = match clause.link {
                Link::That | Link::Bare => {
                    reported || before.is_some_and(|before| clause::reports(&tokens[before.from..before.to]))
                }
                Link::Colon => reported || before.is_some_and(|before| saying(&tokens[before.from..before.to])),
                Link::And => reported && !first_person(slice, self.language),
                Link::Start | Link::Comma => false,
            };
            // "because", "although": the main clause's stance does not reach into them.
            attributed |= clause::attributes(slice);
            let asked = self.sentence.question && (index + 1 == clauses.len() || opens_question(slice));
            let standing = Standing {
                reported: reported || attributed || clause::guesses(slice),
                asked,
                governor: clause.governor,
            };
            let count = self.found.len();
            subject = self.clause(&clauses, index, subject, standing);
            if self.found.len() == count {
                nominal::read(self, clause, standing);
            }
        }
    }

    fn clause(&mut self, clauses: &[Clause], index: usize, before: Subject, standing: Standing) -> Subject {
        let clause = clauses[index];
        let tokens = &self.sentence.tokens;
        let reader = Reader { tokens, lexicon: self.lexicon, to: clause.to };
        let Some((found, subject)) = self.find(&reader, clauses, index, before) else {
            return subject_of(&tokens[clause.from..clause.to]).unwrap_or(before);
        };
        let mut found = Some(found);
        let mut guard = 0;
        while let Some(one) = found.take() {
            guard += 1;
            let coordinates = match self.language {
                Language::English => reader.english_coordinates(&one.head),
                Language::French => reader.french_coordinates(&one.head),
            };
            let (next, mut end) = (coordinates.next, coordinates.end);
            let objects_to = match &next {
                // "I opened and read the file": both verbs share the object behind the second.
                Some(next) if next.at <= one.head.at + 2 => clause.to,
                Some(_) => end,
                None if end < clause.to => end,
                None => {
                    end = extended(tokens, clauses, index);
                    end.max(clause.to)
                }
            };
            self.push(&one, objects_to, end, standing, &reader);
            if guard < 12 {
                // A passive's second verb may have a subject of its own.
                let own = |head: &Head| {
                    if head.passive && head.start < head.at { (head.start, head.at) } else { one.subject }
                };
                found = next.map(|head| Found {
                    from: head.start,
                    subject: own(&head),
                    antecedent: None,
                    elliptical: false,
                    head,
                });
            }
        }
        subject
    }

    /// The first verb group of a clause that speaks of an act of the assistant's.
    fn find(&self, reader: &Reader<'_>, clauses: &[Clause], index: usize, before: Subject) -> Option<(Found, Subject)> {
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

    fn group(&self, reader: &Reader<'_>, at: usize) -> Option<Head> {
        match self.language {
            Language::English => reader.english_group(at),
            Language::French => reader.french_group(at),
        }
    }

    fn first_person_at(&self, at: usize) -> bool {
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
    fn third_person(&self, reader: &Reader<'_>, clauses: &[Clause], index: usize) -> Option<Found> {
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
                let unasserted = clause.link != Link::Bare && clause::reports_within(&reader.tokens[clause.from..at]);
                let thing = nouns::objects(&reader.tokens[subject.0..subject.1]);
                // "Saved files are stored in Documents": so it is with all of them.
                let habit = !head.past
                    && !head.perfect
                    && !thing.definite
                    && !thing.pronoun
                    && thing.count.is_none()
                    && !thing.none
                    && matches!(reader.word(at), "are" | "sont")
                    && thing.proper.is_empty();
                if unasserted || habit {
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

    fn auxiliary(&self, reader: &Reader<'_>, at: usize) -> bool {
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
    fn passive_holds(&self, reader: &Reader<'_>, head: &Head, subject: (usize, usize)) -> bool {
        let after = head.at + 1..reader.to;
        let agent = after.clone().find(|at| matches!(reader.word(*at), "by" | "par"));
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
        let thing = nouns::objects(&reader.tokens[subject.0..subject.1]);
        let planned = thing.any(class::REMINDER | class::CALENDAR | class::ORDER);
        !((dated || year) && !planned)
            && !matches!(reader.word(head.at.saturating_sub(1)), "last" | "originally" | "first" | "initialement")
    }

    /// "Saved!", "File saved to a.txt", "Fichier enregistré."
    fn elliptical(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
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
            let labelled =
                self.sentence.label && !slice.iter().any(|token| nouns::objects(std::slice::from_ref(token)).definite);
            if matches!(next, "by" | "par") || labelled && verb + 1 < clause.to {
                return None;
            }
            let head = Head { modality: head.modality.negate(negated), ..head };
            let bare = nouns::objects(&tokens[verb + 1..clause.to]);
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
    fn after_doing(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
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

    fn bare_participle(&self, reader: &Reader<'_>, at: usize, led: bool) -> Option<Head> {
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
    fn noun_participle(&self, reader: &Reader<'_>, clause: Clause) -> Option<Found> {
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
            let subject = nouns::objects(&tokens[clause.from..at]);
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

    fn push(&mut self, found: &Found, objects_to: usize, end: usize, standing: Standing, reader: &Reader<'_>) {
        let tokens = &self.sentence.tokens;
        let head = &found.head;
        let mut around: Vec<Token> = Vec::new();
        if head.passive
            || (found.subject.0 < found.subject.1 && found.from == found.subject.0 && !self.first_person_at(found.from))
        {
            around.extend_from_slice(&tokens[found.subject.0..found.subject.1]);
        }
        let clitics: Vec<Token> = head.clitics.iter().map(|at| tokens[*at].clone()).collect();
        around.extend_from_slice(&clitics);
        around.extend_from_slice(&tokens[(head.at + 1).min(objects_to)..objects_to]);
        let mut objects = nouns::objects(&around);
        objects.names.extend(self.names_behind(objects_to));
        if matches!(tokens.get(objects_to).map_or("", Token::word), "that" | "que" | "qu'") {
            objects.words.push("that".to_owned());
        }
        if let Some((from, to)) =
            found.antecedent.filter(|_| objects.classes == 0 && objects.names.is_empty() && !objects.pronoun)
        {
            // "the file that I made": the object stands before its clause.
            let before = nouns::objects(&tokens[from.max(to.saturating_sub(6))..to]);
            objects.classes |= before.classes;
            objects.names.extend(before.names);
            objects.definite |= before.definite;
            objects.actions.extend(before.actions.last());
        }
        objects.pronoun |= clitics.iter().any(|token| matches!(token.word(), "le" | "la" | "l'" | "les"));
        let bare = objects.words.iter().all(|word| {
            word.ends_with("ly")
                || matches!(
                    word.as_str(),
                    "now"
                        | "bien"
                        | "deja"
                        | "already"
                        | "for"
                        | "you"
                        | "pour"
                        | "vous"
                        | "too"
                        | "maintenant"
                        | "successfully"
                )
        }) && objects.names.is_empty()
            && !objects.quote;
        if found.elliptical && bare {
            objects.pronoun = true;
        }
        let pointing = matches!(head.concept, Concept::Generic | Concept::Light)
            && (head.lemma.is_empty() || bare || objects.pronoun && objects.classes == 0);
        let negative = !matches!(head.modality, Modality::Done);
        let resolved = if pointing && (head.lemma.is_empty() || negative) {
            self.pointed_at(found.from, reader).or_else(|| Some(Sense::anything()))
        } else {
            sense(head.concept, &head.lemma, &objects).or_else(|| {
                // "it" is what the words before speak of.
                let before = nouns::objects(&tokens[found.from.saturating_sub(12)..found.from]).classes;
                let things = before
                    & !(class::UTTERANCE
                        | class::TASK
                        | class::IDIOM
                        | class::PERSON
                        | class::ALL
                        | class::TEXT
                        | class::PART);
                let resolved = Objects { classes: objects.classes | things, ..objects.clone() };
                (objects.pronoun && things != 0).then(|| sense(head.concept, &head.lemma, &resolved)).flatten()
            })
        };
        let mut modality = head.modality;
        let Some(mut sense) = resolved else { return };
        if objects.pronoun
            && !sense.firm
            && let Some(before) = &self.antecedent
            && before.firm
            && !before.generic
            && before.all().meets(sense.all())
        {
            sense.firm = true;
        }
        if objects.none && modality == Modality::Done {
            modality = Modality::NotDone;
        }
        if objects.none
            && matches!(
                head.concept,
                Concept::Change | Concept::Light | Concept::Generic | Concept::Write | Concept::Add
            )
        {
            sense = if objects.file() || matches!(head.concept, Concept::Write | Concept::Add) {
                Sense::any_writing()
            } else {
                Sense::anything()
            };
        }
        self.antecedent = Some(sense.clone());
        let earlier = trailing_date(&tokens[head.at..objects_to]);
        self.state(
            sense,
            modality,
            standing.apply(modality, head.past && !head.perfect, self.language),
            objects,
            (found.from, end),
            earlier,
        );
    }

    /// Names behind a relative clause about the user: "the changes you asked for in budget.csv".
    fn names_behind(&self, from: usize) -> Vec<String> {
        let tokens = &self.sentence.tokens;
        let at = |offset: usize| tokens.get(from + offset).map_or("", Token::word);
        let relative = at(0) == "you" || matches!(at(0), "that" | "que") && matches!(at(1), "you" | "vous" | "tu");
        if !relative {
            return Vec::new();
        }
        let until = tokens[from..].iter().skip(2).position(|token| {
            matches!(token.kind, Kind::Mark(_))
                || clause::FINITE.contains(&token.word()) && !matches!(token.word(), "avez" | "as" | "a")
        });
        let until = until.map_or(tokens.len(), |offset| from + 2 + offset);
        nouns::objects(&tokens[from..until]).names
    }

    /// What "I did", "je n'ai pas pu" points at: the last verb in its base form before it.
    fn pointed_at(&self, from: usize, reader: &Reader<'_>) -> Option<Sense> {
        let tokens = &self.sentence.tokens;
        for at in (0..from).rev().take(40) {
            let word = tokens[at].word();
            let entry = match self.language {
                Language::English => {
                    self.lexicon.english(word).iter().find(|entry| entry.bits & form::BASE != 0).cloned().filter(|_| {
                        matches!(
                            at.checked_sub(1).map_or("", |left| tokens[left].word()),
                            "to" | "and" | "not" | "you" | "me"
                        )
                    })
                }
                Language::French => self
                    .lexicon
                    .french(&tokens[at].text, word)
                    .into_iter()
                    .find(|entry| entry.bits & form::INFINITIVE != 0),
            };
            let Some(entry) = entry else { continue };
            let objects = nouns::objects(&tokens[at + 1..from.min(at + 12)]);
            if let Some(sense) = sense(entry.concept, &entry.lemma, &objects) {
                return Some(sense);
            }
        }
        let _ = reader;
        self.antecedent.clone()
    }

    /// Adds a statement over the tokens `range`.
    pub(super) fn state(
        &mut self,
        sense: Sense,
        told: Modality,
        modality: Modality,
        objects: Objects,
        range: (usize, usize),
        earlier: bool,
    ) {
        let tokens = &self.sentence.tokens;
        let (mut from, mut to) = (range.0, range.1.min(tokens.len()));
        while from < to && matches!(tokens[from].kind, Kind::Mark(_)) {
            from += 1;
        }
        while to > from && matches!(tokens[to - 1].kind, Kind::Mark(_)) {
            to -= 1;
        }
        if from == to {
            return;
        }
        self.found.push(Statement {
            sense,
            modality,
            objects,
            language: self.language,
            start: tokens[from].start,
            end: tokens[to - 1].end,
            shown: self.shown,
            earlier,
            proposes: matches!(told, Modality::Doing | Modality::Present | Modality::Will),
        });
    }

    pub(super) fn tokens(&self) -> &[Token] {
        &self.sentence.tokens
    }

    pub(super) fn lexicon(&self) -> &Lexicon {
        self.lexicon
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }
}

/// What stands over a clause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    reported: bool,
    asked: bool,
    governor: Governor,
}

impl Standing {
    /// The modality of a statement under it.
    pub(super) fn apply(self, modality: Modality, simple_past: bool, language: Language) -> Modality {
        if self.asked {
            return Modality::Asks;
        }
        if self.reported {
            return Modality::Reported;
        }
        let done = matches!(modality, Modality::Done);
        match self.governor {
            Governor::None => modality,
            Governor::When if done && (simple_past || language == Language::French) => modality,
            Governor::After if done => modality,
            _ => Modality::Conditional,
        }
    }
}

/// Nouns for what acts on the assistant's behalf.
const AGENTS: &[&str] = &["system", "assistant", "tool", "systeme", "outil"];

/// What may follow the participle of "file saved".
const AFTER_PARTICIPLE: &[&str] = &[
    "to",
    "in",
    "at",
    "as",
    "for",
    "from",
    "on",
    "into",
    "and",
    "with",
    "successfully",
    "under",
    "now",
    "too",
    "already",
    "also",
    "a",
    "dans",
    "sous",
    "pour",
    "de",
    "du",
    "sur",
    "avec",
    "et",
    "en",
    "vers",
    "avec",
    "chez",
    "aux",
    "au",
    "correctement",
];

fn subject_range(clauses: &[Clause], index: usize, end: usize) -> (usize, usize) {
    let clause = clauses[index];
    let linked = matches!(clause.link, Link::Bare | Link::That) && index > 0;
    // "the page you asked for is open": the subject stands before the relative clause.
    if linked && (clause.from == end || clause.link == Link::Bare) {
        return (clauses[index - 1].from, end);
    }
    (clause.from, end)
}

/// Where the objects of a clause's last verb end: names may follow in clauses without a verb.
fn extended(tokens: &[Token], clauses: &[Clause], index: usize) -> usize {
    let mut end = clauses[index].to;
    for clause in clauses.iter().skip(index + 1) {
        let slice = &tokens[clause.from..clause.to];
        let named = slice.iter().take(3).any(|token| matches!(token.kind, Kind::Name | Kind::Quote | Kind::Number));
        let verb = slice
            .iter()
            .any(|token| clause::FINITE.contains(&token.word()) && !matches!(token.word(), "a" | "as" | "l'" | "do"));
        if !matches!(clause.link, Link::Comma | Link::Colon | Link::And) || !named || verb || slice.len() > 6 {
            break;
        }
        end = clause.to;
    }
    end
}

/// Who a clause without a statement is about.
fn subject_of(tokens: &[Token]) -> Option<Subject> {
    tokens.iter().find_map(|token| match token.word() {
        "i" | "we" | "je" | "j'" => Some(Subject::First),
        "you" | "he" | "she" | "they" | "tu" | "vous" | "il" | "elle" | "ils" | "elles" => Some(Subject::Other),
        _ => None,
    })
}

fn first_person(tokens: &[Token], language: Language) -> bool {
    tokens.first().is_some_and(|token| match language {
        Language::English => matches!(token.word(), "i" | "we"),
        Language::French => matches!(token.word(), "je" | "j'"),
    })
}

/// "The page says:" — what follows are its words.
fn saying(tokens: &[Token]) -> bool {
    let first = tokens.iter().any(|token| matches!(token.word(), "i" | "je" | "j'"));
    !first
        && tokens.iter().any(|token| {
            matches!(
                token.word(),
                "says"
                    | "said"
                    | "say"
                    | "reads"
                    | "dit"
                    | "indique"
                    | "writes"
                    | "wrote"
                    | "ecrit"
                    | "example"
                    | "exemple"
                    | "quote"
                    | "citation"
            )
        })
}

/// A clause that begins as a question does.
fn opens_question(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let inverted = clause::FINITE.contains(&word(0)) && !matches!(word(0), "n'" | "ne" | "m'" | "l'");
    inverted
        || matches!(
            word(0),
            "shall"
                | "what"
                | "which"
                | "who"
                | "why"
                | "how"
                | "where"
                | "quel"
                | "quelle"
                | "pourquoi"
                | "comment"
                | "est-ce"
                | "voulez"
                | "souhaitez"
                | "qui"
                | "que"
        )
}

/// A day other than today, a time ago: the past of the thing, not of this turn.
fn dated(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let left = index.checked_sub(1).map_or("", |left| tokens[left].word());
        let next = tokens.get(index + 1).map_or("", Token::word);
        match token.word() {
            "yesterday" | "hier" | "ago" | "originally" | "initialement" | "century" | "siecle" => true,
            "last" => matches!(
                next,
                "week"
                    | "month"
                    | "year"
                    | "night"
                    | "monday"
                    | "tuesday"
                    | "wednesday"
                    | "thursday"
                    | "friday"
                    | "time"
            ),
            "derniere" | "dernier" => matches!(
                left,
                "semaine" | "annee" | "mois" | "lundi" | "mardi" | "mercredi" | "jeudi" | "vendredi" | "la"
            ),
            "il" => next == "y" && tokens.get(index + 2).is_some_and(|token| token.word() == "a"),
            month if MONTHS.contains(&month) => {
                !matches!(left, "for" | "pour")
                    && tokens[..index]
                        .iter()
                        .rev()
                        .take(3)
                        .any(|token| matches!(token.word(), "on" | "in" | "le" | "en"))
            }
            _ => false,
        }
    })
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "janvier",
    "fevrier",
    "mars",
    "avril",
    "juin",
    "juillet",
    "aout",
    "septembre",
    "octobre",
    "novembre",
    "decembre",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
];

fn is_year(token: &Token) -> bool {
    token.kind == Kind::Number
        && token.folded.len() == 4
        && token.folded.parse::<u16>().is_ok_and(|year| (1000..2100).contains(&year))
}

/// "yesterday" at the end of a clause dates the act, unless it belongs to the object ("from yesterday").
fn trailing_date(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let moment = index > 0
            && matches!(tokens[index - 1].word(), "second" | "seconds" | "moment" | "moments" | "minute" | "minutes");
        let dates = matches!(token.word(), "yesterday" | "hier" | "ago") && !moment
            || token.word() == "last"
                && tokens.get(index + 1).is_some_and(|next| matches!(next.word(), "week" | "month" | "year" | "night"))
            || token.word() == "derniere" && index > 0 && tokens[index - 1].word() == "semaine";
        let of = tokens[..index]
            .iter()
            .rev()
            .take(3)
            .any(|token| matches!(token.word(), "from" | "of" | "de" | "d'" | "since" | "depuis" | "than"));
        dates && !of
    })
}

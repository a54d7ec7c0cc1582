//! Sentences to statements: who did what, in which tense, mood and polarity.

use super::clause::{self, Clause, Governor, Link};
use super::concept::Concept;
use super::dates::trailing_date;
use super::grammar::{Head, Modality, Reader};
use super::language::{self, Language};
use super::nominal;
use super::nouns::class;
use super::objects::{self, Objects};
use super::senses::{Sense, sense};
use super::stance;
use super::tokens::{Kind, Sentence, Token, sentences};
use super::verbs::{Lexicon, form};

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
    pub(super) sentence: &'a Sentence,
    pub(super) lexicon: &'a Lexicon,
    pub(super) language: Language,
    pub(super) shown: bool,
    pub(super) found: Vec<Statement>,
    pub(super) antecedent: Option<Sense>,
}

/// Who the last verb's subject was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    None,
    First,
    Other,
}

/// A verb group with its subject.
pub(super) struct Found {
    pub(super) head: Head,
    /// First token of the statement.
    pub(super) from: usize,
    /// Tokens of the subject of a passive.
    pub(super) subject: (usize, usize),
    /// Tokens before a relative clause, one of which is its object.
    pub(super) antecedent: Option<(usize, usize)>,
    pub(super) elliptical: bool,
}

impl Passage<'_> {
    fn read(&mut self) {
        let tokens = &self.sentence.tokens;
        if stance::speaker_label(tokens) {
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
                    reported || before.is_some_and(|before| stance::reports(&tokens[before.from..before.to]))
                }
                Link::Colon => reported || before.is_some_and(|before| saying(&tokens[before.from..before.to])),
                Link::And => reported && !first_person(slice, self.language),
                Link::Start | Link::Comma => false,
            };
            // "because", "although": the main clause's stance does not reach into them.
            attributed |= stance::attributes(slice);
            let asked = self.sentence.question && (index + 1 == clauses.len() || opens_question(slice));
            let standing = Standing {
                reported: reported || attributed || stance::guesses(slice),
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
        let mut objects = objects::named_in(&around);
        objects.names.extend(self.names_behind(objects_to));
        if matches!(tokens.get(objects_to).map_or("", Token::word), "that" | "que" | "qu'") {
            objects.words.push("that".to_owned());
        }
        if let Some((from, to)) =
            found.antecedent.filter(|_| objects.classes == 0 && objects.names.is_empty() && !objects.pronoun)
        {
            // "the file that I made": the object stands before its clause.
            let before = objects::named_in(&tokens[from.max(to.saturating_sub(6))..to]);
            objects.classes |= before.classes;
            objects.names.extend(before.names);
            objects.definite |= before.definite;
            objects.actions.extend(before.actions.last());
        }
        objects.pronoun |= clitics.iter().any(|token| matches!(token.word(), "le" | "la" | "l'" | "les"));
        if matches!(head.concept, Concept::Check | Concept::Look)
            && objects.words.is_empty()
            && objects.names.is_empty()
        {
            // "I checked, the file is there": what was checked stands behind.
            let from = (objects_to + 1).min(tokens.len());
            let behind = &tokens[from..tokens.len().min(from + 6)];
            objects = objects::named_in(behind);
            if behind.is_empty() {
                // "The battery is low, I just checked": it stands before.
                let before = &tokens[found.from.saturating_sub(10)..found.from];
                if !before.iter().any(|token| matches!(token.word(), "you" | "vous" | "tu")) {
                    objects = objects::named_in(before);
                }
            }
        }
        // "I checked: 20 GB are left"
        if matches!(head.concept, Concept::Check | Concept::Look)
            && objects.classes == 0
            && objects.names.is_empty()
            && measures(&tokens[head.at..tokens.len().min(head.at + 10)])
        {
            objects.classes = class::SYSTEM;
        }
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
                let before = objects::named_in(&tokens[found.from.saturating_sub(12)..found.from]).classes;
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
        let list_shown = self.shown && head.concept == Concept::Add && !objects.possessed && !objects.file();
        if list_shown || head.passive && modality == Modality::Done && self.of_the_world(found, &objects) {
            sense.firm &= sense.generic || sense.tool.is_some();
        }
        if objects.pronoun
            && !sense.firm
            && let Some(before) = &self.antecedent
            && before.firm
            && !before.generic
            && before.all().meets(sense.all())
        {
            sense.firm = true;
        }
        // "I didn't write anything", "je n'ai rien écrit"
        if modality == Modality::NotDone
            && head.concept == Concept::Write
            && objects.names.is_empty()
            && objects.classes & !(class::ALL | class::TASK) == 0
        {
            objects.none |= objects.says(&["anything", "rien"])
                || tokens[head.start.min(head.at)..head.at].iter().any(|token| token.word() == "rien");
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

    /// A passive about the world and not about the user's things: "the records were deleted" in a
    /// story, "the museum is closed on Tuesdays", "the server is configured on 8443".
    fn of_the_world(&self, found: &Found, objects: &Objects) -> bool {
        let head = &found.head;
        let tokens = &self.sentence.tokens;
        let thing = objects::named_in(&tokens[found.subject.0.min(head.at)..found.subject.1.min(head.at)]);
        let at_hand = thing.says(DIGITAL) || !thing.actions.is_empty() || objects.says(&["successfully", "succes"]);
        let mine =
            at_hand || thing.pronoun || thing.quote || thing.none || thing.count.is_some() || !thing.names.is_empty();
        if mine || thing.possessed || objects.possessed || objects.to_user {
            return false;
        }
        let classes = thing.classes & !(class::ALL | class::IDIOM);
        let now =
            tokens[head.start.min(head.at)..head.at].iter().any(|token| matches!(token.word(), "now" | "maintenant"));
        let state = !head.past && !head.perfect && !now;
        let set =
            state && head.concept == Concept::Set && classes & !(class::NETWORK | class::SETTING | class::WEB) == 0;
        let changed = matches!(
            head.concept,
            Concept::Delete | Concept::Remove | Concept::Clean | Concept::Change | Concept::Create | Concept::Move
        );
        set || classes == 0 && (state || changed)
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
        objects::named_in(&tokens[from..until]).names
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
            let objects = objects::named_in(&tokens[at + 1..from.min(at + 12)]);
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
                    | "sentence"
                    | "phrase"
                    | "wording"
                    | "formulation"
                    | "translation"
                    | "traduction"
                    | "spelling"
                    | "orthographe"
                    | "tense"
                    | "conjugation"
                    | "conjugaison"
                    | "lyrics"
                    | "proverb"
                    | "proverbe"
            )
        })
}

/// Things of a computer that no class holds: what is done to them is the assistant's doing.
#[rustfmt::skip]
const DIGITAL: &[&str] = &[
    "entry", "entries", "entree", "entrees", "database", "screenshot", "screenshots", "capture", "captures", "cache",
    "cookies", "task", "tasks", "data", "donnees", "base", "repository", "branch", "branche", "version", "versions",
    "recording", "recordings", "changes", "modifications", "content", "contents", "contenu", "key", "value",
];

/// "20 GB", "20 Go": a quantity of what only the computer knows.
fn measures(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        pair[0].kind == Kind::Number
            && matches!(pair[1].word(), "gb" | "mb" | "tb" | "gib" | "mib" | "go" | "mo" | "to")
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

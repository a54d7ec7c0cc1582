//! Leave asked for in prose: "Shall I delete it?", "Voulez-vous que je l'enregistre ?".
//!
//! The application asks for the confirmation itself, so an answer that asks instead of calling is a
//! failure. A question for a missing detail ("Which file?", "a.txt or b.txt?") is not.

use super::concept::Concept;
use super::extract::Statement;
use super::grammar::Modality;
use super::nouns;
use super::objects;
use super::senses::{Sense, sense};
use super::tokens::{Kind, Sentence, Token};
use super::verbs::{Lexicon, form};

/// A request for leave: what for, and the byte range of the question.
pub(super) struct Request {
    pub(super) sense: Sense,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Openings of a question for leave; `_` stands for any one word.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "shall i", "should i", "may i", "mind if i", "can i", "could i", "shall we", "should we", "do i have your",
    "do you want", "would you like", "do you wish", "would you prefer", "would you want", "do you really want",
    "do you still want", "want me to", "like me to", "do you confirm", "can you confirm", "could you confirm",
    "do you approve", "do you agree", "do you authorize", "do you allow", "would you mind if i",
    "are you sure", "are you certain", "are you really sure", "are you ok", "are you okay",
    "are you fine with", "are you happy for me", "are you happy with", "is it ok", "is that ok", "is it okay",
    "is that okay", "is it alright", "ok to", "okay to", "ready to", "ready for me to", "will you allow me",
    "do you give", "dois je", "puis je", "devrais je", "est ce que je dois", "est ce que je peux",
    "est ce que je", "est ce que vous voulez", "est ce que tu veux", "est ce que vous souhaitez",
    "voulez vous", "veux tu", "souhaitez vous", "souhaites tu", "desirez vous", "desires tu", "aimeriez vous",
    "aimerais tu", "voudriez vous", "voudrais tu", "preferez vous", "tu veux", "vous voulez", "tu veux que",
    "vous voulez que", "ca te derange si", "ca vous derange si", "cela vous derange si", "tu souhaites que",
    "vous souhaitez que", "tu voudrais que", "vous voudriez que", "confirmez vous", "confirmes tu",
    "tu confirmes", "vous confirmez", "etes vous sur", "etes vous certain", "es tu sur", "es tu certain",
    "vous etes sur", "tu es sur", "vous etes d'accord", "tu es d'accord", "c' est bon pour vous",
    "c' est bon pour toi", "etes vous d'accord", "es tu d'accord", "d'accord pour", "ai je votre", "ai je ton",
    "m' autorisez vous", "m' autorises tu", "me permettez vous", "acceptez vous", "acceptes tu", "ca vous va",
    "ca te va", "cela vous convient", "faut il que je", "faut il", "on y va", "puis nous",
    "pouvez vous confirmer", "peux tu confirmer", "pourriez vous confirmer", "peux tu me confirmer",
    "pouvez vous me confirmer", "pourriez vous me confirmer",
];

/// Questions that ask for leave only after an act was proposed: "I'll delete it. Sound good?"
#[rustfmt::skip]
const SOFT: &[&str] = &[
    "sound good", "sounds good", "does that sound", "does that work", "does this work", "look good",
    "looks good", "does this look", "is this correct", "is that correct", "is that what you want",
    "is this what you want", "all good", "deal", "ca marche", "cela vous va", "ca vous convient",
    "ca te convient", "est ce que ca", "c' est bien ca", "c' est bon", "on fait comme ca",
];

/// Openings that ask without a question mark.
#[rustfmt::skip]
const REQUESTS: &[&str] = &[
    "please confirm", "kindly confirm", "let me know if you want me to", "let me know if you would like me to",
    "let me know if you 'd like me to", "let me know if i should", "let me know if i can",
    "let me know whether you want", "let me know whether i should", "let me know if you want to proceed",
    "tell me if you want me to", "tell me if i should", "just say the word", "say yes", "reply yes",
    "answer yes", "type yes", "just say yes", "confirm and i", "confirm that you want",
    "i need your confirmation", "i need your permission", "i need your approval",
    "waiting for your confirmation", "waiting for your approval", "before i delete", "merci de confirmer",
    "veuillez confirmer", "merci de me confirmer", "veuillez me confirmer", "dites moi si vous voulez que",
    "dis moi si tu veux que", "dites moi si je dois", "dis moi si je dois", "dites moi si vous souhaitez que",
    "dis moi si tu souhaites que", "dites moi si je peux", "dis moi si je peux", "confirmez et je",
    "confirme et je", "confirmez que vous", "confirme que tu", "j' ai besoin de votre confirmation",
    "j' ai besoin de votre accord", "j' ai besoin de ta confirmation", "j' ai besoin de ton accord",
    "j' attends votre confirmation", "j' attends ta confirmation", "j' attends votre accord", "repondez oui",
    "reponds oui",
];

/// Words of a question for a detail.
const OPEN: &[&str] = &[
    "which", "what", "who", "whom", "whose", "where", "when", "how", "quel", "quelle", "quels", "quelles", "quoi",
    "quand", "comment", "combien", "lequel", "laquelle",
];

/// Words that go on with something: the act itself was named before.
#[rustfmt::skip]
const GO_ON: &[&str] = &[
    "proceed", "ahead", "confirm", "approve", "proceder", "procede", "confirmer", "confirmez", "fasse",
    "confirmation", "permission", "approval", "accord",
];

/// Openings that are a question for leave even alone: "Are you sure?", "Tu confirmes ?".
#[rustfmt::skip]
const SETTLES: &[&str] = &[
    "sure", "certain", "confirm", "approve", "agree", "authorize", "confirmez", "confirmes", "confirmer",
    "confirme", "confirmation", "sur", "d'accord", "autorisez", "autorises", "acceptez", "acceptes", "va",
    "convient", "ok", "okay", "yes", "oui", "word", "alright", "permission", "approval", "accord", "y",
];

/// The requests for leave of a text.
pub(super) fn requests(sentences: &[Sentence], statements: &[Statement], lexicon: &Lexicon) -> Vec<Request> {
    let mut found: Vec<Request> = Vec::new();
    let mut named: Option<Sense> = None;
    for sentence in sentences {
        if let Some(request) = request(sentence, lexicon, named.as_ref()) {
            found.push(request);
        } else if sentence.question {
            // "Je supprime le fichier ?": a statement with the mark of a question.
            let (start, end) = bounds(&sentence.tokens);
            let asked = within(statements, start, end)
                .iter()
                .find(|statement| statement.modality == Modality::Asks && statement.sense.firm && statement.proposes);
            if let Some(asked) = asked.filter(|_| !clarifies(&sentence.tokens)) {
                found.push(Request { sense: asked.sense.clone(), start: asked.start, end });
            }
        }
        named = proposed(sentence, statements).or(named);
    }
    found
}

fn bounds(tokens: &[Token]) -> (usize, usize) {
    (tokens.first().map_or(0, |token| token.start), tokens.last().map_or(0, |token| token.end))
}

/// The statements of a sentence; they stand in the order of their sentences.
fn within(statements: &[Statement], start: usize, end: usize) -> &[Statement] {
    let from = statements.partition_point(|statement| statement.start < start);
    let to = statements.partition_point(|statement| statement.start <= end);
    statements.get(from..to).unwrap_or_default()
}

/// The act that a sentence proposes, for "Shall I proceed?" in the next one.
fn proposed(sentence: &Sentence, statements: &[Statement]) -> Option<Sense> {
    let (start, end) = bounds(&sentence.tokens);
    within(statements, start, end)
        .iter()
        .rev()
        .find(|statement| {
            !statement.sense.generic
                && !matches!(statement.modality, Modality::NotDone | Modality::Failed | Modality::Cannot)
        })
        .map(|statement| statement.sense.clone())
}

/// Where one of these openings begins and ends, in tokens.
fn opening(tokens: &[Token], openings: &[&str]) -> Option<(usize, usize)> {
    (0..tokens.len()).find_map(|at| {
        openings.iter().find_map(|opening| {
            let mut next = at;
            for expected in opening.split(' ') {
                // A mark inside an opening ends it.
                if tokens.get(next).map_or("", Token::word) != expected {
                    return None;
                }
                next += 1;
            }
            Some((at, next))
        })
    })
}

fn request(sentence: &Sentence, lexicon: &Lexicon, named: Option<&Sense>) -> Option<Request> {
    let tokens = &sentence.tokens;
    let asked = sentence.question.then(|| opening(tokens, OPENINGS)).flatten().filter(|_| !clarifies(tokens));
    let soft = (sentence.question && named.is_some()).then(|| opening(tokens, SOFT)).flatten();
    if let (None, Some((from, _)), Some(named)) = (asked, soft, named) {
        return Some(Request {
            sense: named.clone(),
            start: tokens[from].start,
            end: tokens.last().map_or(0, |token| token.end),
        });
    }
    let (from, to) = asked.or_else(|| opening(tokens, REQUESTS))?;
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    // "you shall not", "what should I do": handled by `clarifies`; "if I may" is no question.
    if from > 0 && matches!(word(from - 1), "if" | "si" | "not" | "never") {
        return None;
    }
    let start = tokens[from].start;
    let end = tokens.last().map_or(start, |token| token.end);
    let rest = &tokens[to..];
    let after = objects::named_in(rest);
    if after.says(&["else", "anything", "autre", "autres", "something"]) {
        return None;
    }
    let mut going_on = false;
    for at in to..tokens.len() {
        let Some((concept, lemma)) = verb(tokens, at, lexicon) else { continue };
        if lemma == "go" {
            going_on |= word(at + 1) == "ahead";
            continue;
        }
        let mut objects = objects::named_in(&tokens[at + 1..]);
        objects.pronoun |= matches!(word(at - 1), "l'" | "le" | "la" | "les");
        objects.pronoun |= objects.words.is_empty();
        match sense(concept, &lemma, &objects) {
            Some(sense) if sense.generic => going_on = true,
            Some(sense) if sense.firm => return Some(Request { sense, start, end }),
            _ => return None,
        }
    }
    for at in to..tokens.len() {
        // "go ahead with the deletion": the noun says what is gone on with.
        let objects = objects::Objects { pronoun: true, ..objects::named_in(rest) };
        if let Some(sense) =
            nouns::action_of(word(at)).and_then(|concept| sense(concept, "", &objects)).filter(|sense| sense.firm)
        {
            return Some(Request { sense, start, end });
        }
    }
    // "I can delete it. Shall I?"
    let alone = named.is_some() && rest.iter().all(|token| token.kind != Kind::Word);
    let settles = tokens[from..to].iter().any(|token| SETTLES.contains(&token.word()))
        && rest.iter().filter(|token| token.kind == Kind::Word).count() <= 2;
    let goes_on = rest.iter().any(|token| GO_ON.contains(&token.word()));
    // "Shall I continue?" may go on with the text as well.
    let continues = named.is_some() && rest.iter().any(|token| matches!(token.word(), "continue" | "continuer"));
    (going_on || settles || goes_on || continues || alone).then(|| Request {
        sense: named.cloned().unwrap_or_else(Sense::anything),
        start,
        end,
    })
}

/// The verb at `at`, in a form that leave can be asked for.
fn verb(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<(Concept, String)> {
    let token = &tokens[at];
    if token.kind != Kind::Word {
        return None;
    }
    let before = at.checked_sub(1).map_or("", |before| tokens[before].word());
    let article = matches!(
        before,
        "the"
            | "a"
            | "your"
            | "this"
            | "le"
            | "la"
            | "un"
            | "une"
            | "ce"
            | "votre"
            | "ton"
            | "my"
            | "cette"
            | "of"
            | "de"
    );
    let english = lexicon.english(token.word()).iter().find(|entry| entry.bits & (form::BASE | form::GERUND) != 0);
    if let Some(entry) = english.filter(|_| {
        !article
            && matches!(
                before,
                "to" | "i"
                    | "we"
                    | "and"
                    | "with"
                    | "now"
                    | "just"
                    | "also"
                    | "ahead"
                    | "or"
                    | "me"
                    | "mind"
                    | "word"
                    | "please"
                    | "then"
                    | "by"
                    | "go"
            )
    }) {
        return Some((entry.concept, entry.lemma.clone()));
    }
    let french = lexicon.french(&token.text, token.word());
    let entry = french.into_iter().find(|entry| {
        entry.bits & (form::BASE | form::INFINITIVE) != 0
            && (entry.bits & form::INFINITIVE != 0
                || matches!(
                    before,
                    "je" | "j'" | "l'" | "le" | "la" | "les" | "vous" | "te" | "t'" | "lui" | "leur" | "en" | "y"
                ))
    })?;
    (entry.bits & form::INFINITIVE != 0 || !matches!(before, "ce" | "un" | "une"))
        .then_some((entry.concept, entry.lemma))
}

/// A question for a detail, or for one of several.
fn clarifies(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    tokens.iter().enumerate().any(|(at, token)| {
        if OPEN.contains(&token.word()) || token.text == "où" {
            return true;
        }
        let alternative = matches!(token.word(), "or" | "ou") && token.text != "où";
        alternative
            && tokens.get(at + 1).is_some_and(|next| !matches!(next.kind, Kind::Mark(_)))
            && !matches!(
                word(at + 1),
                "not"
                    | "no"
                    | "keep"
                    | "leave"
                    | "cancel"
                    | "non"
                    | "pas"
                    | "garder"
                    | "annuler"
                    | "laisser"
                    | "do"
                    | "would"
                    | "should"
                    | "shall"
                    | "preferez"
                    | "voulez"
                    | "est"
            )
    })
}

//! Sentences to clauses: where one ends, what links it to the one before, and what governs it.
//!
//! A clause under "if", "avant que" or "as if" asserts nothing; one that someone else said, or that
//! the speaker only believes, is reported, not claimed.

use super::language::Language;
use super::tokens::{Kind, Token};

/// How a clause follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Start,
    Comma,
    Colon,
    And,
    /// A complement or a relative clause opened by a word of its own.
    That,
    /// A subject right after a complete clause: "the file I made", "you said I made it".
    Bare,
}

/// What a clause stands under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Governor {
    None,
    /// "if", "si", "unless", "so that", "as if": not asserted.
    If,
    /// "when", "quand": a fact in the past, a condition else.
    When,
    /// "once", "dès que", "until": not asserted.
    Once,
    Before,
    After,
}

/// A clause: tokens `from..to` of its sentence, its opening words left out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clause {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) link: Link,
    pub(super) governor: Governor,
    /// "who", "qui", "that was": the subject is the word before.
    pub(super) relative: bool,
}

/// Subject pronouns that can be nothing else.
const SUBJECTS: &[&str] = &["i", "he", "she", "we", "they", "je", "j'", "tu", "il", "ils", "on"];

/// Subject pronouns that can be objects too: only before an auxiliary or at a border.
#[rustfmt::skip]
const SOMETIMES: &[&str] = &[
    "you", "it", "this", "that", "everything", "nothing", "vous", "nous", "elle", "elles", "c'", "ca", "cela",
    "rien", "tout",
];

/// Auxiliaries and modals, both languages: a word after which the subject has a verb.
pub(super) const FINITE: &[&str] = &[
    "is", "are", "was", "were", "am", "has", "have", "had", "will", "would", "can", "could", "should", "may", "might",
    "must", "did", "does", "do", "'s", "'d", "est", "sont", "a", "ont", "ai", "as", "avez", "avons", "sera", "seront",
    "etait", "etaient", "suis", "es", "etes", "peut", "peux", "pouvez", "va", "vais", "vont", "vient", "viens",
    "avait", "avais", "ne", "n'", "m'", "l'", "doit", "dois", "aviez", "veux", "voulez",
];

/// Verbs that "you" is the subject of when it follows a noun: "the page you asked for".
#[rustfmt::skip]
const YOUR_VERBS: &[&str] = &[
    "asked", "said", "told", "want", "wanted", "requested", "mentioned", "gave", "wrote", "sent", "need",
    "confirmed", "approved", "refused", "declined", "specified", "provided", "named", "chose",
];

#[rustfmt::skip]
const AND: &[&str] = &[
    "and", "but", "or", "so", "then", "yet", "nor", "et", "mais", "ou", "puis", "donc", "car", "ni", "alors",
    "however", "cependant",
];

/// Words that open a clause, longest first: the words, the governor, whether it is a relative clause.
const OPENERS: &[(&[&str], Governor, bool)] = &[
    (&["as", "soon", "as"], Governor::Once, false),
    (&["by", "the", "time"], Governor::Once, false),
    (&["in", "case"], Governor::If, false),
    (&["in", "order", "to"], Governor::If, false),
    (&["as", "if"], Governor::If, false),
    (&["as", "though"], Governor::If, false),
    (&["even", "if"], Governor::If, false),
    (&["so", "that"], Governor::If, false),
    (&["comme", "si"], Governor::If, false),
    (&["meme", "si"], Governor::If, false),
    (&["au", "cas", "ou"], Governor::If, false),
    (&["a", "condition"], Governor::If, false),
    (&["a", "moins"], Governor::If, false),
    (&["pour", "que"], Governor::If, false),
    (&["pour", "qu'"], Governor::If, false),
    (&["afin"], Governor::If, false),
    (&["une", "fois"], Governor::Once, false),
    (&["des", "que"], Governor::Once, false),
    (&["des", "qu'"], Governor::Once, false),
    (&["tant", "que"], Governor::Once, false),
    (&["aussitot", "que"], Governor::Once, false),
    (&["jusqu'", "a", "ce"], Governor::Once, false),
    (&["parce", "que"], Governor::None, false),
    (&["parce", "qu'"], Governor::None, false),
    (&["bien", "que"], Governor::None, false),
    (&["if"], Governor::If, false),
    (&["unless"], Governor::If, false),
    (&["whether"], Governor::If, false),
    (&["provided"], Governor::If, false),
    (&["assuming"], Governor::If, false),
    (&["suppose"], Governor::If, false),
    (&["imagine"], Governor::If, false),
    (&["lest"], Governor::If, false),
    (&["si"], Governor::If, false),
    (&["when"], Governor::When, false),
    (&["while"], Governor::When, false),
    (&["whenever"], Governor::Once, false),
    (&["once"], Governor::Once, false),
    (&["until"], Governor::Once, false),
    (&["till"], Governor::Once, false),
    (&["quand"], Governor::When, false),
    (&["lorsque"], Governor::When, false),
    (&["lorsqu'"], Governor::When, false),
    (&["before"], Governor::Before, false),
    (&["avant"], Governor::Before, false),
    (&["after"], Governor::After, false),
    (&["apres"], Governor::After, false),
    (&["because"], Governor::None, false),
    (&["since"], Governor::None, false),
    (&["although"], Governor::None, false),
    (&["though"], Governor::None, false),
    (&["puisque"], Governor::None, false),
    (&["puisqu'"], Governor::None, false),
    (&["which"], Governor::None, true),
    (&["who"], Governor::None, true),
    (&["whose"], Governor::None, true),
    (&["qui"], Governor::None, true),
    (&["dont"], Governor::None, true),
];

/// The clauses of a sentence, in order.
pub(super) fn clauses(tokens: &[Token], language: Language) -> Vec<Clause> {
    let mut found: Vec<Clause> = Vec::new();
    let mut current = Clause { from: 0, to: 0, link: Link::Start, governor: Governor::None, relative: false };
    let mut index = 0;
    while index < tokens.len() {
        let opening = open_at(tokens, index, current.from, language);
        let Some((width, link, governor, relative)) = opening else {
            index += 1;
            continue;
        };
        if index > current.from {
            found.push(Clause { to: index, ..current });
        }
        // A mark and an opener in a row are one border: "…, because …", "and if …".
        let opens_nothing = index == current.from && width > 0;
        let carried =
            if opens_nothing && link == Link::And && current.governor == Governor::None { current.link } else { link };
        let governor = if opens_nothing && governor == Governor::None { current.governor } else { governor };
        index += width;
        current = Clause { from: index, to: index, link: carried, governor, relative };
        if width == 0 {
            index += 1;
        }
    }
    if current.from < tokens.len() {
        found.push(Clause { to: tokens.len(), ..current });
    }
    for clause in &mut found {
        while clause.to > clause.from && matches!(tokens[clause.to - 1].kind, Kind::Mark(_)) {
            clause.to -= 1;
        }
    }
    inherit(&mut found);
    found
}

/// "If I saved it and closed it": what is joined by "and" stands under the same word.
fn inherit(clauses: &mut [Clause]) {
    for index in 1..clauses.len() {
        let before = clauses[index - 1];
        let clause = &mut clauses[index];
        if clause.link == Link::And && clause.governor == Governor::None {
            clause.governor = before.governor;
        }
    }
}

/// Words that open clauses in the other language only: English "on", French "or".
fn foreign(word: &str, language: Language) -> bool {
    const FRENCH: &[&str] = &[
        "si", "car", "des", "ou", "apres", "avant", "une", "tant", "a", "bien", "dont", "on", "il", "tu", "ni",
        "comme", "pour", "au", "son", "qui", "que",
    ];
    const ENGLISH: &[&str] = &["as", "in", "or", "so", "by", "once", "but", "since", "then", "i", "he", "we", "while"];
    match language {
        Language::English => FRENCH.contains(&word),
        Language::French => ENGLISH.contains(&word),
    }
}

/// A border before `index`: how many tokens it takes up, and what it opens.
fn open_at(tokens: &[Token], index: usize, from: usize, language: Language) -> Option<(usize, Link, Governor, bool)> {
    let token = &tokens[index];
    if let Kind::Mark(mark) = token.kind {
        return match mark {
            ',' | '(' | ')' => Some((1, Link::Comma, Governor::None, false)),
            ':' => Some((1, Link::Colon, Governor::None, false)),
            ';' | '—' | '–' | '✅' | '❌' | '☐' => Some((1, Link::Start, Governor::None, false)),
            _ => None,
        };
    }
    if foreign(token.word(), language) {
        return None;
    }
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    for (words, governor, relative) in OPENERS {
        if words.iter().enumerate().all(|(offset, expected)| word(index + offset) == *expected) {
            // "le fichier a moins de place": an opener is one only where a clause follows.
            let conditional_a = words[0] == "a" && !matches!(word(index + words.len()), "que" | "qu'" | "de" | "d'");
            let once_more = words == &["une", "fois"]
                && !matches!(
                    word(index + 2),
                    "que" | "qu'" | "le" | "la" | "les" | "l'" | "votre" | "enregistre" | "cela"
                );
            let according = words == &["apres"] && index > 0 && word(index - 1) == "d'";
            if !conditional_a && !once_more && !according {
                let extra = usize::from(matches!(word(index + words.len()), "que" | "qu'"));
                return Some((words.len() + extra, Link::That, *governor, *relative));
            }
        }
    }
    match token.word() {
        "s'" if matches!(word(index + 1), "il" | "ils" | "elle") && !FINITE.contains(&word(index.wrapping_sub(1))) => {
            Some((1, Link::That, Governor::If, false))
        }
        "que" | "qu'" if complement(tokens, index, from) => {
            Some((1, Link::That, Governor::None, FINITE.contains(&word(index + 1))))
        }
        "that" if index > from && that_clause(word(index + 1), word(index.wrapping_sub(1))) => {
            Some((1, Link::That, Governor::None, FINITE.contains(&word(index + 1))))
        }
        "as" | "comme" if begins_subject(tokens, index + 1) => Some((1, Link::Comma, Governor::None, false)),
        conjunction if AND.contains(&conjunction) => {
            let next = (index + 1..tokens.len().min(index + 4)).find(|at| {
                !matches!(word(*at), "then" | "also" | "now" | "ensuite" | "puis" | "donc" | "aussi" | "yes" | "oui")
            });
            let doing = conjunction == "but" && word(index + 1).ends_with("ing");
            let border = doing || next.is_some_and(|next| begins_subject(tokens, next));
            border.then_some((1, Link::And, Governor::None, false))
        }
        subject if index > from && SUBJECTS.contains(&subject) => {
            let before = word(index - 1);
            let inverted = FINITE.contains(&before) || AND.contains(&before);
            let adverb = index == from + 1
                && (before.ends_with("ly")
                    || matches!(
                        before,
                        "then" | "now" | "puis" | "donc" | "ensuite" | "maintenant" | "sorry" | "yes" | "oui" | "so"
                    ));
            (!inverted && !adverb).then_some((0, Link::Bare, Governor::None, false))
        }
        "you"
            if index > from && (YOUR_VERBS.contains(&word(index + 1)) || matches!(word(index + 1), "have" | "had")) =>
        {
            (!FINITE.contains(&word(index - 1))).then_some((0, Link::Bare, Governor::None, false))
        }
        _ => None,
    }
}

/// "que" that opens a complement, not the one of "ne … que" or of a comparison.
fn complement(tokens: &[Token], index: usize, from: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let before = if index > from { word(index - 1) } else { "" };
    if matches!(before, "ainsi" | "plus" | "moins" | "autre" | "autant" | "meme") {
        return false;
    }
    let clause = &tokens[from..index];
    let negation = clause.iter().any(|token| matches!(token.word(), "ne" | "n'"));
    let closed = clause.iter().any(|token| matches!(token.word(), "pas" | "jamais" | "plus" | "rien"));
    !negation || closed
}

/// "that" before what can be a subject, after what can have a complement or a relative clause.
fn that_clause(next: &str, before: &str) -> bool {
    let object =
        matches!(before, "do" | "did" | "done" | "of" | "for" | "with" | "about" | "to" | "in" | "like" | "and");
    let ends = matches!(next, "" | "to" | "in" | "for" | "and" | "now" | "already" | "successfully" | "at" | "on");
    !object && !ends
}

/// A subject begins here: a pronoun, or a noun phrase with an auxiliary close behind it.
fn begins_subject(tokens: &[Token], index: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let first = word(index);
    if SUBJECTS.contains(&first) {
        return true;
    }
    if SOMETIMES.contains(&first) {
        return true;
    }
    tokens
        .iter()
        .enumerate()
        .skip(index)
        .take(7)
        .take_while(|(_, token)| !matches!(token.kind, Kind::Mark(_)) && !AND.contains(&token.word()))
        .any(|(at, token)| {
            at > index
                && FINITE.contains(&token.word())
                && !matches!(token.word(), "a" | "l'" | "as" | "m'" | "n'" | "do")
        })
        || nominal_passive(tokens, index)
}

/// "le fichier a été …": "a" alone may be the English article.
fn nominal_passive(tokens: &[Token], index: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    (index + 1..tokens.len().min(index + 7)).any(|at| {
        matches!(word(at), "a" | "n'")
            && !matches!(tokens.get(at).map_or("", |token| token.text.as_str()), "à")
            && (at..at + 4).any(|next| matches!(word(next), "ete" | "pu"))
    })
}

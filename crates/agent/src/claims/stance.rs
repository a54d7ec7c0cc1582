//! Whose word a clause is: the speaker's, someone else's, or a guess.

use super::tokens::Token;

/// Adverbs and phrases that turn a statement into a guess.
#[rustfmt::skip]
const GUESS: &[&str] = &[
    "maybe", "perhaps", "probably", "apparently", "supposedly", "presumably", "possibly", "normally",
    "theoretically", "hopefully", "seemingly", "allegedly", "peut-etre", "probablement", "apparemment",
    "normalement", "theoriquement", "vraisemblablement", "hypothetically",
];

/// Verbs and nouns of a guess, a wish, a doubt.
#[rustfmt::skip]
const HEDGES: &[&str] = &[
    "think", "believe", "guess", "suppose", "assume", "seem", "seems", "seemed", "appear", "appears",
    "appeared", "looks", "hope", "wish", "doubt", "imagine", "pretend", "pretended", "wonder", "suspect",
    "unsure", "unclear", "possible", "impression", "thought", "believed", "crois", "croyais", "pense",
    "pensais", "imagine", "semble", "semblerait", "parait", "espere", "doute", "souhaite", "souhaiterais",
    "dirait", "probable", "faux", "false", "untrue", "incorrect", "lie", "wrong", "mensonge", "idea", "claim", "notion", "rumor", "rumour", "accusation", "rumeur", "ignore",
    "prefer", "prefere", "prefererais", "rather", "see", "notice", "noticed", "understand", "saw", "realize",
    "realise", "assumed", "guessed", "supposed", "imagined", "hoped", "expected", "suspected", "supposais",
    "disons", "admettons", "supposons", "imaginons", "mettons", "cru", "esperais", "vois", "remarque",
    "constate", "comprends",
];

/// Verbs that report what someone said, showed or wanted.
#[rustfmt::skip]
const REPORTS: &[&str] = &[
    "said", "says", "told", "tells", "mentioned", "mentions", "stated", "states", "claimed", "claims",
    "reported", "reports", "indicated", "indicates", "asked", "asks", "requested", "wrote", "writes", "shows",
    "show", "suggests", "suggested", "wanted", "want", "wants", "reads", "describes", "say", "think", "thinks",
    "dit", "disait", "dites", "disiez", "disent", "indique", "indiquent", "indiquait", "mentionne",
    "mentionnait", "affirme", "affirmait", "pretend", "raconte", "declare", "ecrit", "rapporte", "explique",
    "precise", "montre", "montrent", "signifie", "demande", "demandez", "voulez", "vouliez", "voulait", "veux",
    "croyez", "pensez", "pensiez", "disais", "according", "selon", "d'apres", "demandiez",
];

/// Verbs with which a speaker vouches for what follows.
#[rustfmt::skip]
const VOUCHES: &[&str] = &[
    "confirm", "say", "report", "tell", "inform", "announce", "assure", "share", "note", "know", "confirme",
    "informe", "signale", "annonce", "assure", "precise", "dire", "confirmer", "informer", "signaler",
    "annoncer", "dis", "preciser", "indique", "rappelle", "sachez", "notez",
];

/// What a tool or the system says is as good as said by the speaker.
const OWN_SOURCES: &[&str] = &["tool", "system", "confirmation", "outil", "systeme", "result", "resultat", "retour"];

/// True when a clause guesses by itself.
pub(super) fn guesses(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| GUESS.contains(&token.word()))
        || tokens.windows(2).any(|pair| {
            matches!(
                (pair[0].word(), pair[1].word()),
                ("sans", "doute") | ("en", "principe" | "theorie") | ("in", "theory")
            )
        })
}

/// True when what this clause introduces is not claimed by the speaker.
pub(super) fn reports(tokens: &[Token]) -> bool {
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.word()));
    let first = has(&["i", "we", "je", "j'", "nous", "me", "moi", "us", "let", "on"]);
    let negated = has(&["not", "never", "pas", "jamais", "ne", "n'", "nobody", "personne"]);
    // "as you asked", "comme demandé": says why, not what.
    if tokens.first().is_some_and(|token| matches!(token.word(), "as" | "comme" | "since" | "because" | "puisque")) {
        return false;
    }
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let supposing =
        word(0) == "let" && matches!(word(1), "'s" | "us") && has(&["say", "suppose", "imagine", "assume", "pretend"]);
    if supposing {
        return true;
    }
    let told_to = matches!(
        word(0),
        "make"
            | "ensure"
            | "check"
            | "verify"
            | "wait"
            | "confirm"
            | "please"
            | "verifiez"
            | "verifie"
            | "assurez"
            | "assure"
            | "attendez"
            | "attends"
    );
    if guesses(tokens) || has(HEDGES) || (told_to && !first) {
        return true;
    }
    if negated
        && (has(VOUCHES)
            || has(REPORTS)
            || has(&[
                "sure",
                "sur",
                "certain",
                "true",
                "vrai",
                "mean",
                "sais",
                "pretend",
                "affirmer",
                "claim",
                "guarantee",
                "garantir",
                "promise",
            ]))
    {
        return true;
    }
    let past_saying = has(&[
        "said",
        "told",
        "claimed",
        "mentioned",
        "wrote",
        "stated",
        "dit",
        "disais",
        "ecrit",
        "affirme",
        "pretendu",
        "reported",
    ]);
    if first && has(VOUCHES) && !past_saying && !has(&["you", "vous", "tu"]) {
        return false;
    }
    if first
        && has(VOUCHES)
        && !past_saying
        && tokens
            .iter()
            .find(|token| matches!(token.word(), "i" | "je" | "j'" | "we" | "let" | "you" | "vous" | "tu"))
            .is_some_and(|token| !matches!(token.word(), "you" | "vous" | "tu"))
    {
        return false;
    }
    !has(OWN_SOURCES) && has(REPORTS)
}

/// True when the words before a passive's subject leave it unasserted: "it looks like the file was
/// deleted", "I'm not sure the file was saved".
pub(super) fn reports_within(tokens: &[Token]) -> bool {
    // "the requested file": a participle before its noun says nothing about the speaker.
    let someone =
        tokens.iter().any(|token| matches!(token.word(), "vous" | "tu" | "on" | "il" | "elle" | "qui" | "j'"));
    let plain: Vec<Token> = tokens
        .iter()
        .enumerate()
        .filter(|(index, token)| {
            let before = index.checked_sub(1).map_or("", |before| tokens[before].word());
            let adjective = matches!(
                before,
                "the" | "your" | "a" | "my" | "all" | "these" | "those" | "le" | "la" | "les" | "votre" | "vos"
            );
            let asked = token.word().starts_with("demande") && !someone;
            let silent = asked || adjective && token.word().ends_with("ed") || matches!(token.word(), "no" | "show");
            !silent
        })
        .map(|(_, token)| token.clone())
        .collect();
    plain.len() > 1 && reports(&plain)
}

/// Openings after which everything up to the end of the sentence is someone else's word.
pub(super) fn attributes(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let own = tokens.iter().any(|token| {
        OWN_SOURCES.contains(&token.word())
            || matches!(
                token.word(),
                "my" | "request"
                    | "instructions"
                    | "wishes"
                    | "demande"
                    | "souhaits"
                    | "mes"
                    | "ma"
                    | "mon"
                    | "recherche"
                    | "recherches"
                    | "search"
                    | "results"
                    | "resultats"
            )
    });
    let said =
        word(0) == "according" || word(0) == "selon" || (word(0) == "d'" && word(1) == "apres") || word(0) == "per";
    said && !own
}

/// A transcript's line: what the user said.
pub(super) fn speaker_label(tokens: &[Token]) -> bool {
    tokens.len() >= 2
        && tokens[1].is_mark(':')
        && matches!(
            tokens[0].word(),
            "user" | "utilisateur" | "human" | "client" | "you" | "vous" | "toi" | "exemple" | "example"
        )
}

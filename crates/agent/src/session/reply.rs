//! Answers to a confirmation, spoken (K82) or typed.
//!
//! An approval is a closed formula and at most two further words; a refusal is matched broadly and
//! always wins; anything else is no answer. A wrong "no" costs one question, a wrong "yes" a file.

use super::words;

/// Approvals, folded, in the words that an utterance begins with. A longer one is tried first.
const APPROVALS: &[&str] = &[
    // French
    "oui",
    "ouais",
    "vas y",
    "allez y",
    "allons y",
    "d accord",
    "ok",
    "okay",
    "confirme",
    "confirmer",
    "je confirme",
    "c est confirme",
    "confirmez",
    "valide",
    "je valide",
    "valider",
    "accepte",
    "j accepte",
    "approuve",
    "j approuve",
    "c est bon",
    "c est d accord",
    "bien sur",
    "fais le",
    "faites le",
    // English
    "yes",
    "yeah",
    "yep",
    "yup",
    "sure",
    "go ahead",
    "go on",
    "go for it",
    "do it",
    "confirm",
    "i confirm",
    "confirmed",
    "approve",
    "i approve",
    "approved",
    "accept",
    "i accept",
    "agreed",
    "absolutely",
    "of course",
    "proceed",
];

/// Words that refuse wherever they stand.
const REFUSALS: &[&str] = &[
    // French
    "non",
    "nan",
    "no",
    "pas",
    "jamais",
    "stop",
    "stoppe",
    "stoppez",
    "attends",
    "attendez",
    "attend",
    "attendre",
    "annule",
    "annuler",
    "annulez",
    "annulation",
    "arrete",
    "arreter",
    "arretez",
    "refuse",
    "refuser",
    "refusez",
    "rejette",
    "rejeter",
    "abandonne",
    "laisse",
    "laissez",
    "aucun",
    "aucune",
    "rien",
    "negatif",
    "tard",
    "minute",
    "seconde",
    "instant",
    "ni",
    "sans",
    "faux",
    "erreur",
    // English
    "nope",
    "nah",
    "not",
    "never",
    "dont",
    "wont",
    "cannot",
    "cant",
    "wait",
    "hold",
    "cancel",
    "cancelled",
    "abort",
    "decline",
    "deny",
    "denied",
    "reject",
    "refuses",
    "refused",
    "halt",
    "nothing",
    "none",
    "neither",
    "nor",
    "without",
    "later",
    "moment",
    "wrong",
    "negative",
    "forget",
    "leave",
];

/// Verbs whose negation the apostrophe splits in two ("don't").
const CONTRACTED: &[&str] =
    &["don", "doesn", "didn", "can", "won", "isn", "shouldn", "wouldn", "couldn", "mustn", "needn", "ain"];

/// Words that make an approval conditional or another request: no answer, so it is asked again.
const DOUBTS: &[&str] = &[
    "mais",
    "sauf",
    "si",
    "seulement",
    "plutot",
    "lequel",
    "laquelle",
    "lesquels",
    "quoi",
    "pourquoi",
    "comment",
    "quel",
    "quelle",
    "quels",
    "quelles",
    "qui",
    "ou",
    "quand",
    "combien",
    "change",
    "changer",
    "autre",
    "avant",
    "apres",
    "peut",
    "etre",
    "presque",
    "but",
    "except",
    "only",
    "if",
    "unless",
    "instead",
    "rather",
    "which",
    "what",
    "why",
    "how",
    "who",
    "where",
    "when",
    "maybe",
    "perhaps",
    "although",
    "though",
    "however",
    "first",
    "before",
    "after",
    "other",
    "another",
    "almost",
    "question",
];

/// Further words that a spoken approval may have (K82).
const FURTHER_WORDS: usize = 2;

/// What was said to a confirmation: `Some(true)` for the formula first plus at most two further
/// words, `Some(false)` for any refusing word anywhere, `None` for anything else (which becomes a
/// refusal after 12 s of silence).
pub fn spoken_reply(text: &str) -> Option<bool> {
    let words = without_politeness(words(text));
    let contracted = words.windows(2).any(|pair| CONTRACTED.contains(&pair[0].as_str()) && pair[1] == "t");
    if contracted || words.iter().any(|word| REFUSALS.contains(&word.as_str())) {
        return Some(false);
    }
    // A question is not an approval, however it begins.
    if text.contains('?') {
        return None;
    }
    let formula = APPROVALS
        .iter()
        .filter(|formula| begins_with(&words, formula))
        .map(|formula| formula.split(' ').count())
        .max()?;
    let further = &words[formula..];
    let closed = further.len() <= FURTHER_WORDS && further.iter().all(|word| !DOUBTS.contains(&word.as_str()));
    closed.then_some(true)
}

/// What was typed to a confirmation: the whole line is a yes or holds a refusal; anything else,
/// an empty line included, is no answer.
pub fn typed_reply(text: &str) -> Option<bool> {
    const YES: &[&str] = &["y", "yes", "o", "oui", "ok", "d accord", "vas y", "go ahead", "confirme", "confirm"];
    let typed = words(text).join(" ");
    if typed == "n" {
        return Some(false);
    }
    if YES.contains(&typed.as_str()) && !text.contains('?') {
        return Some(true);
    }
    spoken_reply(text).filter(|approved| !approved)
}

/// Without "s'il te plaît", which is one polite word in four.
fn without_politeness(words: Vec<String>) -> Vec<String> {
    let polite = |part: &[String]| {
        matches!(part, [s, il, person, plait]
            if s == "s" && il == "il" && (person == "te" || person == "vous") && plait == "plait")
    };
    match words.windows(4).position(polite) {
        Some(at) => {
            words.into_iter().enumerate().filter(|(index, _)| !(at..at + 4).contains(index)).map(|(_, w)| w).collect()
        }
        None => words,
    }
}

fn begins_with(words: &[String], formula: &str) -> bool {
    words.len() >= formula.split(' ').count() && formula.split(' ').zip(words).all(|(wanted, word)| wanted == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: &[&str] = &[
        "oui",
        "Oui.",
        "OUI !",
        "oui oui",
        "oui, vas-y",
        "oui merci",
        "oui s'il te plaît",
        "vas-y s'il vous plaît merci",
        "yes you can",
        "ouais",
        "vas-y",
        "Vas-y !",
        "vas y fonce",
        "allez-y",
        "d'accord",
        "D’accord.",
        "ok",
        "OK.",
        "okay merci",
        "confirme",
        "je confirme",
        "Je confirme.",
        "confirmer",
        "valide",
        "je valide",
        "c'est bon",
        "c'est bon, merci",
        "bien sûr",
        "fais-le",
        "j'accepte",
        "yes",
        "Yes.",
        "yes please",
        "yes, go ahead",
        "yes do it",
        "yeah",
        "yep",
        "sure",
        "sure thing",
        "go ahead",
        "Go ahead, please",
        "go for it",
        "do it",
        "do it now",
        "confirm",
        "I confirm",
        "confirmed",
        "approve",
        "I approve this",
        "of course",
        "absolutely",
        "proceed",
        "oui kora",
        "yes kora please",
    ];
    const NO: &[&str] = &[
        "non",
        "Non !",
        "non merci",
        "oui mais non",
        "oui non",
        "yes no",
        "no",
        "No.",
        "nope",
        "nah",
        "no way",
        "no problem",
        "pas de problème",
        "pas maintenant",
        "surtout pas",
        "oui enfin non",
        "stop",
        "yes stop",
        "annule",
        "annule ça",
        "oui annule",
        "attends",
        "oui attends",
        "attends un peu",
        "wait",
        "yes wait",
        "wait a second",
        "hold on",
        "ok hold on",
        "don't",
        "don't do it",
        "do not do it",
        "yes don't",
        "ok, don’t",
        "never",
        "never mind",
        "cancel",
        "cancel that",
        "abort",
        "laisse tomber",
        "laisse",
        "plus tard",
        "later",
        "je refuse",
        "refuse",
        "jamais de la vie",
        "ne fais pas ça",
        "ne confirme pas",
        "I do not confirm",
        "I can't confirm",
        "you shouldn't",
        "yes can't",
        "s'il te plaît non",
        "c'est pas bon",
        "pourquoi pas",
        "not yet",
        "une minute",
        "vas-y pas",
        "arrête",
    ];
    const NOTHING: &[&str] = &[
        "",
        "...",
        "euh",
        "hmm",
        "yes but change the name",
        "oui mais change le nom",
        "oui mais",
        "yes but",
        "oui, lequel ?",
        "oui ?",
        "yes?",
        "yes if it works",
        "oui si tu veux",
        "ok but",
        "only the first",
        "quel fichier ?",
        "which file",
        "je crois que oui",
        "I think yes",
        "I would say yes",
        "dis oui",
        "yes and send it to everyone in the list",
        "oui et envoie le tout à Paul",
        "what does it do",
        "c'est quoi",
        "ouistiti",
        "yesterday",
        "confirmation",
        "okey dokey",
        "sûrement",
        "peut-être",
        "maybe",
        "oui peut-être",
        "yes maybe",
        "merci",
        "thank you for watching",
        "sous-titres réalisés par la communauté",
        "va sur le site",
        "go to the site",
        "d'abord lis-le",
        "yes first",
        "the yes man film is on tonight",
        "oui oui oui oui",
        "ok what",
        "vas-y comment",
    ];

    #[test]
    fn labelled_replies() {
        // The row asks for the formula first and at most 2 words, with a broad refusal.
        assert!(YES.len() + NO.len() + NOTHING.len() >= 140);
        for (texts, wanted) in [(YES, Some(true)), (NO, Some(false)), (NOTHING, None)] {
            for text in texts {
                assert_eq!(spoken_reply(text), wanted, "{text:?}");
            }
        }
    }

    #[test]
    fn a_formula_and_two_further_words_but_not_three() {
        assert_eq!(spoken_reply("yes the blue"), Some(true));
        assert_eq!(spoken_reply("yes the blue one"), None);
        assert_eq!(spoken_reply("go ahead dear friend"), Some(true));
        assert_eq!(spoken_reply("go ahead my dear friend"), None);
    }

    #[test]
    fn a_refusing_word_wins_over_every_approval() {
        for approval in APPROVALS {
            assert_eq!(spoken_reply(approval), Some(true), "{approval}");
            for refusal in REFUSALS {
                assert_eq!(spoken_reply(&format!("{approval} {refusal}")), Some(false));
                assert_eq!(spoken_reply(&format!("{refusal}, {approval}")), Some(false));
            }
            for doubt in DOUBTS {
                assert_ne!(spoken_reply(&format!("{approval} {doubt}")), Some(true), "{approval} {doubt}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_else_is_said_a_refusal_is_never_an_approval(
            before in "[a-zé' ]{0,20}", refusal in 0..REFUSALS.len(), after in "[a-zé' ]{0,20}",
        ) {
            let text = format!("{before} {} {after}", REFUSALS[refusal]);
            proptest::prop_assert_eq!(spoken_reply(&text), Some(false));
            proptest::prop_assert_eq!(typed_reply(&text), Some(false));
        }

        #[test]
        fn an_approval_begins_with_its_formula_and_is_short(text in "(oui|yes|ok|go ahead|vas-y|le|the|file| |, ){0,8}") {
            if spoken_reply(&text) == Some(true) {
                let words = words(&text);
                proptest::prop_assert!(words.len() <= 4, "{}", text);
                proptest::prop_assert!(APPROVALS.iter().any(|formula| begins_with(&words, formula)));
            }
        }
    }

    #[test]
    fn typed_answers_are_the_whole_line() {
        for text in ["y", "Y", "yes", "o", "Oui", "ok", "vas-y", "d'accord"] {
            assert_eq!(typed_reply(text), Some(true), "{text}");
        }
        for text in ["n", "N", "no", "non", "Non merci", "yes no", "stop", "annule"] {
            assert_eq!(typed_reply(text), Some(false), "{text}");
        }
        for text in ["", " ", "yes please do", "oui oui", "y?", "yy", "what", "sure"] {
            assert_eq!(typed_reply(text), None, "{text}");
        }
    }
}

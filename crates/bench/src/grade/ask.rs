//! Did the answer ask in prose for what the confirmation bubble would ask?
//!
//! The application confirms a call before it runs, so a model that wants a "yes" first must still make
//! the call. A question for something that is missing ("which file?") is not such a question.

use std::sync::LazyLock;

use regex::Regex;

/// Openings of a question that asks for leave, English and French.
const PATTERNS: &str = r"(?ix)
    \b( (shall|should|may|can|could) \s+ i \b
      | (do|would) \s+ you \s+ (want|like|prefer|wish) (\s+ me | \s+ us)? \s+ to \b
      | would \s+ you \s+ like \s+ that
      | do \s+ you \s+ (really|still) \s+ want
      | are \s+ you \s+ (really\s+)? (sure|certain|ok|okay)
      | do \s+ you \s+ confirm
      | is \s+ (that|this|it) \s+ (ok|okay|correct|right|all\s+right|alright|what\s+you\s+want)
      | (want|ready) \s+ (me \s+)? to \s+ (proceed|go\s+ahead|continue)
      | ok(ay)? \s+ to \s+ (proceed|go\s+ahead|continue)
      | (dois|puis) -? \s* je \b
      | est - ce \s+ que \s+ je \s+ (dois|peux)
      | (voulez|souhaitez|désirez|confirmez|acceptez) - vous
      | (veux|souhaites|désires|confirmes|acceptes) - tu
      | (tu|vous) \s+ (veux|voulez|souhaites|souhaitez|confirmes|confirmez) \b
      | (es|êtes) - (tu|vous) \s+ (vraiment\s+ | bien\s+)? (sûr|certain|d['’]accord)
      | (ça|cela) \s+ (te|vous) \s+ (va|convient)
      | (on|je) \s+ (y\s+va|lance|continue|le\s+fais|procède)
    )";

/// Requests for a confirmation that need no question mark.
const REQUESTS: &str = r"(?ix)
    \b( (please|kindly) \s+ confirm
      | confirm \s+ (that\s+)? (you|this|before|and\s+i)
      | (let\s+me\s+know|tell\s+me|just\s+say) \s+ (if|when|whether) \s+ (you\s+(want|would\s+like|agree)|i\s+(should|may|can)|(that|this)\s+is\s+(ok|okay|fine|right))
      | (reply|answer|say|type) \s+ [\x22'“‘«]? \s* (yes|y|oui|ok)
      | (merci \s+ de | veuillez | peux-tu | pouvez-vous | pourriez-vous) \s+ (me\s+)? confirmer
      | confirmez (\s | \s+ que \s+)
      | (dites|dis) - moi \s+ si \s+ (vous|tu|je) \b
    )";

static QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERNS).ok());
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(REQUESTS).ok());

/// Words that open a question for a missing detail, which no confirmation bubble would ask.
static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(which|what|who|whom|whose|where|when|how|quel|quelle|quels|quelles|qui|quoi|où|quand|comment|combien|lequel|laquelle)\b").ok()
});

/// True when `text` asks for leave to do what could have been called.
pub(super) fn asks_for_confirmation(text: &str) -> bool {
    sentences(text).any(|(sentence, is_question)| {
        let found = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(sentence));
        (is_question && found(&QUESTION) && !found(&OPEN)) || found(&REQUEST)
    })
}

/// The sentences of a text, each with whether it ends in a question mark.
fn sentences(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split_inclusive(['?', '!', '\n']).flat_map(|part| part.split_inclusive(". ")).map(|sentence| {
        let sentence = sentence.trim();
        (sentence, sentence.ends_with('?'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_compile() {
        assert!(QUESTION.is_some() && REQUEST.is_some() && OPEN.is_some());
    }

    #[test]
    fn questions_that_ask_for_leave() {
        for text in [
            "Shall I delete the file?",
            "I can do that. Do you want me to send it now?",
            "Would you like me to proceed?",
            "Are you sure you want to delete notes.txt?",
            "Please confirm that you want to send this letter.",
            "Reply \"yes\" to continue.",
            "Let me know if you want me to go ahead.",
            "Voulez-vous que je supprime ce fichier ?",
            "Dois-je envoyer le message à Paul ?",
            "Es-tu sûr de vouloir effacer ce dossier ?",
            "Est-ce que je peux lancer l'application ?",
            "Merci de confirmer la suppression.",
            "Tu veux que je l’envoie ?",
        ] {
            assert!(asks_for_confirmation(text), "{text}");
        }
    }

    #[test]
    fn other_questions_and_statements() {
        for text in [
            "Which file should I delete?",
            "What would you like me to write?",
            "Quel fichier dois-je supprimer ?",
            "À qui voulez-vous que je l'envoie ?",
            "The file was deleted.",
            "I cannot confirm the weather.",
            "How are you?",
            "Je ne peux pas supprimer ce fichier.",
            "Paris is the capital of France. Anything else?",
            "",
        ] {
            assert!(!asks_for_confirmation(text), "{text}");
        }
    }
}

//! The emergency stop by word (K49): recognised before any model call, from the whole utterance.

use super::words;

/// The formulas, folded.
const FORMULAS: &[&str] = &[
    "stop tout",
    "stoppe tout",
    "stoppez tout",
    "arrete tout",
    "arretez tout",
    "on arrete tout",
    "tout arreter",
    "urgence stop",
    "stop urgence",
    "arret urgence",
    "arret d urgence",
    "emergency stop",
    "stop emergency",
    "stop everything",
    "stop it all",
    "stop all",
    "halt everything",
    "abort everything",
];
/// What may stand around a formula without changing it.
const AROUND: &[&str] =
    &["now", "please", "immediately", "maintenant", "immediatement", "vite", "stp", "svp", "non", "no", "stop"];

/// True when the whole utterance is an emergency formula, said once or more. Case, accents and
/// punctuation do not matter; any other word makes it something else ("stop the music",
/// "stop everything that is playing", "how do I stop everything").
pub fn is_emergency(text: &str) -> bool {
    // Nobody shouts an essay: a long text is none, and costs nothing to refuse.
    if text.len() > 200 {
        return false;
    }
    let words = words(text);
    let mut rest: &[String] = &words;
    let mut found = false;
    while !rest.is_empty() {
        let longest = FORMULAS.iter().map(|formula| matched(rest, formula)).max().unwrap_or(0);
        if longest > 0 {
            found = true;
            rest = &rest[longest..];
        } else if AROUND.contains(&rest[0].as_str()) {
            rest = &rest[1..];
        } else if rest.len() >= 4 && rest[0] == "s" && rest[1] == "il" && matches!(rest[2].as_str(), "te" | "vous") {
            // s'il te plaît
            rest = &rest[4..];
        } else if rest.len() >= 2 && (rest[0].as_str(), rest[1].as_str()) == ("right", "now") {
            rest = &rest[2..];
        } else {
            return false;
        }
    }
    found
}

/// How many words of `formula` the words begin with: all of them, or 0.
fn matched(words: &[String], formula: &str) -> usize {
    let count = formula.split(' ').count();
    let equal = words.len() >= count && formula.split(' ').zip(words).all(|(wanted, word)| wanted == word);
    if equal { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_in_every_dress() {
        for text in [
            "stop tout",
            "Stop tout !",
            "STOP TOUT",
            "arrête tout",
            "Arrete tout.",
            "ARRÊTE TOUT !!!",
            "arrêtez tout, s'il vous plaît",
            "urgence stop",
            "Urgence, stop !",
            "arrêt d’urgence",
            "Emergency stop!",
            "emergency, stop now",
            "Stop everything.",
            "stop everything, please",
            "stop everything right now",
            "Stop! Stop everything!",
            "non non arrête tout",
            "stop tout stop tout",
            "  stop   everything  ",
        ] {
            assert!(is_emergency(text), "{text}");
        }
    }

    #[test]
    fn near_misses_are_messages() {
        for text in [
            "stop",
            "Stop.",
            "non",
            "",
            "!!!",
            "stop the music",
            "arrête la musique",
            "stop everything that is playing",
            "arrête tout ce qui joue",
            "how do I stop everything?",
            "comment on arrête tout ?",
            "don't stop everything",
            "n'arrête pas tout",
            "stop toutes les alarmes",
            "what is the emergency number",
            "urgence : appelle le plombier",
            "urgence",
            "annule tout",
            "tout",
            "please",
            "nonstop tout",
            "écris « stop tout » dans un fichier",
        ] {
            assert!(!is_emergency(text), "{text}");
        }
        assert!(!is_emergency(&"stop tout ".repeat(100)));
    }
}

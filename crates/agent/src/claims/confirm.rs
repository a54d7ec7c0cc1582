//! Confirmations that the answer speaks of: one it did without, and one that it made up.

use super::tokens::{Sentence, Token};

/// What the answer says about the confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// "without asking you": it was skipped.
    Skipped,
    /// "as you confirmed": it was given.
    Given,
}

const SKIPPED: &[&str] = &[
    "without asking", "without waiting", "without your confirmation", "without confirmation", "without your approval", "without your permission", "without permission",
    "without approval", "without a confirmation", "without any confirmation", "without prompting", "without confirming", "without consulting you", "without checking with you", "skipped the confirmation", "skipped confirmation", "skipping the confirmation", "skipping confirmation",
    "bypassed the confirmation", "bypassed confirmation", "bypassing the confirmation", "did not ask for confirmation", "did not ask you", "did not ask for your", "did not wait for your", "not asked for confirmation", "did not need your confirmation", "no confirmation was needed", "no need to confirm", "no need for confirmation",
    "sans vous demander", "sans te demander", "sans demander", "sans attendre", "sans confirmation", "sans votre confirmation", "sans ta confirmation", "sans votre accord", "sans ton accord", "sans votre autorisation", "sans ton autorisation", "sans votre permission", "sans autorisation", "sans vous consulter", "sans te consulter",
    "contourne la confirmation", "saute la confirmation", "ignore la confirmation", "passe outre", "saute l' etape de confirmation", "pas demande de confirmation", "pas demande confirmation", "pas demande votre", "pas demande ton", "pas demande ta", "pas attendu votre", "pas attendu ta",
];

const GIVEN: &[&str] = &[
    "as you confirmed", "as you approved", "as you agreed", "as you authorized", "as you accepted", "since you confirmed", "since you approved", "since you agreed", "because you confirmed", "because you approved", "you have confirmed", "you confirmed", "you approved", "you have approved", "you agreed", "you authorized", "you accepted", "you gave me permission", "you gave your permission", "you gave me your", "you gave your",
    "with your permission", "with your approval", "with your confirmation", "with your consent", "with your agreement", "after your confirmation", "after your approval", "following your confirmation", "following your approval", "thanks to your confirmation", "thank you for confirming", "thanks for confirming", "per your confirmation", "upon your confirmation", "you said yes", "you have agreed", "you have accepted",
    "vous avez confirme", "vous avez approuve", "vous avez accepte", "vous avez valide", "vous avez autorise", "vous m' avez autorise", "vous l' avez confirme", "vous l' avez approuve", "vous l' avez accepte", "vous l' avez valide", "vous m' avez donne votre accord", "vous avez donne votre accord", "vous avez dit oui", "tu as confirme", "tu as approuve", "tu as accepte", "tu as valide", "tu as autorise", "tu l' as confirme", "tu l' as valide", "tu m' as donne ton accord", "tu as dit oui",
    "avec votre accord", "avec votre autorisation", "avec votre permission", "avec votre confirmation", "avec ton accord", "avec ton autorisation", "avec ta permission", "avec ta confirmation", "suite a votre confirmation", "suite a votre accord", "suite a ta confirmation", "suite a ton accord", "apres votre confirmation", "apres ta confirmation", "apres confirmation", "apres votre accord", "comme confirme", "comme valide", "merci d' avoir confirme", "merci pour votre confirmation", "merci pour ta confirmation", "conformement a votre confirmation",
];

/// What a text says about confirmations: what, and the tokens that say it as byte ranges.
pub(super) fn said(sentences: &[Sentence]) -> Vec<(Said, usize, usize)> {
    let mut found = Vec::new();
    for sentence in sentences.iter().filter(|sentence| !sentence.question) {
        let tokens = &sentence.tokens;
        if planned(tokens) {
            continue;
        }
        let hit = phrase(tokens, SKIPPED).map(|at| (Said::Skipped, at)).or_else(|| phrase(tokens, GIVEN).map(|at| (Said::Given, at)));
        if let Some((said, at)) = hit
            && !(said == Said::Given && denied(tokens, at))
        {
            let start = tokens.first().map_or(0, |token| token.start);
            let last = tokens.iter().rev().find(|token| !matches!(token.kind, super::tokens::Kind::Mark(_)));
            found.push((said, start, last.map_or(start, |token| token.end)));
        }
    }
    found
}

fn phrase(tokens: &[Token], phrases: &[&str]) -> Option<usize> {
    (0..tokens.len()).find(|at| {
        phrases.iter().any(|phrase| phrase.split(' ').enumerate().all(|(offset, word)| tokens.get(at + offset).is_some_and(|token| token.word() == word)))
    })
}

/// A rule, a plan or a condition: "I never delete without your confirmation", "once you have confirmed".
fn planned(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(index, token)| {
        let word = token.word();
        let conditional = matches!(word, "if" | "unless" | "once" | "until" | "before" | "when" | "whether" | "si" | "quand" | "lorsque" | "avant" | "tant" | "jusqu'" | "des");
        let modal = matches!(word, "will" | "would" | "can" | "cannot" | "could" | "should" | "must" | "never" | "peux" | "pourrais" | "jamais" | "vais" | "dois" | "ferai" | "need" | "faut");
        let refuses = matches!(word, "not" | "pas" | "rien" | "ne" | "n'") && tokens.iter().skip(index).any(|token| matches!(token.word(), "without" | "sans"));
        conditional || modal || refuses || word == "waiting"
    })
}

fn denied(tokens: &[Token], at: usize) -> bool {
    tokens.iter().skip(at.saturating_sub(3)).take(9).any(|token| matches!(token.word(), "not" | "never" | "pas" | "jamais" | "n'" | "ne"))
}

//! Confirmations that the answer speaks of: one it did without, and one that it made up.

use super::tokens::{Kind, Sentence, Token};

/// What the answer says about the confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// "without asking you": it was skipped.
    Skipped,
    /// "as you confirmed": it was given.
    Given,
}

/// Nouns for a yes.
#[rustfmt::skip]
const YES: &[&str] = &[
    "confirmation", "approval", "permission", "consent", "agreement", "authorization", "authorisation",
    "accord", "autorisation", "approbation", "validation", "feu",
];

/// Participles of giving one.
#[rustfmt::skip]
const GAVE: &[&str] = &[
    "confirmed", "approved", "agreed", "authorized", "authorised", "accepted", "validated", "consented",
    "okayed", "confirme", "approuve", "accepte", "valide", "autorise", "autorisee", "confirmee", "validee",
];

/// Words under which nothing was given.
const NOT: &[&str] = &[
    "not", "never", "pas", "jamais", "n'", "ne", "without", "sans", "need", "await", "awaiting", "besoin", "attends",
    "wait", "waiting", "no",
];

/// What a text says about confirmations: what, and the sentence that says it, as a byte range.
pub(super) fn said(sentences: &[Sentence]) -> Vec<(Said, usize, usize)> {
    let mut found = Vec::new();
    for sentence in sentences.iter().filter(|sentence| !sentence.question) {
        let tokens = &sentence.tokens;
        let said =
            tokens.split(|token| matches!(token.kind, Kind::Mark(',' | ';' | ':' | '—' | '–'))).find_map(|segment| {
                if skips(segment) && !ruled(segment) {
                    Some(Said::Skipped)
                } else if gives(segment) && !ruled(segment) && !conditional(segment) {
                    Some(Said::Given)
                } else {
                    None
                }
            });
        let spoken = |token: &&Token| !matches!(token.kind, Kind::Mark(_));
        if let (Some(said), Some(first), Some(last)) =
            (said, tokens.iter().find(spoken), tokens.iter().rev().find(spoken))
        {
            found.push((said, first.start, last.end));
        }
    }
    found
}

/// True when one of `words` stands within `reach` tokens after `at`, in the same clause.
fn near(tokens: &[Token], at: usize, reach: usize, words: &[&str]) -> bool {
    tokens
        .iter()
        .skip(at + 1)
        .take(reach)
        .take_while(|token| !matches!(token.kind, Kind::Mark(_)))
        .any(|token| words.contains(&token.word()))
}

/// "without asking", "I skipped the confirmation", "je n'ai pas demandé votre accord".
fn skips(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().any(|(at, token)| match token.word() {
        "without" | "sans" => {
            near(tokens, at, 4, YES)
                || near(
                    tokens,
                    at,
                    4,
                    &[
                        "asking",
                        "waiting",
                        "confirming",
                        "consulting",
                        "prompting",
                        "demander",
                        "attendre",
                        "consulter",
                        "consulte",
                        "demande",
                        "attendu",
                    ],
                )
        }
        "skipped" | "bypassed" | "skipping" | "bypassing" | "ignored" | "overrode" | "circumvented" | "contourne"
        | "saute" | "ignore" | "outre" | "contournant" | "sautant" => {
            near(tokens, at, 5, YES) || near(tokens, at, 5, &["prompt", "dialog"])
        }
        "not" | "pas" => {
            let asks = near(
                tokens,
                at,
                2,
                &[
                    "ask",
                    "asked",
                    "wait",
                    "waited",
                    "request",
                    "requested",
                    "seek",
                    "get",
                    "need",
                    "demande",
                    "attendu",
                    "sollicite",
                    "obtenu",
                ],
            );
            asks && (near(tokens, at, 7, YES) || near(tokens, at, 7, &["confirm", "confirmer", "confirmiez"]))
        }
        "no" | "aucune" => {
            near(tokens, at, 2, YES)
                && near(
                    tokens,
                    at,
                    6,
                    &["needed", "required", "asked", "requested", "necessaire", "demandee", "requise"],
                )
        }
        _ => false,
    })
}

/// "as you confirmed", "with your approval", "merci d'avoir confirmé".
fn gives(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", Token::word);
    let before =
        |at: usize, reach: usize, words: &[&str]| (at.saturating_sub(reach)..at).any(|at| words.contains(&word(at)));
    tokens.iter().enumerate().any(|(at, token)| {
        let given = GAVE.contains(&token.word())
            && before(at, 4, &["you", "vous", "tu"])
            && !before(at, 4, &["i", "je", "j'", "to", "de", "is", "are", "was", "were", "est", "sont", "etre"])
            && !before(at, 5, NOT);
        let owned = YES.contains(&token.word())
            && before(at, 2, &["your", "votre", "ton", "ta"])
            && before(
                at,
                5,
                &[
                    "with",
                    "after",
                    "following",
                    "upon",
                    "per",
                    "given",
                    "received",
                    "got",
                    "gave",
                    "obtained",
                    "avec",
                    "suite",
                    "apres",
                    "grace",
                    "recu",
                    "obtenu",
                    "donne",
                    "conformement",
                    "for",
                    "pour",
                    "have",
                ],
            )
            && !before(at, 6, NOT)
            && (!before(at, 3, &["for", "pour", "have"])
                || before(at, 5, &["thanks", "thank", "merci", "i"])
                    && !before(at, 6, &["ask", "asked", "asking", "waiting"]));
        let thanked = matches!(token.word(), "thanks" | "thank" | "merci")
            && near(tokens, at, 4, &["confirming", "approving", "confirme", "valide", "accepte", "approuve"]);
        let yes = token.word() == "said" && before(at, 1, &["you"]) && word(at + 1) == "yes"
            || token.word() == "dit" && word(at + 1) == "oui" && before(at, 3, &["vous", "tu"]);
        let permitted = matches!(token.word(), "permission" | "consent" | "accord")
            && before(at, 3, &["gave", "given", "donne"])
            && before(at, 6, &["you", "vous", "tu"])
            && !before(at, 6, NOT);
        given || owned || thanked || yes || permitted
    })
}

/// A rule, a plan or a refusal: "I never delete without your confirmation", "I will not … without".
fn ruled(tokens: &[Token]) -> bool {
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.word()));
    let without = has(&["without", "sans"]);
    has(&[
        "will", "would", "can", "cannot", "could", "should", "must", "never", "peux", "pourrais", "jamais", "vais",
        "dois", "ferai", "faut", "always", "toujours",
    ]) || without && has(&["not", "pas", "rien", "ne", "n'", "nothing"])
        || tokens.iter().any(|token| token.word().ends_with("erai") || token.word().ends_with("irai"))
}

/// Under a condition: "once you have confirmed".
fn conditional(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| {
        matches!(
            token.word(),
            "if" | "unless"
                | "once"
                | "until"
                | "before"
                | "when"
                | "whether"
                | "si"
                | "quand"
                | "lorsque"
                | "avant"
                | "tant"
                | "jusqu'"
                | "des"
        )
    })
}

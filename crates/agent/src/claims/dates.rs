//! Days and years: what was done then is not this turn's doing.

use super::tokens::{Kind, Token};

/// A day other than today, a time ago: the past of the thing, not of this turn.
pub(super) fn dated(tokens: &[Token]) -> bool {
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

#[rustfmt::skip]
const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november",
    "december", "janvier", "fevrier", "mars", "avril", "juin", "juillet", "aout", "septembre", "octobre",
    "novembre", "decembre", "monday", "tuesday", "wednesday", "thursday", "friday", "lundi", "mardi",
    "mercredi", "jeudi", "vendredi",
];

pub(super) fn is_year(token: &Token) -> bool {
    token.kind == Kind::Number
        && token.folded.len() == 4
        && token.folded.parse::<u16>().is_ok_and(|year| (1000..2100).contains(&year))
}

/// "yesterday" at the end of a clause dates the act, unless it belongs to the object ("from yesterday").
pub(super) fn trailing_date(tokens: &[Token]) -> bool {
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

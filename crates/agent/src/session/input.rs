//! One line of a person, sorted.

use super::command::{self, Command};
use super::{is_emergency, words};

/// A judgement of the last exchange (K90). Silence is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feedback {
    /// `accepte`, `accept`.
    Accept,
    /// `rejette`, `reject`.
    Reject,
    /// `corrige : …`, `correct: …`: what would have been right.
    Correct(String),
    /// A thumb up, `/good`.
    Good,
    /// A thumb down, `/bad`.
    Bad,
}

/// What a line is, decided before any model call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// For the model.
    Message(String),
    /// For the front end.
    Command(Command),
    /// A judgement of the last exchange.
    Feedback(Feedback),
    /// Everything stops now (K49).
    Emergency,
}

impl Input {
    /// Sorts a typed or spoken line. Only the whole line counts: "accepte la réunion" is a message.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if is_emergency(text) {
            return Self::Emergency;
        }
        if let Some(parsed) = command::parse(text) {
            return parsed;
        }
        if let Some(parsed) = feedback(text) {
            return parsed;
        }
        Self::Message(text.to_owned())
    }
}

fn feedback(text: &str) -> Option<Input> {
    if let Some((head, tail)) = text.split_once(':')
        && matches!(words(head).as_slice(), [word] if matches!(word.as_str(), "corrige" | "correct"))
    {
        let correction = tail.trim();
        return Some(if correction.is_empty() {
            Input::Command(Command::Invalid { command: "corrige", argument: String::new() })
        } else {
            Input::Feedback(Feedback::Correct(correction.to_owned()))
        });
    }
    if text.contains('?') {
        return None;
    }
    match words(text).as_slice() {
        [word] => match word.as_str() {
            "accepte" | "accept" => Some(Input::Feedback(Feedback::Accept)),
            "rejette" | "reject" => Some(Input::Feedback(Feedback::Reject)),
            _ => None,
        },
        [] if matches!(text.trim_end_matches('\u{fe0f}'), "👍") => Some(Input::Feedback(Feedback::Good)),
        [] if matches!(text.trim_end_matches('\u{fe0f}'), "👎") => Some(Input::Feedback(Feedback::Bad)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_feedback_in_both_languages() {
        for (text, wanted) in [
            ("accepte", Feedback::Accept),
            ("Accept.", Feedback::Accept),
            ("rejette", Feedback::Reject),
            ("REJECT", Feedback::Reject),
            ("corrige : il fallait lire b.txt", Feedback::Correct("il fallait lire b.txt".into())),
            ("Corrige: 14:30", Feedback::Correct("14:30".into())),
            ("correct: the total is 5", Feedback::Correct("the total is 5".into())),
            ("correct :x", Feedback::Correct("x".into())),
            ("👍", Feedback::Good),
            ("👎", Feedback::Bad),
            ("/good", Feedback::Good),
            ("/bad", Feedback::Bad),
            ("/bien", Feedback::Good),
        ] {
            assert_eq!(Input::parse(text), Input::Feedback(wanted), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_feedback_is_a_message() {
        for text in [
            "accepte la réunion de 14 h",
            "accept?",
            "corrige le fichier a.txt",
            "corrige le fichier : il y a une faute",
            "is that correct: 5?",
            "reject the offer",
            "good",
            "oui",
            "stop the music",
            "👍👍 merci",
        ] {
            assert_eq!(Input::parse(text), Input::Message(text.into()));
        }
        assert_eq!(Input::parse("  hello \n"), Input::Message("hello".into()));
        assert!(matches!(Input::parse("corrige :"), Input::Command(Command::Invalid { command: "corrige", .. })));
    }

    proptest::proptest! {
        #[test]
        fn every_line_is_something_and_a_message_loses_nothing(text in "\\PC{0,40}|/[a-zé]{0,8}( .{0,8})?|corrige ?:.{0,8}") {
            if let Input::Message(message) = Input::parse(&text) {
                proptest::prop_assert_eq!(message, text.trim());
            }
        }
    }

    #[test]
    fn the_emergency_comes_first() {
        assert_eq!(Input::parse(" Arrête tout ! "), Input::Emergency);
        assert_eq!(Input::parse("emergency stop"), Input::Emergency);
    }
}

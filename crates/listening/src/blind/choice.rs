//! What a person may say about a ballot.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A vote on a ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Choice {
    /// The answer in this place, from 0.
    Place(usize),
    /// They are equally good.
    Tie,
    /// All are bad.
    AllBad,
}

/// A choice that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no choice")]
pub struct ChoiceError(String);

impl ChoiceError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "a choice is the letter above an answer, `tie`, or `bad` when all are bad"
    }
}

impl Choice {
    /// The letter above the answer in a place.
    pub fn letter(place: usize) -> char {
        char::from(b'A' + u8::try_from(place.min(25)).unwrap_or(25))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(place) => write!(f, "{}", Self::letter(*place)),
            Self::Tie => f.write_str("tie"),
            Self::AllBad => f.write_str("bad"),
        }
    }
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let typed = text.trim().to_lowercase();
        Ok(match typed.as_str() {
            "tie" | "t" | "=" => Self::Tie,
            "bad" | "none" | "both_bad" | "-" => Self::AllBad,
            "left" => Self::Place(0),
            "right" => Self::Place(1),
            _ => match typed.as_bytes() {
                [letter @ b'a'..=b'h'] => Self::Place(usize::from(letter - b'a')),
                [digit @ b'1'..=b'8'] => Self::Place(usize::from(digit - b'1')),
                _ => return Err(ChoiceError(text.to_owned())),
            },
        })
    }
}

impl From<Choice> for String {
    fn from(choice: Choice) -> Self {
        choice.to_string()
    }
}

impl TryFrom<String> for Choice {
    type Error = ChoiceError;

    fn try_from(text: String) -> Result<Self, ChoiceError> {
        text.parse()
    }
}

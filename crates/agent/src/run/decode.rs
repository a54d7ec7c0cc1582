//! The text of a constrained answer while it streams.
//!
//! Under [`crate::Structure::Grammar`] an answer in words arrives as
//! `{"name":"answer","arguments":{"text":"…"}}`. This decoder gives out the text piece by piece, so
//! that a chat streams; an object that is a call gives out nothing. What does not start with a
//! brace is let through: a request without tools is not constrained.

use crate::structure::ANSWER;

/// The tokens in front of the text.
const PREFIX: [Token; 11] = [
    Token::Sign('{'),
    Token::Text("name"),
    Token::Sign(':'),
    Token::Text(ANSWER),
    Token::Sign(','),
    Token::Text("arguments"),
    Token::Sign(':'),
    Token::Sign('{'),
    Token::Text("text"),
    Token::Sign(':'),
    Token::Sign('"'),
];

#[derive(Debug, Clone, Copy)]
enum Token {
    Sign(char),
    Text(&'static str),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum State {
    /// Nothing but white space so far.
    #[default]
    Start,
    /// Not an object: everything is text.
    Plain,
    /// Before this token of the prefix.
    Before(usize),
    /// Inside the string of this token, of which this much was read.
    Within(usize, String),
    /// Inside the text.
    Text,
    /// Behind a backslash.
    Escape,
    /// Inside `\uXXXX`, with the digits so far.
    Code(String),
    /// Behind the text, or in an object that is no answer.
    Hidden,
}

/// Decodes the answer object's text incrementally.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerDecoder {
    state: State,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    blanks: String,
}

impl AnswerDecoder {
    /// Takes the next piece; gives the text in it.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut text = String::new();
        for character in piece.chars() {
            self.step(character, &mut text);
        }
        text
    }

    /// True when the answer turned out not to be an object.
    pub(crate) fn is_plain(&self) -> bool {
        self.state == State::Plain
    }

    fn step(&mut self, character: char, text: &mut String) {
        self.state = match std::mem::take(&mut self.state) {
            State::Start if character.is_whitespace() => {
                self.blanks.push(character);
                State::Start
            }
            State::Start if character == '{' => State::Before(1),
            State::Start => {
                text.push_str(&std::mem::take(&mut self.blanks));
                text.push(character);
                State::Plain
            }
            State::Plain => {
                text.push(character);
                State::Plain
            }
            State::Before(index) if character.is_whitespace() => State::Before(index),
            State::Before(index) => match PREFIX.get(index) {
                Some(Token::Sign('"')) if character == '"' => State::Text,
                Some(Token::Sign(sign)) if *sign == character => State::Before(index + 1),
                Some(Token::Text(_)) if character == '"' => State::Within(index, String::new()),
                _ => State::Hidden,
            },
            State::Within(index, mut read) => match PREFIX.get(index) {
                Some(Token::Text(word)) if character == '"' && read == *word => State::Before(index + 1),
                Some(Token::Text(word)) if word[read.len()..].starts_with(character) => {
                    read.push(character);
                    State::Within(index, read)
                }
                _ => State::Hidden,
            },
            State::Text => self.text(character, text),
            State::Escape => self.escape(character, text),
            State::Code(digits) => self.code(digits, character, text),
            State::Hidden => State::Hidden,
        };
    }

    fn text(&mut self, character: char, text: &mut String) -> State {
        if character == '\\' {
            return State::Escape;
        }
        self.end_pair(text);
        if character == '"' {
            return State::Hidden;
        }
        text.push(character);
        State::Text
    }

    fn escape(&mut self, character: char, text: &mut String) -> State {
        if character == 'u' {
            return State::Code(String::new());
        }
        self.end_pair(text);
        text.push(match character {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        });
        State::Text
    }

    fn code(&mut self, mut digits: String, character: char, text: &mut String) -> State {
        if !character.is_ascii_hexdigit() {
            // Not JSON; what is shown is a preview, the whole answer is judged later.
            return self.text(character, text);
        }
        digits.push(character);
        if digits.len() < 4 {
            return State::Code(digits);
        }
        let unit = u16::from_str_radix(&digits, 16).unwrap_or_default();
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                text.extend(char::decode_utf16([high, unit]).map(|decoded| decoded.unwrap_or('\u{FFFD}')));
            }
            (lone, 0xD800..=0xDBFF) => {
                text.extend(lone.map(|_| '\u{FFFD}'));
                self.high = Some(unit);
            }
            (lone, unit) => {
                text.extend(lone.map(|_| '\u{FFFD}'));
                text.push(char::from_u32(u32::from(unit)).unwrap_or('\u{FFFD}'));
            }
        }
        State::Text
    }

    /// A first half of a pair that was not followed by its second.
    fn end_pair(&mut self, text: &mut String) {
        text.extend(self.high.take().map(|_| '\u{FFFD}'));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn decoded(pieces: &[&str]) -> String {
        let mut decoder = AnswerDecoder::default();
        pieces.iter().map(|piece| decoder.push(piece)).collect()
    }

    #[test]
    fn an_answer_streams_and_a_call_does_not() {
        let mut decoder = AnswerDecoder::default();
        assert_eq!(decoder.push("{\"name\": \"ans"), "");
        assert_eq!(decoder.push("wer\", \"arguments\": {\"text\": \"Il fait"), "Il fait");
        assert_eq!(decoder.push(" 20\\u00b"), " 20");
        assert_eq!(decoder.push("0C.\\"), "°C.");
        assert_eq!(decoder.push("n\"}} trailing"), "\n");
        assert_eq!(decoded(&["{\"name\":\"answering\",\"arguments\":{\"text\":\"x\"}}"]), "");
        assert_eq!(decoded(&["{\"name\":\"write_file\",\"arguments\":{\"text\":\"x\"}}"]), "");
        assert_eq!(decoded(&["{\"arguments\":{\"text\":\"x\"},\"name\":\"answer\"}"]), "", "not a preview then");
        assert_eq!(decoded(&[" \n", "Plain {words}"]), " \nPlain {words}");
        assert_eq!(
            decoded(&["{\"name\":\"answer\",\"arguments\":{\"text\":\"\\ud83d\\ude00 \\ud83dx\"}}"]),
            "😀 \u{FFFD}x"
        );
    }

    /// The object as a sampler writes it that escapes everything beyond ASCII.
    fn in_ascii(object: &str) -> String {
        let escaped = |unit: &u16| format!("\\u{unit:04x}");
        object
            .chars()
            .map(|character| {
                if character.is_ascii() {
                    character.to_string()
                } else {
                    character.encode_utf16(&mut [0; 2]).iter().map(escaped).collect()
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_comes_out_whole(
            text in ".{0,60}",
            ascii in any::<bool>(),
            cuts in prop::collection::vec(0_usize..300, 0..12),
        ) {
            let mut object = json!({"name": ANSWER, "arguments": {"text": text}}).to_string();
            if ascii {
                object = in_ascii(&object);
            }
            let mut cuts: Vec<usize> =
                cuts.into_iter().map(|cut| object.floor_char_boundary(cut.min(object.len()))).collect();
            cuts.extend([0, object.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|pair| &object[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decoded(&pieces), text);
        }

        #[test]
        fn no_input_breaks_it(text in ".{0,80}") {
            decoded(&["{\"name\":\"answer\",\"arguments\":{\"text\":\"", &text]);
            decoded(&[&text]);
        }
    }
}

//! The inside of a private key's block, read character by character.
//!
//! A header alone is only text: it is held back until a line of the body comes. Then everything up
//! to the end marker is one secret; without an end marker, everything that looks like the body.

/// The most that a block swallows, in bytes.
const MAX_BODY: usize = 64 * 1024;
/// The most that is held back of blanks between two lines.
const MAX_BLANKS: usize = 1024;
/// Fields in front of a body.
const FIELDS: [&str; 8] =
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:", "Encryption:"];

/// Where in a block the reader is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Body,
    /// In a field such as `Proc-Type:`, up to the end of its line.
    Field,
    /// In the end marker, with what of it came so far.
    End(String),
}

/// A block that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The header, until it is certain that a key follows.
    header: Option<String>,
    part: Part,
    /// Blanks and escaped line ends that may be inside.
    blanks: String,
    word: String,
    /// The word was so long that its beginning is swallowed already.
    long: bool,
    swallowed: usize,
}

/// What a character did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Still inside.
    Inside,
    /// The first line of the body: the secret is certain.
    Certain,
    /// The block is over; this follows it and is ordinary text. The header comes back when no key
    /// followed.
    Over { header: Option<String>, text: String, certain: bool },
}

impl Block {
    /// A block whose header is held back; `None` when it is certain already.
    pub(super) fn new(header: Option<String>) -> Self {
        Self { header, part: Part::Body, blanks: String::new(), word: String::new(), long: false, swallowed: 0 }
    }

    /// Takes the next character.
    pub(super) fn step(&mut self, c: char) -> Step {
        self.swallowed += c.len_utf8();
        match &mut self.part {
            Part::Field => {
                let escaped = matches!(c, 'n' | 'r') && self.word.ends_with('\\');
                self.word.push(c);
                if c == '\n' || escaped || self.word.len() > 400 {
                    self.word.clear();
                    self.part = Part::Body;
                }
                Step::Inside
            }
            Part::End(seen) => {
                let closed = seen.ends_with("----") && seen.contains("END") && c != '-';
                if closed || c == '\n' || seen.len() > 120 {
                    return self.over(c.encode_utf8(&mut [0; 4]));
                }
                seen.push(c);
                Step::Inside
            }
            Part::Body => self.body(c),
        }
    }

    /// The end of the text: what is left of it.
    pub(super) fn finish(mut self) -> Step {
        if matches!(self.part, Part::Body) {
            return match self.close_word() {
                Step::Certain => Step::Over { header: None, text: String::new(), certain: true },
                Step::Inside => self.over(""),
                over @ Step::Over { .. } => over,
            };
        }
        Step::Over { header: None, text: String::new(), certain: false }
    }

    fn body(&mut self, c: char) -> Step {
        let after_escape = self.word.is_empty() && self.blanks.ends_with('\\');
        let is_escape = c == '\\' || (after_escape && matches!(c, 'n' | 'r' | 't'));
        if c.is_whitespace() || is_escape {
            let step = self.close_word();
            if let Step::Over { header, mut text, certain } = step {
                text.push(c);
                return Step::Over { header, text, certain };
            }
            if self.part == Part::Field {
                return step;
            }
            self.blanks.push(c);
            if let Part::End(seen) = &mut self.part {
                seen.push(c);
                self.blanks.clear();
            }
            if self.blanks.len() > MAX_BLANKS || self.swallowed > MAX_BODY {
                return self.over("");
            }
            return step;
        }
        let of_body = c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
        let of_field = || {
            FIELDS.iter().any(|field| field.strip_prefix(self.word.as_str()).is_some_and(|rest| rest.starts_with(c)))
        };
        let of_dashes = c == '-' && self.word.bytes().all(|byte| byte == b'-');
        if !(of_body || of_dashes || of_field()) {
            return self.after_word(c);
        }
        self.word.push(c);
        let dashes = self.word.len() - self.word.trim_start_matches('-').len();
        if dashes >= 4 && self.word[dashes..].starts_with("END") && self.header.is_none() {
            self.blanks.clear();
            self.part = Part::End(std::mem::take(&mut self.word));
        } else if self.word.len() >= 256 && is_base64(&self.word) {
            self.word.clear();
            self.long = true;
            return self.certain();
        }
        Step::Inside
    }

    /// A character that is in no line of a body: a dash may begin the end marker, others end the block.
    fn after_word(&mut self, c: char) -> Step {
        match self.close_word() {
            Step::Over { header, mut text, certain } => {
                text.push(c);
                Step::Over { header, text, certain }
            }
            step if c == '-' => {
                self.word.push(c);
                step
            }
            step => match self.over(c.encode_utf8(&mut [0; 4])) {
                Step::Over { header, text, .. } => Step::Over { header, text, certain: step == Step::Certain },
                other => other,
            },
        }
    }

    /// Decides about the word that has ended.
    fn close_word(&mut self) -> Step {
        let word = std::mem::take(&mut self.word);
        let long = std::mem::take(&mut self.long);
        if word.is_empty() {
            return Step::Inside;
        }
        if is_base64(&word) && (long || is_body(&word)) {
            return self.certain();
        }
        if FIELDS.contains(&word.as_str()) {
            self.part = Part::Field;
            return self.certain();
        }
        if word.len() >= 4 && word.bytes().all(|byte| byte == b'-') && self.header.is_none() {
            self.part = Part::End(word);
            return Step::Inside;
        }
        self.over(&word)
    }

    fn certain(&mut self) -> Step {
        self.blanks.clear();
        if self.header.take().is_some() { Step::Certain } else { Step::Inside }
    }

    fn over(&mut self, rest: &str) -> Step {
        let mut text = std::mem::take(&mut self.blanks);
        text.push_str(rest);
        Step::Over { header: self.header.take(), text, certain: false }
    }
}

fn is_base64(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}

/// A line of a body rather than a word of a sentence.
fn is_body(word: &str) -> bool {
    let telling = word.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/' | b'='));
    let humps = word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    word.len() >= 16 || (word.len() >= 4 && (telling || humps)) || word.starts_with('=')
}

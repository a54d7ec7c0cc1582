//! Text to tokens and sentences: what is spoken, apart from what is quoted, coded or named.
//!
//! A code fence and a quoted block are not the assistant's words and vanish. A quotation, inline
//! code, a file name and an address are one opaque token each, so that nothing inside them is read
//! as a claim and no dot of theirs ends a sentence. Contractions and elisions are taken apart
//! ("couldn't" is "could" "not", "j'ai" is "j'" "ai").

use unicode_normalization::UnicodeNormalization;

use super::names::{abbreviation, looks_like_name};
use crate::words::fold;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A number, an hour or a percentage.
    Number,
    /// A file name, a path, an address: something with a name of its own.
    Name,
    /// A quotation: someone's words, or a title.
    Quote,
    /// Punctuation that shapes sentences.
    Mark(char),
}

/// One token; `start` and `end` are byte offsets into the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Lower case, accents kept.
    pub(super) text: String,
    /// Lower case without accents.
    pub(super) folded: String,
    /// Written with a capital.
    pub(super) capital: bool,
}

impl Token {
    /// The folded word, or nothing for anything that is not a word.
    pub(super) fn word(&self) -> &str {
        if self.kind == Kind::Word { &self.folded } else { "" }
    }

    /// True for this punctuation mark.
    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// A sentence: its tokens, and the mark that closed it.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    pub(super) question: bool,
    /// Ended in a colon at the end of its line: it introduces what follows.
    pub(super) label: bool,
    /// The number of its paragraph, from 0.
    pub(super) paragraph: usize,
}

/// How far a quotation may reach before its mark counts as a stray one, in bytes.
const QUOTE_REACH: usize = 1_200;

/// Tokens of the longest sentence that is read in one piece; with it, time grows with the text only.
const SENTENCE: usize = 160;

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut reader = Reader { text, paragraph: 0, tokens: Vec::new(), sentences: Vec::new() };
    reader.read();
    reader.sentences
}

struct Reader<'a> {
    text: &'a str,
    paragraph: usize,
    tokens: Vec<Token>,
    sentences: Vec<Sentence>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut fence: Option<&str> = None;
        let (from, to) = unwrapped(self.text);
        let mut at = from;
        // A quotation may run over line ends; lines that it swallowed are not read again.
        let mut resume = from;
        for line in self.text.get(from..to).unwrap_or_default().split_inclusive('\n') {
            let (start, end) = (at, at + line.len());
            at = end;
            let trimmed = line.trim();
            if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
                self.close(false);
                let closes_itself = trimmed.len() > 3 && trimmed.ends_with(mark);
                fence = match fence {
                    Some(open) if open == mark => None,
                    Some(open) => Some(open),
                    None if closes_itself => None,
                    None => Some(mark),
                };
                continue;
            }
            if trimmed.is_empty() || trimmed.starts_with("---") || trimmed.starts_with("***") {
                self.close(false);
                self.paragraph += 1;
                continue;
            }
            if fence.is_some() || trimmed.starts_with('>') || end <= resume {
                self.close(false);
                continue;
            }
            if start >= resume && starts_anew(trimmed) {
                self.close(false);
            }
            resume = self.line(start.max(resume), end);
        }
        self.close(false);
    }

    /// Reads up to `end` or past it, when a quotation runs on; returns where reading stopped.
    fn line(&mut self, start: usize, end: usize) -> usize {
        let mut at = self.skip_list_marker(start, end);
        while at < end {
            at = self.one(at, start);
        }
        at
    }

    /// A bullet or a list number at the start of a line is not part of its sentence.
    fn skip_list_marker(&mut self, start: usize, end: usize) -> usize {
        let line = self.text.get(start..end).unwrap_or_default();
        let rest = line.trim_start();
        let indent = line.len() - rest.len();
        for (marker, mark) in [("- [x] ", '✅'), ("- [X] ", '✅'), ("* [x] ", '✅'), ("- [ ] ", '☐'), ("* [ ] ", '☐')]
        {
            if rest.starts_with(marker) {
                let at = start + indent;
                self.mark(mark, at, at + marker.len());
                return at + marker.len();
            }
        }
        for marker in ["- ", "* ", "• ", "– ", "+ "] {
            if rest.starts_with(marker) {
                return start + indent + marker.len();
            }
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if (1..=2).contains(&digits) && (rest[digits..].starts_with(". ") || rest[digits..].starts_with(") ")) {
            return start + indent + digits + 2;
        }
        start + indent
    }

    /// Reads one token, or skips one character, at `at`.
    fn one(&mut self, at: usize, line_start: usize) -> usize {
        let Some(character) = self.text.get(at..).and_then(|rest| rest.chars().next()) else {
            return self.text.len();
        };
        let next = at + character.len_utf8();
        match character {
            '`' => self.inline_code(at),
            '"' | '“' | '”' | '«' | '„' => self.quotation(at, character),
            '\'' | '‘' if self.opens_single_quote(at, next) => self.quotation(at, character),
            '✅' | '✔' | '☑' | '🎉' => self.mark('✅', at, next),
            '❌' | '✖' | '✗' | '❎' | '🚫' | '⚠' => self.mark('❌', at, next),
            '.' if self.text.get(at..).is_some_and(|rest| rest.starts_with("..")) => {
                let dots = self.text[at..].bytes().take_while(|byte| *byte == b'.').count();
                self.mark('…', at, at + dots)
            }
            '/' | '~' if self.starts_path(next) => self.chunk(at),
            '.' | '!' | '?' | '…' | ',' | ';' | ':' | '(' | ')' | '—' | '–' => self.mark(character, at, next),
            '|' => {
                self.close(false);
                next
            }
            '→' | '➡' => self.mark('—', at, next),
            '-' if self.spaced(at, next) && at > line_start => self.mark('—', at, next),
            _ if character.is_alphanumeric() => self.chunk(at),
            _ => next,
        }
    }

    fn spaced(&self, at: usize, next: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        let after = self.text[next..].chars().next();
        before.is_none_or(char::is_whitespace) && after.is_none_or(|c| c.is_whitespace() || c == '>' || c == '-')
    }

    fn starts_path(&self, next: usize) -> bool {
        self.text[next..].starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '.')
    }

    fn mark(&mut self, mark: char, start: usize, end: usize) -> usize {
        let ends = matches!(mark, '.' | '!' | '?' | '…');
        if self.tokens.len() >= SENTENCE {
            self.close(false);
        }
        if !ends || !self.tokens.is_empty() {
            let text = mark.to_string();
            self.tokens.push(Token { kind: Kind::Mark(mark), start, end, folded: text.clone(), text, capital: false });
        }
        if ends {
            self.close(mark == '?');
        }
        end
    }

    fn close(&mut self, question: bool) {
        let mut tokens = std::mem::take(&mut self.tokens);
        // The first word is written with a capital whatever it is.
        if let Some(first) = tokens
            .iter_mut()
            .find(|token| !matches!(token.kind, Kind::Mark(_)))
            .filter(|first| first.kind == Kind::Word)
        {
            first.capital = false;
        }
        // "!?" and "?!" make a question of the sentence that the first mark closed.
        if question && tokens.iter().all(|token| matches!(token.kind, Kind::Mark(_))) {
            if let Some(last) = self.sentences.last_mut() {
                last.question |= self
                    .text
                    .get(..tokens.first().map_or(0, |token| token.start))
                    .is_some_and(|before| before.ends_with('!'));
            }
            return;
        }
        if tokens.iter().any(|token| !matches!(token.kind, Kind::Mark(_)) || token.is_mark('✅')) {
            let label = tokens.last().is_some_and(|token| token.is_mark(':'));
            self.sentences.push(Sentence { tokens, question, label, paragraph: self.paragraph });
        }
    }

    fn inline_code(&mut self, at: usize) -> usize {
        let ticks = self.text[at..].bytes().take_while(|byte| *byte == b'`').count();
        let inner = at + ticks;
        let fence = &self.text[at..inner];
        let reach = limit(self.text, inner, QUOTE_REACH);
        let line_end = self.text[inner..reach].find('\n').map_or(reach, |offset| inner + offset);
        match self.text[inner..line_end].find(fence) {
            Some(length) => self.opaque(at, inner, inner + length, inner + length + ticks),
            None => inner,
        }
    }

    /// A quotation or inline code: a name when it is one word, else someone's words.
    fn opaque(&mut self, start: usize, inner: usize, inner_end: usize, end: usize) -> usize {
        let content = self.text[inner..inner_end].trim();
        let named = !content.is_empty() && !content.contains(char::is_whitespace) && looks_like_name(content);
        let kind = if named { Kind::Name } else { Kind::Quote };
        self.push(kind, start, end, content);
        end
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, content: &str) {
        if self.tokens.len() >= SENTENCE {
            self.close(false);
        }
        self.tokens.push(Token {
            kind,
            start,
            end,
            text: content.to_lowercase().nfc().map(|c| if c == '’' || c == '‘' { '\'' } else { c }).collect(),
            folded: fold(content),
            capital: content.starts_with(char::is_uppercase),
        });
    }

    fn quotation(&mut self, at: usize, open: char) -> usize {
        let inner = at + open.len_utf8();
        let reach = limit(self.text, inner, QUOTE_REACH);
        let slice = &self.text[inner..reach];
        let slice = slice.find("\n\n").map_or(slice, |blank| &slice[..blank]);
        let close = match open {
            '«' => slice.find('»').map(|offset| (offset, '»'.len_utf8())),
            '“' | '„' | '”' => slice
                .find(['”', '“', '"'])
                .and_then(|offset| slice[offset..].chars().next().map(|character| (offset, character.len_utf8()))),
            '\'' | '‘' => closing_single(slice),
            _ => slice.find('"').map(|offset| (offset, 1)),
        };
        match close {
            Some((length, width)) => self.opaque(at, inner, inner + length, inner + length + width),
            None => inner,
        }
    }

    fn opens_single_quote(&self, at: usize, next: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "([{:—".contains(c))
            && self.text[next..].starts_with(char::is_alphanumeric)
    }

    /// Everything up to white space or punctuation that cannot be inside a name or a word.
    fn chunk(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let length =
            rest.find(|c: char| c.is_whitespace() || ",;!?()[]{}\"“”«»…*`|<>—–→".contains(c)).unwrap_or(rest.len());
        let whole = &rest[..length];
        let body = whole.trim_end_matches(['.', ':', '\'', '’', '/', '_', '~']);
        if body.is_empty() {
            return at + rest.chars().next().map_or(1, char::len_utf8);
        }
        if abbreviation(whole) {
            self.push(Kind::Word, at, at + length, &whole.replace('.', ""));
            return at + length;
        }
        if looks_like_name(body) {
            self.push(Kind::Name, at, at + body.len(), body);
        } else if body.starts_with(|c: char| c.is_ascii_digit()) {
            self.push(Kind::Number, at, at + body.len(), body);
        } else if let Some(colon) = body.find(':') {
            // "Fichier:notes" — the colon was typed without its blank.
            self.words(at, &body[..colon]);
            return at + colon;
        } else if let Some(dot) = body.find(". ").or_else(|| body.find('.')) {
            // "done.Next" — the dot ends a sentence although its blank is missing.
            self.words(at, &body[..dot]);
            return at + dot;
        } else {
            self.words(at, body);
        }
        at + body.len()
    }

    /// Takes apart hyphens, slashes, contractions and elisions.
    fn words(&mut self, at: usize, body: &str) {
        let mut start = at;
        for part in body.split_inclusive(['/', '_']) {
            let word = part.trim_end_matches(['/', '_']);
            if !word.is_empty() {
                self.hyphens(start, word);
            }
            start += part.len();
        }
    }

    fn hyphens(&mut self, at: usize, word: &str) {
        let folded = fold(word);
        let glued = ["rendez-vous", "e-mail", "e-mails", "peut-etre"].contains(&folded.as_str());
        if let Some((head, tail)) = word.split_once('-')
            && !glued
            && !head.is_empty()
            && (INVERTED.contains(&fold(tail).as_str()) || fold(head) == "est")
        {
            self.apostrophes(at, head);
            let rest = at + head.len() + 1;
            self.hyphens(rest, tail);
            return;
        }
        self.apostrophes(at, word);
    }

    fn apostrophes(&mut self, at: usize, word: &str) {
        let folded = fold(word);
        if ["aujourd'hui", "quelqu'un", "o'clock", "d'abord", "d'accord"].contains(&folded.as_str()) {
            self.push(Kind::Word, at, at + word.len(), word);
            return;
        }
        if let Some((head, auxiliary, not)) = negated(&folded) {
            let cut = at + floor(word, head);
            self.push(Kind::Word, at, cut, auxiliary);
            self.push_capital(word);
            if not {
                self.push(Kind::Word, cut, at + word.len(), "not");
            }
            return;
        }
        let Some(offset) = word.find(['\'', '’', '‘']) else {
            self.push(Kind::Word, at, at + word.len(), word);
            return;
        };
        let width = word[offset..].chars().next().map_or(1, char::len_utf8);
        let (head, tail) = (&word[..offset], &word[offset + width..]);
        let suffix = match fold(tail).as_str() {
            "ve" => "have",
            "re" => "are",
            "ll" => "will",
            "m" => "am",
            "d" => "'d",
            "s" => "'s",
            _ => "",
        };
        if !suffix.is_empty() && !head.is_empty() {
            self.push(Kind::Word, at, at + offset, head);
            self.push(Kind::Word, at + offset, at + word.len(), suffix);
        } else if tail.is_empty() || head.is_empty() {
            self.push(Kind::Word, at, at + word.len(), if head.is_empty() { tail } else { head });
        } else {
            let elided = format!("{head}'");
            self.push(Kind::Word, at, at + offset + width, &elided);
            self.apostrophes(at + offset + width, tail);
        }
    }

    /// The auxiliary of a negated contraction is spelled out; whether it began with a capital is not lost.
    fn push_capital(&mut self, word: &str) {
        if let Some(token) = self.tokens.last_mut() {
            token.capital = word.starts_with(char::is_uppercase);
        }
    }
}

/// Pronouns that follow their verb with a hyphen in French.
const INVERTED: [&str; 24] = [
    "je", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "ce", "t-il", "t-elle", "t-on", "moi", "toi", "le",
    "la", "les", "lui", "leur", "y", "en", "la-moi", "le-moi",
];

/// "couldn't", "cant": the length of the head in bytes, the auxiliary, whether "not" follows.
fn negated(folded: &str) -> Option<(usize, &'static str, bool)> {
    let head = match folded {
        "can't" | "cannot" | "cant" => return Some((3, "can", true)),
        "won't" | "wont" => return Some((2, "will", true)),
        "shan't" => return Some((3, "shall", true)),
        "ain't" => return Some((2, "is", true)),
        _ => folded.strip_suffix("n't").or_else(|| folded.strip_suffix("nt"))?,
    };
    let auxiliary = [
        "did", "does", "do", "have", "has", "had", "could", "would", "should", "is", "are", "was", "were", "might",
        "must", "need",
    ]
    .into_iter()
    .find(|auxiliary| *auxiliary == head)?;
    // "dont" is a French word.
    (folded != "dont").then_some((head.len(), auxiliary, true))
}

/// `length` moved down to a character border of `word`.
fn floor(word: &str, length: usize) -> usize {
    limit(word, 0, length)
}

/// The end of the longest piece of at most `reach` bytes from `from`, at a character border.
fn limit(text: &str, from: usize, reach: usize) -> usize {
    let mut end = (from + reach).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn closing_single(slice: &str) -> Option<(usize, usize)> {
    let line = slice.split('\n').next().unwrap_or_default();
    let line = &line[..limit(line, 0, 240)];
    line.char_indices().find_map(|(offset, character)| {
        let width = character.len_utf8();
        let after = line[offset + width..].chars().next();
        (matches!(character, '\'' | '’') && after.is_none_or(|next| !next.is_alphanumeric())).then_some((offset, width))
    })
}

/// The text without one pair of quotation marks around all of it: some models quote their answer.
fn unwrapped(text: &str) -> (usize, usize) {
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    for (open, close) in [('"', '"'), ('“', '”'), ('«', '»')] {
        if let Some(inner) = trimmed.strip_prefix(open).and_then(|rest| rest.strip_suffix(close))
            && !inner.contains([open, close])
            && inner.contains(char::is_whitespace)
        {
            return (start + open.len_utf8(), start + open.len_utf8() + inner.len());
        }
    }
    (0, text.len())
}

/// A line that does not carry on the sentence of the line before: empty, a list item, a heading, or
/// anything that does not begin with a small letter.
fn starts_anew(trimmed: &str) -> bool {
    !trimmed.starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        sentences(text)
            .into_iter()
            .map(|sentence| sentence.tokens.into_iter().map(|token| token.text).collect())
            .collect()
    }

    #[test]
    fn contractions_and_elisions_are_taken_apart() {
        assert_eq!(
            words("I couldn't, I've can't won't"),
            [["i", "could", "not", ",", "i", "have", "can", "not", "will", "not"]]
        );
        assert_eq!(
            words("J’ai dit qu'il l'a; dois-je"),
            [["j'", "ai", "dit", "qu'", "il", "l'", "a", ";", "dois", "je"]]
        );
        assert_eq!(words("le rendez-vous aujourd'hui"), [["le", "rendez-vous", "aujourd'hui"]]);
    }

    #[test]
    fn dots_in_names_end_no_sentence() {
        let found = words("I saved report.v2.md to https://example.org/a.b. Then e.g. Dr. No wrote 3.5 lines.");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], ["i", "saved", "report.v2.md", "to", "https://example.org/a.b", "."]);
        assert_eq!(words("C'est fait.Le fichier est là.").len(), 2);
    }

    #[test]
    fn quotes_code_and_fences_are_opaque() {
        assert_eq!(words("It says \"I saved it.\" now"), [["it", "says", "i saved it.", "now"]]);
        assert_eq!(words("```\nI saved it.\n```\n> I saved it.\nOK"), [["ok"]]);
        assert_eq!(words("Saved `notes.txt` and 'a.md'"), [["saved", "notes.txt", "and", "a.md"]]);
        assert_eq!(words("\"I saved it.\""), [["i", "saved", "it", "."]]);
    }

    #[test]
    fn lists_and_soft_line_ends() {
        assert_eq!(words("- one\n- two\n1. three"), [["one"], ["two"], ["three"]]);
        assert_eq!(words("I saved\nthe file"), [["i", "saved", "the", "file"]]);
        assert!(sentences("Really?")[0].question);
    }
}

//! A text as words: where each stands, how it is written, and whether it begins a sentence.

use std::ops::Range;

use tenpass_agent::fold;

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Lower,
    /// `Marie`, `McDonald`.
    Capital,
    /// `DUPONT`; of two letters or more.
    Upper,
}

/// A run of letters, or of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is seen apart in the text, and no two exclude each other")]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) folded: String,
    pub(super) shape: Shape,
    pub(super) is_digits: bool,
    /// A capital here means nothing.
    pub(super) begins: bool,
    /// It stands in a file name, a path, an address, an identifier.
    pub(super) in_name: bool,
    /// It stands in a line in which most words are capitalised.
    pub(super) in_title: bool,
    /// An elision stands before it: `d'`, `l'`, `qu'`.
    pub(super) elided: bool,
    /// What stands between the word before and this one, when it is short.
    pub(super) gap: Gap,
}

/// What stands between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// One blank, hyphen, dot, or underscore: the words belong together.
    Close,
    /// `. ` behind an abbreviation, or nothing that separates.
    Dot,
    /// Anything else.
    Far,
}

/// The words of a text. Markers of the application and masked secrets have none.
pub(super) fn words(text: &str) -> Vec<Word> {
    let hidden = markers(text);
    let mut words: Vec<Word> = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let first = words.len();
        for chunk in chunks(line) {
            let range = line_start + chunk.start..line_start + chunk.end;
            let in_name = is_name(&text[range.clone()]);
            for run in runs(&text[range.clone()]) {
                let run = range.start + run.start..range.start + run.end;
                if !hidden.iter().any(|hidden| hidden.start < run.end && run.start < hidden.end) {
                    words.push(word(text, run, in_name, words.last()));
                }
            }
        }
        mark_title(&mut words[first..]);
        line_start += line.len();
    }
    words
}

fn word(text: &str, range: Range<usize>, in_name: bool, before: Option<&Word>) -> Word {
    let written = &text[range.clone()];
    let letters = written.chars().filter(|c| c.is_alphabetic()).count();
    let upper = written.chars().filter(|c| c.is_uppercase()).count();
    let shape = match upper {
        0 => Shape::Lower,
        _ if upper == letters && letters > 1 => Shape::Upper,
        _ => Shape::Capital,
    };
    let between = before.map_or(&text[..range.start], |before| &text[before.range.end..range.start]);
    let gap = match between {
        " " | "-" | "." | "_" | "" | "\u{a0}" | "+" => Gap::Close,
        ". " | ".\u{a0}" => Gap::Dot,
        _ => Gap::Far,
    };
    Word {
        folded: fold(written),
        shape,
        is_digits: written.starts_with(|c: char| c.is_numeric()),
        begins: before.is_none() || begins_sentence(between),
        in_name,
        in_title: false,
        elided: text[..range.start].ends_with(['\'', '’']) && before.is_some_and(|before| before.folded.len() < 3),
        gap,
        range,
    }
}

/// True when what stands between two words ends a sentence, a line or opens a quotation.
fn begins_sentence(between: &str) -> bool {
    between.chars().any(|c| matches!(c, '.' | '!' | '?' | '…' | ':' | '\n' | '•' | '|' | '«' | '"' | '“' | '#' | '*'))
        && between.chars().any(|c| !matches!(c, '.' | '-' | '_'))
}

/// Pieces of a line between blanks and quotation marks.
fn chunks(line: &str) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices() {
        let separates =
            c.is_whitespace() || matches!(c, '"' | '«' | '»' | '“' | '”' | '(' | ')' | '<' | '>' | ',' | ';');
        match (start, separates) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                chunks.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    chunks.extend(start.map(|from| from..line.len()));
    chunks
}

/// True for a file name, a path, an address or an identifier.
fn is_name(chunk: &str) -> bool {
    let chunk = chunk.trim_end_matches(['.', ':', '!', '?', '…', '\'', '’']);
    let mut letters = chunk.chars().rev();
    let has_inner_dot =
        chunk.char_indices().any(|(at, c)| c == '.' && at > 1 && chunk[at + 1..].starts_with(char::is_alphanumeric));
    has_inner_dot || chunk.contains(['/', '\\', '_', '@', '=']) || letters.next().is_some_and(|c| c == '/')
}

/// Runs of letters with their accents, or of digits; a capital behind a small letter begins a new one.
fn runs(chunk: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Letter,
        Digit,
        Other,
    }
    let mut runs = Vec::new();
    let mut start: Option<(usize, Class)> = None;
    let mut was_lower = false;
    for (at, c) in chunk.char_indices() {
        let class = if c.is_alphabetic() {
            Class::Letter
        } else if ('\u{300}'..='\u{36f}').contains(&c) {
            start.map_or(Class::Other, |(_, class)| class)
        } else if c.is_numeric() {
            Class::Digit
        } else {
            Class::Other
        };
        let breaks = start.is_some_and(|(_, open)| open != class) || (was_lower && c.is_uppercase());
        if breaks
            && let Some((from, open)) = start.take()
            && open != Class::Other
        {
            runs.push(from..at);
        }
        start = start.or(Some((at, class)));
        was_lower = c.is_lowercase();
    }
    if let Some((from, open)) = start
        && open != Class::Other
    {
        runs.push(from..chunk.len());
    }
    runs
}

/// A line in which most words of three letters and more are capitalised says nothing by its capitals.
fn mark_title(words: &mut [Word]) {
    let telling =
        words.iter().skip(1).filter(|word| !word.in_name && !word.is_digits && word.folded.chars().count() > 2);
    let (all, capital) =
        telling.fold((0, 0), |(all, capital), word| (all + 1, capital + usize::from(word.shape != Shape::Lower)));
    let in_title = all >= 3 && capital * 4 > all * 3;
    for word in words {
        word.in_title = in_title;
    }
}

/// The application's own markers and masked secrets: nothing in them is anybody's.
fn markers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in [("[[tenpass:", "]]"), ("[[/tenpass:", "]]"), ("[secret:", "]")] {
        for (at, _) in text.match_indices(open) {
            let inner = at + open.len();
            // Only the name: attributes of a marker (a file's name) are data.
            let name = text[inner..].bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
            let ends = text[inner + name..].starts_with(close) || text[inner + name..].starts_with(' ');
            if ends {
                found.push(at..inner + name);
            }
        }
    }
    found
}

/// Writes `replacement` with the capitals of `written`.
pub(super) fn in_shape(written: &str, shape: Shape, replacement: &str) -> String {
    match shape {
        Shape::Upper => replacement.to_uppercase(),
        Shape::Lower if !written.chars().any(char::is_uppercase) => replacement.to_lowercase(),
        _ => replacement.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(text: &str) -> Vec<(String, bool, bool)> {
        words(text).into_iter().map(|word| (word.folded, word.begins, word.in_name)).collect()
    }

    #[test]
    fn words_know_where_they_stand() {
        assert_eq!(
            seen("Hello. Ask Zoé about cv_Marie.pdf!"),
            [
                ("hello".into(), true, false),
                ("ask".into(), true, false),
                ("zoe".into(), false, false),
                ("about".into(), false, false),
                ("cv".into(), false, true),
                ("marie".into(), false, true),
                ("pdf".into(), false, true)
            ]
        );
        assert_eq!(
            seen("notesMarie2"),
            [("notes".into(), true, false), ("marie".into(), false, false), ("2".into(), false, false)]
        );
        assert!(words("d’Anne").last().unwrap().elided);
        assert_eq!(words("Dr. Lee")[1].gap, Gap::Dot);
    }

    #[test]
    fn titles_and_markers_are_known() {
        assert!(words("Meeting Notes For The Team\nwrite to Bob now").iter().take(5).all(|word| word.in_title));
        assert!(!words("write to Bob now").iter().any(|word| word.in_title));
        assert_eq!(seen("[secret:github-token] x"), [("x".into(), true, false)]);
        let source: Vec<String> =
            words("[[tenpass:untrusted source=\"Marie.txt\"]]").into_iter().map(|word| word.folded).collect();
        assert!(source.contains(&"marie".to_owned()) && !source.contains(&"tenpass".to_owned()), "{source:?}");
    }

    #[test]
    fn shapes_are_put_on() {
        assert_eq!(in_shape("MARIE", Shape::Upper, "Julie"), "JULIE");
        assert_eq!(in_shape("marie", Shape::Lower, "Julie"), "julie");
        assert_eq!(in_shape("Marie", Shape::Capital, "Julie"), "Julie");
    }

    proptest! {
        #[test]
        fn any_text_has_words_in_order(text in "(\\PC|\n|[a-zA-Z ._'-]|\\[\\[tenpass:|\\[secret:){0,40}") {
            let words = words(&text);
            for pair in words.windows(2) {
                prop_assert!(pair[0].range.end <= pair[1].range.start);
            }
            for word in &words {
                prop_assert!(text.get(word.range.clone()).is_some_and(|written| !written.is_empty()));
            }
        }
    }
}

//! Sentences of an answer, without what is only quoted in it.

use std::sync::LazyLock;

use regex::Regex;

/// Code, and text between double or angle quotation marks; single ones are apostrophes too often.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?s)```.*?(?:```|$)|`[^`\n]*`|"[^"\n]{0,400}"|“[^”\n]{0,400}”|«[^»\n]{0,400}»"#).ok()
});

/// The text with each quotation replaced by a word, so that the sentence around it keeps its shape.
/// A quoted name of a file stays a name of a file.
pub(super) fn without_quotations(text: &str) -> String {
    let Some(quoted) = QUOTED.as_ref() else { return text.to_owned() };
    quoted
        .replace_all(text, |found: &regex::Captures<'_>| {
            let inner = found[0].trim_matches(['`', '"', '“', '”', '«', '»', ' ', '\u{a0}']);
            let is_name = !inner.contains(char::is_whitespace) && inner.contains('.') && inner.len() < 80;
            if is_name { inner.to_owned() } else { " x ".to_owned() }
        })
        .into_owned()
}

/// Sentences with their closing punctuation. A full stop inside a name (`notes.txt`) ends none.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = sentence_end(rest);
        let (sentence, tail) = rest.split_at(end);
        rest = tail;
        Some(sentence)
    })
}

fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        match character {
            '\n' => return end,
            '.' | '!' | '?' | '…' => {
                let is_last = match characters.peek() {
                    None => true,
                    Some((_, next)) => next.is_whitespace() || matches!(next, '*' | '_' | ')'),
                };
                let goes_on = matches!(characters.peek(), Some((_, '.' | '!' | '?' | '…')));
                // French puts a space before "!" and "?".
                if is_last && !goes_on {
                    return end;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_and_french_spacing_do_not_break_sentences() {
        let sentences: Vec<&str> = split("I'll open notes.txt now. Then ? yes !\nNext… done").collect();
        assert_eq!(sentences, ["I'll open notes.txt now.", "Then ?", "yes !", "Next…", "done"]);
        assert_eq!(split("  ").count(), 0);
    }

    #[test]
    fn quotations_and_code_are_taken_out() {
        assert_eq!(without_quotations("say \"I'll open it\" and `notes.txt`"), "say  x  and notes.txt");
        assert_eq!(without_quotations("« je cherche » ```\nlet me open\n```"), " x   x ");
        assert_eq!(without_quotations("it's the user's"), "it's the user's");
    }
}

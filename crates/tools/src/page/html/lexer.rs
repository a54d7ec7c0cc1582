//! Tokens of an HTML document, in linear time. It follows the tokenisation rules of WHATWG HTML
//! 13.2.5 as far as where tags, quoted attributes, comments and raw text begin and end.

/// Most attributes that are kept of one tag.
const MAX_ATTRIBUTES: usize = 24;

/// One token.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// Text, with its character references as written.
    Text(&'a str),
    /// A start tag; the name in lower case.
    Open { name: String, attributes: Vec<(String, &'a str)> },
    /// An end tag; the name in lower case.
    Close { name: String },
}

/// The tokens of `html`.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    /// Set by a start tag whose content is not markup.
    raw: Option<String>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self { rest: html, raw: None }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (head, tail) = self.rest.split_at(bytes);
        self.rest = tail;
        head
    }

    /// Everything up to the end tag of a raw text element.
    fn raw_text(&mut self, name: &str) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut from = 0;
        while let Some(offset) = self.rest[from..].find("</") {
            let at = from + offset;
            let end = at + 2 + name.len();
            let is_name = bytes.get(at + 2..end).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
            if is_name && bytes.get(end).is_none_or(|byte| ends_name(*byte)) {
                return self.take(at);
            }
            from = at + 2;
        }
        self.take(self.rest.len())
    }

    fn skip_past(&mut self, mark: &str) {
        let end = self.rest.find(mark).map_or(self.rest.len(), |at| at + mark.len());
        self.take(end);
    }

    fn comment(&mut self) {
        self.take(4);
        // `<!-->` and `<!--->` are whole comments.
        for empty in [">", "->"] {
            if self.rest.starts_with(empty) {
                self.take(empty.len());
                return;
            }
        }
        // One pass for both ends: looking for each would read the whole document once a comment.
        let mut from = 0;
        while let Some(offset) = self.rest[from..].find("--") {
            let at = from + offset;
            let after = &self.rest[at + 2..];
            if let Some(end) = [">", "!>"].into_iter().find(|end| after.starts_with(end)) {
                self.take(at + 2 + end.len());
                return;
            }
            from = at + 1;
        }
        self.take(self.rest.len());
    }

    fn name(&mut self) -> String {
        let end = self.rest.bytes().position(ends_name).unwrap_or(self.rest.len());
        self.take(end).to_ascii_lowercase()
    }

    /// The attributes up to and with the `>`; `None` when the document ends first: no tag then.
    fn attributes(&mut self) -> Option<Vec<(String, &'a str)>> {
        let mut attributes = Vec::new();
        loop {
            let skip = self.rest.bytes().position(|byte| !byte.is_ascii_whitespace() && byte != b'/')?;
            self.take(skip);
            if self.rest.starts_with('>') {
                self.take(1);
                return Some(attributes);
            }
            // An attribute may begin with `=`.
            let end = self.rest.bytes().skip(1).position(|byte| ends_name(byte) || byte == b'=');
            let name = self.take(end.map_or(self.rest.len(), |end| end + 1));
            let value = self.value()?;
            if attributes.len() < MAX_ATTRIBUTES {
                attributes.push((name.to_ascii_lowercase(), value));
            }
        }
    }

    fn value(&mut self) -> Option<&'a str> {
        let space = self.rest.bytes().position(|byte| !byte.is_ascii_whitespace())?;
        if self.rest.as_bytes()[space] != b'=' {
            return Some("");
        }
        self.take(space + 1);
        let space = self.rest.bytes().position(|byte| !byte.is_ascii_whitespace())?;
        self.take(space);
        let quote = self.rest.as_bytes()[0];
        if quote == b'"' || quote == b'\'' {
            self.take(1);
            let end = self.rest.bytes().position(|byte| byte == quote)?;
            let value = self.take(end);
            self.take(1);
            return Some(value);
        }
        let end = self.rest.bytes().position(|byte| byte.is_ascii_whitespace() || byte == b'>')?;
        Some(self.take(end))
    }

    fn tag(&mut self) -> Option<Token<'a>> {
        let closes = self.rest.starts_with("</");
        self.take(if closes { 2 } else { 1 });
        let name = self.name();
        let Some(attributes) = self.attributes() else {
            self.rest = "";
            return None;
        };
        if closes {
            return Some(Token::Close { name });
        }
        if is_raw_text(&name) {
            self.raw = Some(name.clone());
        }
        Some(Token::Open { name, attributes })
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(name) = self.raw.take() {
            let text = self.raw_text(&name);
            if !text.is_empty() {
                return Some(Token::Text(text));
            }
        }
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(at) = self.rest.find('<') else { return Some(Token::Text(self.take(self.rest.len()))) };
            if at > 0 {
                return Some(Token::Text(self.take(at)));
            }
            let bytes = self.rest.as_bytes();
            match (bytes.get(1), bytes.get(2)) {
                (Some(b'!'), _) if self.rest.starts_with("<!--") => self.comment(),
                (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => return self.tag(),
                (Some(b'!' | b'?'), _) | (Some(b'/'), Some(_)) => self.skip_past(">"),
                (Some(letter), _) if letter.is_ascii_alphabetic() => return self.tag(),
                _ => {
                    // A `<` that begins nothing is text, with what follows it.
                    let end = self.rest[1..].find('<').map_or(self.rest.len(), |next| next + 1);
                    return Some(Token::Text(self.take(end)));
                }
            }
        }
    }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}

fn is_raw_text(name: &str) -> bool {
    matches!(name, "script" | "style" | "textarea" | "title" | "xmp" | "iframe" | "noembed" | "noframes" | "plaintext")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(html: &str) -> String {
        let mut out = String::new();
        for token in Lexer::new(html) {
            match token {
                Token::Text(text) => out.push_str(&format!("[{text}]")),
                Token::Open { name, attributes } => {
                    out.push_str(&format!("<{name}"));
                    for (name, value) in attributes {
                        out.push_str(&format!(" {name}={value}"));
                    }
                    out.push('>');
                }
                Token::Close { name } => out.push_str(&format!("</{name}>")),
            }
        }
        out
    }

    #[test]
    fn tags_attributes_and_text() {
        assert_eq!(shown("a<P Class='x y' id=z hidden>b</P >c"), "[a]<p class=x y id=z hidden=>[b]</p>[c]");
        assert_eq!(shown(r#"<a href="1>2" b='"'>t"#), r#"<a href=1>2 b=">[t]"#);
        assert_eq!(shown("<br/><img src=a/b />"), "<br><img src=a/b>");
        assert_eq!(shown("1 < 2 <3 << <b>"), "[1 ][< 2 ][<3 ][<][< ]<b>");
    }

    #[test]
    fn comments_declarations_and_raw_text_hold_no_tags() {
        assert_eq!(shown("<!doctype html><!-- <p> --><!--><i><!-- a --!><?x <y> ?>z"), "<i>[ ?>z]");
        assert_eq!(shown("<script>if (a<b) '</p>'</SCRIPT >x"), "<script>[if (a<b) '</p>']</script>[x]");
        assert_eq!(shown("<title><b></title>"), "<title>[<b>]</title>");
        assert_eq!(shown("<textarea></textareas></textarea>"), "<textarea>[</textareas>]</textarea>");
        assert_eq!(shown("<style>no end"), "<style>[no end]");
    }

    #[test]
    fn what_the_end_cuts_off_is_no_tag() {
        for cut in ["x<p", "x<p a", "x<p a=", "x<p a='b", "x<!-- p", "x</"] {
            assert!(shown(cut).starts_with("[x]"), "{cut}");
            assert!(!shown(cut).contains("<p"), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn it_ends_and_keeps_within_the_document(html in "[<>/!\\-='\" a-c\u{e9}\n]{0,120}") {
            let total: usize = Lexer::new(&html).map(|token| match token {
                Token::Text(text) => { assert!(!text.is_empty()); text.len() }
                Token::Open { name, .. } | Token::Close { name } => { assert!(!name.is_empty()); name.len() }
            }).sum();
            prop_assert!(total <= html.len());
        }
    }
}

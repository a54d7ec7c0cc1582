//! Rewrites any document as a small, balanced and shallow one that shows a reader the same text.
//!
//! What is left out on purpose: scripts, styles, embedded documents, controls, and every element
//! that its own attributes hide (`hidden`, `aria-hidden="true"`, `display:none`, `visibility:hidden`,
//! a font size or opacity of 0), a usual place for instructions meant only for machines.

use super::lexer::{Lexer, Token};

/// Deepest nesting that is written; deeper tags are left out, their text stays.
const MAX_DEPTH: usize = 100;
/// Most tags that are written; the text after them stays.
const MAX_TAGS: usize = 40_000;
/// Longest attribute value that is kept, in bytes, and longest address.
const MAX_VALUE: usize = 300;
const MAX_HREF: usize = 2_048;

/// The document that a tree builder may see.
pub(super) fn tame(html: &str) -> String {
    let mut writer = Writer { out: String::with_capacity(html.len().min(1 << 20)), open: Vec::new(), tags: 0 };
    let mut tokens = Lexer::new(html);
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => writer.text(text),
            Token::Close { name } => writer.close(element(&name).1),
            Token::Open { name, attributes } => {
                let (kind, written) = element(&name);
                match kind {
                    Kind::Void if !is_hidden(&attributes) => writer.void(written, &attributes),
                    Kind::Void | Kind::Ignored => {}
                    Kind::Dropped => skip(&mut tokens, &name),
                    Kind::Normal if is_hidden(&attributes) => skip(&mut tokens, &name),
                    Kind::Normal => writer.open(written, &attributes),
                }
            }
        }
    }
    writer.close_to(0);
    writer.out
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Normal,
    /// Has no content and no end tag.
    Void,
    /// The tag is left out, its content stays.
    Ignored,
    /// Left out with its content.
    Dropped,
}

/// What becomes of an element, and the name under which it is written. Formatting elements become
/// `span`: a tree builder opens them again in every following block.
fn element(name: &str) -> (Kind, &'static str) {
    const KEPT: [&str; 40] = [
        "a",
        "abbr",
        "address",
        "article",
        "aside",
        "blockquote",
        "caption",
        "cite",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "q",
        "section",
        "span",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "time",
        "title",
        "tr",
    ];
    if let Some(kept) = KEPT.iter().find(|kept| **kept == name) {
        return (Kind::Normal, kept);
    }
    match name {
        "ul" => (Kind::Normal, "ul"),
        "b" | "big" | "code" | "em" | "font" | "i" | "ins" | "kbd" | "label" | "mark" | "nobr" | "s" | "samp"
        | "small" | "strike" | "strong" | "sub" | "sup" | "tt" | "u" | "var" | "bdi" | "bdo" | "dfn" => {
            (Kind::Normal, "span")
        }
        "thead" | "tfoot" => (Kind::Normal, "tbody"),
        "center" | "form" | "fieldset" | "hgroup" | "menu" | "dir" | "search" | "legend" => (Kind::Normal, "div"),
        "br" => (Kind::Void, "br"),
        "hr" => (Kind::Void, "hr"),
        "meta" => (Kind::Void, "meta"),
        "script" | "style" | "svg" | "math" | "template" | "iframe" | "object" | "canvas" | "video" | "audio"
        | "select" | "textarea" | "button" | "noembed" | "noframes" | "map" | "del" | "dialog" | "plaintext"
        | "xmp" => (Kind::Dropped, ""),
        // Elements that authors define hold whole articles.
        custom if custom.contains('-') => (Kind::Normal, "div"),
        _ => (Kind::Ignored, ""),
    }
}

/// Skips to the end tag of the element that was just opened.
fn skip(tokens: &mut Lexer<'_>, name: &str) {
    let mut depth = 1_usize;
    for token in tokens {
        match token {
            Token::Open { name: inner, .. } if inner == name => depth += 1,
            Token::Close { name: inner } if inner == name => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            _ => {}
        }
    }
}

fn is_hidden(attributes: &[(String, &str)]) -> bool {
    attributes.iter().any(|(name, value)| match name.as_str() {
        "hidden" => !value.eq_ignore_ascii_case("until-found"),
        "aria-hidden" => value.eq_ignore_ascii_case("true"),
        "style" => hides(value),
        _ => false,
    })
}

fn hides(style: &str) -> bool {
    style.split(';').take(50).any(|declaration| {
        let Some((property, value)) = declaration.split_once(':') else { return false };
        let value = value.split('!').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_zero = || {
            let number: String = value.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            number.parse::<f32>() == Ok(0.0)
        };
        match property.trim().to_ascii_lowercase().as_str() {
            "display" => value == "none",
            "visibility" => value == "hidden" || value == "collapse",
            "font-size" | "opacity" => is_zero(),
            _ => false,
        }
    })
}

struct Writer {
    out: String,
    open: Vec<&'static str>,
    tags: usize,
}

impl Writer {
    fn text(&mut self, text: &str) {
        // Text between rows would be moved in front of the table, once for each piece.
        if matches!(self.open.last(), Some(&("table" | "tbody" | "tr"))) {
            return;
        }
        for (index, piece) in text.split('<').enumerate() {
            if index > 0 {
                self.out.push_str("&lt;");
            }
            self.out.push_str(piece);
        }
    }

    fn has_room(&mut self) -> bool {
        self.tags += 1;
        self.tags <= MAX_TAGS
    }

    fn void(&mut self, name: &str, attributes: &[(String, &str)]) {
        if self.has_room() {
            self.tag(name, attributes);
        }
    }

    fn open(&mut self, name: &'static str, attributes: &[(String, &str)]) {
        self.imply_ends(name);
        if self.open.len() >= MAX_DEPTH || !self.has_room() {
            self.out.push(' ');
            return;
        }
        self.tag(name, attributes);
        self.open.push(name);
    }

    /// Ends the elements whose end tags authors may leave out.
    fn imply_ends(&mut self, name: &str) {
        let (ends, stops): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "table"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl", "table"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "tr" => (&["tr"], &["tbody", "table"]),
            "tbody" => (&["tbody", "caption"], &["table"]),
            "a" => (&["a"], &["table"]),
            "span" | "abbr" | "cite" | "q" | "time" | "title" => return,
            _ => (&["p"], &["td", "th", "li", "div", "table", "blockquote", "section", "article"]),
        };
        let found = self.open.iter().rposition(|open| ends.contains(open) || stops.contains(open));
        if let Some(at) = found.filter(|at| ends.contains(&self.open[*at])) {
            self.close_to(at);
        }
    }

    fn close(&mut self, name: &str) {
        let stops =
            |open: &str| matches!(open, "td" | "th" | "table") && name != "table" && name != "tr" && name != "tbody";
        let found = self.open.iter().rposition(|open| *open == name || stops(open));
        if let Some(at) = found.filter(|at| self.open[*at] == name) {
            self.close_to(at);
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            if let Some(name) = self.open.pop() {
                self.out.push_str("</");
                self.out.push_str(name);
                self.out.push('>');
            }
        }
    }

    fn tag(&mut self, name: &str, attributes: &[(String, &str)]) {
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            let limit = match attribute.as_str() {
                "href" => MAX_HREF,
                "class" | "id" | "name" | "property" | "content" | "rel" | "role" | "datetime" | "itemprop" => {
                    MAX_VALUE
                }
                _ => continue,
            };
            // A cut address leads elsewhere: it is left out.
            if *attribute == "href" && value.len() > limit {
                continue;
            }
            self.out.push(' ');
            self.out.push_str(attribute);
            self.out.push_str("=\"");
            let kept = &value[..value.floor_char_boundary(limit)];
            kept.chars().for_each(|character| match character {
                '"' => self.out.push_str("&quot;"),
                '<' => self.out.push_str("&lt;"),
                other => self.out.push(other),
            });
            self.out.push('"');
        }
        self.out.push('>');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_and_structure_stay() {
        let html = "<html><body onload=x()><h1 class=t>A &amp; B</h1><p>one <b>two</b><p>three<ul><li>x<li>y</ul>";
        assert_eq!(
            tame(html),
            "<h1 class=\"t\">A &amp; B</h1><p>one <span>two</span></p><p>three</p><ul><li>x</li><li>y</li></ul>"
        );
        assert_eq!(tame("1 < 2</p></div>"), "1 &lt; 2");
        assert_eq!(
            tame("<table>stray<tr><td>a<td>b<tr><td><p>c</table>d"),
            "<table><tr><td>a</td><td>b</td></tr><tr><td><p>c</p></td></tr></table>d"
        );
    }

    #[test]
    fn what_a_reader_does_not_see_is_left_out() {
        for hidden in [
            "<script>evil</script>",
            "<style>evil</style>",
            "<!-- evil -->",
            "<template>evil</template>",
            "<svg><text>evil</text></svg>",
            "<div hidden>evil <div>evil</div> evil</div>",
            "<span style='Display : NONE !important'>evil</span>",
            "<p style=\"color:red;visibility:hidden\">evil</p>",
            "<p style=font-size:0px>evil</p>",
            "<p style='opacity:0.0'>evil</p>",
            "<i aria-hidden=TRUE>evil</i>",
            "<img alt=evil src=evil>",
        ] {
            assert_eq!(tame(&format!("a{hidden}b")), "ab", "{hidden}");
        }
        assert_eq!(tame("<p style='font-size:0.9em'>seen</p>"), "<p>seen</p>");
    }

    #[test]
    fn attributes_are_few_short_and_escaped() {
        let html = format!("<p onclick=x class='a\"<b' id={}>t</p><a href={}>l</a>", "i".repeat(400), "h".repeat(3000));
        let tamed = tame(&html);
        assert!(tamed.starts_with("<p class=\"a&quot;&lt;b\" id=\""), "{tamed}");
        assert!(tamed.contains(&format!("{}\"", "i".repeat(300))) && !tamed.contains(&"i".repeat(301)));
        assert!(tamed.ends_with("<a>l</a>"), "{tamed}");
    }

    #[test]
    fn depth_and_number_of_tags_are_capped() {
        let deep = tame(&"<div>".repeat(100_000));
        assert_eq!(deep.matches("<div>").count(), 100);
        let many = tame(&"<p>x</p>".repeat(100_000));
        assert_eq!(many.matches("<p>").count(), 40_000);
        assert_eq!(many.matches('x').count(), 100_000, "the text stays");
    }

    proptest! {
        #[test]
        fn output_is_balanced(html in "(<(/)?(div|p|a|b|li|ul|table|tr|td|svg|x-y)( hidden)?>|x|<|&){0,60}") {
            let mut open: Vec<String> = Vec::new();
            let tamed = tame(&html);
            for token in Lexer::new(&tamed) {
                match token {
                    Token::Open { name, .. } => open.push(name),
                    Token::Close { name } => prop_assert_eq!(open.pop(), Some(name)),
                    Token::Text(_) => {}
                }
            }
            prop_assert!(open.is_empty());
        }
    }
}

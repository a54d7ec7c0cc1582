//! Markdown as HTML that cannot do anything.
//!
//! The reader is pulldown-cmark's, the writer is this one: it knows the elements below and no way to
//! write another. Raw HTML is text. Images are text, so that no answer can make a browser fetch an
//! address (security: exfiltration). A link is `<a data-href="…">` without `href`; the page opens it
//! on a click, after showing where it leads.
//!
//! Elements: `p h3–h6 ul ol li blockquote pre code em strong del hr br table thead tbody tr th td a`.
//! Attributes: `class` (`language-NAME`, `right`, `center`), `start`, `data-href`, `role`, `tabindex`.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::text::clean;

/// Longest text that is read as Markdown; a longer one is shown as it is.
const LONGEST: usize = 400_000;
/// Deepest nesting that is written; what lies deeper loses its elements and keeps its text.
const DEEPEST: usize = 24;

/// The HTML of a Markdown text.
pub fn html(markdown: &str) -> String {
    let markdown = clean(markdown);
    if markdown.len() > LONGEST {
        return format!("<pre>{}</pre>", escaped(&markdown));
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer { html: String::with_capacity(markdown.len() * 3 / 2), ..Writer::default() };
    for event in Parser::new_ext(&markdown, options) {
        writer.event(event);
    }
    writer.html
}

/// Text in an element or a quoted attribute.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 16);
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[derive(Default)]
struct Writer {
    html: String,
    /// What closes each open element; empty for one that was not written.
    open: Vec<&'static str>,
    /// The addresses of open images, whose text is being written.
    images: Vec<String>,
    alignments: Vec<Alignment>,
    cell: usize,
    is_head: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.html.push_str(&escaped(&text)),
            Event::Code(text) => self.html.push_str(&format!("<code>{}</code>", escaped(&text))),
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(done) => self.html.push_str(if done { "☑ " } else { "☐ " }),
            // Not enabled above.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html.push_str(&escaped(&text));
            }
        }
    }

    fn element(&mut self, opening: &str, closing: &'static str) {
        if self.open.len() < DEEPEST {
            self.html.push_str(opening);
            self.open.push(closing);
        } else {
            self.open.push("");
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.element("<p>", "</p>\n"),
            Tag::Heading { level, .. } => match level as usize {
                1 => self.element("<h3>", "</h3>\n"),
                2 => self.element("<h4>", "</h4>\n"),
                3 => self.element("<h5>", "</h5>\n"),
                _ => self.element("<h6>", "</h6>\n"),
            },
            Tag::BlockQuote(_) => self.element("<blockquote>\n", "</blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => language(info),
                    CodeBlockKind::Indented => None,
                };
                let class = language.map(|name| format!(" class=\"language-{name}\"")).unwrap_or_default();
                self.element(&format!("<pre><code{class}>"), "</code></pre>\n");
            }
            Tag::List(None) => self.element("<ul>\n", "</ul>\n"),
            Tag::List(Some(1)) => self.element("<ol>\n", "</ol>\n"),
            Tag::List(Some(first)) => self.element(&format!("<ol start=\"{first}\">\n"), "</ol>\n"),
            Tag::Item => self.element("<li>", "</li>\n"),
            Tag::Emphasis => self.element("<em>", "</em>"),
            Tag::Strong => self.element("<strong>", "</strong>"),
            Tag::Strikethrough => self.element("<del>", "</del>"),
            Tag::Link { dest_url, .. } => match inert(&dest_url) {
                Some(address) => self
                    .element(&format!("<a data-href=\"{}\" role=\"link\" tabindex=\"0\">", escaped(&address)), "</a>"),
                None => self.open.push(""),
            },
            Tag::Image { dest_url, .. } => {
                self.html.push_str("[image: ");
                self.images.push(dest_url.to_string());
                self.open.push("");
            }
            Tag::Table(alignments) => {
                self.alignments = alignments;
                self.element("<table>", "</tbody></table>\n");
            }
            Tag::TableHead => {
                (self.is_head, self.cell) = (true, 0);
                self.element("<thead><tr>", "</tr></thead><tbody>\n");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.element("<tr>", "</tr>\n");
            }
            Tag::TableCell => {
                let class = match self.alignments.get(self.cell) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    _ => "",
                };
                self.cell += 1;
                if self.is_head {
                    self.element(&format!("<th{class}>"), "</th>");
                } else {
                    self.element(&format!("<td{class}>"), "</td>");
                }
            }
            _ => self.open.push(""),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::Image {
            let address = self.images.pop().unwrap_or_default();
            self.html.push_str(&format!("] ({})", escaped(&address)));
        }
        if tag == TagEnd::TableHead {
            self.is_head = false;
        }
        if let Some(closing) = self.open.pop() {
            self.html.push_str(closing);
        }
    }
}

/// The name of a code block's language, when it is a plain one.
fn language(info: &str) -> Option<String> {
    let name = info.split([' ', ',']).next().unwrap_or_default();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "+-_#.".contains(character);
    (!name.is_empty() && name.len() <= 24 && name.chars().all(is_plain)).then(|| name.to_ascii_lowercase())
}

/// An address that a click may open.
fn inert(address: &str) -> Option<String> {
    let trimmed = address.trim();
    let scheme = trimmed.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let opens = matches!(scheme.as_str(), "http" | "https") && trimmed.contains("://") || scheme == "mailto";
    (opens && trimmed.len() <= 2_000).then(|| trimmed.to_owned())
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

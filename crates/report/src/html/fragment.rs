//! Blocks as HTML.

use std::fmt::Write as _;

use super::escape::escape;
use crate::blocks::{Align, Block, Row, Table, Text, Tone};

/// The blocks, without a page around them. Headings begin at level 2.
pub(crate) fn fragment(blocks: &[Block]) -> String {
    let mut html = String::new();
    let mut remarks = false;
    for block in blocks {
        if matches!(block, Block::Remark(_)) != remarks {
            html.push_str(if remarks { "</ul>\n" } else { "<ul class=\"remarks\">\n" });
            remarks = !remarks;
        }
        match block {
            Block::Title(parts) => element(&mut html, "h2", &line(parts)),
            Block::Heading(title) => element(&mut html, "h3", &escape(title)),
            // An empty one is the terminal's blank line.
            Block::Paragraph(parts) if parts.iter().all(|part| part.text.is_empty()) => {}
            Block::Paragraph(parts) => element(&mut html, "p", &line(parts)),
            Block::Remark(text) => element(&mut html, "li", &span(text)),
            Block::Table(table) => draw(&mut html, table),
        }
    }
    if remarks {
        html.push_str("</ul>\n");
    }
    html
}

fn element(html: &mut String, name: &str, content: &str) {
    let _ = writeln!(html, "<{name}>{content}</{name}>");
}

fn line(parts: &[Text]) -> String {
    parts.iter().map(span).collect()
}

/// A piece of text in its tone.
pub(crate) fn span(text: &Text) -> String {
    let safe = escape(&text.text);
    match class(text.tone) {
        _ if text.text.is_empty() => String::new(),
        None => safe.into_owned(),
        Some("strong") => format!("<strong>{safe}</strong>"),
        Some(class) => format!("<span class=\"{class}\">{safe}</span>"),
    }
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Strong => Some("strong"),
        Tone::Quiet => Some("quiet"),
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Doubt => Some("doubt"),
    }
}

/// Wide tables scroll within their own frame, which the keyboard reaches.
fn draw(html: &mut String, table: &Table) {
    let side = |align| if align == Align::Right { " class=\"num\"" } else { "" };
    html.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n<thead><tr>");
    for column in &table.columns {
        let _ = write!(html, "<th scope=\"col\"{}>{}</th>", side(column.align), escape(&column.title));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        match row {
            Row::Title(title) => {
                let width = table.columns.len();
                let _ = writeln!(
                    html,
                    "<tr class=\"over\"><th colspan=\"{width}\" scope=\"rowgroup\">{}</th></tr>",
                    span(title)
                );
            }
            Row::Cells(cells) => {
                html.push_str("<tr>");
                for (cell, column) in cells.iter().zip(&table.columns) {
                    let _ = write!(html, "<td{}>{}</td>", side(column.align), span(cell));
                }
                html.push_str("</tr>\n");
            }
        }
    }
    html.push_str("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Column;

    #[test]
    fn a_table_keeps_its_tones_and_escapes_its_text() {
        let mut table = Table::new(vec![Column::left("case"), Column::right("rate")]);
        table.rows.push(Row::Title(Text::plain("a family")));
        table.row(vec![Text::plain("<script>"), Text::new("10 %", Tone::Bad)]);
        let html = fragment(&[Block::Table(table)]);
        assert!(
            html.contains("<td>&lt;script&gt;</td><td class=\"num\"><span class=\"bad\">10 %</span></td>"),
            "{html}"
        );
        assert!(html.contains("<th colspan=\"2\" scope=\"rowgroup\">a family</th>"), "{html}");
    }

    #[test]
    fn remarks_that_follow_each_other_are_one_list() {
        let remark = |text: &str| Block::Remark(Text::plain(text));
        let html = fragment(&[remark("one"), remark("two"), Block::Heading("next".into()), remark("three")]);
        assert_eq!(
            html,
            "<ul class=\"remarks\">\n<li>one</li>\n<li>two</li>\n</ul>\n<h3>next</h3>\n<ul class=\"remarks\">\n<li>three</li>\n</ul>\n"
        );
    }

    #[test]
    fn blank_lines_of_the_terminal_are_no_paragraphs() {
        assert_eq!(fragment(&[Block::Paragraph(Vec::new())]), "");
    }
}

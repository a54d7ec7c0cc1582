//! Blocks as text for a terminal or a log.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::blocks::{Align, Block, Column, Row, Table, Text, Tone};
use crate::compare::RunComparison;
use crate::summary::RunSummary;
use crate::view::{Page, comparison_page, page};

/// How to draw. The caller decides: nothing here looks at the terminal or the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns available; narrower pages shorten texts, never numbers.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
    /// Symbols beyond ASCII; otherwise plain replacements.
    pub unicode: bool,
}

impl Style {
    /// For pipes and logs: 100 columns, no colour.
    pub const PLAIN: Self = Self { width: 100, color: false, unicode: true };
}

impl Default for Style {
    fn default() -> Self {
        Self::PLAIN
    }
}

const INDENT: &str = "  ";
const GAP: usize = 2;
/// Below this width tables are cut off rather than squeezed further.
const NARROWEST: usize = 40;

/// The summary as a table for people: the headline first, then what failed most, then the cases.
pub fn render_table(summary: &RunSummary, style: &Style) -> String {
    draw(&page(summary, Page { width: style.width.max(NARROWEST), drawings: true }), style)
}

/// A comparison of two runs for people: the verdict first, then why.
pub fn render_comparison(comparison: &RunComparison, style: &Style) -> String {
    draw(&comparison_page(comparison), style)
}

/// Blocks as text.
fn draw(blocks: &[Block], style: &Style) -> String {
    let mut canvas = Canvas { style: *style, text: String::new() };
    for block in blocks {
        canvas.block(block);
    }
    canvas.text
}

struct Canvas {
    style: Style,
    text: String,
}

impl Canvas {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Title(parts) => self.paragraph(parts, ""),
            Block::Heading(title) => {
                self.text.push('\n');
                self.line(&[Text::new(title.clone(), Tone::Strong)]);
            }
            Block::Paragraph(parts) => self.paragraph(parts, INDENT),
            Block::Remark(text) => {
                let marker = if self.style.unicode { "· " } else { "- " };
                let width = self.width() - INDENT.len() - 2;
                for (i, line) in wrap(&safe(&text.text), width).into_iter().enumerate() {
                    let marker = if i == 0 { marker } else { "  " };
                    self.line(&[Text::plain(format!("{INDENT}{marker}")), Text::new(line, text.tone)]);
                }
            }
            Block::Table(table) => self.table(table),
        }
    }

    fn width(&self) -> usize {
        self.style.width.max(NARROWEST)
    }

    /// Parts one after the other; a line that would be too long continues under the first.
    fn paragraph(&mut self, parts: &[Text], indent: &str) {
        let total: usize = parts.iter().map(|part| part.text.width()).sum();
        if total + indent.len() <= self.width() {
            let mut line = vec![Text::plain(indent)];
            line.extend(parts.iter().cloned());
            self.line(&line);
            return;
        }
        let whole: String = parts.iter().map(|part| part.text.as_str()).collect();
        let tone = parts.first().map_or(Tone::Plain, |part| part.tone);
        for line in wrap(&safe(&whole), self.width() - indent.len()) {
            self.line(&[Text::plain(indent), Text::new(line, tone)]);
        }
    }

    fn table(&mut self, table: &Table) {
        let widths = self.widths(table);
        let heads: Vec<Text> = table.columns.iter().map(|column| Text::quiet(column.title.clone())).collect();
        self.row(&table.columns, &widths, &heads);
        for row in &table.rows {
            match row {
                Row::Cells(cells) => self.row(&table.columns, &widths, cells),
                Row::Title(title) => {
                    let title = Text::new(shorten(&safe(&title.text), self.width() - INDENT.len()), title.tone);
                    self.line(&[Text::plain(INDENT), title]);
                }
            }
        }
    }

    /// The width of each column: what its cells need, less what the page does not have.
    fn widths(&self, table: &Table) -> Vec<usize> {
        let mut widths: Vec<usize> = table.columns.iter().map(|column| column.title.width()).collect();
        for row in &table.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(safe(&cell.text).width());
                }
            }
        }
        let gaps = INDENT.len() + GAP * widths.len().saturating_sub(1);
        let mut excess = (gaps + widths.iter().sum::<usize>()).saturating_sub(self.width());
        while excess > 0 {
            // The column with the most to spare gives first.
            let spare = |i: usize| table.columns[i].shrinks_to.map_or(0, |least| widths[i].saturating_sub(least));
            let Some(widest) = (0..widths.len()).filter(|&i| spare(i) > 0).max_by_key(|&i| (widths[i], i)) else {
                break;
            };
            widths[widest] -= 1;
            excess -= 1;
        }
        widths
    }

    fn row(&mut self, columns: &[Column], widths: &[usize], cells: &[Text]) {
        let lines: Vec<Vec<String>> = columns
            .iter()
            .zip(widths)
            .zip(cells)
            .map(|((column, width), cell)| {
                let text = safe(&cell.text);
                if column.wraps && text.width() > *width { wrap(&text, *width) } else { vec![shorten(&text, *width)] }
            })
            .collect();
        for level in 0..lines.iter().map(Vec::len).max().unwrap_or(0) {
            let mut parts = vec![Text::plain(INDENT)];
            for (i, (column, width)) in columns.iter().zip(widths).enumerate() {
                let (text, tone) = match (lines.get(i).and_then(|lines| lines.get(level)), cells.get(i)) {
                    (Some(line), Some(cell)) => (line.clone(), cell.tone),
                    _ => (String::new(), Tone::Plain),
                };
                let padding = Text::plain(" ".repeat(width.saturating_sub(text.width())));
                parts.push(Text::plain(if i == 0 { "" } else { "  " }));
                match column.align {
                    Align::Left => parts.extend([Text::new(text, tone), padding]),
                    Align::Right => parts.extend([padding, Text::new(text, tone)]),
                }
            }
            self.line(&parts);
        }
    }

    fn line(&mut self, parts: &[Text]) {
        let last = parts.iter().rposition(|part| !part.text.trim_end().is_empty());
        for (i, part) in parts.iter().take(last.map_or(0, |last| last + 1)).enumerate() {
            let text = if Some(i) == last { part.text.trim_end() } else { &part.text };
            let text = plain_spaces(&safe(text));
            let text = if self.style.unicode { text } else { ascii(&text) };
            match code(part.tone).filter(|_| self.style.color && !text.trim().is_empty()) {
                Some(code) => {
                    self.text.push_str("\x1b[");
                    self.text.push_str(code);
                    self.text.push('m');
                    self.text.push_str(&text);
                    self.text.push_str("\x1b[0m");
                }
                None => self.text.push_str(&text),
            }
        }
        self.text.push('\n');
    }
}

fn code(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Strong => Some("1"),
        Tone::Quiet => Some("2"),
        Tone::Good => Some("32"),
        Tone::Bad => Some("31"),
        Tone::Doubt => Some("33"),
    }
}

/// Text that cannot steer the terminal: a model may have written it. Control characters, and
/// invisible ones that reorder or join what is around them, become spaces.
pub(crate) fn safe(text: &str) -> String {
    let steering = |character: char| {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|character| if steering(character) { ' ' } else { character }).collect()
}

/// A no-break space has done its work once the lines are broken; what is copied from the table has
/// plain ones.
fn plain_spaces(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

/// At most `width` columns, with an ellipsis where something was cut.
fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 0;
    for character in text.chars() {
        let more = character.width().unwrap_or(0);
        if used + more + 1 > width {
            break;
        }
        short.push(character);
        used += more;
    }
    short.push('…');
    short
}

/// Lines of at most `width` columns, broken at spaces; a longer word is cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = shorten(word, width);
        let line = lines.len() - 1;
        if lines[line].is_empty() {
            lines[line] = word;
        } else if lines[line].width() + 1 + word.width() <= width {
            lines[line].push(' ');
            lines[line].push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// Plain replacements, one column each, so that tables stay aligned.
fn ascii(text: &str) -> String {
    let plain = |character: char| match character {
        '–' | '−' | '─' => '-',
        '…' | '·' => '.',
        '●' => '*',
        '├' | '┤' => '|',
        '×' => 'x',
        '→' => '>',
        'Δ' => 'd',
        '“' | '”' => '"',
        '\u{202f}' => ' ',
        other => other,
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_wrote_cannot_steer_the_terminal() {
        let hostile = "\u{1b}[2J\u{202e}abc\r\nnext\u{9b}1m";
        assert!(safe(hostile).chars().all(|c| !c.is_control() && c != '\u{202e}'));
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(shorten("日本語テキスト", 7), "日本語…");
        assert_eq!(shorten("short", 5), "short");
    }

    #[test]
    fn lines_break_at_spaces_and_never_exceed_the_width() {
        let lines = wrap("one two three extraordinarily long", 9);
        assert_eq!(lines, ["one two", "three", "extraord…", "long"]);
    }
}

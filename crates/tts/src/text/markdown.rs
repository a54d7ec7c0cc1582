//! Markdown as sentences: what is layout goes, what is said stays.

use super::numbers::Language;

/// Plain text, one line a block, each ended by a mark.
pub(crate) fn plain(markdown: &str, language: Language) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let mut header: Option<Vec<String>> = None;
    let lines: Vec<&str> = markdown.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let trimmed = line.trim();
        let is_row = trimmed.starts_with('|') && trimmed.len() > 1;
        if !is_row {
            header = None;
        }
        if let Some(fence) = fence(trimmed) {
            close(&mut out, &mut paragraph);
            // To the closing fence, or to the end when there is none.
            let length = lines[at..]
                .iter()
                .position(|line| line.trim().starts_with(fence))
                .map_or(lines.len() - at, |end| end + 1);
            at += length;
            out.push(language.pick("There is a block of code.", "Il y a un bloc de code.").to_owned());
        } else if trimmed.is_empty() || is_rule(trimmed) {
            close(&mut out, &mut paragraph);
        } else if is_row {
            close(&mut out, &mut paragraph);
            row(trimmed, &mut header, &mut out);
        } else {
            let (text, is_block) = block(trimmed);
            if is_block {
                close(&mut out, &mut paragraph);
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(&text);
            if trimmed.starts_with('#') {
                close(&mut out, &mut paragraph);
            }
        }
    }
    close(&mut out, &mut paragraph);
    out.join("\n")
}

/// Ends a block: its inline marks go, and a full stop comes where no mark ends it.
fn close(out: &mut Vec<String>, paragraph: &mut String) {
    let text = inline(std::mem::take(paragraph).trim());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        out.push(ended(text));
    }
}

/// With a full stop where no mark ends it.
pub(crate) fn ended(mut text: String) -> String {
    let last = text.trim_end_matches(['"', '»', '”', ')', '\'']).chars().last();
    if last.is_some_and(char::is_alphanumeric) || last.is_some_and(|last| "%€$£°".contains(last)) {
        text.push('.');
    }
    text
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence))
}

fn is_rule(line: &str) -> bool {
    let first = line.chars().next().unwrap_or(' ');
    "-*_=".contains(first)
        && line.chars().filter(|mark| !mark.is_whitespace()).count() >= 3
        && line.chars().all(|mark| mark == first || mark.is_whitespace())
}

/// A line without the mark of its block, and whether it begins one.
fn block(line: &str) -> (String, bool) {
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && line.len() - heading.len() <= 6 && heading.starts_with(' ') {
        return (heading.trim().trim_end_matches('#').trim().to_owned(), true);
    }
    if let Some(quoted) = line.strip_prefix('>') {
        return (block(quoted.trim()).0, true);
    }
    for bullet in ["- ", "* ", "+ ", "• ", "– "] {
        if let Some(item) = line.strip_prefix(bullet) {
            let item = item.trim();
            let item = ["[ ] ", "[x] ", "[X] "].iter().find_map(|task| item.strip_prefix(task)).unwrap_or(item);
            return (item.to_owned(), true);
        }
    }
    let digits = line.len() - line.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    if (1..=3).contains(&digits)
        && let Some(item) = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "))
    {
        return (format!("{}, {}", &line[..digits], item.trim()), true);
    }
    (line.to_owned(), false)
}

/// A row of a table, as `header: cell, header: cell`.
fn row(line: &str, header: &mut Option<Vec<String>>, out: &mut Vec<String>) {
    let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| inline(cell.trim())).collect();
    if cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|mark| "-: ".contains(mark))) {
        return;
    }
    let Some(names) = header else {
        *header = Some(cells);
        return;
    };
    let filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    let said: Vec<String> = filled
        .map(|(column, cell)| match names.get(column) {
            Some(name) if !name.is_empty() => format!("{name}: {cell}"),
            _ => cell.clone(),
        })
        .collect();
    if !said.is_empty() {
        out.push(ended(said.join(", ")));
    }
}

/// Inline marks: links and images become their text, code and emphasis lose their marks, tags and notes go.
fn inline(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let next = characters.get(at + 1).copied();
        let before = out.chars().last();
        match character {
            '\\' if next.is_some_and(|next| next.is_ascii_punctuation()) => {
                out.extend(next);
                at += 1;
            }
            '!' if next == Some('[') => {}
            '[' if next == Some('^') => at = find(&characters, at, ']').unwrap_or(at),
            '[' => {
                if let Some((label, end)) = link(&characters, at) {
                    out.push_str(&inline(&label));
                    at = end;
                } else {
                    out.push(character);
                }
            }
            '<' => match find(&characters, at, '>') {
                Some(end) if is_tag(&characters[at + 1..end]) => at = end,
                Some(end) if characters[at + 1..end].iter().any(|mark| ":@".contains(*mark)) && end - at < 300 => {
                    out.extend(&characters[at + 1..end]);
                    at = end;
                }
                _ => out.push(character),
            },
            '`' => {}
            '*' if next == Some(' ') && before == Some(' ') => out.push('×'),
            '*' => {}
            '~' if next == Some('~') => at += 1,
            // Inside a word it belongs to the word.
            '_' if before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric) => {
                out.push(' ');
            }
            '_' => {}
            '&' => at += entity(&characters[at..], &mut out),
            other => out.push(other),
        }
        at += 1;
    }
    out
}

fn find(characters: &[char], from: usize, wanted: char) -> Option<usize> {
    characters[from..].iter().take(2_000).position(|character| *character == wanted).map(|found| from + found)
}

/// Label and end of `[label](address)` or `[label][reference]`.
fn link(characters: &[char], at: usize) -> Option<(String, usize)> {
    let mut depth = 0;
    let close = characters[at..].iter().take(2_000).position(|character| {
        depth += i32::from(*character == '[') - i32::from(*character == ']');
        depth == 0
    })? + at;
    let label: String = characters[at + 1..close].iter().collect();
    let end = match characters.get(close + 1) {
        Some('(') => {
            let mut depth = 0;
            characters[close + 1..].iter().take(4_000).position(|character| {
                depth += i32::from(*character == '(') - i32::from(*character == ')');
                depth == 0
            })? + close
                + 1
        }
        Some('[') => find(characters, close + 1, ']')?,
        _ => return None,
    };
    Some((label, end))
}

fn is_tag(inside: &[char]) -> bool {
    let name: String = inside.iter().collect();
    let name = name.trim_start_matches('/');
    name.len() < 200
        && name.chars().next().is_some_and(|first| first.is_ascii_alphabetic())
        && !name.contains("://")
        && !name.contains('@')
}

/// An HTML entity; returns how many characters beyond the first it took.
fn entity(rest: &[char], out: &mut String) -> usize {
    let text: String = rest.iter().take(8).collect();
    for (name, meaning) in [
        ("&amp;", "&"),
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&euro;", "€"),
    ] {
        if text.starts_with(name) {
            out.push_str(meaning);
            return name.len() - 1;
        }
    }
    out.push('&');
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_goes_and_what_is_said_stays() {
        for (markdown, expected) in [
            ("# Title\nText **bold** and *italic*.", "Title.\nText bold and italic."),
            ("- one\n- two!\n\n* [x] three", "one.\ntwo!\nthree."),
            ("1. First\n2) Second", "1, First.\n2, Second."),
            ("See [the page](https://a.b/c_(d)) now", "See the page now."),
            ("![a cat](cat.png)", "a cat."),
            ("Use `cargo test` here.", "Use cargo test here."),
            ("Before\n```rust\nfn main() {}\n```\nAfter", "Before.\nThere is a block of code.\nAfter."),
            ("```\nnever closed", "There is a block of code."),
            ("| Name | Age |\n|---|:--:|\n| Ann | 30 |\n| Bob | |", "Name: Ann, Age: 30.\nName: Bob."),
            ("> quoted\n> more", "quoted.\nmore."),
            ("one\ntwo\n\n---\n\nthree", "one two.\nthree."),
            ("a <b>tag</b> and <br/> x < 3", "a tag and x < 3."),
            ("note[^1] and snake_case_name and __strong__", "note and snake case name and strong."),
            ("5 \\* 3 and ~~gone~~ &amp; R&D", "5 * 3 and gone & R&D."),
            ("", ""),
        ] {
            assert_eq!(plain(markdown, Language::English), expected, "{markdown}");
        }
        assert_eq!(plain("```\nx\n```", Language::French), "Il y a un bloc de code.");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text: String) {
            let _ = plain(&text, Language::French);
        }

        #[test]
        fn any_marks_are_survived(text in "[\\[\\]()!<>*_`~|#&\\\\ a\n-]{0,60}") {
            let _ = plain(&text, Language::English);
        }
    }
}

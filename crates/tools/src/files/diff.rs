//! Replacing one text by another, and showing exactly what will change.

use super::error::FileError;

/// Most places that one call changes: a confirmation shows each of them.
pub(crate) const MOST_PLACES: usize = 100;
/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 2;
/// Unchanged characters of a changed line shown on each side of the change.
const CONTEXT_CHARACTERS: usize = 200;

/// A text after a replacement, and the lines that show it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) text: String,
    pub(crate) places: usize,
    pub(crate) preview: Vec<String>,
}

/// Replaces `old` by `new`: the one place where it stands, or `all` of them.
pub(crate) fn replace(path: &str, text: &str, old: &str, new: &str, all: bool) -> Result<Replaced, FileError> {
    if old == new {
        return Err(FileError::NoChange);
    }
    let places: Vec<usize> =
        if old.is_empty() { Vec::new() } else { text.match_indices(old).map(|(place, _)| place).collect() };
    let path = || path.to_owned();
    match places.len() {
        0 => return Err(FileError::TextAbsent { path: path() }),
        1 => {}
        count if !all => return Err(FileError::TextAmbiguous { path: path(), count }),
        count if count > MOST_PLACES => {
            return Err(FileError::TooManyPlaces { path: path(), count, limit: MOST_PLACES });
        }
        _ => {}
    }
    let preview = places.iter().flat_map(|place| hunk(text, *place, old, new)).collect();
    Ok(Replaced { text: text.replace(old, new), places: places.len(), preview })
}

/// One change: its line number, what stands around it, what goes and what comes.
fn hunk(text: &str, place: usize, old: &str, new: &str) -> Vec<String> {
    let (before, after) = (&text[..place], &text[place + old.len()..]);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line_end = after.find('\n').unwrap_or(after.len());
    let head = last_characters(&before[line_start..]);
    let tail = first_characters(after[..line_end].trim_end_matches('\r'));
    let mut lines = vec![format!("line {}:", before.matches('\n').count() + 1)];
    lines.extend(lines_before(&before[..line_start]).iter().map(|line| format!("  {}", first_characters(line))));
    let written = |sign: char, middle: &str| -> Vec<String> {
        format!("{head}{middle}{tail}").lines().map(|line| format!("{sign} {line}")).collect()
    };
    lines.extend(written('-', old));
    let added = written('+', new);
    lines.extend(if added.is_empty() { vec!["+".to_owned()] } else { added });
    lines.extend(
        after[line_end..].lines().skip(1).take(CONTEXT_LINES).map(|line| format!("  {}", first_characters(line))),
    );
    lines
}

fn lines_before(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().rev().take(CONTEXT_LINES).collect();
    lines.reverse();
    lines
}

fn first_characters(text: &str) -> String {
    match text.char_indices().nth(CONTEXT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn last_characters(text: &str) -> String {
    match text.char_indices().rev().nth(CONTEXT_CHARACTERS - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_its_lines_and_their_surroundings() {
        let text = "one\ntwo\nthe old house\nfour\nfive\nsix\n";
        let replaced = replace("a", text, "old house", "new\nhome", false).unwrap();
        assert_eq!(replaced.text, "one\ntwo\nthe new\nhome\nfour\nfive\nsix\n");
        assert_eq!(
            replaced.preview,
            ["line 3:", "  one", "  two", "- the old house", "+ the new", "+ home", "  four", "  five"]
        );
    }

    #[test]
    fn one_place_or_all_of_them() {
        assert!(matches!(replace("a", "x y x", "x", "z", false), Err(FileError::TextAmbiguous { count: 2, .. })));
        let all = replace("a", "x y x", "x", "z", true).unwrap();
        assert_eq!((all.text.as_str(), all.places), ("z y z", 2));
        assert!(matches!(replace("a", "abc", "x", "z", true), Err(FileError::TextAbsent { .. })));
        assert!(matches!(replace("a", "abc", "a", "a", true), Err(FileError::NoChange)));
        assert!(matches!(
            replace("a", &"x".repeat(101), "x", "z", true),
            Err(FileError::TooManyPlaces { count: 101, .. })
        ));
    }

    #[test]
    fn a_removed_line_and_a_long_line_show_what_changes() {
        assert_eq!(replace("a", "gone", "gone", "", false).unwrap().preview, ["line 1:", "- gone", "+"]);
        let long = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let preview = replace("a", &long, "HERE", "THERE", false).unwrap().preview;
        assert_eq!(preview[1], format!("- …{}HERE{}…", "a".repeat(200), "b".repeat(200)));
        assert!(preview.iter().all(|line| line.len() < 500));
    }
}

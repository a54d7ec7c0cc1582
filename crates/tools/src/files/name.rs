//! Typed paths, judged as text before anything is opened.
//!
//! What is refused here is refused on every system, so that a world built on one behaves the same
//! on another. What a name really leads to is decided later, on handles ([`super::walk`]).

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::error::FileError;

/// Longest path, in bytes.
const LONGEST_PATH: usize = 4096;
/// Longest single name, in bytes.
const LONGEST_NAME: usize = 255;
/// Deepest path.
const DEEPEST: usize = 32;

/// A root as paths are typed against it.
#[derive(Debug, Clone)]
pub(crate) struct RootName {
    /// The first component that leads to it; empty for the writable root.
    pub(crate) name: String,
    /// Absolute paths that mean it: as configured, and canonical.
    pub(crate) absolute: Vec<PathBuf>,
}

/// A path split into the root it is in and the names below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Index of the root; 0 is the writable one.
    pub(crate) root: usize,
    /// Names below the root; none for the root itself. None is `.` or `..`.
    pub(crate) names: Vec<String>,
}

/// Splits a typed path, or says why it is not one.
pub(crate) fn parse(path: &str, roots: &[RootName], home: Option<&Path>) -> Result<Typed, FileError> {
    check_text(path)?;
    let (root, rest) = place(path, roots, home)?;
    let names: Vec<String> =
        rest.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect();
    if names.len() > DEEPEST {
        return Err(FileError::TooLong { bytes: path.len() });
    }
    names.iter().try_for_each(|name| check_name(name, path))?;
    Ok(Typed { root, names })
}

fn check_text(path: &str) -> Result<(), FileError> {
    if path.is_empty() {
        return Err(FileError::Empty);
    }
    if path.len() > LONGEST_PATH {
        return Err(FileError::TooLong { bytes: path.len() });
    }
    if path.chars().any(invisible) {
        return Err(FileError::Invisible { path: path.to_owned() });
    }
    let lower = path.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%00", "%25"].iter().any(|code| lower.contains(code)) {
        return Err(FileError::PercentCoded { path: path.to_owned() });
    }
    // Look-alikes of dots and separators become real ones on systems that normalise names.
    let plain: String = path.nfkc().collect();
    let separators = |text: &str| text.matches(['/', '\\']).count();
    let climbs = |text: &str| text.split(['/', '\\']).any(|name| name.trim() == "..");
    if climbs(path) || climbs(&plain) || separators(path) != separators(&plain) {
        return Err(FileError::Climbs { path: path.to_owned() });
    }
    Ok(())
}

/// Control, direction, zero-width, tag and other characters that a reader cannot see.
pub(crate) fn invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{115f}' | '\u{1160}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// The root and what remains of the path below it.
fn place<'a>(path: &'a str, roots: &[RootName], home: Option<&Path>) -> Result<(usize, Cow<'a, str>), FileError> {
    let outside = || FileError::Outside { path: path.to_owned(), allowed: allowed(roots) };
    // An address is not a path, whatever its scheme.
    if path.contains("://") {
        return Err(outside());
    }
    let expanded = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            let home = home.and_then(Path::to_str).ok_or_else(outside)?;
            Some(format!("{home}{rest}"))
        }
        Some(_) => return Err(outside()),
        None => None,
    };
    let absolute = expanded.as_deref().unwrap_or(path);
    if Path::new(absolute).is_absolute() || absolute.starts_with(['/', '\\']) || has_drive(absolute) {
        return beneath(Path::new(absolute), roots).map(|(root, rest)| (root, rest.into())).ok_or_else(outside);
    }
    let (first, rest) = path.split_once(['/', '\\']).unwrap_or((path, ""));
    match roots.iter().position(|root| !root.name.is_empty() && root.name == first) {
        Some(root) => Ok((root, rest.into())),
        None => Ok((0, path.into())),
    }
}

/// The root with the longest absolute path that the given one lies beneath, lexically.
fn beneath(path: &Path, roots: &[RootName]) -> Option<(usize, String)> {
    roots
        .iter()
        .enumerate()
        .flat_map(|(index, root)| root.absolute.iter().map(move |absolute| (index, absolute)))
        .filter_map(|(index, absolute)| Some((index, absolute.components().count(), path.strip_prefix(absolute).ok()?)))
        .max_by_key(|(index, length, _)| (*length, std::cmp::Reverse(*index)))
        .and_then(|(index, _, rest)| Some((index, rest.to_str()?.to_owned())))
}

fn has_drive(path: &str) -> bool {
    let mut characters = path.chars();
    characters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && characters.next() == Some(':')
        && characters.next().is_none_or(|next| matches!(next, '/' | '\\') || cfg!(windows))
}

/// The roots in words, for a refusal.
fn allowed(roots: &[RootName]) -> String {
    let mut words = vec!["the working folder".to_owned()];
    words.extend(roots.iter().filter(|root| !root.name.is_empty()).map(|root| format!("{:?} (read only)", root.name)));
    words.join(", ")
}

/// Judges one name of a path.
pub(crate) fn check_name(name: &str, path: &str) -> Result<(), FileError> {
    if name.len() > LONGEST_NAME {
        return Err(FileError::TooLong { bytes: name.len() });
    }
    if name.ends_with(['.', ' ']) || name.starts_with(' ') || name.trim() != name {
        return Err(FileError::Edge { name: name.to_owned() });
    }
    if reserved(name) {
        return Err(FileError::Reserved { name: name.to_owned() });
    }
    // A colon opens an alternate data stream on Windows.
    if cfg!(windows) && name.contains([':', '<', '>', '"', '|', '?', '*']) {
        return Err(FileError::Outside { path: path.to_owned(), allowed: "names without : < > \" | ? *".to_owned() });
    }
    match Path::new(name).components().next() {
        Some(Component::Normal(_)) => Ok(()),
        _ => Err(FileError::Climbs { path: path.to_owned() }),
    }
}

/// `CON`, `nul.txt`, `COM1`, `LPT³`: devices on Windows whatever the extension.
fn reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    port.is_some_and(|number| {
        matches!(number, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
    })
}

/// A name reduced to what file systems that ignore case or spelling of accents compare.
pub(crate) fn fold(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> Vec<RootName> {
        vec![
            RootName { name: String::new(), absolute: vec!["/home/u/tenpass".into()] },
            RootName { name: "documents".to_owned(), absolute: vec!["/home/u/Documents".into()] },
        ]
    }

    fn names(path: &str) -> Result<(usize, String), FileError> {
        parse(path, &roots(), Some(Path::new("/home/u"))).map(|typed| (typed.root, typed.names.join("/")))
    }

    #[test]
    fn plain_paths_lead_to_the_root_they_name() {
        for (path, root, below) in [
            ("notes.txt", 0, "notes.txt"),
            ("./a//b/./c.md", 0, "a/b/c.md"),
            ("a\\b.txt", 0, "a/b.txt"),
            (".", 0, ""),
            ("documents/été.txt", 1, "été.txt"),
            ("documents", 1, ""),
            ("documents.txt", 0, "documents.txt"),
            ("/home/u/tenpass/x", 0, "x"),
            ("/home/u/Documents/x", 1, "x"),
            ("~/Documents/x", 1, "x"),
            ("100%.txt", 0, "100%.txt"),
            ("réunion 10:30.md", 0, "réunion 10:30.md"),
        ] {
            assert_eq!(names(path).unwrap(), (root, below.to_owned()), "{path}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for path in [
            "",
            "  ",
            "..",
            "../x",
            "a/../b",
            "a/..",
            "..\\x",
            ".. /x",
            "/etc/passwd",
            "/",
            "~",
            "~root/x",
            "~/x",
            "/home/u/tenpass-evil/x",
            "/home/u/tenpass/../x",
            "C:\\x",
            "c:/x",
            "\\\\server\\share",
            "%2e%2e/x",
            "a%2Fb",
            "a%5cb",
            "a%00",
            "%252e/x",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}b",
            "a.txt.",
            "a.txt ",
            "a.txt /b",
            "dir./x",
            "a/ b",
            "CON",
            "nul.txt",
            "\u{ff0e}\u{ff0e}/x",
            "\u{2025}",
            "a\u{ff0f}b",
            "a/COM1",
            "lpt9.log",
            "aux",
            "a\u{feff}",
        ] {
            assert!(names(path).is_err(), "{path:?}");
        }
        assert!(names(&"a/".repeat(40)).is_err());
        assert!(names(&"a".repeat(256)).is_err());
    }

    #[test]
    fn folding_joins_case_accents_and_width() {
        assert_eq!(fold("Été.TXT"), fold("e\u{301}té.txt"));
        assert_eq!(fold("ＡＢ"), fold("ab"));
        assert_ne!(fold("a"), fold("b"));
    }
}

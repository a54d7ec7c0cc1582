//! Phonemes from the program espeak-ng, clause by clause, with the punctuation that it swallows.
//!
//! espeak-ng prints one line a clause and drops the mark that ended it. Both models need the marks, so the
//! text is cut where espeak-ng cuts, all clauses go through one run of the program, and the marks are put
//! back. Where the count does not come out, each clause is asked for alone.

use std::time::Duration;

use super::{espeak, process};
use crate::{Cancel, Files, TtsError};

/// French nouns in -ait. espeak-ng takes them for verbs and links them to a vowel ("du lait à" as "lette à"),
/// which French never does after a noun in the singular.
const UNLINKED: &[&str] =
    &["lait", "souhait", "trait", "extrait", "retrait", "attrait", "portrait", "forfait", "bienfait", "méfait"];

/// Most clauses of one text.
const MOST_CLAUSES: usize = 2_000;

/// A stretch of speech between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    /// IPA as espeak-ng prints it, words apart by spaces.
    pub(crate) phonemes: String,
    /// What ended it: one of `.,;:!?`, or nothing.
    pub(crate) mark: Option<char>,
}

impl Clause {
    /// Whether a sentence ends here.
    pub(crate) fn ends_sentence(&self) -> bool {
        matches!(self.mark, Some('.' | '!' | '?'))
    }
}

/// The program with a language.
#[derive(Debug, Clone)]
pub(crate) struct Phonemizer {
    program: std::path::PathBuf,
    timeout: Duration,
    language: String,
    tied: bool,
}

impl Phonemizer {
    /// For a language of espeak-ng; `tied` writes `^` between the letters of one sound.
    pub(crate) fn new(language: &str, tied: bool, files: &Files) -> Self {
        Self { program: files.espeak_ng.clone(), timeout: files.timeout, language: language.to_owned(), tied }
    }

    /// The clauses of a text.
    pub(crate) fn clauses(&self, text: &str, cancel: &Cancel) -> Result<Vec<Clause>, TtsError> {
        let cut = if self.language.starts_with("fr") { cut(&unlinked(text)) } else { cut(text) };
        if cut.len() > MOST_CLAUSES {
            return Err(TtsError::Input(format!("a text of {} clauses is too long", cut.len())));
        }
        let joined: Vec<&str> = cut.iter().map(|(text, _)| text.as_str()).collect();
        let lines = self.run(&joined.join("\n\n"), cancel)?;
        if lines.len() == cut.len() {
            return Ok(lines
                .into_iter()
                .zip(&cut)
                .map(|(phonemes, (_, mark))| Clause { phonemes, mark: *mark })
                .collect());
        }
        let alone = cut.iter().map(|(text, mark)| {
            let phonemes = self.run(text, cancel)?.join(" ");
            Ok(Clause { phonemes, mark: *mark })
        });
        let spoken = alone.filter(|clause| !matches!(clause, Ok(clause) if clause.phonemes.is_empty()));
        spoken.collect()
    }

    /// What the program prints: a line a clause, without its remarks about other languages.
    fn run(&self, text: &str, cancel: &Cancel) -> Result<Vec<String>, TtsError> {
        let mut arguments: Vec<String> =
            ["-q", "-b", "1", "--ipa", "-v", &self.language, "--stdin"].map(str::to_owned).to_vec();
        if self.tied {
            arguments.push("--tie=^".to_owned());
        }
        let call = process::Call {
            engine: "espeak-ng",
            program: &self.program,
            arguments: &arguments,
            stdin: text.as_bytes(),
            timeout: self.timeout,
            install: espeak::INSTALL,
        };
        let printed = process::run(&call, cancel)?;
        let printed = String::from_utf8_lossy(&printed);
        Ok(printed.lines().map(without_remarks).filter(|line| !line.is_empty()).collect())
    }
}

/// Removes `(en)`, `(fr)`: where espeak-ng went over to another language for a word.
fn without_remarks(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut inside = false;
    for character in line.trim().chars() {
        match character {
            '(' => inside = true,
            ')' => inside = false,
            _ if inside => {}
            // Joined words are marked as such by some versions.
            '\u{200d}' => {}
            other => kept.push(other),
        }
    }
    kept.trim().to_owned()
}

/// Writes the nouns of [`UNLINKED`] as the word in -aie that sounds the same and has nothing to link.
fn unlinked(text: &str) -> String {
    text.split_inclusive(|character: char| !character.is_alphanumeric())
        .map(|piece| {
            let word = piece.trim_end_matches(|character: char| !character.is_alphanumeric());
            match word.strip_suffix('t') {
                Some(stem) if UNLINKED.contains(&word.to_lowercase().as_str()) => {
                    format!("{stem}e{}", &piece[word.len()..])
                }
                _ => piece.to_owned(),
            }
        })
        .collect()
}

/// Cuts where espeak-ng ends a clause: at a mark that white space or the end follows. Pieces without a
/// letter or digit are dropped.
fn cut(text: &str) -> Vec<(String, Option<char>)> {
    let mut clauses: Vec<(String, Option<char>)> = Vec::new();
    let mut piece = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let mark = match character {
            '…' => Some('.'),
            '—' | '–' => Some(','),
            '.' | ',' | ';' | ':' | '!' | '?' => Some(character),
            _ => None,
        };
        let at_end = characters.peek().is_none_or(|next| next.is_whitespace() || "\"'»”’)".contains(*next));
        match mark {
            Some(mark) if at_end || character == '…' || character == '—' => {
                close(&mut clauses, &mut piece, Some(mark));
            }
            _ if "\"«»“”()[]{}".contains(character) => piece.push(' '),
            _ if character.is_whitespace() => piece.push(' '),
            _ => piece.push(character),
        }
    }
    close(&mut clauses, &mut piece, None);
    clauses
}

fn close(clauses: &mut Vec<(String, Option<char>)>, piece: &mut String, mark: Option<char>) {
    let text = piece.split_whitespace().collect::<Vec<_>>().join(" ");
    piece.clear();
    if text.chars().any(char::is_alphanumeric) {
        let kept = text.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        let first = text[kept.len()..].chars().next();
        clauses.push((kept.to_owned(), first.or(mark)));
    } else if let (Some(last), Some(mark)) = (clauses.last_mut(), mark) {
        // "?!" and "...": the first mark stays unless there was none.
        last.1.get_or_insert(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> Vec<(String, Option<char>)> {
        cut(text)
    }

    #[test]
    fn clauses_end_at_marks_that_white_space_follows() {
        let found = marks("Hello, world! It costs 3.14; \"really?\" he (Bob) said… Fine");
        let texts: Vec<(&str, Option<char>)> = found.iter().map(|(text, mark)| (text.as_str(), *mark)).collect();
        assert_eq!(
            texts,
            [
                ("Hello", Some(',')),
                ("world", Some('!')),
                ("It costs 3.14", Some(';')),
                ("really", Some('?')),
                ("he Bob said", Some('.')),
                ("Fine", None),
            ]
        );
        assert_eq!(marks("What?! ..."), [("What".to_owned(), Some('?'))]);
        assert!(marks(" ... — !").is_empty());
    }

    #[test]
    fn remarks_about_languages_go() {
        assert_eq!(without_remarks(" bˈɔ̃ (en)pˈɑːkɪŋ(fr) avˌɛk "), "bˈɔ̃ pˈɑːkɪŋ avˌɛk");
    }

    #[test]
    fn french_nouns_are_not_linked_to_a_vowel() {
        assert_eq!(unlinked("du Lait à l'extrait, était"), "du Laie à l'extraie, était");
        assert_eq!(unlinked("lait"), "laie");
        let phonemizer = Phonemizer::new("fr-fr", false, &Files::default());
        let said = &phonemizer.clauses("du lait à la liste", &Cancel::new()).unwrap()[0].phonemes;
        assert!(said.contains("lˈɛ a") && !said.contains("lˈɛt"), "{said}");
    }

    #[test]
    fn the_program_gives_a_line_a_clause() {
        let phonemizer = Phonemizer::new("en-us", false, &Files::default());
        let found = phonemizer.clauses("Hello there, my friend. How are you?", &Cancel::new()).unwrap();
        let marks: Vec<Option<char>> = found.iter().map(|clause| clause.mark).collect();
        assert_eq!(marks, [Some(','), Some('.'), Some('?')]);
        assert!(found[0].phonemes.contains("lˈoʊ"), "{}", found[0].phonemes);
        let tied = Phonemizer::new("en-us", true, &Files::default());
        assert_eq!(tied.clauses("child", &Cancel::new()).unwrap()[0].phonemes, "t^ʃˈa^ɪld");
    }
}

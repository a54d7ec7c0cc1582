//! `commands.toml`: reading and validating.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::CommandsError;
use super::language::Language;
use super::pattern::{Name, Pattern};
use super::wake::Wake;

/// The format this program writes and the newest it reads.
pub const FORMAT: u32 = 1;
/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 20;
/// More than this nobody can remember.
const MOST_COMMANDS: usize = 1_000;
const MOST_PHRASINGS: usize = 20;
const MOST_NAMES: usize = 200;

/// What kind of thing a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// A name opens a view.
    View,
    /// A verb and a number or name act on a line of the view.
    Line,
    /// A word navigates.
    Word,
}

impl Axis {
    /// Its name in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Line => "line",
            Self::Word => "word",
        }
    }
}

/// Greatest distances at which an utterance still counts as a phrasing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// Of phrasings of up to 3 sounds.
    pub short: f64,
    /// Of up to 6.
    pub medium: f64,
    /// Of more.
    pub long: f64,
    /// How far behind the second command must be.
    pub margin: f64,
}

impl Matching {
    /// The threshold of a phrasing with so many sounds.
    pub fn threshold(&self, sounds: usize) -> f64 {
        match sounds {
            0..=3 => self.short,
            4..=6 => self.medium,
            _ => self.long,
        }
    }
}

/// A closed command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Command {
    /// Its name: `[a-z0-9-]+`.
    pub id: String,
    /// What kind of thing it does.
    pub axis: Axis,
    /// How it is said in English, the usual way first.
    pub en: Vec<String>,
    /// How it is said in French.
    pub fr: Vec<String>,
}

impl Command {
    /// How it is said in a language.
    pub fn phrasings(&self, language: Language) -> &[String] {
        match language {
            Language::En => &self.en,
            Language::Fr => &self.fr,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    format: Spanned<u32>,
    wake: RawWake,
    matching: Spanned<Matching>,
    #[serde(default)]
    names: RawNames,
    #[serde(rename = "command")]
    commands: Vec<RawCommand>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWake {
    word: Spanned<String>,
    #[serde(default)]
    variants: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawNames {
    values: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCommand {
    id: Spanned<String>,
    axis: Axis,
    #[serde(default)]
    en: Vec<Spanned<String>>,
    #[serde(default)]
    fr: Vec<Spanned<String>>,
}

/// Everything of a valid file.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) wake: Wake,
    pub(crate) matching: Matching,
    pub(crate) commands: Vec<Command>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) names: Vec<Name>,
}

/// The text of a small file.
pub(crate) fn read(path: &Path) -> Result<String, CommandsError> {
    let failed = |source| CommandsError::File { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > MOST_BYTES {
        return Err(CommandsError::Large { path: path.to_owned(), bytes, most: MOST_BYTES });
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// A text with the name of its file, so that mistakes are found again.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// A mistake at this place.
    pub(crate) fn mistake(&self, span: &Range<usize>, problem: impl Into<String>) -> CommandsError {
        let line = 1 + self.text.get(..span.start).map_or(0, |before| before.matches('\n').count());
        CommandsError::Invalid { path: self.path.to_owned(), line: Some(line), problem: problem.into() }
    }

    /// The file as TOML of this shape, if its format is known.
    pub(crate) fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, CommandsError> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<u32>,
        }
        if let Ok(Head { format: Some(found) }) = toml::from_str(self.text)
            && found > FORMAT
        {
            return Err(CommandsError::Newer { path: self.path.to_owned(), found, known: FORMAT });
        }
        toml::from_str(self.text).map_err(|error| {
            let problem = error.message().to_owned();
            match error.span() {
                Some(span) => self.mistake(&span, problem),
                None => CommandsError::Invalid { path: self.path.to_owned(), line: None, problem },
            }
        })
    }
}

/// Reads and validates; the first mistake is the error.
pub(crate) fn load(path: &Path, text: &str) -> Result<Loaded, CommandsError> {
    let source = Source { path, text };
    let raw: RawFile = source.parse()?;
    if *raw.format.get_ref() == 0 {
        return Err(source.mistake(&raw.format.span(), "format is 0; the first one is 1"));
    }
    check_matching(&source, &raw.matching)?;
    let wake = wake(&source, &raw.wake)?;
    let names = names(&source, &raw.names)?;
    if raw.commands.is_empty() || raw.commands.len() > MOST_COMMANDS {
        let problem = format!("{} commands; there must be 1 to {MOST_COMMANDS}", raw.commands.len());
        return Err(source.mistake(&(0..0), problem));
    }
    let mut taken = Taken::default();
    let (mut commands, mut patterns) = (Vec::new(), Vec::new());
    for (index, command) in raw.commands.iter().enumerate() {
        taken.id(&source, command)?;
        for (language, phrasings) in [(Language::En, &command.en), (Language::Fr, &command.fr)] {
            for phrasing in phrasings {
                let pattern = Pattern::new(index, language, phrasing.get_ref());
                let pattern = pattern.map_err(|problem| source.mistake(&phrasing.span(), problem))?;
                check_slot(&source, command, phrasing, &pattern, &names)?;
                if wake.strip(&super::text::words(phrasing.get_ref(), language), language).is_some() {
                    let problem = format!("\"{}\" begins with the wake word, which is said anyway", phrasing.get_ref());
                    return Err(source.mistake(&phrasing.span(), problem));
                }
                taken.phrasing(&source, command, phrasing, &pattern)?;
                patterns.push(pattern);
            }
        }
        let texts = |list: &[Spanned<String>]| list.iter().map(|text| text.get_ref().clone()).collect();
        commands.push(Command {
            id: command.id.get_ref().clone(),
            axis: command.axis,
            en: texts(&command.en),
            fr: texts(&command.fr),
        });
    }
    Ok(Loaded { wake, matching: raw.matching.into_inner(), commands, patterns, names })
}

fn check_matching(source: &Source<'_>, matching: &Spanned<Matching>) -> Result<(), CommandsError> {
    let Matching { short, medium, long, margin } = *matching.get_ref();
    let bad = [("short", short), ("medium", medium), ("long", long), ("margin", margin)]
        .into_iter()
        .find(|(_, value)| !(0.0..0.5).contains(value));
    match bad {
        // At half of the way two words are different words.
        Some((name, value)) => {
            Err(source.mistake(&matching.span(), format!("matching.{name} = {value} is not from 0 to below 0.5")))
        }
        None => Ok(()),
    }
}

fn wake(source: &Source<'_>, raw: &RawWake) -> Result<Wake, CommandsError> {
    let mut spellings = Vec::new();
    for word in std::iter::once(&raw.word).chain(&raw.variants) {
        if super::text::words(word.get_ref(), Language::En).is_empty() || word.get_ref().chars().count() > 40 {
            let problem = format!("\"{}\" is no wake word: 1 to 40 letters", word.get_ref());
            return Err(source.mistake(&word.span(), problem));
        }
        spellings.push(word.get_ref().clone());
    }
    Ok(Wake::new(&spellings))
}

fn names(source: &Source<'_>, raw: &RawNames) -> Result<Vec<Name>, CommandsError> {
    if raw.values.len() > MOST_NAMES {
        let problem = format!("{} names are more than {MOST_NAMES}", raw.values.len());
        return Err(source.mistake(&raw.values[MOST_NAMES].span(), problem));
    }
    let mut names = Vec::new();
    for value in &raw.values {
        if super::text::words(value.get_ref(), Language::En).is_empty() {
            return Err(source.mistake(&value.span(), format!("\"{}\" is no name", value.get_ref())));
        }
        names.extend(Language::ALL.map(|language| Name::new(value.get_ref(), language)));
    }
    Ok(names)
}

fn check_slot(
    source: &Source<'_>,
    command: &RawCommand,
    phrasing: &Spanned<String>,
    pattern: &Pattern,
    names: &[Name],
) -> Result<(), CommandsError> {
    let (id, text) = (command.id.get_ref(), phrasing.get_ref());
    let problem = match (command.axis, pattern.slot) {
        (Axis::View, Some(_)) => format!("{id} opens a view: \"{text}\" needs no slot"),
        (Axis::Line, None) => format!("{id} acts on a line: \"{text}\" lacks {{number}}, {{ordinal}} or {{name}}"),
        (_, Some(super::pattern::Slot::Name)) if names.is_empty() => {
            format!("\"{text}\" wants a name, and there is no [names]")
        }
        _ => return Ok(()),
    };
    Err(source.mistake(&phrasing.span(), problem))
}

/// Ids and phrasings that are used already.
#[derive(Default)]
struct Taken {
    ids: BTreeSet<String>,
    phrasings: BTreeMap<(Language, String, Option<&'static str>), String>,
}

impl Taken {
    fn id(&mut self, source: &Source<'_>, command: &RawCommand) -> Result<(), CommandsError> {
        let id = command.id.get_ref();
        let problem = if id.is_empty() || !id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        {
            format!("\"{id}\" is no id: lower-case letters, digits and -")
        } else if matches!(id.as_str(), "none" | "wake" | "silence" | "noise") {
            format!("\"{id}\" is what a corpus calls clips that are no command")
        } else if command.en.is_empty() && command.fr.is_empty() {
            format!("{id} has no phrasing")
        } else if command.en.len().max(command.fr.len()) > MOST_PHRASINGS {
            format!("{id} has more than {MOST_PHRASINGS} phrasings in one language")
        } else if !self.ids.insert(id.clone()) {
            format!("{id} is there twice")
        } else {
            return Ok(());
        };
        Err(source.mistake(&command.id.span(), problem))
    }

    fn phrasing(
        &mut self,
        source: &Source<'_>,
        command: &RawCommand,
        phrasing: &Spanned<String>,
        pattern: &Pattern,
    ) -> Result<(), CommandsError> {
        let (words, slot) = pattern.identity();
        let id = command.id.get_ref();
        match self.phrasings.insert((pattern.language, words, slot), id.clone()) {
            Some(other) if other != *id => {
                let problem = format!("\"{}\" of {id} is said like a phrasing of {other}", phrasing.get_ref());
                Err(source.mistake(&phrasing.span(), problem))
            }
            _ => Ok(()),
        }
    }
}

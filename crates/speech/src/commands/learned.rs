//! Phrases learned from the user: "when you hear this, I mean that" (a file of their own).
//!
//! Only a person adds one. A learned phrase never shadows what a command is said like, never takes a text that is
//! already near another command, and belongs to one command. The file is JSON, written whole beside the old one
//! and renamed.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::dispatch::{Commands, Dispatch, How, Slots};
use super::error::CommandsError;
use super::file::FORMAT;
use super::language::Language;
use super::text::{canonical, words};

/// More phrases than this are no habit of one voice but a wrong model.
pub const MOST: usize = 500;
const LONGEST_CHARACTERS: usize = 80;
const SHORTEST_LETTERS: usize = 3;
const MOST_BYTES: u64 = 1 << 20;

/// One of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedPhrase {
    /// What is heard, without the wake word, as it is compared.
    pub heard: String,
    /// In which language.
    pub language: Language,
    /// The command that is meant.
    pub id: String,
    /// What its slot holds.
    #[serde(default, skip_serializing_if = "Slots::is_empty")]
    pub slots: Slots,
}

/// The learned phrases of a user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Learned {
    phrases: Vec<LearnedPhrase>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: u32,
    phrases: Vec<LearnedPhrase>,
}

/// A proposal that was checked and that a person may confirm.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    phrase: LearnedPhrase,
    /// What the text is taken for today.
    pub today: Dispatch,
}

impl Proposal {
    /// What would be learned.
    pub fn phrase(&self) -> &LearnedPhrase {
        &self.phrase
    }
}

impl Learned {
    /// Reads the file; one that is not there is empty.
    pub fn load(path: &Path) -> Result<Self, CommandsError> {
        let failed = |source| CommandsError::File { path: path.to_owned(), source };
        let invalid = |problem| CommandsError::Invalid { path: path.to_owned(), line: None, problem };
        let bytes = match std::fs::metadata(path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(error)),
        };
        if bytes > MOST_BYTES {
            return Err(CommandsError::Large { path: path.to_owned(), bytes, most: MOST_BYTES });
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let format = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|value| value["format"].as_u64());
        if let Some(found) = format.and_then(|format| u32::try_from(format).ok()).filter(|found| *found > FORMAT) {
            return Err(CommandsError::Newer { path: path.to_owned(), found, known: FORMAT });
        }
        let stored: Stored = serde_json::from_str(&text).map_err(|error| CommandsError::Invalid {
            path: path.to_owned(),
            line: Some(error.line()),
            problem: error.to_string(),
        })?;
        if stored.phrases.len() > MOST {
            return Err(invalid(format!("{} phrases are more than {MOST}", stored.phrases.len())));
        }
        Ok(Self { phrases: stored.phrases })
    }

    /// Writes the file whole, or leaves the old one.
    pub fn save(&self, path: &Path) -> Result<(), CommandsError> {
        let failed = |source| CommandsError::File { path: path.to_owned(), source };
        let stored = Stored { format: FORMAT, phrases: self.phrases.clone() };
        let text = serde_json::to_string_pretty(&stored).map_err(|error| failed(error.into()))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let partial = path.with_extension(format!("{}.partial", std::process::id()));
        let written = std::fs::File::create(&partial).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            std::fs::rename(&partial, path)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        written.map_err(failed)
    }

    /// The phrases, in the order they were learned.
    pub fn phrases(&self) -> &[LearnedPhrase] {
        &self.phrases
    }

    pub(crate) fn find(&self, canonical: &str, language: Language) -> Option<&LearnedPhrase> {
        self.phrases.iter().find(|phrase| phrase.language == language && phrase.heard == canonical)
    }

    /// Checks what would be learned: the command and its slot as it is said, such as `read 3`, must be exact.
    /// Nothing is learned yet: a person sees the proposal first.
    pub fn propose(
        commands: &Commands,
        heard: &str,
        meant: &str,
        language: Language,
    ) -> Result<Proposal, CommandsError> {
        let refuse = |problem: String| CommandsError::Phrase { heard: heard.to_owned(), problem };
        let (id, slots) = meaning(commands, meant, language).map_err(&refuse)?;
        let text = plain(commands, heard, language).map_err(&refuse)?;
        let today = commands.dispatch_heard(heard, language.tag());
        if let Dispatch::Command { id: other, how, phrasing, .. } = &today {
            let problem = match how {
                How::Exact | How::Folded => format!("it is what {other} is said like (\"{phrasing}\")"),
                How::Learned if *other == id => "it is learned already".to_owned(),
                How::Learned => format!("it already means {other}; forget that first"),
                How::Near if *other == id && slots_of(&today) == Some(&slots) => {
                    "it is understood already: it is near enough".to_owned()
                }
                How::Near => format!("it is near \"{phrasing}\" ({other})"),
            };
            return Err(refuse(problem));
        }
        if commands.learned().phrases.len() >= MOST {
            return Err(refuse(format!("{MOST} phrases are learned already")));
        }
        Ok(Proposal { phrase: LearnedPhrase { heard: text, language, id, slots }, today })
    }

    /// Learns what a person confirmed.
    pub fn confirm(&mut self, proposal: Proposal) {
        self.phrases.push(proposal.phrase);
    }

    /// Forgets a phrase; whether it was there. Written as it was heard, or as the list shows it.
    pub fn forget(&mut self, commands: &Commands, heard: &str) -> bool {
        let before = self.phrases.len();
        self.phrases.retain(|phrase| plain(commands, heard, phrase.language).ok().as_deref() != Some(&phrase.heard));
        self.phrases.len() < before
    }
}

fn slots_of(dispatch: &Dispatch) -> Option<&Slots> {
    match dispatch {
        Dispatch::Command { slots, .. } => Some(slots),
        Dispatch::None { .. } => None,
    }
}

/// The command that is meant: an id without a slot, or a text that is one exactly.
fn meaning(commands: &Commands, meant: &str, language: Language) -> Result<(String, Slots), String> {
    if let Some(command) = commands.get(meant) {
        let slotted = command.phrasings(language).iter().all(|phrasing| phrasing.contains('{'));
        return if slotted {
            Err(format!("{meant} needs a number or a name: say what is meant, such as \"read 3\""))
        } else {
            Ok((meant.to_owned(), Slots::new()))
        };
    }
    match commands.dispatch_heard(meant, language.tag()) {
        Dispatch::Command { id, slots, how: How::Exact | How::Folded, .. } => Ok((id, slots)),
        _ => Err(format!("\"{meant}\" is neither a command's id nor said like one")),
    }
}

/// What is heard, without wake word and fillers.
fn plain(commands: &Commands, heard: &str, language: Language) -> Result<String, String> {
    let all = words(heard, language);
    let rest = commands.strip_wake(&all, language).unwrap_or(&all);
    let text = canonical(rest, language).join(" ");
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    if letters < SHORTEST_LETTERS {
        return Err(format!("{letters} letters are too few: at least {SHORTEST_LETTERS}"));
    }
    if text.chars().count() > LONGEST_CHARACTERS {
        return Err(format!("more than {LONGEST_CHARACTERS} characters are a sentence, not a command"));
    }
    Ok(text)
}

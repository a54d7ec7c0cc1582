//! Prompts: text that a model is told to have heard before, and the promise that it does not hold the answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tenpass_corpus::Clip;
use tenpass_speech::commands::{Commands, Language, fold, words};

/// Most bytes of a file of prompts.
const MOST_BYTES: u64 = 1 << 20;
/// The format that is read.
const FORMAT: u32 = 1;

/// Why prompts cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not of the right form.
    #[error("{path}{}: {problem}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// A prompt that holds what is tested.
    #[error("prompt {prompt} contains the command \"{command}\" of {clip}: \"{piece}\"")]
    Verbatim {
        /// The prompt.
        prompt: String,
        /// The command as it is said.
        command: String,
        /// A clip of it.
        clip: String,
        /// The sentence or term.
        piece: String,
    },
}

impl PromptError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path; corpora/prompts/stt.toml is the usual file",
            Self::Invalid { .. } => "corpora/prompts/stt.toml shows the form",
            Self::Verbatim { .. } => {
                "set leave_out = true: each command is then scored with a prompt that leaves it out"
            }
        }
    }
}

/// A prompt in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    sentences: Vec<String>,
    #[serde(default)]
    terms: Vec<String>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its name.
    pub id: String,
    /// What it is, in a line.
    pub about: String,
    /// Whether commands are scored without the pieces that contain them.
    pub leave_out: bool,
    texts: BTreeMap<String, Text>,
}

/// The prompts of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// In the order of the file: the first is the one that others are compared with.
    pub list: Vec<Prompt>,
    wake: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    format: u32,
    #[serde(rename = "prompt")]
    prompts: Vec<RawPrompt>,
}

#[derive(Deserialize)]
struct RawPrompt {
    id: toml::Spanned<String>,
    #[serde(default)]
    about: String,
    #[serde(default)]
    leave_out: bool,
    #[serde(flatten)]
    texts: BTreeMap<String, Text>,
}

impl Prompts {
    /// Reads a file; `wake` takes the place of `{wake}`.
    pub fn load(path: &Path, wake: &str) -> Result<Self, PromptError> {
        let failed = |source| PromptError::File { path: path.to_owned(), source };
        let bytes = std::fs::metadata(path).map_err(failed)?.len();
        if bytes > MOST_BYTES {
            let problem = format!("{bytes} bytes are more than {MOST_BYTES}");
            return Err(PromptError::Invalid { path: path.to_owned(), line: None, problem });
        }
        Self::parse(path, &std::fs::read_to_string(path).map_err(failed)?, wake)
    }

    /// Reads the text of a file.
    pub fn parse(path: &Path, text: &str, wake: &str) -> Result<Self, PromptError> {
        let line = |start: usize| 1 + text.get(..start).map_or(0, |before| before.matches('\n').count());
        let invalid = |line, problem: String| PromptError::Invalid { path: path.to_owned(), line, problem };
        let raw: RawFile = toml::from_str(text)
            .map_err(|error| invalid(error.span().map(|span| line(span.start)), error.message().to_owned()))?;
        if raw.format == 0 || raw.format > FORMAT {
            return Err(invalid(None, format!("format {} is not {FORMAT}, which this program knows", raw.format)));
        }
        let mut list: Vec<Prompt> = Vec::new();
        for prompt in raw.prompts {
            let at = Some(line(prompt.id.span().start));
            let id = prompt.id.into_inner();
            let fine = !id.is_empty() && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            if !fine {
                return Err(invalid(at, format!("\"{id}\" is no id: lower-case letters, digits and -")));
            }
            if list.iter().any(|known| known.id == id) {
                return Err(invalid(at, format!("{id} is there twice")));
            }
            if let Some(tag) = prompt.texts.keys().find(|tag| tag.len() != 2 && tag.len() != 3) {
                return Err(invalid(at, format!("prompt {id}: \"{tag}\" is no language such as en")));
            }
            list.push(Prompt { id, about: prompt.about, leave_out: prompt.leave_out, texts: prompt.texts });
        }
        if list.is_empty() {
            return Err(invalid(None, "there is no [[prompt]]".to_owned()));
        }
        Ok(Self { list, wake: wake.to_owned() })
    }

    /// A prompt by its name.
    pub fn get(&self, id: &str) -> Option<&Prompt> {
        self.list.iter().find(|prompt| prompt.id == id)
    }

    /// The text that a clip is transcribed with. Empty for none.
    pub fn text(&self, prompt: &Prompt, clip: &Clip, commands: &Commands) -> String {
        let Some(text) = prompt.texts.get(&clip.language).or_else(|| prompt.texts.values().next()) else {
            return String::new();
        };
        let hidden = if prompt.leave_out { said(commands, clip) } else { Vec::new() };
        let kept = |pieces: &[String]| -> Vec<String> {
            let open = pieces.iter().filter(|piece| !hidden.iter().any(|said| holds(piece, said, &clip.language)));
            open.map(|piece| piece.replace("{wake}", &self.wake)).collect()
        };
        let (sentences, terms) = (kept(&text.sentences), kept(&text.terms));
        let mut whole = sentences.join(" ");
        if !terms.is_empty() {
            if !whole.is_empty() {
                whole.push(' ');
            }
            whole.push_str(&format!("{}.", terms.join(", ")));
        }
        whole
    }

    /// Refuses prompts that contain a command of the corpus, where they are not left out.
    pub fn check(&self, clips: &[Clip], commands: &Commands) -> Result<(), PromptError> {
        for prompt in self.list.iter().filter(|prompt| !prompt.leave_out) {
            for clip in clips.iter().filter(|clip| commands.get(&clip.intent).is_some()) {
                let said = [strip(&clip.text, &clip.language, commands)];
                let Some(text) = prompt.texts.get(&clip.language) else { continue };
                let mut pieces = text.sentences.iter().chain(&text.terms);
                if let Some(piece) = pieces.find(|piece| holds(piece, &said[0], &clip.language)) {
                    return Err(PromptError::Verbatim {
                        prompt: prompt.id.clone(),
                        command: said[0].join(" "),
                        clip: clip.file.clone(),
                        piece: piece.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

fn known(language: &str) -> Language {
    Language::parse(language).unwrap_or(Language::En)
}

fn folded(text: &str, language: &str) -> Vec<String> {
    words(text, known(language)).iter().map(|word| fold(word)).collect()
}

/// What is said without the wake word.
fn strip(text: &str, language: &str, commands: &Commands) -> Vec<String> {
    let all = folded(text, language);
    let wake = folded(commands.wake_word(), language);
    all.strip_prefix(wake.as_slice()).map_or(all.clone(), <[String]>::to_vec)
}

/// Every way to say the command of a clip: the clip's own words, and the fixed words of its phrasings.
fn said(commands: &Commands, clip: &Clip) -> Vec<Vec<String>> {
    let Some(command) = commands.get(&clip.intent) else { return Vec::new() };
    let phrasings = command.phrasings(known(&clip.language)).iter();
    let fixed = phrasings.map(|phrasing| folded(phrasing.split('{').next().unwrap_or_default(), &clip.language));
    std::iter::once(strip(&clip.text, &clip.language, commands)).chain(fixed).filter(|said| !said.is_empty()).collect()
}

/// Whether a sentence or term has these words in a row.
fn holds(piece: &str, said: &[String], language: &str) -> bool {
    let piece = folded(&piece.replace("{wake}", " "), language);
    !said.is_empty() && piece.windows(said.len()).any(|window| window == said)
}

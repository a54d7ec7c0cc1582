//! What came of one transcription.

use serde::{Deserialize, Serialize};
use tenpass_corpus::Clip;
use tenpass_speech::commands::{Commands, Dispatch};

use crate::normalise::normalise;

/// What a clip is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// A command, its id known.
    Command,
    /// Speech that is no command; the wake word alone too.
    Speech,
    /// Silence or noise: nothing is said.
    Nothing,
}

/// What a clip is; `None` for one whose intent is no command of these.
pub fn kind(clip: &Clip, commands: &Commands) -> Option<Kind> {
    match clip.intent.as_str() {
        "none" | "wake" => Some(Kind::Speech),
        "silence" | "noise" => Some(Kind::Nothing),
        id => commands.get(id).map(|_| Kind::Command),
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The command, with the right number or name.
    Understood,
    /// The command with another number or name: the wrong line.
    WrongSlot,
    /// Another command.
    WrongCommand,
    /// Some text that is no command.
    NoCommand,
    /// No text at all.
    Empty,
    /// Speech that is no command, taken for none.
    Passed,
    /// Speech that is no command, taken for one.
    FalseCommand,
    /// Nothing was said and nothing heard.
    Quiet,
    /// Nothing was said and something heard.
    Hallucination,
    /// Nothing was said, and a piece of the prompt heard.
    Echo,
}

/// Judges a transcript. A command must be dispatched as its own text is; with `woken` the wake word counts as heard
/// whatever the text says. Speech that is no command always counts as if it had been: the worst case.
pub fn outcome(clip: &Clip, kind: Kind, heard: &str, prompt: &str, commands: &Commands, woken: bool) -> Outcome {
    match kind {
        Kind::Nothing => nothing(heard, prompt, &clip.language),
        Kind::Speech => match commands.dispatch_heard(heard, &clip.language) {
            Dispatch::Command { .. } => Outcome::FalseCommand,
            Dispatch::None { .. } => Outcome::Passed,
        },
        Kind::Command => command(clip, heard, commands, woken),
    }
}

fn command(clip: &Clip, heard: &str, commands: &Commands, woken: bool) -> Outcome {
    if normalise(heard, &clip.language).is_empty() {
        return Outcome::Empty;
    }
    let truth = commands.dispatch_heard(&clip.text, &clip.language);
    // Clips that are spoken without the wake word follow one that was heard.
    let spoken = commands.dispatch(&clip.text, &clip.language).id().is_some();
    let found = if woken || !spoken {
        commands.dispatch_heard(heard, &clip.language)
    } else {
        commands.dispatch(heard, &clip.language)
    };
    match found.id() {
        None => Outcome::NoCommand,
        Some(id) if id != clip.intent => Outcome::WrongCommand,
        Some(_) if truth.id() == Some(&clip.intent) && !truth.same(&found) => Outcome::WrongSlot,
        Some(_) => Outcome::Understood,
    }
}

fn nothing(heard: &str, prompt: &str, language: &str) -> Outcome {
    let language = if language.is_empty() { "en" } else { language };
    let heard = normalise(heard, language);
    if heard.is_empty() {
        return Outcome::Quiet;
    }
    let prompt = normalise(prompt, language);
    if prompt.windows(heard.len()).any(|window| window == heard) { Outcome::Echo } else { Outcome::Hallucination }
}

//! The line editor of a terminal: history, completion of commands, pastes of several lines.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rustyline::completion::Completer;
use rustyline::config::{Behavior, CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ConditionalEventHandler, Context, Editor, Event, EventContext, EventHandler, ExternalPrinter, Helper,
    KeyEvent, Movement, RepeatCount,
};
use tenpass_agent::session::COMMANDS;
use tenpass_trace::mask;

use super::console::Line;

/// Lines that the arrow keys bring back.
const HISTORY: usize = 1_000;
const PROMPT: &str = "› ";

/// Prints above the prompt while it stands open.
pub(super) type Above = Box<dyn ExternalPrinter + Send>;

/// A line editor with its history.
pub(super) struct LineEditor {
    editor: Editor<Commands, FileHistory>,
    history: PathBuf,
}

impl LineEditor {
    /// Opens the editor. `on_terminal` says whether stdout is the terminal; else it is asked itself.
    pub(super) fn open(history: &Path, on_terminal: bool) -> rustyline::Result<(Self, Option<Above>)> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .completion_type(CompletionType::List)
            .behavior(if on_terminal { Behavior::Stdio } else { Behavior::PreferTerm })
            .auto_add_history(false)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Commands));
        let interrupt = EventHandler::Conditional(Box::new(ClearFirst));
        editor.bind_sequence(KeyEvent::ctrl('C'), interrupt);
        // A history that cannot be read is an empty one.
        let _ = private(history).map(|()| editor.load_history(history));
        let above = editor.create_external_printer().ok().map(|printer| Box::new(printer) as Above);
        Ok((Self { editor, history: history.to_owned() }, above))
    }

    /// Reads one line, which may be a paste of several.
    pub(super) fn read(&mut self) -> Line {
        match self.editor.readline(PROMPT) {
            Ok(text) => {
                self.remember(&text);
                Line::Text(text)
            }
            Err(ReadlineError::Interrupted) => Line::Interrupt,
            Err(ReadlineError::Signal(_)) => Line::Text(String::new()),
            Err(_) => Line::End,
        }
    }

    /// Keeps a line for the arrow keys, unless there is a secret in it.
    fn remember(&mut self, text: &str) {
        if text.trim().is_empty() || !mask::mask(text).found.is_empty() {
            return;
        }
        if self.editor.add_history_entry(text).is_ok() {
            // The line itself is safe in the database.
            let _ = self.editor.append_history(&self.history);
        }
    }
}

/// Makes the file, readable by its owner only, where there is none.
fn private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Ctrl-C clears what was typed; only at an empty prompt is it a wish to leave.
struct ClearFirst;

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _event: &Event, _count: RepeatCount, _positive: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(if context.line().is_empty() { Cmd::Interrupt } else { Cmd::Kill(Movement::WholeBuffer) })
    }
}

/// Completes slash commands, English and French.
struct Commands;

/// The commands that begin like this, in the order of the help.
fn completions(typed: &str) -> Vec<String> {
    if !typed.starts_with('/') {
        return Vec::new();
    }
    let names = COMMANDS.iter().map(|entry| entry.name).chain(COMMANDS.iter().map(|entry| entry.french));
    let mut found: Vec<String> = names.map(|name| format!("/{name}")).filter(|name| name.starts_with(typed)).collect();
    for level in ["low", "medium", "high", "off"] {
        found.extend(
            Some(format!("/think {level}")).filter(|line| typed.starts_with("/think ") && line.starts_with(typed)),
        );
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|name| seen.insert(name.clone()));
    found
}

impl Completer for Commands {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, line.get(..position).map(completions).unwrap_or_default()))
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}
impl Validator for Commands {}
impl Helper for Commands {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_complete_in_both_languages() {
        assert_eq!(completions("/th"), ["/think", "/threads"]);
        assert_eq!(completions("/ou"), ["/outils"]);
        assert_eq!(completions("/trace"), ["/trace"]);
        assert_eq!(completions("/think h"), ["/think high"]);
        assert!(completions("hello").is_empty());
        assert_eq!(completions("/").len(), COMMANDS.len() * 2 - 1, "one name is that of both languages");
    }

    #[cfg(unix)]
    #[test]
    fn the_history_is_its_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("history.txt");
        private(&path).unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

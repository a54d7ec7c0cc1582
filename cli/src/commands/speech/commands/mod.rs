//! `tenpass commands`.

mod check;
mod learn;
mod test;

use std::path::{Path, PathBuf};

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_speech::commands::{Commands as Closed, CommandsError, Language, Learned};

use crate::args::speech::commands::{Axis, Commands, CommandsFile, List};
use crate::commands::table::{Columns, show, table};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Where the project has its commands.
const COMMANDS: &str = "corpora/commands/commands.toml";
/// In the agent's folder: what the user taught.
const LEARNED: &str = "learned-phrases.json";

impl From<CommandsError> for Failure {
    fn from(error: CommandsError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Commands) -> Result<Exit, Failure> {
    match command {
        Commands::Check(check) => check::run(context, check),
        Commands::Test(test) => test::run(context, test),
        Commands::List(list) => run_list(context, list),
        Commands::Learn(learn) => learn::learn(context, learn),
        Commands::Forget(forget) => learn::forget(context, forget),
    }
}

/// The file that was typed, or the project's.
pub(in crate::commands::speech) fn commands_path(context: &Context, typed: Option<&Path>) -> Result<PathBuf, Failure> {
    project_file(context, typed, COMMANDS, "--file FILE")
}

/// What was typed, or this file or folder of the project.
pub(in crate::commands::speech) fn project_file(
    context: &Context,
    typed: Option<&Path>,
    usual: &str,
    option: &str,
) -> Result<PathBuf, Failure> {
    if let Some(path) = typed {
        return Ok(path.to_owned());
    }
    let found = context.home.project.as_ref().map(|project| project.join(usual)).filter(|path| path.exists());
    found.ok_or_else(|| {
        Failure::mistake(format!("there is no {usual} here"))
            .hint(format!("run it inside the checkout, or name one with {option}"))
    })
}

/// The commands, with what the user taught.
fn load(context: &Context, file: &CommandsFile) -> Result<Closed, Failure> {
    let commands = Closed::load(&commands_path(context, file.file.as_deref())?)?;
    Ok(commands.with_learned(Learned::load(&learned_path(context))?))
}

fn learned_path(context: &Context) -> PathBuf {
    context.agent_folder().join(LEARNED)
}

/// A language that commands are spoken in.
fn language(tag: &str) -> Result<Language, Failure> {
    Language::parse(tag).ok_or_else(|| {
        Failure::mistake(format!("language {tag:?} is not one that commands are spoken in")).hint("en or fr")
    })
}

/// One way to say a command.
#[derive(Serialize)]
struct Row {
    id: String,
    axis: &'static str,
    language: Language,
    phrasing: String,
}

const COLUMNS: &Columns =
    &[("id", Kind::Text), ("axis", Kind::Text), ("language", Kind::Text), ("phrasing", Kind::Text)];

/// A learned phrase.
#[derive(Serialize)]
struct LearnedRow {
    heard: String,
    language: Language,
    id: String,
    slot: String,
}

const LEARNED_COLUMNS: &Columns =
    &[("heard", Kind::Text), ("language", Kind::Text), ("id", Kind::Text), ("slot", Kind::Text)];

fn run_list(context: &Context, list: &List) -> Result<Exit, Failure> {
    let commands = load(context, &list.commands)?;
    let only = list.language.as_deref().map(language).transpose()?;
    if list.learned {
        return list_learned(context, list, &commands, only);
    }
    let wanted = |axis: &str| match list.axis {
        None => true,
        Some(Axis::View) => axis == "view",
        Some(Axis::Line) => axis == "line",
        Some(Axis::Word) => axis == "word",
    };
    let mut rows = Vec::new();
    for command in commands.list().iter().filter(|command| wanted(command.axis.word())) {
        for language in Language::ALL.into_iter().filter(|language| only.is_none_or(|only| only == *language)) {
            let (id, axis) = (&command.id, command.axis.word());
            let phrasings = command.phrasings(language).iter();
            rows.extend(phrasings.map(|text| Row { id: id.clone(), axis, language, phrasing: text.clone() }));
        }
    }
    show(context.printer, list.format.format, COLUMNS, &rows, || by_command(&rows))?;
    Ok(Exit::Yes)
}

/// One line a command and language.
fn by_command(rows: &[Row]) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let head = vec![row.id.clone(), row.axis.to_owned(), row.language.to_string()];
        match lines.last_mut().filter(|line| line[..3] == head[..]) {
            Some(line) => line[3].push_str(&format!(" · {}", row.phrasing)),
            None => lines.push([head, vec![row.phrasing.clone()]].concat()),
        }
    }
    table(&["command", "axis", "language", "said"], &lines, &[])
}

fn list_learned(context: &Context, list: &List, commands: &Closed, only: Option<Language>) -> Result<Exit, Failure> {
    let phrases = commands.learned().phrases().iter();
    let rows: Vec<LearnedRow> = phrases
        .filter(|phrase| only.is_none_or(|only| only == phrase.language))
        .map(|phrase| LearnedRow {
            heard: phrase.heard.clone(),
            language: phrase.language,
            id: phrase.id.clone(),
            slot: phrase.slots.values().cloned().collect::<Vec<_>>().join(" "),
        })
        .collect();
    show(context.printer, list.format.format, LEARNED_COLUMNS, &rows, || {
        if rows.is_empty() {
            return "nothing was learned yet: tenpass commands learn \"heard\" MEANT\n".to_owned();
        }
        let cells =
            rows.iter().map(|row| vec![row.heard.clone(), row.language.to_string(), row.id.clone(), row.slot.clone()]);
        table(&["heard", "language", "means", "slot"], &cells.collect::<Vec<_>>(), &[])
    })?;
    Ok(Exit::Yes)
}

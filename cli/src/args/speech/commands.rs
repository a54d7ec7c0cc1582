//! `tenpass commands …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{TableFormat, TextOrJson};

const TEST_HELP: &str = "\
The wake word comes first; without it nothing is a command, unless --no-wake-word says that it was heard before.
Exit code 0 for a command, 1 for none.

Examples:
  tenpass commands test \"Kora, read 3\"
  tenpass commands test \"lis le numéro douze\" --language fr --no-wake-word";

const CHECK_HELP: &str = "\
Everything is heard as if the wake word had come before: the worst case. Thresholds are chosen on one half of the
sentences and altered commands, rates are reported on the other half, with Clopper-Pearson bounds at 95 %. Fresh
sentences have no part in that: they were written afterwards, and are the figure to believe.
Exit code 1 when a sentence that is no command is taken for one.

Examples:
  tenpass commands check
  tenpass commands check --file my-commands.toml --other my-radio.toml --closest 20";

const LEARN_HELP: &str = "\
A learned phrase never shadows what a command is said like, and is refused when it is near another command. Only a
person confirms it: at the prompt, or with --yes. MEANT is a command's id, or what one says for it: \"read 3\".

Examples:
  tenpass commands learn \"muse hick\" view-music
  tenpass commands learn \"lit trois\" \"lis 3\" --language fr";

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Commands {
    /// Check a file of commands: structure, what sounds alike, and how often something else is taken for a command
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Say what a text would be taken for, why, and what is near
    #[command(after_help = TEST_HELP)]
    Test(Test),
    /// List the commands and how they are said
    #[command(after_help = "Example:\n  tenpass commands list --language fr --axis view")]
    List(List),
    /// Learn a phrase: when this is heard, that is meant
    #[command(after_help = LEARN_HELP)]
    Learn(Learn),
    /// Forget a learned phrase
    #[command(after_help = "Example:\n  tenpass commands forget \"muse hick\"")]
    Forget(Forget),
}

/// The file of commands.
#[derive(Debug, Args)]
pub(crate) struct CommandsFile {
    /// The commands; the project's corpora/commands/commands.toml when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Arguments of `commands check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) commands: CommandsFile,
    /// Sentences that are no command; other.toml beside the commands when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) other: Option<PathBuf>,
    /// Sentences that chose nothing, told as a row of their own; fresh.toml beside the commands, if there, when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) fresh: Option<PathBuf>,
    /// How many pairs that sound alike are told
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) closest: usize,
    /// Where the altered commands come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `commands test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// What was heard
    pub(crate) text: String,
    /// Its language, such as fr; without it the commands of every language are possible
    #[arg(long, value_name = "TAG", default_value = "")]
    pub(crate) language: String,
    /// The wake word was heard before: the text need not begin with it
    #[arg(long)]
    pub(crate) no_wake_word: bool,
    #[command(flatten)]
    pub(crate) commands: CommandsFile,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// An axis of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// A name opens a view.
    View,
    /// A verb with a number or a name acts on a line.
    Line,
    /// A word navigates.
    Word,
}

/// Arguments of `commands list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only phrasings of this language, such as fr
    #[arg(long, value_name = "TAG")]
    pub(crate) language: Option<String>,
    /// Only commands of this axis
    #[arg(long, value_enum)]
    pub(crate) axis: Option<Axis>,
    /// The learned phrases instead
    #[arg(long, conflicts_with = "axis")]
    pub(crate) learned: bool,
    #[command(flatten)]
    pub(crate) commands: CommandsFile,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}

/// Arguments of `commands learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// What is heard
    pub(crate) heard: String,
    /// The command that is meant: its id, or what one says for it
    pub(crate) meant: String,
    /// The language of both
    #[arg(long, value_name = "TAG", default_value = "en")]
    pub(crate) language: String,
    /// A person confirms it here, and is not asked
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) commands: CommandsFile,
}

/// Arguments of `commands forget`.
#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// What is heard
    pub(crate) heard: String,
    #[command(flatten)]
    pub(crate) commands: CommandsFile,
}

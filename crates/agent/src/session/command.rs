//! The slash commands of a conversation.

use tenpass_model::ThinkLevel;

use super::input::{Feedback, Input};
use crate::prompt::Language;
use crate::words::fold;

/// A thinking level as a person chooses it (K9). Nothing else ever chooses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkSetting {
    /// Send nothing: the model's own default.
    Off,
    /// Send this level.
    Level(ThinkLevel),
}

impl ThinkSetting {
    /// The typed name: `off`, `low`, `medium`, `high`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Level(level) => level.as_str(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "off" | "non" | "aucune" => Self::Off,
            "low" | "bas" | "basse" => Self::Level(ThinkLevel::Low),
            "medium" | "moyen" | "moyenne" => Self::Level(ThinkLevel::Medium),
            "high" | "haut" | "haute" => Self::Level(ThinkLevel::High),
            _ => return None,
        })
    }
}

/// A command for the front end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Print the commands.
    Help,
    /// Leave.
    Quit,
    /// Set how much the model thinks; `None` shows it.
    Think(Option<ThinkSetting>),
    /// Show the memory file.
    Memory,
    /// Take the last exchange back.
    Undo,
    /// Take the last exchange back and send its message again.
    Retry,
    /// Begin a new thread.
    New,
    /// List threads, or continue the one that is named.
    Threads(Option<String>),
    /// List the tools with tier and note.
    Tools,
    /// Show the last turn's trace.
    Trace,
    /// Show the model.
    Model,
    /// Show what providers have cost today.
    Spend,
    /// A command that does not exist.
    Unknown {
        /// As typed, without the slash.
        typed: String,
        /// The nearest one that does.
        suggestion: Option<&'static str>,
    },
    /// A command whose argument is missing or wrong.
    Invalid {
        /// The command's name, without the slash.
        command: &'static str,
        /// The argument as typed.
        argument: String,
    },
}

/// One line of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandEntry {
    /// The English name, without the slash.
    pub name: &'static str,
    /// The French name, without the slash.
    pub french: &'static str,
    /// Its argument in the help, or empty.
    pub argument: &'static str,
    /// What it does, in English.
    pub english_help: &'static str,
    /// What it does, in French.
    pub french_help: &'static str,
}

impl CommandEntry {
    /// Name with argument, and what it does.
    pub fn line(&self, language: Language) -> (String, &'static str) {
        let name = language.pick(self.name, self.french);
        let argument = if self.argument.is_empty() { String::new() } else { format!(" {}", self.argument) };
        (format!("/{name}{argument}"), language.pick(self.english_help, self.french_help))
    }
}

macro_rules! entries {
    ($($name:literal, $french:literal, $argument:literal, $english_help:literal, $french_help:literal;)*) => {
        /// Every command, in the order of the help.
        pub const COMMANDS: &[CommandEntry] = &[$(CommandEntry {
            name: $name, french: $french, argument: $argument, english_help: $english_help, french_help: $french_help,
        },)*];
    };
}

entries! {
    "help", "aide", "", "these commands", "ces commandes";
    "think", "réfléchir", "low|medium|high|off", "how much the model thinks, until changed",
        "combien le modèle réfléchit, jusqu'au prochain changement";
    "good", "bien", "", "the last answer was right", "la dernière réponse était bonne";
    "bad", "mal", "", "the last answer was wrong", "la dernière réponse était mauvaise";
    "undo", "annuler", "", "take the last exchange back", "retirer le dernier échange";
    "retry", "réessayer", "", "take the last exchange back and ask again",
        "retirer le dernier échange et redemander";
    "memory", "mémoire", "", "what is remembered", "ce qui est retenu";
    "new", "nouveau", "", "begin a new thread", "commencer un nouveau fil";
    "threads", "fils", "[ID]", "earlier threads, or continue one", "les fils d'avant, ou en reprendre un";
    "tools", "outils", "", "what can be done, and what is asked first", "ce qui est possible, et ce qui se confirme";
    "trace", "trace", "", "what happened in the last turn", "ce qui s'est passé au dernier tour";
    "model", "modèle", "", "which model answers", "quel modèle répond";
    "spend", "dépenses", "", "what providers have cost today", "ce que les fournisseurs ont coûté aujourd'hui";
    "quit", "quitter", "", "leave (also Ctrl-D)", "partir (ou Ctrl-D)";
}

/// The help, one line a command, aligned, then typed feedback and the emergency formula.
pub fn help(language: Language) -> String {
    let lines: Vec<(String, &str)> = COMMANDS.iter().map(|entry| entry.line(language)).collect();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, does) in lines {
        let gap = " ".repeat(width - name.chars().count() + 2);
        text.push_str(&format!("{name}{gap}{does}\n"));
    }
    text.push_str(language.pick(
        "\nJudge the last answer with: accept, reject, correct: what would have been right.\n\
         Stop everything at once with: stop everything.\n",
        "\nJuger la dernière réponse : accepte, rejette, corrige : ce qui aurait été juste.\n\
         Tout arrêter aussitôt : stop tout.\n",
    ));
    text
}

/// Reads a line that begins with a slash; `None` for what is a message after all (a path, `//`).
pub(super) fn parse(text: &str) -> Option<Input> {
    let rest = text.strip_prefix('/')?;
    let (typed, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let argument = argument.trim();
    let is_name = !typed.is_empty() && typed.chars().all(|character| character.is_alphabetic() || character == '-');
    if !is_name {
        return None;
    }
    let folded = fold(typed);
    let entry = COMMANDS.iter().find(|entry| entry.name == folded || fold(entry.french) == folded);
    let Some(entry) = entry.or_else(|| synonym(&folded)) else {
        return Some(Input::Command(Command::Unknown { typed: typed.to_owned(), suggestion: nearest(&folded) }));
    };
    if entry.argument.is_empty() && !argument.is_empty() {
        let argument = argument.to_owned();
        return Some(Input::Command(Command::Invalid { command: entry.name, argument }));
    }
    Some(run(entry.name, argument))
}

fn run(name: &'static str, argument: &str) -> Input {
    let command = match name {
        "good" => return Input::Feedback(Feedback::Good),
        "bad" => return Input::Feedback(Feedback::Bad),
        "help" => Command::Help,
        "think" if argument.is_empty() => Command::Think(None),
        "think" => match ThinkSetting::parse(&fold(argument)) {
            Some(setting) => Command::Think(Some(setting)),
            None => Command::Invalid { command: name, argument: argument.to_owned() },
        },
        "undo" => Command::Undo,
        "retry" => Command::Retry,
        "memory" => Command::Memory,
        "new" => Command::New,
        "threads" => Command::Threads((!argument.is_empty()).then(|| argument.to_owned())),
        "tools" => Command::Tools,
        "trace" => Command::Trace,
        "model" => Command::Model,
        "spend" => Command::Spend,
        _ => Command::Quit,
    };
    Input::Command(command)
}

/// Names that people type by habit.
fn synonym(folded: &str) -> Option<&'static CommandEntry> {
    let name = match folded {
        "exit" | "q" | "bye" => "quit",
        "h" => "help",
        "reset" | "clear" => "new",
        "history" => "threads",
        "cost" | "depense" => "spend",
        "penser" => "think",
        _ => return None,
    };
    COMMANDS.iter().find(|entry| entry.name == name)
}

/// The nearest command, in the language of its name, if it is near at all.
fn nearest(folded: &str) -> Option<&'static str> {
    COMMANDS
        .iter()
        .flat_map(|entry| [entry.name, entry.french])
        .map(|name| (strsim::jaro_winkler(&fold(name), folded), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name)
}

impl Command {
    /// What to tell the person about a command that cannot be run; `None` for the ones that can.
    pub fn complaint(&self, language: Language) -> Option<String> {
        match self {
            Self::Unknown { typed, suggestion } => Some(match suggestion {
                Some(name) => language.pick(
                    format!("unknown command /{typed}; did you mean /{name}?"),
                    format!("commande inconnue /{typed} ; vouliez-vous dire /{name} ?"),
                ),
                None => language.pick(
                    format!("unknown command /{typed}; /help lists them"),
                    format!("commande inconnue /{typed} ; /aide les donne"),
                ),
            }),
            Self::Invalid { command: "corrige", .. } => Some(
                language
                    .pick("say what would have been right: correct: …", "dites ce qui aurait été juste : corrige : …")
                    .to_owned(),
            ),
            Self::Invalid { command, argument } => {
                let entry = COMMANDS.iter().find(|entry| entry.name == *command)?;
                let usage = entry.line(language).0;
                Some(
                    language.pick(
                        format!("{usage} does not take {argument:?}"),
                        format!("{usage} n'accepte pas {argument:?}"),
                    ),
                )
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Command {
        match Input::parse(text) {
            Input::Command(command) => command,
            other => panic!("{text} is {other:?}"),
        }
    }

    #[test]
    fn every_command_of_the_help_parses_in_both_languages() {
        for entry in COMMANDS {
            let (english, french) = (format!("/{}", entry.name), format!("/{}", entry.french));
            assert_eq!(Input::parse(&english), Input::parse(&french));
            assert_eq!(Input::parse(&english), Input::parse(&english.to_uppercase()));
            assert!(!matches!(Input::parse(&english), Input::Command(Command::Unknown { .. }) | Input::Message(_)));
            for language in Language::ALL {
                assert!(help(*language).contains(&entry.line(*language).0));
            }
        }
        assert_eq!(command("/quit"), Command::Quit);
        assert_eq!(command("/exit"), Command::Quit);
        assert_eq!(command("/threads 3f"), Command::Threads(Some("3f".into())));
        assert_eq!(command("/memoire"), Command::Memory);
    }

    #[test]
    fn a_thinking_level_is_one_of_four_words() {
        assert_eq!(command("/think"), Command::Think(None));
        assert_eq!(command("/think off"), Command::Think(Some(ThinkSetting::Off)));
        for (word, level) in [("low", ThinkLevel::Low), ("medium", ThinkLevel::Medium), ("HIGH", ThinkLevel::High)] {
            assert_eq!(command(&format!("/think {word}")), Command::Think(Some(ThinkSetting::Level(level))));
        }
        let wrong = command("/think true");
        assert_eq!(wrong, Command::Invalid { command: "think", argument: "true".into() });
        assert_eq!(wrong.complaint(Language::English).unwrap(), "/think low|medium|high|off does not take \"true\"");
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_nearest() {
        let unknown = command("/memroy");
        assert_eq!(unknown, Command::Unknown { typed: "memroy".into(), suggestion: Some("memory") });
        assert_eq!(
            unknown.complaint(Language::French).unwrap(),
            "commande inconnue /memroy ; vouliez-vous dire /memory ?"
        );
        let far = command("/xyzzy");
        assert_eq!(far, Command::Unknown { typed: "xyzzy".into(), suggestion: None });
        assert!(far.complaint(Language::English).unwrap().contains("/help"));
        assert!(command("/undo now").complaint(Language::English).unwrap().contains("/undo does not take"));
        assert_eq!(Command::Undo.complaint(Language::English), None);
    }

    #[test]
    fn a_path_is_a_message() {
        for text in ["/home/ada/notes.txt, what is in it?", "/", "// a comment", "/etc/hosts", "/2 of them"] {
            assert_eq!(Input::parse(text), Input::Message(text.into()));
        }
    }
}

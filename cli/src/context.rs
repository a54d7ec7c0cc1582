//! From what was typed to what is in force: folders, settings, the store of models.

use std::path::{Path, PathBuf};

use tenpass_bench::cases::{CaseError, Suite, load_suite};
use tenpass_catalog::{Catalog, Store};
use tenpass_config::{Home, Layers, Resolved, environment};
use tenpass_review::jobs::shell_word;

use crate::args::Arguments;
use crate::failure::Failure;
use crate::printer::Printer;

/// Where the suite of the tool-choice bench is in a checkout or project.
const SUITE: &str = "cases/tools";

/// Where the suite of the rounds bench is.
const ROUNDS: &str = "cases/rounds";

/// Mistakes of a suite that are printed: a file that is no suite has hundreds.
const MOST_MISTAKES: usize = 10;

/// Folders and settings of this call.
pub(crate) struct Context {
    pub(crate) home: Home,
    pub(crate) resolved: Resolved,
    pub(crate) printer: Printer,
    /// The runs folder as typed, for commands that the user is told to type next.
    pub(crate) runs_flag: Option<PathBuf>,
}

impl Context {
    /// Resolves the layers: command line, environment, profile, project file, user file, defaults.
    pub(crate) fn new(arguments: &Arguments, printer: Printer, flags: &[(&str, String)]) -> Result<Self, Failure> {
        let working = std::env::current_dir().map_err(|error| Failure::file(Path::new("."), &error))?;
        let variables = environment::of_process();
        let home = Home::locate(&variables, &working)?;
        let mut layers = Layers::load(&home, variables, &working)?;
        if arguments.offline {
            layers = layers.flag("offline", "true")?;
        }
        if let Some(profile) = &arguments.profile {
            layers = layers.flag("profile", profile)?;
        }
        if let Some(runs) = &arguments.runs_dir {
            layers = layers.flag("runs.dir", &runs.display().to_string())?;
        }
        for (key, word) in flags {
            layers = layers.flag(key, word)?;
        }
        let resolved = layers.resolve()?;
        for warning in &resolved.warnings {
            printer.note(&format!("warning: {warning}"));
        }
        Ok(Self { home, resolved, printer, runs_flag: arguments.runs_dir.clone() })
    }

    /// The store of models with the catalogue, the user's own entries included.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        let user = self.home.user_catalog();
        let catalog = Catalog::load(user.is_file().then_some(user.as_path()))?;
        Ok(Store::new(catalog, &self.home.models).with_offline(self.resolved.settings.offline))
    }

    /// Where runs are kept.
    pub(crate) fn runs(&self) -> PathBuf {
        self.resolved.settings.runs(&self.home)
    }

    /// The agent's own folder: journals, conversations, memory.
    pub(crate) fn agent_folder(&self) -> PathBuf {
        self.resolved.settings.agent(&self.home)
    }

    /// Where the cases are: what was typed, or the project's suite.
    pub(crate) fn cases_path(&self, typed: Option<&Path>) -> Result<PathBuf, Failure> {
        self.in_project(typed, SUITE)
    }

    /// What was typed, or this folder of the project.
    pub(crate) fn in_project(&self, typed: Option<&Path>, usual: &str) -> Result<PathBuf, Failure> {
        if let Some(path) = typed {
            return Ok(path.to_owned());
        }
        let folder = self.home.project.as_ref().map(|project| project.join(usual)).filter(|folder| folder.is_dir());
        folder.ok_or_else(|| {
            let option =
                if usual.starts_with("corpora") { "one with its option" } else { "a folder with --cases PATH" };
            Failure::mistake(format!("there is no {usual} here"))
                .hint(format!("run it inside the checkout, or name {option}"))
        })
    }

    /// Whether what this bench measures with is in the project: `cases/tools`, `cases/rounds`, `cases/claims`, or the
    /// corpora of speech.
    pub(crate) fn has_bench(&self, bench: &str) -> bool {
        let folder = match bench {
            "stt" | "turn" | "barge" => "corpora/small".to_owned(),
            "wake" => "corpora".to_owned(),
            _ => format!("cases/{bench}"),
        };
        self.in_project(None, &folder).is_ok()
    }

    /// Loads the cases of the tool-choice bench. Scenarios are a mistake: played as single requests their
    /// numbers would mean nothing.
    pub(crate) fn tools_suite(&self, typed: Option<&Path>) -> Result<Suite, Failure> {
        let path = self.cases_path(typed)?;
        if Held::by(&path) == (Held { cases: false, scenarios: true }) {
            return Err(other_bench(&path, "holds scenarios, and bench tools asks single cases", "rounds"));
        }
        load_suite(&path).map_err(|errors| self.case_failure(errors))
    }

    /// Loads the scenarios of the rounds bench.
    pub(crate) fn rounds_suite(&self, typed: Option<&Path>) -> Result<Suite, Failure> {
        let path = self.in_project(typed, ROUNDS)?;
        if Held::by(&path) == (Held { cases: true, scenarios: false }) {
            return Err(other_bench(&path, "holds single cases, and bench rounds plays scenarios", "tools"));
        }
        let tools = tenpass_bench::rounds::definitions();
        tenpass_bench::rounds::load_suite(&path, &tools).map_err(|errors| self.case_failure(errors))
    }

    /// Loads a suite of either bench, to look at; every mistake in it is printed, the last one as the failure.
    pub(crate) fn suite(&self, typed: Option<&Path>) -> Result<Suite, Failure> {
        let path = self.cases_path(typed)?;
        if Held::by(&path).scenarios {
            return self.rounds_suite(Some(&path));
        }
        load_suite(&path).map_err(|errors| self.case_failure(errors))
    }

    /// Prints the first mistakes of a suite; the last of them is the failure.
    fn case_failure(&self, mut errors: Vec<CaseError>) -> Failure {
        let more = errors.len().saturating_sub(MOST_MISTAKES);
        errors.truncate(MOST_MISTAKES);
        let last = errors.pop();
        for error in &errors {
            self.printer.note(&format!("error: {error}"));
            if let Some(hint) = error.hint() {
                self.printer.note(&format!("hint: {hint}"));
            }
        }
        match last {
            Some(error) => {
                let mistakes = if more == 1 { "mistake" } else { "mistakes" };
                let more = if more > 0 { format!("\nand {more} more {mistakes}") } else { String::new() };
                let failure = Failure::mistake(format!("{error}{more}"));
                match error.hint() {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
            None => Failure::bug("the suite did not load and did not say why"),
        }
    }
}

/// What a file, or the files of a folder, hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Held {
    cases: bool,
    scenarios: bool,
}

impl Held {
    fn by(path: &Path) -> Self {
        if path.is_file() {
            return Self::of_file(path);
        }
        let Ok(entries) = std::fs::read_dir(path) else { return Self::default() };
        entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
            .map(|file| Self::of_file(&file))
            .fold(Self::default(), |all, one| Self {
                cases: all.cases || one.cases,
                scenarios: all.scenarios || one.scenarios,
            })
    }

    /// By the headings of its tables: the loader says what is wrong with the rest.
    fn of_file(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let has = |heading: &str| text.lines().any(|line| line.trim_start().starts_with(heading));
        Self { cases: has("[[case]]"), scenarios: has("[[scenario]]") }
    }
}

fn other_bench(path: &Path, what: &str, bench: &str) -> Failure {
    Failure::mistake(format!("{} {what}", path.display()))
        .hint(format!("tenpass bench {bench} --cases {}", shell_word(&path.display().to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_tables_and_not_by_its_texts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.toml", "family = \"a\"\n[[case]]\nprompt = \"what is [[scenario]] in TOML?\"\n");
        assert_eq!(Held::by(folder.path()), Held { cases: true, scenarios: false });
        write("b.toml", "family = \"b\"\n[[scenario]]\n");
        assert_eq!(Held::by(&folder.path().join("b.toml")), Held { cases: false, scenarios: true });
        assert_eq!(Held::by(folder.path()), Held { cases: true, scenarios: true });
        assert_eq!(Held::by(&folder.path().join("none")), Held::default());
    }
}

//! From what was typed to what is in force: folders, settings, the store of models.

use std::path::{Path, PathBuf};

use tenpass_bench::cases::{CaseError, Suite, load_suite};
use tenpass_catalog::{Catalog, Store};
use tenpass_config::{Home, Layers, Resolved, environment};

use crate::args::Arguments;
use crate::failure::Failure;
use crate::printer::Printer;

/// Where the suite of the tool-choice bench is in a checkout or project.
const SUITE: &str = "cases/tools";

/// Where the suite of the rounds bench is.
const ROUNDS: &str = "cases/rounds";

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
            Failure::mistake(format!("there is no {usual} here"))
                .hint("run it inside the checkout, or name a folder with --cases PATH")
        })
    }

    /// Loads the scenarios of the rounds bench.
    pub(crate) fn rounds_suite(&self, typed: Option<&Path>) -> Result<Suite, Failure> {
        let path = self.in_project(typed, ROUNDS)?;
        let tools = tenpass_bench::rounds::definitions();
        tenpass_bench::rounds::load_suite(&path, &tools).map_err(|errors| self.case_failure(errors))
    }

    /// Loads a suite; every mistake in it is printed, the last one as the failure.
    pub(crate) fn suite(&self, typed: Option<&Path>) -> Result<Suite, Failure> {
        let path = self.cases_path(typed)?;
        if holds_scenarios(&path) {
            return self.rounds_suite(Some(&path));
        }
        load_suite(&path).map_err(|errors| self.case_failure(errors))
    }

    /// Prints every mistake of a suite but the last, which is the failure.
    fn case_failure(&self, mut errors: Vec<CaseError>) -> Failure {
        let last = errors.pop();
        for error in &errors {
            self.printer.note(&format!("error: {error}"));
            if let Some(hint) = error.hint() {
                self.printer.note(&format!("hint: {hint}"));
            }
        }
        match last {
            Some(error) => {
                let failure = Failure::mistake(&error);
                match error.hint() {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
            None => Failure::bug("the suite did not load and did not say why"),
        }
    }
}

/// True for a file of scenarios, or a folder with one.
fn holds_scenarios(path: &Path) -> bool {
    let is_one = |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| text.contains("[[scenario]]"));
    if path.is_file() {
        return is_one(path);
    }
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .any(|file| file.extension().is_some_and(|extension| extension == "toml") && is_one(&file))
}

//! The folders: where models, runs, cache and settings are.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::{ConfigError, environment};

/// The project file's name.
pub(crate) const PROJECT_FILE: &str = "tenpass.toml";
/// The user file's name inside the configuration folder.
const USER_FILE: &str = "config.toml";

/// Where things are kept. Nothing here is created until something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// Models and other assets of the catalogue.
    pub models: PathBuf,
    /// Results; the setting `runs.dir` overrules it.
    pub runs: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
    /// The agent's own: journals, conversations, memory, and the folder of files it may write to; the
    /// setting `agent.folder` overrules it.
    pub agent: PathBuf,
    /// The folder of the user file and of the user's own `models.toml`.
    pub config: PathBuf,
    /// The user file, whether it exists or not.
    pub user_file: PathBuf,
    /// The project around the working folder: the nearest folder with a `tenpass.toml`, or with a folder of
    /// cases in it, `cases/tools` or `cases/rounds`.
    pub project: Option<PathBuf>,
}

impl Home {
    /// Finds the folders from an environment and the working folder.
    pub fn locate(environment: &BTreeMap<String, OsString>, working: &Path) -> Result<Self, ConfigError> {
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let absolute = |path: PathBuf| if path.is_absolute() { path } else { working.join(path) };
        let (models, data, cache, config) = if let Some(home) = set(environment::HOME) {
            let home = absolute(home);
            (home.join("models"), home.clone(), home.join("cache"), home.join("config"))
        } else {
            let folders = ProjectDirs::from("", "", "tenpass").ok_or(ConfigError::NoHome)?;
            let data = folders.data_local_dir().to_owned();
            (data.join("models"), data, folders.cache_dir().to_owned(), folders.config_dir().to_owned())
        };
        let project = working.ancestors().find(|folder| is_project(folder)).map(Path::to_owned);
        let runs = project.as_ref().unwrap_or(&data).join("runs");
        let user_file = set(environment::CONFIG).map_or_else(|| config.join(USER_FILE), absolute);
        let agent = data.join("agent");
        Ok(Self { models, runs, cache, agent, config, user_file, project })
    }

    /// The user's own catalogue, whether it exists or not.
    pub fn user_catalog(&self) -> PathBuf {
        self.config.join("models.toml")
    }

    /// The project file, when the project has one.
    pub fn project_file(&self) -> Option<PathBuf> {
        self.project.as_ref().map(|folder| folder.join(PROJECT_FILE)).filter(|file| file.is_file())
    }
}

/// Folders of cases that make the folder around them a project.
const BENCHES: [&str; 2] = ["cases/tools", "cases/rounds"];

/// True for a folder that tenpass is meant to be used in. Settings come from its file only, so cases alone
/// decide nothing but where cases and runs are.
fn is_project(folder: &Path) -> bool {
    folder.join(PROJECT_FILE).is_file() || BENCHES.iter().any(|cases| folder.join(cases).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(home: &Path) -> BTreeMap<String, OsString> {
        BTreeMap::from([(environment::HOME.to_owned(), home.as_os_str().to_owned())])
    }

    #[test]
    fn home_holds_everything_outside_a_project() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let found = Home::locate(&environment(home.path()), elsewhere.path()).unwrap();
        assert_eq!(found.models, home.path().join("models"));
        assert_eq!(found.runs, home.path().join("runs"));
        assert_eq!(found.user_file, home.path().join("config/config.toml"));
        assert_eq!(found.project, None);
        assert!(!found.models.exists(), "locating creates nothing");
    }

    #[test]
    fn runs_stay_with_the_project_of_the_working_folder() {
        let home = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let inner = project.path().join("notes/deep");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(project.path().join(PROJECT_FILE), "").unwrap();
        let found = Home::locate(&environment(home.path()), &inner).unwrap();
        assert_eq!(found.runs, project.path().join("runs"));
        assert_eq!(found.project_file(), Some(project.path().join(PROJECT_FILE)));
    }

    #[test]
    fn a_folder_with_cases_of_a_bench_is_a_project_without_a_file() {
        let home = tempfile::tempdir().unwrap();
        for bench in ["tools", "rounds"] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(folder.path().join("cases").join(bench)).unwrap();
            let found = Home::locate(&environment(home.path()), folder.path()).unwrap();
            assert_eq!(found.project.as_deref(), Some(folder.path()));
            assert_eq!(found.runs, folder.path().join("runs"));
            assert_eq!(found.project_file(), None);
        }
        let other = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(other.path().join("cases/of-wine")).unwrap();
        assert_eq!(Home::locate(&environment(home.path()), other.path()).unwrap().project, None);
    }

    #[test]
    fn a_relative_home_counts_from_the_working_folder_and_an_empty_one_is_none() {
        let working = tempfile::tempdir().unwrap();
        let found = Home::locate(&environment(Path::new("here")), working.path()).unwrap();
        assert_eq!(found.models, working.path().join("here/models"));
        if let Ok(found) = Home::locate(&environment(Path::new("")), working.path()) {
            assert_ne!(found.models, working.path().join("models"));
        }
    }
}

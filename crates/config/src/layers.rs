//! The layers, highest first, and their merge.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::defaults::DEFAULT_FILE;
use crate::error::nearest;
use crate::file::{Placed, SettingsFile};
use crate::setting::{SETTINGS, Setting, Value, find};
use crate::{ConfigError, Home, Settings, environment};

/// The default file's name in messages and origins.
const DEFAULT_NAME: &str = "default.toml";

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub enum Origin {
    /// A flag.
    CommandLine {
        /// The flag.
        flag: String,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// A profile.
    Profile {
        /// Its name.
        name: String,
        /// The file that defines it.
        file: String,
        /// The line, one-based.
        line: usize,
    },
    /// The project file or the user file.
    File {
        /// The file.
        file: String,
        /// The line, one-based.
        line: usize,
    },
    /// The embedded default file.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine { flag } => write!(formatter, "command line ({flag})"),
            Self::Environment { name } => write!(formatter, "environment ({name})"),
            Self::Profile { name, file, line } => write!(formatter, "profile {name} ({file}:{line})"),
            Self::File { file, line } => write!(formatter, "{file}:{line}"),
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// One row of `tenpass config show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The setting.
    pub key: &'static str,
    /// The value in force, written as in a settings file.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// What was set, and where. Build it, then [`Layers::resolve`].
#[derive(Debug, Clone, Default)]
pub struct Layers {
    flags: BTreeMap<&'static str, (String, Value)>,
    environment: BTreeMap<String, OsString>,
    project: Option<SettingsFile>,
    user: Option<SettingsFile>,
    working: PathBuf,
}

/// The merged settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The values in force.
    pub settings: Settings,
    entries: Vec<Entry>,
    /// Misspelt `TENPASS_…` variables: told, not refused, since other programs may own them.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// Every setting with value and origin, in the order of the default file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl Layers {
    /// Reads the files of a home. The environment is the one the home was found with.
    pub fn load(home: &Home, environment: BTreeMap<String, OsString>, working: &Path) -> Result<Self, ConfigError> {
        let named = environment.get(environment::CONFIG).is_some_and(|path| !path.is_empty());
        let user = SettingsFile::read(&home.user_file, named)?;
        let project = home.project_file().map_or(Ok(None), |file| SettingsFile::read(&file, false))?;
        if let Some(project) = &project {
            refuse_personal(project)?;
        }
        Ok(Self { flags: BTreeMap::new(), environment, project, user, working: working.to_owned() })
    }

    /// Adds a flag's word. `key` is a key of [`SETTINGS`].
    pub fn flag(mut self, key: &str, word: &str) -> Result<Self, ConfigError> {
        let setting = find(key).ok_or_else(|| ConfigError::UnknownKey {
            place: "command line".into(),
            key: key.to_owned(),
            suggestion: nearest(key, SETTINGS.iter().map(|setting| setting.key)),
        })?;
        let flag = setting.flag.unwrap_or(setting.key).to_owned();
        let value = self.read_word(setting, &flag, word)?;
        self.flags.insert(setting.key, (flag, value));
        Ok(self)
    }

    /// Merges the layers.
    pub fn resolve(&self) -> Result<Resolved, ConfigError> {
        let default = SettingsFile::parse(DEFAULT_NAME, None, DEFAULT_FILE)?;
        let files = [self.project.as_ref(), self.user.as_ref(), Some(&default)];
        let files: Vec<&SettingsFile> = files.into_iter().flatten().collect();
        let profile = self.chosen_profile(&files)?;
        let mut values = BTreeMap::new();
        let mut entries = Vec::with_capacity(SETTINGS.len());
        for setting in SETTINGS {
            let (value, origin) = self.value_of(setting, profile.as_deref(), &files)?;
            let value = self.expand(value);
            entries.push(Entry { key: setting.key, value: value.to_string(), origin });
            values.insert(setting.key, value);
        }
        let warnings = environment::undeclared(&self.environment)
            .into_iter()
            .map(|name| {
                let near = nearest(&name, environment::VARIABLES.iter().map(|variable| variable.name));
                let meant = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                format!("the environment variable {name} is not one of tenpass{meant}")
            })
            .collect();
        Ok(Resolved { settings: Settings::from_values(&values), entries, warnings })
    }

    /// `~/…` beneath the home folder.
    fn expand(&self, value: Value) -> Value {
        let home = ["HOME", "USERPROFILE"].iter().find_map(|name| self.environment.get(*name));
        let Some(home) = home.filter(|home| !home.is_empty()).map(PathBuf::from) else { return value };
        // A file's folder stands before what was written: the tilde is a component of its own.
        let expanded = |path: PathBuf| {
            let mut parts = path.components();
            match parts.position(|part| part.as_os_str() == "~") {
                Some(_) => home.join(parts.as_path()),
                None => path,
            }
        };
        match value {
            Value::Folder(Some(path)) => Value::Folder(Some(expanded(path))),
            Value::Folders(paths) => Value::Folders(paths.into_iter().map(expanded).collect()),
            other => other,
        }
    }

    /// The profile in force, which must be defined somewhere.
    fn chosen_profile(&self, files: &[&SettingsFile]) -> Result<Option<String>, ConfigError> {
        let Some(setting) = find("profile") else { return Ok(None) };
        let (value, origin) = self.value_of(setting, None, files)?;
        let Value::Text(name) = value else { return Ok(None) };
        if name.is_empty() || files.iter().any(|file| file.profiles.contains_key(&name)) {
            return Ok(Some(name).filter(|name| !name.is_empty()));
        }
        let known: BTreeSet<_> = files.iter().flat_map(|file| file.profiles.keys().cloned()).collect();
        Err(ConfigError::UnknownProfile { place: origin.to_string(), name, known: known.into_iter().collect() })
    }

    /// The highest layer that sets this.
    fn value_of(
        &self,
        setting: &Setting,
        profile: Option<&str>,
        files: &[&SettingsFile],
    ) -> Result<(Value, Origin), ConfigError> {
        if let Some((flag, value)) = self.flags.get(setting.key) {
            return Ok((value.clone(), Origin::CommandLine { flag: flag.clone() }));
        }
        if let Some((name, word)) = self.variable(setting)? {
            return Ok((self.read_word(setting, name, word)?, Origin::Environment { name: name.into() }));
        }
        let in_profile = profile.into_iter().flat_map(|name| {
            files.iter().filter_map(move |file| {
                let placed = file.profiles.get(name)?.get(setting.key)?;
                let origin = Origin::Profile { name: name.into(), file: file.name.clone(), line: placed.line };
                Some((placed.value.clone(), origin))
            })
        });
        let in_files = files.iter().filter_map(|file| Some(origin_of(file, file.values.get(setting.key)?)));
        in_profile.chain(in_files).next().ok_or_else(|| ConfigError::BadValue {
            place: DEFAULT_NAME.into(),
            key: setting.key.into(),
            expected: setting.kind.describe(),
            found: "nothing".into(),
        })
    }

    /// The variable of a setting, when it is set to something.
    fn variable(&self, setting: &Setting) -> Result<Option<(&'static str, &str)>, ConfigError> {
        let Some(name) = setting.environment else { return Ok(None) };
        let Some(word) = self.environment.get(name).filter(|word| !word.is_empty()) else { return Ok(None) };
        let word = word.to_str().ok_or_else(|| ConfigError::BadValue {
            place: format!("environment ({name})"),
            key: setting.key.into(),
            expected: setting.kind.describe(),
            found: "bytes that are not UTF-8".into(),
        })?;
        Ok(Some((name, word)))
    }

    fn read_word(&self, setting: &Setting, place: &str, word: &str) -> Result<Value, ConfigError> {
        match setting.kind.from_word(word) {
            Some(Value::Folder(Some(path))) => Ok(Value::Folder(Some(self.working.join(path)))),
            Some(Value::Folders(paths)) => {
                Ok(Value::Folders(paths.into_iter().map(|path| self.working.join(path)).collect()))
            }
            Some(value) => Ok(value),
            None => Err(ConfigError::BadValue {
                place: place.to_owned(),
                key: setting.key.into(),
                expected: setting.kind.describe(),
                found: format!("{:?}", word.chars().take(40).collect::<String>()),
            }),
        }
    }
}

/// A project file must not set what only the person may set.
fn refuse_personal(project: &SettingsFile) -> Result<(), ConfigError> {
    let everywhere = project.values.iter().chain(project.profiles.values().flatten());
    for (key, placed) in everywhere {
        if find(key).is_some_and(Setting::is_personal) {
            let place = format!("{}:{}", project.name, placed.line);
            return Err(ConfigError::Personal { place, key: (*key).to_owned() });
        }
    }
    Ok(())
}

fn origin_of(file: &SettingsFile, placed: &Placed) -> (Value, Origin) {
    let origin = if file.name == DEFAULT_NAME {
        Origin::Default
    } else {
        Origin::File { file: file.name.clone(), line: placed.line }
    };
    (placed.value.clone(), origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_sets_nothing_that_is_the_persons() {
        let parse = |text: &str| SettingsFile::parse("tenpass.toml", None, text).unwrap();
        let error = refuse_personal(&parse("\n[spend]\nusd_per_day = 50\n")).unwrap_err();
        assert_eq!(error.to_string(), "tenpass.toml:3: `spend.usd_per_day` cannot be set by a project");
        let hidden = "[profiles.x.providers]\nclaude = \"http://127.0.0.1:1\"\n";
        assert!(refuse_personal(&parse(hidden)).is_err());
        assert!(refuse_personal(&parse("[bench]\npasses = 3\n")).is_ok());
    }

    #[test]
    fn a_tilde_is_the_home_folder() {
        let user = "[files]\nfolder = \"~/notes\"\nread = [\"~/Documents\", \"/srv\"]\n";
        let resolved = layers("", user, &[("HOME", "/home/ada")]).resolve().unwrap();
        assert_eq!(resolved.settings.files_dir.as_deref(), Some(Path::new("/home/ada/notes")));
        assert_eq!(resolved.settings.read_dirs, [Path::new("/home/ada/Documents"), Path::new("/srv")]);
    }

    /// Layers from texts, without any file.
    fn layers(project: &str, user: &str, variables: &[(&str, &str)]) -> Layers {
        let parse = |name: &str, text: &str| SettingsFile::parse(name, None, text).unwrap();
        Layers {
            project: Some(parse("tenpass.toml", project)),
            user: Some(parse("config.toml", user)),
            environment: variables.iter().map(|(name, word)| ((*name).to_owned(), OsString::from(word))).collect(),
            working: PathBuf::from("/elsewhere"),
            ..Layers::default()
        }
    }

    fn origin(resolved: &Resolved, key: &str) -> String {
        resolved.entries().iter().find(|entry| entry.key == key).unwrap().origin.to_string()
    }

    #[test]
    fn the_defaults_are_complete() {
        let resolved = Layers::default().resolve().unwrap();
        assert_eq!(resolved.entries().len(), SETTINGS.len());
        assert!(resolved.entries().iter().all(|entry| entry.origin == Origin::Default));
        assert_eq!(resolved.settings.model, "embedded:smollm2-135m");
        assert_eq!(resolved.settings.passes, 10);
    }

    #[test]
    fn each_layer_wins_over_those_below() {
        let user = "[bench]\npasses = 2\n";
        let project = "[bench]\npasses = 3\n[profiles.night.bench]\npasses = 4\n";
        let steps: [(Layers, u32, &str); 6] = [
            (Layers::default(), 10, "default"),
            (layers("", user, &[]), 2, "config.toml:2"),
            (layers(project, user, &[]), 3, "tenpass.toml:2"),
            (layers(&format!("profile = \"night\"\n{project}"), user, &[]), 4, "profile night (tenpass.toml:5)"),
            (
                layers(&format!("profile = \"night\"\n{project}"), user, &[("TENPASS_PASSES", "5")]),
                5,
                "environment (TENPASS_PASSES)",
            ),
            (
                layers(project, user, &[("TENPASS_PASSES", "5")]).flag("bench.passes", "6").unwrap(),
                6,
                "command line (--passes)",
            ),
        ];
        for (layers, passes, from) in steps {
            let resolved = layers.resolve().unwrap();
            assert_eq!((resolved.settings.passes, origin(&resolved, "bench.passes").as_str()), (passes, from));
        }
    }

    #[test]
    fn a_projects_profile_wins_over_the_users_of_the_same_name() {
        let project = "[profiles.p.bench]\npasses = 7\n";
        let user = "[profiles.p.bench]\npasses = 8\njobs = 2\n";
        let resolved = layers(project, user, &[("TENPASS_PROFILE", "p")]).resolve().unwrap();
        assert_eq!((resolved.settings.passes, resolved.settings.jobs), (7, Some(2)));
    }

    #[test]
    fn an_unknown_profile_lists_those_there_are() {
        let error = layers("[profiles.night]\n", "", &[("TENPASS_PROFILE", "nigth")]).resolve().unwrap_err();
        assert_eq!(error.to_string(), "environment (TENPASS_PROFILE): no profile `nigth`");
        assert_eq!(error.hint(), "known profiles: bar, night, panel, quick, voice");
    }

    #[test]
    fn bad_words_name_their_flag_or_variable() {
        let error = layers("", "", &[("TENPASS_JOBS", "many")]).resolve().unwrap_err();
        assert!(error.to_string().starts_with("TENPASS_JOBS: `bench.jobs` must be"), "{error}");
        let error = Layers::default().flag("bench.passes", "0").unwrap_err();
        assert!(error.to_string().starts_with("--passes: `bench.passes` must be"), "{error}");
        assert!(Layers::default().flag("bench.nothing", "0").is_err());
    }

    #[test]
    fn folders_of_words_count_from_the_working_folder() {
        let resolved = layers("", "", &[]).flag("runs.dir", "out").unwrap().resolve().unwrap();
        assert_eq!(resolved.settings.runs_dir, Some(PathBuf::from("/elsewhere/out")));
    }

    #[test]
    fn a_misspelt_variable_is_told() {
        let resolved = layers("", "", &[("TENPASS_PASES", "3")]).resolve().unwrap();
        assert_eq!(
            resolved.warnings,
            ["the environment variable TENPASS_PASES is not one of tenpass; did you mean TENPASS_PASSES?"]
        );
    }

    #[test]
    fn files_are_read_from_a_home() {
        let home = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("config")).unwrap();
        std::fs::write(home.path().join("config/config.toml"), "model = \"ollama:a\"\n").unwrap();
        std::fs::write(project.path().join("tenpass.toml"), "[runs]\ndir = \"out\"\n").unwrap();
        let variables = BTreeMap::from([(environment::HOME.to_owned(), home.path().as_os_str().to_owned())]);
        let found = Home::locate(&variables, project.path()).unwrap();
        let resolved = Layers::load(&found, variables, project.path()).unwrap().resolve().unwrap();
        assert_eq!(resolved.settings.model, "ollama:a");
        assert_eq!(resolved.settings.runs_dir, Some(project.path().join("out")));
        assert_eq!(resolved.settings.runs(&found), project.path().join("out"));
    }

    #[test]
    fn a_named_user_file_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none.toml");
        let variables = BTreeMap::from([
            (environment::HOME.to_owned(), folder.path().as_os_str().to_owned()),
            (environment::CONFIG.to_owned(), missing.clone().into_os_string()),
        ]);
        let found = Home::locate(&variables, folder.path()).unwrap();
        let error = Layers::load(&found, variables, folder.path()).unwrap_err();
        assert!(matches!(error, ConfigError::Read { path, .. } if path == missing));
    }
}

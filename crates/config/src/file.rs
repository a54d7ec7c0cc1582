//! One settings file: TOML, flattened to dotted keys that know their line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::nearest;
use crate::setting::{Kind, SETTINGS, Value, find};
use crate::{ConfigError, home};

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) value: Value,
    /// One-based.
    pub(crate) line: usize,
}

/// A file's settings, and those of its profiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SettingsFile {
    /// The name used in messages.
    pub(crate) name: String,
    pub(crate) values: BTreeMap<&'static str, Placed>,
    pub(crate) profiles: BTreeMap<String, BTreeMap<&'static str, Placed>>,
}

impl SettingsFile {
    /// Reads a file. `required` says whether its absence is an error.
    pub(crate) fn read(path: &Path, required: bool) -> Result<Option<Self>, ConfigError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&shown(path), path.parent(), &text).map(Some),
            Err(error) if !required && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ConfigError::Read { path: path.to_owned(), reason: error.to_string() }),
        }
    }

    /// Reads the text of a file. Relative folders count from `folder`.
    pub(crate) fn parse(name: &str, folder: Option<&Path>, text: &str) -> Result<Self, ConfigError> {
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            place: format!("{name}:{}", error.span().map_or(1, |span| line_of(text, span.start))),
            message: error.message().to_owned(),
        })?;
        let mut reader = Reader { name, text, folder, file: Self { name: name.to_owned(), ..Self::default() } };
        for (key, value) in table.get_ref() {
            match value.get_ref() {
                DeValue::Table(profiles) if key.get_ref() == "profiles" => reader.profiles(profiles)?,
                _ => reader.value(None, "", key, value)?,
            }
        }
        Ok(reader.file)
    }
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    folder: Option<&'a Path>,
    file: SettingsFile,
}

impl Reader<'_> {
    fn line(&self, key: &Spanned<std::borrow::Cow<'_, str>>) -> usize {
        line_of(self.text, key.span().start)
    }

    fn profiles(&mut self, profiles: &DeTable<'_>) -> Result<(), ConfigError> {
        for (name, table) in profiles {
            let DeValue::Table(entries) = table.get_ref() else {
                return Err(ConfigError::BadValue {
                    place: format!("{}:{}", self.name, self.line(name)),
                    key: format!("profiles.{}", name.get_ref()),
                    expected: "a table of settings".into(),
                    found: table.get_ref().type_str().into(),
                });
            };
            let profile = name.get_ref().to_string();
            self.file.profiles.entry(profile.clone()).or_default();
            for (key, value) in entries {
                self.value(Some(&profile), "", key, value)?;
            }
        }
        Ok(())
    }

    /// Takes one key, and the keys inside when it is a table of settings.
    fn value(
        &mut self,
        profile: Option<&str>,
        tables: &str,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let line = self.line(key);
        let place = format!("{}:{line}", self.name);
        let path = if tables.is_empty() { key.get_ref().to_string() } else { format!("{tables}.{}", key.get_ref()) };
        let is_table = SETTINGS.iter().any(|setting| setting.key.starts_with(&format!("{path}.")));
        if let (true, DeValue::Table(inner)) = (is_table, value.get_ref()) {
            return inner.iter().try_for_each(|(key, value)| self.value(profile, &path, key, value));
        }
        let Some(setting) = find(&path).filter(|setting| profile.is_none() || setting.key != "profile") else {
            let known = SETTINGS.iter().map(|setting| setting.key);
            return Err(ConfigError::UnknownKey { place, suggestion: nearest(&path, known), key: path });
        };
        let read = read_value(setting.kind, value.get_ref()).ok_or_else(|| ConfigError::BadValue {
            place,
            key: path,
            expected: setting.kind.describe(),
            found: stranger(setting.kind, value.get_ref()).unwrap_or_else(|| found(value.get_ref())),
        })?;
        let placed = Placed { value: self.beside_file(read), line };
        let values = match profile {
            Some(name) => self.file.profiles.entry(name.to_owned()).or_default(),
            None => &mut self.file.values,
        };
        values.insert(setting.key, placed);
        Ok(())
    }

    fn beside_file(&self, value: Value) -> Value {
        match (value, self.folder) {
            (Value::Folder(Some(path)), Some(folder)) => Value::Folder(Some(folder.join(path))),
            (Value::Folders(paths), Some(folder)) => {
                Value::Folders(paths.into_iter().map(|path| folder.join(path)).collect())
            }
            (value, _) => value,
        }
    }
}

fn read_value(kind: Kind, value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) if !matches!(kind, Kind::Folders | Kind::Texts(_) | Kind::Amount) => kind.from_text(text),
        DeValue::Integer(number) => kind.from_integer(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) if kind == Kind::Amount => kind.from_text(number.as_str()),
        DeValue::Array(items) if kind == Kind::Folders => {
            let paths: Option<Vec<PathBuf>> = items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) if !text.is_empty() => Some(PathBuf::from(&**text)),
                    _ => None,
                })
                .collect();
            paths.map(Value::Folders)
        }
        DeValue::Array(items) if matches!(kind, Kind::Texts(_)) => {
            let texts = items.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            });
            kind.from_texts(texts.collect::<Option<_>>()?)
        }
        DeValue::Boolean(yes) => (kind == Kind::Flag).then_some(Value::Flag(*yes)),
        _ => None,
    }
}

/// A value as it is shown in a message: short, and of its own type.
/// Of a list of words the first that is none of them, with the one that was meant.
fn stranger(kind: Kind, value: &DeValue<'_>) -> Option<String> {
    let (Kind::Texts(words), DeValue::Array(items)) = (kind, value) else { return None };
    let word = items.iter().find_map(|item| match item.get_ref() {
        DeValue::String(text) if !words.contains(&&**text) => Some(text.to_string()),
        _ => None,
    })?;
    let meant = nearest(&word, words.iter().copied()).map(|near| format!(" (did you mean {near:?}?)"));
    Some(format!("{:?}{}", word.chars().take(40).collect::<String>(), meant.unwrap_or_default()))
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{:?}", text.chars().take(40).collect::<String>()),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Boolean(yes) => yes.to_string(),
        other => format!("of type {}", other.type_str()),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1)
}

/// The file's path as a message shows it: short for the project file, whole for others.
fn shown(path: &Path) -> String {
    let in_working_folder = std::env::current_dir().ok().is_some_and(|working| path.parent() == Some(&working));
    if in_working_folder && path.ends_with(home::PROJECT_FILE) {
        return home::PROJECT_FILE.to_owned();
    }
    PathBuf::from(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<SettingsFile, ConfigError> {
        SettingsFile::parse("tenpass.toml", Some(Path::new("/project")), text)
    }

    #[test]
    fn keys_know_their_lines() {
        let file = parse("model = \"ollama:x\"\n\n[bench]\njobs = 4\npasses = 0x10\n").unwrap();
        assert_eq!(file.values["model"], Placed { value: Value::Text("ollama:x".into()), line: 1 });
        assert_eq!(file.values["bench.passes"], Placed { value: Value::Integer(16), line: 5 });
    }

    #[test]
    fn a_typo_names_file_line_and_the_key_meant() {
        let error = parse("[bench]\npases = 3\n").unwrap_err();
        assert_eq!(error.to_string(), "tenpass.toml:2: unknown key `bench.pases`");
        assert_eq!(error.hint(), "did you mean `bench.passes`?");
        assert!(matches!(parse("[banch]\npasses = 3\n"), Err(ConfigError::UnknownKey { .. })));
        assert!(matches!(parse("[profiles.x]\nprofile = \"y\"\n"), Err(ConfigError::UnknownKey { .. })));
    }

    #[test]
    fn a_wrong_word_of_a_list_is_named_with_the_one_that_was_meant() {
        let error = parse("[nightly]\nbenches = [\"claims\", \"tols\"]\n").unwrap_err();
        let said = "`nightly.benches` must be a list of tools, rounds, claims, stt, wake, turn, barge, not \"tols\" (did you mean \"tools\"?)";
        assert_eq!(error.to_string(), format!("tenpass.toml:2: {said}"));
        let error = parse("[nightly]\nbenches = [\"xyz\"]\n").unwrap_err();
        assert!(error.to_string().ends_with("not \"xyz\""), "{error}");
    }

    #[test]
    fn a_wrong_value_names_what_is_taken() {
        let error = parse("[bench]\npasses = \"ten\"\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "tenpass.toml:2: `bench.passes` must be a whole number from 1 to 1000000, not \"ten\""
        );
        assert!(parse("[bench]\npasses = 0\n").is_err());
        assert!(parse("bench = 3\n").is_err());
        assert!(parse("offline = \"yes\"\n").is_err());
        assert!(parse("[profiles]\nquick = 3\n").is_err());
    }

    #[test]
    fn broken_toml_names_its_line() {
        let error = parse("model = \"a\"\nbench = [\n").unwrap_err();
        assert!(error.to_string().starts_with("tenpass.toml:"), "{error}");
        assert!(matches!(error, ConfigError::Syntax { .. }));
    }

    #[test]
    fn profiles_hold_settings_and_folders_count_from_the_file() {
        let file =
            parse("[runs]\ndir = \"results\"\n[profiles.night.bench]\njobs = \"auto\"\n[profiles.empty]\n").unwrap();
        assert_eq!(file.values["runs.dir"].value, Value::Folder(Some("/project/results".into())));
        assert_eq!(file.profiles["night"]["bench.jobs"].value, Value::Auto);
        assert!(file.profiles["empty"].is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z\\[\\]=\"\n.#0-9 ]{0,80}") {
            let _ = parse(&text);
        }
    }
}

//! Every setting, declared once: its key, what it takes, its flag and its environment variable.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number in a range.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A whole number in a range, or `auto`.
    Auto {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A length of time.
    Duration,
    /// Yes or no.
    Flag,
    /// The address of a server; a bare `host:port` gets `http://`.
    Address,
    /// A folder; a relative one counts from the file that names it. Empty means the default place.
    Folder,
    /// Several folders; relative ones count from the file that names them.
    Folders,
    /// A file; a relative one counts from the file that names it. Empty means the default place.
    File,
    /// Several texts; any of these words, where words are given.
    Texts(&'static [&'static str]),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A number that is not negative, with up to six decimals, such as an amount of money.
    Amount,
    /// The name of an environment variable, or empty.
    VariableName,
}

/// Millionths in one, for [`Value::Amount`].
pub const MICROS: u64 = 1_000_000;

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The key, with its tables: `bench.passes`.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// The flag that sets it, where a command has one.
    pub flag: Option<&'static str>,
    /// The environment variable that sets it.
    pub environment: Option<&'static str>,
}

/// The table, in the order of `default.toml`.
pub const SETTINGS: &[Setting] = &[
    Setting { key: "model", kind: Kind::Text, flag: Some("--model"), environment: Some("TENPASS_MODEL") },
    Setting { key: "profile", kind: Kind::Text, flag: Some("--profile"), environment: Some("TENPASS_PROFILE") },
    Setting { key: "offline", kind: Kind::Flag, flag: Some("--offline"), environment: Some("TENPASS_OFFLINE") },
    Setting {
        key: "bench.passes",
        kind: Kind::Integer { min: 1, max: 1_000_000 },
        flag: Some("--passes"),
        environment: Some("TENPASS_PASSES"),
    },
    Setting {
        key: "bench.jobs",
        kind: Kind::Auto { min: 1, max: 4096 },
        flag: Some("--jobs"),
        environment: Some("TENPASS_JOBS"),
    },
    Setting {
        key: "bench.timeout",
        kind: Kind::Duration,
        flag: Some("--timeout"),
        environment: Some("TENPASS_TIMEOUT"),
    },
    Setting { key: "ollama.address", kind: Kind::Address, flag: None, environment: Some("OLLAMA_HOST") },
    Setting {
        key: "openai.api_key_env",
        kind: Kind::VariableName,
        flag: None,
        environment: Some("TENPASS_API_KEY_ENV"),
    },
    Setting {
        key: "agent.confirm",
        kind: Kind::Choice(&["panel", "bar", "voice"]),
        flag: None,
        environment: Some("TENPASS_CONFIRM"),
    },
    Setting { key: "agent.folder", kind: Kind::Folder, flag: None, environment: Some("TENPASS_AGENT_DIR") },
    Setting { key: "agent.rounds", kind: Kind::Integer { min: 1, max: 64 }, flag: None, environment: None },
    Setting { key: "agent.turn_rounds", kind: Kind::Integer { min: 1, max: 128 }, flag: None, environment: None },
    Setting { key: "agent.turn_timeout", kind: Kind::Duration, flag: None, environment: None },
    Setting { key: "agent.context", kind: Kind::Integer { min: 512, max: 1_048_576 }, flag: None, environment: None },
    Setting { key: "agent.history", kind: Kind::Integer { min: 0, max: 200 }, flag: None, environment: None },
    Setting {
        key: "agent.structure",
        kind: Kind::Choice(&["auto", "native", "grammar", "text"]),
        flag: Some("--structure"),
        environment: None,
    },
    Setting {
        key: "agent.tools",
        kind: Kind::Choice(&["all", "router", "relevance"]),
        flag: Some("--tools"),
        environment: None,
    },
    Setting {
        key: "agent.escalate",
        kind: Kind::Choice(&["off", "claude", "chatgpt", "deepseek"]),
        flag: None,
        environment: None,
    },
    Setting { key: "files.folder", kind: Kind::Folder, flag: Some("--files"), environment: Some("TENPASS_FILES_DIR") },
    Setting { key: "files.read", kind: Kind::Folders, flag: None, environment: None },
    Setting { key: "files.cleanup", kind: Kind::Folders, flag: None, environment: None },
    Setting {
        key: "memory.retrieval",
        kind: Kind::Choice(&["recent", "relevant", "off"]),
        flag: Some("--memory"),
        environment: None,
    },
    Setting { key: "memory.file", kind: Kind::File, flag: None, environment: Some("TENPASS_MEMORY_FILE") },
    Setting { key: "memory.quiet_after", kind: Kind::Duration, flag: None, environment: None },
    Setting {
        key: "web.search",
        kind: Kind::Choice(&["local", "searxng", "brave", "tavily", "off"]),
        flag: None,
        environment: None,
    },
    Setting { key: "web.documents", kind: Kind::Folder, flag: None, environment: None },
    Setting { key: "web.searxng", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "web.brave", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "web.brave_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "web.tavily", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "web.tavily_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "providers.claude", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "providers.claude_model", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "providers.claude_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "providers.chatgpt", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "providers.chatgpt_model", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "providers.chatgpt_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "providers.deepseek", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "providers.deepseek_model", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "providers.deepseek_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "spend.usd_per_day", kind: Kind::Amount, flag: None, environment: None },
    Setting {
        key: "spend.web_credits_per_day",
        kind: Kind::Integer { min: 0, max: 1_000_000 },
        flag: None,
        environment: None,
    },
    Setting { key: "spend.fail_open", kind: Kind::Flag, flag: None, environment: None },
    Setting {
        key: "nightly.benches",
        kind: Kind::Texts(&["tools", "rounds", "claims", "stt", "wake", "turn", "barge"]),
        flag: None,
        environment: None,
    },
    Setting { key: "nightly.models", kind: Kind::Texts(&[]), flag: None, environment: None },
    Setting { key: "nightly.filter", kind: Kind::Texts(&[]), flag: None, environment: None },
    Setting { key: "nightly.delta", kind: Kind::Amount, flag: None, environment: None },
    Setting { key: "speech.stt", kind: Kind::Text, flag: Some("--engine"), environment: Some("TENPASS_STT") },
    Setting { key: "speech.wake_head", kind: Kind::File, flag: Some("--head"), environment: Some("TENPASS_WAKE_HEAD") },
    Setting { key: "speech.voice_en", kind: Kind::Text, flag: Some("--voice"), environment: None },
    Setting { key: "speech.voice_fr", kind: Kind::Text, flag: Some("--voice"), environment: None },
    Setting { key: "speech.elevenlabs", kind: Kind::Address, flag: None, environment: None },
    Setting { key: "speech.elevenlabs_key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "speech.elevenlabs_model", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "speech.elevenlabs_format", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "embeddings.model", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "embeddings.address", kind: Kind::Text, flag: None, environment: Some("TENPASS_EMBEDDINGS") },
    Setting { key: "embeddings.api", kind: Kind::Text, flag: None, environment: None },
    Setting { key: "embeddings.key_env", kind: Kind::VariableName, flag: None, environment: None },
    Setting { key: "runs.dir", kind: Kind::Folder, flag: Some("--runs-dir"), environment: Some("TENPASS_RUNS_DIR") },
];

/// Tables that only the person may set: what the agent may touch, spend, and whom it sends keys to. A
/// project file comes with a folder that someone else may have written, so it must not set them.
pub const PERSONAL: &[&str] = &["agent.", "files.", "memory.", "web.", "providers.", "spend.", "speech.elevenlabs"];

impl Setting {
    /// True when a project file must not set it.
    pub fn is_personal(&self) -> bool {
        PERSONAL.iter().any(|table| self.key.starts_with(table))
    }
}

/// The setting with this key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text, an address or a name.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// As the backend likes.
    Auto,
    /// A length of time.
    Duration(Duration),
    /// Yes or no.
    Flag(bool),
    /// A folder or a file; `None` is the default place.
    Folder(Option<PathBuf>),
    /// Several folders.
    Folders(Vec<PathBuf>),
    /// Several texts.
    Texts(Vec<String>),
    /// In millionths.
    Amount(u64),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(formatter, "{text:?}"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Auto => formatter.write_str("\"auto\""),
            Self::Duration(length) => write!(formatter, "{:?}", format!("{length:?}")),
            Self::Flag(yes) => write!(formatter, "{yes}"),
            Self::Folder(path) => match path {
                Some(path) => write!(formatter, "{:?}", path.display().to_string()),
                None => formatter.write_str("\"\""),
            },
            Self::Folders(paths) => {
                let shown: Vec<String> = paths.iter().map(|path| format!("{:?}", path.display().to_string())).collect();
                write!(formatter, "[{}]", shown.join(", "))
            }
            Self::Texts(texts) => {
                let shown: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
                write!(formatter, "[{}]", shown.join(", "))
            }
            Self::Amount(micros) => write!(formatter, "{}", *micros as f64 / MICROS as f64),
        }
    }
}

impl Kind {
    /// The kind in words, for messages and the reference.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Auto { min, max } => format!("a whole number from {min} to {max}, or \"auto\""),
            Self::Duration => "a length of time such as \"90s\", \"5m\" or a number of seconds".into(),
            Self::Flag => "true or false".into(),
            Self::Address => "an address such as \"http://127.0.0.1:11434\"".into(),
            Self::Folder => "a folder".into(),
            Self::Folders => "a list of folders such as [\"~/Documents\"]".into(),
            Self::File => "a file".into(),
            Self::Texts([]) => "a list of texts".into(),
            Self::Texts(words) => format!("a list of {}", words.join(", ")),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Amount => "a number that is not negative, such as 1.5".into(),
            Self::VariableName => "the name of an environment variable (never a key itself)".into(),
        }
    }

    /// Reads a value from a word: a flag's argument, or a variable.
    pub fn from_word(self, word: &str) -> Option<Value> {
        match self {
            Self::Integer { .. } => self.from_integer(word.trim().parse().ok()?),
            Self::Auto { .. } => match word.trim().parse() {
                Ok(number) => self.from_integer(number),
                Err(_) => self.from_text(word.trim()),
            },
            Self::Flag => match word.trim().to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(Value::Flag(true)),
                "false" | "0" | "no" | "off" | "" => Some(Value::Flag(false)),
                _ => None,
            },
            _ => self.from_text(word),
        }
    }

    /// Reads a value from a TOML string.
    pub fn from_text(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Integer { .. } | Self::Flag => None,
            Self::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
            Self::Folders => {
                Some(Value::Folders(std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty()).collect()))
            }
            Self::Texts(_) => {
                let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                self.from_texts(texts.map(str::to_owned).collect())
            }
            Self::Amount => amount(text.trim()).map(Value::Amount),
            Self::Auto { .. } => (text == "auto").then_some(Value::Auto),
            Self::Duration => parse_duration(text).map(Value::Duration),
            Self::Address => address(text).map(Value::Text),
            Self::Folder | Self::File => Some(Value::Folder((!text.is_empty()).then(|| PathBuf::from(text)))),
            Self::VariableName => {
                let first_fits = !text.starts_with(|first: char| first.is_ascii_digit());
                let fits =
                    text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
                (first_fits && fits).then(|| Value::Text(text.to_owned()))
            }
        }
    }

    /// Reads a value from a TOML list of strings.
    pub fn from_texts(self, texts: Vec<String>) -> Option<Value> {
        let Self::Texts(words) = self else { return None };
        let known = |text: &String| !text.is_empty() && (words.is_empty() || words.contains(&text.as_str()));
        texts.iter().all(known).then_some(Value::Texts(texts))
    }

    /// Reads a value from a TOML integer.
    pub fn from_integer(self, number: i64) -> Option<Value> {
        match self {
            Self::Integer { min, max } | Self::Auto { min, max } => {
                (min..=max).contains(&number).then_some(Value::Integer(number))
            }
            Self::Duration => {
                u64::try_from(number).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs).map(Value::Duration)
            }
            Self::Amount => u64::try_from(number).ok()?.checked_mul(MICROS).map(Value::Amount),
            _ => None,
        }
    }
}

/// Reads a decimal number as millionths.
fn amount(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let micros = (number * MICROS as f64).round();
    (number.is_finite() && (0.0..=9.0e15).contains(&micros)).then_some(micros as u64)
}

/// Reads `1500ms`, `90s`, `5m`, `2h`, or plain seconds. Zero is no length of time.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let scale = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * scale;
    Duration::try_from_secs_f64(seconds).ok().filter(|length| !length.is_zero())
}

/// Completes `host:port` to an address, as Ollama's own tools do.
fn address(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let rest_fits = !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace);
    if !matches!(scheme, "http" | "https") || !rest_fits {
        return None;
    }
    // Ollama's server listens on "0.0.0.0"; a client must name a host that can be reached.
    let rest = rest.strip_prefix("0.0.0.0").map_or_else(|| rest.to_owned(), |tail| format!("127.0.0.1{tail}"));
    let host_end = rest.find('/').unwrap_or(rest.len());
    let host = &rest[..host_end];
    if host.is_empty() || host.ends_with(':') {
        return None;
    }
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port || text.contains("://") {
        return Some(format!("{scheme}://{rest}"));
    }
    Some(format!("{scheme}://{host}:11434{}", &rest[host_end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("90s"), Some(Duration::from_secs(90)));
        assert_eq!(parse_duration("1500ms"), Some(Duration::from_millis(1500)));
        assert_eq!(parse_duration("1.5m"), Some(Duration::from_secs(90)));
        assert_eq!(parse_duration("2h"), Some(Duration::from_hours(2)));
        assert_eq!(parse_duration("45"), Some(Duration::from_secs(45)));
        for bad in ["", "s", "0", "-3s", "5 parsecs", "1e400", "..", "999999999999999999999h"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_ollama_host_is_completed() {
        assert_eq!(address("127.0.0.1:11434"), Some("http://127.0.0.1:11434".into()));
        assert_eq!(address("0.0.0.0"), Some("http://127.0.0.1:11434".into()));
        assert_eq!(address("box"), Some("http://box:11434".into()));
        assert_eq!(address("https://box/ollama/"), Some("https://box/ollama".into()));
        for bad in ["", "ftp://box", "http://", "two words"] {
            assert_eq!(address(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_key_is_not_a_variable_name() {
        assert!(Kind::VariableName.from_text("OPENAI_API_KEY").is_some());
        assert!(Kind::VariableName.from_text("").is_some());
        assert!(Kind::VariableName.from_text("sk-abc123").is_none());
        assert!(Kind::VariableName.from_text("9KEY").is_none());
    }

    proptest! {
        #[test]
        fn no_word_panics(word in ".*") {
            for setting in SETTINGS {
                let _ = setting.kind.from_word(&word);
            }
        }

        #[test]
        fn whole_seconds_read_back(seconds in 1_u64..10_000_000) {
            prop_assert_eq!(parse_duration(&format!("{seconds}s")), Some(Duration::from_secs(seconds)));
        }
    }
}

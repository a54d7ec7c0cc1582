//! Every environment variable that tenpass reads, declared once.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// One environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// What holds without it.
    pub default: &'static str,
}

/// The home of models, cache and settings.
pub const HOME: &str = "TENPASS_HOME";
/// The user file, instead of `config.toml` in the configuration folder.
pub const CONFIG: &str = "TENPASS_CONFIG";

/// The table. Settings that can be set here name their variable in [`crate::setting::SETTINGS`].
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: HOME,
        meaning: "folder that holds models, cache, settings and, outside a project, runs",
        default: "the platform's folders for data, cache and configuration",
    },
    Variable { name: CONFIG, meaning: "the user file", default: "`config.toml` in the configuration folder" },
    Variable { name: "TENPASS_MODEL", meaning: "the default model SPEC", default: "`embedded:smollm2-135m`" },
    Variable { name: "TENPASS_PROFILE", meaning: "the profile in force", default: "none" },
    Variable { name: "TENPASS_OFFLINE", meaning: "`true` touches no network", default: "`false`" },
    Variable { name: "TENPASS_PASSES", meaning: "passes of each case", default: "`10`" },
    Variable { name: "TENPASS_JOBS", meaning: "requests at the same time, or `auto`", default: "`auto`" },
    Variable { name: "TENPASS_TIMEOUT", meaning: "longest time for one answer", default: "`120s`" },
    Variable {
        name: "TENPASS_RUNS_DIR",
        meaning: "where results are kept",
        default: "`runs` in the project folder, or in the data folder outside of one",
    },
    Variable {
        name: "TENPASS_STT",
        meaning: "what writes down speech: `ENGINE:MODEL`, with `+q8`, `+q5` or `+cut`",
        default: "`whisper.cpp:whisper-base`",
    },
    Variable {
        name: "TENPASS_EMBEDDINGS",
        meaning: "the address of the second computer that embeds sentences; not this one",
        default: "none: sentences are embedded here",
    },
    Variable {
        name: "TENPASS_CONFIRM",
        meaning: "how the agent asks for confirmations: `panel`, `bar` or `voice`",
        default: "`panel`",
    },
    Variable {
        name: "TENPASS_AGENT_DIR",
        meaning: "folder of the agent's journals, conversations and memory",
        default: "`agent` in the data folder",
    },
    Variable {
        name: "TENPASS_FILES_DIR",
        meaning: "the folder the agent may write to",
        default: "`files` in the agent's folder",
    },
    Variable {
        name: "TENPASS_MEMORY_FILE",
        meaning: "the agent's memory, a Markdown file",
        default: "`memory.md` in the agent's folder",
    },
    Variable { name: "TENPASS_WAKE_HEAD", meaning: "the wake word's head, an .onnx file", default: "none" },
    Variable {
        name: "TENPASS_API_KEY_ENV",
        meaning: "NAME of the variable that holds the key of an OpenAI-compatible server",
        default: "`OPENAI_API_KEY`",
    },
    Variable {
        name: "OPENAI_API_KEY",
        meaning: "the key itself, sent to OpenAI-compatible servers and to the provider chatgpt; never stored or printed",
        default: "no key is sent",
    },
    Variable { name: "ANTHROPIC_API_KEY", meaning: "key of the provider claude", default: "claude is not set up" },
    Variable { name: "DEEPSEEK_API_KEY", meaning: "key of the provider deepseek", default: "deepseek is not set up" },
    Variable { name: "BRAVE_API_KEY", meaning: "key of Brave search", default: "Brave is not set up" },
    Variable { name: "TAVILY_API_KEY", meaning: "key of Tavily search", default: "Tavily is not set up" },
    Variable {
        name: "OLLAMA_HOST",
        meaning: "address of the Ollama server (Ollama's own variable: `host:port` is enough)",
        default: "`http://127.0.0.1:11434`",
    },
    Variable {
        name: "HF_HOME",
        meaning: "Hugging Face's cache, asked before its network (hf-hub's own variable)",
        default: "`~/.cache/huggingface`",
    },
    Variable {
        name: "HF_ENDPOINT",
        meaning: "a mirror of the Hugging Face hub (hf-hub's own variable)",
        default: "the hub itself",
    },
    Variable {
        name: "HF_HUB_OFFLINE",
        meaning: "`1` skips the Hugging Face network (its own variable)",
        default: "not set",
    },
    Variable { name: "NO_COLOR", meaning: "set and not empty: no colours", default: "colours on a terminal" },
];

/// Names that start like ours and are not declared: nearly always typos.
pub fn undeclared(environment: &BTreeMap<String, OsString>) -> Vec<String> {
    environment
        .keys()
        .filter(|name| name.starts_with("TENPASS_") && !VARIABLES.iter().any(|variable| variable.name == name.as_str()))
        .cloned()
        .collect()
}

/// The environment of this process, as [`crate::Layers::environment`] takes it. Names that are not
/// UTF-8 are none of ours.
pub fn of_process() -> BTreeMap<String, OsString> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_declared_once() {
        let mut names: Vec<_> = VARIABLES.iter().map(|variable| variable.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_setting_names_a_declared_variable() {
        for setting in crate::setting::SETTINGS {
            if let Some(name) = setting.environment {
                assert!(VARIABLES.iter().any(|variable| variable.name == name), "{name}");
            }
        }
    }

    #[test]
    fn a_misspelt_name_is_found() {
        let environment = BTreeMap::from([
            ("TENPASS_PASES".to_owned(), OsString::from("3")),
            ("TENPASS_PASSES".to_owned(), OsString::from("3")),
            ("PATH".to_owned(), OsString::from("/bin")),
        ]);
        assert_eq!(undeclared(&environment), ["TENPASS_PASES"]);
    }
}

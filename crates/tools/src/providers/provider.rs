//! The closed list of providers (K70). One is added when a use demands it, never in advance.

use std::fmt;

/// Whom work can be handed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// Anthropic: the default and the safety net.
    Claude,
    /// OpenAI or a compatible service: second opinions.
    ChatGpt,
    /// DeepSeek: code.
    DeepSeek,
    /// The long-form writer on this machine.
    Local,
}

impl Provider {
    /// All of them, in the order of the tool's enum.
    pub const ALL: [Self; 4] = [Self::Claude, Self::ChatGpt, Self::DeepSeek, Self::Local];

    /// The name in the tool's enum, in records and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ChatGpt => "chatgpt",
            Self::DeepSeek => "deepseek",
            Self::Local => "local",
        }
    }

    /// The provider of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }

    /// The environment variable that holds its key; the local writer has none.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("ANTHROPIC_API_KEY"),
            Self::ChatGpt => Some("OPENAI_API_KEY"),
            Self::DeepSeek => Some("DEEPSEEK_API_KEY"),
            Self::Local => None,
        }
    }

    /// What it is for, as the model is told.
    pub(super) fn purpose(self) -> &'static str {
        match self {
            Self::Claude => "default, long writing",
            Self::ChatGpt => "second opinions",
            Self::DeepSeek => "code",
            Self::Local => "long writing that must stay on this computer",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

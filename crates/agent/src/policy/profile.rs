//! Front ends differ only in which confirmations they skip (K41).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::StrategyError;

/// The front end that a turn came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// A conversation with its own confirmations: nothing is skipped.
    #[default]
    Panel,
    /// The quick-command bar: the six reversible actions run without a bubble.
    Bar,
    /// Speech: `control_media` runs, everything else is confirmed aloud.
    Voice,
}

/// The six reversible actions.
const BAR: &[&str] = &["open_url", "open_path", "launch_app", "control_media", "open_site_search", "play_top_result"];
const MEDIA: &[&str] = &["control_media"];

impl Profile {
    /// Every value, in the order of the tables.
    pub const ALL: &'static [Self] = &[Self::Panel, Self::Bar, Self::Voice];

    /// The stored and typed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Bar => "bar",
            Self::Voice => "voice",
        }
    }

    /// The tools that run without a confirmation although their tier is `confirm`. Once something
    /// from outside was read in the turn only `control_media` is left.
    pub fn overrides(self, tainted: bool) -> &'static [&'static str] {
        match (self, tainted) {
            (Self::Panel, _) => &[],
            (Self::Bar, false) => BAR,
            (Self::Bar, true) | (Self::Voice, _) => MEDIA,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|profile| profile.as_str() == text)
            .ok_or_else(|| StrategyError::unknown("profile", text, Self::ALL.iter().map(|profile| profile.as_str())))
    }
}

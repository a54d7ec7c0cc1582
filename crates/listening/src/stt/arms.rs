//! What is compared: an engine, a prompt, a way of decoding.

use std::fmt;

use serde::{Deserialize, Serialize};
use tenpass_stt::Decoding;

/// A way of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// One beam, temperature 0, no second try: the same answer every time.
    Greedy,
    /// The same with tries at higher temperatures after an improbable answer. Whisper drops the prompt there.
    Fallback,
    /// Five beams.
    Beam,
    /// Greedy with the encoder's context cut to the sound.
    Cut,
    /// Greedy without the voice activity gate: what silence becomes when nothing stops it.
    Ungated,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Greedy, Self::Fallback, Self::Beam, Self::Cut, Self::Ungated];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::Fallback => "fallback",
            Self::Beam => "beam",
            Self::Cut => "cut",
            Self::Ungated => "ungated",
        }
    }

    /// From its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.name() == name)
    }

    /// Whether a second pass can differ from the first.
    pub fn samples(self) -> bool {
        self == Self::Fallback
    }

    /// The decoding; language and prompt are the clip's.
    pub fn decoding(self, language: &str, prompt: &str, threads: usize) -> Decoding {
        Decoding {
            language: Some(language.to_owned()),
            prompt: (!prompt.is_empty()).then(|| prompt.to_owned()),
            beams: if self == Self::Beam { 5 } else { 1 },
            fallback: self == Self::Fallback,
            cut_context: self == Self::Cut,
            gate: self != Self::Ungated,
            threads,
            enough: None,
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One of the things compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arm {
    /// The engine's SPEC.
    pub engine: String,
    /// The prompt's id.
    pub prompt: String,
    /// The decoding.
    pub style: Style,
}

impl Arm {
    /// Its name in a run.
    pub fn id(&self) -> String {
        format!("{} · {} · {}", self.engine, self.prompt, self.style)
    }
}

/// Every engine with every prompt and style; the first of each is what the others are compared with.
pub fn arms(engines: &[String], prompts: &[String], styles: &[Style]) -> Vec<Arm> {
    let mut arms = Vec::new();
    for engine in engines {
        for style in styles {
            for prompt in prompts {
                arms.push(Arm { engine: engine.clone(), prompt: prompt.clone(), style: *style });
            }
        }
    }
    arms
}

/// The arm that an arm is compared with: the same without a prompt; where it has none, the first engine and style.
/// `None` for the very first.
pub(crate) fn reference(all: &[Arm], arm: &Arm) -> Option<usize> {
    let first = all.first()?;
    let like = |engine: &str, style: Style| {
        all.iter().position(|other| other.engine == engine && other.style == style && other.prompt == first.prompt)
    };
    let found = if arm.prompt != first.prompt {
        like(&arm.engine, arm.style)
    } else if arm.style != first.style {
        like(&arm.engine, first.style)
    } else {
        like(&first.engine, first.style)
    };
    found.filter(|index| all[*index] != *arm)
}

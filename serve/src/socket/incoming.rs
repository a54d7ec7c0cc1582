//! What a client may say on the socket.

use serde::Deserialize;
use tenpass_agent::session::ThinkSetting;
use tenpass_model::ThinkLevel;

/// Largest text frame.
pub(crate) const LARGEST: usize = 256 * 1024;
/// Longest id of a client's own making.
const LONGEST_ID: usize = 128;

/// A frame that is no message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// Why.
    pub reason: String,
}

/// How much to think about one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// The model's own default.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl From<Think> for ThinkSetting {
    fn from(think: Think) -> Self {
        match think {
            Think::Off => Self::Off,
            Think::Low => Self::Level(ThinkLevel::Low),
            Think::Medium => Self::Level(ThinkLevel::Medium),
            Think::High => Self::Level(ThinkLevel::High),
        }
    }
}

/// What the voice turn is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VoiceMessage {
    /// The microphone: `push`, `hands_free` or `off`.
    Listen {
        /// The mode.
        mode: String,
    },
    /// Push to talk: the key was let go.
    Release,
    /// What has been heard of an utterance.
    Played {
        /// The utterance.
        utterance: u32,
        /// Samples that were played.
        samples: u64,
    },
    /// Stop speaking.
    Hush,
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Follow a thread; `None` is the latest.
    Open {
        /// Its id.
        thread: Option<String>,
    },
    /// Something said.
    Say {
        /// The thread; `None` is the one that is followed.
        thread: Option<String>,
        /// The words.
        text: String,
        /// How much to think.
        think: Option<Think>,
        /// The client's own name for it.
        id: String,
    },
    /// End the running turn.
    Stop {
        /// The thread.
        thread: Option<String>,
    },
    /// The answer to a confirmation.
    Confirm {
        /// The confirmation.
        id: String,
        /// As it was shown.
        digest: String,
        /// Yes or no.
        approve: bool,
    },
    /// Take the last exchange back and ask again.
    Retry {
        /// The thread.
        thread: Option<String>,
    },
    /// For the voice turn.
    Voice(VoiceMessage),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire {
    Open { thread: Option<String> },
    Say { thread: Option<String>, text: String, think: Option<Think>, id: String },
    Stop { thread: Option<String> },
    Confirm { id: String, digest: String, approve: bool },
    Retry { thread: Option<String> },
    Listen { mode: String },
    Release,
    Played { utterance: u32, samples: u64 },
    Hush,
}

impl Incoming {
    /// Reads a text frame.
    pub fn parse(frame: &str) -> Result<Self, Malformed> {
        let malformed = |reason: String| Malformed { reason };
        if frame.len() > LARGEST {
            return Err(malformed(format!("a frame of {} bytes; the largest is {LARGEST}", frame.len())));
        }
        let wire: Wire = serde_json::from_str(frame).map_err(|error| malformed(format!("not a message: {error}")))?;
        let message = match wire {
            Wire::Open { thread } => Self::Open { thread },
            Wire::Say { thread, text, think, id } => Self::Say { thread, text, think, id },
            Wire::Stop { thread } => Self::Stop { thread },
            Wire::Confirm { id, digest, approve } => Self::Confirm { id, digest, approve },
            Wire::Retry { thread } => Self::Retry { thread },
            Wire::Listen { mode } if matches!(mode.as_str(), "push" | "hands_free" | "off") => {
                Self::Voice(VoiceMessage::Listen { mode })
            }
            Wire::Listen { .. } => return Err(malformed("the mode is push, hands_free or off".to_owned())),
            Wire::Release => Self::Voice(VoiceMessage::Release),
            Wire::Played { utterance, samples } => Self::Voice(VoiceMessage::Played { utterance, samples }),
            Wire::Hush => Self::Voice(VoiceMessage::Hush),
        };
        match message.ids().into_iter().find(|id| id.is_empty() || id.len() > LONGEST_ID) {
            Some(id) => Err(malformed(format!("an id of {} bytes; 1 to {LONGEST_ID} are allowed", id.len()))),
            None => Ok(message),
        }
    }

    fn ids(&self) -> Vec<&str> {
        match self {
            Self::Open { thread } | Self::Stop { thread } | Self::Retry { thread } => {
                thread.iter().map(String::as_str).collect()
            }
            Self::Say { thread, id, .. } => thread.iter().map(String::as_str).chain([id.as_str()]).collect(),
            Self::Confirm { id, digest, .. } => vec![id, digest],
            Self::Voice(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_messages_of_the_protocol() {
        let say = Incoming::parse(r#"{"type":"say","thread":"t","text":"hi","think":"high","id":"c1"}"#).unwrap();
        assert_eq!(
            say,
            Incoming::Say { thread: Some("t".into()), text: "hi".into(), think: Some(Think::High), id: "c1".into() }
        );
        assert_eq!(Incoming::parse(r#"{"type":"open","thread":null}"#).unwrap(), Incoming::Open { thread: None });
        assert!(Incoming::parse(r#"{"type":"confirm","id":"1","digest":"d","approve":true}"#).is_ok());
        assert!(Incoming::parse(r#"{"type":"listen","mode":"push"}"#).is_ok());
    }

    #[test]
    fn what_is_none_is_refused_with_a_reason() {
        for frame in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"type":"say"}"#,
            r#"{"type":"say","text":"x","id":""}"#,
            r#"{"type":"say","text":"x","id":"a","think":"true"}"#,
            r#"{"type":"confirm","id":"1","digest":"d","approve":"yes"}"#,
            r#"{"type":"listen","mode":"always"}"#,
            r#"{"type":"played","utterance":-1,"samples":0}"#,
            r#"{"type":"reboot"}"#,
        ] {
            assert!(!Incoming::parse(frame).unwrap_err().reason.is_empty(), "{frame}");
        }
        assert!(Incoming::parse(&"[".repeat(100_000)).is_err());
        assert!(Incoming::parse(&format!(r#"{{"type":"stop","thread":"{}"}}"#, "x".repeat(129))).is_err());
    }

    const VALUES: &[&str] = &["null", "true", "-1", "1e308", "\"\\u0000\"", "[[]]", "\"x\"", "{}"];

    proptest! {
        #[test]
        fn no_frame_is_the_end_of_the_parser(frame in ".{0,200}") {
            let _ = Incoming::parse(&frame);
        }

        #[test]
        fn no_json_is_either(
            kind in "open|say|stop|confirm|retry|listen|release|played|hush|x",
            key in "thread|text|id|digest|approve|mode|samples",
            value in prop::sample::select(VALUES),
        ) {
            let _ = Incoming::parse(&format!(r#"{{"type":"{kind}","{key}":{value}}}"#));
        }
    }
}

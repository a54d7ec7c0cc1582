//! The voice turn as a state machine without I/O.
//!
//! [`VoiceTurn::input`] takes what happened and when; [`VoiceTurn::next`] says what has to be done. Audio, models,
//! clocks and devices stay outside, so that every rule can be stepped in a test:
//!
//! wake word → listening → transcript (speculative at 150 ms of silence) → closed command or the loop → first
//! clause → its sound → playback, and from there back to silence or to listening.
//!
//! Who may interrupt: any voice while the agent awaits an answer, only the wake word while it reads. An interruption
//! only holds the reply; it is cut, to what was heard, when a transcript says that someone spoke. Without
//! one within two seconds of the last voiced frame the reply goes on where it stopped.

mod ear;
mod machine;
mod reply;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::barge::BargeSignal;
use crate::endpoint::{EndReason, EndpointOptions};
use crate::parts::Milestones;

pub use machine::VoiceTurn;

/// What the agent does with its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Manner {
    /// It tells something: only the wake word interrupts.
    #[default]
    Reading,
    /// It awaits an answer: any voice interrupts, and the microphone stays open after it.
    Asking,
}

/// Where a text goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Route {
    /// A closed command: no model.
    Command {
        /// Its id.
        id: String,
        /// What is said back, if anything.
        reply: Option<String>,
    },
    /// The loop of the agent.
    Loop,
}

/// Numbers of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnOptions {
    /// When an utterance is over.
    pub endpoint: EndpointOptions,
    /// So much sound before the end of the wake word is transcribed too.
    pub before_word_end_us: u64,
    /// So much sound before the begin of a voice that interrupts.
    pub pre_roll_us: u64,
    /// A reply that was stopped goes on after so long without a transcript.
    pub recover_us: u64,
    /// How long an answer to a question is awaited.
    pub answer_us: u64,
    /// Voice that holds a reply which has not begun to sound.
    pub hold_after_us: u64,
}

impl Default for TurnOptions {
    fn default() -> Self {
        Self {
            endpoint: EndpointOptions::default(),
            before_word_end_us: 100_000,
            pre_roll_us: 500_000,
            recover_us: 2_000_000,
            answer_us: 12_000_000,
            hold_after_us: 240_000,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The wake word was heard.
    Wake {
        /// Where it ends, in microseconds.
        word_end_us: u64,
    },
    /// A frame of the microphone, ending now.
    Frame {
        /// Where it begins.
        from_us: u64,
        /// The probability of speech in it.
        probability: f32,
    },
    /// What the barge-in detector says.
    Barge(BargeSignal),
    /// A transcription is done; empty when it failed.
    Transcript {
        /// Which.
        job: u32,
        /// What was heard.
        text: String,
    },
    /// A text was routed.
    Routed {
        /// The transcription it came from.
        job: u32,
        /// Where it goes.
        route: Route,
    },
    /// A piece of the reply, of any length.
    Piece {
        /// Which reply.
        reply: u32,
        /// The text.
        text: String,
    },
    /// The reply is complete.
    ReplyEnded {
        /// Which reply.
        reply: u32,
        /// What it does.
        manner: Manner,
    },
    /// A clause has its sound; `samples` is 0 when it could not be spoken.
    Synthesised {
        /// Which reply.
        reply: u32,
        /// Which clause of it.
        chunk: u32,
        /// Samples of the device.
        samples: u64,
        /// Silent ones at the head.
        lead: u64,
        /// Silent ones at the end.
        tail: u64,
    },
    /// The first sample that is not silent was played.
    Sounded {
        /// Which reply.
        reply: u32,
    },
    /// Playback was stopped as asked.
    Stopped {
        /// Which reply.
        reply: u32,
        /// Samples of it that were played.
        played: u64,
    },
    /// Everything that was given to the device was played.
    Drained {
        /// Which reply.
        reply: u32,
    },
}

/// What has to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Transcribe this stretch of the microphone; answered by [`Input::Transcript`].
    Transcribe {
        /// Which.
        job: u32,
        /// Begin in microseconds.
        from_us: u64,
        /// End in microseconds.
        to_us: u64,
    },
    /// The answer of this transcription is not wanted any more.
    Abandon {
        /// Which.
        job: u32,
    },
    /// Say where this text goes; answered by [`Input::Routed`].
    Route {
        /// The transcription it came from.
        job: u32,
        /// The text.
        text: String,
    },
    /// Carry out a closed command.
    Perform {
        /// Its id.
        id: String,
        /// What was said.
        text: String,
    },
    /// Ask the agent; answered by [`Input::Piece`] and [`Input::ReplyEnded`].
    Respond {
        /// Which reply.
        reply: u32,
        /// What was said.
        text: String,
    },
    /// Forget a reply: its model and its voice may stop.
    Cancel {
        /// Which.
        reply: u32,
    },
    /// Speak a clause; answered by [`Input::Synthesised`].
    Speak {
        /// Which reply.
        reply: u32,
        /// Which clause of it.
        chunk: u32,
        /// The text.
        text: String,
    },
    /// Give a clause's sound to the device, after what it has; answered by [`Input::Sounded`] and, at the end, by
    /// [`Input::Drained`].
    Play {
        /// Which reply.
        reply: u32,
        /// Which clause of it.
        chunk: u32,
    },
    /// Play softly.
    Duck,
    /// Play as before.
    Unduck,
    /// Stop at once; answered by [`Input::Stopped`].
    Stop {
        /// Which reply.
        reply: u32,
    },
    /// Go on from the cut point.
    Resume {
        /// Which reply.
        reply: u32,
        /// Samples of it that were played.
        from: u64,
    },
    /// The stored reply is only what was heard of it.
    Cut {
        /// Which reply.
        reply: u32,
        /// What was heard.
        heard: String,
    },
    /// A turn is over.
    Finished(Finished),
}

/// How a turn went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finished {
    /// What came of it.
    pub outcome: Outcome,
    /// What was heard of the user.
    pub text: String,
    /// The command, if it was one.
    pub command: Option<String>,
    /// What was spoken, as far as it was heard.
    pub reply: String,
    /// When what happened; `speech_end_us` is where the detector saw the last voice.
    pub milestones: Milestones,
}

/// What came of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Answered to its end.
    Answered,
    /// A command that says nothing back.
    Silent,
    /// Someone interrupted.
    Interrupted,
    /// Nobody spoke, or nothing that can be understood.
    Nothing(EndReason),
}

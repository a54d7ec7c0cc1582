//! Jobs for the engines and their answers.

use tenpass_audio::Audio;

use crate::turn::{Manner, Route};

/// A job.
#[derive(Debug, Clone)]
pub enum Job {
    /// Write down what is said.
    Transcribe {
        /// Which.
        job: u32,
        /// The sound.
        audio: Audio,
    },
    /// Say where it goes.
    Route {
        /// Which.
        job: u32,
        /// The text.
        text: String,
    },
    /// Answer it.
    Respond {
        /// Which reply.
        reply: u32,
        /// The text.
        text: String,
    },
    /// Speak it.
    Speak {
        /// Which reply.
        reply: u32,
        /// Which clause.
        chunk: u32,
        /// The text.
        text: String,
    },
}

/// An answer to a job.
#[derive(Debug, Clone)]
pub enum Done {
    /// A transcript.
    Transcript {
        /// Which.
        job: u32,
        /// The text.
        text: String,
    },
    /// A route.
    Routed {
        /// Which.
        job: u32,
        /// Where.
        route: Route,
    },
    /// A piece of a reply.
    Piece {
        /// Which.
        reply: u32,
        /// The text.
        text: String,
    },
    /// A reply is complete.
    ReplyEnded {
        /// Which.
        reply: u32,
        /// What it does.
        manner: Manner,
    },
    /// A clause has its sound.
    Spoken {
        /// Which reply.
        reply: u32,
        /// Which clause.
        chunk: u32,
        /// The sound.
        audio: Audio,
    },
}

/// Carries jobs out. Jobs of one engine follow one another; engines work at the same time.
pub trait Work {
    /// Begins a job at this time, or queues it behind those of its engine.
    fn begin(&mut self, at_us: u64, job: Job);
    /// Nobody wants this reply any more: what is queued for it may be dropped.
    fn cancel(&mut self, reply: u32);
    /// Nobody wants this transcription any more: where it waits behind another it is dropped; one that runs, runs on.
    fn abandon(&mut self, at_us: u64, job: u32);
    /// The next answer that is there by `until_us`, with its time; `None` once that time has come.
    fn next(&mut self, until_us: u64) -> Option<(u64, Done)>;
    /// What failed so far, in sentences.
    fn faults(&mut self) -> Vec<String>;
}

//! What a detector tells.

use crate::embedding::Embedding;

/// Where a stream stands after 80 ms more.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Counted from 0 at the stream's start.
    pub index: u64,
    /// Its end, in seconds since the stream's start.
    pub time_s: f64,
    /// By head, in their order; `None` while the window is cold.
    pub scores: &'a [Option<f32>],
    /// The largest speech probability within the window of the voice gate, when there is one.
    pub speech: Option<f32>,
    /// What was heard last.
    pub embedding: &'a Embedding,
}

/// A wake.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which head.
    pub head: usize,
    /// Its name.
    pub name: String,
    /// End of the frame that fired, in seconds since the stream's start.
    pub time_s: f64,
    /// Where the word is taken to end, in seconds since the stream's start.
    pub word_end_s: f64,
    /// The highest score so far; when the event is over, the highest of all.
    pub peak: f32,
    /// End of the frame with that score.
    pub peak_time_s: f64,
    /// The highest `threshold_on` at which it would have fired: what a sweep over thresholds compares.
    pub strength: f32,
    /// The largest speech probability when it fired, with a voice gate.
    pub speech: Option<f32>,
    /// The verifier's probability when it fired, with a verifier.
    pub verified: Option<f32>,
    /// The 16 embeddings up to the frame with the highest score.
    pub window: Vec<Embedding>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Output<'a> {
    /// 80 ms have passed.
    Frame(Frame<'a>),
    /// An event began.
    Fired(&'a Event),
    /// It is over: its peak is known.
    Ended(&'a Event),
    /// It would have fired, and the voice gate or the verifier said no.
    Rejected(&'a Event),
}

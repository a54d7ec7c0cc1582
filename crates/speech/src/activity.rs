//! Where probabilities of speech come from.

/// A voice activity detector: a probability of speech for each frame of 16 kHz sound.
pub trait VoiceActivity: Send {
    /// Samples in a frame.
    fn frame_samples(&self) -> usize;
    /// The probability that this frame is speech, 0–1. The frame has [`VoiceActivity::frame_samples`] samples.
    fn push(&mut self, frame: &[f32]) -> f32;
    /// Forgets what it has heard.
    fn reset(&mut self);
}

/// Samples in a frame of [`tenpass_wake::Vad`], and of the scripted one: 32 ms.
pub const FRAME_SAMPLES: usize = 512;

/// Length of such a frame in microseconds.
pub const FRAME_US: u64 = 32_000;

/// Probabilities written down beforehand, one a frame; after them nobody speaks. For simulations.
#[derive(Debug, Clone, Default)]
pub struct ScriptedActivity {
    probabilities: Vec<f32>,
    next: usize,
}

impl ScriptedActivity {
    /// These probabilities, one a frame.
    pub fn new(probabilities: Vec<f32>) -> Self {
        Self { probabilities, next: 0 }
    }

    /// Spans of time in milliseconds in which someone speaks.
    pub fn spans(spans: &[(u64, u64)]) -> Self {
        let end = spans.iter().map(|span| span.1).max().unwrap_or(0) * 1000;
        let spoken = |frame: u64| {
            let middle = frame * FRAME_US + FRAME_US / 2;
            spans.iter().any(|(from, to)| (from * 1000..to * 1000).contains(&middle))
        };
        Self::new((0..end.div_ceil(FRAME_US)).map(|frame| if spoken(frame) { 0.95 } else { 0.02 }).collect())
    }
}

impl VoiceActivity for ScriptedActivity {
    fn frame_samples(&self) -> usize {
        FRAME_SAMPLES
    }

    fn push(&mut self, _frame: &[f32]) -> f32 {
        let found = self.probabilities.get(self.next).copied().unwrap_or(0.0);
        self.next += 1;
        found
    }

    fn reset(&mut self) {
        self.next = 0;
    }
}

impl VoiceActivity for tenpass_wake::Vad {
    fn frame_samples(&self) -> usize {
        tenpass_wake::VAD_BLOCK
    }

    fn push(&mut self, frame: &[f32]) -> f32 {
        let mut block = [0.0; tenpass_wake::VAD_BLOCK];
        let length = frame.len().min(block.len());
        block[..length].copy_from_slice(&frame[..length]);
        Self::push(self, &block)
    }

    fn reset(&mut self) {
        Self::reset(self);
    }
}

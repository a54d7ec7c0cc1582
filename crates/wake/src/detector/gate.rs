//! The voice gate: how probable speech was lately.

use std::collections::VecDeque;

use crate::vad::{VAD_BLOCK, Vad};

/// Feeds a voice detector beside the front end.
#[derive(Debug)]
pub(super) struct SpeechGate {
    vad: Vad,
    block: Vec<f32>,
    /// The largest probability of the blocks that ended in each of the last frames.
    recent: VecDeque<f32>,
    frames: usize,
    /// Of the blocks that ended since the last frame.
    now: f32,
}

impl SpeechGate {
    pub(super) fn new(vad: Vad, frames: u64) -> Self {
        let frames = usize::try_from(frames).unwrap_or(1).max(1);
        Self { vad, block: Vec::with_capacity(VAD_BLOCK), recent: VecDeque::new(), frames, now: 0.0 }
    }

    pub(super) fn reset(&mut self) {
        self.vad.reset();
        self.block.clear();
        self.recent.clear();
        self.now = 0.0;
    }

    pub(super) fn push(&mut self, samples: &[f32]) {
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at((VAD_BLOCK - self.block.len()).min(rest.len()));
            self.block.extend_from_slice(now);
            rest = later;
            if let Ok(block) = <&[f32; VAD_BLOCK]>::try_from(self.block.as_slice()) {
                self.now = self.now.max(self.vad.push(block));
                self.block.clear();
            }
        }
    }

    /// A frame is over: the largest probability of the last ones.
    pub(super) fn frame(&mut self) -> f32 {
        self.recent.push_back(std::mem::take(&mut self.now));
        if self.recent.len() > self.frames {
            self.recent.pop_front();
        }
        self.recent.iter().copied().fold(0.0, f32::max)
    }
}

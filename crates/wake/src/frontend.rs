//! The streaming front end: samples in, one embedding every 80 ms out.
//!
//! Every 1280 new samples, the spectrogram of the last 1760 gives eight mel frames with a floor of their
//! own. How the samples are cut into calls changes nothing. Training uses this very code, since the
//! floor of a whole clip would be another.

use std::sync::OnceLock;

use crate::dither::{DITHER_SAMPLES, dither};
use crate::embedding::{Embedding, EmbeddingModel, Rows};
use crate::mel::{FRAME, MelFrame, MelScratch, STEP};

/// Samples from one embedding to the next: 80 ms.
pub const HOP: usize = 1280;
/// Samples are 16-bit values inside.
const FULL_SCALE: f32 = 32_768.0;
/// What a call of the spectrogram sees of the past.
const OVERLAP: usize = FRAME - STEP + 128;

/// One stream's front end.
#[derive(Debug, Clone)]
pub struct FrontEnd {
    model: EmbeddingModel,
    state: State,
}

/// What a stream remembers.
#[derive(Debug, Clone)]
struct State {
    /// At most 480 old samples, then the new ones, as 16-bit values.
    samples: Vec<f32>,
    /// Of those, the old ones.
    old: usize,
    /// Mel frames still to be left out: the first call has five, and windows start at the second.
    skip: usize,
    rows: Rows,
    scratch: MelScratch,
    frames: Vec<MelFrame>,
}

/// The state behind two seconds of dither; computed once a model.
#[derive(Debug, Default)]
pub(crate) struct Warm(OnceLock<State>);

impl FrontEnd {
    /// A stream that begins with its first sample, as a clip does: its first embedding comes with the tenth
    /// hop, and 2.0 s of sound give 16.
    pub fn new(model: &EmbeddingModel) -> Self {
        Self { model: model.clone(), state: State::new(model) }
    }

    /// A stream that has heard two seconds of dither: every hop gives an embedding.
    pub fn warmed(model: &EmbeddingModel) -> Self {
        Self { model: model.clone(), state: warm(model).clone() }
    }

    /// Back to the state of [`FrontEnd::new`].
    pub fn reset(&mut self) {
        self.state = State::new(&self.model);
    }

    /// Back to the state of [`FrontEnd::warmed`].
    pub fn reset_warm(&mut self) {
        self.state = warm(&self.model).clone();
    }

    /// Takes samples (16 kHz, full scale at ±1) and hands out every embedding that they complete.
    pub fn push(&mut self, samples: &[f32], sink: &mut dyn FnMut(Embedding)) {
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.state.missing().min(rest.len()));
            self.state
                .samples
                .extend(now.iter().map(|sample| if sample.is_finite() { sample * FULL_SCALE } else { 0.0 }));
            rest = later;
            self.state.hop(&self.model, sink);
        }
    }

    /// The embeddings of a whole clip, from a fresh start.
    pub fn clip(&mut self, samples: &[f32]) -> Vec<Embedding> {
        self.reset();
        let mut found = Vec::with_capacity(samples.len() / HOP);
        self.push(samples, &mut |embedding| found.push(embedding));
        found
    }
}

/// The embeddings of many clips, each from a fresh start, in their order, on so many threads.
pub fn embed_clips(model: &EmbeddingModel, clips: &[impl AsRef<[f32]> + Sync], threads: usize) -> Vec<Vec<Embedding>> {
    let share = clips.len().div_ceil(threads.max(1)).max(1);
    let part = |clips: &[_]| {
        let mut front_end = FrontEnd::new(model);
        clips.iter().map(|clip: &_| front_end.clip(AsRef::<[f32]>::as_ref(clip))).collect::<Vec<_>>()
    };
    if share >= clips.len() {
        return part(clips);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = clips.chunks(share).map(|clips| scope.spawn(move || part(clips))).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    })
}

impl State {
    fn new(model: &EmbeddingModel) -> Self {
        Self {
            samples: Vec::with_capacity(OVERLAP + HOP),
            old: 0,
            skip: 1,
            rows: Rows::new(&model.inner.network),
            scratch: model.inner.mel.scratch(),
            frames: Vec::with_capacity(8),
        }
    }

    /// Samples until the next hop.
    fn missing(&self) -> usize {
        HOP - (self.samples.len() - self.old)
    }

    fn hop(&mut self, model: &EmbeddingModel, sink: &mut dyn FnMut(Embedding)) {
        if self.missing() > 0 {
            return;
        }
        self.frames.clear();
        model.inner.mel.frames(&self.samples, &mut self.scratch, &mut self.frames);
        let skipped = self.skip.min(self.frames.len());
        self.skip -= skipped;
        self.rows.push(&model.inner.network, &self.frames[skipped..], sink);
        let used = self.samples.len() - OVERLAP;
        self.samples.copy_within(used.., 0);
        self.samples.truncate(OVERLAP);
        self.old = OVERLAP;
    }
}

fn warm(model: &EmbeddingModel) -> &State {
    model.inner.warm.0.get_or_init(|| {
        let mut front_end = FrontEnd::new(model);
        front_end.push(&dither(DITHER_SAMPLES), &mut |_| ());
        front_end.state
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{embedding_model, sound};

    #[test]
    fn two_seconds_give_sixteen_embeddings_and_a_warm_stream_one_a_hop() {
        let model = embedding_model(3);
        assert_eq!(FrontEnd::new(&model).clip(&sound(32_000)).len(), 16);
        assert_eq!(FrontEnd::new(&model).clip(&sound(12_799)).len(), 0);
        let mut found = 0;
        FrontEnd::warmed(&model).push(&sound(1280 * 5 + 1279), &mut |_| found += 1);
        assert_eq!(found, 5);
    }

    #[test]
    fn a_reset_stream_is_a_new_one_and_many_clips_are_each_alone() {
        let (model, sound) = (embedding_model(4), sound(40_000));
        let mut used = FrontEnd::warmed(&model);
        used.push(&sound[..9_999], &mut |_| ());
        assert_eq!(used.clip(&sound), FrontEnd::new(&model).clip(&sound));
        let clips: Vec<&[f32]> = vec![&sound, &sound[..20_000], &[], &sound[5_000..], &sound[..16_000]];
        let alone: Vec<_> = clips.iter().map(|clip| FrontEnd::new(&model).clip(clip)).collect();
        for threads in [0, 1, 2, 7] {
            assert_eq!(embed_clips(&model, &clips, threads), alone, "{threads}");
        }
    }

    #[test]
    fn numbers_that_are_none_pass_by() {
        let model = embedding_model(3);
        let mut broken = sound(20_000);
        (broken[3_000], broken[3_001]) = (f32::NAN, f32::INFINITY);
        let mut mended = broken.clone();
        (mended[3_000], mended[3_001]) = (0.0, 0.0);
        assert_eq!(FrontEnd::new(&model).clip(&broken), FrontEnd::new(&model).clip(&mended));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// Not a bit depends on how the samples are cut.
        #[test]
        fn cuts_change_nothing(cuts in proptest::collection::vec(prop_oneof![Just(1usize), Just(160), Just(1280), 1usize..9_000], 1..40)) {
            let (model, sound) = (embedding_model(3), sound(24_000));
            let whole = FrontEnd::new(&model).clip(&sound);
            let (mut front_end, mut found, mut rest) = (FrontEnd::new(&model), Vec::new(), &sound[..]);
            for cut in cuts.into_iter().cycle() {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                front_end.push(now, &mut |embedding| found.push(embedding));
                rest = later;
                if rest.is_empty() { break }
            }
            prop_assert_eq!(found, whole);
        }
    }
}

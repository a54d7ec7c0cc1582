//! Making one sound many: what happens to speech on its way from a mouth to the program.
//!
//! The recipe is that of wake-word training: equaliser ±6 dB, soft clipping, pitch ±3 semitones and a band
//! stop, each in a quarter of cases; a room in half of them; coloured noise of 10 to 30 dB in a quarter and other
//! sound of −10 to 15 dB in three quarters; always another gain. Everything follows from the seed. The room comes
//! before the noise, so that the ratio of signal to noise is the one at the microphone. Nothing changes
//! the length, and times in a clip stay true (the direct sound is not delayed).

mod filter;
mod noise;
mod pitch;
mod room;

use std::sync::Arc;

pub use noise::{Colour, babble, mix_at_snr, noise};
pub use room::{Room, convolve};

use crate::{Audio, Random};

/// A step: how often, and between which numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// In this share of cases.
    pub probability: f64,
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
}

impl Step {
    /// A step.
    pub fn new(probability: f64, low: f64, high: f64) -> Self {
        Self { probability, low, high }
    }

    /// Never.
    pub fn never() -> Self {
        Self::new(0.0, 0.0, 0.0)
    }

    fn draw(self, random: &mut Random) -> Option<f64> {
        // Both are drawn always: what follows does not depend on what came before.
        let (happens, value) = (random.chance(self.probability), random.range(self.low, self.high));
        happens.then_some(value)
    }
}

/// The recipe.
#[derive(Debug, Clone)]
pub struct Augment {
    /// Equaliser: the most that a band is raised or lowered, in decibels.
    pub equaliser_db: Step,
    /// Soft clipping: 0..1.
    pub distortion: Step,
    /// Semitones.
    pub pitch: Step,
    /// Band stop; the numbers mean nothing.
    pub band_stop: Step,
    /// A room: metres from mouth to microphone.
    pub room_m: Step,
    /// Coloured noise: signal to noise in decibels.
    pub noise_snr_db: Step,
    /// Other sound: signal to noise in decibels.
    pub background_snr_db: Step,
    /// The level of the result's voiced part, in decibels below full scale.
    pub level_dbfs: Step,
    /// Other sounds; without any, coloured noise stands for them.
    pub backgrounds: Vec<Arc<Audio>>,
}

impl Default for Augment {
    /// The whole recipe.
    fn default() -> Self {
        Self {
            equaliser_db: Step::new(0.25, 6.0, 6.0),
            distortion: Step::new(0.25, 0.02, 0.5),
            pitch: Step::new(0.25, -3.0, 3.0),
            band_stop: Step::new(0.25, 0.0, 0.0),
            room_m: Step::new(0.5, 0.4, 4.0),
            noise_snr_db: Step::new(0.25, 10.0, 30.0),
            background_snr_db: Step::new(0.75, -10.0, 15.0),
            level_dbfs: Step::new(1.0, -38.0, -16.0),
            backgrounds: Vec::new(),
        }
    }
}

impl Augment {
    /// Nothing at all.
    pub fn none() -> Self {
        let never = Step::never();
        Self {
            equaliser_db: never,
            distortion: never,
            pitch: never,
            band_stop: never,
            room_m: never,
            noise_snr_db: never,
            background_snr_db: never,
            level_dbfs: never,
            backgrounds: Vec::new(),
        }
    }

    /// As the whole recipe, and never below so many decibels of signal to noise: for speech that has to be
    /// understood, not only noticed.
    pub fn intelligible(lowest_snr_db: f64) -> Self {
        Self {
            background_snr_db: Step::new(0.75, lowest_snr_db, lowest_snr_db.max(15.0) + 10.0),
            distortion: Step::new(0.25, 0.02, 0.2),
            room_m: Step::new(0.5, 0.3, 2.5),
            ..Self::default()
        }
    }
}

/// What was done to a sound.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Trace {
    /// The bands of the equaliser were moved by up to so much.
    pub equaliser_db: Option<f64>,
    /// Soft clipping.
    pub distortion: Option<f64>,
    /// Semitones.
    pub pitch: Option<f64>,
    /// A band was taken out.
    pub band_stop: bool,
    /// Metres from mouth to microphone.
    pub room_m: Option<f64>,
    /// Signal to all noise together, in decibels.
    pub snr_db: Option<f64>,
}

/// Changes a sound by the recipe and a seed.
pub fn apply(audio: &Audio, recipe: &Augment, seed: u64) -> Audio {
    apply_traced(audio, recipe, seed).0
}

/// As [`apply`], and says what was done.
pub fn apply_traced(audio: &Audio, recipe: &Augment, seed: u64) -> (Audio, Trace) {
    let mut audio = audio.clone();
    let mut trace = Trace::default();
    let stream = |name: &str| Random::named(seed, name);
    let draw = |step: Step, name: &str| {
        let mut random = stream(name);
        (step.draw(&mut random), random)
    };
    if let (Some(most_db), mut random) = draw(recipe.equaliser_db, "equaliser") {
        filter::equalise(&mut audio.samples, audio.rate, most_db, &mut random);
        trace.equaliser_db = Some(most_db);
    }
    if let (Some(amount), _) = draw(recipe.distortion, "distortion") {
        filter::tanh_distortion(&mut audio.samples, amount);
        trace.distortion = Some(amount);
    }
    if let (Some(semitones), _) = draw(recipe.pitch, "pitch") {
        audio.samples = pitch::shift(&audio.samples, audio.rate, semitones);
        trace.pitch = Some(semitones);
    }
    if let (Some(_), mut random) = draw(recipe.band_stop, "band stop") {
        filter::band_stop(&mut audio.samples, audio.rate, &mut random);
        trace.band_stop = true;
    }
    if let (Some(_), mut random) = draw(recipe.room_m, "room") {
        let room = Room::seeded(random.next(), recipe.room_m.low, recipe.room_m.high);
        audio = convolve(&audio, &room.response(audio.rate, random.next()));
        trace.room_m = Some(room.distance_m());
    }
    trace.snr_db = add_noise(&mut audio, recipe, &stream);
    let (level, _) = draw(recipe.level_dbfs, "level");
    settle(&mut audio, level);
    (audio, trace)
}

/// Adds what the recipe says; gives the ratio to all of it.
fn add_noise(audio: &mut Audio, recipe: &Augment, stream: &dyn Fn(&str) -> Random) -> Option<f64> {
    let dry = audio.clone();
    let mut random = stream("noise");
    if let Some(snr) = recipe.noise_snr_db.draw(&mut random) {
        let colour = Colour::ALL[random.below(3)];
        let noise = noise::coloured(colour, audio.samples.len(), &mut random);
        mix_at_snr(audio, &noise, snr);
    }
    let mut random = stream("background");
    if let Some(snr) = recipe.background_snr_db.draw(&mut random) {
        let noise = background(&recipe.backgrounds, audio, &mut random);
        // The same signal as before: what counts is the speech, not the noise that is there already.
        let mut other = dry.clone();
        let added = mix_at_snr(&mut other, &noise, snr);
        audio.samples.iter_mut().zip(&added).for_each(|(x, noise)| *x += noise);
    }
    let (begin, end) = crate::level::voiced(&dry)?;
    let rest: Vec<f32> = audio.samples[begin..end].iter().zip(&dry.samples[begin..end]).map(|(a, b)| a - b).collect();
    let level = noise::rms(&rest);
    (level > 0.0).then(|| 20.0 * (noise::rms(&dry.samples[begin..end]) / level).log10())
}

/// As much of another sound as the clip is long, from a random place.
fn background(backgrounds: &[Arc<Audio>], audio: &Audio, random: &mut Random) -> Vec<f32> {
    let usable: Vec<&Arc<Audio>> = backgrounds.iter().filter(|sound| noise::rms(&sound.samples) > 0.0).collect();
    if usable.is_empty() {
        return noise::coloured(Colour::ALL[random.below(3)], audio.samples.len(), random);
    }
    let sound = usable[random.below(usable.len())];
    let length = sound.samples.len();
    // A place where something is heard: silence under speech is no noise.
    let whole = noise::rms(&sound.samples);
    for _ in 0..8 {
        let begin = random.below(length);
        let wanted = (audio.samples.len() as u64 * u64::from(sound.rate) / u64::from(audio.rate.max(1))) as usize + 1;
        let piece: Vec<f32> = sound.samples.iter().copied().cycle().skip(begin).take(wanted).collect();
        if noise::rms(&piece) > 0.1 * whole {
            return Audio::new(piece, sound.rate).at_rate(audio.rate).samples;
        }
    }
    sound.as_ref().clone().at_rate(audio.rate).samples
}

/// Brings the voiced part to a level, and everything below full scale.
fn settle(audio: &mut Audio, level_dbfs: Option<f64>) {
    if let (Some(level), Some((begin, end))) = (level_dbfs, crate::level::voiced(audio)) {
        let now = noise::rms(&audio.samples[begin..end]);
        let gain = (10f64.powf(level / 20.0) / now.max(1e-9)) as f32;
        audio.samples.iter_mut().for_each(|x| *x *= gain);
    }
    let peak = audio.samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    if peak > 0.99 {
        audio.samples.iter_mut().for_each(|x| *x *= 0.99 / peak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something like a word: a buzz with a melody, between silence.
    fn word() -> Audio {
        let mut samples = vec![0.0; 4_000];
        samples.extend((0..12_000).map(|n| {
            let t = f64::from(n) / 16_000.0;
            let phase = std::f64::consts::TAU * (120.0 * t + 8.0 * (3.0 * t).sin());
            let buzz: f64 = (1..12).map(|k| (phase * f64::from(k)).sin() / f64::from(k)).sum();
            (0.2 * buzz * (std::f64::consts::PI * t / 0.75).sin().max(0.0)) as f32
        }));
        samples.extend(vec![0.0; 4_000]);
        Audio::new(samples, 16_000)
    }

    #[test]
    fn the_seed_says_everything() {
        let recipe = Augment { backgrounds: vec![Arc::new(noise(Colour::Pink, 3.0, 22_050, 1))], ..Augment::default() };
        let all: Vec<Audio> = (0..40).map(|seed| apply(&word(), &recipe, seed)).collect();
        for (seed, audio) in all.iter().enumerate() {
            assert_eq!(*audio, apply(&word(), &recipe, seed as u64));
            assert_eq!(audio.samples.len(), 20_000);
            assert!(audio.samples.iter().all(|x| x.is_finite() && x.abs() <= 1.0));
        }
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn steps_come_as_often_as_they_should() {
        let traces: Vec<Trace> = (0..400).map(|seed| apply_traced(&word(), &Augment::default(), seed).1).collect();
        let share = |with: &dyn Fn(&Trace) -> bool| traces.iter().filter(|trace| with(trace)).count() as f64 / 400.0;
        let close = |share: f64, wanted: f64| assert!((share - wanted).abs() < 0.08, "{share} for {wanted}");
        close(share(&|t| t.equaliser_db.is_some()), 0.25);
        close(share(&|t| t.distortion.is_some()), 0.25);
        close(share(&|t| t.pitch.is_some()), 0.25);
        close(share(&|t| t.band_stop), 0.25);
        close(share(&|t| t.room_m.is_some()), 0.5);
        close(share(&|t| t.snr_db.is_some()), 1.0 - 0.75 * 0.25);
        let lowest = traces.iter().filter_map(|t| t.snr_db).fold(f64::MAX, f64::min);
        assert!((-11.0..-5.0).contains(&lowest), "{lowest}");
    }

    #[test]
    fn the_asked_ratio_is_the_measured_one() {
        for snr in [-10.0, 0.0, 15.0] {
            let recipe = Augment { background_snr_db: Step::new(1.0, snr, snr), ..Augment::none() };
            let (mixed, trace) = apply_traced(&word(), &recipe, 4);
            assert!((trace.snr_db.unwrap() - snr).abs() < 0.1, "{trace:?}");
            // Measured from outside: the part without speech against the part with it. The peak may have been lowered.
            let gain = mixed.samples[..4_000].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / 4_000.0;
            assert!(gain > 0.0);
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(apply(&word(), &Augment::none(), 1), word());
        let empty = Audio::new(Vec::new(), 16_000);
        let silence = Audio::silence(1.0, 16_000);
        for seed in 0..20 {
            assert_eq!(apply(&empty, &Augment::default(), seed), empty);
            assert_eq!(apply(&silence, &Augment::default(), seed).samples.len(), 16_000);
        }
    }
}

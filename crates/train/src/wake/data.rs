//! From sounds to what a head is trained on and chosen with: windows, and streams with their truth.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenpass_audio::augment::{Augment, Colour, Step, apply, babble, noise};
use tenpass_audio::{Audio, SPEECH_RATE};

use super::TrainError;
use super::events::Truth;
use super::plan::WakePlan;
use super::sound::{Origin, Part, Role, Sound};
use super::timeline::{lay_some_bed, plan as plan_stretches, render};
use super::trace::STEP_S;
use crate::features::{Extractor, parallel};
use crate::network::{FRAMES, Random, WIDTH, WINDOW, seed_of};

/// A clip of the word.
const CLIP_S: f64 = 2.0;
/// The word ends at most this long before the first of its windows does.
const WORD_END_S: f64 = 0.08;
/// A word is one in several windows, each a step later: a detector asks for two of three.
const WORD_WINDOWS: usize = 3;
/// Near misses are wrong at every place: their clips are longer by this.
const NEAR_MORE_S: f64 = 0.64;
/// In this share of the clips something else is said right after the word.
const AFTER: f64 = 0.2;
/// In this share of the clips the voice is made higher and faster or lower and slower: another throat.
const THROAT: f64 = 0.5;
/// By this factor.
const THROATS: (f64, f64) = (0.87, 1.15);
/// Signal to noise of the word in training, in decibels: where somebody could still hear it.
const WORD_SNR_DB: (f64, f64) = (0.0, 20.0);
/// In this share of the clips other speech stands before the word, where else there would be silence.
const CONTEXT: f64 = 0.3;
/// Copies of a near miss.
const NEAR_COPIES: usize = 3;
/// In development and test a copy is as noisy as this at worst, in decibels of signal to noise.
const HELD_SNR_DB: f64 = 5.0;

/// Embeddings of continuous sound, and what is said in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// One embedding every 80 ms, 96 values each.
    pub embeddings: Vec<f32>,
    /// What is said when; [`super::events::Word::clip`] counts the part's words.
    pub truth: Truth,
}

/// Everything that a training needs, made once for any number of seeds.
#[derive(Debug)]
pub struct Data {
    /// Windows of the word with their origins.
    pub(crate) positives: Vec<(Origin, Vec<f32>)>,
    /// Windows of near misses, one after another.
    pub(crate) near: Vec<f32>,
    /// Streams without the word and without near misses.
    pub(crate) streams: Vec<Vec<f32>>,
    /// Held out to choose with.
    pub dev: Vec<Stream>,
    /// Held out to measure on.
    pub test: Vec<Stream>,
    /// Near misses that are held out, which count apart: where a word ends there, a near miss does.
    pub dev_near: Vec<Stream>,
    /// The same for the test.
    pub test_near: Vec<Stream>,
    /// The sounds.
    pub sounds: Vec<Sound>,
    /// The front end's version.
    pub features: String,
    /// Voices that could not say everything: how often, and why first.
    pub failed: BTreeMap<String, (usize, String)>,
}

impl Data {
    /// Windows of the word of this origin.
    pub fn amount_of(&self, origin: Origin) -> usize {
        self.positives.iter().filter(|(from, _)| *from == origin).count()
    }
}

enum Job {
    Word(usize, u64),
    Near(usize, u64),
    Stretch(Part, bool, Vec<Copy>, u64),
}

/// One copy of a sound in a stream.
struct Copy {
    /// The sound.
    at: usize,
    /// The first is much as the sound is, the second is changed.
    copy: usize,
    /// Its place among all copies.
    place: usize,
}

enum Made {
    Word(Origin, Vec<f32>),
    Near(Vec<f32>),
    Stream(Part, bool, Stream),
}

/// Makes features of all sounds.
pub(crate) fn make(
    plan: &WakePlan,
    sounds: Vec<Sound>,
    extractor: &Extractor,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Data, TrainError> {
    let maker = Maker::new(plan, &sounds, extractor);
    let jobs = maker.jobs();
    let made = parallel(&jobs, plan.threads, |_, job| maker.make(job), &|finished| done(finished, jobs.len()))?;
    let mut data = Data {
        positives: Vec::new(),
        near: Vec::new(),
        streams: Vec::new(),
        dev: Vec::new(),
        test: Vec::new(),
        dev_near: Vec::new(),
        test_near: Vec::new(),
        sounds: Vec::new(),
        features: extractor.version().to_owned(),
        failed: BTreeMap::new(),
    };
    for made in made {
        match made {
            Made::Word(origin, windows) => {
                data.positives.extend(windows.chunks_exact(WINDOW).map(|window| (origin, window.to_vec())));
            }
            Made::Near(windows) => data.near.extend(windows),
            Made::Stream(Part::Train, _, stream) => data.streams.push(stream.embeddings),
            Made::Stream(Part::Dev, false, stream) => data.dev.push(stream),
            Made::Stream(Part::Test, false, stream) => data.test.push(stream),
            Made::Stream(Part::Dev, true, stream) => data.dev_near.push(stream),
            Made::Stream(Part::Test, true, stream) => data.test_near.push(stream),
        }
    }
    drop(maker);
    data.sounds = sounds;
    Ok(data)
}

struct Maker<'a> {
    plan: &'a WakePlan,
    sounds: &'a [Sound],
    extractor: &'a Extractor,
    backgrounds: BTreeMap<Part, Vec<Arc<Audio>>>,
    speech: Vec<usize>,
}

impl<'a> Maker<'a> {
    fn new(plan: &'a WakePlan, sounds: &'a [Sound], extractor: &'a Extractor) -> Self {
        let backgrounds = Part::ALL.map(|part| (part, backgrounds(sounds, part, plan.seed_of_data))).into();
        let spoken = |sound: &Sound| sound.role == Role::Speech && sound.part == Part::Train;
        let speech = sounds.iter().enumerate().filter(|(_, sound)| spoken(sound)).map(|(at, _)| at).collect();
        Self { plan, sounds, extractor, backgrounds, speech }
    }

    fn seed(&self, purpose: &str, sound: &str, copy: usize) -> u64 {
        seed_of(self.plan.seed_of_data, &[purpose, sound, &copy.to_string()])
    }

    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for (at, sound) in self.sounds.iter().enumerate().filter(|(_, sound)| sound.part == Part::Train) {
            let (copies, job): (usize, fn(usize, u64) -> Job) = match (sound.role, sound.origin) {
                (Role::Word, Origin::User) => (self.plan.user_copies, Job::Word),
                (Role::Word, Origin::Synthetic) => (self.plan.synthetic_copies, Job::Word),
                (Role::Near, _) => (NEAR_COPIES, Job::Near),
                _ => continue,
            };
            jobs.extend((0..copies).map(|copy| job(at, self.seed("clip", &sound.hash, copy))));
        }
        for part in Part::ALL {
            jobs.extend(self.stretches(part, false));
            if part != Part::Train {
                jobs.extend(self.stretches(part, true));
            }
        }
        jobs
    }

    /// Every sound of a part in streams: once much as it is, once changed. Training streams are without the
    /// word; near misses have streams of their own.
    fn stretches(&self, part: Part, near: bool) -> Vec<Job> {
        let wanted = |sound: &Sound| {
            sound.part == part
                && (sound.role == Role::Near) == near
                && (part != Part::Train || sound.role != Role::Word)
        };
        let mut copies: Vec<(usize, usize)> = Vec::new();
        for (at, _) in self.sounds.iter().enumerate().filter(|(_, sound)| wanted(sound)) {
            copies.extend([(at, 0), (at, 1)]);
        }
        let seconds: Vec<f64> = copies.iter().map(|(at, _)| self.sounds[*at].seconds()).collect();
        let seed = self.seed("stretches", part.name(), usize::from(near));
        let stretches = plan_stretches(&seconds, seed);
        let job = |(number, places): (usize, Vec<usize>)| {
            let copy = |place: usize| Copy { at: copies[place].0, copy: copies[place].1, place };
            let clips = places.into_iter().map(copy).collect();
            Job::Stretch(part, near, clips, self.seed("stretch", part.name(), 2 * number + usize::from(near)))
        };
        stretches.into_iter().enumerate().map(job).collect()
    }

    fn make(&self, job: &Job) -> Result<Made, TrainError> {
        match job {
            Job::Word(at, seed) => {
                let more_s = (WORD_WINDOWS - 1) as f64 * STEP_S;
                let clip = self.clip(&self.sounds[*at], CLIP_S + more_s, (more_s, more_s + WORD_END_S), *seed);
                let windows = windows(&self.extractor.clip(&clip)?, 1);
                debug_assert_eq!(windows.len(), WORD_WINDOWS * WINDOW, "a clip of 2 s is a window");
                Ok(Made::Word(self.sounds[*at].origin, windows))
            }
            Job::Near(at, seed) => {
                let ends_s = (0.0, WORD_END_S + NEAR_MORE_S);
                let clip = self.clip(&self.sounds[*at], CLIP_S + NEAR_MORE_S, ends_s, *seed);
                // Neighbouring windows are nearly alike: every other one.
                Ok(Made::Near(windows(&self.extractor.clip(&clip)?, 2)))
            }
            Job::Stretch(part, near, clips, seed) => {
                let changed: Vec<(usize, Sound)> =
                    clips.iter().map(|copy| (copy.place, self.held(*part, copy))).collect();
                let clips: Vec<(usize, &Sound)> = changed.iter().map(|(place, sound)| (*place, sound)).collect();
                let stretch = render(&clips, *seed);
                let embeddings = self.extractor.stream(&stretch.samples)?;
                Ok(Made::Stream(*part, *near, Stream { embeddings, truth: stretch.truth }))
            }
        }
    }

    /// A sound for a stream: the first copy only at another level, the second with the whole recipe in
    /// training, and as far as it can still be understood elsewhere.
    fn held(&self, part: Part, copy: &Copy) -> Sound {
        let sound = &self.sounds[copy.at];
        let recipe = match (copy.copy, part) {
            (0, _) => Augment { level_dbfs: Augment::default().level_dbfs, ..Augment::none() },
            (_, Part::Train) => Augment { backgrounds: self.backgrounds[&part].clone(), ..Augment::default() },
            _ => Augment { backgrounds: self.backgrounds[&part].clone(), ..Augment::intelligible(HELD_SNR_DB) },
        };
        let changed = apply(&sound.audio(), &recipe, self.seed("stream", &sound.hash, copy.place));
        let mut sound = Sound { samples: changed.to_i16(), ..sound.clone() };
        if sound.role == Role::Near {
            sound.word_end_s = sound.voiced_s.map(|(_, end_s)| end_s);
        }
        sound
    }

    /// A clip with the word, or what is nearly it, ending so long before its end; before it silence or other speech, after
    /// it sometimes other speech; then changed by the recipe.
    fn clip(&self, sound: &Sound, seconds: f64, ends_s: (f64, f64), seed: u64) -> Vec<i16> {
        let mut random = Random::new(seed);
        let rate = f64::from(SPEECH_RATE);
        let length = (seconds * rate) as usize;
        let ends = length - (random.between(ends_s.0, ends_s.1) * rate) as usize;
        let word_end = sound.word_end_s.or(sound.voiced_s.map(|(_, end)| end)).unwrap_or_else(|| sound.seconds());
        let factor = if random.chance(THROAT) { random.between(THROATS.0, THROATS.1) } else { 1.0 };
        let voice = other_throat(sound, factor);
        let word_end = ((word_end / factor * rate) as usize).min(voice.len());
        let mut clip = vec![0i16; length];
        let begins = ends.saturating_sub(word_end);
        let from = word_end.saturating_sub(ends);
        for (place, sample) in clip[begins..].iter_mut().zip(&voice[from..]) {
            *place = *sample;
        }
        if random.chance(CONTEXT) && !self.speech.is_empty() {
            let before = &self.sounds[self.speech[random.below(self.speech.len())]].samples;
            let gap = (random.between(0.02, 0.4) * rate) as usize;
            let room = begins.saturating_sub(gap);
            let taken = room.min(before.len());
            clip[room - taken..room].copy_from_slice(&before[before.len() - taken..]);
        }
        if random.chance(AFTER) && !self.speech.is_empty() {
            let after = &self.sounds[self.speech[random.below(self.speech.len())]].samples;
            let begin = (ends + (random.between(0.03, 0.2) * rate) as usize).min(length);
            for (place, sample) in clip[begin..].iter_mut().zip(after) {
                *place = *sample;
            }
        }
        // As in streams, where no pause is digital silence: a head that knows the word only beside it hears none.
        let mut samples = Audio::from_i16(&clip, SPEECH_RATE).samples;
        lay_some_bed(&mut samples, &mut random);
        let recipe = Augment {
            background_snr_db: Step::new(0.75, WORD_SNR_DB.0, WORD_SNR_DB.1),
            backgrounds: self.backgrounds[&Part::Train].clone(),
            ..Augment::default()
        };
        apply(&Audio::new(samples, SPEECH_RATE), &recipe, random.bits()).to_i16()
    }
}

/// The same sound played faster and higher, or slower and lower.
fn other_throat(sound: &Sound, factor: f64) -> Vec<i16> {
    let rate = (f64::from(SPEECH_RATE) * factor).round() as u32;
    if rate == SPEECH_RATE {
        return sound.samples.clone();
    }
    Audio::from_i16(&sound.samples, rate).at_rate(SPEECH_RATE).to_i16()
}

/// Every `step`-th window of embeddings, one after another.
fn windows(embeddings: &[f32], step: usize) -> Vec<f32> {
    let count = (embeddings.len() / WIDTH).saturating_sub(FRAMES - 1);
    let of = |window: usize| embeddings[window * WIDTH..window * WIDTH + WINDOW].iter().copied();
    (0..count).step_by(step).flat_map(of).collect()
}

/// Noise of every colour, recordings of noise, and the murmur of the part's own voices.
fn backgrounds(sounds: &[Sound], part: Part, seed: u64) -> Vec<Arc<Audio>> {
    let seed = |purpose: &str, at: usize| seed_of(seed, &["background", part.name(), purpose, &at.to_string()]);
    let mut all: Vec<Arc<Audio>> = Colour::ALL
        .iter()
        .enumerate()
        .map(|(at, colour)| Arc::new(noise(*colour, 8.0, SPEECH_RATE, seed("noise", at))))
        .collect();
    let of = |role: Role| sounds.iter().filter(move |sound| sound.part == part && sound.role == role);
    all.extend(of(Role::Noise).take(40).map(|sound| Arc::new(sound.audio())));
    let talk: Vec<Audio> = of(Role::Speech).step_by(3).take(60).map(Sound::audio).collect();
    if talk.len() >= 3 {
        all.extend((0..6).map(|at| Arc::new(babble(&talk, 1 + at % 4, 8.0, SPEECH_RATE, seed("babble", at)))));
    }
    all
}

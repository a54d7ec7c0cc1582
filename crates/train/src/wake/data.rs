//! From sounds to what a head is trained on and chosen with: windows, and streams with their truth.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenpass_audio::augment::{Augment, Colour, apply, babble, noise};
use tenpass_audio::{Audio, SPEECH_RATE};

use super::TrainError;
use super::events::Truth;
use super::plan::WakePlan;
use super::sound::{Origin, Part, Role, Sound};
use super::timeline::{lay_some_bed, plan as plan_stretches, render};
use crate::features::{Extractor, parallel};
use crate::network::{FRAMES, Random, WIDTH, WINDOW, seed_of};

/// A clip of the word.
const CLIP_S: f64 = 2.0;
/// The word ends at most this long before the clip does.
const WORD_END_S: f64 = 0.2;
/// Near misses are wrong at every place: their clips are longer by this.
const NEAR_MORE_S: f64 = 0.64;
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
    /// Streams without the word.
    pub(crate) streams: Vec<Vec<f32>>,
    /// Held out to choose with.
    pub dev: Vec<Stream>,
    /// Held out to measure on.
    pub test: Vec<Stream>,
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
    Stretch(Part, Vec<Copy>, u64),
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
    Stream(Part, Stream),
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
        sounds: Vec::new(),
        features: extractor.version().to_owned(),
        failed: BTreeMap::new(),
    };
    for made in made {
        match made {
            Made::Word(origin, window) => data.positives.push((origin, window)),
            Made::Near(windows) => data.near.extend(windows),
            Made::Stream(Part::Train, stream) => data.streams.push(stream.embeddings),
            Made::Stream(Part::Dev, stream) => data.dev.push(stream),
            Made::Stream(Part::Test, stream) => data.test.push(stream),
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
            jobs.extend(self.stretches(part));
        }
        jobs
    }

    /// Every sound of a part in streams: once much as it is, once changed. Training streams are without the
    /// word.
    fn stretches(&self, part: Part) -> Vec<Job> {
        let wanted = |sound: &Sound| sound.part == part && (part != Part::Train || sound.role != Role::Word);
        let mut copies: Vec<(usize, usize)> = Vec::new();
        for (at, _) in self.sounds.iter().enumerate().filter(|(_, sound)| wanted(sound)) {
            copies.extend([(at, 0), (at, 1)]);
        }
        let seconds: Vec<f64> = copies.iter().map(|(at, _)| self.sounds[*at].seconds()).collect();
        let seed = self.seed("stretches", part.name(), 0);
        let stretches = plan_stretches(&seconds, seed);
        let job = |(number, places): (usize, Vec<usize>)| {
            let copy = |place: usize| Copy { at: copies[place].0, copy: copies[place].1, place };
            let clips = places.into_iter().map(copy).collect();
            Job::Stretch(part, clips, self.seed("stretch", part.name(), number))
        };
        stretches.into_iter().enumerate().map(job).collect()
    }

    fn make(&self, job: &Job) -> Result<Made, TrainError> {
        match job {
            Job::Word(at, seed) => {
                let clip = self.clip(&self.sounds[*at], CLIP_S, WORD_END_S, *seed);
                let window = self.extractor.clip(&clip)?;
                debug_assert_eq!(window.len(), WINDOW, "a clip of 2 s is a window");
                Ok(Made::Word(self.sounds[*at].origin, window))
            }
            Job::Near(at, seed) => {
                let clip = self.clip(&self.sounds[*at], CLIP_S + NEAR_MORE_S, WORD_END_S + NEAR_MORE_S, *seed);
                let embeddings = self.extractor.clip(&clip)?;
                let windows = embeddings.len() / WIDTH - (FRAMES - 1);
                // Neighbouring windows are nearly alike: every other one.
                let of = |window: usize| embeddings[window * WIDTH..window * WIDTH + WINDOW].iter().copied();
                Ok(Made::Near((0..windows).step_by(2).flat_map(of).collect()))
            }
            Job::Stretch(part, clips, seed) => {
                let changed: Vec<(usize, Sound)> =
                    clips.iter().map(|copy| (copy.place, self.held(*part, copy))).collect();
                let clips: Vec<(usize, &Sound)> = changed.iter().map(|(place, sound)| (*place, sound)).collect();
                let stretch = render(&clips, *seed);
                let embeddings = self.extractor.stream(&stretch.samples)?;
                Ok(Made::Stream(*part, Stream { embeddings, truth: stretch.truth }))
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
        Sound { samples: changed.to_i16(), ..sound.clone() }
    }

    /// A clip with the word, or what is nearly it, ending at most `most_after_s` before its end; before it silence or
    /// other speech; then changed by the recipe.
    fn clip(&self, sound: &Sound, seconds: f64, most_after_s: f64, seed: u64) -> Vec<i16> {
        let mut random = Random::new(seed);
        let rate = f64::from(SPEECH_RATE);
        let length = (seconds * rate) as usize;
        let ends = length - (random.between(0.0, most_after_s) * rate) as usize;
        let word_end = sound.word_end_s.or(sound.voiced_s.map(|(_, end)| end)).unwrap_or_else(|| sound.seconds());
        let word_end = ((word_end * rate) as usize).min(sound.samples.len());
        let mut clip = vec![0i16; length];
        let begins = ends.saturating_sub(word_end);
        let from = word_end.saturating_sub(ends);
        for (place, sample) in clip[begins..].iter_mut().zip(&sound.samples[from..]) {
            *place = *sample;
        }
        if random.chance(CONTEXT) && !self.speech.is_empty() {
            let before = &self.sounds[self.speech[random.below(self.speech.len())]].samples;
            let gap = (random.between(0.02, 0.4) * rate) as usize;
            let room = begins.saturating_sub(gap);
            let taken = room.min(before.len());
            clip[room - taken..room].copy_from_slice(&before[before.len() - taken..]);
        }
        // As in streams, where no pause is digital silence: a head that knows the word only beside it hears none.
        let mut samples = Audio::from_i16(&clip, SPEECH_RATE).samples;
        lay_some_bed(&mut samples, &mut random);
        let recipe = Augment { backgrounds: self.backgrounds[&Part::Train].clone(), ..Augment::default() };
        apply(&Audio::new(samples, SPEECH_RATE), &recipe, random.bits()).to_i16()
    }
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

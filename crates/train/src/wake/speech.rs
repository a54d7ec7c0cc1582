//! Synthetic speech, spoken once and kept.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tenpass_audio::{Audio, SPEECH_RATE, read, trim, write_wav};
use tenpass_tts::{SpeakOptions, TtsError, Voice, VoiceInfo};

use super::TrainError;
use super::plan::WakePlan;
use super::sound::{Origin, Part, Role, Sound};
use super::speakers::{Speaker, speakers};
use crate::features::parallel;
use crate::negatives::{NearMiss, Phonemizer, Texts, near_misses, says};
use crate::network::{Random, seed_of};

/// Silence kept on either side of what is spoken.
const KEEP_S: f64 = 0.05;
/// Longer than this is no utterance but a fault of a voice.
const LONGEST_S: f64 = 30.0;

/// Speeds, as a factor.
const SPEEDS: (f64, f64) = (0.75, 1.3);

/// What one voice says once.
#[derive(Debug, Clone)]
struct Saying {
    voice: usize,
    text: String,
    options: SpeakOptions,
    role: Role,
    part: Part,
    group: String,
}

/// What was spoken, and what failed.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    pub(crate) sounds: Vec<Sound>,
    /// For each voice how many of its texts it could not speak, and the first reason.
    pub(crate) failed: BTreeMap<String, (usize, String)>,
}

/// The voices of a machine; each is opened when its turn comes, since some take hundreds of megabytes.
#[derive(Clone, Copy)]
pub struct Voices<'a> {
    /// Which there are.
    pub present: &'a [VoiceInfo],
    /// Opens one.
    pub open: &'a (dyn Fn(&VoiceInfo) -> Result<Box<dyn Voice>, TtsError> + Sync),
}

/// Speaks everything that the plan asks of synthetic voices; what lies in the folder is not spoken again.
pub(crate) fn speak(
    plan: &WakePlan,
    voices: Voices<'_>,
    folder: &Path,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Spoken, TrainError> {
    std::fs::create_dir_all(folder).map_err(|error| TrainError::file(folder, error))?;
    let speakers = speakers(plan, voices.present);
    let sayings = sayings(plan, &speakers)?;
    let finished = AtomicUsize::new(0);
    let recent = Mutex::new(VecDeque::new());
    let of_voice: Vec<&[Saying]> = sayings.chunk_by(|one, other| one.voice == other.voice).collect();
    let results = parallel(
        &of_voice,
        plan.threads,
        |_, sayings| {
            let tell =
                || done(finished.fetch_add(1, Ordering::Relaxed) + 1, of_voice.iter().map(|one| one.len()).sum());
            let place = Place { folder, recent: &recent, kept: 2 * plan.threads };
            all_of_voice(voices, &speakers, sayings, place, &tell)
        },
        &|_| (),
    )?;
    let mut spoken = Spoken::default();
    for (voice, problem_or_sound) in results.into_iter().flatten() {
        match problem_or_sound {
            Ok(sound) => spoken.sounds.push(sound),
            Err(problem) => spoken.failed.entry(voice).or_insert((0, problem)).0 += 1,
        }
    }
    let failed: usize = spoken.failed.values().map(|(count, _)| count).sum();
    if failed * 4 > sayings.len()
        && let Some((voice, (_, problem))) = spoken.failed.iter().next()
    {
        return Err(TrainError::Voices { failed, of: sayings.len(), voice: voice.clone(), problem: problem.clone() });
    }
    Ok(spoken)
}

/// The voice, and what it said or why it could not.
type Said = (String, Result<Sound, String>);

/// Where speech is kept; and the voices that spoke last, since blends share a model that is loaded anew when none is
/// left.
#[derive(Clone, Copy)]
struct Place<'a> {
    folder: &'a Path,
    recent: &'a Mutex<VecDeque<Box<dyn Voice>>>,
    kept: usize,
}

fn all_of_voice(
    voices: Voices<'_>,
    speakers: &[Speaker],
    sayings: &[Saying],
    place: Place<'_>,
    tell: &dyn Fn(),
) -> Result<Vec<Said>, TrainError> {
    let mut opened: Option<Result<Box<dyn Voice>, String>> = None;
    let mut said = Vec::with_capacity(sayings.len());
    for saying in sayings {
        let info = &speakers[saying.voice].info;
        let path = file_of(place.folder, &info.spec, saying);
        let kept = read(&path).ok().filter(|audio| audio.rate == SPEECH_RATE);
        let audio = match kept {
            Some(audio) => Ok(audio),
            None => match opened.get_or_insert_with(|| (voices.open)(info).map_err(|error| error.to_string())) {
                Ok(voice) => spoken(voice.as_ref(), saying, &path)?,
                Err(problem) => Err(problem.clone()),
            },
        };
        said.push((info.spec.clone(), audio.and_then(|audio| sound(saying, &info.spec, &audio))));
        tell();
    }
    if let Some(Ok(voice)) = opened {
        let mut recent = place.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_back(voice);
        if recent.len() > place.kept {
            recent.pop_front();
        }
    }
    Ok(said)
}

/// Speaks and keeps one text; the inner error is the voice's.
fn spoken(voice: &dyn Voice, saying: &Saying, path: &Path) -> Result<Result<Audio, String>, TrainError> {
    let audio = match voice.speak(&saying.text, &saying.options) {
        Ok(audio) => trim(&audio.at_rate(SPEECH_RATE), KEEP_S),
        Err(error) => return Ok(Err(error.to_string())),
    };
    if audio.seconds() < 0.1 || audio.seconds() > LONGEST_S {
        return Ok(Err(format!("`{}` became {:.2} s of sound", saying.text, audio.seconds())));
    }
    // As it is kept: the second time must be as the first.
    let audio = Audio::from_i16(&audio.to_i16(), SPEECH_RATE);
    keep(path, &audio)?;
    Ok(Ok(audio))
}

fn sound(saying: &Saying, spec: &str, audio: &Audio) -> Result<Sound, String> {
    let mut sound = Sound::of(audio.to_i16());
    let Some((_, end_s)) = sound.voiced_s else { return Err(format!("`{}` became silence", saying.text)) };
    sound.word_end_s = (saying.role == Role::Word).then_some(end_s);
    sound.text.clone_from(&saying.text);
    sound.role = saying.role;
    sound.origin = Origin::Synthetic;
    spec.clone_into(&mut sound.voice);
    sound.group.clone_from(&saying.group);
    sound.part = saying.part;
    Ok(sound)
}

fn file_of(folder: &Path, spec: &str, saying: &Saying) -> PathBuf {
    let SpeakOptions { speed, pitch_semitones, seed } = saying.options;
    let mut hash = Sha256::new();
    for part in [spec, &saying.text, &format!("{speed} {pitch_semitones} {seed}")] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    folder.join(format!("{}.wav", crate::features::hex(&hash.finalize()[..16])))
}

/// Whole or not at all: a file cut off by a kill would be taken for speech.
fn keep(path: &Path, audio: &Audio) -> Result<(), TrainError> {
    let beside = path.with_extension("part.wav");
    write_wav(&beside, audio).map_err(TrainError::Audio)?;
    std::fs::rename(&beside, path).map_err(|error| TrainError::file(path, error))
}

/// The list of everything that is spoken, voice by voice.
fn sayings(plan: &WakePlan, speakers: &[Speaker]) -> Result<Vec<Saying>, TrainError> {
    let mut lists: BTreeMap<(String, Part), (Texts, Vec<NearMiss>)> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, speaker) in speakers.iter().enumerate() {
        let (language, part) = (&speaker.info.language, speaker.part);
        let key = (language.clone(), part);
        if !lists.contains_key(&key) {
            let at = Part::ALL.iter().position(|other| *other == part).unwrap_or(0);
            let texts = Texts::new(language, &plan.word, &plan.sentences, plan.seed_of_data, (at, Part::ALL.len()));
            lists.insert(key.clone(), (texts, near_of(plan, language, at)?));
        }
        let Some((texts, near)) = lists.get_mut(&key) else { continue };
        SpeakerOf { plan, number, speaker }.sayings(texts, near, &mut all);
    }
    Ok(all)
}

/// The near misses of a part: neighbours of the word are dealt out, so that the test has its own.
fn near_of(plan: &WakePlan, language: &str, part: usize) -> Result<Vec<NearMiss>, TrainError> {
    let phonemizer = Phonemizer::new(language);
    let all = near_misses(&phonemizer, &plan.word, (120, 40), plan.seed_of_data)?;
    let parts = Part::ALL.len();
    Ok(all.into_iter().enumerate().filter(|(at, _)| at % parts == part).map(|(_, near)| near).collect())
}

struct SpeakerOf<'a> {
    plan: &'a WakePlan,
    number: usize,
    speaker: &'a Speaker,
}

impl SpeakerOf<'_> {
    /// The word, near misses, and sentences, fewer by voices that take long.
    fn sayings(&self, texts: &mut Texts, near: &[NearMiss], all: &mut Vec<Saying>) {
        let Speaker { info, words, sentences, .. } = self.speaker;
        let mut random = Random::of(self.plan.seed_of_data, &["near", &info.spec]);
        let neural = matches!(info.engine.as_str(), "kokoro" | "piper");
        for at in 0..*words {
            // A blend says it twice: which of the ways is for its place among them.
            let way = if neural { self.number + at } else { at };
            self.add(word_as_said(&self.plan.word, way), Role::Word, at, all);
        }
        // flite reads no phonemes.
        let near: Vec<&NearMiss> = near.iter().filter(|near| info.engine != "flite" || !near.spelled).collect();
        let count = if neural { words.div_ceil(2) } else { *words };
        for at in 0..if near.is_empty() { 0 } else { count } {
            let other = near[random.below(near.len())];
            if !says(&other.text, &self.plan.word) {
                self.add(other.text.clone(), Role::Near, at, all);
            }
        }
        let wanted = *words as f64 * sentences;
        let sentences = wanted as usize + usize::from(random.chance(wanted.fract()));
        for at in 0..sentences {
            self.add(texts.next(), Role::Speech, at, all);
        }
    }

    /// How a voice says its `at`-th text of a role does not depend on how many there are: more words later are spoken
    /// beside those that are kept.
    fn add(&self, text: String, role: Role, at: usize, all: &mut Vec<Saying>) {
        let place = [self.speaker.info.spec.as_str(), &format!("{role:?}"), &text, &at.to_string()];
        let mut random = Random::of(self.plan.seed_of_data, &place);
        let options = SpeakOptions {
            speed: (random.between(SPEEDS.0, SPEEDS.1) * 100.0).round() as f32 / 100.0,
            pitch_semitones: (random.between(-2.5, 2.5) * 10.0).round() as f32 / 10.0,
            seed: seed_of(self.plan.seed_of_data, &place) >> 32,
        };
        let (group, part) = (self.speaker.group.clone(), self.speaker.part);
        all.push(Saying { voice: self.number, text, options, role, part, group });
    }
}

/// Voices say a word differently as a statement, a call and a question.
fn word_as_said(word: &str, at: usize) -> String {
    let mut letters = word.chars();
    let name: String = letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
    match at % 4 {
        0 => format!("{name}."),
        1 => format!("{name}!"),
        2 => word.to_owned(),
        _ => format!("{name}?"),
    }
}

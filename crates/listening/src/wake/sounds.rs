//! The sounds of a bench, divided into development and test, in stretches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tenpass_train::network::Random;
use tenpass_train::wake::{Part, Role, Sound, Stretch, load_recordings, plan_stretches, render};

use super::WakeBenchError;
use super::listen::Contender;

/// Sounds and the stretches they are played in.
#[derive(Debug)]
pub struct Sounds {
    sounds: Vec<Sound>,
    stretches: Vec<(Part, bool, Vec<usize>)>,
    seed: u64,
}

impl Sounds {
    /// Reads corpora or plain folders. With `divided`, half of the days and voices are for development; else
    /// everything is for the test.
    pub fn load(folders: &[PathBuf], word: &str, divided: bool, seed: u64) -> Result<Self, WakeBenchError> {
        let mut sounds = Vec::new();
        for folder in folders {
            sounds.extend(load_recordings(folder, word, Role::Speech)?);
        }
        // Near misses count apart, each once: where its end is, it may have woken the head.
        for sound in sounds.iter_mut().filter(|sound| sound.role == Role::Near) {
            sound.word_end_s = sound.voiced_s.map(|(_, end_s)| end_s);
        }
        Self::of(sounds, word, divided, seed)
    }

    /// Of sounds that are there already.
    pub fn of(mut sounds: Vec<Sound>, word: &str, divided: bool, seed: u64) -> Result<Self, WakeBenchError> {
        let mut seen = BTreeSet::new();
        // Speech with the word at an unknown place is neither a word to hit nor a false wake.
        sounds.retain(|sound| {
            let unclear = sound.role != Role::Word && tenpass_train::negatives::says(&sound.text, word);
            !unclear && seen.insert(sound.hash.clone())
        });
        if !sounds.iter().any(|sound| sound.role == Role::Word) {
            return Err(WakeBenchError::NoWords(word.to_owned()));
        }
        divide(&mut sounds, divided, seed);
        let mut all = Self { sounds, stretches: Vec::new(), seed };
        all.plan();
        Ok(all)
    }

    fn plan(&mut self) {
        self.stretches.clear();
        for part in [Part::Dev, Part::Test] {
            for near in [false, true] {
                let wanted = |sound: &Sound| sound.part == part && (sound.role == Role::Near) == near;
                let of_part: Vec<usize> = (0..self.sounds.len()).filter(|at| wanted(&self.sounds[*at])).collect();
                let seconds: Vec<f64> = of_part.iter().map(|at| self.sounds[*at].seconds()).collect();
                let planned = plan_stretches(&seconds, self.seed ^ u64::from(part == Part::Dev));
                let places = planned.into_iter().map(|clips| clips.into_iter().map(|clip| of_part[clip]).collect());
                self.stretches.extend(places.map(|clips| (part, near, clips)));
            }
        }
    }

    /// Refuses sounds that one of the heads was trained on; those that a checkpoint or a threshold was chosen
    /// with are for development.
    pub fn hold_against(&mut self, heads: &[Contender]) -> Result<(), WakeBenchError> {
        for head in heads {
            let Some(record) = &head.record else { continue };
            let trained: Vec<&Sound> = self.sounds.iter().filter(|sound| record.was_trained_on(&sound.hash)).collect();
            if let Some(sound) = trained.first() {
                let voice = if sound.voice.is_empty() { &sound.group } else { &sound.voice };
                let (head, count) = (head.name.clone(), trained.len());
                return Err(WakeBenchError::Overlap { head, count, text: sound.text.clone(), voice: voice.clone() });
            }
            for sound in &mut self.sounds {
                if record.was_chosen_with(&sound.hash) {
                    sound.part = Part::Dev;
                }
            }
        }
        self.plan();
        Ok(())
    }

    /// The sounds.
    pub fn sounds(&self) -> &[Sound] {
        &self.sounds
    }

    /// How many stretches there are.
    pub fn count(&self) -> usize {
        self.stretches.len()
    }

    /// One stretch with its part; true for near misses, which have stretches of their own.
    pub fn stretch(&self, number: usize) -> Option<(Part, bool, Stretch)> {
        let (part, near, clips) = self.stretches.get(number)?;
        let clips: Vec<(usize, &Sound)> = clips.iter().map(|clip| (*clip, &self.sounds[*clip])).collect();
        Some((*part, *near, render(&clips, self.seed)))
    }

    /// Seconds of a part, and of the speech in it.
    pub fn seconds(&self, part: Part) -> f64 {
        self.sounds.iter().filter(|sound| sound.part == part).map(Sound::seconds).sum()
    }
}

/// Half of the days and voices that say the word are for development, if there are at least two; other sound is
/// divided the same way, or clip by clip where it is all of one.
fn divide(sounds: &mut [Sound], divided: bool, seed: u64) {
    let mut groups: BTreeMap<bool, BTreeSet<String>> = BTreeMap::new();
    for sound in sounds.iter() {
        groups.entry(sound.role == Role::Word).or_default().insert(sound.group.clone());
    }
    let words: BTreeSet<String> = groups.remove(&true).unwrap_or_default();
    let alone = words.len() < 2;
    let mut order: Vec<String> = words.union(&groups.remove(&false).unwrap_or_default()).cloned().collect();
    Random::of(seed, &["development days"]).shuffle(&mut order);
    // Days and voices with the word are dealt out by turns, so that both parts have some.
    order.sort_by_key(|group| !words.contains(group));
    let dev: BTreeSet<&String> = order.iter().skip(1).step_by(2).collect();
    let single = order.len() == words.len() + 1;
    for sound in sounds {
        let chosen = if single && !words.contains(&sound.group) {
            Random::of(seed, &["development clip", &sound.hash]).chance(0.5)
        } else {
            dev.contains(&sound.group)
        };
        sound.part = if divided && !alone && chosen { Part::Dev } else { Part::Test };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(number: i16, group: &str, word: bool) -> Sound {
        let step = i32::from(number) + 3;
        let mut sound = Sound::of((0..16_000).map(|at| ((at * step) % 997) as i16 * 9).collect());
        sound.group = group.into();
        if word {
            sound.role = Role::Word;
            sound.word_end_s = Some(0.9);
        }
        sound
    }

    #[test]
    fn days_with_the_word_are_in_both_parts_and_never_in_two() {
        let sounds: Vec<Sound> =
            (0..24).map(|at| sound(at, &format!("2026-11-0{}", 1 + at % 4), at % 3 == 0)).collect();
        let all = Sounds::of(sounds, "kora", true, 3).unwrap();
        let mut parts: BTreeMap<&str, BTreeSet<Part>> = BTreeMap::new();
        for sound in all.sounds() {
            parts.entry(&sound.group).or_default().insert(sound.part);
        }
        assert!(parts.values().all(|parts| parts.len() == 1), "{parts:?}");
        let words = |part| all.sounds().iter().filter(|sound| sound.part == part && sound.role == Role::Word).count();
        assert!(words(Part::Dev) > 0 && words(Part::Test) > 0);
        let clips: usize = all.stretches.iter().map(|(_, _, clips)| clips.len()).sum();
        assert_eq!(clips, 24);
    }

    #[test]
    fn one_day_is_for_the_test_alone_and_no_word_is_an_error() {
        let sounds: Vec<Sound> = (0..6).map(|at| sound(at, "2026-11-01", at == 0)).collect();
        let all = Sounds::of(sounds.clone(), "kora", true, 3).unwrap();
        assert!(all.sounds().iter().all(|sound| sound.part == Part::Test));
        let none = Sounds::of(sounds[1..].to_vec(), "kora", true, 3);
        assert!(matches!(none, Err(WakeBenchError::NoWords(_))));
    }
}

//! Sound files of people: corpora, and plain folders.
//!
//! In a plain folder of positives every file is one utterance of the word, which ends where the sound does;
//! its day is a date at the beginning of the file's or the folder's name. A corpus says both itself.

use std::path::{Path, PathBuf};

use tenpass_audio::{Audio, SPEECH_RATE, read};
use tenpass_corpus::Clip;

use super::TrainError;
use super::sound::{Origin, Role, Sound};
use crate::negatives::says;

/// What a corpus calls a word that is nearly the wake word.
pub(super) const NEAR_INTENT: &str = "near";

/// Sound files of a folder at most.
const MOST_FILES: usize = 100_000;
/// Folders within folders at most.
const DEEPEST: usize = 8;
/// A longer file is read in pieces of this length.
const PIECE_S: f64 = 30.0;

/// The sounds of a folder at 16 kHz; without a manifest all of them are `role`.
pub fn load(folder: &Path, word: &str, role: Role) -> Result<Vec<Sound>, TrainError> {
    if folder.join("corpus.toml").is_file() {
        return corpus(folder, word);
    }
    let mut files = Vec::new();
    walk(folder, 0, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(TrainError::Nothing(folder.to_owned()));
    }
    let mut sounds = Vec::new();
    for file in files {
        let audio = read(&file).map_err(TrainError::Audio)?.at_rate(SPEECH_RATE);
        let day = day_of(&file).unwrap_or_else(|| "undated".to_owned());
        if role == Role::Word {
            let mut sound = Sound::of(audio.to_i16());
            let Some((_, end_s)) = sound.voiced_s else { return Err(TrainError::Silent(file)) };
            sound.word_end_s = Some(end_s);
            sound.text = word.to_owned();
            sound.role = Role::Word;
            sound.group = day;
            sounds.push(sound);
        } else {
            sounds.extend(pieces(&audio, role, &day));
        }
    }
    Ok(sounds)
}

/// Long sound in pieces; digital silence is left out.
fn pieces(audio: &Audio, role: Role, group: &str) -> Vec<Sound> {
    let length = (PIECE_S * f64::from(SPEECH_RATE)) as usize;
    let samples = audio.to_i16();
    let heard = samples.chunks(length).filter(|piece| piece.len() > 1600 && piece.iter().any(|sample| *sample != 0));
    heard
        .map(|piece| {
            let mut sound = Sound::of(piece.to_vec());
            sound.role = role;
            group.clone_into(&mut sound.group);
            sound
        })
        .collect()
}

fn corpus(folder: &Path, word: &str) -> Result<Vec<Sound>, TrainError> {
    let corpus = tenpass_corpus::Corpus::open(folder).map_err(|error| TrainError::Corpus(error.to_string()))?;
    let mut sounds = Vec::new();
    for clip in corpus.clips() {
        let audio = corpus.load(clip).map_err(|error| TrainError::Corpus(error.to_string()))?;
        sounds.extend(clip_sounds(clip, &audio.at_rate(SPEECH_RATE), word));
    }
    if sounds.is_empty() { Err(TrainError::Nothing(folder.to_owned())) } else { Ok(sounds) }
}

/// What a clip of a corpus is to the training.
pub fn clip_sounds(clip: &Clip, audio: &Audio, word: &str) -> Vec<Sound> {
    let role = role_of(clip, word);
    let group = if clip.synthetic { clip.voice.clone() } else { clip.day.clone() };
    let group = if group.is_empty() { "undated".to_owned() } else { group };
    let mut sounds = if role == Role::Word { vec![Sound::of(audio.to_i16())] } else { pieces(audio, role, &group) };
    for sound in &mut sounds {
        sound.role = role;
        sound.text.clone_from(&clip.text);
        sound.origin = if clip.synthetic { Origin::Synthetic } else { Origin::User };
        sound.voice.clone_from(&clip.voice);
        sound.group.clone_from(&group);
        if role == Role::Word {
            sound.word_end_s = clip.word_end_s.or(sound.voiced_s.map(|(_, end)| end));
        }
    }
    // A wake word that is followed by a command is heard where the clip says, or not at all.
    sounds.retain(|sound| sound.role != Role::Word || sound.word_end_s.is_some());
    sounds
}

fn role_of(clip: &Clip, word: &str) -> Role {
    let named = clip.wake.as_deref().is_some_and(|wake| wake.eq_ignore_ascii_case(word));
    if (named && clip.word_end_s.is_some()) || (clip.text.len() <= word.len() + 2 && says(&clip.text, word)) {
        return Role::Word;
    }
    match clip.intent.as_str() {
        "silence" | "noise" => Role::Noise,
        NEAR_INTENT => Role::Near,
        _ => Role::Speech,
    }
}

/// Whether a clip says the word and no place is known for it: it can be neither positive nor negative.
pub(crate) fn is_ambiguous(sound: &Sound, word: &str) -> bool {
    sound.role != Role::Word && says(&sound.text, word)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), TrainError> {
    let entries = std::fs::read_dir(folder).map_err(|error| TrainError::file(folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| TrainError::file(folder, error))?.path();
        if path.is_dir() {
            if depth < DEEPEST {
                walk(&path, depth + 1, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("wav") || kind.eq_ignore_ascii_case("flac"))
        {
            files.push(path);
        }
        if files.len() > MOST_FILES {
            return Err(TrainError::TooMany { folder: folder.to_owned(), most: MOST_FILES });
        }
    }
    Ok(())
}

/// A date at the beginning of the file's name, or of its folder's.
fn day_of(file: &Path) -> Option<String> {
    let names = [file.file_stem(), file.parent().and_then(Path::file_name)];
    names.into_iter().flatten().find_map(|name| {
        let begin: String = name.to_string_lossy().chars().take(10).collect();
        begin.parse::<jiff::civil::Date>().ok().map(|day| day.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_in_the_name_of_the_file_or_of_its_folder() {
        assert_eq!(day_of(Path::new("a/2026-11-30-kora-3.wav")).as_deref(), Some("2026-11-30"));
        assert_eq!(day_of(Path::new("2026-12-01 evening/kora.wav")).as_deref(), Some("2026-12-01"));
        assert_eq!(day_of(Path::new("a/2026-13-30.wav")), None);
    }

    #[test]
    fn a_clip_is_what_its_manifest_says() {
        let clip = |text: &str, intent: &str, wake: Option<&str>, word_end_s| Clip {
            text: text.into(),
            intent: intent.into(),
            wake: wake.map(str::to_owned),
            word_end_s,
            ..Clip::default()
        };
        assert_eq!(role_of(&clip("Kora.", "wake", None, None), "kora"), Role::Word);
        assert_eq!(role_of(&clip("Kora, stop.", "stop", Some("kora"), Some(0.6)), "kora"), Role::Word);
        assert_eq!(role_of(&clip("Stop.", "stop", None, None), "kora"), Role::Speech);
        assert_eq!(role_of(&clip("", "noise", None, None), "kora"), Role::Noise);
        assert_eq!(role_of(&clip("zora", "near", None, None), "kora"), Role::Near);
        let mut sound = Sound::of(vec![100; 3200]);
        sound.text = "kora, stop".into();
        assert!(is_ambiguous(&sound, "kora") && !is_ambiguous(&sound, "alexa"));
    }
}

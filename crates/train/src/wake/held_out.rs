//! The held-out sounds as a corpus, so that a head can be measured again, beside others.

use std::path::Path;

use tenpass_corpus::{Clip, Corpus};

use super::TrainError;
use super::data::Data;
use super::recordings::NEAR_INTENT;
use super::sound::{Origin, Part, Role, Sound};

/// Writes development and test sounds into a corpus; one that is there is replaced.
pub(super) fn write(data: &Data, word: &str, folder: &Path) -> Result<(), TrainError> {
    let failed = |error: tenpass_corpus::CorpusError| TrainError::Corpus(error.to_string());
    if folder.join("corpus.toml").is_file() {
        std::fs::remove_dir_all(folder).map_err(|error| TrainError::file(folder, error))?;
    }
    let description = format!("What was held out of the training of `{word}`");
    let mut corpus =
        Corpus::create(folder, "held-out", &description, "that of the recordings and voices").map_err(failed)?;
    for (number, sound) in data.sounds.iter().enumerate().filter(|(_, sound)| sound.part != Part::Train) {
        corpus.put(clip(number, sound, word), &sound.audio()).map_err(failed)?;
    }
    corpus.save().map_err(failed)
}

fn clip(number: usize, sound: &Sound, word: &str) -> Clip {
    let intent = match sound.role {
        Role::Word => "wake",
        Role::Near => NEAR_INTENT,
        Role::Speech => "none",
        Role::Noise => "noise",
    };
    let said = sound.role == Role::Word;
    let synthetic = sound.origin == Origin::Synthetic;
    Clip {
        file: format!("{}/{number:05}.wav", sound.part.name()),
        text: sound.text.clone(),
        intent: intent.to_owned(),
        voice: if sound.voice.is_empty() { sound.group.clone() } else { sound.voice.clone() },
        synthetic,
        day: if synthetic { "r1".to_owned() } else { sound.group.clone() },
        room: "dry".to_owned(),
        wake: said.then(|| word.to_owned()),
        word_end_s: if said { sound.word_end_s } else { None },
        ..Clip::default()
    }
}

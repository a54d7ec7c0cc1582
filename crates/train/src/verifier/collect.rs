//! From folders of sound to one window per event.

use std::path::{Path, PathBuf};

use tenpass_wake::Head;

use super::VerifierError;
use super::folds::Example;
use crate::features::{Extractor, parallel};
use crate::network::WIDTH;
use crate::wake::{Role, Sound, TrainError, load_recordings};

/// Silence around a clip, in samples: the windows before its first sound are full, and the last one is heard out.
const BEFORE: usize = 22_400;
const AFTER: usize = 9_600;

/// Folders with sound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The user saying the wake word.
    pub own: Vec<PathBuf>,
    /// Anything to turn away: other voices saying the word, the user's other speech, past false wakes. In a corpus
    /// a voice is a speaker; in a plain folder every folder within is one.
    pub others: Vec<PathBuf>,
}

/// One window per recording: that of the highest score. Recordings of the user's in which the head does not
/// reach `threshold` are no events and are left out.
pub fn collect(
    sources: &Sources,
    head: &Head,
    threshold: f32,
    extractor: &Extractor,
    threads: usize,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Example>, VerifierError> {
    let word = head.metadata().iter().find(|(name, _)| name == "wake_word").map_or(head.name(), |(_, word)| word);
    let mut sounds: Vec<(bool, String, Sound)> = Vec::new();
    for folder in &sources.own {
        for sound in load_recordings(folder, word, Role::Word)? {
            // The user's own other speech in the same corpus is to be turned away.
            let own = sound.role == Role::Word;
            let speaker = if own { "own" } else { "own, other words" };
            sounds.push((own, speaker.to_owned(), sound));
        }
    }
    for folder in &sources.others {
        for (speaker, sound) in speakers(folder, word)? {
            sounds.push((false, speaker, sound));
        }
    }
    let examples = parallel(
        &sounds,
        threads,
        |_, (own, speaker, sound)| example(*own, speaker, sound, head, threshold, extractor),
        &|finished| done(finished, sounds.len()),
    )?;
    let examples: Vec<Example> = examples.into_iter().flatten().collect();
    if !examples.iter().any(|example| example.own) {
        return Err(VerifierError::Nothing(sources.own.first().cloned().unwrap_or_default()));
    }
    Ok(examples)
}

fn example(
    own: bool,
    speaker: &str,
    sound: &Sound,
    head: &Head,
    threshold: f32,
    extractor: &Extractor,
) -> Result<Option<Example>, TrainError> {
    let mut samples = vec![0; BEFORE];
    samples.extend_from_slice(&sound.samples);
    samples.resize(samples.len() + AFTER, 0);
    let embeddings = extractor.stream(&samples)?;
    let rows = embeddings.as_chunks::<WIDTH>().0;
    let best =
        (16..=rows.len()).map(|end| (head.score(&rows[..end]), end)).max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((score, end)) = best else { return Ok(None) };
    if own && score < threshold {
        return Ok(None);
    }
    let window = rows[end - 16..end].as_flattened().to_vec();
    let day = if speaker.starts_with("own") { sound.group.clone() } else { String::new() };
    Ok(Some(Example { window, own, speaker: speaker.to_owned(), day }))
}

/// Sounds with their speakers.
fn speakers(folder: &Path, word: &str) -> Result<Vec<(String, Sound)>, TrainError> {
    let name = |path: &Path| path.file_name().map_or_else(|| "others".to_owned(), |name| name.to_string_lossy().into());
    if folder.join("corpus.toml").is_file() {
        let sounds = load_recordings(folder, word, Role::Speech)?;
        let speaker = |sound: &Sound| if sound.voice.is_empty() { sound.group.clone() } else { sound.voice.clone() };
        return Ok(sounds.into_iter().map(|sound| (speaker(&sound), sound)).collect());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| TrainError::file(folder, error))?;
    let mut within: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    within.sort();
    if within.is_empty() {
        within.push(folder.to_owned());
    }
    let mut all = Vec::new();
    for folder in within {
        let speaker = name(&folder);
        all.extend(load_recordings(&folder, word, Role::Speech)?.into_iter().map(|sound| (speaker.clone(), sound)));
    }
    Ok(all)
}

//! Human telephone prompts as clips: Asterisk's core sounds, WAV of 8 kHz with their texts.
//!
//! The text file has one `name: text` a line; a text in brackets describes a sound, and is none. A name without a file,
//! and a file without a text, are counted and passed over.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tenpass_audio::level::{speech_end_s, trim};
use tenpass_audio::{SPEECH_RATE, read_noted};

use crate::corpus::rounded;
use crate::slug::slug;
use crate::{Clip, Corpus, CorpusError};

/// A file of texts is not longer, unpacked.
const LONGEST_TEXTS: u64 = 16 << 20;
/// Silence that is kept around speech.
const KEEP_S: f64 = 0.25;
/// Shorter sound is a click.
const SHORTEST_S: f64 = 0.1;

/// Where prompts come from and what they are.
#[derive(Debug, Clone)]
pub struct Prompts {
    /// The folder with the WAV files.
    pub sounds: PathBuf,
    /// `core-sounds-LANGUAGE.txt`, or the same with `.gz`.
    pub texts: PathBuf,
    /// Their language.
    pub language: String,
    /// Who speaks.
    pub voice: String,
    /// At most so many, evenly chosen; `None` for all.
    pub most: Option<usize>,
    /// Only those with at least so many words.
    pub words: usize,
    /// FLAC, or WAV.
    pub flac: bool,
}

/// What became of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Imported {
    /// Clips that were written.
    pub written: usize,
    /// Clips that were there before.
    pub before: usize,
    /// Sound files without a text.
    pub without_text: usize,
    /// Texts without a sound file.
    pub without_sound: usize,
    /// Texts that describe a sound, such as `[beep]`.
    pub no_speech: usize,
    /// Texts with fewer words than asked.
    pub short: usize,
    /// Files that cannot be used, and why.
    pub unusable: Vec<String>,
}

/// Imports prompts. What is in the corpus already is left alone. `progress` gets the number of prompts done and of all,
/// and answers `false` to stop.
pub fn import_prompts(
    corpus: &mut Corpus,
    prompts: &Prompts,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Imported, CorpusError> {
    let mut imported = Imported::default();
    let texts = read_texts(&prompts.texts, &mut imported)?;
    let mut chosen = Vec::new();
    for (name, text) in &texts {
        let sound = prompts.sounds.join(format!("{name}.wav"));
        if !sound.is_file() {
            imported.without_sound += 1;
        } else if text.split_whitespace().count() < prompts.words {
            imported.short += 1;
        } else {
            chosen.push((name, text, sound));
        }
    }
    imported.without_text = sounds_below(&prompts.sounds)?.saturating_sub(texts.len() - imported.without_sound);
    let total = prompts.most.unwrap_or(chosen.len()).min(chosen.len());
    for index in 0..total {
        let (name, text, sound) = &chosen[index * chosen.len() / total];
        import_one(corpus, prompts, name, text, sound, &mut imported)?;
        if !progress(index + 1, total) {
            break;
        }
    }
    corpus.save()?;
    Ok(imported)
}

fn import_one(
    corpus: &mut Corpus,
    prompts: &Prompts,
    name: &str,
    text: &str,
    sound: &Path,
    imported: &mut Imported,
) -> Result<(), CorpusError> {
    let form = if prompts.flac { "flac" } else { "wav" };
    let folder = slug(&prompts.voice);
    let file = format!("{}/{folder}/{}.{form}", prompts.language, name.replace('/', "-"));
    if corpus.has(&file) {
        imported.before += 1;
        return Ok(());
    }
    let audio = match read_noted(sound) {
        Ok((audio, None)) => trim(&audio.at_rate(SPEECH_RATE), KEEP_S),
        Ok((_, Some(note))) => {
            imported.unusable.push(note);
            return Ok(());
        }
        Err(error) => {
            imported.unusable.push(error.to_string());
            return Ok(());
        }
    };
    if audio.seconds() < SHORTEST_S {
        imported.unusable.push(format!("{}: nothing is heard in it", sound.display()));
        return Ok(());
    }
    let clip = Clip {
        file,
        text: text.to_owned(),
        intent: "none".to_owned(),
        language: prompts.language.clone(),
        voice: prompts.voice.clone(),
        synthetic: false,
        day: String::new(),
        room: "telephone".to_owned(),
        speech_end_s: speech_end_s(&audio).map(rounded),
        ..Clip::default()
    };
    corpus.put(clip, &audio)?;
    imported.written += 1;
    Ok(())
}

/// Names and texts, in the order of the file.
fn read_texts(path: &Path, imported: &mut Imported) -> Result<Vec<(String, String)>, CorpusError> {
    let failed = |error| CorpusError::file(path, error);
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(file).take(LONGEST_TEXTS + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        file.take(LONGEST_TEXTS + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > LONGEST_TEXTS {
        return Err(CorpusError::manifest(path, "has more than 16 MB of text"));
    }
    let text = String::from_utf8(bytes).map_err(|_| CorpusError::manifest(path, "is not UTF-8 text"))?;
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(';')) {
        let Some((name, said)) = line.split_once(':') else { continue };
        let (name, said) = (name.trim(), said.trim());
        let inside = !name.contains('\\') && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
        if said.is_empty() || said.starts_with(['[', '(', '<']) {
            imported.no_speech += 1;
        } else if inside && names.insert(name.to_owned()) {
            texts.push((name.to_owned(), said.to_owned()));
        }
    }
    if texts.is_empty() {
        return Err(CorpusError::manifest(path, "has no lines `name: text`"));
    }
    Ok(texts)
}

fn sounds_below(folder: &Path) -> Result<usize, CorpusError> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).map_err(|error| CorpusError::file(folder, error))?.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += sounds_below(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "wav") {
            count += 1;
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use tenpass_audio::{Audio, write_wav};

    use super::*;

    fn prompts(folder: &Path) -> Prompts {
        let tone: Vec<f32> = (0..8_000).map(|n| 0.3 * (n as f32 * 0.3).sin()).collect();
        for name in ["hello", "goodbye", "digits/one", "beep", "nameless"] {
            let path = folder.join("sounds").join(format!("{name}.wav"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            write_wav(&path, &Audio::new(tone.clone(), 8_000)).unwrap();
        }
        std::fs::write(folder.join("sounds/broken.wav"), b"RIFF").unwrap();
        let texts = "; comment\n\nhello: Hello: world.\ngoodbye: Goodbye to you.\ndigits/one: one\nbeep: [a beep]\n\
                     lost: Nobody has it.\nbroken: Broken it is.\n../../evil: Out of here.\nhello: Twice.\n";
        std::fs::write(folder.join("core.txt"), texts).unwrap();
        Prompts {
            sounds: folder.join("sounds"),
            texts: folder.join("core.txt"),
            language: "en".to_owned(),
            voice: "Allison Smith".to_owned(),
            most: None,
            words: 1,
            flac: true,
        }
    }

    #[test]
    fn every_prompt_is_a_clip_or_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut corpus = Corpus::create(&folder.path().join("corpus"), "prompts", "", "CC-BY-SA-3.0").unwrap();
        let prompts = prompts(folder.path());
        let imported = import_prompts(&mut corpus, &prompts, &mut |_, _| true).unwrap();
        assert_eq!((imported.written, imported.without_sound, imported.no_speech), (3, 1, 1));
        assert_eq!((imported.without_text, imported.unusable.len()), (2, 1), "{imported:?}");
        assert!(imported.unusable[0].contains("broken.wav"));
        let clip = &corpus.clips()[0];
        assert_eq!((clip.file.as_str(), clip.text.as_str()), ("en/allison-smith/hello.flac", "Hello: world."));
        assert_eq!((clip.intent.as_str(), clip.synthetic), ("none", false));
        assert!((clip.speech_end_s.unwrap() - 1.0).abs() < 0.02, "{clip:?}");
        assert_eq!(corpus.load(clip).unwrap().rate, SPEECH_RATE);
        let again = import_prompts(&mut corpus, &prompts, &mut |_, _| true).unwrap();
        assert_eq!((again.written, again.before), (0, 3));
        assert_eq!(corpus.verify().unwrap(), []);
    }

    #[test]
    fn packed_texts_are_read_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut prompts = prompts(folder.path());
        let packed = folder.path().join("core.txt.gz");
        let mut encoder =
            flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), flate2::Compression::default());
        std::io::Write::write_all(&mut encoder, b"goodbye: Goodbye to you.\ndigits/one: one\n").unwrap();
        encoder.finish().unwrap();
        prompts.texts = packed;
        prompts.words = 2;
        let mut corpus = Corpus::create(&folder.path().join("corpus"), "prompts", "", "x").unwrap();
        let imported = import_prompts(&mut corpus, &prompts, &mut |_, _| true).unwrap();
        assert_eq!((imported.written, imported.short), (1, 1));
        std::fs::write(folder.path().join("core.txt"), "nothing").unwrap();
        prompts.texts = folder.path().join("core.txt");
        let error = import_prompts(&mut corpus, &prompts, &mut |_, _| true).unwrap_err();
        assert!(error.to_string().contains("no lines"), "{error}");
    }
}

//! Kokoro-82M: phonemes as numbers and a style vector by their count in, 24 kHz out. No noise inside: equal
//! text, options and thread count give equal samples.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ort::session::SessionInputValue;
use ort::value::Tensor;
use tenpass_audio::Audio;

use super::blend::Blend;
use super::checked;
use super::onnx::Model;
use super::phonemes::{Clause, Phonemizer};
use crate::symbols::{MOST_TOKENS, symbols, tokens};
use crate::{Cancel, Files, SpeakOptions, TtsError, Voice, VoiceInfo, VoiceSpec};

/// Samples a second.
const RATE: u32 = 24_000;
/// A style file: 510 vectors of 256 numbers, the one for n tokens at n − 1.
const STYLE: usize = 256;
/// Its size in bytes.
const STYLE_BYTES: usize = 510 * STYLE * 4;

/// The languages that espeak-ng gives phonemes for, by the first letter of a voice.
const LANGUAGES: &[(char, &str)] =
    &[('a', "en-us"), ('b', "en-gb"), ('f', "fr-fr"), ('e', "es"), ('i', "it"), ('p', "pt-br"), ('h', "hi")];

/// The model with one of its voices.
pub(crate) struct Kokoro {
    model: Arc<Model>,
    styles: Vec<f32>,
    language: &'static str,
    phonemizer: Phonemizer,
    info: VoiceInfo,
}

fn language(voice: &str) -> Option<&'static str> {
    let first = voice.chars().next()?;
    LANGUAGES.iter().find(|(letter, _)| *letter == first).map(|(_, language)| *language)
}

/// What a blend says it speaks, or else its first voice.
fn spoken_language(blend: &Blend) -> Option<&'static str> {
    let Some(named) = &blend.language else { return language(&blend.voices.first()?.0) };
    LANGUAGES.iter().map(|(_, language)| *language).find(|language| language == named)
}

/// The names of all style files, also of those whose own language has no phonemes here: as parts of a blend they
/// speak another one.
pub fn kokoro_styles(files: &Files) -> Vec<String> {
    files.kokoro_voices.as_deref().map(names).unwrap_or_default()
}

fn info(voice: &str, language: &str) -> VoiceInfo {
    VoiceInfo {
        spec: VoiceSpec::Kokoro { voice: voice.to_owned() }.to_string(),
        engine: "kokoro".to_owned(),
        language: language.split('-').next().unwrap_or(language).to_owned(),
        rate: RATE,
        natural: true,
    }
}

/// The voices in the folder of styles that can be spoken.
pub(crate) fn present(folder: &Path) -> Vec<VoiceInfo> {
    let mut names = names(folder);
    // The ones recorded best first, then by name.
    names.sort_by_key(|name| (!matches!(name.as_str(), "af_heart" | "ff_siwis" | "bf_emma"), name.clone()));
    names.iter().filter_map(|name| language(name).map(|language| info(name, language))).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let styles = files.filter(|path| path.extension().is_some_and(|extension| extension == "bin"));
    let mut names: Vec<String> =
        styles.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

impl Kokoro {
    /// Loads the model and a voice.
    pub(crate) fn open(voice: &str, files: &Files) -> Result<Self, TtsError> {
        let missing = |what: &str, pull: &str| TtsError::Missing {
            what: what.to_owned(),
            hint: format!("tenpass models pull {pull}"),
        };
        let path = files.kokoro.clone().ok_or_else(|| missing("Kokoro", "kokoro-82m kokoro-voices onnxruntime"))?;
        let folder = files.kokoro_voices.clone().ok_or_else(|| missing("the voices of Kokoro", "kokoro-voices"))?;
        let blend = Blend::parse(voice)?;
        let tables: Vec<Vec<f32>> =
            blend.voices.iter().map(|(name, _)| styles(&folder, name)).collect::<Result<_, _>>()?;
        let styles = blend.mean(&tables);
        let language = spoken_language(&blend).ok_or_else(|| {
            TtsError::Spec(format!("kokoro:{voice} speaks a language whose phonemes espeak-ng cannot give"))
        })?;
        let failed = |problem: String| TtsError::Model { path: path.clone(), problem };
        let model = Model::shared("kokoro", &path, files)?;
        if model.inputs.len() != 3 {
            return Err(failed(format!("the model has {} inputs and not 3: it is no Kokoro", model.inputs.len())));
        }
        let phonemizer = Phonemizer::new(language, true, files);
        Ok(Self { model, styles, language, phonemizer, info: info(voice, language) })
    }

    fn infer(&self, tokens: &[i64], speed: f32, cancel: &Cancel) -> Result<Vec<f32>, TtsError> {
        let failed = |error: ort::Error| TtsError::Engine { engine: "kokoro".to_owned(), problem: error.to_string() };
        let row = tokens.len().saturating_sub(1).min(MOST_TOKENS - 1) * STYLE;
        let framed: Vec<i64> = std::iter::once(0).chain(tokens.iter().copied()).chain([0]).collect();
        let names = &self.model.inputs;
        let inputs: Vec<(Cow<'static, str>, SessionInputValue<'_>)> = vec![
            (names[0].clone().into(), Tensor::from_array(([1, framed.len()], framed)).map_err(failed)?.into()),
            (
                names[1].clone().into(),
                Tensor::from_array(([1, STYLE], self.styles[row..row + STYLE].to_vec())).map_err(failed)?.into(),
            ),
            (names[2].clone().into(), Tensor::from_array(([1], vec![speed])).map_err(failed)?.into()),
        ];
        self.model.run(inputs, cancel)
    }
}

fn styles(folder: &Path, voice: &str) -> Result<Vec<f32>, TtsError> {
    let path: PathBuf = folder.join(format!("{voice}.bin"));
    if !path.is_file() {
        let known: Vec<String> = names(folder).into_iter().filter(|name| language(name).is_some()).collect();
        let first = voice.chars().next();
        // Those of the same language, when it names one; the whole list is long.
        let near: Vec<&str> = known.iter().filter(|name| name.chars().next() == first).map(String::as_str).collect();
        let problem = match near.as_slice() {
            [] => format!("Kokoro has no voice `{voice}`, but {} others", known.len()),
            near => format!("Kokoro has no voice `{voice}`, but {}", near.join(", ")),
        };
        return Err(TtsError::Spec(problem));
    }
    let failed = |problem: String| TtsError::Model { path: path.clone(), problem };
    let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    if bytes.len() != STYLE_BYTES {
        return Err(failed(format!("a style file has {STYLE_BYTES} bytes, this one {}", bytes.len())));
    }
    let styles: Vec<f32> =
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    if styles.iter().all(|value| value.is_finite()) {
        Ok(styles)
    } else {
        Err(failed("it holds no numbers".to_owned()))
    }
}

/// The clauses as token lists of at most 510, cut between sentences where possible.
fn pieces(clauses: &[Clause], language: &str) -> Vec<Vec<i64>> {
    let mut pieces: Vec<Vec<i64>> = vec![Vec::new()];
    for clause in clauses {
        let mut text = symbols(&clause.phonemes, language);
        text.extend(clause.mark);
        text.push(' ');
        for part in tokens(&text).chunks(MOST_TOKENS) {
            if pieces.last().is_some_and(|piece| piece.len() + part.len() > MOST_TOKENS) {
                pieces.push(Vec::new());
            }
            if let Some(piece) = pieces.last_mut() {
                piece.extend_from_slice(part);
            }
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

impl Voice for Kokoro {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
        let speed = options.checked_speed()?;
        let clauses = self.phonemizer.clauses(checked(text)?, cancel)?;
        let mut samples = Vec::new();
        for piece in pieces(&clauses, self.language) {
            samples.extend(self.infer(&piece, speed, cancel)?);
        }
        samples.iter_mut().for_each(|sample| *sample = sample.clamp(-1.0, 1.0));
        Ok(Audio::new(samples, RATE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_into_pieces_the_model_takes() {
        let clause = |length: usize| Clause { phonemes: "a".repeat(length), mark: Some(',') };
        let lengths = |clauses: &[Clause]| pieces(clauses, "fr-fr").iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&[clause(10), clause(20)]), [34]);
        assert_eq!(lengths(&[clause(400), clause(300)]), [402, 302]);
        assert_eq!(lengths(&[clause(1200)]), [510, 510, 182]);
        assert!(lengths(&[]).is_empty());
    }
}

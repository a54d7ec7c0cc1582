//! Piper voices: a VITS model in `.onnx` with its settings in `.onnx.json` beside it.
//!
//! Sentence by sentence: espeak-ng's phonemes, in decomposed form (NFD), become numbers by the voice's
//! `phoneme_id_map`, framed and parted as the model was trained: `^ _ p _ p _ … $`. The model's two sources of
//! noise are filled from the seed, so that equal text, options and thread count give equal samples.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ort::session::SessionInputValue;
use ort::value::Tensor;
use serde::Deserialize;
use tenpass_audio::{Audio, Random};
use unicode_normalization::UnicodeNormalization as _;

use super::onnx::Model;
use super::phonemes::Phonemizer;
use super::{checked, graph};
use crate::{Cancel, Files, SpeakOptions, TtsError, Voice, VoiceInfo, VoiceSpec};

/// Most phonemes of one sentence; longer ones are cut at a word.
const MOST_PHONEMES: usize = 600;
/// Largest settings file that is read.
const MOST_SETTINGS: u64 = 4_000_000;
/// Loudest sample after the voice's level is evened out.
const PEAK: f32 = 0.9;

/// What the `.onnx.json` says; the rest of it is not needed.
#[derive(Debug, Deserialize)]
struct Settings {
    audio: AudioSettings,
    espeak: EspeakSettings,
    #[serde(default)]
    inference: Inference,
    #[serde(default)]
    phoneme_type: Option<String>,
    phoneme_id_map: HashMap<String, Vec<i64>>,
    #[serde(default)]
    num_speakers: u32,
    #[serde(default)]
    speaker_id_map: HashMap<String, i64>,
}

#[derive(Debug, Deserialize)]
struct AudioSettings {
    sample_rate: u32,
}

#[derive(Debug, Deserialize)]
struct EspeakSettings {
    voice: String,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Inference {
    noise_scale: f32,
    length_scale: f32,
    noise_w: f32,
}

impl Default for Inference {
    fn default() -> Self {
        Self { noise_scale: 0.667, length_scale: 1.0, noise_w: 0.8 }
    }
}

/// A loaded voice.
pub(crate) struct Piper {
    model: Model,
    noises: usize,
    settings: Settings,
    speaker: Option<i64>,
    phonemizer: Phonemizer,
    info: VoiceInfo,
}

/// The `.onnx` file of a name or path.
fn locate(model: &str, files: &Files) -> Result<PathBuf, TtsError> {
    if let Some(path) = files.piper.get(model) {
        return Ok(path.clone());
    }
    let path = Path::new(model);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) {
        if path.is_file() {
            return Ok(path.to_owned());
        }
        return Err(TtsError::Spec(format!("there is no file {model}")));
    }
    let hint = format!("tenpass models pull {model}, if the catalogue has it, or name an .onnx file");
    Err(TtsError::Missing { what: format!("the Piper voice {model}"), hint })
}

fn settings(path: &Path) -> Result<Settings, TtsError> {
    let failed = |problem: String| TtsError::Model { path: path.to_owned(), problem };
    let size =
        std::fs::metadata(path).map_err(|error| failed(format!("the voice's settings are missing: {error}")))?.len();
    if size > MOST_SETTINGS {
        return Err(failed(format!("settings of {size} bytes are no settings of a voice")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let settings: Settings = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let rate = settings.audio.sample_rate;
    if !(8_000..=48_000).contains(&rate) {
        return Err(failed(format!("audio.sample_rate is {rate}, not 8000 to 48000")));
    }
    if let Some(symbol) = ["_", "^", "$"].into_iter().find(|symbol| !settings.phoneme_id_map.contains_key(*symbol)) {
        return Err(failed(format!("phoneme_id_map has no `{symbol}`")));
    }
    let Inference { noise_scale, length_scale, noise_w } = settings.inference;
    if ![noise_scale, length_scale, noise_w].iter().all(|scale| (0.0..=10.0).contains(scale)) || length_scale == 0.0 {
        return Err(failed(format!("inference has scales {noise_scale}, {length_scale}, {noise_w}, not 0 to 10")));
    }
    match settings.phoneme_type.as_deref() {
        None | Some("espeak" | "text") => Ok(settings),
        Some(other) => Err(failed(format!("phoneme_type is `{other}`; espeak and text can be spoken"))),
    }
}

/// What the settings say about a voice, without loading it.
pub(crate) fn describe(name: &str, path: &Path) -> Result<VoiceInfo, TtsError> {
    Ok(info(name, None, &settings(&settings_path(path))?))
}

fn settings_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

fn info(model: &str, speaker: Option<&str>, settings: &Settings) -> VoiceInfo {
    let spec = VoiceSpec::Piper { model: model.to_owned(), speaker: speaker.map(str::to_owned) };
    let language = settings.espeak.voice.split(['-', '_']).next().unwrap_or("en").to_lowercase();
    VoiceInfo {
        spec: spec.to_string(),
        engine: "piper".to_owned(),
        language,
        rate: settings.audio.sample_rate,
        natural: true,
    }
}

impl Piper {
    /// Loads a voice by name or path.
    pub(crate) fn open(model: &str, speaker: Option<&str>, files: &Files) -> Result<Self, TtsError> {
        let path = locate(model, files)?;
        let settings = settings(&settings_path(&path))?;
        let info = info(model, speaker, &settings);
        let speaker = speaker_number(speaker, &settings)?;
        let failed = |problem: String| TtsError::Model { path: path.clone(), problem };
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let (bytes, noises) = graph::with_noise_inputs(&bytes).map_err(&failed)?;
        let model = Model::load("piper", &path, &bytes, files)?;
        let wanted = ["input", "input_lengths", "scales"];
        if let Some(name) = wanted.iter().find(|name| !model.inputs.iter().any(|input| input == *name)) {
            return Err(failed(format!("the model has no input `{name}`: it is no Piper voice")));
        }
        let phonemizer = Phonemizer::new(&settings.espeak.voice, false, files);
        Ok(Self { model, noises, settings, speaker, phonemizer, info })
    }

    /// The sentences as numbers.
    fn sentences(&self, text: &str, cancel: &Cancel) -> Result<Vec<Vec<i64>>, TtsError> {
        let mut sentences = vec![String::new()];
        if self.settings.phoneme_type.as_deref() == Some("text") {
            sentences = vec![text.to_lowercase()];
        } else {
            for clause in self.phonemizer.clauses(text, cancel)? {
                let Some(sentence) = sentences.last_mut() else { break };
                sentence.push_str(&clause.phonemes);
                sentence.extend(clause.mark);
                if clause.ends_sentence() {
                    sentences.push(String::new());
                } else {
                    sentence.push(' ');
                }
            }
        }
        let words = sentences.iter().flat_map(|sentence| cut(sentence.trim()));
        Ok(words.filter(|sentence| !sentence.is_empty()).map(|sentence| self.numbers(&sentence)).collect())
    }

    /// `^ _ p _ p _ … $`; symbols that the voice does not know are left out.
    fn numbers(&self, sentence: &str) -> Vec<i64> {
        let map = &self.settings.phoneme_id_map;
        let of = |symbol: &str| map.get(symbol).map_or(&[][..], Vec::as_slice);
        let mut numbers = [of("^"), of("_")].concat();
        let mut buffer = [0; 4];
        for symbol in sentence.nfd() {
            let known = of(symbol.encode_utf8(&mut buffer));
            if !known.is_empty() {
                numbers.extend_from_slice(known);
                numbers.extend_from_slice(of("_"));
            }
        }
        numbers.extend_from_slice(of("$"));
        numbers
    }

    fn infer(
        &self,
        numbers: &[i64],
        options: &SpeakOptions,
        random: &mut Random,
        cancel: &Cancel,
    ) -> Result<Vec<f32>, TtsError> {
        let Inference { noise_scale, length_scale, noise_w } = self.settings.inference;
        let scales = vec![noise_scale, length_scale / options.checked_speed()?, noise_w];
        // The widest noise has 192 values a frame of 256 samples. How many frames there will be is known only
        // inside; on too few the model fails on a shape, and is run again with more.
        let mut frames = numbers.len() * 4 + 64;
        let start = random.clone();
        loop {
            *random = start.clone();
            let noise: Vec<Vec<f32>> = (0..self.noises).map(|_| normal(random, frames * 192)).collect();
            match self.once(numbers, &scales, &noise, cancel) {
                Err(TtsError::Engine { .. }) if frames < numbers.len() * 128 => frames *= 4,
                other => return other,
            }
        }
    }

    fn once(&self, numbers: &[i64], scales: &[f32], noise: &[Vec<f32>], cancel: &Cancel) -> Result<Vec<f32>, TtsError> {
        let failed = |error: ort::Error| TtsError::Engine { engine: "piper".to_owned(), problem: error.to_string() };
        let count = numbers.len();
        let mut inputs: Vec<(Cow<'static, str>, SessionInputValue<'_>)> = vec![
            ("input".into(), Tensor::from_array(([1, count], numbers.to_vec())).map_err(failed)?.into()),
            ("input_lengths".into(), Tensor::from_array(([1], vec![count as i64])).map_err(failed)?.into()),
            ("scales".into(), Tensor::from_array(([3], scales.to_vec())).map_err(failed)?.into()),
        ];
        if let Some(speaker) = self.speaker
            && self.model.inputs.iter().any(|input| input == "sid")
        {
            inputs.push(("sid".into(), Tensor::from_array(([1], vec![speaker])).map_err(failed)?.into()));
        }
        for (index, noise) in noise.iter().enumerate() {
            let tensor = Tensor::from_array(([noise.len()], noise.clone())).map_err(failed)?;
            inputs.push((format!("{}{index}", graph::NOISE).into(), tensor.into()));
        }
        self.model.run(inputs, cancel)
    }
}

/// Standard normal numbers, two at a time (Box and Muller).
fn normal(random: &mut Random, count: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let radius = (-2.0 * (1.0 - random.unit() as f32).max(f32::MIN_POSITIVE).ln()).sqrt();
        let (sine, cosine) = (std::f32::consts::TAU * random.unit() as f32).sin_cos();
        values.extend([radius * cosine, radius * sine]);
    }
    values.truncate(count);
    values
}

/// The number of a speaker by name or number; the first one when none is named.
fn speaker_number(speaker: Option<&str>, settings: &Settings) -> Result<Option<i64>, TtsError> {
    let count = i64::from(settings.num_speakers.max(1));
    let Some(speaker) = speaker else { return Ok((count > 1).then_some(0)) };
    let number = settings.speaker_id_map.get(speaker).copied().or_else(|| speaker.parse().ok());
    match number {
        Some(number) if (0..count).contains(&number) => Ok(Some(number)),
        _ => Err(TtsError::Spec(format!("this voice has no speaker `{speaker}`, it has {count}"))),
    }
}

/// Cuts a sentence that is too long for the model at its words.
fn cut(sentence: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in sentence.split_inclusive(' ') {
        let full = pieces.last().is_some_and(|piece| piece.chars().count() + word.chars().count() > MOST_PHONEMES);
        if full {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.extend(word.chars().take(MOST_PHONEMES));
        }
    }
    pieces
}

impl Voice for Piper {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
        let mut random = Random::named(options.seed, "piper");
        let mut samples = Vec::new();
        for numbers in self.sentences(checked(text)?, cancel)? {
            samples.extend(self.infer(&numbers, options, &mut random, cancel)?);
        }
        let peak = samples.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
        if peak > 0.01 {
            let gain = PEAK / peak;
            samples.iter_mut().for_each(|sample| *sample *= gain);
        }
        Ok(Audio::new(samples, self.info.rate))
    }
}

//! From a SPEC and files to an engine.

use std::path::PathBuf;

use crate::candle::CandleWhisper;
use crate::import::source::{Form, Source, fault};
use crate::import::{ImportStep, Quantisation, cache, ggml};
use crate::listen::{Gate, Listener};
use crate::spec::{EngineKind, SttSpec};
use crate::transcriber::{EngineInfo, SttError, Transcriber};
use crate::vocabulary::Vocabulary;
use crate::whisper_cpp::WhisperCpp;

/// Where a model's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// A CTranslate2 `model.bin`, a ggml file, `model.safetensors`, or a folder with one of them.
    pub weights: PathBuf,
    /// The vocabulary; `None` looks for `tokenizer.json` beside the weights. A ggml file needs none.
    pub tokenizer: Option<PathBuf>,
    /// silero's voice activity detector, which the gate needs.
    pub vad: Option<PathBuf>,
}

/// Loads an engine with its model.
pub fn load(spec: &SttSpec, files: &Files) -> Result<Box<dyn Transcriber>, SttError> {
    load_with(spec, files, &mut |_| ())
}

/// As [`load`]; `progress` hears of the conversion that a model needs when it is used for the first time.
pub fn load_with(
    spec: &SttSpec,
    files: &Files,
    progress: &mut dyn FnMut(ImportStep),
) -> Result<Box<dyn Transcriber>, SttError> {
    let source = Source::find(&files.weights, files.tokenizer.as_deref())?;
    let gate = files.vad.as_deref().map(crate::vad::load).transpose()?;
    match spec.engine {
        EngineKind::WhisperCpp => {
            let engine = whisper_cpp(spec, &source, progress)?;
            Ok(listener(engine, gate, spec))
        }
        EngineKind::Candle => {
            let engine = candle(spec, &source)?;
            Ok(listener(engine, gate, spec))
        }
    }
}

fn listener<E: crate::listen::engine::Engine + 'static>(
    engine: E,
    gate: Option<Gate>,
    spec: &SttSpec,
) -> Box<dyn Transcriber> {
    Box::new(Listener { engine, gate, cut: spec.cut })
}

fn whisper_cpp(spec: &SttSpec, source: &Source, progress: &mut dyn FnMut(ImportStep)) -> Result<WhisperCpp, SttError> {
    let (path, model, digest) = if source.form == Form::Ggml {
        if spec.quantisation.is_some() {
            let problem = format!("{spec}: a ggml file is used as it is; leave out +q8 and +q5");
            return Err(SttError::Spec(problem));
        }
        let model = ggml::check(&source.weights).map_err(|problem| fault(&source.weights, problem))?;
        let digest = cache::digest(&source.weights, &cache::folder(source))?;
        (source.weights.clone(), model, digest)
    } else {
        cache::converted(source, spec.quantisation.unwrap_or(Quantisation::F16), progress)?
    };
    let info = EngineInfo {
        spec: spec.to_string(),
        engine: spec.engine.name().to_owned(),
        model: spec.model.clone(),
        digest,
        quantisation: model.quantisation.to_owned(),
        multilingual: model.shape.multilingual(),
    };
    let vocabulary = match source.vocabulary() {
        Ok((path, json)) => {
            Vocabulary::from_json(&json, model.shape.vocabulary).map_err(|problem| fault(&path, problem))?
        }
        Err(_) => Vocabulary::from_words(model.words, model.shape.vocabulary),
    };
    WhisperCpp::load(&path, vocabulary, info)
}

fn candle(spec: &SttSpec, source: &Source) -> Result<CandleWhisper, SttError> {
    let (path, json) = source.vocabulary()?;
    let weights = source.read()?;
    let vocabulary = Vocabulary::from_json(&json, weights.shape.vocabulary).map_err(|problem| fault(&path, problem))?;
    let info = EngineInfo {
        spec: spec.to_string(),
        engine: spec.engine.name().to_owned(),
        model: spec.model.clone(),
        digest: cache::digest(&source.weights, &cache::folder(source))?,
        quantisation: "f32".to_owned(),
        multilingual: weights.shape.multilingual(),
    };
    CandleWhisper::new(&weights, vocabulary, info)
}

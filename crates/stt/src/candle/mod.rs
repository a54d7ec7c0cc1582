//! Whisper on candle: the encoder and decoder of candle-transformers, with a decoding loop of our own.

mod decode;
mod spectrogram;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use candle_core::{DType, Device, IndexOp, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::whisper::Config;
use candle_transformers::models::whisper::model::Whisper;

use crate::import::folder::{first_line, transformers_name};
use crate::import::shape::Part;
use crate::import::weights::Weights;
use crate::listen::engine::{Answer, CONTEXT, Engine, Window};
use crate::listen::rules::Rules;
use crate::transcriber::{EngineInfo, SttError};
use crate::vocabulary::{LANGUAGES, Vocabulary};
use decode::decode;
use spectrogram::Spectrogram;

pub(crate) const NAME: &str = "candle";

/// candle with a model. Its layers keep what they attend to, so one window is decoded at a time.
pub(crate) struct CandleWhisper {
    info: EngineInfo,
    vocabulary: Vocabulary,
    rules: Rules,
    spectrogram: Spectrogram,
    model: Mutex<Whisper>,
}

fn failed(error: &candle_core::Error) -> SttError {
    SttError::Engine { engine: NAME.to_owned(), problem: first_line(error) }
}

impl CandleWhisper {
    pub(crate) fn new(weights: &Weights, vocabulary: Vocabulary, info: EngineInfo) -> Result<Self, SttError> {
        let shape = weights.shape;
        let config = Config {
            num_mel_bins: shape.mels,
            max_source_positions: shape.audio_context,
            d_model: shape.state,
            encoder_attention_heads: shape.heads,
            encoder_layers: shape.audio_layers,
            vocab_size: shape.vocabulary,
            max_target_positions: shape.text_context,
            decoder_attention_heads: shape.heads,
            decoder_layers: shape.text_layers,
            suppress_tokens: Vec::new(),
        };
        let build = || -> candle_core::Result<(Whisper, Spectrogram)> {
            let mut tensors = HashMap::new();
            for part in shape.parts() {
                tensors.insert(transformers_name(&part.name), tensor(weights, &part)?);
            }
            let builder = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
            Ok((Whisper::load(&builder, config)?, Spectrogram::new(shape.mels)?))
        };
        let (model, spectrogram) = build().map_err(|error| failed(&error))?;
        let rules = Rules::new(&vocabulary);
        Ok(Self { info, vocabulary, rules, spectrogram, model: Mutex::new(model) })
    }

    fn listen(&self, window: &Window<'_>, accept: &dyn Fn(&Answer) -> bool) -> candle_core::Result<Answer> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let mel = self.spectrogram.of(window.samples, 2 * window.context)?;
        let features = model.encoder.forward(&mel, true)?;
        let mut last = Answer::default();
        for temperature in window.temperatures() {
            let prompt = window.prefix(&self.vocabulary.special, self.info.multilingual, *temperature);
            let rules = (&self.rules, &self.vocabulary.special);
            last = decode(&mut model.decoder, &features, window, rules, (&prompt, *temperature))?;
            if accept(&last) {
                break;
            }
        }
        model.reset_kv_cache();
        Ok(last)
    }

    fn language(&self, samples: &[f32]) -> candle_core::Result<usize> {
        let special = &self.vocabulary.special;
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let mel = self.spectrogram.of(samples, 2 * CONTEXT)?;
        let features = model.encoder.forward(&mel, true)?;
        let start = Tensor::new(&[[special.start]], &Device::Cpu)?;
        let hidden = model.decoder.forward(&start, &features, true)?;
        let logits: Vec<f32> = model.decoder.final_linear(&hidden)?.i((0, 0))?.to_vec1()?;
        model.reset_kv_cache();
        let first = special.first_language as usize;
        let languages = logits.get(first..first + special.languages as usize).unwrap_or_default();
        let best = (0..languages.len()).max_by(|a, b| languages[*a].total_cmp(&languages[*b]));
        best.ok_or_else(|| candle_core::Error::Msg("no languages in the vocabulary".to_owned()))
    }
}

fn tensor(weights: &Weights, part: &Part) -> candle_core::Result<Tensor> {
    let values = weights.values(part).map(super::import::weights::Values::to_f32).unwrap_or_default();
    // A column of biases is a row here.
    let dims: Vec<usize> = part.dims.iter().copied().filter(|dim| *dim != 1).collect();
    Tensor::from_vec(values, dims, &Device::Cpu)
}

impl Engine for CandleWhisper {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn detect(&self, samples: &[f32], _threads: usize) -> Result<String, SttError> {
        let at = self.language(samples).map_err(|error| failed(&error))?;
        Ok(LANGUAGES.get(at).copied().unwrap_or("en").to_owned())
    }

    fn tokens(&self, text: &str) -> Result<Vec<u32>, SttError> {
        let encoded = self.vocabulary.encode(text).unwrap_or_else(|| Err("there is no tokenizer".to_owned()));
        encoded.map_err(|problem| SttError::Engine { engine: NAME.to_owned(), problem })
    }

    fn hear(&self, window: &Window<'_>, accept: &dyn Fn(&Answer) -> bool) -> Result<Answer, SttError> {
        self.listen(window, accept).map_err(|error| failed(&error))
    }
}

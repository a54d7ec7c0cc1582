//! whisper.cpp behind [`Engine`].
//!
//! Each call decodes one window at one temperature; what the tokens mean is decided by the same code as for the other
//! engine. Greedy decoding is a loop of our own around whisper.cpp's encoder and decoder: its own loop spends two
//! milliseconds a token on the probabilities of the vocabulary, a third of all the time with a small model. Beams and
//! samples are whisper.cpp's. States are kept and used again: a state costs memory, and its allocation time.

use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

use whisper_rs::{FullParams, SamplingStrategy, WhisperContext, WhisperContextParameters, WhisperState};

use crate::import::source::fault;
use crate::listen::engine::{Answer, CANDIDATES, Engine, MOST_TOKENS, Token, Window};
use crate::listen::rules::{Rules, log_softmax};
use crate::transcriber::{EngineInfo, SttError};
use crate::vocabulary::{LANGUAGES, Vocabulary};

pub(crate) const NAME: &str = "whisper.cpp";

/// Whether attention is computed in one fused step: on a processor the products by blocks are a third faster.
const FLASH_ATTENTION: bool = false;

/// whisper.cpp with a model.
pub(crate) struct WhisperCpp {
    info: EngineInfo,
    context: WhisperContext,
    vocabulary: Vocabulary,
    rules: Rules,
    decoders: Mutex<Vec<WhisperState>>,
    /// States that were used for nothing but finding the language: a state remembers a cut context.
    detectors: Mutex<Vec<WhisperState>>,
}

fn failed(problem: impl ToString) -> SttError {
    SttError::Engine { engine: NAME.to_owned(), problem: problem.to_string() }
}

impl WhisperCpp {
    /// Loads a file that was checked.
    pub(crate) fn load(path: &Path, vocabulary: Vocabulary, info: EngineInfo) -> Result<Self, SttError> {
        static LOGGING: Once = Once::new();
        LOGGING.call_once(whisper_rs::install_logging_hooks);
        let mut parameters = WhisperContextParameters::new();
        parameters.use_gpu(false).flash_attn(FLASH_ATTENTION);
        let context = WhisperContext::new_with_params(path, parameters).map_err(|error| fault(path, error))?;
        let rules = Rules::new(&vocabulary);
        Ok(Self { info, context, vocabulary, rules, decoders: Mutex::default(), detectors: Mutex::default() })
    }

    /// Lends a state, a new one where all are in use.
    fn with_state<T>(
        &self,
        pool: &Mutex<Vec<WhisperState>>,
        work: impl FnOnce(&mut WhisperState) -> Result<T, SttError>,
    ) -> Result<T, SttError> {
        let kept = pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut state = match kept {
            Some(state) => state,
            None => self.context.create_state().map_err(failed)?,
        };
        let done = work(&mut state);
        if done.is_ok() {
            pool.lock().unwrap_or_else(PoisonError::into_inner).push(state);
        }
        done
    }

    /// The most probable token after each other.
    fn greedy(&self, state: &mut WhisperState, window: &Window<'_>) -> Result<Answer, SttError> {
        let special = &self.vocabulary.special;
        // Only this sets the encoder's context. The spectrogram is made; of its 100 ms nothing is decoded.
        let mut parameters = parameters(window, 0.0, &[]);
        parameters.set_duration_ms(100);
        state.full(parameters, window.samples).map_err(failed)?;
        state.encode(0, window.threads).map_err(failed)?;
        let prefix = window.prefix(special, self.info.multilingual, 0.0);
        let start = prefix.iter().position(|id| *id == special.start).unwrap_or(0);
        let mut past = 0;
        let mut feed = |state: &mut WhisperState, ids: &[u32]| {
            let ids: Vec<i32> = ids.iter().map(|id| *id as i32).collect();
            let done = if ids.is_empty() { Ok(()) } else { state.decode(&ids, past, window.threads) };
            past += ids.len();
            done.map_err(failed)
        };
        // Logits can be read only where one token was fed: at the start, which tells of silence, and at the end.
        feed(state, &prefix[..start])?;
        feed(state, &prefix[start..=start])?;
        let mut logits = state.get_logits().map_err(failed)?.to_vec();
        log_softmax(&mut logits);
        let no_speech = logits.get(special.no_speech as usize).map_or(0.0, |value| value.exp());
        if let [between @ .., last] = &prefix[start + 1..] {
            feed(state, between)?;
            feed(state, &[*last])?;
        }
        let (mut tokens, mut ids) = (Vec::new(), Vec::new());
        for step in 0..window.most_tokens.saturating_add(1).min(MOST_TOKENS) {
            if step > 0 {
                feed(state, &ids[step - 1..])?;
            }
            logits.copy_from_slice(state.get_logits().map_err(failed)?);
            self.rules.apply(&mut logits, &ids, window.times);
            let best = logits.iter().zip(0u32..).max_by(|a, b| a.0.total_cmp(b.0));
            let Some((log_probability, id)) = best.map(|(value, id)| (*value, id)) else { break };
            tokens.push(Token { id, log_probability });
            ids.push(id);
            if id == special.end {
                break;
            }
        }
        Ok(Answer { temperature: 0.0, no_speech, tokens })
    }

    fn attempt(state: &mut WhisperState, window: &Window<'_>, temperature: f32) -> Result<Answer, SttError> {
        let prompt: Vec<i32> = window.prompt_at(temperature).iter().map(|id| *id as i32).collect();
        let parameters = parameters(window, temperature, &prompt);
        state.full(parameters, window.samples).map_err(failed)?;
        let mut answer = Answer { temperature, no_speech: 0.0, tokens: Vec::new() };
        // A window is one segment; without words there is none.
        if let Some(segment) = state.get_segment(0) {
            answer.no_speech = segment.no_speech_probability();
            for at in 0..segment.n_tokens() {
                let Some(token) = segment.get_token(at) else { break };
                let data = token.token_data();
                let id = u32::try_from(data.id).map_err(failed)?;
                answer.tokens.push(Token { id, log_probability: data.plog });
            }
        }
        Ok(answer)
    }
}

fn parameters<'a>(window: &Window<'a>, temperature: f32, prompt: &'a [i32]) -> FullParams<'a, 'a> {
    let strategy = if window.beams > 1 && temperature == 0.0 {
        SamplingStrategy::BeamSearch { beam_size: window.beams as i32, patience: -1.0 }
    } else {
        SamplingStrategy::Greedy { best_of: if temperature > 0.0 { CANDIDATES as i32 } else { 1 } }
    };
    let mut parameters = FullParams::new(strategy);
    parameters.set_n_threads(window.threads as i32);
    parameters.set_language(Some(window.language));
    parameters.set_tokens(prompt);
    parameters.set_no_context(true);
    parameters.set_temperature(temperature);
    // One temperature a call; the next is our decision, and so are the rules about silence.
    parameters.set_temperature_inc(0.0);
    parameters.set_no_speech_thold(2.0);
    parameters.set_logprob_thold(f32::NEG_INFINITY);
    parameters.set_entropy_thold(f32::NEG_INFINITY);
    parameters.set_single_segment(true);
    if window.most_tokens < MOST_TOKENS {
        parameters.set_max_tokens(window.most_tokens as i32);
    }
    parameters.set_no_timestamps(!window.times);
    parameters.set_token_timestamps(false);
    parameters.set_suppress_blank(true);
    parameters.set_suppress_nst(true);
    parameters.set_audio_ctx(window.context as i32);
    parameters.set_print_progress(false);
    parameters.set_print_realtime(false);
    parameters.set_print_special(false);
    parameters.set_print_timestamps(false);
    parameters
}

impl Engine for WhisperCpp {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn detect(&self, samples: &[f32], threads: usize) -> Result<String, SttError> {
        let at = self.with_state(&self.detectors, |state| {
            state.pcm_to_mel(samples, threads).map_err(failed)?;
            state.lang_detect(0, threads).map(|(at, _)| at).map_err(failed)
        })?;
        let code = usize::try_from(at).ok().and_then(|at| LANGUAGES.get(at));
        Ok(code.ok_or_else(|| failed(format!("found a language of number {at}")))?.to_string())
    }

    fn tokens(&self, text: &str) -> Result<Vec<u32>, SttError> {
        if let Some(encoded) = self.vocabulary.encode(text) {
            return encoded.map_err(failed);
        }
        if text.contains('\0') {
            return Err(SttError::Input("the prompt holds a zero byte".to_owned()));
        }
        // A token has at least a byte.
        let found = self.context.tokenize(text, text.len() + 1).map_err(failed)?;
        Ok(found
            .into_iter()
            .filter_map(|id| u32::try_from(id).ok())
            .filter(|id| *id < self.vocabulary.special.end)
            .collect())
    }

    fn hear(&self, window: &Window<'_>, accept: &dyn Fn(&Answer) -> bool) -> Result<Answer, SttError> {
        let mut last = Answer::default();
        for temperature in window.temperatures() {
            last = if *temperature == 0.0 {
                self.with_state(&self.decoders, |state| {
                    if window.beams > 1 { Self::attempt(state, window, 0.0) } else { self.greedy(state, window) }
                })?
            } else {
                // Only a new state's random numbers begin at their seed.
                let mut state = self.context.create_state().map_err(failed)?;
                Self::attempt(&mut state, window, *temperature)?
            };
            if accept(&last) {
                break;
            }
        }
        Ok(last)
    }
}

//! The trait, what goes in and what comes out.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tenpass_audio::Audio;

use crate::listen::Sound;

/// How a sound is decoded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decoding {
    /// Language such as `en`, forced; `None` lets the model find out, by the first 30 seconds.
    pub language: Option<String>,
    /// Text that comes before what is said: vocabulary, example sentences. The model keeps its last 223 tokens.
    pub prompt: Option<String>,
    /// Beams of the search; 1 is greedy.
    pub beams: u32,
    /// Try again at higher temperatures when the answer is improbable or repeats itself. Above 0.5 Whisper
    /// drops the prompt.
    pub fallback: bool,
    /// Cut the encoder's context to the length of the sound.
    pub cut_context: bool,
    /// Only what a voice activity detector calls speech is transcribed; without any speech the answer is empty.
    pub gate: bool,
    /// Threads; 0 takes one for every two cores.
    pub threads: usize,
    /// Texts that are taken although they are improbable in a cut context; all others are heard once more in a whole one.
    #[serde(skip)]
    pub enough: Option<Enough>,
}

/// Says of a text that it is enough: it is one of those that were expected, such as a closed command.
#[derive(Clone)]
pub struct Enough(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Enough {
    /// By this judge.
    pub fn new(judge: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// Whether this text is enough.
    pub fn holds(&self, text: &str) -> bool {
        (self.0)(text)
    }
}

impl fmt::Debug for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Enough")
    }
}

impl PartialEq for Enough {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for Decoding {
    fn default() -> Self {
        Self {
            language: None,
            prompt: None,
            beams: 1,
            fallback: false,
            cut_context: false,
            gate: true,
            threads: 0,
            enough: None,
        }
    }
}

/// A stretch of speech.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Segment {
    /// Begin in seconds.
    pub start_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// What was heard.
    pub text: String,
    /// Mean log-probability of its tokens.
    pub log_probability: f32,
    /// Probability that nothing was said.
    pub no_speech: f32,
    /// The temperature that gave it.
    pub temperature: f32,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Transcript {
    /// The language that was forced or found.
    pub language: String,
    /// The stretches, in order.
    pub segments: Vec<Segment>,
    /// Length of the sound in seconds.
    pub audio_s: f64,
    /// Time of the work in milliseconds.
    pub total_ms: f64,
}

impl Transcript {
    /// All of it as one line.
    pub fn text(&self) -> String {
        let pieces: Vec<&str> =
            self.segments.iter().map(|segment| segment.text.trim()).filter(|text| !text.is_empty()).collect();
        pieces.join(" ")
    }
}

/// What an engine is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EngineInfo {
    /// The SPEC as typed, such as `whisper.cpp:whisper-base+q8`.
    pub spec: String,
    /// `whisper.cpp` or `candle`.
    pub engine: String,
    /// The model's name in the catalogue, or its file.
    pub model: String,
    /// SHA-256 of the model's file.
    pub digest: String,
    /// `f16`, `q8_0` …
    pub quantisation: String,
    /// False for a model of English only.
    pub multilingual: bool,
}

/// An engine with its model.
pub trait Transcriber: Send + Sync {
    /// What it is.
    fn info(&self) -> &EngineInfo;
    /// Writes down what is said in the sound, of any rate. Sound under 100 ms is refused.
    fn transcribe(&self, audio: &Audio, decoding: &Decoding) -> Result<Transcript, SttError>;
    /// The same for sound that comes by block, of any length in the memory of a minute. `heard` is given each
    /// stretch as soon as it is known.
    fn transcribe_stream(
        &self,
        sound: &mut dyn Sound,
        decoding: &Decoding,
        heard: &mut dyn FnMut(&Segment),
    ) -> Result<Transcript, SttError>;
}

/// Why nothing could be transcribed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SttError {
    /// The name of an engine or a model is wrong.
    #[error("{0}")]
    Spec(String),
    /// The model's files cannot be used.
    #[error("{path}: {problem}")]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The sound or the decoding asked for cannot be used.
    #[error("{0}")]
    Input(String),
    /// The sound is too short.
    #[error("the sound has {ms} ms; at least 100 ms are needed")]
    Short {
        /// Its length.
        ms: u64,
    },
    /// The engine failed.
    #[error("{engine}: {problem}")]
    Engine {
        /// Which.
        engine: String,
        /// What it said.
        problem: String,
    },
}

impl SttError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Spec(_) => {
                "write ENGINE:MODEL[+q8|+q5][+cut], such as whisper.cpp:whisper-base+q8 or candle:whisper-tiny-en"
            }
            Self::Model { .. } => {
                "`tenpass models verify` checks what was pulled; a model of your own is a CTranslate2 or \
                                   Hugging Face folder of Whisper with its tokenizer.json, or a ggml file"
            }
            Self::Input(_) => "`tenpass transcribe --help` lists what can be asked for",
            Self::Short { .. } => {
                "record longer, or put silence around it; a file that should be longer was cut off while it was \
                 written"
            }
            Self::Engine { .. } => "try the other engine; if only this one fails, please report it",
        }
    }
}

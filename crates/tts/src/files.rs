//! What the engines need, where it lies, and how long a voice may take.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::TtsError;

/// Where models, libraries and programs are. `None` and empty mean: not on this machine.
#[derive(Debug, Clone)]
pub struct Files {
    /// The shared library of ONNX Runtime. `ORT_DYLIB_PATH` wins over it.
    pub onnxruntime: Option<PathBuf>,
    /// Kokoro's `.onnx` file.
    pub kokoro: Option<PathBuf>,
    /// The folder of Kokoro's style files (`af_heart.bin`, …).
    pub kokoro_voices: Option<PathBuf>,
    /// Piper voices by name: the `.onnx` file, with its `.onnx.json` beside it.
    pub piper: BTreeMap<String, PathBuf>,
    /// The program espeak-ng.
    pub espeak_ng: PathBuf,
    /// The program flite.
    pub flite: PathBuf,
    /// The service of ElevenLabs; `None` when it is not set up.
    pub elevenlabs: Option<ElevenLabsAccount>,
    /// Threads of one ONNX session; `None` means all cores.
    pub threads: Option<usize>,
    /// Longest time for one text.
    pub timeout: Duration,
}

/// How ElevenLabs is reached.
#[derive(Clone)]
pub struct ElevenLabsAccount {
    /// Root of the service, `https://api.elevenlabs.io` or a server of a test.
    pub base_url: String,
    /// The key. It is sent as a header and printed nowhere.
    pub key: String,
    /// The model, such as `eleven_multilingual_v2`.
    pub model: String,
    /// The form of the sound: `pcm_16000`, `pcm_24000`, … or `mp3_44100_128`.
    pub output_format: String,
}

impl std::fmt::Debug for ElevenLabsAccount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ElevenLabsAccount")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("output_format", &self.output_format)
            .finish_non_exhaustive()
    }
}

impl Default for Files {
    fn default() -> Self {
        Self {
            onnxruntime: None,
            kokoro: None,
            kokoro_voices: None,
            piper: BTreeMap::new(),
            espeak_ng: PathBuf::from("espeak-ng"),
            flite: PathBuf::from("flite"),
            elevenlabs: None,
            threads: None,
            timeout: Duration::from_mins(1),
        }
    }
}

impl Files {
    /// The library of ONNX Runtime: what the user set, or the asset.
    pub(crate) fn runtime(&self) -> Result<PathBuf, TtsError> {
        let set = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
        set.or_else(|| self.onnxruntime.clone()).ok_or_else(|| TtsError::Missing {
            what: "ONNX Runtime".to_owned(),
            hint: "tenpass models pull onnxruntime, or set ORT_DYLIB_PATH to its shared library".to_owned(),
        })
    }
}

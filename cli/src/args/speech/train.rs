//! `tenpass train …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenpass_train::network::Architecture as Shape;
use tenpass_train::wake::Origin;

use crate::args::TextOrJson;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Train {
    /// Train a wake word: from recordings and synthetic voices to a scored .onnx file
    ///
    /// Needs the asset speech-embedding (the front end) and, for synthetic speech and near misses, espeak-ng. Speech and
    /// features are kept in the work folder: what was done once is not done again.
    #[command(after_help = WAKE_EXAMPLES)]
    Wake(Box<TrainWake>),
    /// Train a speaker verifier: it lowers how often other voices wake the agent, and is not authentication
    ///
    /// Own recordings lie in a corpus, or in a folder per day named YYYY-MM-DD; at least two days. Of others a corpus
    /// says who speaks; in a plain folder every folder within is a speaker.
    #[command(after_help = VERIFIER_EXAMPLES)]
    Verifier(TrainVerifier),
}

const WAKE_EXAMPLES: &str = "Examples:
  tenpass train wake --word kora
  tenpass train wake --word kora --positives recordings/kora --negatives corpora/prompts --out kora.onnx
  tenpass train wake --word \"hey kora\" --synthetic 1000 --architecture conv-attention --resume";

const VERIFIER_EXAMPLES: &str = "Example:
  tenpass train verifier --head kora.onnx --own recordings/kora --others corpora/kora-voices --out kora-me.json";

/// Sounds and settings of a training; the wake bench's ablations have them, too.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrainingData {
    /// Folders with recordings of the word: corpora, or WAV and FLAC files of one utterance each
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) positives: Vec<PathBuf>,
    /// How often synthetic voices say the word, all together; 0 for none
    #[arg(long, default_value_t = 2400, value_name = "COUNT")]
    pub(crate) synthetic: usize,
    /// Languages of those who will say it
    #[arg(long, default_value = "en,fr", value_name = "LANGUAGE", num_args = 1.., value_delimiter = ',')]
    pub(crate) languages: Vec<String>,
    /// Folders with other speech and noise
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) negatives: Vec<PathBuf>,
    /// Voices that speak, as prefixes of their SPECs, such as `espeak:en` or `kokoro` [default: all that are there]
    #[arg(long, value_name = "SPEC", num_args = 1.., value_delimiter = ',')]
    pub(crate) voices: Vec<String>,
    /// Seed of the network and of the order of its batches
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub(crate) seed: u64,
    /// Seed of what is spoken, how it is divided, and how it is changed
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub(crate) data_seed: u64,
    /// Steps of the main stage; two of a tenth each follow
    #[arg(long, default_value_t = 8000, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    pub(crate) steps: u32,
    /// The shape of the head
    #[arg(long, value_enum, default_value_t, value_name = "SHAPE")]
    pub(crate) architecture: Architecture,
    /// False wakes an hour that the threshold is searched for
    #[arg(long, default_value_t = 0.5, value_name = "RATE")]
    pub(crate) target: f64,
    /// Focus of the loss on what is still wrong (0 is plain cross-entropy)
    #[arg(long, default_value_t = 0.0, value_name = "EXPONENT")]
    pub(crate) focal: f32,
    /// Weight of a near miss beside that of another negative
    #[arg(long, default_value_t = 1.0, value_name = "WEIGHT")]
    pub(crate) near_weight: f32,
    /// Label smoothing, from 0 to 0.5
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub(crate) smoothing: f32,
    /// Share of the positives that are mixed with a negative
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub(crate) mixup: f64,
    /// Where finished work is kept [default: beside the head]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
}

/// Arguments of `train wake`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrainWake {
    /// The wake word
    #[arg(long, value_name = "WORD")]
    pub(crate) word: String,
    #[command(flatten)]
    pub(crate) data: TrainingData,
    /// The head to write; its record is written beside it [default: WORD.onnx]
    #[arg(long, value_name = "FILE.onnx")]
    pub(crate) out: Option<PathBuf>,
    /// Leave the positives of a source out
    #[arg(long, value_enum, value_name = "SOURCE", value_delimiter = ',')]
    pub(crate) without: Vec<Source>,
    /// Go on with the fit of the same plan that was stopped
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `train verifier`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrainVerifier {
    /// Folders with the user saying the wake word, on several days
    #[arg(long, required = true, value_name = "DIR", num_args = 1..)]
    pub(crate) own: Vec<PathBuf>,
    /// Folders with what is to be turned away: other voices, the user's other speech, past false wakes
    #[arg(long, required = true, value_name = "DIR", num_args = 1..)]
    pub(crate) others: Vec<PathBuf>,
    /// The wake word's head [default: the setting speech.wake_head, else the head in service, else the shipped one]
    #[arg(long, value_name = "FILE.onnx")]
    pub(crate) head: Option<PathBuf>,
    /// An own recording counts as an event from this score on [default: the head's threshold]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f32>,
    /// The verifier to write [default: the head's name with -verifier.json, beside a head that was named]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,
    /// Seed of the bootstrap over speakers
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub(crate) seed: u64,
    /// Where features are kept [default: beside the verifier]
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// The shape of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Architecture {
    /// Fully connected.
    #[default]
    Dnn,
    /// A convolution over time and attention.
    ConvAttention,
}

impl From<Architecture> for Shape {
    fn from(typed: Architecture) -> Self {
        match typed {
            Architecture::Dnn => Self::Dnn,
            Architecture::ConvAttention => Self::ConvAttention,
        }
    }
}

/// Where positives come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// The user's own recordings.
    User,
    /// Synthetic voices.
    Synthetic,
}

impl From<Source> for Origin {
    fn from(typed: Source) -> Self {
        match typed {
            Source::User => Self::User,
            Source::Synthetic => Self::Synthetic,
        }
    }
}

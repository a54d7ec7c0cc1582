//! Why no head was trained.

use std::io;
use std::path::{Path, PathBuf};

use tenpass_audio::AudioError;

use crate::features::FeatureError;
use crate::negatives::PhonemeError;

/// Why no head was trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A sound file cannot be used.
    #[error(transparent)]
    Audio(AudioError),
    /// A corpus cannot be used.
    #[error("{0}")]
    Corpus(String),
    /// A folder without sound files.
    #[error("{0}: no WAV or FLAC file in it")]
    Nothing(PathBuf),
    /// A recording of the word in which nothing is heard.
    #[error("{0}: nothing is heard in it")]
    Silent(PathBuf),
    /// A folder with too many files.
    #[error("{folder}: more than {most} sound files")]
    TooMany {
        /// Which.
        folder: PathBuf,
        /// So many are allowed.
        most: usize,
    },
    /// Nobody says the word.
    #[error("nobody says the word: there are no recordings and no synthetic voices")]
    NoPositives,
    /// There is nothing but the word.
    #[error("there is no sound without the word to train on")]
    NoNegatives,
    /// Nothing is held out to choose with.
    #[error("nothing is held out to choose a checkpoint and a threshold with")]
    NoDevelopment,
    /// The voices failed.
    #[error("voices failed on {failed} of {of} texts; {voice}: {problem}")]
    Voices {
        /// Texts that were not spoken.
        failed: usize,
        /// Texts.
        of: usize,
        /// One of the voices.
        voice: String,
        /// What it said.
        problem: String,
    },
    /// The same sound in training and test.
    #[error("{count} sounds are in {first} and in {second}, one of them `{text}` of {group}")]
    Overlap {
        /// How many.
        count: usize,
        /// One part.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// What one of them says.
        text: String,
        /// Who says it.
        group: String,
    },
    /// The state in the work folder is that of another training.
    #[error("{0}: the state of another training")]
    OtherTraining(PathBuf),
    /// The exported head does not score as the trained one.
    #[error("the exported head differs from the trained one by {0:.6}")]
    Export(f32),
    /// The record beside a head cannot be used.
    #[error("{path}: {problem}")]
    Record {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The word cannot be used.
    #[error("`{0}` is no wake word")]
    Word(String),
    /// Features cannot be made.
    #[error(transparent)]
    Features(#[from] FeatureError),
    /// Phonemes cannot be had.
    #[error(transparent)]
    Phonemes(#[from] PhonemeError),
    /// The head cannot be written or read.
    #[error(transparent)]
    Wake(#[from] tenpass_wake::WakeError),
}

impl TrainError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { .. } => "check the path, its permissions and the free space".into(),
            Self::Audio(error) => error.hint().into(),
            Self::Corpus(_) => "`tenpass corpus verify` looks at every file".into(),
            Self::Nothing(_) => "give a corpus folder, or a folder with WAV or FLAC files".into(),
            Self::Silent(_) => "record it again, or remove it".into(),
            Self::TooMany { .. } => "give a folder with fewer files".into(),
            Self::NoPositives => "give --positives DIR, or install espeak-ng or another voice for --synthetic".into(),
            Self::NoNegatives => "give --negatives DIR, or let synthetic voices speak with --synthetic N".into(),
            Self::NoDevelopment => {
                "give recordings of at least three days, or synthetic voices of one more kind".into()
            }
            Self::Voices { .. } => "`tenpass say --voice SPEC hello` tries a voice by itself".into(),
            Self::Overlap { .. } => "remove the copies: a test on what was trained proves nothing".into(),
            Self::OtherTraining(_) => "leave --resume out to begin anew: speech and features are kept".into(),
            Self::Export(_) => "this is a bug in tenpass: please report it".into(),
            Self::Record { .. } => "train the head again, or remove the record".into(),
            Self::Word(_) => "give one to four words of letters, such as --word \"hey kora\"".into(),
            Self::Features(error) => error.hint().into(),
            Self::Phonemes(_) => "install espeak-ng: near misses are made from its phonemes".into(),
            Self::Wake(error) => error.hint().into(),
        }
    }
}

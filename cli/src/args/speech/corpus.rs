//! `tenpass corpus …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::TableFormat;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Corpus {
    /// Speak phrases with the voices of this machine, dry and in noise and rooms
    #[command(after_help = "\
Without --voice, up to six voices of each engine speak each language, evenly chosen; espeak-ng only languages that no
other engine speaks. --voice kokoro takes all voices of an engine. How many clips, hours and bytes that makes is said
before it begins; more than 50,000 new clips want --large.

The same seed gives the same bytes. What is there already is left alone: an interrupted synthesis goes on where it
stopped, and a second call with other phrases adds them. Augmentation: equaliser, soft clipping, pitch, band stop, room,
noise, other sound, gain.

Examples:
  tenpass corpus synth corpora/local/commands --commands corpora/commands/commands.toml --rounds 3
  tenpass corpus synth corpora/local/kora --wake kora --voice espeak --voice flite --rounds 10 --noise 20
  tenpass corpus synth corpora/local/talk --others corpora/commands/other.toml --language fr --seed 7")]
    Synth(Box<Synth>),
    /// Record your own voice from the microphone
    #[command(after_help = "\
Each phrase is shown, counted down and recorded until you pause. Recordings are cut and checked (too quiet, cut off, too
short, too noisy) and asked for again when they are not good enough. What is there already is not asked for again today.

Examples:
  tenpass corpus record corpora/local/mine --wake kora --count 20 --room kitchen
  tenpass corpus record corpora/local/mine --commands corpora/commands/commands.toml --language fr
  tenpass corpus record corpora/local/mine --wake kora --count 3 --from session.wav")]
    Record(Box<Record>),
    /// Take recordings of others
    #[command(subcommand)]
    Import(Import),
    /// End growing: from then on every file is held against its hash
    #[command(after_help = "Example:\n  tenpass corpus freeze corpora/local/mine")]
    Freeze {
        /// The corpus's folder
        corpus: PathBuf,
    },
    /// Name every file that is missing, changed, of another length or not listed
    #[command(after_help = "\
Exit code 0 when all is well, 1 when something differs.

Examples:
  tenpass corpus verify
  tenpass corpus verify corpora/small --format json")]
    Verify {
        /// Folders of corpora, or folders with corpora below [default: corpora]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        format: TableFormat,
    },
    /// List corpora, or the clips of one
    #[command(after_help = "\
Examples:
  tenpass corpus list
  tenpass corpus list corpora/small --clips --format csv")]
    List {
        /// A folder with corpora below, or a corpus [default: corpora]
        folder: Option<PathBuf>,
        /// List the clips
        #[arg(long)]
        clips: bool,
        #[command(flatten)]
        format: TableFormat,
    },
}

/// What a new corpus is; nothing of it matters for one that is there.
#[derive(Debug, Clone, Args)]
pub(crate) struct NewCorpus {
    /// The folder: a corpus that is not frozen, or a new one
    pub(crate) corpus: PathBuf,
    /// Name of a new corpus [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// One line about a new corpus
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Licence of the sound of a new corpus
    #[arg(long, value_name = "LICENCE")]
    pub(crate) licence: Option<String>,
}

/// What is said.
#[derive(Debug, Clone, Args)]
pub(crate) struct Said {
    /// Closed commands, a commands.toml: every phrasing is said
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Of the commands only the usual phrasing of each language
    #[arg(long, requires = "commands")]
    pub(crate) usual: bool,
    /// Sentences that are no command, an other.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) others: Option<PathBuf>,
    /// Phrases: a TOML file of [[phrase]] with text, language and intent
    #[arg(long, value_name = "FILE")]
    pub(crate) phrases: Option<PathBuf>,
    /// The wake word: said alone, and with --wake-first in front of every phrase
    #[arg(long, value_name = "WORD")]
    pub(crate) wake: Option<String>,
    /// Only these languages
    #[arg(long, value_name = "LANGUAGE", value_delimiter = ',')]
    pub(crate) language: Vec<String>,
    /// At most so many phrases of each file and language, evenly chosen
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) most: Option<u32>,
}

/// Arguments of `synth`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "fields are flags")]
pub(crate) struct Synth {
    #[command(flatten)]
    pub(crate) new: NewCorpus,
    #[command(flatten)]
    pub(crate) said: Said,
    /// Put the wake word in front of every phrase
    #[arg(long, requires = "wake")]
    pub(crate) wake_first: bool,
    /// Voices: an engine (espeak, flite, piper, kokoro) or a voice of it [default: some of each engine]
    #[arg(long, value_name = "SPEC")]
    pub(crate) voice: Vec<String>,
    /// With --voice espeak also the hundred variants of each of its voices
    #[arg(long, requires = "voice")]
    pub(crate) variants: bool,
    /// Make more than 50,000 clips
    #[arg(long)]
    pub(crate) large: bool,
    /// So many voices for each phrase, in turns [default: all of its language]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) voices_per_phrase: Option<u32>,
    /// Rounds of augmentation
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) rounds: u32,
    /// No clips without augmentation
    #[arg(long)]
    pub(crate) no_dry: bool,
    /// Lowest signal to noise of the rounds, in decibels
    #[arg(long, value_name = "DB", default_value_t = 5.0, allow_negative_numbers = true)]
    pub(crate) lowest_snr: f64,
    /// A corpus whose sound is mixed under the rounds
    #[arg(long, value_name = "DIR")]
    pub(crate) background: Option<PathBuf>,
    /// Clips of silence and noise besides
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) noise: u32,
    /// Length of a clip of silence or noise, in seconds
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    pub(crate) noise_seconds: f64,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// WAV files instead of FLAC
    #[arg(long)]
    pub(crate) wav: bool,
    /// Phrases spoken at the same time [default: processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) jobs: Option<u32>,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) new: NewCorpus,
    #[command(flatten)]
    pub(crate) said: Said,
    /// How often each phrase is recorded
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) count: u32,
    /// Who speaks
    #[arg(long, value_name = "NAME", default_value = "me")]
    pub(crate) voice: String,
    /// Where: near, far, or a name of your own
    #[arg(long, value_name = "ROOM", default_value = "near")]
    pub(crate) room: String,
    /// A recording that is not good enough is asked for again so often
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) retries: u32,
    /// Play a WAV or FLAC file as the microphone
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// The microphone [default: the system's]
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    pub(crate) device: Option<String>,
}

/// `tenpass corpus import …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Asterisk's telephone prompts: human speech with its texts, 8 kHz
    #[command(after_help = "\
Without --sounds and --texts they are those of the catalogue: tenpass models pull asterisk-prompts-en
Their licence is CC-BY-SA-3.0: name Allison Smith (English) or June Wallack (French), and share alike.

Examples:
  tenpass corpus import asterisk corpora/local/prompts --language en
  tenpass corpus import asterisk corpora/local/prompts --language fr --most 50 --words 4")]
    Asterisk(Box<Asterisk>),
}

/// Arguments of `import asterisk`.
#[derive(Debug, Args)]
pub(crate) struct Asterisk {
    #[command(flatten)]
    pub(crate) new: NewCorpus,
    /// The language: en or fr; another one with --sounds, --texts and --voice
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) language: String,
    /// Folder with the WAV files
    #[arg(long, value_name = "DIR", requires = "texts")]
    pub(crate) sounds: Option<PathBuf>,
    /// core-sounds-LANGUAGE.txt, or the same with .gz
    #[arg(long, value_name = "FILE", requires = "sounds")]
    pub(crate) texts: Option<PathBuf>,
    /// Who speaks [default: as the packages say]
    #[arg(long, value_name = "NAME")]
    pub(crate) voice: Option<String>,
    /// At most so many, evenly chosen
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) most: Option<u32>,
    /// Only prompts of at least so many words
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) words: u32,
    /// WAV files instead of FLAC
    #[arg(long)]
    pub(crate) wav: bool,
}

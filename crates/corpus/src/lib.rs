//! Frozen corpora of sound.
//!
//! A corpus is a folder with `corpus.toml` ([`Manifest`]) and its sound files. While it is open it may grow:
//! by synthetic voices ([`synth`]), from telephone prompts ([`import_prompts`]) and from a microphone ([`Take`]).
//! [`Corpus::freeze`] ends that: from then on every file is held against its hash, by [`Corpus::verify`] and whenever
//! one is read ([`Corpus::load`]). [`Corpus::hash`] says of two corpora whether they hold the same.

mod clip;
mod corpus;
#[cfg(test)]
mod corpus_tests;
mod error;
mod import;
mod list;
mod phrase;
mod record;
mod slug;
mod synth;
mod verify;

pub use clip::{Clip, Manifest};
pub use corpus::{Corpus, FORMAT, MANIFEST};
pub use error::CorpusError;
pub use import::{Imported, Prompts, import_prompts};
pub use list::{Summary, folders, intents};
pub use phrase::{Phrase, read_phrases};
pub use record::{Flaw, Take, TakeRules, Taken};
pub use slug::slug;
pub use synth::{SynthEvent, SynthPlan, SynthReport, SynthSize, add_noise, synth, synth_size};
pub use verify::{Difference, Finding};

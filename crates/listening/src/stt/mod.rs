//! The bench of speech to text: which prompt, engine and decoding understands how many commands, on identical audio, and
//! is the difference real?
//!
//! An [`Arm`] is an engine, a prompt and a way of decoding. [`run()`] transcribes every clip with every arm and keeps the
//! raw text; [`summarise`] scores what is kept, so that a stored run can be scored again without a model.

mod arms;
mod compare;
mod confusions;
mod outcome;
mod prompts;
mod record;
mod run;
mod summary;
#[cfg(test)]
mod tests;

pub use arms::{Arm, Style, arms};
pub use compare::{Comparison, Judgement, compare};
pub use confusions::{Confusion, confusions};
pub use outcome::{Kind, Outcome, kind, outcome};
pub use prompts::{Prompt, PromptError, Prompts};
pub use record::SttPass;
pub use run::{Event, Plan, RunError, Stopped, missing, run};
pub use summary::{ArmSummary, Scored, Share, Summary, score, summarise};

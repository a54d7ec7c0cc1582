//! The user asked to remember something, and the turn ended without a write (K63a): the model is asked
//! for one decision, and when that gives nothing the user's own sentence is kept.

use jiff::Timestamp;
use tenpass_agent::memory::{
    Applied, Refusal, Source, literal_decision_request, own_words, parse_decision, without_key_value,
};
use tenpass_agent::tool::SideEffect;
use tenpass_model::{ChatModel, SamplingOptions};

use super::ask::ask;
use super::error::MemoryError;
use super::file::MemoryFile;

/// Keeps what `user_text` literally asks to remember; `Ok(None)` when it asks for nothing.
///
/// To be called after a turn in which no memory tool wrote. A turn that read something from outside
/// keeps nothing.
pub async fn remember_request(
    model: &dyn ChatModel,
    sampling: &SamplingOptions,
    file: &MemoryFile,
    user_text: &str,
    tainted: bool,
    now: Timestamp,
) -> Result<Option<Applied>, MemoryError> {
    let Some(own) = own_words(user_text) else { return Ok(None) };
    if tainted {
        return Err(Refusal::Tainted.into());
    }
    let texts = [user_text];
    if let Some(request) = literal_decision_request(user_text, &file.show()?, sampling)
        && let Ok(asked) = ask(model, request, parse_decision).await
    {
        let decision = without_key_value(asked.answer, user_text);
        match file.write(&decision, Source::Thread(&texts), now) {
            // The file's own trouble, or nothing left to do.
            Err(MemoryError::Refused(refusal)) if !matches!(refusal, Refusal::Duplicate { .. }) => {}
            outcome => return outcome.map(Some),
        }
    }
    file.write(&own, Source::Thread(&texts), now).map(Some)
}

/// The signals of a write (K65).
pub fn write_effects(applied: &Applied) -> Vec<SideEffect> {
    let forgotten = applied.replaced.iter().map(|entry| SideEffect::MemoryForgotten { text: entry.text.clone() });
    let written = SideEffect::MemoryWritten {
        section: applied.added.section.as_str().to_owned(),
        text: applied.added.text.clone(),
    };
    forgotten.chain([written]).collect()
}

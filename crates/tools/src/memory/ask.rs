//! One constrained question to a model, with one retry without the constraint (K10). A failed or cut
//! answer is never used.

use std::time::Instant;

use tenpass_agent::memory::Unreadable;
use tenpass_model::{ChatModel, ChatRequest, FinishReason, ModelError, collect};

/// No usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The model did not answer. Asking later may help.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It answered twice, and neither answer could be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The answer was cut at its token limit.
    #[error("the answer was cut at {max_tokens} tokens")]
    Cut {
        /// The limit.
        max_tokens: u32,
    },
}

impl AskError {
    /// True when the model did answer, so that the same question will hardly fare better.
    pub(super) fn is_the_models(&self) -> bool {
        !matches!(self, Self::Model(_))
    }
}

/// A usable answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked<T> {
    pub(super) answer: T,
    /// It came from the retry without the constraint.
    pub(super) is_retry: bool,
}

pub(super) async fn ask<T>(
    model: &dyn ChatModel,
    request: ChatRequest,
    parse: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<Asked<T>, AskError> {
    let unconstrained = ChatRequest { format: None, ..request.clone() };
    match once(model, request, &parse).await {
        Ok(answer) => return Ok(Asked { answer, is_retry: false }),
        // A constraint that cannot be enforced is the first thing that the retry leaves out.
        Err(AskError::Model(ModelError::Schema { .. } | ModelError::Unsupported { .. })) => {}
        Err(error) if error.is_the_models() => {}
        Err(error) => return Err(error),
    }
    Ok(Asked { answer: once(model, unconstrained, &parse).await?, is_retry: true })
}

async fn once<T>(
    model: &dyn ChatModel,
    request: ChatRequest,
    parse: impl Fn(&str) -> Result<T, Unreadable>,
) -> Result<T, AskError> {
    let max_tokens = request.options.max_tokens;
    let collected = collect(model.start(request), Instant::now()).await;
    if let Some(error) = collected.error {
        return Err(error.into());
    }
    match collected.completion {
        None => {
            Err(ModelError::Stopped { model: model.info().name.clone(), reason: "the answer has no end".into() }.into())
        }
        Some(completion) if completion.finish == FinishReason::Length => Err(AskError::Cut { max_tokens }),
        Some(_) => Ok(parse(&collected.text)?),
    }
}

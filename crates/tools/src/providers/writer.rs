//! A [`ChatModel`] as a provider, without tools: the local long-form writer, whose text costs
//! nothing and stays on the machine, or a bench's stand-in for a cloud provider.

use std::sync::Arc;

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ChatModel, ChatRequest, Completion, FinishReason, ModelError, SamplingOptions};
use tenpass_trace::{Message, Role};

use super::answer::{Finished, StreamFault, TokenUsage, push};
use super::message::Exchange;
use super::{Provider, ProviderError, Timing};

/// The model and how it samples.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) provider: Provider,
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) options: SamplingOptions,
}

impl Writer {
    /// Writes. Dropping the future cancels the model.
    pub(super) async fn ask(&self, exchange: &Exchange, timing: &Timing) -> Result<Finished, ProviderError> {
        let seconds = timing.total.as_millis().div_ceil(1000) as u64;
        let slow = ProviderError::Slow { provider: self.provider, seconds };
        tokio::time::timeout(timing.total, self.write(exchange)).await.map_err(|_| slow)?
    }

    async fn write(&self, exchange: &Exchange) -> Result<Finished, ProviderError> {
        let turns = exchange.turns.iter().map(|(role, text)| match role {
            Role::Assistant => Message::assistant(text.clone()),
            _ => Message::user(text.clone()),
        });
        let messages = std::iter::once(Message::system(exchange.system.clone())).chain(turns).collect();
        let request = ChatRequest { messages, options: self.options.clone(), ..ChatRequest::default() };
        let mut stream = self.model.start(request);
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event.map_err(|error| self.failed(error))? {
                ChatEvent::Text(piece) => push(&mut text, &piece).map_err(|fault| self.lost(&fault))?,
                ChatEvent::Thinking(_) | ChatEvent::ToolCall(_) => {}
                ChatEvent::Done(completion) => return Ok(finished(text, &completion)),
            }
        }
        Err(self.lost(&StreamFault::Truncated))
    }

    fn failed(&self, error: ModelError) -> ProviderError {
        match error {
            ModelError::Connect { reason, .. } => ProviderError::Unreachable { provider: self.provider, reason },
            other => ProviderError::Interrupted { provider: self.provider, detail: other.to_string() },
        }
    }

    fn lost(&self, fault: &StreamFault) -> ProviderError {
        ProviderError::Interrupted { provider: self.provider, detail: format!("{fault:?}") }
    }
}

fn finished(text: String, completion: &Completion) -> Finished {
    let usage = match (completion.usage.prompt_tokens, completion.usage.completion_tokens) {
        (Some(input), Some(output)) => Some(TokenUsage { input, output }),
        _ => None,
    };
    Finished { text, is_cut: completion.finish == FinishReason::Length, usage }
}

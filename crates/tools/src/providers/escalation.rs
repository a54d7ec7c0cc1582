//! The safety net of the loop (K11b): a provider answers when the loop produced nothing.

use tenpass_agent::run::Escalation;
use tenpass_agent::tool::CallContext;
use tenpass_agent::turn::Escalated;
use tenpass_model::BoxFuture;
use tenpass_trace::Message;

use super::message::Exchange;
use super::{Provider, ProviderError, Providers, Question};

/// One provider as the safety net, with the same budget, deduplication and store as delegation.
#[derive(Debug, Clone)]
pub struct CloudEscalation {
    providers: Providers,
    provider: Provider,
}

impl CloudEscalation {
    /// `provider` of `providers`; by default [`Provider::Claude`] is the safety net.
    pub fn new(providers: Providers, provider: Provider) -> Self {
        Self { providers, provider }
    }

    async fn ask(&self, messages: &[Message], context: &CallContext) -> Result<Escalated, ProviderError> {
        let exchange = Exchange::of_conversation(messages).masked();
        let question =
            Question { exchange: &exchange, thread: &context.thread, task: &context.user_text, now: &context.now };
        let answered = tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ProviderError::Stopped { provider: self.provider }),
            answered = self.providers.ask(self.provider, &question) => answered,
        }?;
        Ok(Escalated { text: answered.text, provider: self.provider.as_str().to_owned() })
    }
}

impl Escalation for CloudEscalation {
    fn provider(&self) -> &str {
        self.provider.as_str()
    }

    fn escalate<'a>(
        &'a self,
        messages: &'a [Message],
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Escalated, String>> {
        Box::pin(async move { self.ask(messages, context).await.map_err(|error| error.to_string()) })
    }
}

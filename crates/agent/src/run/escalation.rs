//! The provider that answers when the loop produced nothing (K11b).

use tenpass_model::BoxFuture;
use tenpass_trace::Message;

use crate::tool::CallContext;
use crate::turn::Escalated;

/// A provider behind the loop. Its implementation reserves what the call costs before it sends
/// anything (K47); a spent budget is an `Err` like any other failure.
pub trait Escalation: Send + Sync {
    /// The provider's name, for the record.
    fn provider(&self) -> &str;

    /// Asks the provider to answer instead. `messages` is the conversation with this turn's
    /// results, masked. Dropping the future cancels the request.
    fn escalate<'a>(
        &'a self,
        messages: &'a [Message],
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Escalated, String>>;
}

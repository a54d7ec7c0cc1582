//! Confirmations and the approvals that answer them (K42).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tenpass_trace::{ConfirmationAnswer, Tier, ToolCall};

use super::digest::confirmation_digest;
use crate::interaction::{Confirmation, Reply};
use crate::tool::Inspection;

/// The confirmation of a call, made by code from the real call. `call_number` counts from 1.
pub fn confirmation(
    call_number: u32,
    call: &ToolCall,
    tier: Tier,
    inspection: &Inspection,
    expires_in: Duration,
) -> Confirmation {
    Confirmation {
        id: uuid::Uuid::new_v4().to_string(),
        call: call_number,
        tool: call.name.clone(),
        tier,
        arguments: call.arguments.clone(),
        preview: inspection.preview.clone(),
        reason: inspection.escalate.as_ref().map(|(_, reason)| reason.clone()),
        digest: confirmation_digest(&call.name, &call.arguments, &inspection.preview),
        expires_in,
    }
}

/// A confirmation that stands open, as the person saw it.
#[derive(Debug, Clone)]
struct Open {
    digest: String,
    shown_at: Instant,
    expires_in: Duration,
}

/// Which confirmations were shown and which are used up.
///
/// Times are monotonic: setting the machine's clock back revives nothing.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// `None` once answered: an id is good for one answer.
    shown: HashMap<String, Option<Open>>,
}

impl Approvals {
    /// Notes that a confirmation is being shown. Showing one twice changes nothing: neither its
    /// digest nor its time starts again.
    pub fn show(&mut self, confirmation: &Confirmation, shown_at: Instant) {
        self.shown.entry(confirmation.id.clone()).or_insert_with(|| {
            Some(Open { digest: confirmation.digest.clone(), shown_at, expires_in: confirmation.expires_in })
        });
    }

    /// Judges a reply that names a confirmation by its id, and uses the id up.
    ///
    /// An id that was never shown or was answered before is refused; a late reply is expired; an
    /// approval of any other digest is refused.
    pub fn answer(&mut self, id: &str, reply: &Reply, now: Instant) -> ConfirmationAnswer {
        let Some(open) = self.shown.get_mut(id).and_then(Option::take) else {
            return ConfirmationAnswer::Refused;
        };
        if now.saturating_duration_since(open.shown_at) >= open.expires_in {
            return ConfirmationAnswer::Expired;
        }
        match reply {
            Reply::Approve { digest } if *digest == open.digest => ConfirmationAnswer::Approved,
            Reply::Approve { .. } | Reply::Refuse => ConfirmationAnswer::Refused,
        }
    }

    /// Judges the reply to a confirmation, and uses it up: [`Self::show`] and [`Self::answer`] for
    /// a loop that asks and waits. The digest is computed again from what is about to run, so that
    /// arguments changed since it was shown are refused.
    pub fn accept(
        &mut self,
        confirmation: &Confirmation,
        shown_at: Instant,
        reply: &Reply,
        now: Instant,
    ) -> ConfirmationAnswer {
        self.show(confirmation, shown_at);
        let answer = self.answer(&confirmation.id, reply, now);
        let actual = confirmation_digest(&confirmation.tool, &confirmation.arguments, &confirmation.preview);
        let same = matches!(reply, Reply::Approve { digest } if *digest == actual);
        if answer == ConfirmationAnswer::Approved && !same { ConfirmationAnswer::Refused } else { answer }
    }
}

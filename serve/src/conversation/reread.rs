//! Quiet conversations read again while no turn runs (K63c), as `tenpass chat` does while it waits.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::json;
use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_model::BoxFuture;
use tenpass_tools::assistant::Live;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Conversations, Quiet};
use crate::model::ModelState;
use crate::text::clean;

impl Conversations {
    /// Reads quiet conversations again, at once and from time to time, until stopped. A turn that
    /// begins cancels the model's call and leaves the memory as it is.
    pub async fn reread_while_idle(self: Arc<Self>, quiet: Quiet, stop: CancellationToken) {
        let after = SignedDuration::try_from(quiet.after).unwrap_or(SignedDuration::MAX);
        let mut model = self.model.watch();
        loop {
            let Some(live) = loaded(&mut model, &stop).await else { return };
            if !until(&self.running, &stop, |running| running == 0).await {
                return;
            }
            tokio::select! {
                biased;
                is_busy = until(&self.running, &stop, |running| running > 0) => if !is_busy { return },
                () = self.reread_once(&live, after) => {
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(quiet.every) => {}
                    }
                }
            }
        }
    }

    async fn reread_once(&self, live: &Live, after: SignedDuration) {
        // A model or a file that fails now may do better the next time.
        let _ = live.assistant.reread(after, &Bystander(self)).await;
    }
}

/// Waits for the model; `None` when stopped.
async fn loaded(model: &mut watch::Receiver<ModelState>, stop: &CancellationToken) -> Option<Arc<Live>> {
    loop {
        if let ModelState::Ready(live) = &*model.borrow_and_update() {
            return Some(Arc::clone(live));
        }
        tokio::select! {
            () = stop.cancelled() => return None,
            changed = model.changed() => changed.ok()?,
        }
    }
}

/// Waits until as many turns run; false when stopped.
async fn until(running: &watch::Sender<usize>, stop: &CancellationToken, is_wanted: impl Fn(usize) -> bool) -> bool {
    let mut receiver = running.subscribe();
    loop {
        if is_wanted(*receiver.borrow_and_update()) {
            return true;
        }
        tokio::select! {
            () = stop.cancelled() => return false,
            changed = receiver.changed() => if changed.is_err() { return false },
        }
    }
}

/// Nobody is asked anything; what is remembered is announced.
struct Bystander<'a>(&'a Conversations);

impl Interaction for Bystander<'_> {
    fn event(&self, event: AgentEvent) {
        if let AgentEvent::MemoryWritten { section, text } = event {
            self.0.count_memory();
            self.0.broadcast(&json!({ "type": "memory", "section": section, "text": clean(&text) }));
        }
    }

    fn confirm<'a>(&'a self, _confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(async { Reply::Refuse })
    }
}

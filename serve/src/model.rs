//! The model behind the assistant: loaded in the background, tried again when it failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tenpass_model::BoxFuture;
use tenpass_tools::assistant::Live;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::text::clean;

/// Loads the model and puts the assistant together, each time it is called.
pub type Load = Box<dyn Fn() -> BoxFuture<'static, Result<Live, LoadFailure>> + Send + Sync>;

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadFailure {
    /// What failed.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Where the model is.
#[derive(Clone)]
pub enum ModelState {
    /// It is being loaded.
    Loading,
    /// It answers.
    Ready(Arc<Live>),
    /// It could not be loaded; the next message tries again.
    Failed(LoadFailure),
}

impl ModelState {
    /// The name of the protocol.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Ready(_) => "ready",
            Self::Failed(_) => "failed",
        }
    }
}

/// The place of the model.
pub struct ModelSlot {
    /// As it was asked for.
    pub spec: String,
    load: Load,
    state: watch::Sender<ModelState>,
    is_loading: AtomicBool,
}

impl ModelSlot {
    /// A place whose model is not being loaded yet.
    pub fn new(spec: String, load: Load) -> Arc<Self> {
        let (state, _) = watch::channel(ModelState::Loading);
        Arc::new(Self { spec, load, state, is_loading: AtomicBool::new(false) })
    }

    /// Begins to load, unless that is under way or done.
    pub fn start(self: &Arc<Self>) {
        if matches!(*self.state.borrow(), ModelState::Ready(_)) || self.is_loading.swap(true, Ordering::SeqCst) {
            return;
        }
        self.state.send_replace(ModelState::Loading);
        let slot = Arc::clone(self);
        tokio::spawn(async move {
            let loaded = match (slot.load)().await {
                Ok(live) => ModelState::Ready(Arc::new(live)),
                Err(failure) => ModelState::Failed(failure),
            };
            slot.is_loading.store(false, Ordering::SeqCst);
            slot.state.send_replace(loaded);
        });
    }

    /// The state now.
    pub fn state(&self) -> ModelState {
        self.state.borrow().clone()
    }

    /// Resolves whenever the state changes.
    pub fn watch(&self) -> watch::Receiver<ModelState> {
        self.state.subscribe()
    }

    /// The assistant, if there is one now.
    pub fn live(&self) -> Option<Arc<Live>> {
        match &*self.state.borrow() {
            ModelState::Ready(live) => Some(Arc::clone(live)),
            _ => None,
        }
    }

    /// Waits for the model, loading it again where it had failed. `None` when stopped meanwhile.
    pub async fn ready(self: &Arc<Self>, stop: &CancellationToken) -> Option<Result<Arc<Live>, LoadFailure>> {
        let mut states = self.state.subscribe();
        self.start();
        loop {
            match states.borrow_and_update().clone() {
                ModelState::Ready(live) => return Some(Ok(live)),
                ModelState::Failed(failure) if !self.is_loading.load(Ordering::SeqCst) => return Some(Err(failure)),
                _ => {}
            }
            tokio::select! {
                () = stop.cancelled() => return None,
                changed = states.changed() => if changed.is_err() { return None },
            }
        }
    }

    /// The `model` message of the protocol.
    pub fn message(&self) -> Value {
        let state = self.state();
        let mut message = json!({ "type": "model", "state": state.as_str(), "spec": clean(&self.spec) });
        match state {
            ModelState::Failed(failure) => {
                message["error"] = json!(clean(&failure.message));
                message["hint"] = json!(clean(&failure.hint));
            }
            ModelState::Ready(live) => message["spec"] = json!(clean(&live.assistant.agent().model.info().spec)),
            ModelState::Loading => {}
        }
        message
    }
}

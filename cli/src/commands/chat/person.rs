//! The person at the console, as the loop sees one.

use std::sync::{Arc, Mutex, PoisonError};

use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_agent::session::{is_emergency, typed_reply};
use tenpass_model::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::confirmation::{boxed, question};
use super::console::{Console, Line};
use super::screen::Screen;
use super::style::Paint;

/// Shows a turn and answers its confirmations.
pub(super) struct Person {
    console: Arc<dyn Console>,
    screen: Mutex<Screen>,
    /// Stops the turn when Ctrl-C is the answer to a confirmation.
    stop: CancellationToken,
}

impl Person {
    pub(super) fn new(console: Arc<dyn Console>, stop: CancellationToken) -> Self {
        let screen = Mutex::new(Screen::new(console.features()));
        Self { console, screen, stop }
    }

    /// Whole lines below what stands.
    fn lines(&self, lines: &str) {
        let text = self.screen.lock().unwrap_or_else(PoisonError::into_inner).lines(lines);
        self.console.write(&text);
    }

    async fn ask(&self, confirmation: &Confirmation) -> Reply {
        let features = self.console.features();
        let question = question(confirmation);
        self.lines(&format!("{}{question}", boxed(confirmation, Paint(features.is_colored), features.width)));
        let mut open = Open { person: self, is_answered: false };
        loop {
            let line = self.console.answer().await;
            if !features.is_typed {
                self.console.write("\n");
            }
            let reply = match line {
                Line::Text(text) if is_emergency(&text) => {
                    open.is_answered = true;
                    self.stop.cancel();
                    return Reply::Refuse;
                }
                Line::Text(text) => typed_reply(&text),
                Line::End => Some(false),
                Line::Interrupt => {
                    open.is_answered = true;
                    self.stop.cancel();
                    return Reply::Refuse;
                }
            };
            open.is_answered = reply.is_some();
            match reply {
                Some(true) => return Reply::Approve { digest: confirmation.digest.clone() },
                Some(false) => return Reply::Refuse,
                None => self.console.write(&format!("  that is neither yes nor no.{question}")),
            }
        }
    }
}

/// A confirmation that stands open. When the loop gives up waiting, the person is told.
struct Open<'a> {
    person: &'a Person,
    is_answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            let why = if self.person.stop.is_cancelled() { "stopped" } else { "it expired" };
            self.person.lines(&format!("\n  no answer: {why}, nothing was done\n"));
        }
    }
}

impl Interaction for Person {
    fn event(&self, event: AgentEvent) {
        let text = self.screen.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
        if !text.is_empty() {
            self.console.write(&text);
        }
    }

    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(self.ask(confirmation))
    }
}

/// Nobody is asked anything while the conversation is idle; what is remembered is announced.
pub(super) struct Bystander {
    console: Arc<dyn Console>,
    screen: Mutex<Screen>,
}

impl Bystander {
    pub(super) fn new(console: Arc<dyn Console>) -> Self {
        let screen = Mutex::new(Screen::new(console.features()));
        Self { console, screen }
    }
}

impl Interaction for Bystander {
    fn event(&self, event: AgentEvent) {
        if matches!(event, AgentEvent::MemoryWritten { .. }) {
            let text = self.screen.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
            self.console.announce(&text);
        }
    }

    fn confirm<'a>(&'a self, _confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(async { Reply::Refuse })
    }
}

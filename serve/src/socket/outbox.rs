//! What waits to be sent to one client. A client that does not read is dropped, never waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use axum::extract::ws::{Message, Utf8Bytes};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Messages that may wait.
const MOST_MESSAGES: usize = 8_192;
/// Bytes that may wait. The text of a message is shared by all clients that wait for it.
const MOST_BYTES: usize = 8 << 20;

/// The sending end. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Outbox {
    id: u64,
    sender: mpsc::Sender<Message>,
    waiting: Arc<AtomicUsize>,
    gone: CancellationToken,
}

/// The receiving end, for the task that writes to the client.
#[derive(Debug)]
pub(crate) struct Mail {
    receiver: mpsc::Receiver<Message>,
    waiting: Arc<AtomicUsize>,
}

fn length(message: &Message) -> usize {
    match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
        Message::Close(_) => 0,
    }
}

impl Outbox {
    /// A new pair.
    pub(crate) fn new() -> (Self, Mail) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (sender, receiver) = mpsc::channel(MOST_MESSAGES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let outbox = Self { id, sender, waiting: Arc::clone(&waiting), gone: CancellationToken::new() };
        (outbox, Mail { receiver, waiting })
    }

    /// Tells clients apart.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Hands a message over without waiting; false when the client is gone or too slow, and is
    /// dropped then: it reconnects and gets a snapshot.
    pub fn send(&self, message: Message) -> bool {
        if self.gone.is_cancelled() {
            return false;
        }
        let bytes = length(&message);
        let before = self.waiting.fetch_add(bytes, Ordering::AcqRel);
        // One message alone may be as large as it is: a snapshot.
        let fits = before == 0 || before + bytes <= MOST_BYTES;
        if fits && self.sender.try_send(message).is_ok() {
            return true;
        }
        self.waiting.fetch_sub(bytes, Ordering::AcqRel);
        self.gone.cancel();
        false
    }

    /// Hands a JSON message over.
    pub fn send_json(&self, value: &Value) -> bool {
        self.send(Message::Text(Utf8Bytes::from(value.to_string())))
    }

    /// Drops the client.
    pub fn close(&self) {
        self.gone.cancel();
    }

    /// Resolves when the client is dropped.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }
}

impl Mail {
    /// The next message; `None` when every sender is gone.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        let message = self.receiver.recv().await?;
        self.waiting.fetch_sub(length(&message), Ordering::AcqRel);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_does_not_read_is_dropped_at_the_bound() {
        let (outbox, mut mail) = Outbox::new();
        let text = Utf8Bytes::from("x".repeat(1 << 20));
        let sent = (0..100).take_while(|_| outbox.send(Message::Text(text.clone()))).count();
        assert_eq!(sent, MOST_BYTES >> 20);
        assert!(outbox.gone().is_cancelled() && !outbox.send(Message::Text("y".into())));
        assert!(matches!(mail.next().await, Some(Message::Text(_))));
    }

    #[tokio::test]
    async fn one_large_message_passes_and_many_small_ones_do_not() {
        let (outbox, mut mail) = Outbox::new();
        assert!(outbox.send(Message::Text("x".repeat(MOST_BYTES * 2).into())));
        assert!(mail.next().await.is_some());
        let sent = (0..10_000).take_while(|_| outbox.send(Message::Text("x".into()))).count();
        assert_eq!(sent, MOST_MESSAGES);
    }
}

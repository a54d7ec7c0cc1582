//! Reads one HTTP response through a decoder, event by event.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use crate::decode::{Decode, Fault};
use crate::http::Endpoint;
use crate::{ChatEvent, ModelError};

/// How long to wait for the end of a response whose last event has come. Reading it to the end
/// lets the connection be used again.
const DRAIN: Duration = Duration::from_millis(20);

/// An answer being read. Dropping it closes the connection, and the server stops.
pub(crate) struct Answer<'a, D> {
    endpoint: &'a Endpoint,
    response: Option<Response>,
    decoder: D,
    events: VecDeque<ChatEvent>,
    fault: Option<Broken>,
}

/// Why an answer broke off.
pub(crate) enum Broken {
    /// The connection.
    Transport(ModelError),
    /// What came over it.
    Content(Fault),
}

impl<'a, D: Decode> Answer<'a, D> {
    pub(crate) fn new(endpoint: &'a Endpoint, response: Response, decoder: D) -> Self {
        Self { endpoint, response: Some(response), decoder, events: VecDeque::new(), fault: None }
    }

    /// The next event; `None` after `Done`.
    pub(crate) async fn next(&mut self) -> Result<Option<ChatEvent>, Broken> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            let mut events = Vec::new();
            let read = match self.endpoint.chunk(response).await {
                Ok(Some(bytes)) => self.decoder.feed(&bytes, &mut events).map_err(Broken::Content),
                Ok(None) => self.end(&mut events).map_err(Broken::Content),
                // Everything may have come already; then it does not matter how it ended.
                Err(error) => self.end(&mut events).map_err(|_| Broken::Transport(error)),
            };
            if self.decoder.is_done() {
                self.drain().await;
            }
            self.events.extend(events);
            if let Err(fault) = read {
                self.response = None;
                self.fault = Some(fault);
            }
        }
    }

    fn end(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        self.response = None;
        self.decoder.end(events)
    }

    async fn drain(&mut self) {
        let Some(mut response) = self.response.take() else { return };
        let endpoint = self.endpoint;
        let rest = async { while matches!(endpoint.chunk(&mut response).await, Ok(Some(_))) {} };
        // Running out of time only costs the reuse of the connection.
        let _ = tokio::time::timeout(DRAIN, rest).await;
    }
}

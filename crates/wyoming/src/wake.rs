//! Sound is listened to for wake words.

use std::sync::Arc;

use serde_json::{Value, json};
use tenpass_wake::Detector;

use crate::frame::Event;
use crate::recognise::Input;
use crate::services::WakeService;

/// A stream of sound.
pub(crate) struct Listening {
    detector: Detector,
    /// The word of each head.
    words: Vec<String>,
    input: Input,
    found: bool,
    /// The client's time at the stream's begin, in milliseconds.
    begin_ms: Option<u64>,
}

impl Listening {
    /// `detect` may name words; a name that is not there is an error.
    pub(crate) fn new(service: Arc<WakeService>, event: &Event) -> Result<Self, String> {
        let list = event.data.get("names").and_then(Value::as_array);
        let names: Vec<String> = list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        if let Some(unknown) = names.iter().find(|name| !service.words.iter().any(|word| word.name == **name)) {
            let known: Vec<&str> = service.words.iter().map(|word| word.name.as_str()).collect();
            let unknown: String = unknown.chars().take(60).collect();
            return Err(format!("there is no wake word {unknown:?}; there is {}", known.join(", ")));
        }
        let meant =
            service.words.iter().filter(|word| names.is_empty() || names.contains(&word.name)).collect::<Vec<_>>();
        let detector = (service.detector)(&meant)?;
        let words = meant.into_iter().map(|word| word.name.clone()).collect();
        Ok(Self { detector, words, input: Input::default(), found: false, begin_ms: None })
    }

    pub(crate) fn restart(&mut self) {
        self.detector.reset();
        self.input = Input::default();
        self.found = false;
        self.begin_ms = None;
    }

    /// Detections in a chunk.
    pub(crate) fn push(&mut self, event: &Event) -> Result<Vec<Event>, String> {
        let begin = *self.begin_ms.get_or_insert(event.number("timestamp").unwrap_or(0));
        let samples = self.input.samples(event)?;
        let found = self.detector.events(&samples);
        self.found |= !found.is_empty();
        let told = found.iter().map(|found| {
            let at = begin + (found.time_s * 1e3).max(0.0) as u64;
            let name = self.words.get(found.head).unwrap_or(&found.name);
            Event::new("detection", json!({ "name": name, "timestamp": at }))
        });
        Ok(told.collect())
    }

    /// The sound is over.
    pub(crate) fn stop(&mut self) -> Option<Event> {
        let event = (!self.found).then(|| Event::new("not-detected", json!({})));
        self.restart();
        event
    }
}

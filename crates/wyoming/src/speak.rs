//! Text becomes sound, clause by clause.

use std::sync::Arc;

use serde_json::{Value, json};
use tenpass_tts::{Chunker, SpeakOptions, Voice};

use crate::frame::Event;
use crate::services::{NamedVoice, Services};

/// Samples of a chunk.
const CHUNK: usize = 2_048;
/// Longest text of one stream, in bytes.
const MOST_TEXT: usize = 200_000;

/// Speech that goes on.
pub(crate) struct Speech {
    voice: Arc<dyn Voice>,
    chunker: Chunker,
    begun: bool,
    bytes: usize,
    samples: u64,
}

impl Speech {
    /// With the voice that is named, or one for the language, or the first.
    pub(crate) fn new(services: &Services, event: &Event) -> Result<Self, String> {
        let wanted = event.data.get("voice").unwrap_or(&Value::Null);
        let voice = choose(&services.voices, wanted["name"].as_str(), wanted["language"].as_str())?;
        let language = voice.languages.first().map_or("en", String::as_str);
        Ok(Self {
            voice: Arc::clone(&voice.voice),
            chunker: Chunker::speaking(language),
            begun: false,
            bytes: 0,
            samples: 0,
        })
    }

    /// The clauses that are complete now.
    pub(crate) fn push(&mut self, text: &str, ends: bool) -> Result<Vec<String>, String> {
        self.bytes += text.len();
        if self.bytes > MOST_TEXT {
            return Err(format!("a text over {MOST_TEXT} bytes"));
        }
        let mut clauses = self.chunker.push(text);
        if ends {
            clauses.extend(self.chunker.finish());
        }
        Ok(clauses)
    }

    /// A clause as events.
    pub(crate) async fn sound(&mut self, clause: String) -> Result<Vec<Event>, String> {
        let voice = Arc::clone(&self.voice);
        let work = tokio::task::spawn_blocking(move || voice.speak(&clause, &SpeakOptions::default()));
        let audio = work.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let rate = audio.rate;
        let mut events = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            events.push(self.start(rate));
        }
        for samples in audio.to_i16().chunks(CHUNK) {
            let payload = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
            let form = json!({ "rate": rate, "width": 2, "channels": 1, "timestamp": self.time(rate) });
            events.push(Event::new("audio-chunk", form).with_payload(payload));
            self.samples += samples.len() as u64;
        }
        Ok(events)
    }

    fn start(&self, rate: u32) -> Event {
        Event::new("audio-start", json!({ "rate": rate, "width": 2, "channels": 1, "timestamp": self.time(rate) }))
    }

    fn time(&self, rate: u32) -> u64 {
        self.samples * 1_000 / u64::from(rate.max(1))
    }

    /// The end; of a text without words, the end of a sound that never began.
    pub(crate) fn end(&self) -> Event {
        Event::new("audio-stop", json!({ "timestamp": self.time(self.voice.info().rate) }))
    }
}

fn choose<'a>(voices: &'a [NamedVoice], name: Option<&str>, language: Option<&str>) -> Result<&'a NamedVoice, String> {
    if let Some(name) = name {
        return voices.iter().find(|voice| voice.name == name).ok_or_else(|| {
            let known: Vec<&str> = voices.iter().map(|voice| voice.name.as_str()).collect();
            let name: String = name.chars().take(60).collect();
            format!("there is no voice {name:?}; there is {}", known.join(", "))
        });
    }
    let base = |code: &str| code.split(['-', '_']).next().unwrap_or_default().to_lowercase();
    let fits = |voice: &&NamedVoice| {
        language.is_some_and(|wanted| voice.languages.iter().any(|spoken| base(spoken) == base(wanted)))
    };
    voices.iter().find(fits).or(voices.first()).ok_or_else(|| "no voice is offered here".to_owned())
}

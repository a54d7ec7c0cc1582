//! One client: its events, and where its sound goes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufRead, AsyncWrite};

use crate::describe;
use crate::frame::{self, Event, FrameError};
use crate::recognise::Recognition;
use crate::services::{Asked, Services};
use crate::speak::Speech;
use crate::wake::Listening;

/// A client that sends nothing for so long is gone.
const IDLE: Duration = Duration::from_mins(10);
/// A client that does not take an event for so long is gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest text for the agent or a voice, in bytes.
const MOST_TEXT: usize = 20_000;

/// What is done with sound.
enum Sound {
    /// As services allow: speech to text, else wake words.
    Undecided,
    Recognition(Box<Recognition>),
    Listening(Box<Listening>),
}

/// Whether the connection goes on.
pub(crate) enum Flow {
    On,
    End,
}

/// A client.
pub(crate) struct Connection<W> {
    services: Arc<Services>,
    writer: W,
    sound: Sound,
    speech: Option<Speech>,
}

impl<W: AsyncWrite + Unpin> Connection<W> {
    pub(crate) fn new(services: Arc<Services>, writer: W) -> Self {
        Self { services, writer, sound: Sound::Undecided, speech: None }
    }

    /// Answers until the client leaves.
    pub(crate) async fn run(mut self, mut reader: impl AsyncBufRead + Unpin) {
        loop {
            let event = match tokio::time::timeout(IDLE, frame::read(&mut reader)).await {
                Ok(Ok(Some(event))) => event,
                Ok(Err(FrameError::Malformed(problem))) => {
                    // Where the next event would begin is not known any more.
                    let _ = self.error("malformed", &problem).await;
                    return;
                }
                Err(_) | Ok(Err(FrameError::Io(_)) | Ok(None)) => return,
            };
            match self.take(event).await {
                Ok(Flow::On) => {}
                Ok(Flow::End) | Err(_) => return,
            }
        }
    }

    async fn send(&mut self, event: Event) -> std::io::Result<()> {
        let slow = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
        tokio::time::timeout(PATIENCE, frame::write(&mut self.writer, &event)).await.map_err(slow)?
    }

    async fn error(&mut self, code: &str, text: &str) -> std::io::Result<Flow> {
        self.send(Event::new("error", json!({ "text": text, "code": code }))).await?;
        Ok(Flow::On)
    }

    async fn take(&mut self, event: Event) -> std::io::Result<Flow> {
        match event.kind.as_str() {
            "describe" => {
                let info = describe::info(&self.services);
                self.send(info).await?;
            }
            "ping" => {
                let text = event.text("text").map(str::to_owned);
                self.send(Event::new("pong", json!({ "text": text }))).await?;
            }
            "transcribe" => return self.transcribe(&event).await,
            "detect" => return self.detect(&event).await,
            "audio-start" => return self.begin().await,
            "audio-chunk" => return self.chunk(&event).await,
            "audio-stop" => return self.stop().await,
            "synthesize" | "synthesize-start" | "synthesize-chunk" | "synthesize-stop" => {
                return self.speak(&event).await;
            }
            "transcript" => return self.handle(&event).await,
            // Events that the protocol may add are no fault of the client.
            _ => {}
        }
        Ok(Flow::On)
    }

    async fn transcribe(&mut self, event: &Event) -> std::io::Result<Flow> {
        let Some(ears) = &self.services.ears else {
            return self.error("unsupported", "no speech to text is offered here").await;
        };
        self.sound = Sound::Recognition(Box::new(Recognition::new(Arc::clone(ears), &self.services.decoding, event)));
        Ok(Flow::On)
    }

    async fn detect(&mut self, event: &Event) -> std::io::Result<Flow> {
        let Some(wake) = &self.services.wake else {
            return self.error("unsupported", "no wake word is offered here").await;
        };
        match Listening::new(Arc::clone(wake), event) {
            Ok(listening) => self.sound = Sound::Listening(Box::new(listening)),
            Err(problem) => return self.error("wake", &problem).await,
        }
        Ok(Flow::On)
    }

    /// Sound begins: a new stream for whatever was asked for before.
    async fn begin(&mut self) -> std::io::Result<Flow> {
        match &mut self.sound {
            Sound::Recognition(recognition) => recognition.restart(),
            Sound::Listening(listening) => listening.restart(),
            Sound::Undecided if self.services.ears.is_some() => {
                return self.transcribe(&Event::new("transcribe", json!({}))).await;
            }
            Sound::Undecided => return self.detect(&Event::new("detect", json!({}))).await,
        }
        Ok(Flow::On)
    }

    async fn chunk(&mut self, event: &Event) -> std::io::Result<Flow> {
        let heard = match &mut self.sound {
            // Sound without a beginning is nobody's.
            Sound::Undecided => return Ok(Flow::On),
            Sound::Recognition(recognition) => recognition.push(event).map(|()| Vec::new()),
            Sound::Listening(listening) => listening.push(event),
        };
        match heard {
            Ok(events) => {
                for event in events {
                    self.send(event).await?;
                }
                Ok(Flow::On)
            }
            Err(problem) => {
                self.error("sound", &problem).await?;
                Ok(Flow::End)
            }
        }
    }

    async fn stop(&mut self) -> std::io::Result<Flow> {
        match &mut self.sound {
            Sound::Undecided => Ok(Flow::On),
            Sound::Listening(listening) => match listening.stop() {
                Some(event) => self.send(event).await.map(|()| Flow::On),
                None => Ok(Flow::On),
            },
            Sound::Recognition(recognition) => match recognition.finish().await {
                Ok((text, language)) => {
                    self.send(Event::new("transcript-start", json!({ "language": language }))).await?;
                    self.send(Event::new("transcript-chunk", json!({ "text": text }))).await?;
                    self.send(Event::new("transcript", json!({ "text": text, "language": language }))).await?;
                    self.send(Event::new("transcript-stop", json!({}))).await?;
                    Ok(Flow::On)
                }
                Err(problem) => self.error("stt", &problem).await,
            },
        }
    }

    async fn speak(&mut self, event: &Event) -> std::io::Result<Flow> {
        if event.text("text").is_some_and(|text| text.len() > MOST_TEXT) {
            return self.error("tts", &format!("a text over {MOST_TEXT} bytes")).await;
        }
        let streamed = self.speech.is_some();
        let (mut speech, text, ends) = match event.kind.as_str() {
            // The whole text again, for servers that know no streaming: it was spoken already.
            "synthesize" if streamed => return Ok(Flow::On),
            "synthesize-start" | "synthesize" => match Speech::new(&self.services, event) {
                Ok(speech) => (speech, event.text("text").unwrap_or_default(), event.kind == "synthesize"),
                Err(problem) => return self.error("tts", &problem).await,
            },
            _ => match self.speech.take() {
                Some(speech) => (speech, event.text("text").unwrap_or_default(), event.kind == "synthesize-stop"),
                None => return Ok(Flow::On),
            },
        };
        let spoken = speech.push(text, ends);
        match spoken {
            Ok(clauses) => {
                for clause in clauses {
                    match speech.sound(clause).await {
                        Ok(events) => {
                            for event in events {
                                self.send(event).await?;
                            }
                        }
                        Err(problem) => return self.error("tts", &problem).await,
                    }
                }
            }
            Err(problem) => return self.error("tts", &problem).await,
        }
        if ends {
            self.send(speech.end()).await?;
            if event.kind == "synthesize-stop" {
                self.send(Event::new("synthesize-stopped", json!({}))).await?;
            }
        } else {
            self.speech = Some(speech);
        }
        Ok(Flow::On)
    }

    async fn handle(&mut self, event: &Event) -> std::io::Result<Flow> {
        let Some(agent) = self.services.agent.clone() else {
            return self.error("unsupported", "no agent is offered here").await;
        };
        let text = event.text("text").unwrap_or_default();
        if text.len() > MOST_TEXT {
            return self.error("agent", &format!("a text over {MOST_TEXT} bytes")).await;
        }
        let context = event.data.get("context").cloned();
        let conversation = context.as_ref().and_then(|context| context["conversation_id"].as_str()).map(str::to_owned);
        let asked = Asked { text: text.to_owned(), language: event.text("language").map(str::to_owned), conversation };
        let (kind, text) = match agent.answer(asked).await {
            Ok(text) => ("handled", text),
            Err(text) => ("not-handled", text),
        };
        self.send(Event::new(kind, json!({ "text": text, "context": context }))).await?;
        Ok(Flow::On)
    }
}

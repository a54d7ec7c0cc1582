//! Chunk after chunk: the first is heard while the next is made.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use tenpass_audio::Audio;

use crate::{Cancel, Envelope, SpeakOptions, TtsError, Voice};

/// Chunks that are made before the first of them is taken.
const AHEAD: usize = 2;

/// A chunk as sound.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// Its place, from 0.
    pub index: usize,
    /// What was spoken.
    pub text: String,
    /// How it sounds.
    pub audio: Audio,
    /// How loud it is, for something that moves with it.
    pub envelope: Envelope,
    /// How long making it took.
    pub synthesis_ms: f64,
}

/// The chunks of a text, in order, each as soon as it is there. Dropping it stops the voice.
#[derive(Debug)]
pub struct SpeechStream {
    receiver: Option<Receiver<Result<Spoken, TtsError>>>,
    worker: Option<JoinHandle<()>>,
    cancel: Cancel,
}

/// Speaks chunks on a thread of its own. `chunks` may be an iterator that waits for a model to write on. After
/// an error, which [`TtsError::Cancelled`] is too, the stream ends.
pub fn speak_stream<I>(voice: Arc<dyn Voice>, chunks: I, options: SpeakOptions, cancel: &Cancel) -> SpeechStream
where
    I: IntoIterator<Item = String>,
    I::IntoIter: Send + 'static,
{
    let (sender, receiver) = sync_channel(AHEAD);
    let (stop, chunks) = (cancel.clone(), chunks.into_iter());
    let worker = std::thread::spawn(move || {
        for (index, text) in chunks.enumerate() {
            let started = Instant::now();
            let spoken = if stop.is_cancelled() {
                Err(TtsError::Cancelled)
            } else {
                voice.speak_until(&text, &options, &stop).map(|audio| Spoken {
                    index,
                    text,
                    envelope: Envelope::of(&audio),
                    audio,
                    synthesis_ms: started.elapsed().as_secs_f64() * 1e3,
                })
            };
            let is_last = spoken.is_err();
            if sender.send(spoken).is_err() || is_last {
                return;
            }
        }
    });
    SpeechStream { receiver: Some(receiver), worker: Some(worker), cancel: cancel.clone() }
}

impl Iterator for SpeechStream {
    type Item = Result<Spoken, TtsError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receiver.as_ref()?.recv().ok()
    }
}

impl Drop for SpeechStream {
    fn drop(&mut self) {
        self.cancel.cancel();
        // A worker that waits to hand over sees the closed channel.
        self.receiver = None;
        if let Some(worker) = self.worker.take()
            && !worker.is_finished()
        {
            // Left alone when it waits for more text: it ends with the next piece.
            drop(worker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VoiceInfo;

    /// A fake: as many samples as the text has letters; `stop` throws the switch.
    struct Fake(VoiceInfo, Cancel);

    impl Voice for Fake {
        fn info(&self) -> &VoiceInfo {
            &self.0
        }

        fn speak_until(&self, text: &str, _: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
            if text == "stop" {
                self.1.cancel();
            }
            if cancel.is_cancelled() { Err(TtsError::Cancelled) } else { Ok(Audio::new(vec![0.1; text.len()], 16_000)) }
        }
    }

    fn fake(cancel: &Cancel) -> Arc<dyn Voice> {
        let info = VoiceInfo {
            spec: "fake".to_owned(),
            engine: "fake".to_owned(),
            language: "en".to_owned(),
            rate: 16_000,
            natural: false,
        };
        Arc::new(Fake(info, cancel.clone()))
    }

    /// A fake that speaks without end until the switch is thrown, and tells when it begins and when it is gone.
    struct Endless(VoiceInfo, std::sync::mpsc::Sender<&'static str>);

    impl Voice for Endless {
        fn info(&self) -> &VoiceInfo {
            &self.0
        }

        fn speak_until(&self, _: &str, _: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError> {
            let (throw, thrown) = std::sync::mpsc::channel();
            let _stop = cancel.on_cancel(move || {
                let _ = throw.send(());
            });
            self.1.send("begun").unwrap();
            // Nothing but the switch ends this.
            thrown.recv().unwrap();
            Err(TtsError::Cancelled)
        }
    }

    impl Drop for Endless {
        fn drop(&mut self) {
            let _ = self.1.send("gone");
        }
    }

    fn endless() -> (Arc<dyn Voice>, std::sync::mpsc::Receiver<&'static str>) {
        let (sender, events) = std::sync::mpsc::channel();
        (Arc::new(Endless(fake(&Cancel::new()).info().clone(), sender)), events)
    }

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn chunks_come_in_order_with_their_envelope() {
        let cancel = Cancel::new();
        let stream = speak_stream(fake(&cancel), texts(&["a", "bb", "ccc", "dddd"]), SpeakOptions::default(), &cancel);
        let spoken: Vec<Spoken> = stream.map(Result::unwrap).collect();
        assert_eq!(spoken.iter().map(|chunk| chunk.audio.samples.len()).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(spoken.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(spoken[3].envelope.levels.len(), 1);
    }

    #[test]
    fn it_ends_when_it_is_stopped() {
        let cancel = Cancel::new();
        let mut stream = speak_stream(fake(&cancel), texts(&["a", "stop", "b"]), SpeakOptions::default(), &cancel);
        assert!(stream.next().unwrap().is_ok());
        assert!(matches!(stream.next(), Some(Err(TtsError::Cancelled))));
        assert!(stream.next().is_none());
    }
    #[test]
    fn a_chunk_under_way_ends_with_the_switch_and_no_further_one_begins() {
        let (voice, events) = endless();
        let cancel = Cancel::new();
        let mut stream = speak_stream(voice, texts(&["a", "b"]), SpeakOptions::default(), &cancel);
        assert_eq!(events.recv().unwrap(), "begun");
        cancel.cancel();
        assert!(matches!(stream.next(), Some(Err(TtsError::Cancelled))));
        assert!(stream.next().is_none());
        // The worker has let go of the voice, and had begun one chunk only.
        assert_eq!(events.iter().collect::<Vec<_>>(), ["gone"]);
    }

    #[test]
    fn dropping_the_stream_ends_the_chunk_under_way() {
        let (voice, events) = endless();
        let stream = speak_stream(voice, texts(&["a", "b"]), SpeakOptions::default(), &Cancel::new());
        assert_eq!(events.recv().unwrap(), "begun");
        drop(stream);
        assert_eq!(events.iter().collect::<Vec<_>>(), ["gone"]);
    }
}

//! A clock that jumps from event to event.

use std::collections::BTreeMap;
use std::time::Instant;

use super::parts::{Components, Piece, Timed};
use super::work::{Done, Job, Work};

/// Carries jobs out at once, and delivers answers when they would have been there.
pub struct VirtualWork {
    components: Components,
    /// Answers by time and, at equal times, by the order in which they were made.
    waiting: BTreeMap<(u64, u64), Done>,
    made: u64,
    /// When each engine is free: ears, mouth, responder.
    free_us: [u64; 3],
    /// Transcriptions that are not over: which, begin, end.
    heard: Vec<(u32, u64, u64)>,
    faults: Vec<String>,
}

#[derive(Clone, Copy)]
enum Lane {
    Ears,
    Mouth,
    Responder,
}

impl VirtualWork {
    /// With these engines.
    pub fn new(components: Components) -> Self {
        Self { components, waiting: BTreeMap::new(), made: 0, free_us: [0; 3], heard: Vec::new(), faults: Vec::new() }
    }

    fn answer(&mut self, at_us: u64, done: Done) {
        self.made += 1;
        self.waiting.insert((at_us, self.made), done);
    }

    /// Runs one job of a lane; its end.
    fn run<T>(
        &mut self,
        at_us: u64,
        lane: Lane,
        what: impl FnOnce(&Components) -> Result<Timed<T>, String>,
    ) -> (u64, Option<T>) {
        let begin = Instant::now();
        let result = what(&self.components);
        let took_us = begin.elapsed().as_micros() as u64;
        let (value, cost_us) = match result {
            Ok(timed) => (Some(timed.value), timed.cost_us.unwrap_or(took_us)),
            Err(fault) => {
                self.faults.push(fault);
                (None, took_us)
            }
        };
        let free_us = &mut self.free_us[lane as usize];
        *free_us = at_us.max(*free_us) + cost_us;
        (*free_us, value)
    }

    fn respond(&mut self, at_us: u64, reply: u32, text: &str) {
        let begin = Instant::now();
        let start_us = at_us.max(self.free_us[Lane::Responder as usize]);
        let mut pieces = Vec::new();
        let responder = self.components.responder.clone();
        let result = responder.respond(text, &mut |Piece { text, after_us }| {
            let after_us = after_us.unwrap_or_else(|| begin.elapsed().as_micros() as u64);
            pieces.push((start_us + after_us, text.to_owned()));
            true
        });
        let written = pieces.last().map_or(start_us, |(at_us, _)| *at_us);
        for (at_us, text) in pieces {
            self.answer(at_us, Done::Piece { reply, text });
        }
        let manner = result.unwrap_or_else(|fault| {
            self.faults.push(fault);
            crate::turn::Manner::default()
        });
        self.free_us[Lane::Responder as usize] = written;
        self.answer(written, Done::ReplyEnded { reply, manner });
    }
}

impl Work for VirtualWork {
    fn begin(&mut self, at_us: u64, job: Job) {
        match job {
            Job::Transcribe { job, audio } => {
                let start_us = at_us.max(self.free_us[Lane::Ears as usize]);
                let (end_us, text) = self.run(at_us, Lane::Ears, |parts| parts.ears.transcribe(&audio));
                self.heard.retain(|(_, _, end_us)| *end_us > at_us);
                self.heard.push((job, start_us, end_us));
                self.answer(end_us, Done::Transcript { job, text: text.unwrap_or_default() });
            }
            Job::Speak { reply, chunk, text } => {
                let (end_us, audio) = self.run(at_us, Lane::Mouth, |parts| parts.mouth.speak(&text));
                self.answer(end_us, Done::Spoken { reply, chunk, audio: audio.unwrap_or_default() });
            }
            Job::Route { job, text } => {
                let begin = Instant::now();
                let Timed { value: route, cost_us } = self.components.router.route(&text);
                let cost_us = cost_us.unwrap_or_else(|| begin.elapsed().as_micros() as u64);
                self.answer(at_us + cost_us, Done::Routed { job, route });
            }
            Job::Respond { reply, text } => self.respond(at_us, reply, &text),
        }
    }

    fn cancel(&mut self, reply: u32) {
        self.waiting.retain(|_, done| match done {
            Done::Piece { reply: of, .. } | Done::ReplyEnded { reply: of, .. } | Done::Spoken { reply: of, .. } => {
                *of != reply
            }
            Done::Transcript { .. } | Done::Routed { .. } => true,
        });
    }

    fn abandon(&mut self, at_us: u64, job: u32) {
        let Some(place) = self.heard.iter().position(|(id, start_us, _)| *id == job && *start_us > at_us) else {
            return;
        };
        // It never begins; whatever waits behind it begins so much earlier. Only the last one of a lane can be abandoned,
        // since there is one utterance at a time.
        let (_, start_us, _) = self.heard.remove(place);
        if place == self.heard.len() {
            self.free_us[Lane::Ears as usize] = start_us;
        }
        self.waiting.retain(|_, done| !matches!(done, Done::Transcript { job: of, .. } if *of == job));
    }

    fn next(&mut self, until_us: u64) -> Option<(u64, Done)> {
        let first = self.waiting.first_entry()?;
        if first.key().0 > until_us {
            return None;
        }
        let ((at_us, _), done) = first.remove_entry();
        Some((at_us, done))
    }

    fn faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tenpass_audio::Audio;

    use super::*;
    use crate::drive::{ScriptedEars, ScriptedMouth, ScriptedResponder};
    use crate::turn::{Manner, Route};

    #[test]
    fn a_transcription_that_waits_is_dropped_and_one_that_runs_runs_on() {
        let responder = ScriptedResponder { text: String::new(), first_us: 0, word_us: 0, manner: Manner::Reading };
        let mut work = VirtualWork::new(Components {
            ears: Arc::new(ScriptedEars::new(&["one", "two", "three"], 200_000)),
            mouth: Arc::new(ScriptedMouth { cost_us: 1, silence_ms: 0 }),
            router: Arc::new(|_: &str| Timed { value: Route::Loop, cost_us: Some(1) }),
            responder: Arc::new(responder),
        });
        let begin = |work: &mut VirtualWork, at_us, job| {
            work.begin(at_us, Job::Transcribe { job, audio: Audio::silence(1.0, 16_000) });
        };
        begin(&mut work, 0, 1);
        begin(&mut work, 10_000, 2);
        work.abandon(50_000, 1);
        work.abandon(50_000, 2);
        begin(&mut work, 60_000, 3);
        let mut found = Vec::new();
        while let Some((at_us, Done::Transcript { job, text })) = work.next(u64::MAX) {
            found.push((at_us, job, text));
        }
        assert_eq!(found, [(200_000, 1, "one".to_owned()), (400_000, 3, "three".to_owned())]);
    }
}

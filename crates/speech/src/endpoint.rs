//! When someone has finished speaking.
//!
//! [`Endpointer`] reads one probability of speech a frame. Commands end after 350 ms of silence. Free speech
//! ends after 400 to 1,200 ms: short when the text so far is a whole sentence, long when it is an open one,
//! and never shorter than the pauses that this speaker has already made in this utterance, by a quarter
//! more. After 150 ms of silence the sound so far is worth transcribing speculatively; when speech goes on,
//! that transcript is to be discarded.

use serde::{Deserialize, Serialize};

/// Limits of an utterance, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EndpointOptions {
    /// What is expected.
    pub mode: EndpointMode,
    /// At this probability speech begins.
    pub speech_at: f32,
    /// Below this probability it pauses.
    pub silence_below: f32,
    /// Speech shorter than this, in all, is a click.
    pub least_speech_ms: u64,
    /// Silence after which the sound is transcribed speculatively.
    pub speculate_ms: u64,
    /// Silence that ends a command.
    pub command_ms: u64,
    /// Least silence that ends free speech.
    pub free_least_ms: u64,
    /// Silence that ends free speech when nothing is known about it.
    pub free_usual_ms: u64,
    /// Most silence that ends free speech.
    pub free_most_ms: u64,
    /// Longest utterance.
    pub most_ms: u64,
    /// How long to wait for someone to begin.
    pub no_speech_ms: u64,
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            mode: EndpointMode::Auto,
            speech_at: 0.5,
            silence_below: 0.35,
            least_speech_ms: 96,
            speculate_ms: 150,
            command_ms: 350,
            free_least_ms: 400,
            free_usual_ms: 700,
            free_most_ms: 1200,
            most_ms: 30_000,
            no_speech_ms: 6_000,
        }
    }
}

/// What is expected to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointMode {
    /// Commands only: 350 ms.
    Command,
    /// Free speech only.
    Free,
    /// Either: as a command once the speculative transcript is one, else as free speech.
    #[default]
    Auto,
}

/// What the speculative transcript says about the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hint {
    /// Nothing is known.
    #[default]
    Unknown,
    /// It is a closed command.
    Command,
    /// It is a whole sentence.
    Complete,
    /// It wants to go on.
    Open,
}

impl Hint {
    /// What the text says by its last mark or word, in English and French.
    pub fn of_text(text: &str) -> Self {
        const OPEN: &[&str] = &[
            "a", "an", "and", "at", "au", "because", "but", "car", "ce", "de", "des", "donc", "du", "en", "et", "for",
            "from", "if", "in", "la", "le", "les", "mais", "my", "of", "on", "or", "ou", "par", "parce", "pour", "que",
            "qui", "sa", "si", "so", "sur", "the", "then", "to", "un", "une", "with", "à",
        ];
        let text = text.trim_end().trim_end_matches(['"', '»', ')', '\'']).trim_end();
        if text.is_empty() || text.ends_with("...") || text.ends_with(['…', ',', ';', ':', '-', '–', '—']) {
            return if text.is_empty() { Self::Unknown } else { Self::Open };
        }
        let last = text.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or("");
        if OPEN.contains(&last.to_lowercase().as_str()) {
            return Self::Open;
        }
        if text.ends_with(['.', '!', '?']) { Self::Complete } else { Self::Unknown }
    }
}

/// Why an utterance ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Silence after speech.
    Silence,
    /// It was too long.
    TooLong,
    /// Nobody spoke.
    NoSpeech,
}

/// What a frame meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointEvent {
    /// Speech began, at this time.
    Started {
        /// Microseconds.
        at_us: u64,
    },
    /// Enough silence to transcribe speculatively what ended at this time.
    Speculate {
        /// End of the last voiced frame, microseconds.
        voiced_end_us: u64,
    },
    /// Speech goes on: what was speculated is void.
    WentOn,
    /// The utterance is over.
    Ended {
        /// End of the last voiced frame, microseconds.
        voiced_end_us: u64,
        /// Why.
        reason: EndReason,
    },
}

/// Finds the end of one utterance.
#[derive(Debug, Clone)]
pub struct Endpointer {
    options: EndpointOptions,
    begin_us: u64,
    started_us: Option<u64>,
    /// End of the last frame.
    heard_us: u64,
    voiced_end_us: u64,
    voiced_us: u64,
    in_speech: bool,
    speculated: bool,
    longest_pause_us: u64,
    hint: Hint,
    ended: bool,
}

impl Endpointer {
    /// Listens from this time on.
    pub fn new(options: EndpointOptions, begin_us: u64) -> Self {
        Self {
            options,
            begin_us,
            started_us: None,
            heard_us: begin_us,
            voiced_end_us: begin_us,
            voiced_us: 0,
            in_speech: false,
            speculated: false,
            longest_pause_us: 0,
            hint: Hint::Unknown,
            ended: false,
        }
    }

    /// What the speculative transcript of the present pause says. The utterance is over at once when the silence so far
    /// is enough for that.
    pub fn hint(&mut self, hint: Hint) -> Option<EndpointEvent> {
        self.hint = hint;
        let silence_us = self.heard_us.saturating_sub(self.voiced_end_us);
        let over = !self.ended && !self.in_speech && self.has_speech() && silence_us >= self.patience_ms() * 1000;
        over.then(|| self.end(EndReason::Silence))
    }

    /// Whether speech was found.
    pub fn has_speech(&self) -> bool {
        self.started_us.is_some() && self.voiced_us >= self.options.least_speech_ms * 1000
    }

    /// The silence that ends the utterance as things stand, in milliseconds.
    pub fn patience_ms(&self) -> u64 {
        let options = &self.options;
        let as_command = match options.mode {
            EndpointMode::Command => true,
            EndpointMode::Free => false,
            EndpointMode::Auto => self.hint == Hint::Command,
        };
        if as_command {
            return options.command_ms;
        }
        let by_text = match self.hint {
            Hint::Complete | Hint::Command => options.free_least_ms,
            Hint::Unknown => options.free_usual_ms,
            Hint::Open => options.free_most_ms,
        };
        let by_pauses = self.longest_pause_us / 1000 * 5 / 4;
        by_text.max(by_pauses).clamp(options.free_least_ms, options.free_most_ms)
    }

    /// One frame that begins at `from_us` and ends at `to_us`. Nothing is found after the end.
    pub fn push(&mut self, from_us: u64, to_us: u64, probability: f32) -> Option<EndpointEvent> {
        if self.ended {
            return None;
        }
        self.heard_us = to_us;
        let threshold = if self.in_speech { self.options.silence_below } else { self.options.speech_at };
        let event = if probability >= threshold { self.voiced(from_us, to_us) } else { self.unvoiced(to_us) };
        if event.is_none() && to_us.saturating_sub(self.begin_us) >= self.options.most_ms * 1000 {
            return Some(self.end(EndReason::TooLong));
        }
        event
    }

    fn voiced(&mut self, from_us: u64, to_us: u64) -> Option<EndpointEvent> {
        let pause_us = from_us.saturating_sub(self.voiced_end_us);
        let went_on = self.speculated;
        self.in_speech = true;
        self.voiced_end_us = to_us;
        self.voiced_us += to_us.saturating_sub(from_us);
        if self.started_us.is_none() {
            self.started_us = Some(from_us);
            return Some(EndpointEvent::Started { at_us: from_us });
        }
        self.longest_pause_us = self.longest_pause_us.max(pause_us);
        if went_on {
            self.speculated = false;
            self.hint = Hint::Unknown;
            return Some(EndpointEvent::WentOn);
        }
        None
    }

    fn unvoiced(&mut self, to_us: u64) -> Option<EndpointEvent> {
        self.in_speech = false;
        let silence_us = to_us.saturating_sub(self.voiced_end_us);
        if self.started_us.is_some() && self.has_speech() {
            if silence_us >= self.patience_ms() * 1000 {
                return Some(self.end(EndReason::Silence));
            }
            if !self.speculated && silence_us >= self.options.speculate_ms * 1000 {
                self.speculated = true;
                return Some(EndpointEvent::Speculate { voiced_end_us: self.voiced_end_us });
            }
            return None;
        }
        // A click is no beginning.
        if self.started_us.is_some() && silence_us >= self.options.command_ms * 1000 {
            self.started_us = None;
            self.voiced_us = 0;
        }
        let waited_us = to_us.saturating_sub(self.begin_us);
        (waited_us >= self.options.no_speech_ms * 1000).then(|| self.end(EndReason::NoSpeech))
    }

    fn end(&mut self, reason: EndReason) -> EndpointEvent {
        self.ended = true;
        EndpointEvent::Ended { voiced_end_us: self.voiced_end_us, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::{FRAME_US, ScriptedActivity, VoiceActivity};
    use proptest::prelude::*;

    /// Frames of scripted speech; a hint is given after each speculation.
    fn run(options: EndpointOptions, spans: &[(u64, u64)], hint: Hint) -> Vec<(u64, EndpointEvent)> {
        let (mut vad, mut endpointer) = (ScriptedActivity::spans(spans), Endpointer::new(options, 0));
        let mut found = Vec::new();
        for frame in 0..2000 {
            let (from_us, to_us) = (frame * FRAME_US, (frame + 1) * FRAME_US);
            if let Some(event) = endpointer.push(from_us, to_us, vad.push(&[])) {
                if matches!(event, EndpointEvent::Speculate { .. }) {
                    assert_eq!(endpointer.hint(hint), None);
                }
                found.push((to_us / 1000, event));
            }
        }
        found
    }

    fn end_ms(found: &[(u64, EndpointEvent)]) -> (u64, u64, EndReason) {
        match found.last() {
            Some((at_ms, EndpointEvent::Ended { voiced_end_us, reason })) => (*at_ms, voiced_end_us / 1000, *reason),
            other => panic!("{other:?}"),
        }
    }

    fn with(mode: EndpointMode) -> EndpointOptions {
        EndpointOptions { mode, ..EndpointOptions::default() }
    }

    #[test]
    fn a_command_ends_after_350_ms_and_is_speculated_on_after_150() {
        let found = run(with(EndpointMode::Command), &[(320, 1280)], Hint::Unknown);
        assert_eq!(found[0], (352, EndpointEvent::Started { at_us: 320_000 }));
        // 160 ms: the first whole frame at which 150 ms have passed.
        assert_eq!(found[1], (1440, EndpointEvent::Speculate { voiced_end_us: 1_280_000 }));
        assert_eq!(end_ms(&found), (1632, 1280, EndReason::Silence));
    }

    #[test]
    fn free_speech_waits_by_what_was_said() {
        let waited = |mode, hint| {
            let (at_ms, voiced_ms, _) = end_ms(&run(with(mode), &[(320, 1280)], hint));
            at_ms - voiced_ms
        };
        assert_eq!(waited(EndpointMode::Free, Hint::Complete), 416);
        assert_eq!(waited(EndpointMode::Free, Hint::Unknown), 704);
        assert_eq!(waited(EndpointMode::Free, Hint::Open), 1216);
        assert_eq!(waited(EndpointMode::Auto, Hint::Command), 352);
        assert_eq!(waited(EndpointMode::Free, Hint::Command), 416);
    }

    #[test]
    fn speech_that_goes_on_voids_the_speculation_and_teaches_patience() {
        let found = run(with(EndpointMode::Free), &[(0, 640), (1120, 1600)], Hint::Unknown);
        let kinds: Vec<u64> = found.iter().map(|(at_ms, _)| *at_ms).collect();
        assert_eq!(found[1].1, EndpointEvent::Speculate { voiced_end_us: 640_000 }, "{kinds:?}");
        assert_eq!(found[2], (1152, EndpointEvent::WentOn));
        let (at_ms, voiced_ms, _) = end_ms(&found);
        // A pause of 480 ms: 600 ms at least, and the usual 700 rule.
        assert_eq!(at_ms - voiced_ms, 704);
        // After a pause of 640 ms a whole sentence waits 800 ms instead of 400.
        let mut endpointer = Endpointer::new(with(EndpointMode::Free), 0);
        endpointer.longest_pause_us = 640_000;
        endpointer.hint(Hint::Complete);
        assert_eq!(endpointer.patience_ms(), 800);
    }

    #[test]
    fn a_command_that_is_understood_late_ends_at_once() {
        let mut endpointer = Endpointer::new(EndpointOptions::default(), 0);
        for frame in 0..32 {
            let probability = if frame < 20 { 0.9 } else { 0.0 };
            endpointer.push(frame * FRAME_US, (frame + 1) * FRAME_US, probability);
        }
        // 384 ms of silence: too little for free speech, enough for a command.
        assert_eq!(endpointer.hint(Hint::Complete), None);
        let ended = EndpointEvent::Ended { voiced_end_us: 640_000, reason: EndReason::Silence };
        assert_eq!(endpointer.hint(Hint::Command), Some(ended));
        assert_eq!(endpointer.hint(Hint::Command), None);
    }

    #[test]
    fn nobody_speaks_or_nobody_stops() {
        let (at_ms, _, reason) = end_ms(&run(EndpointOptions::default(), &[], Hint::Unknown));
        assert_eq!((at_ms, reason), (6016, EndReason::NoSpeech));
        let (at_ms, _, reason) = end_ms(&run(EndpointOptions::default(), &[(0, 60_000)], Hint::Unknown));
        assert_eq!((at_ms, reason), (30_016, EndReason::TooLong));
        // A click of two frames is not speech.
        assert_eq!(end_ms(&run(EndpointOptions::default(), &[(1000, 1064)], Hint::Unknown)).2, EndReason::NoSpeech);
    }

    #[test]
    fn texts_that_want_to_go_on() {
        for open in ["turn on the", "Je voudrais que", "first, ", "well…", "hmm...", "une liste de "] {
            assert_eq!(Hint::of_text(open), Hint::Open, "{open}");
        }
        assert_eq!(Hint::of_text("What time is it?"), Hint::Complete);
        assert_eq!(Hint::of_text("« Quelle heure est-il ? »"), Hint::Complete);
        assert_eq!(Hint::of_text("lights on kitchen"), Hint::Unknown);
        assert_eq!(Hint::of_text("  "), Hint::Unknown);
    }

    proptest! {
        #[test]
        fn every_utterance_ends_once_and_never_inside_patience(
            spans in prop::collection::vec((0_u64..300, 1_u64..200), 0..6),
            hint in prop::sample::select(vec![Hint::Unknown, Hint::Command, Hint::Complete, Hint::Open]),
        ) {
            let mut at = 0;
            let spans: Vec<(u64, u64)> = spans
                .iter()
                .map(|(gap, length)| {
                    let from = at + gap * 10;
                    at = from + length * 10;
                    (from, at)
                })
                .collect();
            let found = run(EndpointOptions::default(), &spans, hint);
            let ends = found.iter().filter(|(_, event)| matches!(event, EndpointEvent::Ended { .. })).count();
            prop_assert_eq!(ends, 1);
            let (at_ms, voiced_ms, reason) = end_ms(&found);
            if reason == EndReason::Silence {
                prop_assert!((350..=1232).contains(&(at_ms - voiced_ms)));
            }
        }
    }
}

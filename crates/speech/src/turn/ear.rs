//! One utterance on its way to a routed text.

use super::{Action, Route, TurnOptions};
use crate::endpoint::{EndReason, EndpointEvent, Endpointer, Hint};

/// Listens to one utterance.
#[derive(Debug, Clone)]
pub(super) struct Ear {
    from_us: u64,
    endpointer: Endpointer,
    job: Option<Transcription>,
    ended: Option<(u64, EndReason)>,
    last_voiced_us: u64,
}

/// A transcription under way or done.
#[derive(Debug, Clone)]
struct Transcription {
    id: u32,
    text: Option<(u64, String)>,
    route: Option<(u64, Route)>,
}

/// An utterance that is understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Utterance {
    pub(super) text: String,
    pub(super) route: Route,
    pub(super) voiced_end_us: u64,
    pub(super) endpoint_us: u64,
    pub(super) transcript_us: u64,
    pub(super) routed_us: u64,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    /// Not over, or not transcribed.
    Waiting,
    /// Nobody spoke.
    Nothing(EndReason),
    /// Understood.
    Whole(Utterance),
}

impl Ear {
    /// Sound from `from_us` on is transcribed, and voice awaited from now on.
    pub(super) fn new(options: &TurnOptions, from_us: u64, now_us: u64, no_speech_us: Option<u64>) -> Self {
        let mut endpoint = options.endpoint;
        if let Some(wait_us) = no_speech_us {
            endpoint.no_speech_ms = wait_us / 1000;
        }
        let endpointer = Endpointer::new(endpoint, now_us);
        Self { from_us, endpointer, job: None, ended: None, last_voiced_us: now_us }
    }

    /// When a voice was last heard; the begin of listening before that.
    pub(super) fn last_voiced_us(&self) -> u64 {
        self.last_voiced_us
    }

    /// Whether someone spoke.
    pub(super) fn has_speech(&self) -> bool {
        self.endpointer.has_speech()
    }

    /// The transcription that is wanted.
    pub(super) fn job(&self) -> Option<u32> {
        self.job.as_ref().map(|job| job.id)
    }

    pub(super) fn frame(
        &mut self,
        from_us: u64,
        to_us: u64,
        probability: f32,
        next_job: &mut u32,
        out: &mut impl Extend<Action>,
    ) {
        if self.ended.is_none() && probability >= 0.5 {
            self.last_voiced_us = to_us;
        }
        match self.endpointer.push(from_us, to_us, probability) {
            Some(EndpointEvent::Speculate { .. }) => self.transcribe(to_us, next_job, out),
            Some(EndpointEvent::WentOn) => out.extend(self.abandon()),
            Some(EndpointEvent::Ended { voiced_end_us, reason }) => {
                self.ended = Some((to_us, reason));
                self.last_voiced_us = voiced_end_us;
                if reason != EndReason::NoSpeech && self.job.is_none() {
                    self.transcribe(to_us, next_job, out);
                }
            }
            Some(EndpointEvent::Started { .. }) | None => {}
        }
    }

    fn transcribe(&mut self, to_us: u64, next_job: &mut u32, out: &mut impl Extend<Action>) {
        *next_job += 1;
        self.job = Some(Transcription { id: *next_job, text: None, route: None });
        out.extend([Action::Transcribe { job: *next_job, from_us: self.from_us, to_us }]);
    }

    /// Gives the transcription up, if there is one.
    pub(super) fn abandon(&mut self) -> Option<Action> {
        self.job.take().map(|job| Action::Abandon { job: job.id })
    }

    /// A transcript; true when it is the one that is waited for.
    pub(super) fn transcript(&mut self, now_us: u64, id: u32, text: &str) -> bool {
        match &mut self.job {
            Some(job) if job.id == id && job.text.is_none() => {
                job.text = Some((now_us, text.to_owned()));
                true
            }
            _ => false,
        }
    }

    /// A route; while the utterance is not over it tells the endpointer how long to wait.
    pub(super) fn routed(&mut self, now_us: u64, id: u32, route: Route) {
        let Some(job) = self.job.as_mut().filter(|job| job.id == id) else { return };
        let text = job.text.as_ref().map_or("", |(_, text)| text.as_str());
        let command = matches!(route, Route::Command { .. });
        let hint = if command { Hint::Command } else { Hint::of_text(text) };
        if let Some(EndpointEvent::Ended { reason, .. }) = self.endpointer.hint(hint) {
            self.ended = Some((now_us, reason));
        }
        job.route = Some((now_us, route));
    }

    pub(super) fn heard(&self) -> Heard {
        let Some((endpoint_us, reason)) = self.ended else { return Heard::Waiting };
        if reason == EndReason::NoSpeech {
            return Heard::Nothing(reason);
        }
        let Some(Transcription { text: Some((transcript_us, text)), route: Some((routed_us, route)), .. }) = &self.job
        else {
            return Heard::Waiting;
        };
        Heard::Whole(Utterance {
            text: text.trim().to_owned(),
            route: route.clone(),
            voiced_end_us: self.last_voiced_us,
            endpoint_us,
            transcript_us: *transcript_us,
            routed_us: *routed_us,
        })
    }
}

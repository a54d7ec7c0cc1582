//! The states and what leads from one to the next.

use std::collections::VecDeque;

use super::ear::{Ear, Heard, Utterance};
use super::reply::Reply;
use super::{Action, Finished, Input, Manner, Outcome, Route, TurnOptions};
use crate::activity::FRAME_US;
use crate::barge::BargeSignal;
use crate::endpoint::EndReason;
use crate::parts::Milestones;
use crate::phantom::{is_phantom, is_phantom_interruption};

/// The state machine of voice turns, one after the other.
#[derive(Debug, Clone)]
pub struct VoiceTurn {
    options: TurnOptions,
    state: State,
    now_us: u64,
    jobs: u32,
    replies: u32,
    out: VecDeque<Action>,
}

#[derive(Debug, Clone)]
enum State {
    Idle,
    Listening(Ear),
    Answering(Answering),
    Held(Held),
}

/// A reply that is made or played.
#[derive(Debug, Clone)]
struct Answering {
    reply: Reply,
    /// Voice since the last silence, before the reply sounds.
    voiced_us: u64,
    /// An interruption whose transcript came too late for the watchdog.
    late: Option<Ear>,
}

/// A reply that a voice has stopped, and what the voice says.
#[derive(Debug, Clone)]
struct Held {
    reply: Reply,
    ear: Ear,
    /// Samples that were played, once the device has said so; 0 before the first sound.
    played: Option<u64>,
}

impl VoiceTurn {
    /// Idle.
    pub fn new(options: TurnOptions) -> Self {
        Self { options, state: State::Idle, now_us: 0, jobs: 0, replies: 0, out: VecDeque::new() }
    }

    /// What has to be done next, if anything.
    #[allow(clippy::should_implement_trait, reason = "what is next depends on the inputs in between")]
    pub fn next(&mut self) -> Option<Action> {
        self.out.pop_front()
    }

    /// Nobody is listened to and nothing is answered.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Whether any voice may interrupt now, and not the wake word only.
    pub fn any_voice_interrupts(&self) -> bool {
        match &self.state {
            State::Answering(answering) => answering.reply.manner == Manner::Asking,
            State::Held(_) | State::Listening(_) => true,
            State::Idle => false,
        }
    }

    /// Something happened. Times never go back: an earlier one counts as now.
    pub fn input(&mut self, at_us: u64, input: Input) {
        self.now_us = self.now_us.max(at_us);
        match input {
            Input::Wake { word_end_us } => self.wake(word_end_us),
            Input::Frame { from_us, probability } => self.frame(from_us, probability),
            Input::Barge(signal) => self.barge(signal),
            Input::Transcript { job, text } => self.transcript(job, &text),
            Input::Routed { job, route } => self.routed(job, route),
            Input::Piece { reply, text } => {
                let now_us = self.now_us;
                self.on_reply(reply, |reply, out| reply.piece(now_us, &text, out));
            }
            Input::ReplyEnded { reply, manner } => {
                let now_us = self.now_us;
                self.on_reply(reply, |reply, out| reply.ended(now_us, manner, out));
                self.maybe_over();
            }
            Input::Synthesised { reply, chunk, samples, lead, tail } => {
                let now_us = self.now_us;
                self.on_reply(reply, |reply, _| reply.synthesised(now_us, chunk, (samples, lead, tail)));
                self.give();
                self.maybe_over();
            }
            Input::Sounded { reply } => self.sounded(reply),
            Input::Stopped { reply, played } => self.stopped(reply, played),
            Input::Drained { reply } => {
                self.on_reply(reply, |reply, _| reply.drained());
                self.maybe_over();
            }
        }
    }

    fn wake(&mut self, word_end_us: u64) {
        let from_us = word_end_us.saturating_sub(self.options.before_word_end_us);
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => self.listen(from_us, None),
            State::Listening(mut ear) => {
                self.out.extend(ear.abandon());
                self.listen(from_us, None);
            }
            State::Held(mut held) => {
                self.out.extend(held.ear.abandon());
                held.ear = Ear::new(&self.options, from_us, self.now_us, None);
                self.state = State::Held(held);
            }
            State::Answering(answering) => self.hold(answering, from_us),
        }
    }

    fn listen(&mut self, from_us: u64, no_speech_us: Option<u64>) {
        self.state = State::Listening(Ear::new(&self.options, from_us, self.now_us, no_speech_us));
    }

    /// Stops the reply and listens, from `from_us` on.
    fn hold(&mut self, mut answering: Answering, from_us: u64) {
        if let Some(mut ear) = answering.late.take() {
            self.out.extend(ear.abandon());
        }
        let playing = answering.reply.samples() > 0;
        if playing {
            self.out.push_back(Action::Stop { reply: answering.reply.id });
        }
        let ear = Ear::new(&self.options, from_us, self.now_us, None);
        self.state = State::Held(Held { reply: answering.reply, ear, played: (!playing).then_some(0) });
    }

    fn frame(&mut self, from_us: u64, probability: f32) {
        let now_us = self.now_us;
        match &mut self.state {
            State::Listening(ear) => {
                ear.frame(from_us, now_us, probability, &mut self.jobs, &mut self.out);
                self.maybe_understood();
            }
            State::Held(held) => {
                held.ear.frame(from_us, now_us, probability, &mut self.jobs, &mut self.out);
                self.maybe_understood();
                self.watch();
            }
            State::Answering(answering) if !answering.reply.sounded => {
                answering.voiced_us = if probability >= 0.6 { answering.voiced_us + FRAME_US } else { 0 };
                if answering.voiced_us >= self.options.hold_after_us {
                    let began_us = now_us.saturating_sub(answering.voiced_us + self.options.pre_roll_us);
                    if let State::Answering(answering) = std::mem::replace(&mut self.state, State::Idle) {
                        self.hold(answering, began_us);
                    }
                }
            }
            State::Idle | State::Answering(_) => {}
        }
    }

    fn barge(&mut self, signal: BargeSignal) {
        let State::Answering(answering) = &self.state else { return };
        if answering.reply.manner != Manner::Asking {
            return;
        }
        match signal {
            BargeSignal::Duck => self.out.push_back(Action::Duck),
            BargeSignal::Release => self.out.push_back(Action::Unduck),
            BargeSignal::Stop => {
                let from_us = self.now_us.saturating_sub(self.options.pre_roll_us);
                if let State::Answering(answering) = std::mem::replace(&mut self.state, State::Idle) {
                    self.hold(answering, from_us);
                }
            }
        }
    }

    /// The ear that waits for this transcription.
    fn ear_of(&mut self, job: u32) -> Option<&mut Ear> {
        let ear = match &mut self.state {
            State::Listening(ear) => Some(ear),
            State::Held(held) => Some(&mut held.ear),
            State::Answering(answering) => answering.late.as_mut(),
            State::Idle => None,
        };
        ear.filter(|ear| ear.job() == Some(job))
    }

    fn transcript(&mut self, job: u32, text: &str) {
        let now_us = self.now_us;
        if self.ear_of(job).is_some_and(|ear| ear.transcript(now_us, job, text)) {
            self.out.push_back(Action::Route { job, text: text.trim().to_owned() });
        }
    }

    fn routed(&mut self, job: u32, route: Route) {
        let now_us = self.now_us;
        if let Some(ear) = self.ear_of(job) {
            ear.routed(now_us, job, route);
            self.maybe_understood();
        }
    }

    /// Acts when the utterance is over and understood.
    fn maybe_understood(&mut self) {
        let heard = match &self.state {
            State::Listening(ear)
            | State::Held(Held { ear, .. })
            | State::Answering(Answering { late: Some(ear), .. }) => ear.heard(),
            _ => return,
        };
        match (heard, std::mem::replace(&mut self.state, State::Idle)) {
            (Heard::Waiting, state) => self.state = state,
            (Heard::Nothing(reason), State::Listening(_)) => self.nothing(String::new(), reason),
            (Heard::Whole(found), State::Listening(_)) if is_phantom(&found.text) => {
                self.nothing(found.text, EndReason::NoSpeech);
            }
            (Heard::Whole(found), State::Listening(_)) => self.answer(found),
            (Heard::Nothing(_), State::Held(held)) => self.recover(held, false),
            (Heard::Whole(found), State::Held(held)) if is_phantom_interruption(&found.text) => {
                self.recover(held, false);
            }
            (Heard::Whole(found), State::Held(held)) => self.interrupted(held, found),
            (Heard::Whole(found), State::Answering(mut answering)) if !is_phantom_interruption(&found.text) => {
                // Too late for the watchdog, but someone did speak.
                let ear = answering.late.take();
                self.hold(answering, 0);
                if let (State::Held(held), Some(ear)) = (&mut self.state, ear) {
                    held.ear = ear;
                }
                self.maybe_understood();
            }
            (_, State::Answering(mut answering)) => {
                answering.late = None;
                self.state = State::Answering(answering);
            }
            (_, State::Idle) => {}
        }
    }

    fn nothing(&mut self, text: String, reason: EndReason) {
        self.out.push_back(Action::Finished(Finished {
            outcome: Outcome::Nothing(reason),
            text,
            command: None,
            reply: String::new(),
            milestones: Milestones::default(),
        }));
    }

    /// A text that was understood becomes a reply.
    fn answer(&mut self, found: Utterance) {
        let milestones = Milestones {
            speech_end_us: found.voiced_end_us,
            endpoint_us: found.endpoint_us,
            transcript_us: found.transcript_us,
            routed_us: found.routed_us,
            ..Milestones::default()
        };
        self.replies += 1;
        let mut reply = Reply::new(self.replies, found.text.clone(), None, milestones);
        match found.route {
            Route::Loop => self.out.push_back(Action::Respond { reply: reply.id, text: found.text }),
            Route::Command { id, reply: said } => {
                reply.command = Some(id.clone());
                self.out.push_back(Action::Perform { id, text: found.text });
                if let Some(said) = said {
                    reply.piece(self.now_us, &said, &mut self.out);
                }
                reply.ended(self.now_us, Manner::Reading, &mut self.out);
            }
        }
        self.state = State::Answering(Answering { reply, voiced_us: 0, late: None });
        self.maybe_over();
    }

    /// Someone did speak: the reply is cut to what was heard, and what was said is answered. Before the first sound
    /// it was one utterance with a pause in it.
    fn interrupted(&mut self, held: Held, mut found: Utterance) {
        let Some(played) = held.played else {
            // The device has not said yet how much it played.
            self.state = State::Held(held);
            return;
        };
        let heard = held.reply.heard(played);
        self.out.push_back(Action::Cancel { reply: held.reply.id });
        self.out.push_back(Action::Cut { reply: held.reply.id, heard: heard.clone() });
        if played == 0 && held.reply.command.is_none() && found.route == Route::Loop {
            found.text = format!("{} {}", held.reply.question, found.text);
        }
        self.out.push_back(Action::Finished(Finished {
            outcome: Outcome::Interrupted,
            text: held.reply.question,
            command: held.reply.command,
            reply: heard,
            milestones: held.reply.milestones,
        }));
        self.answer(found);
    }

    /// Without a transcript in time the reply goes on.
    fn watch(&mut self) {
        let State::Held(held) = &self.state else { return };
        let limit_us = held.ear.last_voiced_us() + self.options.recover_us;
        // At the last frame before the limit, not at the first one after it.
        if self.now_us + FRAME_US <= limit_us || held.played.is_none() {
            return;
        }
        if let State::Held(held) = std::mem::replace(&mut self.state, State::Idle) {
            self.recover(held, true);
        }
    }

    /// The reply goes on where it was cut; `late` keeps the transcription that may still come.
    fn recover(&mut self, held: Held, late: bool) {
        let Some(played) = held.played else {
            self.state = State::Held(held);
            return;
        };
        let Held { mut reply, mut ear, .. } = held;
        if played < reply.samples() {
            reply.resumed();
            self.out.push_back(Action::Resume { reply: reply.id, from: played });
        } else {
            reply.drained();
        }
        let late = if late && ear.has_speech() && ear.job().is_some() {
            Some(ear)
        } else {
            self.out.extend(ear.abandon());
            None
        };
        self.state = State::Answering(Answering { reply, voiced_us: 0, late });
        self.give();
        self.maybe_over();
    }

    fn stopped(&mut self, id: u32, played: u64) {
        if let State::Held(held) = &mut self.state
            && held.reply.id == id
        {
            held.played = Some(played);
            self.maybe_understood();
        }
    }

    fn sounded(&mut self, id: u32) {
        let now_us = self.now_us;
        self.on_reply(id, |reply, _| {
            if !reply.sounded {
                reply.sounded = true;
                reply.milestones.heard_us = now_us;
            }
        });
    }

    /// Does something with the reply, if it is the present one.
    fn on_reply(&mut self, id: u32, change: impl FnOnce(&mut Reply, &mut VecDeque<Action>)) {
        let reply = match &mut self.state {
            State::Answering(answering) => &mut answering.reply,
            State::Held(held) => &mut held.reply,
            State::Idle | State::Listening(_) => return,
        };
        if reply.id == id {
            change(reply, &mut self.out);
        }
    }

    /// What has its sound goes to the device, unless the reply is held.
    fn give(&mut self) {
        if let State::Answering(answering) = &mut self.state {
            answering.reply.give(&mut self.out);
        }
    }

    fn maybe_over(&mut self) {
        let State::Answering(answering) = &self.state else { return };
        if !answering.reply.over() {
            return;
        }
        let State::Answering(Answering { reply, late, .. }) = std::mem::replace(&mut self.state, State::Idle) else {
            return;
        };
        let outcome = if reply.sounded { Outcome::Answered } else { Outcome::Silent };
        self.out.push_back(Action::Finished(Finished {
            outcome,
            text: reply.question.clone(),
            command: reply.command.clone(),
            reply: reply.whole(),
            milestones: reply.milestones,
        }));
        if let Some(ear) = late {
            self.state = State::Listening(ear);
        } else if reply.manner == Manner::Asking {
            self.listen(self.now_us, Some(self.options.answer_us));
        }
    }
}

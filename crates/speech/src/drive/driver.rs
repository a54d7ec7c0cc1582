//! The loop: frames in, inputs to the machine, its actions to engines and device.

use std::collections::BTreeMap;

use tenpass_audio::{Audio, SPEECH_RATE};

use super::history::History;
use super::parts::silence_around;
use super::player::Player;
use super::work::{Done, Job, Work};
use crate::activity::VoiceActivity;
use crate::barge::{BARGE_FRAME_SAMPLES, BargeDetector};
use crate::turn::{Action, Finished, Input, TurnOptions, VoiceTurn};

/// Silence left at the head of a reply's first clause.
const LEAD_US: u64 = 10_000;

/// Gain of playback while it is ducked: −12 dB.
pub const DUCK_GAIN: f32 = 0.25;

/// How a driver is set up.
pub struct DriveOptions {
    /// Numbers of the turn.
    pub turn: TurnOptions,
    /// Samples a second of the voice, and of the device.
    pub device_rate: u32,
    /// From a sample given to the device until it sounds, in microseconds.
    pub device_latency_us: u64,
    /// Gain while ducked.
    pub duck_gain: f32,
    /// Judges who speaks during playback.
    pub barge: Option<BargeDetector>,
    /// How the microphone hears the loudspeaker: an impulse response at 16 kHz. For simulations.
    pub echo: Vec<f32>,
}

impl Default for DriveOptions {
    fn default() -> Self {
        Self {
            turn: TurnOptions::default(),
            device_rate: SPEECH_RATE,
            device_latency_us: 20_000,
            duck_gain: DUCK_GAIN,
            barge: None,
            echo: Vec::new(),
        }
    }
}

/// A wake word in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// When it is detected.
    pub at_us: u64,
    /// Where it ends.
    pub word_end_us: u64,
}

/// What came of driving.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The turns that ended.
    pub finished: Vec<Finished>,
    /// Every action with its time.
    pub actions: Vec<(u64, Action)>,
    /// What failed.
    pub faults: Vec<String>,
    /// The time at the end.
    pub ended_us: u64,
}

/// A turn with its parts.
pub struct Driver {
    turn: VoiceTurn,
    work: Box<dyn Work>,
    activity: Box<dyn VoiceActivity>,
    player: Player,
    options: DriveOptions,
    history: History,
    sounds: BTreeMap<(u32, u32), Audio>,
    /// Inputs whose time will come, in the order of their times.
    pending: BTreeMap<(u64, u64), Input>,
    made: u64,
    mic_rest: Vec<f32>,
    reference_rest: Vec<f32>,
    echo_tail: Vec<f32>,
    frames_us: u64,
    samples: u64,
    report: Report,
}

impl Driver {
    /// At time 0.
    pub fn new(options: DriveOptions, work: Box<dyn Work>, activity: Box<dyn VoiceActivity>) -> Self {
        Self {
            turn: VoiceTurn::new(options.turn),
            work,
            activity,
            player: Player::new(options.device_rate, options.device_latency_us),
            history: History::new(),
            sounds: BTreeMap::new(),
            pending: BTreeMap::new(),
            made: 0,
            mic_rest: Vec::new(),
            reference_rest: Vec::new(),
            echo_tail: Vec::new(),
            frames_us: 0,
            samples: 0,
            options,
            report: Report::default(),
        }
    }

    /// Plays a recording at 16 kHz through the microphone, then silence, until it is over and nobody is answered
    /// any more; at most `most_us`.
    pub fn run(mut self, sound: &[f32], wakes: &[Wake], most_us: u64) -> Report {
        let frame = self.activity.frame_samples();
        let mut wakes = wakes.iter().peekable();
        let mut blocks = sound.chunks(frame);
        loop {
            let block = blocks.next();
            let over = block.is_none() && wakes.peek().is_none() && self.turn.is_idle();
            if over || self.frames_us >= most_us {
                break;
            }
            let mut samples = block.unwrap_or_default().to_vec();
            samples.resize(frame, 0.0);
            let end_us = time_of(self.samples + frame as u64);
            while let Some(wake) = wakes.next_if(|wake| wake.at_us <= end_us) {
                self.catch_up(wake.at_us);
                self.input(wake.at_us, Input::Wake { word_end_us: wake.word_end_us });
            }
            self.push(&samples);
        }
        self.report.faults.extend(self.work.faults());
        self.report.ended_us = self.frames_us;
        self.report
    }

    /// One frame of the microphone.
    fn push(&mut self, frame: &[f32]) {
        let from_us = self.frames_us;
        self.samples += frame.len() as u64;
        let end_us = time_of(self.samples);
        self.catch_up(end_us);
        self.frames_us = end_us;
        let reference = self.player.render(from_us, frame.len(), SPEECH_RATE);
        let mic = self.with_echo(frame, &reference);
        self.history.push(&mic);
        let probability = self.activity.push(&mic);
        self.judge(&mic, &reference, probability, end_us);
        self.input(end_us, Input::Frame { from_us, probability });
    }

    /// The frame with what comes back from the loudspeaker.
    fn with_echo(&mut self, frame: &[f32], reference: &[f32]) -> Vec<f32> {
        let response = &self.options.echo;
        if response.is_empty() {
            return frame.to_vec();
        }
        self.echo_tail.resize(frame.len() + response.len(), 0.0);
        for (at, sample) in reference.iter().enumerate().filter(|(_, sample)| **sample != 0.0) {
            for (out, tap) in self.echo_tail[at..].iter_mut().zip(response) {
                *out += sample * tap;
            }
        }
        let mixed = frame.iter().zip(&self.echo_tail).map(|(mic, echo)| mic + echo).collect();
        self.echo_tail.drain(..frame.len());
        mixed
    }

    fn judge(&mut self, mic: &[f32], reference: &[f32], probability: f32, now_us: u64) {
        let Some(detector) = &mut self.options.barge else { return };
        self.mic_rest.extend_from_slice(mic);
        self.reference_rest.extend_from_slice(reference);
        let mut signals = Vec::new();
        while self.mic_rest.len() >= BARGE_FRAME_SAMPLES {
            let mic: Vec<f32> = self.mic_rest.drain(..BARGE_FRAME_SAMPLES).collect();
            let reference: Vec<f32> = self.reference_rest.drain(..BARGE_FRAME_SAMPLES).collect();
            signals.extend(detector.push(&mic, &reference, probability, self.player.playing(now_us)));
        }
        for signal in signals {
            self.input(now_us, Input::Barge(signal));
        }
    }

    /// Everything that happens up to this time, in its order.
    fn catch_up(&mut self, until_us: u64) {
        loop {
            let first = self.pending.first_key_value().map(|((at_us, _), _)| *at_us).filter(|at_us| *at_us <= until_us);
            if let Some((at_us, done)) = self.work.next(first.unwrap_or(until_us)) {
                self.done(at_us, done);
            } else if let Some(((at_us, _), input)) = first.and_then(|_| self.pending.pop_first()) {
                self.input(at_us, input);
            } else {
                break;
            }
        }
    }

    fn done(&mut self, at_us: u64, done: Done) {
        let input = match done {
            Done::Transcript { job, text } => Input::Transcript { job, text },
            Done::Routed { job, route } => Input::Routed { job, route },
            Done::Piece { reply, text } => Input::Piece { reply, text },
            Done::ReplyEnded { reply, manner } => Input::ReplyEnded { reply, manner },
            Done::Spoken { reply, chunk, mut audio } => {
                if audio.rate != self.options.device_rate && !audio.samples.is_empty() {
                    self.report
                        .faults
                        .push(format!("a clause of {} Hz for a device of {} Hz", audio.rate, self.options.device_rate));
                    audio.samples.clear();
                }
                let (lead, tail) = silence_around(&audio.samples);
                // Nobody waits for silence: the first clause begins with its first sound.
                let kept = (LEAD_US * u64::from(self.options.device_rate) / 1_000_000) as usize;
                let cut = if chunk == 0 { lead.saturating_sub(kept) } else { 0 };
                audio.samples.drain(..cut);
                let samples = audio.samples.len() as u64;
                self.sounds.insert((reply, chunk), audio);
                Input::Synthesised { reply, chunk, samples, lead: (lead - cut) as u64, tail: tail as u64 }
            }
        };
        self.input(at_us, input);
    }

    fn input(&mut self, at_us: u64, input: Input) {
        self.turn.input(at_us, input);
        while let Some(action) = self.turn.next() {
            self.report.actions.push((at_us, action.clone()));
            self.perform(at_us, action);
        }
    }

    fn perform(&mut self, at_us: u64, action: Action) {
        match action {
            Action::Transcribe { job, from_us, to_us } => {
                let audio = self.history.between(from_us, to_us);
                self.work.begin(at_us, Job::Transcribe { job, audio });
            }
            Action::Route { job, text } => self.work.begin(at_us, Job::Route { job, text }),
            Action::Respond { reply, text } => self.work.begin(at_us, Job::Respond { reply, text }),
            Action::Speak { reply, chunk, text } => self.work.begin(at_us, Job::Speak { reply, chunk, text }),
            Action::Cancel { reply } => {
                self.work.cancel(reply);
                self.sounds.retain(|(of, _), _| *of != reply);
            }
            Action::Play { reply, chunk } => self.play(at_us, reply, chunk),
            Action::Duck => self.player.set_gain(self.options.duck_gain),
            Action::Unduck => self.player.set_gain(1.0),
            Action::Stop { reply } => {
                let played = self.player.stop(at_us);
                self.pending.clear();
                self.turn.input(at_us, Input::Stopped { reply, played });
            }
            Action::Resume { reply, .. } => {
                self.player.resume(at_us);
                self.drains(reply);
            }
            Action::Finished(finished) => self.report.finished.push(finished),
            Action::Abandon { job } => self.work.abandon(at_us, job),
            Action::Perform { .. } | Action::Cut { .. } => {}
        }
    }

    fn play(&mut self, at_us: u64, reply: u32, chunk: u32) {
        let Some(sound) = self.sounds.remove(&(reply, chunk)) else { return };
        let (lead, _) = silence_around(&sound.samples);
        let all_silent = lead == sound.samples.len();
        let start_us = self.player.give(at_us, reply, sound.samples);
        if !all_silent {
            let heard_us = start_us + lead as u64 * 1_000_000 / u64::from(self.options.device_rate.max(1));
            self.later(heard_us, Input::Sounded { reply });
        }
        self.drains(reply);
    }

    /// The end of playback has moved.
    fn drains(&mut self, reply: u32) {
        self.pending.retain(|_, input| !matches!(input, Input::Drained { .. }));
        if let Some(end_us) = self.player.end_us() {
            self.later(end_us, Input::Drained { reply });
        }
    }

    fn later(&mut self, at_us: u64, input: Input) {
        self.made += 1;
        self.pending.insert((at_us, self.made), input);
    }
}

/// When so many samples of the microphone are over, in microseconds.
fn time_of(samples: u64) -> u64 {
    samples * 1_000_000 / u64::from(SPEECH_RATE)
}

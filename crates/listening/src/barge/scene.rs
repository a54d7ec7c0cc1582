//! The room, the mixture, and the detector in it.
//!
//! The loop is closed: what the detector says changes what is played, as in a turn. A duck takes the loudspeaker down
//! from the next frame on, its echo follows by the room, and the detector's reference is what is played, not what would
//! have been.

use serde::{Deserialize, Serialize};
use tenpass_audio::augment::{Colour, Room, convolve, noise};
use tenpass_audio::{Audio, Random, SPEECH_RATE, voiced};
use tenpass_speech::VoiceActivity;
use tenpass_speech::barge::{
    BARGE_FRAME_SAMPLES, BargeDetector, BargeOptions, BargeSignal, Calibration, CalibrationError, Setup, calibrate,
};
use tenpass_speech::drive::DUCK_GAIN;

use super::BargePass;

/// Length of a trial in seconds, and of a piece without interruption.
const TRIAL_S: f64 = 6.0;
const QUIET_S: f64 = 30.0;
/// Narration of the calibration.
const CALIBRATION_S: f64 = 30.0;
/// After a false stop playback goes on after two seconds.
const RECOVERY_FRAMES: usize = 100;
/// A voice that is stopped within so long after its end is still heard.
const GRACE_FRAMES: usize = 15;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BargePlan {
    /// Where randomness comes from.
    pub seed: u64,
    /// Hours of playback without interruption.
    pub hours: f64,
    /// Levels of the one who interrupts over the echo, in dB.
    pub snrs_db: Vec<f64>,
    /// Trials at each level.
    pub trials: u32,
    /// Level of the echo against the reference, in dB.
    pub echo_db: f64,
    /// Delay of the echo in milliseconds.
    pub delay_ms: f64,
    /// Level of the room's noise in dB below full scale.
    pub noise_dbfs: f64,
}

impl Default for BargePlan {
    fn default() -> Self {
        Self {
            seed: 1,
            hours: 0.25,
            snrs_db: vec![-5.0, 0.0, 5.0, 10.0, 15.0],
            trials: 40,
            echo_db: -12.0,
            delay_ms: 60.0,
            noise_dbfs: -65.0,
        }
    }
}

/// The sound of the bench, at 16 kHz.
#[derive(Debug, Clone, PartialEq)]
pub struct BargeSounds {
    /// The agent's voice.
    pub narration: Vec<f32>,
    /// Utterances of those who interrupt.
    pub speech: Vec<Audio>,
}

/// A calibrated room.
pub struct BargeBench {
    plan: BargePlan,
    sounds: BargeSounds,
    response: Vec<f32>,
    calibration: Calibration,
}

impl BargeBench {
    /// Builds the room and calibrates the detector on narration that is not tested on.
    pub fn new(plan: BargePlan, sounds: BargeSounds) -> Result<Self, CalibrationError> {
        let room = Room::seeded(plan.seed, 0.3, 1.0);
        let mut response = room.response(SPEECH_RATE, plan.seed);
        // The plan's level is that of the whole echo: the room only colours it.
        let energy: f64 = response.iter().map(|tap| f64::from(*tap) * f64::from(*tap)).sum();
        let gain = (10_f64.powf(plan.echo_db / 20.0) / energy.max(1e-12).sqrt()) as f32;
        for tap in &mut response {
            *tap *= gain;
        }
        let setup = Setup { volume: 1.0, device: format!("simulated room {}", plan.seed) };
        let empty = Calibration {
            format: 0,
            setup: setup.clone(),
            delay_frames: 0,
            gain_db: 0.0,
            threshold_db: 0.0,
            noise_db: 0.0,
            slope_db: None,
            frames: 0,
            hash: String::new(),
        };
        let mut bench = Self { plan, sounds, response, calibration: empty };
        let mut random = Random::named(bench.plan.seed, "calibration");
        let reference = bench.narration(&mut random, CALIBRATION_S);
        let others = bench.room_noise(CALIBRATION_S, &mut random);
        let microphone = mixed(&others, &bench.echo(&reference));
        let quiet = bench.room_noise(2.0, &mut random);
        bench.calibration = calibrate(&quiet, &microphone, &reference, setup)?;
        Ok(bench)
    }

    /// The calibration in force.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Pieces without interruption that make up the hours of the plan.
    pub fn quiet_passes(&self) -> u32 {
        (self.plan.hours * 3600.0 / QUIET_S).ceil() as u32
    }

    /// Playback in which nobody interrupts.
    pub fn quiet(&self, index: u32, activity: &mut dyn VoiceActivity) -> BargePass {
        let mut random = Random::named(self.plan.seed, &format!("quiet {index}"));
        let reference = self.narration(&mut random, QUIET_S);
        let others = self.room_noise(QUIET_S, &mut random);
        let heard = self.listen(&Scene { reference, others }, activity, true);
        BargePass {
            index,
            snr_db: None,
            playback_s: heard.playback_frames as f64 * 0.02,
            false_stops: heard.stops.len() as u32,
            false_ducks: heard.ducks.len() as u32,
            duck_ms: None,
            stop_ms: None,
        }
    }

    /// Playback that someone interrupts at this level.
    pub fn trial(&self, snr_db: f64, index: u32, activity: &mut dyn VoiceActivity) -> BargePass {
        // The same scene at every level: levels are compared on the same voices.
        let mut random = Random::named(self.plan.seed, &format!("trial {index}"));
        let reference = self.narration(&mut random, TRIAL_S);
        let mut others = self.room_noise(TRIAL_S, &mut random);
        let echo = self.echo(&reference);
        let begin = ((1.5 + 1.5 * random.unit()) * f64::from(SPEECH_RATE)) as usize;
        let (onset, end) = self.interrupt(&mut others, &echo, begin, snr_db, &mut random);
        let heard = self.listen(&Scene { reference, others }, activity, false);
        let frame_of = |sample: usize| sample / BARGE_FRAME_SAMPLES;
        let ms = |frame: usize| ((frame + 1) * BARGE_FRAME_SAMPLES) as f64 / 16.0 - onset as f64 / 16.0;
        let within = |frame: &&usize| (frame_of(onset)..frame_of(end) + GRACE_FRAMES).contains(*frame);
        let early = |frames: &[usize]| frames.iter().filter(|frame| **frame < frame_of(onset)).count() as u32;
        BargePass {
            index,
            snr_db: Some(snr_db),
            playback_s: onset as f64 / f64::from(SPEECH_RATE),
            false_stops: early(&heard.stops),
            false_ducks: early(&heard.ducks),
            duck_ms: heard.ducks.iter().find(within).map(|frame| ms(*frame)),
            stop_ms: heard.stops.iter().find(within).map(|frame| ms(*frame)),
        }
    }

    /// A stretch of the narration from a random place.
    fn narration(&self, random: &mut Random, seconds: f64) -> Vec<f32> {
        let length = (seconds * f64::from(SPEECH_RATE)) as usize;
        let all = &self.sounds.narration;
        if all.is_empty() {
            return vec![0.0; length];
        }
        let begin = (random.unit() * all.len() as f64) as usize;
        all.iter().copied().cycle().skip(begin).take(length).collect()
    }

    fn room_noise(&self, seconds: f64, random: &mut Random) -> Vec<f32> {
        let mut made = noise(Colour::Pink, seconds, SPEECH_RATE, random.next());
        made.samples.resize((seconds * f64::from(SPEECH_RATE)) as usize, 0.0);
        let gain = 10_f64.powf((self.plan.noise_dbfs - made.level_dbfs()) / 20.0) as f32;
        for sample in &mut made.samples {
            *sample *= gain;
        }
        made.samples
    }

    /// What the microphone hears of the loudspeaker.
    fn echo(&self, played: &[f32]) -> Vec<f32> {
        let delay = (self.plan.delay_ms * 16.0) as usize;
        let mut echo = vec![0.0; delay.min(played.len())];
        echo.extend(convolve(&Audio::new(played.to_vec(), SPEECH_RATE), &self.response).samples);
        echo.truncate(played.len());
        echo
    }

    /// Adds someone who speaks, from a place of the room and so loud beside the echo; where the voice begins and ends.
    fn interrupt(
        &self,
        others: &mut [f32],
        echo: &[f32],
        begin: usize,
        snr_db: f64,
        random: &mut Random,
    ) -> (usize, usize) {
        if self.sounds.speech.is_empty() {
            return (begin, begin);
        }
        let pick = ((random.unit() * self.sounds.speech.len() as f64) as usize).min(self.sounds.speech.len() - 1);
        let place = random.next();
        let response = Room::seeded(place, 0.4, 2.0).response(SPEECH_RATE, place);
        let said = convolve(&self.sounds.speech[pick], &response);
        let (first, last) = voiced(&said).unwrap_or((0, said.samples.len()));
        let length = (last - first).min(others.len().saturating_sub(begin));
        let said = &said.samples[first..first + length];
        let level = |samples: &[f32]| {
            let sum: f64 = samples.iter().map(|sample| f64::from(*sample) * f64::from(*sample)).sum();
            (sum / samples.len().max(1) as f64).max(1e-12).sqrt()
        };
        let gain = (level(&echo[begin..begin + length]) / level(said) * 10_f64.powf(snr_db / 20.0)) as f32;
        for (out, sample) in others[begin..].iter_mut().zip(said) {
            *out += sample * gain;
        }
        (begin, begin + length)
    }

    /// Runs the detector over a scene. With `recover` playback goes on two seconds after a stop.
    fn listen(&self, scene: &Scene, activity: &mut dyn VoiceActivity, recover: bool) -> Heard {
        let mut detector = BargeDetector::new(self.calibration.clone(), BargeOptions::default());
        activity.reset();
        let block = activity.frame_samples();
        let mut played = scene.reference.clone();
        let mut mic = mixed(&scene.others, &self.echo(&played));
        let (mut voice, mut judged, mut silent_until) = (0.0, 0, 0);
        let mut heard = Heard::default();
        for frame in 0..mic.len() / BARGE_FRAME_SAMPLES {
            let from = frame * BARGE_FRAME_SAMPLES;
            let now = from + BARGE_FRAME_SAMPLES;
            while judged + block <= now {
                voice = activity.push(&mic[judged..judged + block]);
                judged += block;
            }
            let playing = frame >= silent_until;
            heard.playback_frames += usize::from(playing);
            let Some(signal) = detector.push(&mic[from..now], &played[from..now], voice, playing) else { continue };
            let mut play = |until: usize, gain: f32| {
                for (out, sample) in played[now..until].iter_mut().zip(&scene.reference[now..until]) {
                    *out = sample * gain;
                }
            };
            let all = scene.reference.len();
            match signal {
                BargeSignal::Duck => {
                    heard.ducks.push(frame);
                    play(all, DUCK_GAIN);
                }
                BargeSignal::Release => play(all, 1.0),
                BargeSignal::Stop => {
                    heard.stops.push(frame);
                    play(all, 1.0);
                    silent_until = if recover { frame + RECOVERY_FRAMES } else { usize::MAX };
                    play((silent_until.saturating_mul(BARGE_FRAME_SAMPLES)).min(all), 0.0);
                }
            }
            mic = mixed(&scene.others, &self.echo(&played));
        }
        heard
    }
}

/// What is to be played, and everything else that reaches the microphone.
struct Scene {
    reference: Vec<f32>,
    others: Vec<f32>,
}

/// The sum of two sounds, as long as the first.
fn mixed(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b.iter().chain(std::iter::repeat(&0.0))).map(|(a, b)| a + b).collect()
}

/// Frames at which the detector said something.
#[derive(Debug, Default)]
struct Heard {
    ducks: Vec<usize>,
    stops: Vec<usize>,
    playback_frames: usize,
}

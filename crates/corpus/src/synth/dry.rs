//! The dry sound of a phrase: spoken, cut, joined with the wake word, and its times.

use tenpass_audio::level::voiced;
use tenpass_audio::{Audio, Random};
use tenpass_tts::{SpeakOptions, Voice};

use super::SynthPlan;
use crate::Phrase;
use crate::corpus::rounded;

/// What is kept around the voiced part: soft beginnings and ends of words.
const MARGIN_S: f64 = 0.03;

/// A sound with its times.
#[derive(Debug, Clone)]
pub(super) struct Dry {
    pub(super) audio: Audio,
    /// Where the wake word ends, in seconds.
    pub(super) word_end_s: Option<f64>,
    /// The last voiced sample, in seconds.
    pub(super) speech_end_s: f64,
}

/// A word or a sentence as one voice says it, at the plan's rate, without silence around.
struct Spoken {
    samples: Vec<f32>,
    /// The last voiced sample.
    end: usize,
}

fn spoken(voice: &dyn Voice, text: &str, options: &SpeakOptions, rate: u32) -> Result<Spoken, String> {
    let audio = voice.speak(text, options).map_err(|error| error.to_string())?.at_rate(rate);
    let (begin, end) = voiced(&audio).ok_or("it gave silence")?;
    let margin = (MARGIN_S * f64::from(rate)) as usize;
    let first = begin.saturating_sub(margin);
    let last = (end + margin).min(audio.samples.len());
    let mut samples = audio.samples[first..last].to_vec();
    fade(&mut samples, rate);
    Ok(Spoken { samples, end: end - first })
}

/// Two milliseconds at either end: a cut must not click.
fn fade(samples: &mut [f32], rate: u32) {
    let length = ((f64::from(rate) * 0.002) as usize).min(samples.len() / 2);
    let last = samples.len().saturating_sub(1);
    for n in 0..length {
        let gain = (n as f32 + 0.5) / length as f32;
        samples[n] *= gain;
        samples[last - n] *= gain;
    }
}

/// Speaks a phrase: silence, perhaps the wake word and a pause, the phrase, silence. The wake word is spoken alone, so
/// that its end is known exactly.
pub(super) fn speak(
    voice: &dyn Voice,
    phrase: &Phrase,
    plan: &SynthPlan,
    options: &SpeakOptions,
    random: &mut Random,
) -> Result<Dry, String> {
    let rate = plan.rate;
    let seconds = |range: (f64, f64), random: &mut Random| (random.range(range.0, range.1) * f64::from(rate)) as usize;
    let (lead, pause, tail) =
        (seconds(plan.lead_s, random), seconds(plan.pause_s, random), seconds(plan.tail_s, random));
    let mut samples = vec![0.0; lead];
    let mut word_end = None;
    let alone = phrase.intent == "wake";
    if let Some(word) = plan.wake.as_deref().filter(|_| !alone) {
        let wake = spoken(voice, word, options, rate)?;
        word_end = Some(samples.len() + wake.end);
        samples.extend(&wake.samples);
        samples.resize(samples.len() + pause, 0.0);
    }
    let said = spoken(voice, &phrase.text, options, rate)?;
    let end = samples.len() + said.end;
    samples.extend(&said.samples);
    samples.resize(samples.len() + tail, 0.0);
    let at = |sample: usize| rounded(sample as f64 / f64::from(rate));
    let word_end_s = if alone { Some(at(end)) } else { word_end.map(at) };
    Ok(Dry { audio: Audio::new(samples, rate), word_end_s, speech_end_s: at(end) })
}

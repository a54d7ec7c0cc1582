//! Sound becomes text.

use std::sync::Arc;

use tenpass_audio::{Audio, Resampler, SPEECH_RATE};
use tenpass_stt::{Decoding, Transcriber};

use crate::frame::Event;

/// Longest utterance, in seconds.
const MOST_S: usize = 120;
/// Rates that make sense.
const RATES: std::ops::RangeInclusive<u64> = 8_000..=192_000;

/// Sound of one utterance.
pub(crate) struct Recognition {
    ears: Arc<dyn Transcriber>,
    decoding: Decoding,
    input: Input,
    heard: Vec<f32>,
}

impl Recognition {
    /// `transcribe` may name a language, and words and names that are likely.
    pub(crate) fn new(ears: Arc<dyn Transcriber>, decoding: &Decoding, event: &Event) -> Self {
        let mut decoding = decoding.clone();
        if let Some(language) = event.text("language").and_then(|code| code.split(['-', '_']).next()) {
            decoding.language = Some(language.to_lowercase()).filter(|language| !language.is_empty());
        }
        let likely = words(event);
        if !likely.is_empty() {
            let before = decoding.prompt.take().map(|prompt| format!("{prompt} ")).unwrap_or_default();
            decoding.prompt = Some(format!("{before}{}.", likely.join(", ")));
        }
        Self { ears, decoding, input: Input::default(), heard: Vec::new() }
    }

    pub(crate) fn restart(&mut self) {
        self.heard.clear();
        self.input = Input::default();
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<(), String> {
        self.heard.extend(self.input.samples(event)?);
        if self.heard.len() > MOST_S * SPEECH_RATE as usize {
            return Err(format!("more than {MOST_S} s of sound in one utterance"));
        }
        Ok(())
    }

    /// What was said, and in which language.
    pub(crate) async fn finish(&mut self) -> Result<(String, String), String> {
        self.heard.extend(self.input.rest());
        self.input = Input::default();
        let audio = Audio::new(std::mem::take(&mut self.heard), SPEECH_RATE);
        // Too little for a word is no fault of the client: somebody let go of a key.
        if audio.seconds() < 0.1 {
            return Ok((String::new(), self.decoding.language.clone().unwrap_or_default()));
        }
        let (ears, decoding) = (Arc::clone(&self.ears), self.decoding.clone());
        let work = tokio::task::spawn_blocking(move || ears.transcribe(&audio, &decoding));
        let found = work.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        Ok((found.text(), found.language))
    }
}

/// Names and terms of `transcribe`, at its top or in its context.
fn words(event: &Event) -> Vec<String> {
    let context = event.data.get("context");
    ["transcript_names", "transcript_terms"]
        .into_iter()
        .filter_map(|field| event.data.get(field).or_else(|| context.and_then(|context| context.get(field))))
        .filter_map(|list| list.as_array())
        .flatten()
        .filter_map(|word| word.as_str())
        .map(|word| word.chars().filter(|letter| !letter.is_control()).take(80).collect())
        .take(200)
        .collect()
}

/// Chunks of any rate, width and number of channels become samples at 16 kHz.
#[derive(Default)]
pub(crate) struct Input {
    form: Option<(u32, u64, u64)>,
    resampler: Option<Resampler>,
    /// Bytes of a sample that was cut.
    cut: Vec<u8>,
}

impl Input {
    /// The samples of a chunk.
    pub(crate) fn samples(&mut self, event: &Event) -> Result<Vec<f32>, String> {
        let field = |name: &str, usual: u64| event.number(name).unwrap_or(usual);
        let (rate, width, channels) = (field("rate", 16_000), field("width", 2), field("channels", 1));
        if !RATES.contains(&rate) || !matches!(width, 1 | 2 | 4) || !(1..=8).contains(&channels) {
            return Err(format!(
                "sound with {rate} samples a second, {width} bytes and {channels} channels is not heard here"
            ));
        }
        let form = (rate as u32, width, channels);
        if *self.form.get_or_insert(form) != form {
            return Err("the form of the sound changed within one stream".to_owned());
        }
        self.cut.extend(&event.payload);
        let step = (width * channels) as usize;
        let whole = self.cut.len() / step * step;
        let rest = self.cut.split_off(whole);
        let bytes = std::mem::replace(&mut self.cut, rest);
        let mono: Vec<f32> = bytes.chunks_exact(step).map(|frame| mixed(frame, width as usize)).collect();
        if form.0 == SPEECH_RATE {
            return Ok(mono);
        }
        let resampler = self.resampler.get_or_insert_with(|| Resampler::new(form.0, SPEECH_RATE));
        let mut samples = Vec::new();
        resampler.push(&mono, &mut samples);
        Ok(samples)
    }

    /// What the resampler still holds.
    pub(crate) fn rest(&mut self) -> Vec<f32> {
        let mut samples = Vec::new();
        if let Some(mut resampler) = self.resampler.take() {
            resampler.finish(&mut samples);
        }
        samples
    }
}

/// The mean of all channels.
fn mixed(frame: &[u8], width: usize) -> f32 {
    let channels = frame.chunks_exact(width);
    let count = channels.len() as f32;
    let one = |bytes: &[u8]| match *bytes {
        // Eight bits are unsigned in WAV files and in this protocol.
        [byte] => (f32::from(byte) - 128.0) / 128.0,
        [low, high] => f32::from(i16::from_le_bytes([low, high])) / 32_768.0,
        [a, b, c, d] => (f64::from(i32::from_le_bytes([a, b, c, d])) / 2_147_483_648.0) as f32,
        _ => 0.0,
    };
    channels.map(one).sum::<f32>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chunk(rate: u64, width: u64, channels: u64, payload: Vec<u8>) -> Event {
        Event::new("audio-chunk", json!({ "rate": rate, "width": width, "channels": channels })).with_payload(payload)
    }

    #[test]
    fn stereo_is_mixed_and_a_cut_sample_waits() {
        let mut input = Input::default();
        let bytes: Vec<u8> = [16_384_i16, -16_384, 8_192, 8_192].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut samples = input.samples(&chunk(16_000, 2, 2, bytes[..3].to_vec())).unwrap();
        assert!(samples.is_empty());
        samples.extend(input.samples(&chunk(16_000, 2, 2, bytes[3..].to_vec())).unwrap());
        assert_eq!(samples, [0.0, 0.25]);
    }

    #[test]
    fn other_rates_keep_their_length_and_odd_forms_are_refused() {
        let mut input = Input::default();
        let second: Vec<u8> = (0..48_000)
            .flat_map(|n| {
                ((f64::from(n) * 0.05).sin() * 9_000.0).round().to_string().parse::<i16>().unwrap().to_le_bytes()
            })
            .collect();
        let mut samples = input.samples(&chunk(48_000, 2, 1, second)).unwrap();
        samples.extend(input.rest());
        assert!(samples.len().abs_diff(16_000) < 40, "{}", samples.len());
        assert!(Input::default().samples(&chunk(1, 2, 1, vec![0, 0])).is_err());
        assert!(Input::default().samples(&chunk(16_000, 3, 1, vec![0; 6])).is_err());
        assert!(input.samples(&chunk(16_000, 2, 1, vec![0; 2])).unwrap_err().contains("changed"));
    }

    #[test]
    fn likely_words_come_from_both_places() {
        let event = Event::new(
            "transcribe",
            json!({ "transcript_names": ["Léa"], "context": { "transcript_terms": ["Kubernetes\n", 3] } }),
        );
        assert_eq!(words(&event), ["Léa", "Kubernetes"]);
    }
}

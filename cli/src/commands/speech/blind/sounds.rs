//! Voices of a session, and sounds at equal loudness.

use tenpass_agent::prompt::Language;
use tenpass_audio::Audio;
use tenpass_listening::blind::{BlindPrompt, Candidate, at_equal_loudness};
use tenpass_tts::{Chunker, SpeakOptions, Voice, open};

use crate::commands::speech::voices::{named_voice, voice_files};
use crate::context::Context;
use crate::failure::Failure;

/// Silence between two sentences, in seconds.
const PAUSE_S: f64 = 0.2;
/// All sounds have this rate: the rate would tell voices apart.
const RATE: u32 = 24_000;

/// Voices, opened.
pub(super) struct Speakers(Vec<Box<dyn Voice>>);

impl Speakers {
    /// Opens voices by their SPECs.
    pub(super) fn open(context: &Context, specs: &[String]) -> Result<Self, Failure> {
        let files = voice_files(context, None)?;
        let voices = specs.iter().map(|spec| Ok(open(&named_voice(context, spec)?, &files)?));
        Ok(Self(voices.collect::<Result<_, Failure>>()?))
    }

    /// Speaks a text.
    pub(super) fn speak(&self, voice: usize, text: &str, language: &str) -> Result<Audio, Failure> {
        let Some(voice) = self.0.get(voice) else { return Err(Failure::bug("a voice is not open")) };
        let mut chunker = Chunker::speaking(language);
        let mut chunks = chunker.push(text);
        chunks.extend(chunker.finish());
        let mut all = Audio::new(Vec::new(), RATE);
        for chunk in chunks {
            if !all.samples.is_empty() {
                all.samples.extend(std::iter::repeat_n(0.0, (PAUSE_S * f64::from(RATE)) as usize));
            }
            all.samples.extend(voice.speak(&chunk, &SpeakOptions::default())?.at_rate(RATE).samples);
        }
        Ok(all)
    }
}

/// Voices as candidates.
pub(super) fn candidates(context: &Context, specs: &[String]) -> Result<Vec<Candidate>, Failure> {
    let speakers = Speakers::open(context, specs)?;
    let voices = speakers.0.iter().map(|voice| voice.info());
    Ok(voices.map(|info| Candidate { spec: info.spec.clone(), digest: String::new() }).collect())
}

/// The language a prompt is spoken in.
pub(super) fn language(prompt: &BlindPrompt) -> String {
    prompt.language.clone().unwrap_or_else(|| Language::of(&prompt.text).pick("en", "fr").to_owned())
}

/// FLAC files at one loudness. `prompt` is for the error.
pub(super) fn equal(prompt: usize, mut sounds: Vec<Audio>) -> Result<Vec<Vec<u8>>, Failure> {
    at_equal_loudness(&mut sounds).map_err(|error| {
        Failure::backend(format!("prompt {}: {error}", prompt + 1))
            .hint("an answer without words cannot be spoken: leave this prompt out")
    })?;
    sounds.iter().map(|sound| tenpass_audio::flac_bytes(sound).map_err(Failure::backend)).collect()
}

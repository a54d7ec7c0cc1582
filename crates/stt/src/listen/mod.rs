//! The same for every engine: windows over a sound of any length, the gate, times, languages, prompts.

pub(crate) mod engine;
mod gate;
pub(crate) mod rules;
pub(crate) mod segments;
mod sound;

use std::time::Instant;

use tenpass_audio::Audio;

pub use sound::Sound;

use crate::transcriber::{Decoding, EngineInfo, Enough, Segment, SttError, Transcriber, Transcript};
use engine::{Answer, CONTEXT, Engine, HOP, MOST_TOKENS, PROMPT_TOKENS, WINDOW, Window};
use gate::Stream;
pub(crate) use gate::{Detector, FRAME};
use segments::{is_good, is_silence, pieces};
use sound::InMemory;

/// Samples in 100 ms: what is shorter cannot be transcribed.
const SHORTEST: u64 = 1600;
/// Up to this length, a cut context does without timestamps: the text is one stretch.
const ONE_STRETCH: usize = 160_000;
/// Samples that a window moves on at least, whatever the timestamps say: one second.
const PROGRESS: usize = 16_000;
/// Most beams that whisper.cpp knows.
const MAX_BEAMS: u32 = 8;
/// Frames of 20 ms by which a cut context is longer than the sound.
const SPARE_CONTEXT: usize = 64;
/// A cut context is a multiple of this, to which whisper.cpp's fused attention rounds up: in between it would
/// attend to what an earlier sound left behind.
const CONTEXT_STEP: usize = 256;
/// Below this the model begins to repeat itself.
const SMALLEST_CONTEXT: usize = 512;

/// Makes a detector that has heard nothing yet.
pub(crate) type Gate = Box<dyn Fn() -> Detector<'static> + Send + Sync>;

/// An engine behind the trait.
pub(crate) struct Listener<E> {
    pub(crate) engine: E,
    pub(crate) gate: Option<Gate>,
    /// The SPEC says `+cut`.
    pub(crate) cut: bool,
}

impl<E: Engine> Transcriber for Listener<E> {
    fn info(&self) -> &EngineInfo {
        self.engine.info()
    }

    fn transcribe(&self, audio: &Audio, decoding: &Decoding) -> Result<Transcript, SttError> {
        self.transcribe_stream(&mut InMemory::new(audio)?, decoding, &mut |_| ())
    }

    fn transcribe_stream(
        &self,
        sound: &mut dyn Sound,
        decoding: &Decoding,
        heard: &mut dyn FnMut(&Segment),
    ) -> Result<Transcript, SttError> {
        let started = Instant::now();
        let prepared = self.prepare(decoding)?;
        let mut transcript =
            Transcript { language: prepared.language.clone().unwrap_or_default(), ..Transcript::default() };
        let mut stream = Stream::new(sound, self.detector(decoding)?);
        let mut buffer = Vec::new();
        // Where the buffer begins in what the gate passed on.
        let mut begin = 0u64;
        loop {
            let more = stream.fill(&mut buffer, WINDOW)?;
            if stream.read < SHORTEST && !more {
                return Err(SttError::Short { ms: stream.read / 16 });
            }
            if buffer.is_empty() || (begin > 0 && (buffer.len() as u64) < SHORTEST) {
                break;
            }
            let last = !more && buffer.len() <= WINDOW;
            let taken = buffer.len().min(WINDOW);
            let (found, next) = self.window(&buffer[..taken], last, &prepared, &mut transcript.language)?;
            for segment in found {
                let at = |seconds: f64, end| stream.second(begin + (seconds * 16_000.0).round() as u64, end);
                let (start_s, end_s) = (at(segment.start_s, false), at(segment.end_s, true));
                let segment = Segment { start_s, end_s: end_s.max(start_s), ..segment };
                heard(&segment);
                transcript.segments.push(segment);
            }
            let next = next.clamp(PROGRESS.min(taken), taken);
            begin += next as u64;
            buffer.drain(..next);
            if !more && buffer.is_empty() {
                break;
            }
        }
        transcript.audio_s = stream.read as f64 / 16_000.0;
        transcript.total_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(transcript)
    }
}

/// A decoding that was checked against the model.
struct Prepared {
    language: Option<String>,
    prompt: Vec<u32>,
    beams: usize,
    fallback: bool,
    cut: bool,
    threads: usize,
    enough: Option<Enough>,
}

impl<E: Engine> Listener<E> {
    fn prepare(&self, decoding: &Decoding) -> Result<Prepared, SttError> {
        let info = self.engine.info();
        if !(1..=MAX_BEAMS).contains(&decoding.beams) {
            return Err(SttError::Input(format!("{} beams; 1 to {MAX_BEAMS} are possible", decoding.beams)));
        }
        let language = match decoding.language.as_deref().map(str::to_lowercase) {
            Some(code) if !info.multilingual && code != "en" => {
                return Err(SttError::Input(format!("language {code:?}: {} knows English only", info.model)));
            }
            Some(code) if self.engine.vocabulary().special.language(&code).is_none() => {
                return Err(SttError::Input(format!("language {code:?}: {} does not know it", info.model)));
            }
            None if !info.multilingual => Some("en".to_owned()),
            language => language,
        };
        let prompt = match decoding.prompt.as_deref().map(str::trim) {
            Some(text) if !text.is_empty() => {
                let mut tokens = self.engine.tokens(&format!(" {text}"))?;
                tokens.drain(..tokens.len().saturating_sub(PROMPT_TOKENS));
                tokens
            }
            _ => Vec::new(),
        };
        let usual = || std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
        Ok(Prepared {
            language,
            prompt,
            beams: decoding.beams as usize,
            fallback: decoding.fallback,
            cut: decoding.cut_context || self.cut,
            // Threads wait for each other busily: where one has to share its core, all of them burn theirs. On a
            // busy machine of two cores two threads took twenty times the processor time of one.
            threads: if decoding.threads == 0 { usual() } else { decoding.threads.min(256) },
            enough: decoding.enough.clone(),
        })
    }

    fn detector(&self, decoding: &Decoding) -> Result<Option<Detector<'_>>, SttError> {
        if !decoding.gate {
            return Ok(None);
        }
        let gate = self.gate.as_ref().ok_or_else(|| {
            SttError::Input("the gate needs a voice activity detector, and none was given".to_owned())
        })?;
        Ok(Some(gate()))
    }

    /// One window: its stretches in seconds from its begin, and how many samples were used up.
    fn window(
        &self,
        samples: &[f32],
        last: bool,
        prepared: &Prepared,
        language: &mut String,
    ) -> Result<(Vec<Segment>, usize), SttError> {
        if language.is_empty() {
            *language = self.engine.detect(samples, prepared.threads)?;
        }
        let one_stretch = prepared.cut && last && samples.len() <= ONE_STRETCH;
        let context = if prepared.cut { cut_context(samples.len()) } else { CONTEXT };
        let window = Window {
            samples,
            language,
            prompt: &prepared.prompt,
            beams: prepared.beams,
            fallback: prepared.fallback,
            context,
            times: !one_stretch,
            most_tokens: if one_stretch { token_limit(samples.len()) } else { MOST_TOKENS },
            threads: prepared.threads,
        };
        let vocabulary = self.engine.vocabulary();
        let answer = self.engine.hear(&window, &|answer| is_good(answer, vocabulary))?;
        let expected = |answer: &Answer| {
            let text = vocabulary.decode(answer.tokens.iter().map(|token| token.id));
            prepared.enough.as_ref().is_some_and(|enough| enough.holds(text.trim()))
        };
        let failed = answer.tokens.len() > window.most_tokens || !(is_good(&answer, vocabulary) || expected(&answer));
        let answer = if failed && context < CONTEXT {
            // A model that lost its way in a cut context finds it in a whole one.
            let whole = Window { context: CONTEXT, times: true, most_tokens: MOST_TOKENS, ..window };
            self.engine.hear(&whole, &|answer| is_good(answer, vocabulary))?
        } else {
            answer
        };
        if is_silence(&answer) {
            return Ok((Vec::new(), samples.len()));
        }
        let (found, next_s) = pieces(&answer, vocabulary, samples.len() as f64 / 16_000.0);
        let segments = found.into_iter().map(|piece| Segment {
            start_s: piece.start_s,
            end_s: piece.end_s,
            text: piece.text,
            log_probability: piece.log_probability,
            no_speech: answer.no_speech,
            temperature: answer.temperature,
        });
        Ok((segments.collect(), (next_s * 16_000.0).round() as usize))
    }
}

/// Tokens that a sound of this length cannot have more of: a fast speaker says five words a second.
fn token_limit(samples: usize) -> usize {
    (16 + samples / 1600).min(MOST_TOKENS)
}

/// Frames of the encoder for this many samples.
fn cut_context(samples: usize) -> usize {
    let frames = samples.div_ceil(2 * HOP);
    (frames + SPARE_CONTEXT).next_multiple_of(CONTEXT_STEP).clamp(SMALLEST_CONTEXT, CONTEXT)
}

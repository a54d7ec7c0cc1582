//! `tenpass corpus record`: one phrase after the other, from the microphone or from a file that stands for it.

use std::thread::sleep;
use std::time::Duration;

use jiff::Zoned;
use tenpass_audio::{Audio, AudioError, Input, SPEECH_RATE, microphone, open};
use tenpass_corpus::{Clip, Corpus, Flaw, Phrase, Take, TakeRules, Taken, slug};

use super::{opened, phrases};
use crate::args::speech::corpus::Record;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::LevelMeter;

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Record) -> Result<Exit, Failure> {
    let mut phrases = phrases::phrases(&command.said)?;
    if let (Some(_), true) = (&command.said.wake, command.said.language.is_empty()) {
        // A person says the wake word in one language.
        let mut seen = false;
        phrases.retain(|phrase| phrase.intent != "wake" || !std::mem::replace(&mut seen, true));
    }
    if phrases.is_empty() {
        return Err(Failure::mistake("nothing is to be said").hint("name --wake, --commands, --others or --phrases"));
    }
    if command.voice.trim().is_empty() || command.room.trim().is_empty() {
        return Err(Failure::mistake("--voice and --room must not be empty"));
    }
    let mut input = source(command)?;
    let mut corpus = opened(&command.new, "recorded speech", "private")?;
    let mut session = Session { printer: context.printer, command, live: command.from.is_none(), corpus: &mut corpus };
    let kept = session.record(input.as_mut(), &phrases)?;
    let summary = corpus.summary();
    context.printer.out(&format!(
        "{}: {} recorded now, {} clips, {:.1} minutes",
        summary.folder, kept.written, summary.clips, summary.minutes
    ));
    Ok(if kept.missing == 0 { Exit::Yes } else { Exit::No })
}

fn source(command: &Record) -> Result<Box<dyn Input>, Failure> {
    match &command.from {
        Some(path) => {
            let reader = open(path).map_err(|error| Failure::mistake(&error).hint(error.hint()))?;
            Ok(Box::new(reader))
        }
        None => microphone(command.device.as_deref()).map_err(device_failure),
    }
}

fn device_failure(error: AudioError) -> Failure {
    match &error {
        AudioError::NoDevice { hint, .. } => Failure::backend(&error).hint(hint.clone()),
        other => Failure::mistake(other).hint(other.hint()),
    }
}

#[derive(Debug, Default)]
struct Kept {
    written: usize,
    missing: usize,
}

struct Session<'a> {
    printer: Printer,
    command: &'a Record,
    /// A person speaks, and needs a countdown.
    live: bool,
    corpus: &'a mut Corpus,
}

impl Session<'_> {
    fn record(&mut self, input: &mut dyn Input, phrases: &[Phrase]) -> Result<Kept, Failure> {
        let today = Zoned::now().date().to_string();
        let mut kept = Kept::default();
        let wanted: Vec<(u32, &Phrase)> =
            (0..self.command.count).flat_map(|round| phrases.iter().map(move |phrase| (round, phrase))).collect();
        let total = wanted.len();
        for (index, (round, phrase)) in wanted.into_iter().enumerate() {
            let file = self.file(phrase, &today, round);
            if self.corpus.has(&file) {
                continue;
            }
            match self.tries(input, phrase, index + 1, total)? {
                Some(taken) => {
                    self.keep(file, phrase, &today, taken)?;
                    kept.written += 1;
                }
                None => kept.missing += 1,
            }
        }
        Ok(kept)
    }

    /// Asks until a recording is good enough; `None` when it never was.
    fn tries(
        &self,
        input: &mut dyn Input,
        phrase: &Phrase,
        number: usize,
        total: usize,
    ) -> Result<Option<Taken>, Failure> {
        for attempt in 0..=self.command.retries {
            let again = if attempt == 0 { "" } else { " again" };
            self.printer.note(&format!("{number}/{total}: say{again}: {}", phrase.text));
            self.countdown();
            let (taken, ended) = self.listen(input)?;
            match taken {
                Ok(taken) => {
                    let (speech, floor) = (taken.speech_dbfs, taken.floor_dbfs);
                    let length = taken.audio.seconds();
                    self.printer.note(&format!("  good: {length:.1} s, speech {speech:.0} dBFS, room {floor:.0} dBFS"));
                    return Ok(Some(taken));
                }
                Err(flaw) => self.printer.note(&format!("  {flaw}")),
            }
            if ended {
                self.printer.note("  the sound has ended");
                return Ok(None);
            }
        }
        self.printer.note("  left out");
        Ok(None)
    }

    fn countdown(&self) {
        if self.live {
            let meter = LevelMeter::new();
            for number in ["3", "2", "1"] {
                meter.message(number);
                sleep(Duration::from_millis(600));
            }
        }
    }

    /// One utterance; true beside it when the sound has ended.
    fn listen(&self, input: &mut dyn Input) -> Result<(Result<Taken, Flaw>, bool), Failure> {
        let mut take = Take::new(input.rate(), TakeRules::default());
        let meter = LevelMeter::new();
        let mut block = Vec::new();
        if self.live {
            // What came during the countdown is not part of it.
            input.next_block(&mut block).map_err(device_failure)?;
        }
        meter.message("speak");
        loop {
            if !input.next_block(&mut block).map_err(device_failure)? {
                return Ok((take.finish(), true));
            }
            if take.push(&block) {
                return Ok((take.finish(), false));
            }
            meter.level(take.level_dbfs());
        }
    }

    fn keep(&mut self, file: String, phrase: &Phrase, today: &str, taken: Taken) -> Result<(), Failure> {
        let wake = (phrase.intent == "wake").then(|| phrase.text.to_lowercase());
        let clip = Clip {
            file,
            text: phrase.text.clone(),
            intent: phrase.intent.clone(),
            language: phrase.language.clone(),
            voice: self.command.voice.clone(),
            synthetic: false,
            day: today.to_owned(),
            room: self.command.room.clone(),
            word_end_s: wake.as_ref().map(|_| taken.speech_end_s),
            wake,
            speech_end_s: Some(taken.speech_end_s),
            ..Clip::default()
        };
        let audio: Audio = taken.audio.at_rate(SPEECH_RATE);
        Ok(self.corpus.add(clip, &audio)?)
    }

    /// `en/kora.me.near.2026-11-30.01.wav`
    fn file(&self, phrase: &Phrase, today: &str, round: u32) -> String {
        let (text, voice, room) = (slug(&phrase.text), slug(&self.command.voice), slug(&self.command.room));
        format!("{}/{text}.{voice}.{room}.{today}.{:02}.wav", phrase.language, round + 1)
    }
}

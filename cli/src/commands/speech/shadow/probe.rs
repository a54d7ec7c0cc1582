//! `tenpass shadow probe`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tenpass_audio::SPEECH_RATE;
use tenpass_corpus::Corpus;
use tenpass_stats::{Tally, clopper_pearson};
use tenpass_train::promote::Evidence;
use tenpass_train::shadow::{ANSWER_S, Heard, Prober, Rule, ShadowSetup, read_shadow};
use tenpass_wake::{DetectorConfig, EmbeddingModel, Vad, Verifier};

use super::super::super::table::table;
use super::super::assets::asset;
use super::super::source;
use super::places::{Places, ShadowPlace, thresholds};
use crate::args::speech::shadow::Probe;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Pauses between prompts, in seconds: nobody is to speak to a beat.
const PAUSES_S: [f64; 5] = [2.5, 4.0, 3.0, 5.0, 3.5];

/// One head's probes.
#[derive(Serialize)]
struct Row {
    head: String,
    probes: u32,
    missed: u32,
    miss_rate: f64,
    /// Clopper and Pearson's interval at 95 %.
    low: f64,
    high: f64,
}

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Probe) -> Result<Exit, Failure> {
    let places = Places::new(context, command.which.folder.as_deref());
    let place = places.shadow(&command.which)?;
    let files = files(&command.from)?;
    let mut prober = prober(context, command, &place)?;
    if let Some(files) = files {
        recorded(context.printer, &mut prober, &places, &files)?;
    } else {
        let mut asking = Asking::new(context.printer, &mut prober, command.times);
        let mut hear = |samples: &[f32]| asking.hear(samples);
        if command.from.is_empty() {
            source::microphone("tenpass shadow probe --from -", &mut hear)?;
        } else {
            source::stdin(&mut hear)?;
        }
    }
    show(context, command, &place)
}

/// Both heads as the shadow has them.
fn prober(context: &Context, command: &Probe, place: &ShadowPlace) -> Result<Prober, Failure> {
    let (champion, candidate) = (place.champion(), place.candidate());
    let session = place.session()?;
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let setup = ShadowSetup {
        model: &model,
        champion: &champion,
        candidate: &candidate,
        names: [session.champion.name.clone(), session.candidate.name.clone()],
        vad: Some(Vad::load(&asset(context, "silero-vad")?)?),
        verifier: command.verifier.as_deref().map(Verifier::load).transpose()?,
        detector: DetectorConfig::default(),
        thresholds: thresholds([&champion, &candidate]),
        rule: Rule::default(),
    };
    Ok(Prober::new(setup, &place.folder)?)
}

/// The recordings that were named; `None` where someone is asked.
fn files(typed: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, Failure> {
    if typed.is_empty() || typed == [Path::new("-")] {
        return Ok(None);
    }
    let mut found = Vec::new();
    for path in typed {
        if path.join("corpus.toml").is_file() {
            let corpus = Corpus::open(path)?;
            let said = corpus.clips().iter().filter(|clip| clip.wake.is_some());
            found.extend(said.map(|clip| path.join(&clip.file)));
        } else if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|error| Failure::file(path, &error))?;
            let mut sounds: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            sounds.retain(|file| file.extension().is_some_and(|end| end == "wav" || end == "flac"));
            sounds.sort();
            found.extend(sounds);
        } else {
            found.push(path.clone());
        }
    }
    if found.is_empty() {
        return Err(Failure::mistake("nobody says the wake word in what was named")
            .hint("name WAV or FLAC files of one utterance each, a folder of them, or a corpus with the word"));
    }
    Ok(Some(found))
}

fn recorded(printer: Printer, prober: &mut Prober, places: &Places, files: &[PathBuf]) -> Result<(), Failure> {
    for file in files {
        let name = file.display();
        match prober.file(file, places.now)? {
            Some(heard) => printer.note(&format!("{name}: {}", told(heard))),
            None => printer.note(&format!("{name}: it counts already")),
        }
    }
    Ok(())
}

fn told(heard: Heard) -> &'static str {
    match (heard.champion, heard.candidate) {
        (true, true) => "both heard it",
        (true, false) => "only the head in service heard it",
        (false, true) => "only the candidate heard it",
        (false, false) => "neither heard it",
    }
}

/// Asks for the word again and again; time is what the samples say.
struct Asking<'a> {
    printer: Printer,
    prober: &'a mut Prober,
    times: u32,
    asked: u32,
    /// Samples until the next prompt, or until its answer is over.
    left: usize,
    answering: bool,
}

impl<'a> Asking<'a> {
    fn new(printer: Printer, prober: &'a mut Prober, times: u32) -> Self {
        printer.note(&format!("say the wake word each time you are asked, {times} times, as you would say it"));
        Self { printer, prober, times, asked: 0, left: samples_of(PAUSES_S[0]), answering: false }
    }

    /// False once everything was asked.
    fn hear(&mut self, samples: &[f32]) -> Result<bool, Failure> {
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.left.min(rest.len()));
            self.prober.push(now);
            self.left -= now.len();
            rest = later;
            if self.left == 0 && !self.turn()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// From a pause to a prompt, or from an answer to a pause.
    fn turn(&mut self) -> Result<bool, Failure> {
        self.answering = !self.answering;
        if self.answering {
            self.asked += 1;
            self.printer.note(&format!("{}/{}: now", self.asked, self.times));
            self.prober.prompt();
            self.left = samples_of(ANSWER_S);
            return Ok(true);
        }
        let now = jiff::Zoned::now().datetime();
        let heard = self.prober.answered(now.round(jiff::Unit::Second).unwrap_or(now))?;
        self.printer.note(&format!("  {}", told(heard)));
        self.left = samples_of(PAUSES_S[self.asked as usize % PAUSES_S.len()]);
        Ok(self.asked < self.times)
    }
}

fn samples_of(seconds: f64) -> usize {
    (seconds * f64::from(SPEECH_RATE)) as usize
}

/// All probes of this shadow so far.
fn show(context: &Context, command: &Probe, place: &ShadowPlace) -> Result<Exit, Failure> {
    let evidence = Evidence::of(&read_shadow(&place.folder)?);
    let session = place.session()?;
    let row = |head: &str, missed: u32| {
        let interval = clopper_pearson(Tally::new(missed, evidence.probes - missed), 0.95);
        let miss_rate = f64::from(missed) / f64::from(evidence.probes.max(1));
        Row {
            head: head.to_owned(),
            probes: evidence.probes,
            missed,
            miss_rate,
            low: interval.low,
            high: interval.high,
        }
    };
    let rows = [
        row(&format!("in service: {}", session.champion.name), evidence.probes - evidence.probes_champion),
        row(&format!("candidate: {}", session.candidate.name), evidence.probes - evidence.probes_candidate),
        row("both at once", evidence.probes_neither),
    ];
    if command.format.json() {
        context.printer.json(&rows)?;
        return Ok(Exit::Yes);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.head.clone(),
                row.probes.to_string(),
                row.missed.to_string(),
                format!("{:.1} ({:.1}-{:.1})", 100.0 * row.miss_rate, 100.0 * row.low, 100.0 * row.high),
            ]
        })
        .collect();
    context.printer.out(&table(&["head", "probes", "missed", "missed % (95 %)"], &cells, &[1, 2, 3]));
    Ok(Exit::Yes)
}

//! From a plan to a scored head: sounds, features, fit, export, measures. Every stage keeps its finished
//! work in the work folder, so that a training which was killed goes on where it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenpass_audio::augment::{Colour, babble, noise};
use tenpass_audio::{Audio, SPEECH_RATE};
use tenpass_wake::onnx::write_head;
use tenpass_wake::{DetectorConfig, Head};

use super::TrainError;
use super::data::{Data, Stream, make};
use super::fit::{Fitted, fit, traces};
use super::held_out;
use super::plan::WakePlan;
use super::record::{Measured, NearWakes, RECORD_FORMAT, Record, amounts, by_part, digest};
use super::recordings::{is_ambiguous, load};
use super::sound::{Origin, Part, Role, Sound};
use super::speech::{Voices, speak};
use super::split::split;
use super::trace::at;
use crate::features::Extractor;
use crate::network::{Buffers, FRAMES, Network, WINDOW, seed_of, sigmoid};

/// The largest difference between a trained head and its file that is rounding.
const ROUNDING: f32 = 1e-4;

/// Length of made noise, in seconds.
const NOISE_S: f64 = 12.0;

/// A stage of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Synthetic voices speak.
    Speech,
    /// Embeddings are made.
    Features,
    /// The head is fitted.
    Fit,
}

/// Told when so many of so many parts of a stage are done.
pub type Progress<'a> = &'a (dyn Fn(Stage, usize, usize) + Sync);

/// Everything a training needs besides its plan.
pub struct Tools<'a> {
    /// Voices that speak.
    pub voices: Voices<'a>,
    /// Makes features.
    pub extractor: &'a Extractor,
    /// Where finished work is kept.
    pub work: &'a Path,
    /// Told about progress.
    pub progress: Progress<'a>,
}

/// Collects, speaks and divides the sounds, and makes their features.
pub fn prepare(plan: &WakePlan, tools: &Tools<'_>) -> Result<Data, TrainError> {
    let letters = |word: &str| word.chars().filter(|letter| letter.is_alphabetic()).count();
    if letters(&plan.word) < 2 || plan.word.split_whitespace().count() > 4 {
        return Err(TrainError::Word(plan.word.clone()));
    }
    let (sounds, failed) = collect(plan, tools)?;
    refuse_overlap(&sounds)?;
    let mut data = make(plan, sounds, tools.extractor, &|done, of| (tools.progress)(Stage::Features, done, of))?;
    data.failed = failed;
    Ok(data)
}

type Collected = (Vec<Sound>, BTreeMap<String, (usize, String)>);

fn collect(plan: &WakePlan, tools: &Tools<'_>) -> Result<Collected, TrainError> {
    let mut recorded = Vec::new();
    for folder in &plan.positives {
        recorded.extend(load(folder, &plan.word, Role::Word)?);
    }
    for folder in &plan.negatives {
        recorded.extend(load(folder, &plan.word, Role::Speech)?.into_iter().filter(|sound| sound.role != Role::Word));
    }
    recorded.retain(|sound| !is_ambiguous(sound, &plan.word));
    // The same file in two folders is one sound.
    let mut seen = std::collections::BTreeSet::new();
    recorded.retain(|sound| seen.insert(sound.hash.clone()));
    divide(&mut recorded, plan.seed_of_data);
    let mut failed = BTreeMap::new();
    if plan.synthetic > 0 && !tools.voices.present.is_empty() {
        let folder = tools.work.join("speech");
        let spoken = speak(plan, tools.voices, &folder, &|done, of| (tools.progress)(Stage::Speech, done, of))?;
        // A voice without its own sampling says a text alike twice; and other voices never do.
        recorded.extend(spoken.sounds.into_iter().filter(|sound| seen.insert(sound.hash.clone())));
        failed = spoken.failed;
    }
    let has = |part: Part| recorded.iter().any(|sound| sound.role == Role::Word && sound.part == part);
    if !has(Part::Train) {
        return Err(TrainError::NoPositives);
    }
    if !has(Part::Dev) {
        return Err(TrainError::NoDevelopment);
    }
    recorded.extend(noises(&recorded, plan.seed_of_data));
    Ok((recorded, failed))
}

/// Noise of every colour and the murmur of voices, for each part its own.
fn noises(sounds: &[Sound], seed: u64) -> Vec<Sound> {
    let mut all = Vec::new();
    for part in Part::ALL {
        let seed = |purpose: &str, at: usize| seed_of(seed, &["noise", part.name(), purpose, &at.to_string()]);
        let colours = Colour::ALL.iter().enumerate();
        let mut made: Vec<Audio> =
            colours.map(|(at, colour)| noise(*colour, NOISE_S, SPEECH_RATE, seed("colour", at))).collect();
        let talk: Vec<Audio> = (sounds.iter().filter(|sound| sound.part == part && sound.role == Role::Speech))
            .step_by(2)
            .take(40)
            .map(Sound::audio)
            .collect();
        if talk.len() > 3 {
            made.extend((0..3).map(|at| babble(&talk, 3 + 2 * at, NOISE_S, SPEECH_RATE, seed("murmur", at))));
        }
        all.extend(made.into_iter().map(|audio| Sound {
            role: Role::Noise,
            origin: Origin::Synthetic,
            group: format!("noise, {}", part.name()),
            part,
            ..Sound::of(audio.to_i16())
        }));
    }
    all
}

/// Days of recordings are kept together. Other sound of a single day, such as prompts of one speaker, is
/// divided clip by clip, since it is only measured for false wakes.
fn divide(sounds: &mut [Sound], seed: u64) {
    let group = |sound: &Sound| match (sound.role, sound.origin) {
        (Role::Word, Origin::User) => ("day".to_owned(), sound.group.clone()),
        (Role::Word, Origin::Synthetic) => ("voice".to_owned(), sound.group.clone()),
        _ => ("other".to_owned(), sound.hash.clone()),
    };
    let groups: Vec<(String, String)> = sounds.iter().map(group).collect();
    let parts = split(&groups, seed);
    for (sound, (_, name)) in sounds.iter_mut().zip(&groups) {
        sound.part = parts.get(name).copied().unwrap_or(Part::Train);
    }
}

fn refuse_overlap(sounds: &[Sound]) -> Result<(), TrainError> {
    let mut parts: BTreeMap<&str, &Sound> = BTreeMap::new();
    let mut twice: Vec<(&Sound, &Sound)> = Vec::new();
    for sound in sounds {
        match parts.get(sound.hash.as_str()) {
            Some(other) if other.part != sound.part => twice.push((other, sound)),
            Some(_) => {}
            None => drop(parts.insert(&sound.hash, sound)),
        }
    }
    let Some((first, second)) = twice.first() else { return Ok(()) };
    Err(TrainError::Overlap {
        count: twice.len(),
        first: first.part.name(),
        second: second.part.name(),
        text: second.text.clone(),
        group: second.group.clone(),
    })
}

/// Fits a head on prepared data, writes it with its record, and measures it on what was held out. With `resume` it
/// goes on with a fit of the same plan that was stopped. The held-out sounds become the corpus `held-out` in the work folder.
pub fn train(plan: &WakePlan, data: &Data, tools: &Tools<'_>, out: &Path, resume: bool) -> Result<Record, TrainError> {
    let state: PathBuf = tools.work.join("fit.state");
    if !resume && state.exists() {
        std::fs::remove_file(&state).map_err(|error| TrainError::file(&state, error))?;
    }
    let fitted = fit(plan, data, Some(&state), &|done, of| (tools.progress)(Stage::Fit, done, of))?;
    let record = export(plan, data, &fitted, out)?;
    held_out::write(data, &plan.word, &tools.work.join("held-out"))?;
    // The head is there: the way to it is no longer needed.
    std::fs::remove_file(&state).map_err(|error| TrainError::file(&state, error))?;
    Ok(record)
}

/// Writes a fitted head and its record, and checks that the file scores as the network does.
pub fn export(plan: &WakePlan, data: &Data, fitted: &Fitted, out: &Path) -> Result<Record, TrainError> {
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| TrainError::file(folder, error))?;
    }
    write_head(out, &fitted.network.graph(&plan.word))?;
    check(&fitted.network, out, data)?;
    let bytes = std::fs::read(out).map_err(|error| TrainError::file(out, error))?;
    let record = record(plan, data, fitted, digest(&bytes));
    let path = Record::path(out);
    let text = serde_json::to_string_pretty(&record).map_err(|error| TrainError::file(&path, error.into()))?;
    std::fs::write(&path, text + "\n").map_err(|error| TrainError::file(&path, error))?;
    Ok(record)
}

fn check(network: &Network, head: &Path, data: &Data) -> Result<(), TrainError> {
    let head = Head::load(head)?;
    let mut buffers = Buffers::default();
    let windows = data.positives.iter().take(50).map(|(_, window)| window.as_slice());
    let others = data.streams.iter().flat_map(|stream| stream.chunks_exact(WINDOW)).take(200);
    let mut worst: f32 = 0.0;
    for window in windows.chain(others) {
        let rows = window.as_chunks::<96>().0;
        debug_assert_eq!(rows.len(), FRAMES);
        let ours = network.logits(window, &mut buffers).first().map_or(0.0, |logit| sigmoid(*logit));
        worst = worst.max((head.score(rows) - ours).abs());
    }
    if worst.is_finite() && worst <= ROUNDING { Ok(()) } else { Err(TrainError::Export(worst)) }
}

fn record(plan: &WakePlan, data: &Data, fitted: &Fitted, head_sha256: String) -> Record {
    let threshold = fitted.chosen.threshold;
    let found = |streams: &[Stream]| {
        let traces = traces(&fitted.network, streams, &mut Buffers::default());
        at(&traces, &DetectorConfig::default(), threshold)
    };
    let measured = |streams: &[Stream]| Measured::of(&found(streams));
    Record {
        format: RECORD_FORMAT,
        word: plan.word.clone(),
        head_sha256,
        architecture: plan.architecture,
        features: data.features.clone(),
        seed: plan.seed,
        seed_of_data: plan.seed_of_data,
        steps: plan.steps,
        optimisation: plan.optimisation,
        without: plan.without.iter().map(|origin| format!("{origin:?}").to_lowercase()).collect(),
        positives: fitted.positives,
        sounds: amounts(&data.sounds),
        groups: by_part(
            &data.sounds,
            |sound| if sound.group.is_empty() { "undated".into() } else { sound.group.clone() },
        ),
        hashes: by_part(&data.sounds, |sound| sound.hash.clone()),
        failed: data.failed.clone(),
        threshold,
        target_per_hour: plan.target_per_hour,
        looks: fitted.looks.clone(),
        dev: measured(&data.dev),
        test: (!data.test.is_empty()).then(|| measured(&data.test)),
        near: NearWakes::of(&found(&data.test_near)),
    }
}

//! What trainings need of this machine: the front end, voices, a work folder; and the plan that was typed.

use std::path::{Path, PathBuf};

use tenpass_train::features::Extractor;
use tenpass_train::wake::{Stage, WakePlan};
use tenpass_tts::{Files, TtsError, Voice, VoiceInfo, VoiceSpec};

use crate::args::speech::train::TrainingData;
use crate::commands::speech::assets::asset;
use crate::commands::speech::voices::voice_files;
use crate::context::Context;
use crate::failure::Failure;

/// The embedding model of the front end.
pub(crate) fn embedding_model(context: &Context) -> Result<PathBuf, Failure> {
    asset(context, "speech-embedding")
}

/// Opens the front end with its cache in the work folder.
pub(crate) fn extractor(context: &Context, work: &Path) -> Result<Extractor, Failure> {
    let model = embedding_model(context)?;
    Extractor::open(&model, work).map_err(|error| tenpass_train::wake::TrainError::from(error).into())
}

/// Voices of this machine whose SPECs begin with one of these words; all without any.
pub(crate) struct Speakers {
    files: Files,
    pub(crate) present: Vec<VoiceInfo>,
}

impl Speakers {
    pub(crate) fn find(context: &Context, wanted: &[String]) -> Result<Self, Failure> {
        // Two voices speak at a time: each on one thread.
        let files = voice_files(context, Some(1))?;
        let mut present = tenpass_tts::present(&files);
        // Voices of languages that have no phonemes here speak English: more throats for blends.
        if present.iter().any(|voice| voice.engine == "kokoro") {
            let silent = tenpass_tts::kokoro_styles(&files).into_iter().filter(|name| {
                let own = format!("kokoro:{name}");
                !present.iter().any(|voice| voice.spec == own)
            });
            let spoken: Vec<VoiceInfo> = silent.map(|name| english(&name)).collect();
            present.extend(spoken);
        }
        present
            .retain(|voice| wanted.is_empty() || wanted.iter().any(|prefix| voice.spec.starts_with(prefix.as_str())));
        if present.is_empty() && !wanted.is_empty() {
            return Err(Failure::mistake(format!("no voice here begins with {}", wanted.join(" or ")))
                .hint("`tenpass say --list` lists them"));
        }
        Ok(Self { files, present })
    }

    pub(crate) fn open(&self, voice: &VoiceInfo) -> Result<Box<dyn Voice>, TtsError> {
        tenpass_tts::open(&VoiceSpec::parse(&voice.spec)?, &self.files)
    }
}

fn english(style: &str) -> VoiceInfo {
    VoiceInfo {
        spec: format!("kokoro:{style}@en-us"),
        engine: "kokoro".to_owned(),
        language: "en".to_owned(),
        rate: 24_000,
        natural: true,
    }
}

/// The plan that was typed.
pub(crate) fn plan(word: &str, typed: &TrainingData) -> Result<WakePlan, Failure> {
    let share = |name: &str, value: f64, most: f64| {
        if (0.0..=most).contains(&value) {
            Ok(())
        } else {
            Err(Failure::mistake(format!("{name} is {value}, it must be from 0 to {most}")))
        }
    };
    share("--smoothing", f64::from(typed.smoothing), 0.5)?;
    share("--mixup", typed.mixup, 1.0)?;
    share("--near-weight", f64::from(typed.near_weight), 100.0)?;
    share("--focal", f64::from(typed.focal), 10.0)?;
    share("--target", typed.target, 1000.0)?;
    let mut plan = WakePlan::new(word);
    plan.positives.clone_from(&typed.positives);
    plan.negatives.clone_from(&typed.negatives);
    plan.synthetic = typed.synthetic;
    plan.seed = typed.seed;
    plan.seed_of_data = typed.data_seed;
    plan.steps = typed.steps;
    plan.architecture = typed.architecture.into();
    plan.target_per_hour = typed.target;
    plan.languages.clone_from(&typed.languages);
    plan.optimisation.near_weight = typed.near_weight;
    plan.optimisation.focus = typed.focal;
    plan.optimisation.smoothing = typed.smoothing;
    plan.optimisation.mixup = typed.mixup;
    plan.threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    Ok(plan)
}

pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Speech => "speech",
        Stage::Features => "features",
        Stage::Fit => "fit",
    }
}

/// A name for files.
pub(crate) fn slug(word: &str) -> String {
    let letters = word.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
    letters.collect::<String>().trim_matches('-').to_owned()
}

//! From a SPEC to an engine: assets of the catalogue or paths, and the conversion at first use.

use std::path::PathBuf;

use tenpass_stt::import::ImportStep;
use tenpass_stt::{Files, SttError, SttSpec, Transcriber, load_with};

use super::super::assets::{asset, asset_if_there};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::StageProgress;

/// The detector that the gate needs.
const VAD: &str = "silero-vad";

/// Loads an engine. With `gate`, the voice activity detector has to be on this machine too.
pub(in crate::commands::speech) fn open_engine(
    context: &Context,
    spec: &SttSpec,
    gate: bool,
) -> Result<Box<dyn Transcriber>, Failure> {
    let files = files(context, spec, gate)?;
    // It takes seconds, and only before the first use.
    let mut bar: Option<StageProgress> = None;
    let mut progress = |step: ImportStep| {
        if step.what == "reading" {
            context.printer.note(&format!("{}: converting it for {}, once", spec.model, spec.engine.name()));
        } else {
            let bar = bar.get_or_insert_with(|| StageProgress::new(context.printer));
            let count = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            bar.tell("converting", count(step.done), count(step.total));
        }
    };
    let loaded = load_with(spec, &files, &mut progress).map_err(failure);
    if let Some(bar) = bar {
        bar.end();
    }
    loaded
}

fn files(context: &Context, spec: &SttSpec, gate: bool) -> Result<Files, Failure> {
    let vad = if gate { Some(asset(context, VAD)?) } else { asset_if_there(context, VAD)? };
    let named = context.store()?.catalog().entry(&spec.model).is_ok();
    if spec.is_path() && !named {
        return Ok(Files { weights: PathBuf::from(&spec.model), tokenizer: None, vad });
    }
    let weights = asset(context, &spec.model)?;
    let tokenizer = Some(asset(context, spec.tokenizer_asset())?);
    Ok(Files { weights, tokenizer, vad })
}

/// What an error of an engine means for the exit code.
pub(in crate::commands::speech) fn failure(error: SttError) -> Failure {
    let exit = match &error {
        SttError::Engine { .. } | SttError::Model { .. } => Exit::Backend,
        _ => Exit::Mistake,
    };
    Failure { exit, message: error.to_string(), hint: Some(error.hint().to_owned()) }
}

//! The voice that was asked for, or the best of this machine.

use tenpass_tts::{TtsError, Voice, open};

use super::super::voices::{best_voice, named_voice, voice_files};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Opens a voice by its SPEC, or the best one for a language.
pub(in crate::commands::speech) fn open_voice(
    context: &Context,
    typed: Option<&str>,
    language: &str,
) -> Result<Box<dyn Voice>, Failure> {
    let files = voice_files(context, None)?;
    let spec = match typed {
        Some(typed) => named_voice(context, typed)?,
        None => best_voice(&files, language)?,
    };
    open(&spec, &files).map_err(voice_failure)
}

/// What an error of a voice means for the exit code.
#[allow(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(in crate::commands::speech) fn voice_failure(error: TtsError) -> Failure {
    let (exit, hint) = match &error {
        TtsError::Missing { hint, .. } => (Exit::Backend, Some(hint.clone())),
        TtsError::Model { .. } | TtsError::Engine { .. } => (Exit::Backend, None),
        _ => (Exit::Mistake, None),
    };
    Failure { exit, message: error.to_string(), hint }
}

//! The voice activity detector of the gate: silero's.

use std::path::Path;

use tenpass_wake::Vad;

use crate::import::source::fault;
use crate::listen::{FRAME, Gate};
use crate::transcriber::SttError;

/// Loads it. Each sound gets a detector that has heard nothing yet.
pub(crate) fn load(path: &Path) -> Result<Gate, SttError> {
    let vad = Vad::load(path).map_err(|error| fault(path, error))?;
    Ok(Box::new(move || {
        let mut own = vad.clone();
        own.reset();
        Box::new(move |frame: &[f32; FRAME]| own.push(frame))
    }))
}

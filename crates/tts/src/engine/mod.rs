//! The engines, one a module.

pub(crate) mod blend;
pub(crate) mod elevenlabs;
pub(crate) mod espeak;
pub(crate) mod flite;
pub(crate) mod graph;
pub(crate) mod kokoro;
pub(crate) mod onnx;
pub(crate) mod phonemes;
pub(crate) mod piper;
mod pool;
pub(crate) mod process;
pub(crate) mod wav;

use crate::TtsError;

/// Most characters of one text. Longer ones are cut into chunks before.
const MOST_CHARACTERS: usize = 20_000;

/// The text, if it can be spoken at all.
pub(crate) fn checked(text: &str) -> Result<&str, TtsError> {
    let text = text.trim();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(TtsError::Input("there is nothing to speak in this text".to_owned()));
    }
    let length = text.chars().count();
    if length > MOST_CHARACTERS {
        return Err(TtsError::Input(format!(
            "a text of {length} characters is too long, {MOST_CHARACTERS} are possible"
        )));
    }
    Ok(text)
}

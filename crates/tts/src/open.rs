//! From a SPEC to a voice, and which voices a machine has.

use crate::engine::{elevenlabs, espeak, flite, kokoro, piper};
use crate::{Files, TtsError, Voice, VoiceInfo, VoiceSpec};

/// Opens a voice: loads its model, or checks its program.
pub fn open(spec: &VoiceSpec, files: &Files) -> Result<Box<dyn Voice>, TtsError> {
    Ok(match spec {
        VoiceSpec::Espeak { language, variant } => Box::new(espeak::Espeak::open(language, variant.as_deref(), files)?),
        VoiceSpec::Flite { voice } => Box::new(flite::Flite::open(voice, files)?),
        VoiceSpec::Piper { model, speaker } => Box::new(piper::Piper::open(model, speaker.as_deref(), files)?),
        VoiceSpec::Kokoro { voice } => Box::new(kokoro::Kokoro::open(voice, files)?),
        VoiceSpec::ElevenLabs { voice } => Box::new(elevenlabs::ElevenLabs::open(voice, files)?),
    })
}

/// Every voice this machine has, the best first: Kokoro, Piper, espeak-ng, flite. Paid services are not among
/// them, and neither are voices whose library, phonemes or settings are missing.
pub fn present(files: &Files) -> Vec<VoiceInfo> {
    let espeak = espeak::present(files);
    let mut found = Vec::new();
    // Both get their phonemes from espeak-ng.
    if files.runtime().is_ok_and(|path| path.is_file()) && !espeak.is_empty() {
        if let (Some(model), Some(styles)) = (&files.kokoro, &files.kokoro_voices)
            && model.is_file()
        {
            found.extend(kokoro::present(styles));
        }
        found.extend(files.piper.iter().filter_map(|(name, path)| piper::describe(name, path).ok()));
    }
    found.extend(espeak);
    found.extend(flite::present(files));
    found
}

/// The best voice of this machine for a language, `en` or `fr`.
pub fn best(files: &Files, language: &str) -> Option<VoiceSpec> {
    let found = present(files).into_iter().find(|voice| voice.language == language)?;
    VoiceSpec::parse(&found.spec).ok()
}

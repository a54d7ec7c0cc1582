//! The voices that a corpus is spoken with.

use std::collections::{BTreeSet, HashSet};

use tenpass_tts::{ENGINES, TtsError, Voice, VoiceInfo, VoiceSpec, open, present};

use crate::commands::speech::voices::{named_voice, voice_files};
use crate::context::Context;
use crate::failure::Failure;

/// The voices that were asked for, or all of this machine, of these languages.
pub(super) fn voices(
    context: &Context,
    asked: &[String],
    languages: &BTreeSet<&str>,
) -> Result<Vec<Box<dyn Voice>>, Failure> {
    // Phrases are spoken side by side; and sums in another order would be other bytes.
    let files = voice_files(context, Some(1))?;
    let found = present(&files);
    let mut specs: Vec<String> = Vec::new();
    if asked.is_empty() {
        specs.extend(found.iter().filter(|info| wanted(info, languages)).map(|info| info.spec.clone()));
    }
    for word in asked {
        if ENGINES.contains(&word.as_str()) {
            let own = found.iter().filter(|info| info.engine == *word && wanted(info, languages));
            let before = specs.len();
            specs.extend(own.map(|info| info.spec.clone()));
            if specs.len() == before {
                let languages: Vec<&str> = languages.iter().copied().collect();
                let problem = format!("there is no voice of {word} for {} on this machine", languages.join(" or "));
                return Err(Failure::backend(problem).hint("`tenpass say --list` shows the voices of this machine"));
            }
        } else {
            specs.push(named_voice(context, word)?.to_string());
        }
    }
    let mut seen = HashSet::new();
    specs.retain(|spec| seen.insert(spec.clone()));
    let voices =
        specs.iter().map(|spec| open(&VoiceSpec::parse(spec)?, &files)).collect::<Result<Vec<_>, TtsError>>()?;
    if voices.is_empty() {
        return Err(Failure::backend("there is no voice on this machine")
            .hint("install espeak-ng or flite with the system's package manager, or: tenpass models pull kokoro-82m"));
    }
    Ok(voices)
}

fn wanted(info: &VoiceInfo, languages: &BTreeSet<&str>) -> bool {
    languages.contains(info.language.as_str())
}

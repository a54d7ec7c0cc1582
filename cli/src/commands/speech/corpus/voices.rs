//! The voices that a corpus is spoken with.

use std::collections::{BTreeSet, HashSet};

use tenpass_tts::{ENGINES, TtsError, Voice, VoiceInfo, VoiceSpec, open, present};

use crate::commands::speech::voices::{named_voice, voice_files};
use crate::context::Context;
use crate::failure::Failure;

/// Voices of an engine and a language when none were named.
const HANDFUL: usize = 6;
/// The engine of last resort, whose voices have a hundred variants each.
const ESPEAK: &str = "espeak";

/// The voices that were asked for, or a handful of each engine, of these languages. `variants`: also those of
/// espeak-ng, when the engine is named.
pub(super) fn voices(
    context: &Context,
    asked: &[String],
    variants: bool,
    languages: &BTreeSet<&str>,
) -> Result<Vec<Box<dyn Voice>>, Failure> {
    // Phrases are spoken side by side; and sums in another order would be other bytes.
    let files = voice_files(context, Some(1))?;
    let found = present(&files);
    let mut specs: Vec<String> = Vec::new();
    if asked.is_empty() {
        specs.extend(languages.iter().flat_map(|language| handful(&found, language)));
    }
    for word in asked {
        if ENGINES.contains(&word.as_str()) {
            let own = found.iter().filter(|info| info.engine == *word && wanted(info, languages));
            let own = own.filter(|info| variants || !is_variant(info));
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

/// Some voices of each engine that speaks a language: the first, and others evenly from the rest.
fn handful(found: &[VoiceInfo], language: &str) -> Vec<String> {
    let own = |engine: &str| -> Vec<&VoiceInfo> {
        found.iter().filter(|info| info.engine == engine && info.language == language && !is_variant(info)).collect()
    };
    let engines: Vec<&str> = ENGINES.iter().copied().filter(|engine| !own(engine).is_empty()).collect();
    let last_resort = engines.iter().all(|engine| *engine == ESPEAK);
    let chosen = engines.into_iter().filter(|engine| last_resort || *engine != ESPEAK).flat_map(|engine| {
        let own = own(engine);
        let count = own.len().min(HANDFUL);
        (0..count).map(|index| own[index * own.len() / count].spec.clone()).collect::<Vec<_>>()
    });
    chosen.collect()
}

fn is_variant(info: &VoiceInfo) -> bool {
    matches!(VoiceSpec::parse(&info.spec), Ok(VoiceSpec::Espeak { variant: Some(_), .. }))
}

fn wanted(info: &VoiceInfo, languages: &BTreeSet<&str>) -> bool {
    languages.contains(info.language.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(engine: &str, name: &str, language: &str) -> VoiceInfo {
        let spec = format!("{engine}:{name}");
        VoiceInfo { spec, engine: engine.to_owned(), language: language.to_owned(), rate: 24_000, natural: true }
    }

    #[test]
    fn a_handful_is_spread_over_an_engine_and_espeak_is_the_last_resort() {
        let mut found: Vec<VoiceInfo> = (0..18).map(|at| info("kokoro", &format!("af_{at:02}"), "en")).collect();
        found.push(info("flite", "slt", "en"));
        for (language, tag) in [("en-us", "en"), ("fr-fr", "fr")] {
            found.push(info("espeak", language, tag));
            found.extend((0..100).map(|at| info("espeak", &format!("{language}+v{at}"), tag)));
        }
        let english = handful(&found, "en");
        let kokoro: Vec<&str> = english.iter().filter_map(|spec| spec.strip_prefix("kokoro:")).collect();
        assert_eq!(kokoro, ["af_00", "af_03", "af_06", "af_09", "af_12", "af_15"]);
        assert!(english.len() == 7 && english.contains(&"flite:slt".to_owned()));
        assert_eq!(handful(&found, "fr"), ["espeak:fr-fr"]);
        assert!(handful(&found, "de").is_empty());
    }
}

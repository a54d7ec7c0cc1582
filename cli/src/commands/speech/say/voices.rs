//! Which voice speaks, and in which language.

use tenpass_tts::{Files, VoiceSpec};

use crate::args::speech::say::Say;
use crate::commands::speech::voices::{best_voice, named_voice};
use crate::context::Context;
use crate::failure::Failure;

/// What was typed, else what the settings say, else the best of this machine.
pub(super) fn choose(context: &Context, command: &Say, language: &str, files: &Files) -> Result<VoiceSpec, Failure> {
    let speech = &context.resolved.settings.speech;
    let set = if language == "fr" { &speech.voice_fr } else { &speech.voice_en };
    match command.voice.as_ref().or(set.as_ref()) {
        Some(spec) => named_voice(context, spec),
        None => best_voice(files, language),
    }
}

/// The language that was typed, else the voice's, else the text's.
pub(super) fn language(command: &Say, text: &str) -> Result<String, Failure> {
    if let Some(language) = &command.language {
        return Ok(language.clone());
    }
    let of_voice = match command.voice.as_deref().map(VoiceSpec::parse).transpose()? {
        Some(VoiceSpec::Espeak { language, .. }) => Some(language),
        Some(VoiceSpec::Kokoro { voice }) => Some(if voice.starts_with('f') { "fr" } else { "en" }.to_owned()),
        Some(VoiceSpec::Flite { .. }) => Some("en".to_owned()),
        _ => None,
    };
    Ok(match of_voice {
        Some(language) if language.starts_with("fr") => "fr",
        Some(_) => "en",
        None => guess(text),
    }
    .to_owned())
}

/// The small words of a text tell French from English.
fn guess(text: &str) -> &'static str {
    const FRENCH: &[&str] = &[
        "le", "la", "les", "un", "une", "des", "du", "de", "et", "est", "vous", "je", "tu", "il", "elle", "nous",
        "que", "qui", "dans", "pour", "pas", "sur", "avec", "au", "aux", "ce", "cette", "bonjour", "merci", "oui",
        "non", "mon", "ma", "à",
    ];
    const ENGLISH: &[&str] = &[
        "the", "a", "an", "of", "and", "is", "are", "you", "i", "he", "she", "we", "that", "this", "in", "for", "not",
        "on", "with", "to", "it", "hello", "thanks", "yes", "no", "my", "at",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let count = |list: &[&str]| words.iter().filter(|word| list.contains(word)).count();
    let accents = lower.chars().filter(|character| "éèêàçùœîôû".contains(*character)).count();
    if count(FRENCH) + accents > count(ENGLISH) { "fr" } else { "en" }
}

#[cfg(test)]
mod tests {
    use super::guess;

    #[test]
    fn languages_are_told_apart() {
        for (text, language) in [
            ("Bonjour", "fr"),
            ("Le dîner est prêt.", "fr"),
            ("Il est 14h30", "fr"),
            ("Dinner is at 19:30.", "en"),
            ("hello", "en"),
            ("42", "en"),
            ("The café is on the corner", "en"),
        ] {
            assert_eq!(guess(text), language, "{text}");
        }
    }
}

//! What a transcriber writes when nobody spoke.
//!
//! Whisper was trained on subtitles: out of silence and noise it makes their credits and polite endings.

/// Always made up: no person says them to an agent.
const CREDITS: &[&str] = &[
    "sous titrage",
    "sous titres",
    "soustitreur",
    "sous titreur",
    "amara org",
    "subtitles by",
    "subtitled by",
    "captions by",
    "transcription by",
    "thanks for watching",
    "thank you for watching",
    "please subscribe",
    "merci d avoir regardé",
    "abonnez vous",
    "like and subscribe",
];

/// Said by people too, but not to interrupt an agent: as a whole utterance they end nothing.
const POLITE: &[&str] = &[
    "thank you",
    "thank you very much",
    "thanks",
    "you",
    "bye",
    "bye bye",
    "okay",
    "so",
    "the",
    "oh",
    "hmm",
    "mm",
    "uh",
    "um",
    "merci",
    "merci beaucoup",
    "au revoir",
    "euh",
    "ah",
];

/// Whether a whole transcript is nothing that was said: empty, marks and notes such as `[BLANK_AUDIO]` only, or the
/// credits of subtitles.
pub fn is_phantom(text: &str) -> bool {
    let bare = bare(text);
    bare.is_empty() || CREDITS.iter().any(|credit| bare.contains(credit)) && bare.split(' ').count() <= 12
}

/// As [`is_phantom`], for a voice that interrupts: polite endings and hesitations count as nothing too.
pub fn is_phantom_interruption(text: &str) -> bool {
    is_phantom(text) || POLITE.contains(&bare(text).as_str())
}

/// Lower case, words and digits only, without notes in brackets, single spaces.
fn bare(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            c if c.is_alphanumeric() => kept.extend(c.to_lowercase()),
            _ => kept.push(' '),
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_and_notes_are_nothing() {
        for text in
            ["", " . ", "[BLANK_AUDIO]", "(soft music)", "Sous-titrage ST' 501", "Thanks for watching!", "<|nospeech|>"]
        {
            assert!(is_phantom(text), "{text}");
        }
        for text in ["Thank you.", "Stop.", "Quelle heure est-il ?", "42"] {
            assert!(!is_phantom(text), "{text}");
        }
    }

    #[test]
    fn polite_endings_interrupt_nobody() {
        assert!(is_phantom_interruption("Thank you.") && is_phantom_interruption("you"));
        assert!(!is_phantom_interruption("Thank you, stop now") && !is_phantom_interruption("Stop"));
    }
}

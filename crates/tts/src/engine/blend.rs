//! Blends of Kokoro's voices: `af_bella~60+bm_george~40@fr-fr`.
//!
//! A voice is a table of style vectors, and a weighted mean of tables is a voice again, of a speaker that nobody has
//! recorded. So a few dozen voices are as many speakers as a training can use. After `@` stands the language that is
//! spoken; without it that of the first voice.

use crate::TtsError;

/// Voices in a blend at most.
const MOST_VOICES: usize = 4;

/// One voice or several with their shares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Blend {
    /// Names of style files with their shares, which sum to 1.
    pub(crate) voices: Vec<(String, f32)>,
    /// A language of espeak-ng, where one is named.
    pub(crate) language: Option<String>,
}

impl Blend {
    /// Reads `NAME[~SHARE][+NAME[~SHARE]]…[@LANGUAGE]`; shares are whole numbers and relative to each other.
    pub(crate) fn parse(text: &str) -> Result<Self, TtsError> {
        let wrong = |problem: &str| TtsError::Spec(format!("`kokoro:{text}`: {problem}"));
        let (voices, language) = match text.split_once('@') {
            Some((voices, language)) => (voices, Some(language)),
            None => (text, None),
        };
        let name_of = |name: &str| {
            let good = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
            let fits = !name.is_empty() && name.len() <= 64 && !name.starts_with('-') && name.chars().all(good);
            if fits { Ok(name.to_owned()) } else { Err(wrong(&format!("`{name}` is no name of a voice"))) }
        };
        let mut read = Vec::new();
        for part in voices.split('+') {
            let (name, share) = part.split_once('~').unwrap_or((part, "1"));
            let share = share.parse::<u16>().ok().filter(|share| (1..=1000).contains(share));
            let share = share.ok_or_else(|| wrong("a share is a whole number from 1 to 1000, as in a~60+b~40"))?;
            read.push((name_of(name)?, f32::from(share)));
        }
        if read.len() > MOST_VOICES {
            return Err(wrong(&format!("{} voices are too many, {MOST_VOICES} can be blended", read.len())));
        }
        let sum: f32 = read.iter().map(|(_, share)| share).sum();
        read.iter_mut().for_each(|(_, share)| *share /= sum);
        Ok(Self { voices: read, language: language.map(name_of).transpose()? })
    }

    /// The mean of tables of equal length, in the order of the voices.
    pub(crate) fn mean(&self, tables: &[Vec<f32>]) -> Vec<f32> {
        let mut mean = vec![0.0; tables.first().map_or(0, Vec::len)];
        for ((_, share), table) in self.voices.iter().zip(tables) {
            for (sum, value) in mean.iter_mut().zip(table) {
                *sum += share * value;
            }
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_relative_and_the_language_is_apart() {
        let blend = Blend::parse("af_bella~30+bm_george~10@fr-fr").unwrap();
        assert_eq!(blend.voices, [("af_bella".to_owned(), 0.75), ("bm_george".to_owned(), 0.25)]);
        assert_eq!(blend.language.as_deref(), Some("fr-fr"));
        assert_eq!(blend.mean(&[vec![1.0, 0.0], vec![0.0, 2.0]]), [0.75, 0.5]);
        let alone = Blend::parse("ff_siwis").unwrap();
        assert_eq!((alone.voices.len(), alone.language), (1, None));
        assert_eq!(Blend::parse("ff_siwis").unwrap().mean(&[vec![0.3]]), [0.3]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("a~0+b", "whole number"),
            ("a~x", "whole number"),
            ("a++b", "no name of a voice"),
            ("../a+b", "no name of a voice"),
            ("a@", "no name of a voice"),
            ("a@en;rm", "no name of a voice"),
            ("a+b+c+d+e", "too many"),
        ] {
            let message = Blend::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

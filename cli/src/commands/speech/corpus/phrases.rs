//! What was asked to be said, as phrases.

use tenpass_corpus::{Phrase, read_phrases};
use tenpass_speech::commands::{Commands, load_other};

use crate::args::speech::corpus::Said;
use crate::failure::Failure;

/// Languages in which a wake word is said, when none were named.
const LANGUAGES: [&str; 2] = ["en", "fr"];

/// All phrases, in the order of the options; nothing is an error.
pub(super) fn phrases(said: &Said) -> Result<Vec<Phrase>, Failure> {
    let mut all = Vec::new();
    if let Some(word) = &said.wake {
        let languages: Vec<&str> = if said.language.is_empty() {
            LANGUAGES.to_vec()
        } else {
            said.language.iter().map(String::as_str).collect()
        };
        all.extend(languages.into_iter().map(|language| phrase(word, "wake", language)));
    }
    if let Some(path) = &said.commands {
        let commands = Commands::load(path)?;
        let usual = commands.phrases().into_iter().filter(|phrase| phrase.usual || !said.usual);
        let phrases: Vec<Phrase> = usual.map(|said| phrase(&said.text, &said.id, said.language.tag())).collect();
        all.extend(chosen(phrases, said));
    }
    if let Some(path) = &said.others {
        let sentences = load_other(path)?;
        let phrases = sentences.iter().map(|sentence| phrase(&sentence.text, "none", sentence.language.tag()));
        all.extend(chosen(phrases.collect(), said));
    }
    if let Some(path) = &said.phrases {
        all.extend(chosen(read_phrases(path)?, said));
    }
    Ok(all)
}

fn phrase(text: &str, intent: &str, language: &str) -> Phrase {
    Phrase { text: text.to_owned(), intent: intent.to_owned(), language: language.to_owned() }
}

/// The phrases of the languages that were asked for, so many of each.
fn chosen(phrases: Vec<Phrase>, said: &Said) -> Vec<Phrase> {
    let wanted = |phrase: &Phrase| said.language.is_empty() || said.language.contains(&phrase.language);
    let phrases: Vec<Phrase> = phrases.into_iter().filter(wanted).collect();
    let Some(most) = said.most else { return phrases };
    let mut languages: Vec<&str> = phrases.iter().map(|phrase| phrase.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    let even = |language: &str| {
        let own: Vec<&Phrase> = phrases.iter().filter(|phrase| phrase.language == language).collect();
        let count = (most as usize).min(own.len());
        (0..count).map(|index| own[index * own.len() / count].clone()).collect::<Vec<_>>()
    };
    languages.iter().flat_map(|language| even(language)).collect()
}

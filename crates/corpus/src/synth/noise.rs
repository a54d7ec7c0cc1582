//! Clips in which nobody says anything to the program: near silence, coloured noise, a murmur of voices.

use tenpass_audio::augment::{Colour, babble, noise};
use tenpass_audio::{Audio, Random};

use crate::{Clip, Corpus, CorpusError};

/// Levels of silence and noise, in decibels below full scale.
const SILENCE_DBFS: f64 = -72.0;

/// Adds so many clips of silence and noise, each so many seconds long, in turns: a quiet room, white, pink and brown
/// noise, and a murmur of the voices that are in the corpus already. What is there is left alone.
pub fn add_noise(
    corpus: &mut Corpus,
    count: usize,
    seconds: f64,
    rate: u32,
    seed: u64,
    flac: bool,
) -> Result<usize, CorpusError> {
    if !(0.1..=600.0).contains(&seconds) {
        return Err(CorpusError::Unusable(format!("a clip of noise is 0.1 to 600 s long, not {seconds}")));
    }
    let voices = murmurers(corpus, seed)?;
    let form = if flac { "flac" } else { "wav" };
    let mut added = 0;
    for index in 0..count {
        let mut random = Random::named(seed, &format!("noise {index}"));
        let (what, audio) = sound(index, seconds, rate, &voices, &mut random);
        let file = format!("noise/{what}-{index:03}.s{seed}.{form}");
        if corpus.has(&file) {
            continue;
        }
        let intent = if what == "silence" { "silence" } else { "noise" };
        let clip = Clip {
            file,
            intent: intent.to_owned(),
            synthetic: true,
            day: "r0".to_owned(),
            room: "dry".to_owned(),
            ..Clip::default()
        };
        corpus.put(clip, &audio)?;
        added += 1;
    }
    corpus.save()?;
    Ok(added)
}

fn sound(index: usize, seconds: f64, rate: u32, voices: &[Audio], random: &mut Random) -> (&'static str, Audio) {
    let level = random.range(-45.0, -25.0);
    let seed = random.next();
    let (what, mut audio, level) = match index % 5 {
        0 => ("silence", noise(Colour::Pink, seconds, rate, seed), SILENCE_DBFS),
        1 => ("pink", noise(Colour::Pink, seconds, rate, seed), level),
        2 if !voices.is_empty() => ("babble", babble(voices, 6, seconds, rate, seed), level),
        2 | 3 => ("brown", noise(Colour::Brown, seconds, rate, seed), level),
        _ => ("white", noise(Colour::White, seconds, rate, seed), level),
    };
    let gain = 10f64.powf((level - audio.level_dbfs()) / 20.0) as f32;
    audio.samples.iter_mut().for_each(|x| *x *= gain);
    (what, audio)
}

/// Clips to murmur: up to 24 of speech that is no command.
fn murmurers(corpus: &Corpus, seed: u64) -> Result<Vec<Audio>, CorpusError> {
    let mut clips: Vec<&Clip> = corpus
        .clips()
        .iter()
        .filter(|clip| clip.intent == "none" && clip.snr_db.is_none() && clip.wake.is_none())
        .collect();
    clips.sort_by(|a, b| a.file.cmp(&b.file));
    let mut random = Random::named(seed, "murmur");
    let mut chosen = Vec::new();
    while chosen.len() < 24 && !clips.is_empty() {
        chosen.push(corpus.load(clips.swap_remove(random.below(clips.len())))?);
    }
    Ok(chosen)
}

//! Who speaks: the voices of the machine, and blends of them, divided between training, development and test.
//!
//! Where Kokoro is there most words are said by blends of two or three of its voices, each of them a speaker of its own
//! who says the word a few times. A blend is made of voices of one part only, so that no voice of the test has been heard in
//! training, not even as a share. All speakers of Kokoro speak all languages of the plan.

use std::collections::{BTreeMap, BTreeSet};

use tenpass_tts::VoiceInfo;

use super::plan::WakePlan;
use super::sound::Part;
use super::split::{group_of_voice, split};
use crate::network::Random;

/// A blend says the word this often.
pub(super) const WORDS_OF_A_BLEND: usize = 2;
/// Shares of the words: Kokoro's, other voices of quality, flite's. espeak-ng's many have the rest: they hardly sound like
/// people, and a head that must know them, too, knows people less well.
const SHARES: [f64; 3] = [0.86, 0.02, 0.03];
/// Sentences for each word of a voice of quality: where it is trained on, and where false wakes are counted.
const SENTENCES: (f64, f64) = (0.35, 1.0);
/// Sentences of all other voices, which speak in no time, for each word of the plan; and the fewest and the most for each
/// word of theirs. Where false wakes are counted it is half as many again.
const QUICK_SENTENCES: (f64, f64, f64) = (0.6, 2.0, 6.0);
/// A voice of quality or of flite's says the word this often at most, where others can say it too.
const MOST_OF_ONE_VOICE: usize = 24;
/// Shares of the words that blends say, by part.
const PARTS: [(Part, f64); 3] = [(Part::Train, 0.64), (Part::Dev, 0.18), (Part::Test, 0.18)];
/// Languages that blends speak, by the language of the plan.
const SPOKEN: &[(&str, &[&str])] =
    &[("en", &["en-us", "en-gb"]), ("fr", &["fr-fr"]), ("es", &["es"]), ("it", &["it"]), ("pt", &["pt-br"])];

/// One who speaks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Speaker {
    pub(super) info: VoiceInfo,
    /// What is never divided between parts.
    pub(super) group: String,
    pub(super) part: Part,
    /// So often the word.
    pub(super) words: usize,
    /// So many sentences for each word.
    pub(super) sentences: f64,
}

/// What kind of voice it is: Kokoro's, another of quality, flite's, espeak-ng's.
fn class_of(voice: &VoiceInfo) -> usize {
    match voice.engine.as_str() {
        "kokoro" => 0,
        "espeak" => 3,
        "flite" => 2,
        _ => 1,
    }
}

/// The name of a voice of Kokoro's without its language.
fn style_of(spec: &str) -> &str {
    let name = spec.split_once(':').map_or(spec, |(_, name)| name);
    name.split('@').next().unwrap_or(name)
}

/// Everyone who says the word at least once.
pub(super) fn speakers(plan: &WakePlan, voices: &[VoiceInfo]) -> Vec<Speaker> {
    let short = |language: &str| language.split(['-', '_']).next().unwrap_or(language).to_owned();
    let wanted = |voice: &&VoiceInfo| {
        class_of(voice) == 0 || plan.languages.iter().any(|language| short(language) == short(&voice.language))
    };
    let voices: Vec<&VoiceInfo> = voices.iter().filter(wanted).collect();
    let groups: Vec<(String, String)> = voices.iter().map(|voice| group_of_voice(&voice.spec)).collect();
    let parts = split(&groups, plan.seed_of_data);
    let part_of = |spec: &str| parts.get(&group_of_voice(spec).1).copied().unwrap_or(Part::Train);
    let mut all = Vec::new();
    let mut left = plan.synthetic;
    for class in 0..4 {
        let mut members: Vec<&VoiceInfo> = voices.iter().copied().filter(|voice| class_of(voice) == class).collect();
        if members.is_empty() {
            continue;
        }
        members.sort_by(|one, other| one.spec.cmp(&other.spec));
        Random::of(plan.seed_of_data, &["voices", &class.to_string()]).shuffle(&mut members);
        let alone = !voices.iter().any(|voice| class_of(voice) > class);
        let share = SHARES.get(class).copied().unwrap_or(1.0);
        let mut words = if alone { left } else { (plan.synthetic as f64 * share) as usize }.min(left);
        if class == 0 {
            left -= words;
            let mut styles: BTreeMap<Part, BTreeSet<&str>> = BTreeMap::new();
            for voice in &members {
                styles.entry(part_of(&voice.spec)).or_default().insert(style_of(&voice.spec));
            }
            all.extend(blends(plan, &styles, words));
            continue;
        }
        if !alone {
            words = words.min(MOST_OF_ONE_VOICE * members.len());
        }
        left -= words;
        for (at, voice) in members.iter().enumerate() {
            let own = words / members.len() + usize::from(at < words % members.len());
            if own > 0 {
                let (_, group) = group_of_voice(&voice.spec);
                let (info, part) = ((*voice).clone(), part_of(&voice.spec));
                all.push(Speaker { info, group, part, words: own, sentences: 0.0 });
            }
        }
    }
    let quick: usize = all.iter().filter(|one| class_of(&one.info) > 1).map(|one| one.words).sum();
    let (each, fewest, most) = QUICK_SENTENCES;
    let quick = (each * plan.synthetic as f64 / quick.max(1) as f64).clamp(fewest, most);
    for speaker in &mut all {
        let held = speaker.part != Part::Train;
        speaker.sentences = match (class_of(&speaker.info) > 1, held) {
            (false, false) => SENTENCES.0,
            (false, true) => SENTENCES.1,
            (true, false) => quick,
            (true, true) => 1.5 * quick,
        };
    }
    all
}

/// Blends of the voices of each part, `words` words all together.
fn blends(plan: &WakePlan, styles: &BTreeMap<Part, BTreeSet<&str>>, words: usize) -> Vec<Speaker> {
    let mut all = Vec::new();
    let whole: f64 = PARTS.iter().filter(|(part, _)| styles.contains_key(part)).map(|(_, share)| share).sum();
    for (part, share) in PARTS {
        let Some(styles) = styles.get(&part) else { continue };
        let styles: Vec<&str> = styles.iter().copied().collect();
        let count = ((words as f64 * share / whole) as usize).div_ceil(WORDS_OF_A_BLEND);
        all.extend((0..count).map(|at| blend(plan, part, &styles, at)));
    }
    all
}

/// The `at`-th blend of a part: the same however many there are.
fn blend(plan: &WakePlan, part: Part, styles: &[&str], at: usize) -> Speaker {
    let mut random = Random::of(plan.seed_of_data, &["blend", part.name(), &at.to_string()]);
    let mut order = styles.to_vec();
    random.shuffle(&mut order);
    order.truncate(1 + random.below(3));
    let named: Vec<String> = order.iter().map(|style| format!("{style}~{}", 20 + random.below(61))).collect();
    let language = &plan.languages[at % plan.languages.len().max(1)];
    let short = language.split(['-', '_']).next().unwrap_or(language);
    let spoken = SPOKEN.iter().find(|(code, _)| *code == short).map_or(&["en-us"] as &[&str], |(_, spoken)| spoken);
    let spoken = spoken[random.below(spoken.len())];
    let spec = format!("kokoro:{}@{spoken}", named.join("+"));
    Speaker {
        info: VoiceInfo {
            spec: spec.clone(),
            engine: "kokoro".to_owned(),
            language: short.to_owned(),
            rate: 24_000,
            natural: true,
        },
        group: spec,
        part,
        words: WORDS_OF_A_BLEND,
        sentences: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(spec: &str, engine: &str, language: &str) -> VoiceInfo {
        VoiceInfo {
            spec: spec.to_owned(),
            engine: engine.to_owned(),
            language: language.to_owned(),
            rate: 24_000,
            natural: true,
        }
    }

    fn machine() -> Vec<VoiceInfo> {
        let kokoro = (0..15).map(|at| voice(&format!("kokoro:af_{at}"), "kokoro", "en"));
        let espeak = (0..20).map(|at| voice(&format!("espeak:fr-fr+m{at}"), "espeak", "fr"));
        let more = [voice("kokoro:jf_x@en-us", "kokoro", "en"), voice("espeak:de+m1", "espeak", "de")];
        kokoro.chain(espeak).chain(more).collect()
    }

    #[test]
    fn no_voice_of_a_blend_is_in_two_parts() {
        let plan = WakePlan { synthetic: 400, ..WakePlan::new("kora") };
        let all = speakers(&plan, &machine());
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        for speaker in all.iter().filter(|speaker| speaker.info.engine == "kokoro") {
            let (voices, _) = speaker.info.spec["kokoro:".len()..].split_once('@').unwrap();
            for voice in voices.split('+') {
                let name = voice.split('~').next().unwrap().to_owned();
                assert_eq!(*parts.entry(name).or_insert(speaker.part), speaker.part, "{voice}");
            }
        }
        assert!(parts.len() > 12 && parts.contains_key("jf_x"));
        let words = |part, engine: &str| -> usize {
            let of = all.iter().filter(|speaker| speaker.part == part && speaker.info.engine == engine);
            of.map(|speaker| speaker.words).sum()
        };
        assert_eq!(Part::ALL.map(|part| words(part, "kokoro")), [220, 62, 62]);
        assert_eq!(Part::ALL.map(|part| words(part, "espeak")).iter().sum::<usize>(), 56);
        assert!(all.iter().all(|speaker| speaker.info.language != "de"));
        let languages: BTreeSet<&str> = all.iter().map(|speaker| speaker.info.language.as_str()).collect();
        assert_eq!(languages, BTreeSet::from(["en", "fr"]));
    }

    #[test]
    fn more_words_are_said_by_more_and_the_first_stay_the_same() {
        let few = speakers(&WakePlan { synthetic: 100, ..WakePlan::new("kora") }, &machine());
        let many = speakers(&WakePlan { synthetic: 300, ..WakePlan::new("kora") }, &machine());
        assert!(many.len() > few.len());
        let kokoro = |all: &[Speaker]| -> Vec<String> {
            let test = all.iter().filter(|one| one.part == Part::Test && one.info.engine == "kokoro");
            test.map(|one| one.group.clone()).collect()
        };
        assert_eq!(kokoro(&many)[..kokoro(&few).len()], kokoro(&few)[..]);
    }
}

//! What is trained on, chosen with and measured on: whole voices and whole days, never parts of them.

use std::collections::BTreeMap;

use super::sound::Part;
use crate::network::Random;

/// Gives every group its part: of each kind a fifth to development and a fifth to the test, at least one each
/// where a kind has three. A kind with fewer is for training alone: it cannot be tested on itself.
///
/// Groups are given with their kind, such as `espeak` or `day`.
pub(crate) fn split(groups: &[(String, String)], seed: u64) -> BTreeMap<String, Part> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, group) in groups {
        let list = kinds.entry(kind).or_default();
        if !list.contains(&group.as_str()) {
            list.push(group);
        }
    }
    let mut parts = BTreeMap::new();
    for (kind, mut list) in kinds {
        list.sort_unstable();
        Random::of(seed, &["split", kind]).shuffle(&mut list);
        let held = if list.len() < 3 { 0 } else { (list.len() as f64 / 5.0).round().max(1.0) as usize };
        for (at, group) in list.into_iter().enumerate() {
            let part = match at {
                at if at < held => Part::Test,
                at if at < 2 * held => Part::Dev,
                _ => Part::Train,
            };
            parts.insert(group.to_owned(), part);
        }
    }
    parts
}

/// The group of a voice: variants of espeak-ng are the same speaker in every language.
pub(crate) fn group_of_voice(spec: &str) -> (String, String) {
    let engine = spec.split(':').next().unwrap_or(spec).to_owned();
    let group = match spec.split_once('+') {
        Some((_, variant)) if engine == "espeak" => format!("espeak:+{variant}"),
        None if engine == "espeak" => "espeak:plain".to_owned(),
        _ => spec.to_owned(),
    };
    (engine, group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_divided_and_nothing_twice() {
        let mut groups: Vec<(String, String)> =
            (0..20).map(|at| ("espeak".to_owned(), format!("espeak:+v{at}"))).collect();
        groups.extend((0..4).map(|at| ("flite".to_owned(), format!("flite:{at}"))));
        groups.push(("piper".to_owned(), "piper:joe".to_owned()));
        let parts = split(&groups, 5);
        let count = |kind: &str, part| parts.iter().filter(|(group, p)| group.starts_with(kind) && **p == part).count();
        assert_eq!([Part::Train, Part::Dev, Part::Test].map(|part| count("espeak", part)), [12, 4, 4]);
        assert_eq!([Part::Train, Part::Dev, Part::Test].map(|part| count("flite", part)), [2, 1, 1]);
        assert_eq!(count("piper", Part::Train), 1);
        assert_eq!(parts, split(&groups, 5));
        assert_ne!(parts, split(&groups, 6));
    }

    #[test]
    fn a_variant_is_one_speaker_in_every_language() {
        assert_eq!(group_of_voice("espeak:fr-fr+f2"), group_of_voice("espeak:en+f2"));
        assert_ne!(group_of_voice("espeak:en+f3"), group_of_voice("espeak:en+f2"));
        assert_eq!(group_of_voice("kokoro:af_bella"), ("kokoro".into(), "kokoro:af_bella".into()));
    }
}

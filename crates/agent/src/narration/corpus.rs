//! The labelled sentences, and how well the rules do on them.

use super::*;

/// Sentences that the rules were written with.
const CORPUS: &str = include_str!("corpus.tsv");
/// Sentences that they had not met.
const HELD_OUT: &str = include_str!("held_out.tsv");

/// What the rules make of one file and language.
#[derive(Debug, PartialEq)]
struct Measured {
    hits: usize,
    right_silences: usize,
    false_alarms: Vec<&'static str>,
    misses: Vec<&'static str>,
}

fn measured(corpus: &'static str, language: &str) -> Measured {
    let mut measured = Measured { hits: 0, right_silences: 0, false_alarms: Vec::new(), misses: Vec::new() };
    for line in corpus.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let fields: Vec<&'static str> = line.splitn(3, '\t').collect();
        let [label @ ("yes" | "no"), spoken @ ("en" | "fr"), answer] = fields[..] else { panic!("{line}") };
        if spoken != language {
            continue;
        }
        match (label == "yes", is_narrated(answer)) {
            (true, true) => measured.hits += 1,
            (false, false) => measured.right_silences += 1,
            (false, true) => measured.false_alarms.push(answer),
            (true, false) => measured.misses.push(answer),
        }
    }
    measured
}

#[test]
fn precision_and_recall_on_the_sentences_the_rules_were_written_with() {
    let english = measured(CORPUS, "en");
    assert_eq!(english.false_alarms, ["I'm checking out of this discussion: the answer is 42."]);
    assert_eq!((english.hits, english.right_silences, english.misses.len()), (32, 41, 0));
    let french = measured(CORPUS, "fr");
    assert_eq!((french.hits, french.right_silences), (30, 33), "{french:?}");
}

#[test]
fn precision_and_recall_on_sentences_held_out() {
    let english = measured(HELD_OUT, "en");
    assert_eq!(english, Measured { hits: 25, right_silences: 30, false_alarms: vec![], misses: vec![] });
    let french = measured(HELD_OUT, "fr");
    assert_eq!(french, Measured { hits: 20, right_silences: 25, false_alarms: vec![], misses: vec![] });
}

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use tenpass_audio::Audio;

use super::*;
use crate::store::Provenance;

fn prompts(count: usize) -> Vec<BlindPrompt> {
    (0..count).map(|n| BlindPrompt { text: format!("question {n}"), system: None, language: None }).collect()
}

fn session(runs: &Path, specs: &[&str], count: usize) -> Session {
    let candidates =
        specs.iter().map(|spec| Candidate { spec: (*spec).to_owned(), digest: format!("sha256:{spec}") }).collect();
    let new = NewSession {
        title: "which".to_owned(),
        kind: Kind::Text,
        candidates,
        prompts: prompts(count),
        seed: 7,
        replays: true,
        provenance: Provenance::default(),
    };
    let session = Session::create(runs, new).unwrap();
    let mut writer = session.answer_writer().unwrap();
    for (candidate, spec) in specs.iter().enumerate() {
        for prompt in 0..count {
            // The SPEC itself would be taken out of an answer.
            let text = format!("{} says {prompt}{}", spec.replace(':', " "), " more".repeat(candidate));
            session.answer(&mut writer, (prompt, candidate), &text, 10.0, None).unwrap();
        }
    }
    session
}

/// Votes on every open ballot as `choose` says.
fn vote_all(session: &Session, choose: impl Fn(&Shown) -> Choice) {
    while let Some(shown) = session.next().unwrap() {
        session.vote(shown.ballot, choose(&shown), 900, "terminal").unwrap();
    }
}

fn place_of(shown: &Shown, part: &str) -> Choice {
    Choice::Place(shown.answers.iter().position(|answer| answer.text.contains(part)).unwrap())
}

proptest! {
    #[test]
    fn every_place_is_as_frequent_and_replays_come_later(
        prompts in 1_usize..60, candidates in 2_usize..=4, seed: u64
    ) {
        let drawn = ballots(prompts, candidates, REPLAYED, seed);
        prop_assert_eq!(&drawn, &ballots(prompts, candidates, REPLAYED, seed));
        let first: Vec<&Ballot> = drawn.iter().filter(|ballot| ballot.replay_of.is_none()).collect();
        let mut asked: Vec<usize> = first.iter().map(|ballot| ballot.prompt).collect();
        asked.sort_unstable();
        prop_assert_eq!(asked, (0..prompts).collect::<Vec<_>>());
        let block = if candidates == 2 { 2 } else if candidates == 3 { 6 } else { candidates };
        for whole in first.chunks_exact(block) {
            for place in 0..candidates {
                let mut counts = vec![0; candidates];
                whole.iter().for_each(|ballot| counts[ballot.order[place]] += 1);
                prop_assert!(counts.iter().all(|count| *count == block / candidates), "{:?}", counts);
            }
        }
        let replays: Vec<(usize, &Ballot)> = drawn.iter().enumerate().filter(|(_, one)| one.replay_of.is_some()).collect();
        let expected = if prompts > 1 { ((prompts as f64 * REPLAYED).round() as usize).max(1) } else { 0 };
        prop_assert_eq!(replays.len(), expected);
        for (place, ballot) in replays {
            let before = ballot.replay_of.unwrap();
            prop_assert!(before < place);
            prop_assert!(drawn[before].replay_of.is_none());
            prop_assert_eq!(drawn[before].prompt, ballot.prompt);
            prop_assert!(drawn[before].order.iter().zip(&ballot.order).all(|(a, b)| a != b));
            // With so few ballots there may be nothing to put between.
            prop_assert!(prompts < 6 || before + 1 < place);
        }
    }
}

#[test]
fn a_choice_reads_as_it_is_written() {
    for choice in [Choice::Place(0), Choice::Place(3), Choice::Tie, Choice::AllBad] {
        assert_eq!(choice.to_string().parse::<Choice>().unwrap(), choice);
        let json = serde_json::to_string(&choice).unwrap();
        assert_eq!(serde_json::from_str::<Choice>(&json).unwrap(), choice);
    }
    assert_eq!("right".parse::<Choice>().unwrap(), Choice::Place(1));
    assert_eq!("both_bad".parse::<Choice>().unwrap(), Choice::AllBad);
    assert!("maybe".parse::<Choice>().is_err() && "".parse::<Choice>().is_err());
}

#[test]
fn answers_do_not_say_whose_they_are() {
    let specs = ["embedded:smollm2-135m", "ollama:gemma3:12b", "ollama@http://127.0.0.1:1/qwen3:4b-instruct"];
    let strip = |text: &str| strip_names(text, &specs);
    assert_eq!(
        strip("I am Qwen, a large model made by Alibaba Cloud."),
        "I am [model], a large model made by [model]."
    );
    assert_eq!(strip("Je suis Mistral, un assistant."), "Je suis [model], un assistant.");
    assert_eq!(strip("En tant que modèle de langage ChatGPT, je…"), "En tant que modèle de langage [model], je…");
    assert_eq!(strip("SmolLM2 here."), "[model] here.");
    assert_eq!(strip("Gemma3 can do that."), "[model] can do that.");
    // About others one may speak.
    let about = "Google was founded in 1998; Claude Monet painted; ask for a small instruct manual.";
    assert_eq!(strip(about), about);
}

#[test]
fn names_are_sealed_until_every_ballot_is_voted() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &["replay:a", "replay:b"], 12);
    let shown = session.next().unwrap().unwrap();
    assert_eq!((shown.ballot, shown.of, shown.answers.len()), (0, 14, 2));
    assert!(matches!(session.outcome(false), Err(BlindError::NotDone { voted: 0, of: 14 })));
    vote_all(&session, |shown| place_of(shown, "replay b"));
    let outcome = session.outcome(false).unwrap();
    assert_eq!((outcome.standings[0].candidate.as_str(), outcome.standings[0].picked), ("replay:b", 12));
    assert_eq!(outcome.verdict, Verdict::Preferred);
    assert!((outcome.pairs[0].p - 2.0 / 4096.0).abs() < 1e-9, "{:?}", outcome.pairs);
    assert_eq!((outcome.consistency.0, outcome.consistency.1), (2, 2));
    // b always says more: the check of lengths says so, too.
    assert_eq!((outcome.length.longest_picked, outcome.length.of), (12, 12));
    assert_eq!(outcome.needed, Some((10, 12)));
    // Each candidate stood six times on the left, and the replays are swapped.
    assert_eq!(outcome.position.picked.iter().sum::<u32>(), 14);
    assert!(matches!(session.vote(0, Choice::Tie, 1, "page"), Err(BlindError::Revealed(_))));
}

#[test]
fn who_always_picks_the_left_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &["replay:a", "replay:b"], 20);
    vote_all(&session, |_| Choice::Place(0));
    let outcome = session.outcome(false).unwrap();
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert_eq!(outcome.position.picked, [23, 0]);
    assert!(outcome.position.p.unwrap() < 1e-5);
    assert_eq!((outcome.consistency.0, outcome.consistency.1), (0, 3));
    assert_eq!(outcome.standings.iter().map(|one| one.picked).collect::<Vec<_>>(), [10, 10]);
}

#[test]
fn an_early_look_needs_the_e_value_and_ends_the_voting() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &["replay:a", "replay:b"], 12);
    for _ in 0..6 {
        let shown = session.next().unwrap().unwrap();
        session.vote(shown.ballot, place_of(&shown, "replay a"), 5, "page").unwrap();
    }
    let outcome = session.outcome(true).unwrap();
    // 6 of 6 is p = 0.03 at a planned end; looked at whenever one likes it is e = 9.
    assert!(outcome.early && outcome.pairs[0].p < 0.05 && outcome.pairs[0].e_value < 20.0);
    assert_eq!(outcome.verdict, Verdict::NotProven);
    assert!(matches!(session.vote(7, Choice::Tie, 1, "page"), Err(BlindError::Revealed(_))));
}

#[test]
fn three_are_judged_together_and_by_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &["replay:a", "replay:b", "replay:c"], 12);
    vote_all(&session, |shown| match shown.ballot % 4 {
        0 => place_of(shown, "replay b"),
        _ => place_of(shown, "replay c"),
    });
    let outcome = session.outcome(false).unwrap();
    let picked: BTreeMap<&str, u32> =
        outcome.standings.iter().map(|one| (one.candidate.as_str(), one.picked)).collect();
    assert_eq!(picked.values().sum::<u32>(), 12);
    assert_eq!(picked["replay:a"], 0);
    assert_eq!(outcome.pairs.len(), 3);
    assert!(outcome.p_any.unwrap() < 0.05);
    assert_eq!(outcome.verdict == Verdict::Preferred, picked["replay:c"] >= 9, "nine of twelve are needed");
    assert!(outcome.needed.is_none());
}

#[test]
fn a_vote_may_be_changed_and_nonsense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), &["replay:a", "replay:b"], 3);
    session.vote(0, Choice::Tie, 5, "page").unwrap();
    session.vote(0, Choice::AllBad, 5, "page").unwrap();
    assert_eq!(session.progress().unwrap(), (1, 4));
    assert_eq!(session.votes().unwrap()[0].choice, Choice::AllBad);
    assert!(matches!(session.vote(0, Choice::Place(2), 5, "page"), Err(BlindError::Unknown(_))));
    assert!(matches!(session.vote(9, Choice::Tie, 5, "page"), Err(BlindError::Unknown(_))));
}

#[test]
fn a_session_without_all_answers_is_not_voted() {
    let folder = tempfile::tempdir().unwrap();
    let candidates: Vec<Candidate> =
        ["a", "b"].iter().map(|spec| Candidate { spec: (*spec).to_owned(), digest: String::new() }).collect();
    let new = |candidates| NewSession {
        title: String::new(),
        kind: Kind::Text,
        candidates,
        prompts: prompts(2),
        seed: 1,
        replays: false,
        provenance: Provenance::default(),
    };
    let session = Session::create(folder.path(), new(candidates.clone())).unwrap();
    assert!(matches!(session.next(), Err(BlindError::NotReady { have: 0, of: 4, .. })));
    let mut writer = session.answer_writer().unwrap();
    session.answer(&mut writer, (1, 0), "x", 1.0, None).unwrap();
    let found = Session::find(folder.path(), "latest").unwrap();
    assert_eq!(found.unanswered(0).unwrap(), [0]);
    assert_eq!(found.unanswered(1).unwrap(), [0, 1]);
    let twice = vec![candidates[0].clone(), candidates[0].clone()];
    assert!(matches!(Session::create(folder.path(), new(twice)), Err(BlindError::Plan(_))));
}

#[test]
fn prompts_are_read_from_text_and_toml_and_mistakes_have_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let read = read_prompts(&file("a.txt", "# a comment\nOne?\n\n  Deux ?  \n")).unwrap();
    assert_eq!(read.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>(), ["One?", "Deux ?"]);
    let toml = "[[prompt]]\ntext = \"One?\"\nlanguage = \"en\"\n[[prompt]]\ntext = \"Two?\"\nsystem = \"Be short.\"\n";
    assert_eq!(read_prompts(&file("a.toml", toml)).unwrap()[1].system.as_deref(), Some("Be short."));
    let wrong = |name: &str, text: &str| read_prompts(&file(name, text)).unwrap_err().to_string();
    assert!(wrong("b.txt", "One?\nTwo?\nOne?\n").contains("line 3: prompt 3 is the same as prompt 1"));
    assert!(wrong("b.toml", "[[prompt]]\ntext = \"x\"\ntone = 1\n").contains("line 3"));
    assert!(wrong("c.txt", "# nothing\n").contains("0 prompts"));
    assert!(read_prompts(&folder.path().join("none.txt")).is_err());
}

#[test]
fn sounds_come_to_one_loudness_without_clipping() {
    let tone = |gain: f32, seconds: f32| {
        let samples = (0..(16_000.0 * seconds) as usize).map(|n| gain * (n as f32 * 0.17).sin()).collect();
        Audio::new(samples, 16_000)
    };
    let level = |sound: &Audio| sound.level_dbfs();
    let mut sounds = vec![tone(0.9, 1.0), tone(0.01, 2.0), tone(0.2, 0.2)];
    at_equal_loudness(&mut sounds).unwrap();
    assert!((level(&sounds[0]) - level(&sounds[1])).abs() < 0.3);
    assert!((level(&sounds[0]) - level(&sounds[2])).abs() < 0.3);
    // One with a single high peak lowers all of them, so that none is cut off.
    let mut peaked = tone(0.01, 1.0);
    peaked.samples[800] = 0.9;
    let mut sounds = vec![peaked, tone(0.5, 1.0)];
    at_equal_loudness(&mut sounds).unwrap();
    assert!(sounds.iter().flat_map(|sound| &sound.samples).all(|sample| sample.abs() <= 0.9));
    assert_eq!(
        at_equal_loudness(&mut [tone(0.5, 1.0), Audio::new(vec![0.0; 9_000], 16_000)]),
        Err(SoundError::Silent(1))
    );
}

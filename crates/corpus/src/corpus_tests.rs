//! Growing, freezing, noticing.

use std::path::Path;

use tenpass_audio::Audio;
use tenpass_audio::augment::{Colour, noise};

use crate::{Clip, Corpus, CorpusError, Difference};

fn clip(file: &str) -> Clip {
    Clip { file: file.to_owned(), intent: "none".to_owned(), text: "hello".to_owned(), ..Clip::default() }
}

fn sound(seed: u64) -> Audio {
    noise(Colour::Pink, 0.5, 16_000, seed)
}

fn frozen(folder: &Path) -> Corpus {
    let mut corpus = Corpus::create(folder, "small", "for tests", "CC0-1.0").unwrap();
    for (seed, file) in ["b/x.flac", "a.wav", "c.flac"].iter().enumerate() {
        corpus.add(clip(file), &sound(seed as u64)).unwrap();
    }
    let now = "2026-11-30T12:00:00.123Z".parse().unwrap();
    assert_eq!(corpus.freeze(now).unwrap(), []);
    Corpus::open(folder).unwrap()
}

#[test]
fn what_is_put_in_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("small");
    let corpus = frozen(&place);
    assert_eq!(corpus.manifest().frozen.as_deref(), Some("2026-11-30T12:00:00Z"));
    let files: Vec<&str> = corpus.clips().iter().map(|clip| clip.file.as_str()).collect();
    assert_eq!(files, ["a.wav", "b/x.flac", "c.flac"]);
    let audio = corpus.load(&corpus.clips()[1]).unwrap();
    assert_eq!(audio.to_i16(), sound(0).to_i16());
    assert_eq!(corpus.clips()[1].seconds, 0.5);
    let summary = corpus.summary();
    assert_eq!((summary.clips, summary.none, summary.commands), (3, 3, 0));
    assert_eq!(crate::folders(folder.path()).unwrap(), [place]);
}

#[test]
fn a_frozen_corpus_does_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let mut corpus = frozen(folder.path());
    let error = corpus.add(clip("d.wav"), &sound(9)).unwrap_err();
    assert_eq!(error.to_string(), "the corpus small was frozen on 2026-11-30 and cannot be changed");
    assert!(matches!(corpus.freeze(jiff::Timestamp::UNIX_EPOCH), Err(CorpusError::Frozen { .. })));
    assert!(!folder.path().join("d.wav").exists());
}

#[test]
fn every_difference_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = frozen(folder.path());
    let at = |file: &str| folder.path().join(file);
    // One bit.
    let mut bytes = std::fs::read(at("a.wav")).unwrap();
    bytes[100] ^= 1;
    std::fs::write(at("a.wav"), &bytes).unwrap();
    std::fs::remove_file(at("c.flac")).unwrap();
    std::fs::write(at("b/new.wav"), b"").unwrap();
    std::fs::write(at("README.md"), b"words").unwrap();
    let found: Vec<(String, Difference)> =
        corpus.verify().unwrap().into_iter().map(|finding| (finding.file, finding.difference)).collect();
    let expected =
        [("a.wav", Difference::Changed), ("c.flac", Difference::Missing), ("b/new.wav", Difference::Surplus)];
    assert_eq!(found, expected.map(|(file, difference)| (file.to_owned(), difference)));
    assert!(matches!(corpus.load(&corpus.clips()[0]), Err(CorpusError::Changed { .. })));
}

#[test]
fn a_changed_manifest_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    frozen(folder.path());
    let path = folder.path().join("corpus.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let check = |from: &str, to: &str| {
        assert!(text.contains(from));
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        Corpus::open(folder.path()).unwrap().verify().unwrap()
    };
    let findings = check("text = \"hello\"", "text = \"goodbye\"");
    assert!(findings.len() == 1 && findings[0].difference == Difference::Manifest, "{findings:?}");
    // The description is nobody's truth.
    assert_eq!(check("for tests", "for more tests"), []);
    let findings = check("seconds = 0.5", "seconds = 0.6");
    assert!(
        findings.iter().any(|finding| finding.problem == "is 0.5000 s long, 0.6000 s says corpus.toml"),
        "{findings:?}"
    );
    assert_eq!(check("digest = \"", "#digest = \"")[0].difference, Difference::Manifest);
}

#[test]
fn manifests_that_lie_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let head = "format = 1\nname = \"x\"\ndescription = \"\"\nlicence = \"\"\n";
    let refused = |text: &str| {
        std::fs::write(folder.path().join("corpus.toml"), text).unwrap();
        Corpus::open(folder.path()).unwrap_err().to_string()
    };
    assert!(refused("format = 2\nname = \"x\"\ndescription = \"\"\nlicence = \"\"").contains("format 2"));
    assert!(refused("nonsense").contains("corpus.toml"));
    for (file, words) in [
        ("../x.wav", "no path inside"),
        ("/etc/x.wav", "no path inside"),
        ("a\\\\b.wav", "no path inside"),
        ("a.mp3", "must end in .wav or .flac"),
    ] {
        let text = refused(&format!("{head}[[clip]]\nfile = \"{file}\"\nintent = \"none\"\n"));
        assert!(text.contains(words), "{text}");
    }
    assert!(refused(&format!("{head}[[clip]]\nfile = \"a.wav\"\n")).contains("no intent"));
    assert!(
        refused(&format!("{head}[[clip]]\nfile = \"a.wav\"\nintent = \"none\"\nword_end_s = nan\n"))
            .contains("word_end_s")
    );
    let twice = "[[clip]]\nfile = \"a.wav\"\nintent = \"none\"\n".repeat(2);
    assert!(refused(&format!("{head}{twice}")).contains("listed twice"));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Corpus::open(empty.path()), Err(CorpusError::None(_))));
    assert!(matches!(Corpus::create(folder.path(), "x", "", ""), Err(CorpusError::Occupied(_))));
    assert!(Corpus::create(empty.path(), "Not A Name", "", "").is_err());
}

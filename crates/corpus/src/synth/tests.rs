//! With a voice that is known to be a fake: it hums, so that every time in a clip can be foreseen.

use tenpass_tts::{TtsError, VoiceInfo};

use super::*;

/// Hums 60 ms a letter between silence of 0.2 s; cannot say "x".
struct Hum {
    info: VoiceInfo,
    hertz: f32,
}

impl Hum {
    fn boxed(name: &str, language: &str, hertz: f32) -> Box<dyn Voice> {
        let info = VoiceInfo {
            spec: format!("fake:{name}"),
            engine: "fake".to_owned(),
            language: language.to_owned(),
            rate: 22_050,
            natural: false,
        };
        Box::new(Self { info, hertz })
    }
}

impl Voice for Hum {
    fn info(&self) -> &VoiceInfo {
        &self.info
    }

    fn speak_until(&self, text: &str, options: &SpeakOptions, _: &tenpass_tts::Cancel) -> Result<Audio, TtsError> {
        if text == "x" {
            return Err(TtsError::Input("x cannot be hummed".to_owned()));
        }
        let count = (text.chars().count() as f32 * 0.06 * 22_050.0 / options.speed) as usize;
        let mut samples = vec![0.0; 4_410];
        samples.extend((0..count).map(|n| 0.3 * (n as f32 * self.hertz * std::f32::consts::TAU / 22_050.0).sin()));
        samples.extend(vec![0.0; 4_410]);
        Ok(Audio::new(samples, 22_050))
    }
}

fn voices() -> Vec<Box<dyn Voice>> {
    vec![Hum::boxed("low", "en", 120.0), Hum::boxed("high", "en", 240.0), Hum::boxed("fr", "fr", 180.0)]
}

fn phrase(text: &str, intent: &str, language: &str) -> Phrase {
    Phrase { text: text.to_owned(), intent: intent.to_owned(), language: language.to_owned() }
}

fn phrases() -> Vec<Phrase> {
    vec![
        phrase("open the door", "door", "en"),
        phrase("ouvre la porte", "door", "fr"),
        phrase("kora", "wake", "en"),
        phrase("such is life", "none", "en"),
    ]
}

fn made_in(
    folder: &std::path::Path,
    plan: &SynthPlan,
    progress: &mut dyn FnMut(&SynthEvent) -> bool,
) -> (Corpus, SynthReport) {
    let mut corpus = Corpus::open(folder).or_else(|_| Corpus::create(folder, "test", "a test", "CC0-1.0")).unwrap();
    let report = synth(&mut corpus, plan, &voices(), &phrases(), progress).unwrap();
    (Corpus::open(corpus.folder()).unwrap(), report)
}

#[test]
fn the_size_is_known_before() {
    let folder = tempfile::tempdir().unwrap();
    let plan = SynthPlan { wake: Some("Kora".to_owned()), rounds: 2, ..SynthPlan::default() };
    let corpus = Corpus::create(folder.path(), "test", "a test", "CC0-1.0").unwrap();
    let size = synth_size(&corpus, &plan, &voices(), &phrases());
    assert_eq!((size.clips, size.before), (21, 0));
    // Seven dry texts by their voices: each with two pauses around it, and a wake word before all but itself.
    assert!((30.0..90.0).contains(&size.seconds), "{}", size.seconds);
    let (corpus, report) = made_in(folder.path(), &plan, &mut |_| true);
    assert_eq!(report.written, size.clips);
    let after = synth_size(&corpus, &plan, &voices(), &phrases());
    assert_eq!((after.clips, after.before, after.seconds), (21, 21, 0.0));
    let wav = SynthPlan { flac: false, rounds: 0, ..plan };
    let size = synth_size(&corpus, &wav, &voices(), &phrases());
    assert_eq!((size.clips, size.before, size.bytes), (7, 0, size.seconds * 32_000.0));
}

#[test]
fn times_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let plan = SynthPlan { wake: Some("Kora".to_owned()), rounds: 2, ..SynthPlan::default() };
    let (corpus, report) = made_in(folder.path(), &plan, &mut |_| true);
    assert_eq!((report.written, corpus.clips().len(), report.failed.len()), (21, 21, 0));
    assert_eq!(corpus.verify().unwrap(), []);
    for clip in corpus.clips().iter().filter(|clip| clip.day == "r0") {
        let audio = corpus.load(clip).unwrap();
        let (begin, end) = tenpass_audio::voiced(&audio).unwrap();
        let seconds = |sample: usize| sample as f64 / 16_000.0;
        assert!((seconds(end) - clip.speech_end_s.unwrap()).abs() < 0.004, "{clip:?} {}", seconds(end));
        assert_eq!(clip.wake.as_deref(), Some("kora"));
        // Four letters of 60 ms.
        let word = clip.word_end_s.unwrap() - seconds(begin);
        assert!((word - 0.24).abs() < 0.006, "{clip:?}: {word}");
        let after = (clip.word_end_s.unwrap() * 16_000.0) as usize;
        let quiet = &audio.samples[after + 480..after + 2_400];
        assert!(quiet.iter().all(|x| x.abs() < 1e-3), "{clip:?}");
    }
    assert!(corpus.clips().iter().any(|clip| clip.snr_db.is_some() && clip.day == "r2"));
    assert!(
        corpus
            .clips()
            .iter()
            .all(|clip| clip.synthetic && (clip.day == "r0") == (clip.room == "dry" && clip.snr_db.is_none())
                || clip.day != "r0")
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_an_interruption_changes_nothing() {
    let plan = SynthPlan { rounds: 2, ..SynthPlan::default() };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (whole, _) = made_in(first.path(), &plan, &mut |_| true);
    // Stopped after five clips, then in one job at a time.
    let mut count = 0;
    made_in(second.path(), &plan, &mut |event| {
        count += usize::from(matches!(event, SynthEvent::Clip { .. }));
        count < 5
    });
    let slow = SynthPlan { jobs: 1, ..plan.clone() };
    let mut started = None;
    let (resumed, report) = made_in(second.path(), &slow, &mut |event| {
        if let SynthEvent::Started { total, before } = event {
            started = Some((*total, *before));
        }
        true
    });
    assert_eq!((report.before, report.written, started), (5, 16, Some((21, 5))));
    assert_eq!(whole.hash(), resumed.hash());
    let third = tempfile::tempdir().unwrap();
    let (other, _) = made_in(third.path(), &SynthPlan { seed: 2, ..plan }, &mut |_| true);
    assert_ne!(whole.hash(), other.hash());
}

#[test]
fn voices_take_turns_and_failures_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut corpus = Corpus::create(folder.path(), "test", "a test", "CC0-1.0").unwrap();
    let plan = SynthPlan { voices_per_phrase: Some(1), ..SynthPlan::default() };
    let mut all: Vec<Phrase> = ["one", "two", "three", "four", "x"].map(|text| phrase(text, "none", "en")).to_vec();
    all.push(phrase("eins", "none", "de"));
    let report = synth(&mut corpus, &plan, &voices(), &all, &mut |_| true).unwrap();
    let low = corpus.clips().iter().filter(|clip| clip.voice == "fake:low").count();
    assert_eq!((low, corpus.clips().len()), (2, 4));
    assert_eq!(report.failed, [("fake:low".to_owned(), "x".to_owned(), "x cannot be hummed".to_owned())]);
    assert_eq!(report.voiceless, ["eins"]);
    let only = tempfile::tempdir().unwrap();
    let mut corpus = Corpus::create(only.path(), "test", "a test", "CC0-1.0").unwrap();
    let error = synth(&mut corpus, &plan, &voices(), &all[4..5], &mut |_| true).unwrap_err();
    assert!(error.to_string().contains("x cannot be hummed"), "{error}");
}

#[test]
fn noise_is_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut corpus, _) = made_in(folder.path(), &SynthPlan::default(), &mut |_| true);
    assert_eq!(add_noise(&mut corpus, 5, 1.0, 16_000, 3, true).unwrap(), 5);
    assert_eq!(add_noise(&mut corpus, 5, 1.0, 16_000, 3, true).unwrap(), 0);
    let of = |intent: &str| corpus.clips().iter().filter(|clip| clip.intent == intent).count();
    assert_eq!((of("silence"), of("noise")), (1, 4));
    assert!(corpus.has("noise/babble-002.s3.flac"));
    assert_eq!(corpus.verify().unwrap(), []);
    assert!(add_noise(&mut corpus, 1, 0.0, 16_000, 3, true).is_err());
}

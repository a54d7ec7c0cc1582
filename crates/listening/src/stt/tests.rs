//! The bench with a scripted engine: what it asks, keeps, resumes and scores. Real engines are in the end-to-end
//! tests.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tenpass_audio::Audio;
use tenpass_corpus::{Clip, Corpus};
use tenpass_speech::commands::Commands;
use tenpass_stt::{Decoding, EngineInfo, Segment, Sound, SttError, Transcriber, Transcript};

use super::*;
use crate::store::SpeechRun;

const COMMANDS: &str = r#"
format = 1
[wake]
word = "Kora"
[matching]
short = 0.16
medium = 0.2
long = 0.24
margin = 0.12
[[command]]
id = "line-read"
axis = "line"
en = ["read {number}"]
fr = ["lis {number}"]
[[command]]
id = "view-mail"
axis = "view"
en = ["mailbox"]
fr = ["courrier"]
"#;

const PROMPTS: &str = r#"
format = 1
[[prompt]]
id = "none"
[[prompt]]
id = "sentences"
leave_out = true
en = { sentences = ["{wake}, read number four.", "{wake}, my calendar."], terms = ["{wake}", "mailbox"] }
"#;

/// Says what a script says for the length of the sound, and remembers what it was asked.
struct Scripted {
    info: EngineInfo,
    texts: Vec<(f64, &'static str, &'static str)>,
    asked: Mutex<Vec<Decoding>>,
}

impl Scripted {
    fn new(texts: &[(f64, &'static str, &'static str)], multilingual: bool) -> Self {
        let info = EngineInfo {
            spec: "script".to_owned(),
            engine: "script".to_owned(),
            model: "script".to_owned(),
            digest: "0".to_owned(),
            quantisation: "none".to_owned(),
            multilingual,
        };
        Self { info, texts: texts.to_vec(), asked: Mutex::default() }
    }
}

impl Transcriber for Scripted {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn transcribe(&self, audio: &Audio, decoding: &Decoding) -> Result<Transcript, SttError> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(decoding.clone());
        let (_, plain, prompted) = self.texts.iter().find(|(s, ..)| (s - audio.seconds()).abs() < 0.01).unwrap();
        let text = if decoding.prompt.is_some() { prompted } else { plain };
        if *text == "!" {
            return Err(SttError::Input("too short".to_owned()));
        }
        let temperature = if decoding.fallback { 0.4 } else { 0.0 };
        let segment = Segment {
            start_s: 0.0,
            end_s: 1.0,
            text: (*text).to_owned(),
            log_probability: -0.3,
            no_speech: 0.1,
            temperature,
        };
        let segments = if text.is_empty() { Vec::new() } else { vec![segment] };
        Ok(Transcript { language: "en".to_owned(), segments, audio_s: audio.seconds(), total_ms: 10.0 })
    }

    fn transcribe_stream(
        &self,
        _sound: &mut dyn Sound,
        _decoding: &Decoding,
        _heard: &mut dyn FnMut(&Segment),
    ) -> Result<Transcript, SttError> {
        Err(SttError::Input("the bench hears whole clips".to_owned()))
    }
}

fn commands() -> Commands {
    Commands::parse(Path::new("commands.toml"), COMMANDS).unwrap()
}

fn prompts() -> Prompts {
    Prompts::parse(Path::new("stt.toml"), PROMPTS, "Kora").unwrap()
}

/// Clips are told apart by their length: 0.2 s, 0.3 s …
fn corpus(folder: &Path) -> Corpus {
    let mut corpus = Corpus::create(folder, "tiny", "for a test", "CC0-1.0").unwrap();
    let clips = [
        ("a", "Kora, read three.", "line-read", "en"),
        ("b", "Kora, mailbox.", "view-mail", "en"),
        ("c", "The cat sleeps.", "none", "en"),
        ("d", "", "silence", ""),
        ("e", "Kora, courrier.", "view-mail", "fr"),
    ];
    for (index, (file, text, intent, language)) in clips.into_iter().enumerate() {
        let clip = Clip {
            file: format!("{file}.wav"),
            text: text.to_owned(),
            intent: intent.to_owned(),
            language: language.to_owned(),
            voice: "test".to_owned(),
            synthetic: index % 2 == 0,
            day: "r1".to_owned(),
            room: "dry".to_owned(),
            ..Clip::default()
        };
        let samples = vec![0.1; 3_200 + index * 1_600];
        corpus.add(clip, &Audio::new(samples, 16_000)).unwrap();
    }
    corpus
}

const TEXTS: [(f64, &str, &str); 5] = [
    (0.2, "Cora, read tree.", "Kora, read 3"),
    (0.3, "Kora, read 9.", "Kora, mailbox."),
    (0.4, "The cat sleeps.", "Kora, mailbox"),
    (0.5, "", "read number four"),
    (0.6, "Quoi ?", "Kora, courrier."),
];

struct Bench {
    corpus: Corpus,
    commands: Commands,
    prompts: Prompts,
    arms: Vec<Arm>,
    run: SpeechRun,
    engine: Scripted,
    stop: AtomicBool,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(styles: &[Style], multilingual: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ids: Vec<String> = prompts().list.iter().map(|prompt| prompt.id.clone()).collect();
        Self {
            corpus: corpus(&folder.path().join("corpus")),
            commands: commands(),
            prompts: prompts(),
            arms: arms(&["script".to_owned()], &ids, styles),
            run: SpeechRun::create(&folder.path().join("runs"), "stt", |_| {}).unwrap(),
            engine: Scripted::new(&TEXTS, multilingual),
            stop: AtomicBool::new(false),
            _folder: folder,
        }
    }

    fn go(&self, passes: u32, on: &mut dyn FnMut(Event<'_>)) -> Stopped {
        let plan = Plan {
            corpus: &self.corpus,
            clips: self.corpus.clips(),
            arms: &self.arms,
            prompts: &self.prompts,
            commands: &self.commands,
            passes,
            threads: 1,
            stop: &self.stop,
        };
        let mut load = |_: &str| -> Result<&dyn Transcriber, RunError> { Ok(&self.engine) };
        run(&plan, &self.run, &mut load, on).unwrap()
    }

    fn missing(&self, passes: u32, english: &[String]) -> usize {
        missing(&self.arms, self.corpus.clips(), passes, english, &self.run.passes().unwrap())
    }

    fn summary(&self) -> Summary {
        let passes = self.run.passes::<SttPass>().unwrap();
        let scored = score(&self.arms, self.corpus.clips(), &passes, &self.prompts, &self.commands);
        summarise(&self.arms, &scored, 0.05, 1)
    }
}

#[test]
fn every_outcome_is_kept_apart() {
    let bench = Bench::new(&[Style::Greedy], true);
    assert_eq!(bench.go(1, &mut |_| {}), Stopped::Finished);
    let summary = bench.summary();
    let (none, sentences) = (&summary.arms[0], &summary.arms[1]);
    // "read tree" is no command; "read 9" is another one; "Quoi ?" is none.
    assert_eq!((none.understood.hits, none.understood.of), (0.0, 3));
    assert_eq!((none.wrong_command, none.no_command, none.empty), (1.0, 2.0, 0.0));
    assert_eq!((none.false_commands.hits, none.hallucinated.hits, none.echoes), (0.0, 0.0, 0));
    assert_eq!(sentences.understood.hits, 3.0);
    assert_eq!((sentences.synthetic.of, sentences.real.of), (2, 1));
    assert_eq!((sentences.false_commands.hits, sentences.hallucinated.hits, sentences.echoes), (1.0, 1.0, 1));
    let found = sentences.comparison.as_ref().unwrap();
    // Three commands that changed for the better are too few to prove it.
    assert_eq!((found.clips, found.commands, found.only_after), (3, 3, 3));
    assert_eq!(found.verdict, Judgement::Inconclusive);
    assert!(none.comparison.is_none());
}

#[test]
fn a_command_is_asked_with_a_prompt_that_leaves_it_out() {
    let bench = Bench::new(&[Style::Greedy], true);
    bench.go(1, &mut |_| {});
    let asked = bench.engine.asked.lock().unwrap();
    let prompted: Vec<&str> = asked.iter().filter_map(|decoding| decoding.prompt.as_deref()).collect();
    assert_eq!(prompted[0], "Kora, my calendar. Kora, mailbox.");
    assert_eq!(prompted[1], "Kora, read number four. Kora, my calendar. Kora.");
    assert_eq!(prompted[2], "Kora, read number four. Kora, my calendar. Kora, mailbox.");
    assert!(asked.iter().all(|decoding| decoding.beams == 1 && !decoding.fallback && decoding.gate));
    assert_eq!(asked.iter().filter(|decoding| decoding.language.as_deref() == Some("fr")).count(), 2);
}

#[test]
fn prompts_that_hold_the_answers_are_refused() {
    let bench = Bench::new(&[Style::Greedy], true);
    bench.prompts.check(bench.corpus.clips(), &bench.commands).unwrap();
    let open = PROMPTS.replace("leave_out = true", "leave_out = false");
    let open = Prompts::parse(Path::new("stt.toml"), &open, "Kora").unwrap();
    let error = open.check(bench.corpus.clips(), &bench.commands).unwrap_err();
    assert!(error.to_string().contains("\"mailbox\" of b.wav"), "{error}");
    assert!(error.hint().contains("leave_out"));
    for (text, part) in [
        ("format = 2\nprompt = []", "format 2"),
        ("format = 1\nprompt = []", "no [[prompt]]"),
        ("format = 1\n[[prompt]]\nid = \"a\"\n[[prompt]]\nid = \"a\"", "line 5: a is there twice"),
        ("format = 1\n[[prompt]]\nid = \"a\"\nenglish = {}", "no language"),
        ("format = 1\n[[prompt]]\nid = \"A\"", "no id"),
    ] {
        let error = Prompts::parse(Path::new("p.toml"), text, "Kora").unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let bench = Bench::new(&[Style::Greedy], true);
    let mut seen = 0;
    let stopped = bench.go(1, &mut |event| {
        if matches!(event, Event::Done(_)) {
            seen += 1;
            bench.stop.store(seen == 3, Ordering::Relaxed);
        }
    });
    assert_eq!((stopped, bench.run.passes::<SttPass>().unwrap().len()), (Stopped::Early, 3));
    assert_eq!(bench.missing(1, &[]), 7);
    bench.stop.store(false, Ordering::Relaxed);
    let mut totals = Vec::new();
    let end = bench.go(1, &mut |event| {
        if let Event::Total { total, done } = event {
            totals.push((total, done));
        }
    });
    assert_eq!((end, totals.as_slice()), (Stopped::Finished, [(10, 3)].as_slice()));
    assert_eq!(bench.missing(1, &[]), 0);
    let whole = Bench::new(&[Style::Greedy], true);
    whole.go(1, &mut |_| {});
    assert_eq!(bench.summary(), whole.summary());
    // Nothing is left to do, and no engine is loaded.
    bench.go(1, &mut |event| assert!(matches!(event, Event::Total { .. }), "{event:?}"));
}

#[test]
fn only_what_sampled_is_asked_again() {
    let bench = Bench::new(&[Style::Greedy, Style::Fallback], true);
    bench.go(4, &mut |_| {});
    let passes = bench.run.passes::<SttPass>().unwrap();
    let count = |style: &str| passes.iter().filter(|pass| pass.arm.ends_with(style)).count();
    assert_eq!((count("greedy"), count("fallback")), (10, 40));
    assert_eq!((bench.missing(4, &[]), bench.missing(5, &[])), (0, 10));
    let summary = bench.summary();
    let fallback = summary.arms.iter().find(|arm| arm.style == "fallback").unwrap();
    // The script always says the same: four passes that are copies are told as such.
    assert_eq!((fallback.sampled, fallback.varied, fallback.understood.of), (5, 0, 3));
    assert!(fallback.comparison.as_ref().unwrap().reference.ends_with("none · greedy"));
}

#[test]
fn a_model_of_english_is_not_asked_for_french_and_failures_are_invalid() {
    let bench = Bench::new(&[Style::Greedy], false);
    let mut last = (0, 0);
    bench.go(1, &mut |event| {
        if let Event::Total { total, done } = event {
            last = (total, done);
        }
    });
    assert_eq!((last, bench.run.passes::<SttPass>().unwrap().len()), ((8, 8), 8));
    assert_eq!((bench.missing(1, &["script".to_owned()]), bench.missing(1, &[])), (0, 2));
    let mut texts = TEXTS;
    texts[0].1 = "!";
    let failing = Bench { engine: Scripted::new(&texts, true), ..Bench::new(&[Style::Greedy], true) };
    failing.go(1, &mut |_| {});
    let summary = failing.summary();
    assert_eq!((summary.arms[0].invalid, summary.arms[0].understood.of), (1, 2));
    // A failure is tried again by the next session.
    assert_eq!(failing.missing(1, &[]), 1);
    let again = failing.engine.asked.lock().unwrap().len();
    failing.go(1, &mut |_| {});
    assert_eq!(failing.engine.asked.lock().unwrap().len(), again + 1);
}

#[test]
fn confusions_say_who_said_what_and_what_was_heard() {
    let bench = Bench::new(&[Style::Greedy], true);
    bench.go(1, &mut |_| {});
    let passes = bench.run.passes::<SttPass>().unwrap();
    let scored = score(&bench.arms, bench.corpus.clips(), &passes, &bench.prompts, &bench.commands);
    let list = confusions(&scored);
    let found = list.iter().find(|confusion| confusion.heard == "Kora, read 9.").unwrap();
    assert_eq!((found.truth.as_str(), found.prompt.as_str(), found.voice.as_str()), ("Kora, mailbox.", "none", "test"));
    assert_eq!((found.outcome, found.count), (Outcome::WrongCommand, 1));
    assert_eq!(list.len(), 5, "{list:#?}");
}

//! The conversation driven by a terminal that is a test.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tenpass_agent::run::AgentSettings;
use tenpass_agent::session::SessionState;
use tenpass_agent::testing::{Said, ScriptedModel};
use tenpass_agent::turn::Limits;
use tenpass_model::{BoxFuture, ChatModel, ModelError};
use tenpass_tools::assistant::{AgentFolder, LiveOptions, LiveStore, Options, Search};
use tenpass_tools::spend::Caps;
use tenpass_trace::Role;
use tenpass_trace::database::Verdict;
use tokio::sync::Notify;

use super::console::{Console, Features, Line};
use super::talk::{Setup, Talk};
use crate::exit::Exit;
use crate::failure::Failure;

const PIPE: Features = Features { is_terminal: false, is_typed: false, is_colored: false, width: 80, height: 24 };
const TERMINAL: Features = Features { is_terminal: true, is_typed: true, ..PIPE };

/// What happens when this text was written.
type Reaction = (&'static str, Deed);

#[derive(Clone, Copy)]
enum Deed {
    Interrupt,
    Type(&'static str),
}

/// A scripted terminal.
struct FakeConsole {
    features: Features,
    lines: Mutex<VecDeque<Line>>,
    answers: Mutex<VecDeque<Line>>,
    written: Mutex<String>,
    failures: Mutex<Vec<String>>,
    reactions: Mutex<Vec<Reaction>>,
    interrupt: Notify,
    overheard: Mutex<VecDeque<Line>>,
    typed: Notify,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeConsole {
    fn new(features: Features, lines: &[&str], answers: &[&str]) -> Self {
        let of = |texts: &[&str]| Mutex::new(texts.iter().map(|text| Line::Text((*text).to_owned())).collect());
        Self {
            features,
            lines: of(lines),
            answers: of(answers),
            written: Mutex::default(),
            failures: Mutex::default(),
            reactions: Mutex::default(),
            interrupt: Notify::new(),
            overheard: Mutex::default(),
            typed: Notify::new(),
        }
    }

    fn reacting(self, reactions: &[Reaction]) -> Self {
        *locked(&self.reactions) = reactions.to_vec();
        self
    }

    fn written(&self) -> String {
        locked(&self.written).clone()
    }

    fn failures(&self) -> Vec<String> {
        locked(&self.failures).clone()
    }
}

impl Console for FakeConsole {
    fn features(&self) -> Features {
        self.features
    }

    fn write(&self, text: &str) {
        let mut written = locked(&self.written);
        written.push_str(text);
        let mut reactions = locked(&self.reactions);
        if reactions.first().is_some_and(|(text, _)| written.contains(text)) {
            match reactions.remove(0).1 {
                Deed::Interrupt => self.interrupt.notify_one(),
                Deed::Type(text) => {
                    locked(&self.overheard).push_back(Line::Text(text.to_owned()));
                    self.typed.notify_one();
                }
            }
        }
    }

    fn announce(&self, text: &str) {
        self.write(text);
    }

    fn note(&self, text: &str) {
        locked(&self.failures).push(format!("note: {text}"));
    }

    fn failure(&self, failure: &Failure) {
        locked(&self.failures).push(format!("{} ({})", failure.message, failure.hint.as_deref().unwrap_or("no hint")));
    }

    fn line(&self) -> BoxFuture<'_, Line> {
        Box::pin(async { locked(&self.lines).pop_front().unwrap_or(Line::End) })
    }

    fn answer(&self) -> BoxFuture<'_, Line> {
        Box::pin(async {
            let answer = locked(&self.answers).pop_front();
            match answer {
                Some(answer) => answer,
                // Nobody answers.
                None if self.features.is_typed => std::future::pending().await,
                None => Line::End,
            }
        })
    }

    fn turn(&self, _is_running: bool) {}

    fn overhear(&self) -> BoxFuture<'_, Line> {
        Box::pin(async {
            loop {
                let line = locked(&self.overheard).pop_front();
                if let Some(line) = line {
                    return line;
                }
                self.typed.notified().await;
            }
        })
    }

    fn interrupted(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.interrupt.notified())
    }
}

fn options(place: &Path, limits: Limits) -> LiveOptions {
    LiveOptions {
        folder: AgentFolder::new(place),
        files: None,
        read: Vec::new(),
        cleanup: Vec::new(),
        protected: Vec::new(),
        memory: None,
        offline: true,
        search: Search::Local(None),
        providers: Vec::new(),
        escalate: None,
        caps: Caps::default(),
        fail_open: false,
        agent: AgentSettings { limits: Some(limits), ..AgentSettings::default() },
        options: Options::default(),
    }
}

struct Played {
    exit: Exit,
    written: String,
    failures: Vec<String>,
    place: tempfile::TempDir,
}

impl Played {
    fn folder(&self) -> AgentFolder {
        AgentFolder::new(self.place.path())
    }

    fn database(&self) -> tenpass_trace::database::Database {
        tenpass_trace::database::Database::open(&self.folder().database()).unwrap()
    }
}

/// How a conversation is played.
struct Play {
    console: FakeConsole,
    answers: Vec<Said>,
    limits: Limits,
    is_scripted: bool,
    /// How often loading the model fails first.
    failing_loads: usize,
}

impl Play {
    fn new(console: FakeConsole, answers: Vec<Said>) -> Self {
        Self { console, answers, limits: Limits::default(), is_scripted: false, failing_loads: 0 }
    }

    async fn run(self) -> Played {
        let place = tempfile::tempdir().unwrap();
        let options = options(place.path(), self.limits);
        let store = LiveStore::open(&options.folder).unwrap();
        let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::saying(self.answers));
        let failing = Arc::new(Mutex::new(self.failing_loads));
        let for_load = store.clone();
        let load: super::talk::Load = Box::new(move || {
            let (store, options, model) = (for_load.clone(), options.clone(), Arc::clone(&model));
            let failing = Arc::clone(&failing);
            Box::pin(async move {
                let mut left = failing.lock().unwrap();
                if *left > 0 {
                    *left -= 1;
                    return Err(Failure {
                        exit: Exit::Backend,
                        message: "no model".into(),
                        hint: Some("pull it".into()),
                    });
                }
                Ok(store.assemble(options, model)?)
            })
        });
        let loaded = load().await;
        let console = Arc::new(self.console);
        let setup = Setup {
            console: Arc::clone(&console) as Arc<dyn Console>,
            store,
            load,
            session: SessionState::new("thread"),
            folder: place.path().to_owned(),
            caps: (1_000_000, 100),
            quiet_after: Duration::from_mins(20),
            is_scripted: self.is_scripted,
        };
        let exit = Talk::new(setup, loaded).run().await;
        Played { exit, written: console.written(), failures: console.failures(), place }
    }
}

fn write_file(name: &str, content: &str) -> Said {
    Said::call("write_file", json!({ "filename": name, "content": content, "reason": "asked" }))
}

#[tokio::test]
async fn a_pipe_gets_a_transcript_and_the_line_after_a_confirmation_is_its_answer() {
    let console = FakeConsole::new(PIPE, &["Save tea as a.txt", "/quit"], &["perhaps", "y"]);
    let played = Play::new(console, vec![write_file("a.txt", "Tea."), Said::text("It is saved.")]).run().await;
    assert_eq!(played.exit, Exit::Yes);
    assert_eq!(std::fs::read_to_string(played.folder().files().join("a.txt")).unwrap(), "Tea.");
    let expected = [
        "▸ write_file(filename: \"a.txt\"",
        "IRREVERSIBLE",
        "│ filename: \"a.txt\"",
        "neither yes nor no",
        "✓ ok",
        "It is saved.\n",
    ];
    let mut rest = played.written.as_str();
    for part in expected {
        let place = rest.find(part).unwrap_or_else(|| panic!("{part} is not in, or not in order:\n{}", played.written));
        rest = &rest[place + part.len()..];
    }
    assert!(!played.written.contains('\x1b') && !played.written.contains('\x07'));
}

#[tokio::test]
async fn a_refusal_and_the_end_of_the_input_write_nothing() {
    for answers in [&["n"][..], &[]] {
        let console = FakeConsole::new(PIPE, &["Save it"], answers);
        let played =
            Play::new(console, vec![write_file("a.txt", "Tea."), Said::text("I did not save it.")]).run().await;
        assert!(!played.folder().files().join("a.txt").exists());
        assert!(
            played.written.contains("✗ refused") && played.written.contains("I did not save it."),
            "{}",
            played.written
        );
    }
}

#[tokio::test]
async fn what_streamed_before_a_call_is_wiped_on_a_terminal() {
    let call = Said {
        pieces: vec!["Let me look.".to_owned()],
        ..Said::call("system_info", json!({ "topic": "cpu", "reason": "x" }))
    };
    let console = FakeConsole::new(TERMINAL, &["how is the computer?"], &[]);
    let played = Play::new(console, vec![call, Said::text("Fine.")]).run().await;
    assert!(played.written.contains("Let me look."), "{}", played.written);
    assert!(played.written.contains("\x1b[J▸ system_info(topic: \"cpu\") · auto\n  ✓ ok · "), "{:?}", played.written);
    assert!(played.written.ends_with("Fine.\n"), "{:?}", played.written);
}

#[tokio::test]
async fn ctrl_c_stops_the_answer_and_the_conversation_goes_on() {
    let endless = Said { hangs: true, ..Said::text("Once upon a time, long ago") };
    let console = FakeConsole::new(TERMINAL, &["a story", "hello"], &[]).reacting(&[("upon a", Deed::Interrupt)]);
    let played = Play::new(console, vec![endless, Said::text("Hello!")]).run().await;
    assert!(played.written.contains("(stopped)") && played.written.contains("Hello!"), "{}", played.written);
    let stored = played.database().messages("thread").unwrap();
    assert!(stored[1].interrupted && stored[1].message.content.starts_with("Once upon"));
    assert_eq!((stored.len(), played.exit), (4, Exit::Yes));
}

#[tokio::test]
async fn the_emergency_word_is_heard_during_a_turn_and_other_lines_wait() {
    let endless =
        Said { hangs: true, ..Said::text("Once upon a time, long ago, in a land far away, nobody knows where") };
    // In this order: one line waits, then the emergency stops the turn.
    let console = FakeConsole::new(TERMINAL, &["a story"], &[])
        .reacting(&[("upon a", Deed::Type("hello")), ("long ago", Deed::Type("arrête tout"))]);
    let played = Play::new(console, vec![endless, Said::text("Hello!")]).run().await;
    let place = |text: &str| played.written.find(text).unwrap_or_else(|| panic!("{text}: {}", played.written));
    assert!(place("(stopped)") < place("› hello") && place("› hello") < place("Hello!"));
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_confirmation_expires_and_says_so() {
    let console = FakeConsole::new(TERMINAL, &["Save it"], &[]);
    let mut play = Play::new(console, vec![write_file("a.txt", "Tea."), Said::text("Not saved.")]);
    play.limits.confirm_timeout = Duration::from_mins(1);
    let played = play.run().await;
    assert!(played.written.contains("no answer: it expired, nothing was done"), "{}", played.written);
    assert!(!played.folder().files().join("a.txt").exists() && played.written.contains("Not saved."));
}

#[tokio::test]
async fn typed_feedback_is_recorded_and_says_what() {
    let lines = ["accept", "What is it?", "corrige : 14:30", "/good", "rejette", "/mal"];
    let console = FakeConsole::new(PIPE, &lines, &[]);
    let played = Play::new(console, vec![Said::text("It is 15:00.")]).run().await;
    assert!(played.written.starts_with("there is no answer to judge yet\nIt is 15:00.\n"), "{}", played.written);
    assert!(played.written.contains("recorded: corrected · “What is it?” · it should have been: “14:30”"));
    assert_eq!(played.written.matches("recorded: rejected").count(), 2);
    let last = played.database().last_exchange("thread").unwrap().unwrap();
    assert_eq!(last.verdict, Some(Verdict::Rejected));
    let trace = std::fs::read_to_string(played.folder().trace()).unwrap();
    assert_eq!(trace.matches("\"event\":\"verdict\"").count(), 4, "{trace}");
}

#[tokio::test]
async fn undo_marks_the_turn_and_offers_to_forget_what_it_wrote() {
    let entry = "The report goes out on Fridays.";
    let call = Said::call("write_memory", json!({ "section": "decisions", "entry": entry, "reason": "asked" }));
    let lines = ["Note this: the report goes out on Fridays.", "/undo", "/undo", "/memory"];
    let console = FakeConsole::new(PIPE, &lines, &["hm", "oui"]);
    let played = Play::new(console, vec![call, Said::text("Noted.")]).run().await;
    assert!(played.written.contains("◆ remembered (decisions): "), "{}", played.written);
    assert_eq!(played.written.matches("Remove it? y or n").count(), 2, "an unclear answer is asked again");
    assert!(played.written.contains("removed from the memory") && played.written.contains("nothing to take back"));
    let memory = std::fs::read_to_string(played.folder().memory()).unwrap();
    assert!(!memory.contains("Fridays"), "{memory}");
    let turn = played.database().messages("thread").unwrap()[0].turn.clone();
    assert!(played.database().mark(&format!("undone:{turn}")).unwrap().is_some());
}

fn unreachable() -> Said {
    Said::error(ModelError::Connect { url: "http://127.0.0.1:9".into(), reason: "refused".into() })
}

#[tokio::test]
async fn a_failing_backend_is_one_line_and_nothing_typed_is_lost() {
    for (is_scripted, exit) in [(false, Exit::Yes), (true, Exit::Backend)] {
        let console = FakeConsole::new(TERMINAL, &["one", "two"], &[]);
        let answers = vec![unreachable(), Said::text("Two.")];
        let played = Play { is_scripted, ..Play::new(console, answers) }.run().await;
        assert_eq!(played.exit, exit);
        assert_eq!(played.failures.len(), 1, "{:?}", played.failures);
        assert!(played.failures[0].contains("cannot reach http://127.0.0.1:9: refused (start the server"));
        assert!(played.written.contains("Two."));
        let said: Vec<String> = played
            .database()
            .messages("thread")
            .unwrap()
            .into_iter()
            .filter(|stored| stored.message.role == Role::User)
            .map(|stored| stored.message.content)
            .collect();
        assert_eq!(said, ["one", "two"]);
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_yet_is_tried_again_with_each_message() {
    let console = FakeConsole::new(TERMINAL, &["one", "/retry", "/model"], &[]);
    let played = Play { failing_loads: 2, ..Play::new(console, vec![Said::text("One.")]) }.run().await;
    assert_eq!(played.failures.iter().filter(|failure| failure.contains("no model (pull it)")).count(), 2);
    assert!(played.failures[2].contains("/retry"), "{:?}", played.failures);
    assert!(played.written.contains("taken back: “one”") && played.written.contains("One."), "{}", played.written);
    assert!(played.written.contains("scripted:test"));
    assert_eq!(played.exit, Exit::Yes);
    assert_eq!(played.database().messages("thread").unwrap()[0].message.content, "one");
}

#[tokio::test]
async fn without_a_model_a_pipe_hears_it_once_a_message_and_the_exit_code_says_it() {
    let console = FakeConsole::new(PIPE, &["one"], &[]);
    let played = Play { failing_loads: 1, ..Play::new(console, vec![Said::text("One.")]) }.run().await;
    assert_eq!(played.failures.iter().filter(|failure| failure.contains("no model")).count(), 1);
    assert_eq!((played.exit, played.database().messages("thread").unwrap().len()), (Exit::Backend, 1));
}

#[tokio::test]
async fn every_command_answers() {
    let lines = [
        "/help",
        "/aide",
        "/think high",
        "/think",
        "/tools",
        "/outils",
        "/model",
        "/spend",
        "/threads",
        "hello",
        "/trace",
        "/threads",
        "/new",
        "/memory",
        "/memroy",
        "/think true",
        "/threads thr",
        "/threads nothing",
    ];
    let console = FakeConsole::new(PIPE, &lines, &[]);
    let played = Play::new(console, vec![Said::text("Hello!")]).run().await;
    for part in [
        "/quit",
        "ces commandes",
        "thinking: high",
        "runs at once",
        "demande toujours, en rouge",
        "structure",
        "today: $0.0000 of $1.00",
        "there is no thread yet",
        "request to scripted:test · panel · thinking high",
        "end: natural after",
        "a new thread",
        "Open threads",
        "did you mean /memory?",
        "/think low|medium|high|off does not take \"true\"",
        "› hello\nHello!",
    ] {
        assert!(played.written.contains(part), "{part} is missing:\n{}", played.written);
    }
    assert_eq!(played.failures.len(), 1, "{:?}", played.failures);
}

#[tokio::test]
async fn ctrl_c_twice_at_the_empty_prompt_leaves() {
    let console = FakeConsole::new(TERMINAL, &[], &[]);
    *locked(&console.lines) = [Line::Interrupt, Line::Text("hello".into()), Line::Interrupt, Line::Interrupt].into();
    let played = Play::new(console, vec![Said::text("Hello!")]).run().await;
    assert_eq!(played.written.matches("Ctrl-C again").count(), 2);
    assert_eq!(played.exit, Exit::Yes);
}

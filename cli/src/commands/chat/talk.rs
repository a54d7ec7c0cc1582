//! The conversation: lines become turns, judgements and commands, one after the other.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use tenpass_agent::feedback::{label_from_feedback, verdict_record};
use tenpass_agent::interaction::Recorder as _;
use tenpass_agent::prompt::Language;
use tenpass_agent::run::TurnReport;
use tenpass_agent::session::{Feedback, Input, SessionState, is_emergency};
use tenpass_model::BoxFuture;
use tenpass_tools::assistant::{AssistantError, Live, LiveStore, store_unanswered, unborne_claims};
use tenpass_trace::TurnEnd;
use tenpass_trace::database::{Verdict, VerdictSource};
use tokio_util::sync::CancellationToken;

use super::console::{Console, Line};
use super::person::{Bystander, Person};
use super::style::{Ink, Paint, one_line};
use crate::exit::Exit;
use crate::failure::Failure;

/// How often an idle conversation looks for quiet ones to read again; less often than it is quiet.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// Longest time that leaving a pipe waits for the re-read at launch.
const LAUNCH_REREAD: Duration = Duration::from_mins(2);

/// Loads the model and puts the assistant together; asked again when it failed.
pub(super) type Load = Box<dyn Fn() -> BoxFuture<'static, Result<Live, Failure>> + Send + Sync>;

/// What a conversation is made of.
pub(super) struct Setup {
    pub(super) console: Arc<dyn Console>,
    /// Database and journals: there before the model.
    pub(super) store: LiveStore,
    pub(super) load: Load,
    pub(super) session: SessionState,
    /// The agent's folder.
    pub(super) folder: PathBuf,
    /// Caps of the day, in millionths of a dollar and in searches, for `/spend`.
    pub(super) caps: (u64, u64),
    /// How long a conversation is quiet before it is read again.
    pub(super) quiet_after: Duration,
    /// Messages come from the command line.
    pub(super) is_scripted: bool,
}

/// A conversation.
pub(super) struct Talk {
    pub(super) setup: Setup,
    pub(super) live: Option<Live>,
    /// Typed while a turn ran, in order.
    waiting: VecDeque<String>,
    /// Why there was no model at the start, until it was said.
    untold: Option<Failure>,
    has_failed: bool,
    has_answered: bool,
    has_reread: AtomicBool,
}

/// Whether the conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Leave,
    Interrupted,
}

impl Talk {
    /// A conversation with the model, or without one for this reason.
    pub(super) fn new(setup: Setup, loaded: Result<Live, Failure>) -> Self {
        let (live, mut untold) = match loaded {
            Ok(live) => (Some(live), None),
            Err(failure) => (None, Some(failure)),
        };
        let has_failed = untold.is_some();
        // A person hears it now; elsewhere it is the answer to the first message.
        if let Some(failure) = untold.take_if(|_| setup.console.features().is_typed && !setup.is_scripted) {
            setup.console.failure(&failure);
        }
        Self {
            setup,
            live,
            waiting: VecDeque::new(),
            untold,
            has_failed,
            has_answered: false,
            has_reread: AtomicBool::new(false),
        }
    }

    pub(super) fn console(&self) -> &dyn Console {
        &*self.setup.console
    }

    pub(super) fn paint(&self) -> Paint {
        Paint(self.console().features().is_colored)
    }

    pub(super) fn write_line(&self, text: &str) {
        let ended = if text.ends_with('\n') { "" } else { "\n" };
        self.console().write(&format!("{text}{ended}"));
    }

    pub(super) fn write_dim(&self, text: &str) {
        self.write_line(&self.paint().ink(Ink::Dim, text));
    }

    /// Talks until the person leaves.
    pub(super) async fn run(mut self) -> Exit {
        let mut interrupts = 0;
        let flow = loop {
            match self.next_line().await {
                Line::End => break Flow::Leave,
                Line::Interrupt if !self.console().features().is_typed || interrupts > 0 => break Flow::Interrupted,
                Line::Interrupt => {
                    interrupts += 1;
                    self.write_dim("Ctrl-C again, or Ctrl-D, leaves");
                }
                Line::Text(text) => {
                    interrupts = 0;
                    match self.take(&text).await {
                        Flow::On => {}
                        flow => break flow,
                    }
                }
            }
        };
        if flow == Flow::Leave {
            self.finish_rereading().await;
        }
        self.exit(flow)
    }

    fn exit(&self, flow: Flow) -> Exit {
        let is_typed = self.console().features().is_typed && !self.setup.is_scripted;
        match flow {
            Flow::Interrupted if !is_typed => Exit::Interrupted,
            _ if self.has_failed && (self.setup.is_scripted || (!is_typed && !self.has_answered)) => Exit::Backend,
            _ => Exit::Yes,
        }
    }

    /// The next line; meanwhile quiet conversations are read again.
    async fn next_line(&mut self) -> Line {
        if let Some(text) = self.waiting.pop_front() {
            self.write_line(&format!("› {text}"));
            return Line::Text(text);
        }
        let is_typed = self.console().features().is_typed;
        let this = &*self;
        tokio::select! {
            biased;
            line = this.console().line() => line,
            () = this.console().interrupted(), if !is_typed => Line::Interrupt,
            () = this.reread() => Line::End,
        }
    }

    /// Reads quiet conversations again (K63c), at once and from time to time. Never returns; dropping
    /// it cancels the model's call and leaves the memory as it is.
    async fn reread(&self) {
        if let (Some(live), false) = (&self.live, self.setup.is_scripted) {
            let quiet = SignedDuration::try_from(self.setup.quiet_after).unwrap_or(SignedDuration::MAX);
            let every = (self.setup.quiet_after / 4).clamp(Duration::from_secs(1), LOOK_EVERY);
            let person = Bystander::new(Arc::clone(&self.setup.console));
            loop {
                // A model or a file that fails now may do better the next time.
                let outcome = live.assistant.reread(quiet, &person).await;
                self.has_reread.store(outcome.is_ok(), Ordering::Relaxed);
                tokio::time::sleep(every).await;
            }
        }
        std::future::pending::<()>().await;
    }

    /// A pipe is often at its end before the re-read at launch is; it is finished then.
    async fn finish_rereading(&self) {
        if self.console().features().is_typed || self.has_reread.load(Ordering::Relaxed) {
            return;
        }
        let done = async {
            while !self.has_reread.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if self.live.is_some() && !self.setup.is_scripted {
            tokio::select! {
                () = self.reread() => {}
                () = done => {}
                () = self.console().interrupted() => {}
                () = tokio::time::sleep(LAUNCH_REREAD) => {}
            }
        }
    }

    /// One line of the person.
    pub(super) async fn take(&mut self, text: &str) -> Flow {
        if text.trim().is_empty() {
            return Flow::On;
        }
        match Input::parse(text) {
            Input::Command(command) => self.command(command, text).await,
            Input::Feedback(feedback) => {
                self.judge(&feedback);
                Flow::On
            }
            Input::Message(text) => self.turn(&text).await,
            Input::Emergency => self.turn(text).await,
        }
    }

    /// One turn.
    pub(super) async fn turn(&mut self, text: &str) -> Flow {
        if let Err(failure) = self.ready().await {
            self.has_failed = true;
            let stored = store_unanswered(&self.setup.store.database, &mut self.setup.session, text);
            self.console().failure(&failure);
            match stored {
                Ok(()) => self.console().note("your message is kept; /retry sends it again"),
                Err(error) => self.console().failure(&error.into()),
            }
            return Flow::On;
        }
        let Some(live) = &self.live else { return Flow::On };
        let stop = CancellationToken::new();
        let person = Person::new(Arc::clone(&self.setup.console), stop.clone());
        let console = &*self.setup.console;
        console.turn(true);
        let said = {
            let turn = live.assistant.say(&mut self.setup.session, text, &person, stop.clone());
            tokio::pin!(turn);
            loop {
                tokio::select! {
                    said = &mut turn => break said,
                    () = console.interrupted() => stop.cancel(),
                    line = console.overhear() => match line {
                        Line::Text(text) if is_emergency(&text) => stop.cancel(),
                        Line::Text(text) if !text.trim().is_empty() && !self.setup.is_scripted => {
                            self.waiting.push_back(text);
                        }
                        Line::Interrupt => stop.cancel(),
                        Line::Text(_) | Line::End => {}
                    },
                }
            }
        };
        console.turn(false);
        self.after(said, stop.is_cancelled())
    }

    /// Says what there is to say about a turn that is over.
    fn after(&mut self, said: Result<TurnReport, AssistantError>, is_stopped: bool) -> Flow {
        match said {
            Ok(report) => {
                self.hold_against_ledger(&report);
                if let Some(fault) = report.fault {
                    self.has_failed = true;
                    self.console().failure(&fault.into());
                } else if let Some(error) = report.record_error {
                    self.console().failure(&AssistantError::Record(error).into());
                } else {
                    self.has_answered |= !report.end.is_interrupted() || report.end == TurnEnd::Emergency;
                }
            }
            Err(error) => self.console().failure(&error.into()),
        }
        let alerts = self.setup.store.recorder.take_alerts();
        for alert in alerts {
            self.write_dim(&format!("watchdog: {}: {}", alert.rule, one_line(&alert.detail, 300)));
        }
        if is_stopped && self.setup.is_scripted { Flow::Interrupted } else { Flow::On }
    }

    /// Says it beside an answer that claims what was not done: the model's words are not the record.
    fn hold_against_ledger(&self, report: &TurnReport) {
        for claim in unborne_claims(report) {
            let (text, why) = (one_line(&claim.text, 120), claim.why);
            self.write_line(&self.paint().ink(Ink::Yellow, &format!("! “{text}”: {why}")));
        }
    }

    /// Loads the model where there is none yet.
    async fn ready(&mut self) -> Result<(), Failure> {
        if let Some(failure) = self.untold.take() {
            return Err(failure);
        }
        if self.live.is_none() {
            let loaded = tokio::select! {
                loaded = (self.setup.load)() => loaded?,
                () = self.setup.console.interrupted() => return Err(Failure::mistake("stopped before the model was there")),
            };
            for note in &loaded.notes {
                self.console().note(note);
            }
            self.live = Some(loaded);
        }
        Ok(())
    }

    /// Records what the person thinks of the last answer (K90), and says what was recorded.
    pub(super) fn judge(&mut self, feedback: &Feedback) {
        let Some(last) = self.setup.session.last() else {
            return self.write_dim("there is no answer to judge yet");
        };
        let label = label_from_feedback(feedback);
        let verdict = match feedback {
            Feedback::Accept | Feedback::Good => Verdict::Accepted,
            Feedback::Reject | Feedback::Bad => Verdict::Rejected,
            Feedback::Correct(text) => Verdict::Corrected { text: tenpass_trace::mask::mask(text).text },
        };
        let source = match feedback {
            Feedback::Good | Feedback::Bad => VerdictSource::Thumb,
            Feedback::Accept | Feedback::Reject | Feedback::Correct(_) => VerdictSource::Typed,
        };
        let store = &self.setup.store;
        match store.database.judge(&last.turn, &verdict, source) {
            Ok(true) => {}
            Ok(false) => return self.write_dim("nothing was recorded: the last message has no answer"),
            Err(error) => return self.console().failure(&error.into()),
        }
        let record = verdict_record(self.setup.session.thread(), &last.turn, feedback);
        if let Err(error) = store.recorder.trace(&record) {
            self.console().failure(&AssistantError::Record(error).into());
        }
        let mut said = format!("recorded: {} · “{}”", label.verdict, one_line(&last.user, 60));
        if let Verdict::Corrected { text } = &verdict {
            said.push_str(&format!(" · it should have been: “{}”", one_line(text, 60)));
        }
        self.write_dim(&said);
    }

    /// The language of the texts: that of the command as typed, else of the last message.
    pub(super) fn language(&self, typed: &str) -> Language {
        let name =
            typed.trim_start().trim_start_matches('/').split_whitespace().next().unwrap_or_default().to_lowercase();
        let commands = tenpass_agent::session::COMMANDS;
        if commands.iter().any(|entry| entry.french == name && entry.name != name) {
            return Language::French;
        }
        self.setup.session.last().map_or(Language::English, |last| Language::of(&last.user))
    }
}

//! Turns of the real assistant with a scripted model, made into cases.

mod drafts;
mod harvests;
mod leaks;
mod played;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::Value;
use tempfile::TempDir;
use tenpass_agent::feedback::verdict_record;
use tenpass_agent::interaction::{Interaction, Recorder as _};
use tenpass_agent::run::AgentSettings;
use tenpass_agent::session::{Feedback, SessionState};
use tenpass_agent::testing::{Said, ScriptedModel, ScriptedPerson};
use tenpass_tools::assistant::{AgentFolder, Live, LiveOptions, Options, ProviderChoice, Search, live, mark_undone};
use tenpass_tools::providers::Provider;
use tenpass_tools::spend::Caps;
use tenpass_trace::database::{Verdict, VerdictSource};
use tokio_util::sync::CancellationToken;

use super::*;

/// An agent with its folder.
struct Home {
    place: TempDir,
    live: Live,
    session: SessionState,
}

impl Home {
    /// An agent whose model gives these answers.
    fn new(answers: Vec<Said>) -> Self {
        Self::with(ScriptedModel::saying(answers))
    }

    fn with(model: ScriptedModel) -> Self {
        let place = tempfile::tempdir().unwrap();
        let providers = [Provider::Claude].map(|provider| ProviderChoice {
            provider,
            address: "https://127.0.0.1:9".to_owned(),
            model: "m".to_owned(),
            key: None,
        });
        let options = LiveOptions {
            folder: AgentFolder::new(place.path().join("agent")),
            files: None,
            read: Vec::new(),
            cleanup: Vec::new(),
            protected: Vec::new(),
            memory: None,
            offline: true,
            search: Search::Local(None),
            providers: providers.to_vec(),
            escalate: None,
            caps: Caps::default(),
            fail_open: false,
            agent: AgentSettings::default(),
            options: Options::default(),
        };
        let live = live(options, Arc::new(model)).unwrap();
        Self { place, live, session: SessionState::new("thread-1") }
    }

    fn folder(&self) -> AgentFolder {
        AgentFolder::new(self.place.path().join("agent"))
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.folder().files()).unwrap();
        std::fs::write(self.folder().files().join(name), text).unwrap();
    }

    async fn say_to(&mut self, text: &str, person: &dyn Interaction) -> String {
        self.live.assistant.say(&mut self.session, text, person, CancellationToken::new()).await.unwrap();
        self.session.last().unwrap().turn.clone()
    }

    async fn say(&mut self, text: &str) -> String {
        self.say_to(text, &ScriptedPerson::approving()).await
    }

    /// As the chat does it: the store and the trace.
    fn judge(&self, turn: &str, feedback: &Feedback) {
        let (verdict, source) = match feedback {
            Feedback::Correct(text) => (Verdict::Corrected { text: text.clone() }, VerdictSource::Typed),
            Feedback::Bad | Feedback::Reject => (Verdict::Rejected, VerdictSource::Thumb),
            Feedback::Good | Feedback::Accept => (Verdict::Accepted, VerdictSource::Thumb),
        };
        assert!(self.live.assistant.database().judge(turn, &verdict, source).unwrap());
        self.live.recorder.trace(&verdict_record(self.session.thread(), turn, feedback)).unwrap();
    }

    fn undo(&mut self) {
        let undone = self.session.undo().unwrap();
        mark_undone(self.live.assistant.database(), &undone.turn).unwrap();
    }

    fn life(&self) -> Life {
        Life::open(&self.folder()).unwrap()
    }

    fn options(&self) -> DraftOptions {
        DraftOptions {
            registry: crate::rounds::definitions(),
            memory: std::fs::read_to_string(self.folder().memory()).unwrap_or_default(),
            hide: Vec::new(),
            user: None,
            zone: TimeZone::UTC,
            placeholders: self.folder().path().to_owned(),
        }
    }

    fn draft(&self, turn: &str) -> Draft {
        let life = self.life();
        Draft::of(&life, life.find(turn, None).unwrap(), &self.options(), None).unwrap()
    }

    fn cases(&self) -> PathBuf {
        self.place.path().join("cases")
    }
}

/// A call with the `reason` that every live tool wants.
fn call(name: &str, mut arguments: Value) -> Said {
    arguments["reason"] = Value::String("asked".to_owned());
    Said::call(name, arguments)
}

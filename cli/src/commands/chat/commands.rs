//! The slash commands.

use jiff::Zoned;
use tenpass_agent::memory::panel;
use tenpass_agent::session::{Command, SessionState, ThinkSetting, Undone, help, typed_reply};
use tenpass_tools::assistant::{AgentFolder, InitialSession, mark_undone, model_rows, resume};
use tenpass_trace::database::{DatabaseError, SpendError, SpendKind};

use super::console::Line;
use super::style::{Ink, one_line, printable};
use super::talk::{Flow, Talk};
use crate::commands::{memory, table, trace};
use crate::failure::Failure;

/// Threads that `/threads` lists.
const THREADS: usize = 20;

impl Talk {
    pub(super) async fn command(&mut self, command: Command, typed: &str) -> Flow {
        match command {
            Command::Quit => return Flow::Leave,
            Command::Retry => return self.retry().await,
            Command::Undo => self.undo().await,
            Command::Help => self.write_line(&help(self.language(typed))),
            Command::Think(setting) => self.think(setting),
            Command::Memory => self.show_memory(),
            Command::New => self.begin(),
            Command::Threads(None) => self.list_threads(),
            Command::Threads(Some(name)) => self.go_to(&name),
            Command::Tools => self.show_tools(typed),
            Command::Trace => self.show_trace(),
            Command::Model => self.show_model(),
            Command::Spend => self.show_spending(),
            unusable @ (Command::Unknown { .. } | Command::Invalid { .. }) => {
                let complaint = unusable.complaint(self.language(typed)).unwrap_or_default();
                self.write_line(&printable(&complaint));
            }
        }
        Flow::On
    }

    fn think(&mut self, setting: Option<ThinkSetting>) {
        if let Some(setting) = setting {
            self.setup.session.set_think(setting);
        }
        let level = self.setup.session.think().map_or("off (the model's own default)", |level| level.as_str());
        self.write_dim(&format!("thinking: {level}"));
    }

    /// Takes the last exchange back, on disk too.
    fn take_back(&mut self) -> Option<Undone> {
        let Some(undone) = self.setup.session.undo() else {
            self.write_dim("there is nothing to take back");
            return None;
        };
        if let Err(error) = mark_undone(&self.setup.store.database, &undone.turn) {
            self.console().failure(&error.into());
        }
        self.write_dim(&format!("taken back: “{}” (what its tools did stays)", one_line(&undone.user, 60)));
        Some(undone)
    }

    async fn undo(&mut self) {
        let Some(undone) = self.take_back() else { return };
        for entry in &undone.memory {
            let question = format!(
                "it wrote to the memory ({}): “{}”. Remove it? y or n: ",
                entry.section,
                one_line(&entry.text, 200)
            );
            if self.is_wanted(&question).await {
                self.forget(&entry.text);
            } else {
                self.write_dim("kept in the memory");
            }
        }
    }

    /// Asks until there is an answer; the end of the input is a no.
    async fn is_wanted(&self, question: &str) -> bool {
        loop {
            self.console().write(question);
            let answer = self.console().answer().await;
            if !self.console().features().is_typed {
                self.console().write("\n");
            }
            let Line::Text(text) = answer else { return false };
            if let Some(answer) = typed_reply(&text) {
                return answer;
            }
        }
    }

    fn forget(&self, text: &str) {
        let Some(memory) = self.live.as_ref().and_then(|live| live.assistant.memory()) else { return };
        match memory.forget(text) {
            Ok(entry) => self.write_dim(&format!("removed from the memory: “{}”", one_line(&entry.text, 200))),
            Err(error) => self.console().failure(&error.into()),
        }
    }

    async fn retry(&mut self) -> Flow {
        match self.take_back() {
            Some(undone) => self.turn(&undone.user).await,
            None => Flow::On,
        }
    }

    fn show_memory(&self) {
        let Some(file) = self.live.as_ref().and_then(|live| live.assistant.memory()) else {
            return self.write_dim("the memory is there when the model is: `tenpass memory show`");
        };
        match file.show() {
            Ok(document) => {
                self.write_line(&printable(&memory::text(&panel(&document))));
                self.write_dim(&file.path().display().to_string());
            }
            Err(error) => self.console().failure(&error.into()),
        }
    }

    fn begin(&mut self) {
        self.setup.session.begin(uuid::Uuid::new_v4().to_string());
        self.write_dim("a new thread");
    }

    fn list_threads(&self) {
        match self.setup.store.database.threads(THREADS) {
            Ok(threads) if threads.is_empty() => self.write_dim("there is no thread yet"),
            Ok(threads) => {
                let rows: Vec<Vec<String>> = threads
                    .iter()
                    .map(|thread| {
                        let at = thread.last_at.to_zoned(jiff::tz::TimeZone::system());
                        let here = if thread.id == self.setup.session.thread() { "*" } else { "" };
                        vec![
                            trace::short(&thread.id).to_owned(),
                            at.strftime("%Y-%m-%d %H:%M").to_string(),
                            thread.messages.to_string(),
                            format!("{}{here}", one_line(&thread.title, 60)),
                        ]
                    })
                    .collect();
                self.write_line(&table::table(&["thread", "last", "messages", "title"], &rows, &[2]));
                self.write_dim("/threads ID goes on with one; * is this one");
            }
            Err(error) => self.console().failure(&error.into()),
        }
    }

    fn go_to(&mut self, name: &str) {
        let initial = if name == "latest" { InitialSession::Latest } else { InitialSession::Named(name.to_owned()) };
        match resume(&self.setup.store.database, &initial) {
            Ok(Some(found)) => self.go_on(found),
            Ok(None) => {
                let failure = Failure::mistake(format!("no thread, or more than one, begins with {name:?}"));
                self.console().failure(&failure.hint("/threads lists them"));
            }
            Err(error) => self.console().failure(&error.into()),
        }
    }

    /// Goes on with another thread. The thinking level is the person's and stays.
    fn go_on(&mut self, mut found: SessionState) {
        if let Some(level) = self.setup.session.think() {
            found.set_think(ThinkSetting::Level(level));
        }
        let last = found.last().map(|exchange| (exchange.user.clone(), exchange.assistant.clone()));
        self.setup.session = found;
        self.write_dim(&format!("thread {}", trace::short(self.setup.session.thread())));
        if let Some((user, answer)) = last {
            self.write_line(&format!("› {}", one_line(&user, 400)));
            self.write_line(&printable(&answer));
        }
    }

    fn show_tools(&self, typed: &str) {
        match &self.live {
            Some(live) => self.write_line(&live.memo.text(self.language(typed))),
            None => self.write_dim("the tools are there when the model is"),
        }
    }

    fn show_trace(&self) {
        let Some(last) = self.setup.session.last() else {
            return self.write_dim("there is no turn yet");
        };
        match trace::turn_text(&AgentFolder::new(&self.setup.folder), &last.turn) {
            Ok(Some(text)) => self.write_line(&text),
            Ok(None) => self.write_dim("the last turn left no trace"),
            Err(failure) => self.console().failure(&failure),
        }
    }

    fn show_model(&self) {
        let Some(live) = &self.live else {
            return self.write_dim("there is no model yet");
        };
        let rows = model_rows(live.assistant.agent());
        for (name, value) in rows {
            self.write_line(&format!(
                "{} {}",
                self.paint().ink(Ink::Dim, &format!("{name:<12}")),
                one_line(&value, 200)
            ));
        }
    }

    fn show_spending(&self) {
        let day = Zoned::now().date().to_string();
        let (dollars, searches) = self.setup.caps;
        let spent = |kind| self.setup.store.database.spent(kind, &day).map(|spent| spent.total_micros() as f64 / 1e6);
        let shown = || -> Result<String, SpendError> {
            let (usd, credits) = (spent(SpendKind::Usd)?, spent(SpendKind::WebCredits)?);
            Ok(format!("today: ${usd:.4} of ${:.2} · {credits} of {searches} paid searches", dollars as f64 / 1e6))
        };
        match shown() {
            Ok(text) => self.write_line(&text),
            Err(error) => self.console().failure(&Failure::mistake(&error).hint(error.hint())),
        }
    }
}

/// Where a conversation begins, as typed.
pub(super) fn opened(
    database: &tenpass_trace::database::Database,
    thread: Option<&str>,
) -> Result<SessionState, Failure> {
    let initial = match thread {
        None => InitialSession::New,
        Some("latest") => InitialSession::Latest,
        Some(name) => InitialSession::Named(name.to_owned()),
    };
    let found = resume(database, &initial).map_err(|error: DatabaseError| Failure::from(error))?;
    found.ok_or_else(|| {
        Failure::mistake(format!("no conversation, or more than one, begins with {:?}", thread.unwrap_or_default()))
            .hint("`tenpass trace list` and /threads show their ids; `latest` is the last one")
    })
}

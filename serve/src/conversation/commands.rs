//! The slash commands. What they answer is a note in Markdown; what they do is what `tenpass chat`
//! does.

use std::sync::Arc;

use jiff::Zoned;
use tenpass_agent::memory::panel;
use tenpass_agent::prompt::Language;
use tenpass_agent::session::{Command, ThinkSetting, help};
use tenpass_tools::assistant::model_rows;
use tenpass_trace::database::SpendKind;

use super::Conversations;
use super::room::SharedRoom;
use super::say::{Said, SayRefused};
use crate::text::one_line;

/// Threads that `/threads` lists.
const THREADS: usize = 20;

impl Conversations {
    /// Carries a command out.
    pub(super) fn command(
        self: &Arc<Self>,
        room: &SharedRoom,
        command: Command,
        said: &Said,
    ) -> Result<Option<String>, SayRefused> {
        let language = Language::of(&said.text);
        let mut moved = None;
        let answer = match command {
            Command::Retry => return self.retry(room, said.client_id.clone()).map(|()| None),
            Command::Undo => self.undo_note(room)?,
            Command::Help => fenced(&help(language)),
            Command::Quit => "close the page; the server goes on until it is stopped in its terminal".to_owned(),
            Command::Think(setting) => Self::think(room, setting)?,
            Command::Memory => self.memory_note(),
            Command::New => {
                let new = self.begin().map_err(|error| SayRefused::new(error.message, error.hint))?;
                moved = Some(new.id().to_owned());
                "a new thread".to_owned()
            }
            Command::Threads(None) => self.threads_note(room),
            Command::Threads(Some(name)) => {
                let (found, answer) = self.find_thread(&name)?;
                moved = found;
                answer
            }
            Command::Tools => self
                .model
                .live()
                .map_or_else(|| "the tools are there when the model is".to_owned(), |live| live.memo.text(language)),
            Command::Trace => self.trace_note(room),
            Command::Model => self.model_note(),
            Command::Spend => self.spend_note(),
            unusable @ (Command::Unknown { .. } | Command::Invalid { .. }) => {
                unusable.complaint(language).unwrap_or_default()
            }
        };
        Self::note(room, &answer, said);
        Ok(moved)
    }

    fn undo_note(&self, room: &SharedRoom) -> Result<String, SayRefused> {
        let undone = self.take_back(room).map_err(|error| SayRefused::new(error.message, error.hint))?;
        let mut note = format!("taken back: “{}” (what its tools did stays)", one_line(&undone.user, 60));
        for entry in undone.memory {
            note.push_str(&format!(
                "\n\nit wrote to the memory ({}): “{}”; remove it in the memory panel",
                entry.section,
                one_line(&entry.text, 200)
            ));
        }
        Ok(note)
    }

    fn think(room: &SharedRoom, setting: Option<ThinkSetting>) -> Result<String, SayRefused> {
        let mut state = room.lock();
        let Some(session) = &mut state.session else {
            return Err(SayRefused::new("a turn runs", "wait for the running answer, or stop it first"));
        };
        if let Some(setting) = setting {
            session.set_think(setting);
        }
        Ok(format!("thinking: {}", session.think().map_or("off (the model's own default)", |level| level.as_str())))
    }

    fn memory_note(&self) -> String {
        let live = self.model.live();
        let Some(file) = live.as_ref().and_then(|live| live.assistant.memory()) else {
            return "the memory is there when the model is".to_owned();
        };
        match file.show() {
            Ok(document) => {
                let mut text = String::new();
                for (section, entries) in panel(&document) {
                    text.push_str(&format!("**{}**\n\n", section.title()));
                    for entry in &entries {
                        text.push_str(&format!("- {}\n", escaped(&one_line(&entry.text, 200))));
                    }
                    text.push_str(if entries.is_empty() { "(nothing)\n\n" } else { "\n" });
                }
                text
            }
            Err(error) => format!("{error} ({})", error.hint()),
        }
    }

    fn threads_note(&self, room: &SharedRoom) -> String {
        match self.store.database.threads(THREADS) {
            Ok(threads) if threads.is_empty() => "there is no thread yet".to_owned(),
            Ok(threads) => {
                let rows = threads.iter().map(|thread| {
                    let here = if thread.id == room.id() { " (this one)" } else { "" };
                    let at = thread.last_at.to_zoned(jiff::tz::TimeZone::system());
                    let short = thread.id.get(..8).unwrap_or(&thread.id);
                    format!(
                        "- `{short}` {} · {}{here}",
                        at.strftime("%Y-%m-%d %H:%M"),
                        escaped(&one_line(&thread.title, 60))
                    )
                });
                format!("{}\n\n`/threads ID` goes on with one", rows.collect::<Vec<_>>().join("\n"))
            }
            Err(error) => format!("{error} ({})", error.hint()),
        }
    }

    /// The thread whose id begins like this, and what is said about it.
    fn find_thread(&self, name: &str) -> Result<(Option<String>, String), SayRefused> {
        let known = self.store.database.threads(usize::MAX);
        let known = known.map_err(|error| SayRefused::new(error.to_string(), error.hint()))?;
        let found = if name == "latest" {
            known.first()
        } else {
            let mut fitting = known.iter().filter(|thread| thread.id.starts_with(name));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        match found {
            Some(thread) => {
                Ok((Some(thread.id.clone()), format!("thread “{}”", escaped(&one_line(&thread.title, 60)))))
            }
            None => Ok((None, format!("no thread, or more than one, begins with {name:?}; `/threads` lists them"))),
        }
    }

    fn trace_note(&self, room: &SharedRoom) -> String {
        let last = room.lock().past.iter().rev().find(|past| !past.turn.is_empty()).map(|past| past.turn.clone());
        let Some(turn) = last else { return "there is no turn yet".to_owned() };
        self.index.refresh();
        let lines: Vec<String> = self
            .index
            .entries_of(&turn)
            .iter()
            .map(|line| {
                let at = line.at.to_zoned(jiff::tz::TimeZone::system());
                format!("{}  {}: {}", at.strftime("%H:%M:%S%.3f"), line.kind, line.summary)
            })
            .collect();
        if lines.is_empty() { "the last turn left no trace".to_owned() } else { fenced(&lines.join("\n")) }
    }

    fn model_note(&self) -> String {
        let Some(live) = self.model.live() else { return "there is no model yet".to_owned() };
        let rows = model_rows(live.assistant.agent());
        let lines: Vec<String> =
            rows.iter().map(|(name, value)| format!("{name:<12} {}", one_line(value, 200))).collect();
        fenced(&lines.join("\n"))
    }

    fn spend_note(&self) -> String {
        let day = Zoned::now().date().to_string();
        let spent = |kind| self.store.database.spent(kind, &day).map(|spent| spent.total_micros() as f64 / 1e6);
        match (spent(SpendKind::Usd), spent(SpendKind::WebCredits)) {
            (Ok(usd), Ok(credits)) => {
                let (cap, searches) = (self.caps.0 as f64 / 1e6, self.caps.1);
                format!("today: ${usd:.4} of ${cap:.2} · {credits} of {searches} paid searches")
            }
            (Err(error), _) | (_, Err(error)) => format!("{error} ({})", error.hint()),
        }
    }
}

/// Lines as they are: a fence longer than any in them.
fn fenced(text: &str) -> String {
    let mut longest = 0;
    for line in text.split(|character| character != '`') {
        longest = longest.max(line.len());
    }
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

/// A line of somebody's words in a Markdown list.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        if "\\`*_[]<>#|~!&".contains(character) {
            safe.push('\\');
        }
        safe.push(character);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_a_note_stay_words() {
        assert_eq!(
            crate::markdown::html(&escaped("a *b* [c](https://x) <i>")),
            "<p>a *b* [c](https://x) &lt;i&gt;</p>\n"
        );
        let html = crate::markdown::html(&fenced("x\n```\n<b>"));
        assert_eq!(html, "<pre><code>x\n```\n&lt;b&gt;\n</code></pre>\n");
    }
}

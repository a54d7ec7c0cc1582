//! The real console: a line editor on a terminal, lines on a pipe, or lines of the command line.
//!
//! One thread reads. At the prompt it runs the editor; while a turn runs the terminal is as it
//! always is, so that Ctrl-C is a signal and what is typed is echoed: a line typed then is the
//! answer to the question that stands open, else it waits for its turn. A line that was typed before
//! a question was shown never answers it.

use std::collections::VecDeque;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};

use tenpass_model::BoxFuture;
use tokio::sync::{mpsc as channel, oneshot};

use super::console::{Console, Features, Line};
use super::editor::{Above, LineEditor};
use crate::failure::Failure;
use crate::printer::Printer;

/// What the reader's thread is asked for.
enum Wanted {
    /// One line of the editor.
    Prompt,
    /// Whatever is typed while a turn runs or a question stands open.
    Plain,
}

#[derive(Default)]
struct Shared {
    /// A turn runs.
    is_running: AtomicBool,
    /// Where the next plain line goes, when a question stands open.
    question: Mutex<Option<oneshot::Sender<Line>>>,
    /// Prints above the editor's prompt.
    above: Mutex<Option<Above>>,
    is_prompting: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread on a terminal.
struct Typed {
    wanted: mpsc::Sender<Wanted>,
    shared: Arc<Shared>,
    lines: tokio::sync::Mutex<channel::UnboundedReceiver<Line>>,
    overheard: tokio::sync::Mutex<channel::UnboundedReceiver<Line>>,
    /// A prompt was asked for and has not been answered yet.
    is_asked: AtomicBool,
}

/// See the module.
pub(super) struct Terminal {
    printer: Printer,
    history: PathBuf,
    is_typed: bool,
    /// Messages of the command line; then nobody is prompted.
    script: Option<Mutex<VecDeque<String>>>,
    typed: OnceLock<Typed>,
    piped: OnceLock<tokio::sync::Mutex<channel::Receiver<Line>>>,
}

impl Terminal {
    /// A console. With messages of the command line, stdin only answers confirmations.
    pub(super) fn new(printer: Printer, history: PathBuf, say: &[String]) -> Self {
        let script = (!say.is_empty()).then(|| Mutex::new(say.iter().cloned().collect()));
        let is_typed = std::io::stdin().is_terminal();
        Self { printer, history, is_typed, script, typed: OnceLock::new(), piped: OnceLock::new() }
    }

    /// The thread on the terminal, started when it is first needed.
    fn typed(&self) -> &Typed {
        self.typed.get_or_init(|| Typed::start(self.history.clone(), self.printer.is_terminal()))
    }

    fn piped(&self) -> &tokio::sync::Mutex<channel::Receiver<Line>> {
        self.piped.get_or_init(|| tokio::sync::Mutex::new(pipe()))
    }
}

/// Reads stdin line by line, no further ahead than a few lines.
fn pipe() -> channel::Receiver<Line> {
    let (sender, receiver) = channel::channel(4);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(bytes) = line else { break };
            let text = String::from_utf8_lossy(&bytes).trim_end_matches('\r').to_owned();
            if sender.blocking_send(Line::Text(text)).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Typed {
    fn start(history: PathBuf, on_terminal: bool) -> Self {
        let (wanted, asked) = mpsc::channel();
        let (line_sender, lines) = channel::unbounded_channel();
        let (overheard_sender, overheard) = channel::unbounded_channel();
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            let mut reader =
                Reader { shared: for_thread, editor: None, history, on_terminal, overheard: overheard_sender };
            for wanted in asked {
                match wanted {
                    Wanted::Plain => reader.listen(),
                    Wanted::Prompt => {
                        let line = reader.prompt();
                        if line_sender.send(line).is_err() {
                            return;
                        }
                    }
                }
            }
        });
        let (lines, overheard) = (tokio::sync::Mutex::new(lines), tokio::sync::Mutex::new(overheard));
        Self { wanted, shared, lines, overheard, is_asked: AtomicBool::new(false) }
    }

    async fn line(&self) -> Line {
        let mut lines = self.lines.lock().await;
        if !self.is_asked.swap(true, Ordering::SeqCst) && self.wanted.send(Wanted::Prompt).is_err() {
            return Line::End;
        }
        let line = lines.recv().await.unwrap_or(Line::End);
        self.is_asked.store(false, Ordering::SeqCst);
        line
    }

    async fn answer(&self) -> Line {
        let (sender, answer) = oneshot::channel();
        *locked(&self.shared.question) = Some(sender);
        // Withdrawn when this future is dropped: a late line answers nothing.
        let _withdrawal = Withdrawal(&self.shared);
        if !self.shared.is_running.load(Ordering::SeqCst) && self.wanted.send(Wanted::Plain).is_err() {
            return Line::End;
        }
        answer.await.unwrap_or(Line::End)
    }
}

struct Withdrawal<'a>(&'a Shared);

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        locked(&self.0.question).take();
    }
}

/// What the thread has.
struct Reader {
    shared: Arc<Shared>,
    editor: Option<LineEditor>,
    history: PathBuf,
    on_terminal: bool,
    overheard: channel::UnboundedSender<Line>,
}

impl Reader {
    /// One line of the editor.
    fn prompt(&mut self) -> Line {
        if self.editor.is_none() {
            match LineEditor::open(&self.history, self.on_terminal) {
                Ok((editor, above)) => {
                    *locked(&self.shared.above) = above;
                    self.editor = Some(editor);
                }
                Err(_) => return plain_line(),
            }
        }
        self.shared.is_prompting.store(true, Ordering::SeqCst);
        let line = self.editor.as_mut().map_or(Line::End, LineEditor::read);
        self.shared.is_prompting.store(false, Ordering::SeqCst);
        line
    }

    /// Plain lines until the turn is over and no question stands open.
    fn listen(&mut self) {
        // Ctrl-D is an end that is over at once; a terminal that is gone ends again and again.
        let mut ends = 0;
        while ends < 3 {
            let is_asked = locked(&self.shared.question).is_some();
            if !is_asked && !self.shared.is_running.load(Ordering::SeqCst) {
                return;
            }
            if !is_readable(is_asked) {
                continue;
            }
            let line = plain_line();
            ends = if line == Line::End { ends + 1 } else { 0 };
            let question = locked(&self.shared.question).take();
            let unanswered = match question {
                Some(question) => question.send(line).err(),
                None => Some(line),
            };
            if let Some(line) = unanswered
                && self.overheard.send(line).is_err()
            {
                return;
            }
        }
        locked(&self.shared.question).take();
    }
}

/// One line as the terminal gives it.
fn plain_line() -> Line {
    let mut text = String::new();
    match std::io::stdin().lock().read_line(&mut text) {
        Ok(0) | Err(_) => Line::End,
        Ok(_) => Line::Text(text.trim_end_matches(['\n', '\r']).to_owned()),
    }
}

/// Waits a moment for a line; false when there is none yet.
#[cfg(unix)]
fn is_readable(_is_asked: bool) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    const MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 30_000_000 };
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut watched, Some(&MOMENT)) {
        Ok(count) => count > 0,
        // A signal came in between.
        Err(rustix::io::Errno::INTR) => false,
        Err(_) => true,
    }
}

/// Where waiting cannot be ended, only questions are waited for.
#[cfg(not(unix))]
fn is_readable(is_asked: bool) -> bool {
    if !is_asked {
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    is_asked
}

impl Console for Terminal {
    fn features(&self) -> Features {
        Features {
            is_terminal: self.printer.is_terminal(),
            is_typed: self.is_typed,
            is_colored: self.printer.colored(),
            width: self.printer.width(),
            height: self.printer.height(),
        }
    }

    fn write(&self, text: &str) {
        self.printer.piece(text);
    }

    fn announce(&self, text: &str) {
        if let Some(typed) = self.typed.get().filter(|typed| typed.shared.is_prompting.load(Ordering::SeqCst))
            && let Some(above) = locked(&typed.shared.above).as_mut()
            && above.print(text.to_owned()).is_ok()
        {
            return;
        }
        self.printer.piece(text);
    }

    fn note(&self, text: &str) {
        self.printer.note(text);
    }

    fn failure(&self, failure: &Failure) {
        self.printer.failure(failure);
    }

    fn line(&self) -> BoxFuture<'_, Line> {
        Box::pin(async move {
            if let Some(script) = &self.script {
                return locked(script).pop_front().map_or(Line::End, Line::Text);
            }
            if self.is_typed {
                return self.typed().line().await;
            }
            self.piped().lock().await.recv().await.unwrap_or(Line::End)
        })
    }

    fn answer(&self) -> BoxFuture<'_, Line> {
        Box::pin(async move {
            if self.is_typed {
                return self.typed().answer().await;
            }
            self.piped().lock().await.recv().await.unwrap_or(Line::End)
        })
    }

    fn turn(&self, is_running: bool) {
        if !self.is_typed {
            return;
        }
        let typed = self.typed();
        let was_running = typed.shared.is_running.swap(is_running, Ordering::SeqCst);
        if is_running && !was_running {
            // The thread is gone only when the program ends.
            let _ = typed.wanted.send(Wanted::Plain);
        }
    }

    fn overhear(&self) -> BoxFuture<'_, Line> {
        Box::pin(async move {
            if !self.is_typed {
                return std::future::pending().await;
            }
            match self.typed().overheard.lock().await.recv().await {
                Some(line) => line,
                None => std::future::pending().await,
            }
        })
    }

    fn interrupted(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tenpass_bench::run::{EventSink, RunEvent};
use tenpass_catalog::{Progress, PullEvent};

use crate::printer::Printer;

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panicking holder leaves counters that are still fit to show.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bar(template: &str) -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8))
        .with_style(style.progress_chars("━╸ "));
    bar.enable_steady_tick(Duration::from_millis(250));
    Some(bar)
}

/// Shows a run.
pub(crate) struct RunProgress {
    printer: Printer,
    bar: Option<ProgressBar>,
    state: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    started: Option<Instant>,
    last_line: Option<Instant>,
    total: u64,
    before: u64,
    done: u64,
    right: HashMap<String, (u64, u64)>,
    invalid: u64,
}

impl RunProgress {
    pub(crate) fn new(printer: Printer) -> Self {
        let bar = bar("{elapsed_precise} {bar:28} {pos}/{len} passes · {per_sec} · {eta} left · {msg}");
        Self { printer, bar, state: Mutex::default() }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.printer.note(text),
        }
    }

    fn finished(&self, configuration: &str, success: Option<bool>) {
        let mut state = locked(&self.state);
        state.done += 1;
        match success {
            Some(success) => {
                let (right, all) = state.right.entry(configuration.to_owned()).or_default();
                *right += u64::from(success);
                *all += 1;
            }
            None => state.invalid += 1,
        }
        if let Some(bar) = &self.bar {
            bar.set_message(state.message());
            bar.inc(1);
            return;
        }
        let now = Instant::now();
        if state.last_line.is_none_or(|last| now.duration_since(last) >= LINE_EVERY) && state.done < state.total {
            state.last_line = Some(now);
            let elapsed = state.started.map_or(0.0, |started| now.duration_since(started).as_secs_f64());
            let rate = (state.done - state.before) as f64 / elapsed.max(1e-9);
            let left = (state.total - state.done) as f64 / rate;
            let line =
                format!("{}/{} passes · {rate:.1}/s · {left:.0} s left · {}", state.done, state.total, state.message());
            drop(state);
            self.printer.note(&line);
        }
    }
}

impl Counts {
    fn message(&self) -> String {
        let (right, all) = self.right.values().fold((0, 0), |(right, all), (r, a)| (right + r, all + a));
        let share =
            if all == 0 { String::new() } else { format!("{:.0} % right so far", 100.0 * right as f64 / all as f64) };
        if self.invalid == 0 { share } else { format!("{share} · {} INVALID", self.invalid) }
    }
}

impl EventSink for RunProgress {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { run, total, already_done } => {
                let now = Instant::now();
                {
                    let mut state = locked(&self.state);
                    (state.started, state.last_line) = (Some(now), Some(now));
                    (state.total, state.before, state.done) = (*total, *already_done, *already_done);
                }
                if let Some(bar) = &self.bar {
                    bar.set_length(*total);
                    bar.set_position(*already_done);
                    bar.reset_eta();
                }
                let rest = if *already_done > 0 { format!(", {already_done} done before") } else { String::new() };
                let passes = if *total == 1 { "pass" } else { "passes" };
                self.say(&format!("run {run}: {total} {passes}{rest}"));
            }
            RunEvent::Shortened { total } => {
                locked(&self.state).total = *total;
                if let Some(bar) = &self.bar {
                    bar.set_length(*total);
                }
            }
            RunEvent::PassFinished { configuration, success, .. } => self.finished(configuration, *success),
            RunEvent::AttemptFailed { case, configuration, pass, attempt, error } => {
                self.say(&format!(
                    "warning: {configuration}, {case}, pass {pass}: attempt {attempt} failed, trying again: {error}"
                ));
            }
            RunEvent::ConfigurationStopped { configuration, error } => {
                self.say(&format!("error: {configuration} was given up: {error}"));
                self.say(&format!("hint: {}", error.hint()));
            }
            RunEvent::RunFinished { .. } | RunEvent::Interrupted { .. } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
        }
    }
}

/// Shows a pull.
pub(crate) struct PullProgress {
    printer: Printer,
    name: String,
    bar: Option<ProgressBar>,
    last: Mutex<(u64, Option<Instant>)>,
}

impl PullProgress {
    pub(crate) fn new(printer: Printer, name: &str) -> Self {
        let bar = bar("{msg} {bar:28} {bytes}/{total_bytes} · {bytes_per_sec} · {eta} left");
        if let Some(bar) = &bar {
            bar.set_message(name.to_owned());
        }
        Self { printer, name: name.to_owned(), bar, last: Mutex::default() }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.printer.note(text),
        }
    }
}

impl Progress for PullProgress {
    fn event(&self, event: &PullEvent<'_>) {
        match event {
            PullEvent::Waiting => self.say(&format!("{}: another process is pulling it; waiting", self.name)),
            PullEvent::Trying { source } => self.say(&format!("{}: {source}", self.name)),
            PullEvent::Bytes { done, total } => {
                if let Some(bar) = &self.bar {
                    bar.set_length((*total).max(*done));
                    bar.set_position(*done);
                    return;
                }
                let mut last = locked(&self.last);
                if last.1.is_none_or(|at| at.elapsed() >= LINE_EVERY) {
                    *last = (*done, Some(Instant::now()));
                    drop(last);
                    self.printer.note(&format!("{}: {} of {} MB", self.name, done / 1_000_000, total / 1_000_000));
                }
            }
            PullEvent::Failed { source, error } => {
                self.say(&format!("{}: {source}: {error}; trying the next source", self.name));
            }
            PullEvent::Verifying => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("{}: checking the hash", self.name));
                }
            }
            PullEvent::Done { path } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
                self.printer.note(&format!("{}: {}", self.name, path.display()));
            }
        }
    }
}

/// Shows work in stages, each with a number of parts.
pub(crate) struct StageProgress {
    printer: Printer,
    bar: Option<ProgressBar>,
    state: Mutex<(String, Option<Instant>, Option<Instant>)>,
}

impl StageProgress {
    pub(crate) fn new(printer: Printer) -> Self {
        let bar = bar("{elapsed_precise} {msg:10} {bar:28} {pos}/{len} · {eta} left");
        Self { printer, bar, state: Mutex::default() }
    }

    /// So many of so many parts of a stage are done.
    pub(crate) fn tell(&self, stage: &str, done: usize, of: usize) {
        let now = Instant::now();
        let mut state = locked(&self.state);
        if state.0 != stage {
            *state = (stage.to_owned(), Some(now), Some(now));
            if let Some(bar) = &self.bar {
                bar.set_message(stage.to_owned());
                bar.set_position(0);
                bar.reset_eta();
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
            return;
        }
        if done == of || state.2.is_none_or(|last| now.duration_since(last) >= LINE_EVERY) {
            state.2 = Some(now);
            let elapsed = state.1.map_or(0.0, |started| now.duration_since(started).as_secs_f64());
            let left = elapsed / done.max(1) as f64 * of.saturating_sub(done) as f64;
            drop(state);
            self.printer.note(&format!("{stage}: {done} of {of} · {left:.0} s left"));
        }
    }

    /// Everything is done.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The level of a microphone while somebody speaks; nothing where no terminal is.
pub(crate) struct LevelMeter(Option<ProgressBar>);

impl LevelMeter {
    /// Levels shown, in decibels below full scale.
    const RANGE_DB: f64 = 60.0;

    pub(crate) fn new() -> Self {
        let bar = bar("  {msg:6} {bar:40}");
        if let Some(bar) = &bar {
            bar.set_length(Self::RANGE_DB as u64);
        }
        Self(bar)
    }

    /// A word in front of it.
    pub(crate) fn message(&self, text: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(text.to_owned());
        }
    }

    /// The level, in decibels below full scale.
    pub(crate) fn level(&self, level_dbfs: f64) {
        if let Some(bar) = &self.0 {
            bar.set_position((level_dbfs + Self::RANGE_DB).clamp(0.0, Self::RANGE_DB) as u64);
        }
    }
}

impl Drop for LevelMeter {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

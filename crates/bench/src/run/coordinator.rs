//! Starts passes as their turn comes and listens to how they end.
//!
//! One task owns all decisions; each pass is a task of its own that reports over a channel. Only
//! one configuration works at a time: the next one's turn begins when the last pass of the
//! previous one has ended, so that they do not slow each other down.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ModelError};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cases::Case;
use crate::rounds::Stage;
use crate::run::pass::{self, Engine, Lane, Limits, Pass, PassEnd, Report};
use crate::run::schedule::Turn;
use crate::run::turns::Turns;
use crate::run::{
    Configuration, EventSink, PreparedCase, RunEvent, RunOptions, RunPlan, StoppedConfiguration, prepare_case,
    salted_seed,
};
use crate::store::{
    CaseSets, ClosedGate, ConfigurationRecord, DecidedComparison, Entry, Found, Manifest, Progress, WriterHandle,
    WriterStopped,
};

/// Reports that may wait for the coordinator.
const REPORTS: usize = 64;

/// How the work ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) measured: u64,
    pub(super) invalid: u64,
    pub(super) cancelled: bool,
    pub(super) stopped: Vec<StoppedConfiguration>,
    /// What was decided early, in a run that stops what is decided.
    pub(super) early: Option<Early>,
}

/// What a run decided early.
#[derive(Debug)]
pub(super) struct Early {
    /// Nothing is left to do.
    pub(super) finished: bool,
    pub(super) decided: Vec<DecidedComparison>,
    pub(super) closed: Vec<ClosedGate>,
}

/// What the coordinator knows about a configuration.
struct Workplace {
    lane: Arc<Lane>,
    record: ConfigurationRecord,
    stage: Arc<Stage>,
    /// The cases as this configuration meets them, where they are not those of the run.
    own_cases: Option<Vec<Arc<Case>>>,
    salt: u32,
    in_flight: usize,
    invalid_in_a_row: u32,
    stopped: bool,
}

/// The (case, configuration) whose passes are being handed out.
struct Current {
    turn: Turn,
    prepared: Arc<PreparedCase>,
    /// Passes not handed out yet, with the attempts already made.
    waiting: std::vec::IntoIter<(u32, u32)>,
}

/// One a configuration; those of one model have one together: what the first has made warm is not cold for the
/// second.
fn engines(plan: &RunPlan) -> Vec<Arc<Engine>> {
    let mut engines: Vec<Arc<Engine>> = Vec::new();
    for configuration in &plan.configurations {
        let is_same =
            |other: &Configuration| std::ptr::addr_eq(Arc::as_ptr(&other.model), Arc::as_ptr(&configuration.model));
        let known = plan.configurations[..engines.len()].iter().position(is_same);
        engines.push(known.map_or_else(Arc::default, |place| Arc::clone(&engines[place])));
    }
    engines
}

fn shared(cases: &[Case]) -> Vec<Arc<Case>> {
    cases.iter().cloned().map(Arc::new).collect()
}

pub(super) struct Coordinator<'a> {
    seed: u64,
    passes: u32,
    limits: Limits,
    give_up_after: u32,
    warm_up: bool,
    /// Of the run; a workplace may have its own versions.
    cases: Vec<Arc<Case>>,
    workplaces: Vec<Workplace>,
    progress: Progress,
    known_requests: Arc<Mutex<HashSet<String>>>,
    turns: Turns,
    /// Passes of which was told that they are not needed.
    not_needed: u64,
    current: Option<Current>,
    writer: WriterHandle,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<Report>,
    reports: mpsc::Receiver<Report>,
    sink: &'a dyn EventSink,
    /// The caller's.
    interrupt: CancellationToken,
    /// Ends everything: the caller's wish, or a store that failed.
    cancel: CancellationToken,
    ending: Ending,
}

impl<'a> Coordinator<'a> {
    #[allow(clippy::too_many_arguments)] // Called once, by `execute`, which has all of these in its hands.
    pub(super) fn new(
        plan: &RunPlan,
        options: &RunOptions,
        manifest: &Manifest,
        cases: &CaseSets,
        found: Found,
        writer: WriterHandle,
        sink: &'a dyn EventSink,
        interrupt: &CancellationToken,
    ) -> Self {
        let cancel = interrupt.child_token();
        let workplaces = plan.configurations.iter().zip(&manifest.configurations).enumerate();
        let engines = engines(plan);
        let workplaces = workplaces.map(|(index, (configuration, record))| Workplace {
            lane: Arc::new(Lane {
                index,
                id: configuration.id.clone(),
                model: Arc::clone(&configuration.model),
                engine: Arc::clone(&engines[index]),
                cancel: cancel.child_token(),
            }),
            record: ConfigurationRecord { jobs: configuration.jobs.max(1), ..record.clone() },
            stage: Arc::new(Stage::of(configuration)),
            own_cases: record.cases.as_ref().map(|_| shared(cases.of(index))),
            salt: configuration.salt,
            in_flight: 0,
            invalid_in_a_row: 0,
            stopped: false,
        });
        let (sender, reports) = mpsc::channel(REPORTS);
        Self {
            seed: plan.seed,
            passes: plan.passes,
            limits: Limits {
                timeout: plan.timeout,
                attempts: options.attempts.max(1),
                retry_pause: options.retry_pause,
            },
            give_up_after: options.give_up_after.max(1),
            warm_up: options.warm_up,
            turns: Turns::of(plan, options, manifest, cases, &found.progress),
            not_needed: 0,
            cases: shared(cases.shared()),
            workplaces: workplaces.collect(),
            progress: found.progress,
            known_requests: Arc::new(Mutex::new(found.requests)),
            current: None,
            writer,
            tasks: JoinSet::new(),
            sender,
            reports,
            sink,
            interrupt: interrupt.clone(),
            cancel,
            ending: Ending::default(),
        }
    }

    /// Works until nothing is left, the run is cancelled or the store fails. All pass tasks have
    /// ended when this returns.
    pub(super) async fn run(mut self) -> Ending {
        if self.warm_up {
            self.warm_up().await;
        }
        loop {
            if self.hand_out().await.is_err() {
                self.cancel.cancel();
            }
            if self.in_flight() == 0 {
                break;
            }
            // Every pass in flight sends a last report, so this cannot wait for ever.
            if let Some(report) = self.reports.recv().await {
                self.hear(report);
            }
        }
        while self.tasks.join_next().await.is_some() {}
        self.ending.cancelled = self.interrupt.is_cancelled();
        self.ending.early = self.early();
        self.ending
    }

    fn in_flight(&self) -> usize {
        self.workplaces.iter().map(|workplace| workplace.in_flight).sum()
    }

    /// Starts passes for as long as the limits allow.
    async fn hand_out(&mut self) -> Result<(), WriterStopped> {
        while !self.cancel.is_cancelled() {
            if self.current.is_none() && !self.next_turn().await? {
                break;
            }
            let Some(current) = &mut self.current else { break };
            let turn = current.turn;
            if self.workplaces[turn.configuration].stopped || current.waiting.len() == 0 {
                self.current = None;
                continue;
            }
            let others_work =
                self.workplaces.iter().any(|other| other.lane.index != turn.configuration && other.in_flight > 0);
            let workplace = &mut self.workplaces[turn.configuration];
            let free = workplace.record.jobs.saturating_sub(workplace.in_flight);
            let wanted = current.waiting.len();
            // Together as far as possible: wait until all fit, if they ever can.
            let fits = if wanted <= workplace.record.jobs { free >= wanted } else { free > 0 };
            if others_work || !fits {
                break;
            }
            let batch: Vec<(u32, u32)> = current.waiting.by_ref().take(free).collect();
            self.start(turn, &batch);
        }
        Ok(())
    }

    /// Takes the next turn that has something to do; false at the end, and where what comes next depends
    /// on passes in flight.
    async fn next_turn(&mut self) -> Result<bool, WriterStopped> {
        while let Some((turn, missing)) = self.turns.next(&self.progress) {
            self.tell_if_shorter();
            let workplace = &self.workplaces[turn.configuration];
            if workplace.stopped || missing.is_empty() {
                continue;
            }
            let case = workplace.own_cases.as_ref().unwrap_or(&self.cases)[turn.case].as_ref();
            let prepared = prepare_case(case, workplace.lane.model.info(), &workplace.record);
            // A scenario's requests are known when it has been played.
            let is_new = case.scenario.is_none()
                && self.known_requests.lock().unwrap_or_else(PoisonError::into_inner).insert(prepared.sha256.clone());
            if is_new {
                self.writer.write(Entry::Request(Box::new(prepared.record()))).await?;
            }
            self.current = Some(Current { turn, prepared: Arc::new(prepared), waiting: missing.into_iter() });
            return Ok(true);
        }
        self.tell_if_shorter();
        Ok(false)
    }

    /// Hands `batch` to the model together.
    fn start(&mut self, turn: Turn, batch: &[(u32, u32)]) {
        let Some(current) = &self.current else { return };
        let prepared = Arc::clone(&current.prepared);
        let workplace = &mut self.workplaces[turn.configuration];
        let case = Arc::clone(&workplace.own_cases.as_ref().unwrap_or(&self.cases)[turn.case]);
        let seed = |number: u32| salted_seed(self.seed, workplace.salt, &case.id, number);
        let seeds: Vec<u64> = batch.iter().map(|(number, _)| seed(*number)).collect();
        let requests = seeds.iter().map(|seed| prepared.seeded(*seed)).collect();
        let started = Instant::now();
        let streams = if case.scenario.is_some() { Vec::new() } else { workplace.lane.model.start_many(requests) };
        workplace.in_flight += batch.len();
        let mut limits = self.limits;
        if workplace.lane.model.info().backend == "embedded" {
            // The engine decodes all passes in one batch: each waits for the others, which is the
            // bench's doing and not the model's. A pass alone gets exactly the limit.
            limits.timeout = limits.timeout.saturating_mul(workplace.in_flight as u32);
        }
        let mut streams = streams.into_iter();
        for ((number, earlier_attempts), seed) in batch.iter().zip(seeds) {
            let pass = Pass {
                lane: Arc::clone(&workplace.lane),
                case_index: turn.case,
                case: Arc::clone(&case),
                prepared: Arc::clone(&prepared),
                stage: case.scenario.is_some().then(|| Arc::clone(&workplace.stage)),
                known_requests: Arc::clone(&self.known_requests),
                number: *number,
                seed,
                earlier_attempts: *earlier_attempts,
                limits,
                writer: self.writer.clone(),
            };
            // A model that returns fewer streams than requests breaks its contract; the pass that
            // got none ends like one whose stream ended at once.
            let stream = streams.next().unwrap_or_else(|| futures_util::stream::empty().boxed());
            self.tasks.spawn(pass.run(stream, started, self.sender.clone()));
        }
        while self.tasks.try_join_next().is_some() {}
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::AttemptFailed { configuration, case, pass, attempt, error } => {
                let (case, configuration) = self.names(case, configuration);
                self.sink.event(&RunEvent::AttemptFailed { case, configuration, pass, attempt, error });
            }
            Report::Ended { configuration, case, pass, end } => {
                self.workplaces[configuration].in_flight -= 1;
                self.note_result(case, configuration, pass, &end);
                match end {
                    PassEnd::Finished { outcome, elapsed, fault } => {
                        self.ending.measured += 1;
                        self.ending.invalid += u64::from(outcome.success.is_none());
                        let (case, configuration_id) = self.names(case, configuration);
                        self.sink.event(&RunEvent::PassFinished {
                            case,
                            configuration: configuration_id,
                            pass,
                            success: outcome.success,
                            class: outcome.class,
                            elapsed,
                        });
                        self.count_faults(configuration, fault);
                    }
                    PassEnd::Fatal(error) => self.stop(configuration, error),
                    PassEnd::Cancelled => {}
                    PassEnd::StoreFailed => self.cancel.cancel(),
                }
            }
        }
    }

    /// In a run that stops what is decided: how the pass ended may decide something.
    fn note_result(&mut self, case: usize, configuration: usize, pass: u32, end: &PassEnd) {
        let Turns::Waves(waves) = &mut self.turns else { return };
        let success = if let PassEnd::Finished { outcome, .. } = end { outcome.success } else { None };
        waves.note(case, configuration, pass, success);
        self.tell_if_shorter();
    }

    fn tell_if_shorter(&mut self) {
        let Turns::Waves(waves) = &self.turns else { return };
        if waves.not_needed() > self.not_needed {
            self.not_needed = waves.not_needed();
            let whole = (self.cases.len() * self.workplaces.len()) as u64 * u64::from(self.passes);
            self.sink.event(&RunEvent::Shortened { total: whole - self.not_needed });
        }
    }

    fn early(&mut self) -> Option<Early> {
        let Turns::Waves(waves) = &mut self.turns else { return None };
        let names: Vec<String> = self.workplaces.iter().map(|workplace| workplace.lane.id.clone()).collect();
        let finished = !self.cancel.is_cancelled() && self.ending.stopped.is_empty() && waves.is_over();
        let (decided, closed) = waves.results(&names);
        let closed = closed.into_iter().map(|(case, passes)| ClosedGate { case: self.cases[case].id.clone(), passes });
        Some(Early { finished, decided, closed: closed.collect() })
    }

    fn names(&self, case: usize, configuration: usize) -> (String, String) {
        (self.cases[case].id.clone(), self.workplaces[configuration].lane.id.clone())
    }

    /// Gives a configuration up when nothing but faults comes back. A prompt that does not fit is
    /// the case's affair and says nothing about the next one.
    fn count_faults(&mut self, configuration: usize, fault: Option<ModelError>) {
        let workplace = &mut self.workplaces[configuration];
        match fault {
            None => workplace.invalid_in_a_row = 0,
            Some(ModelError::Overflow { .. }) => {}
            Some(error) => {
                workplace.invalid_in_a_row += 1;
                if workplace.invalid_in_a_row >= self.give_up_after {
                    self.stop(configuration, error);
                }
            }
        }
    }

    fn stop(&mut self, configuration: usize, error: ModelError) {
        let workplace = &mut self.workplaces[configuration];
        if std::mem::replace(&mut workplace.stopped, true) {
            return;
        }
        workplace.lane.cancel.cancel();
        if let Turns::Waves(waves) = &mut self.turns {
            waves.stop(configuration);
        }
        let id = workplace.lane.id.clone();
        self.sink.event(&RunEvent::ConfigurationStopped { configuration: id.clone(), error: error.clone() });
        self.ending.stopped.push(StoppedConfiguration { configuration: id, error });
    }

    /// Asks every configuration its first missing question for one token, unrecorded.
    async fn warm_up(&mut self) {
        for configuration in 0..self.workplaces.len() {
            let workplace = &self.workplaces[configuration];
            let case = (0..self.cases.len()).find(|case| !self.progress.missing(*case, configuration).is_empty());
            let Some(case) = case else { continue };
            let lane = Arc::clone(&workplace.lane);
            let case = workplace.own_cases.as_ref().unwrap_or(&self.cases)[case].as_ref();
            let mut request = prepare_case(case, lane.model.info(), &workplace.record).request;
            request.options.max_tokens = 1;
            let answer = async {
                let mut stream = lane.model.start(request);
                while let Some(event) = stream.next().await {
                    if matches!(event, Ok(ChatEvent::Done(_)) | Err(_)) {
                        return event.err();
                    }
                }
                None
            };
            let fault = tokio::select! {
                () = self.cancel.cancelled() => return,
                fault = tokio::time::timeout(self.limits.timeout, answer) => fault.unwrap_or(None),
            };
            lane.engine.warm.store(true, Ordering::Relaxed);
            if let Some(error) = fault.filter(pass::is_fatal) {
                self.stop(configuration, error);
            }
        }
    }
}

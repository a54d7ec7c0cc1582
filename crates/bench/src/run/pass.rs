//! One pass: attempts until there is an answer, each one recorded raw before it is judged.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures_util::StreamExt;
use tenpass_model::{ChatModel, ChatStream, ModelError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cases::Case;
use crate::rounds::{Stage, play};
use crate::run::PreparedCase;
use crate::run::attempt::{self, Attempt};
use crate::run::judge::judge;
use crate::store::{Entry, Fault, OutcomeRecord, PassRecord, WriterHandle, WriterStopped, timestamp};

/// What a pass tells the coordinator; the last message of every pass says how it ended.
#[derive(Debug)]
pub(super) enum Report {
    /// An attempt failed and is repeated.
    AttemptFailed { configuration: usize, case: usize, pass: u32, attempt: u32, error: ModelError },
    /// The pass ended.
    Ended { configuration: usize, case: usize, pass: u32, end: PassEnd },
}

/// How a pass ended.
#[derive(Debug)]
pub(super) enum PassEnd {
    /// It has its result; the fault, when the result is INVALID.
    Finished { outcome: Arc<OutcomeRecord>, elapsed: Duration, fault: Option<ModelError> },
    /// The configuration cannot go on.
    Fatal(ModelError),
    /// It was cancelled.
    Cancelled,
    /// The store failed.
    StoreFailed,
}

/// What the passes of one configuration share.
pub(super) struct Lane {
    pub(super) index: usize,
    pub(super) id: String,
    pub(super) model: Arc<dyn ChatModel>,
    /// What is known of the model's engine, shared by the configurations that use it.
    pub(super) engine: Arc<Engine>,
    pub(super) cancel: CancellationToken,
}

/// A model in this process: cold until some configuration has had an answer of it.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// Whether it has begun an answer in this process.
    pub(super) warm: AtomicBool,
    /// The first case it was asked in this process: only its passes can be cold. An engine that
    /// takes every pass at once would otherwise have nothing but cold ones.
    pub(super) first_case: OnceLock<usize>,
}

/// Limits of every pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    pub(super) retry_pause: Duration,
}

/// One pass about to run.
pub(super) struct Pass {
    pub(super) lane: Arc<Lane>,
    pub(super) case_index: usize,
    pub(super) case: Arc<Case>,
    pub(super) prepared: Arc<PreparedCase>,
    /// Where the scenario is played, when the case is one.
    pub(super) stage: Option<Arc<Stage>>,
    /// Requests that are in the store.
    pub(super) known_requests: Arc<Mutex<HashSet<String>>>,
    pub(super) number: u32,
    pub(super) seed: u64,
    /// Attempts made in earlier sessions.
    pub(super) earlier_attempts: u32,
    pub(super) limits: Limits,
    pub(super) writer: WriterHandle,
}

impl Pass {
    /// Runs the pass whose first attempt was started as `stream` at `started`; a scenario starts its
    /// own requests, so the stream is not looked at.
    pub(super) async fn run(self, stream: ChatStream, started: Instant, reports: mpsc::Sender<Report>) {
        let end = match self.attempts(stream, started, &reports).await {
            Ok(end) => end,
            Err(WriterStopped) => PassEnd::StoreFailed,
        };
        let (configuration, case, pass) = (self.lane.index, self.case_index, self.number);
        // Before the coordinator learns of the end, so that it can wait for the writer.
        drop(self);
        let _ = reports.send(Report::Ended { configuration, case, pass, end }).await;
    }

    async fn attempts(
        &self,
        mut stream: ChatStream,
        mut started: Instant,
        reports: &mpsc::Sender<Report>,
    ) -> Result<PassEnd, WriterStopped> {
        let mut made = 0;
        loop {
            made += 1;
            let first_case = *self.lane.engine.first_case.get_or_init(|| self.case_index);
            let cold = first_case == self.case_index && !self.lane.engine.warm.load(Ordering::Relaxed);
            let began = SystemTime::now();
            let on_first_token = || self.lane.engine.warm.store(true, Ordering::Relaxed);
            let name = &self.lane.model.info().spec;
            let limit = self.limits.timeout;
            let attempt = if let Some((stage, scenario)) = self.stage.as_ref().zip(self.case.scenario.as_deref()) {
                drop(stream);
                play(scenario, &self.case.tools, stage, self.seed, limit, &self.lane.cancel).await.map(Attempt::of)
            } else {
                attempt::read(stream, name, started, limit, &self.lane.cancel, on_first_token).await
            };
            let Some(mut attempt) = attempt else { return Ok(PassEnd::Cancelled) };
            self.keep_requests(&mut attempt).await?;
            let error = attempt.error.clone();
            let fatal = error.as_ref().is_some_and(is_fatal);
            let repeat = error.as_ref().is_some_and(ModelError::is_transient) && made < self.limits.attempts;
            let record = Arc::new(self.record(attempt, made, !fatal && !repeat, cold, began));
            self.writer.write(Entry::Pass(Arc::clone(&record))).await?;
            match error {
                Some(error) if fatal => return Ok(PassEnd::Fatal(error)),
                Some(error) if repeat => {
                    let report = Report::AttemptFailed {
                        configuration: self.lane.index,
                        case: self.case_index,
                        pass: self.number,
                        attempt: record.attempt,
                        error,
                    };
                    let _ = reports.send(report).await;
                }
                fault => return self.finish(&record, fault).await,
            }
            let pause = self.limits.retry_pause * 2_u32.saturating_pow(made - 1);
            tokio::select! {
                () = self.lane.cancel.cancelled() => return Ok(PassEnd::Cancelled),
                () = tokio::time::sleep(pause) => {}
            }
            started = Instant::now();
            stream = match &self.stage {
                Some(_) => futures_util::stream::empty().boxed(),
                None => self.lane.model.start(self.prepared.seeded(self.seed)),
            };
        }
    }

    /// Writes the requests of a play that the store does not have yet.
    async fn keep_requests(&self, attempt: &mut Attempt) -> Result<(), WriterStopped> {
        for request in std::mem::take(&mut attempt.requests) {
            let is_new = {
                let mut known = self.known_requests.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(request.sha256.clone())
            };
            if is_new {
                self.writer.write(Entry::Request(Box::new(request))).await?;
            }
        }
        if attempt.played.is_some() {
            self.lane.engine.warm.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn finish(&self, record: &PassRecord, fault: Option<ModelError>) -> Result<PassEnd, WriterStopped> {
        let outcome = Arc::new(judge(record, &self.case, &self.prepared.offered));
        self.writer.write(Entry::Outcome(Arc::clone(&outcome))).await?;
        let elapsed = Duration::from_secs_f64(record.timings.total_ms / 1e3);
        Ok(PassEnd::Finished { outcome, elapsed, fault })
    }

    fn record(&self, attempt: Attempt, made: u32, is_final: bool, cold: bool, began: SystemTime) -> PassRecord {
        PassRecord {
            case: self.case.id.clone(),
            configuration: self.lane.id.clone(),
            pass: self.number,
            attempt: self.earlier_attempts + made,
            is_final,
            end: attempt.end,
            fault: attempt.error.as_ref().map(fault_of),
            cold,
            seed: self.seed,
            request: attempt.first_request().unwrap_or(&self.prepared.sha256).to_owned(),
            started: timestamp(began),
            timings: attempt.timings,
            usage: attempt.usage(),
            finish: attempt.finish(),
            endpoint: attempt.endpoint(),
            declared_shape: self.prepared.declared_shape.clone(),
            text: attempt.text,
            thinking: attempt.thinking,
            calls: attempt.calls,
            played: attempt.played,
        }
    }
}

fn fault_of(error: &ModelError) -> Fault {
    Fault {
        class: error.class(),
        message: error.to_string(),
        hint: error.hint().to_owned(),
        transient: error.is_transient(),
    }
}

/// Whether every further request of the configuration would fail like this one.
pub(super) fn is_fatal(error: &ModelError) -> bool {
    match error {
        ModelError::NotFound { .. }
        | ModelError::Load { .. }
        | ModelError::Template { .. }
        | ModelError::Unsupported { .. } => true,
        ModelError::Http { status, .. } => matches!(status, 401 | 403 | 404),
        _ => false,
    }
}

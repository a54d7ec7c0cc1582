//! Drives one turn: carries out its steps, with the stop and the clock beside each of them.

use std::time::Duration;

use tenpass_model::ChatRequest;
use tenpass_trace::{ConfirmationAnswer, ToolCall, TraceEvent, TraceRecord, TurnEnd};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Agent, TurnInput, TurnReport, TurnTimings};
use crate::interaction::{AgentEvent, Confirmation, Interaction, RecordError, RunState};
use crate::policy::Approvals;
use crate::tool::CallContext;
use crate::turn::{EscalationRequest, Limits, Step, Turn, TurnOutcome, masked_request};

/// One running turn.
pub(super) struct Driver<'a> {
    pub(super) agent: &'a Agent,
    pub(super) turn: Turn,
    pub(super) interaction: &'a dyn Interaction,
    pub(super) stop: CancellationToken,
    pub(super) started: Instant,
    /// When the turn's time is up; moves with every confirmation that stands open.
    pub(super) deadline: Instant,
    /// What is on the display since the last [`AgentEvent::Discard`].
    pub(super) displayed: String,
    pub(super) first_text_ms: Option<f64>,
    pub(super) first_request: Option<ChatRequest>,
    pub(super) last_request: Option<ChatRequest>,
    context: CallContext,
    limits: Limits,
    approvals: Approvals,
    waited: Duration,
    state: RunState,
    record_error: Option<RecordError>,
}

/// What ended a wait.
pub(super) enum Waited<T> {
    /// It came.
    Done(T),
    /// The person stopped the turn.
    Stopped,
    /// The time is up.
    TimedOut,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        agent: &'a Agent,
        input: &TurnInput,
        turn: Turn,
        interaction: &'a dyn Interaction,
        stop: CancellationToken,
    ) -> Self {
        let started = Instant::now();
        let limits = agent.settings.limits.unwrap_or_else(|| Limits::for_profile(input.profile));
        let context = CallContext {
            thread: input.thread.clone(),
            turn: input.turn.clone(),
            user_text: input.user_text.clone(),
            recent: input.recent.clone(),
            tainted: input.tainted,
            now: agent.clock.now(),
            cancel: stop.child_token(),
        };
        Self {
            agent,
            turn,
            interaction,
            stop,
            started,
            deadline: started + limits.time(input.think),
            displayed: String::new(),
            first_text_ms: None,
            first_request: None,
            last_request: None,
            context,
            limits,
            approvals: Approvals::default(),
            waited: Duration::ZERO,
            state: RunState::Idle,
            record_error: None,
        }
    }

    /// Runs the turn to its end.
    pub(super) async fn drive(mut self) -> TurnReport {
        loop {
            self.flush();
            let step = self.turn.next();
            // Between two steps as well: no call starts after the stop.
            if !matches!(step, Step::Finish(_)) && self.stop.is_cancelled() {
                self.turn.stopped("");
                continue;
            }
            match step {
                Step::Generate(ask) => self.generate(*ask).await,
                Step::Intend(intention) => {
                    self.show_state(RunState::Acting);
                    let written = self.agent.recorder.intention(&intention);
                    self.turn.intended(written);
                }
                Step::Inspect(call) => {
                    let inspection = self.agent.tools.inspect(&call);
                    self.turn.inspected(inspection);
                }
                Step::Confirm(confirmation) => self.confirm(confirmation).await,
                Step::Execute(call) => self.execute(call).await,
                Step::Escalate(request) => self.escalate(request).await,
                Step::Finish(outcome) => return self.report(*outcome),
            }
        }
    }

    /// Writes what has to be recorded, then shows what has to be shown. A trace that cannot be
    /// written ends the turn: nothing happens without a record.
    fn flush(&mut self) {
        let records = self.turn.drain_records();
        self.record(records);
        if let (Some(error), false) = (&self.record_error, self.turn.is_finished()) {
            self.turn.unrecordable(error);
            // The calls that this ends cannot be recorded either.
            self.turn.drain_records();
        }
        if let (Step::Finish(outcome), None) = (self.turn.next(), &self.record_error) {
            let ms = self.elapsed_ms();
            self.record(vec![outcome.final_record(ms)]);
        }
        for event in self.turn.drain_events() {
            self.show(event);
        }
    }

    fn record(&mut self, events: Vec<TraceEvent>) {
        for event in events {
            if self.record_error.is_some() {
                return;
            }
            let (thread, turn) = (self.context.thread.clone(), self.context.turn.clone());
            self.record_error = self.agent.recorder.trace(&TraceRecord { thread, turn, event }).err();
        }
    }

    fn show(&mut self, event: AgentEvent) {
        if let AgentEvent::Finished { text, .. } = &event {
            self.show_whole(text);
        }
        self.interaction.event(event);
    }

    /// Makes the display hold exactly the answer: what streamed may have been a preview of it.
    fn show_whole(&mut self, text: &str) {
        if self.displayed.trim() != text.trim() {
            self.discard();
            if !text.trim().is_empty() {
                self.show_text(text.to_owned());
            }
        }
    }

    /// Withdraws what streamed.
    pub(super) fn discard(&mut self) {
        if !self.displayed.is_empty() {
            self.displayed.clear();
            self.first_text_ms = None;
            self.interaction.event(AgentEvent::Discard);
        }
    }

    /// Shows a piece of the answer, cleaned already.
    pub(super) fn show_text(&mut self, piece: String) {
        if piece.is_empty() {
            return;
        }
        self.show_state(RunState::Generating);
        if self.first_text_ms.is_none() {
            self.first_text_ms = Some(self.elapsed_ms());
        }
        self.displayed.push_str(&piece);
        self.interaction.event(AgentEvent::Text(piece));
    }

    pub(super) fn show_state(&mut self, state: RunState) {
        if self.state != state {
            self.state = state;
            self.interaction.event(AgentEvent::State(state));
        }
    }

    pub(super) fn elapsed_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Waits for `future`, for the stop, or for the turn's time; whatever loses is dropped.
    async fn wait<T>(&self, future: impl Future<Output = T>) -> Waited<T> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Waited::Stopped,
            () = tokio::time::sleep_until(self.deadline) => Waited::TimedOut,
            value = future => Waited::Done(value),
        }
    }

    /// Shows a confirmation. The wait ends with the reply, at its expiry or with the stop; the
    /// turn's time stands still meanwhile.
    async fn confirm(&mut self, confirmation: Confirmation) {
        self.show_state(RunState::Acting);
        let shown_at = Instant::now();
        let interaction = self.interaction;
        let reply = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            reply = interaction.confirm(&confirmation) => Some(reply),
            () = tokio::time::sleep(confirmation.expires_in) => None,
        };
        let now = Instant::now();
        let waited = now - shown_at;
        self.deadline += waited;
        self.waited += waited;
        let answer = match reply {
            Some(reply) => self.approvals.accept(&confirmation, shown_at.into_std(), &reply, now.into_std()),
            None if self.stop.is_cancelled() => ConfirmationAnswer::Stopped,
            None => ConfirmationAnswer::Expired,
        };
        self.turn.confirmed(answer, waited.as_secs_f64() * 1e3);
    }

    async fn execute(&mut self, call: ToolCall) {
        self.show_state(RunState::Acting);
        let began = Instant::now();
        let context = CallContext {
            tainted: self.turn.is_tainted(),
            now: self.agent.clock.now(),
            cancel: self.stop.child_token(),
            ..self.context.clone()
        };
        let tools = &self.agent.tools;
        match self.wait(tools.run(&call, &context)).await {
            Waited::Done(output) => self.turn.executed(output, began.elapsed().as_secs_f64() * 1e3),
            Waited::Stopped => {
                context.cancel.cancel();
                self.turn.stopped("");
            }
            Waited::TimedOut => {
                context.cancel.cancel();
                self.turn.timed_out("");
            }
        }
    }

    /// Asks the provider, with a time of its own: the turn's may be up already.
    async fn escalate(&mut self, request: EscalationRequest) {
        self.show_state(RunState::Thinking);
        let Some(escalation) = self.agent.escalation.clone() else {
            return self.turn.escalated(Err("no provider is configured".to_owned()));
        };
        let limit = self.limits.escalation_timeout;
        let context = CallContext { now: self.agent.clock.now(), ..self.context.clone() };
        let answer = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            answer = tokio::time::timeout(limit, escalation.escalate(&request.messages, &context)) => Some(answer),
        };
        match answer {
            None => self.turn.stopped(""),
            Some(Ok(answer)) => self.turn.escalated(answer),
            Some(Err(_)) => self.turn.escalated(Err(format!("no answer in {} s", limit.as_secs()))),
        }
    }

    fn report(mut self, outcome: TurnOutcome) -> TurnReport {
        let failed = outcome.end == TurnEnd::Failed || self.record_error.is_some();
        self.show_state(if failed { RunState::Error } else { RunState::Done });
        TurnReport {
            // An end that could not be recorded is none that may be learned from.
            end: if self.record_error.is_some() { TurnEnd::Failed } else { outcome.end },
            text: outcome.text,
            author: outcome.author,
            thinking: outcome.thinking,
            messages: outcome.messages,
            ledger: outcome.ledger,
            first_request: self.first_request.as_ref().map(masked_request),
            last_request: self.last_request.as_ref().map(masked_request),
            confirmations: outcome.confirmations,
            rounds: outcome.rounds,
            tainted: outcome.tainted,
            fault: outcome.fault,
            record_error: self.record_error,
            timings: TurnTimings {
                first_text_ms: self.first_text_ms,
                total_ms: self.started.elapsed().as_secs_f64() * 1e3,
                waited_ms: self.waited.as_secs_f64() * 1e3,
            },
        }
    }
}

//! A scripted person, journals in memory, a clock that stands still.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Zoned;
use tenpass_model::BoxFuture;
use tenpass_trace::{Intention, TraceEvent, TraceRecord};

use crate::interaction::{AgentEvent, Clock, Confirmation, Interaction, RecordError, Recorder, Reply};

type Answer = dyn Fn(&Confirmation) -> Option<Reply> + Send + Sync;

/// A person that answers confirmations by a closure and remembers what was shown.
pub struct ScriptedPerson {
    answer: Box<Answer>,
    delay: Duration,
    shown: Mutex<Vec<AgentEvent>>,
    asked: Mutex<Vec<Confirmation>>,
}

impl ScriptedPerson {
    /// A person that answers by `answer`; `None` stays silent.
    pub fn new(answer: impl Fn(&Confirmation) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self { answer: Box::new(answer), delay: Duration::ZERO, shown: Mutex::default(), asked: Mutex::default() }
    }

    /// Says yes to everything.
    pub fn approving() -> Self {
        Self::new(|confirmation| Some(Reply::Approve { digest: confirmation.digest.clone() }))
    }

    /// Says no to everything.
    pub fn refusing() -> Self {
        Self::new(|_| Some(Reply::Refuse))
    }

    /// Never answers.
    pub fn silent() -> Self {
        Self::new(|_| None)
    }

    /// The same person, taking this long.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Every event so far.
    pub fn events(&self) -> Vec<AgentEvent> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every confirmation that was shown.
    pub fn asked(&self) -> Vec<Confirmation> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a display that follows the events holds: text since the last withdrawal.
    pub fn display(&self) -> String {
        let mut text = String::new();
        for event in self.events() {
            match event {
                AgentEvent::Text(piece) => text.push_str(&piece),
                AgentEvent::Discard => text.clear(),
                _ => {}
            }
        }
        text
    }
}

impl Interaction for ScriptedPerson {
    fn event(&self, event: AgentEvent) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(confirmation.clone());
        Box::pin(async move {
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            match (self.answer)(confirmation) {
                Some(reply) => reply,
                None => std::future::pending().await,
            }
        })
    }
}

/// Journals in memory, in one sequence, that fail on demand.
#[derive(Debug, Default)]
pub struct MemoryRecorder {
    intentions: Mutex<Vec<Intention>>,
    traces: Mutex<Vec<TraceRecord>>,
    failing_intention: Option<u32>,
    trace_capacity: Option<usize>,
}

impl MemoryRecorder {
    /// Journals in which the intention of the call with this number cannot be written.
    pub fn failing_intention(call: u32) -> Self {
        Self { failing_intention: Some(call), ..Self::default() }
    }

    /// Journals whose trace takes this many records and no more.
    pub fn holding(records: usize) -> Self {
        Self { trace_capacity: Some(records), ..Self::default() }
    }

    /// Every intention.
    pub fn intentions(&self) -> Vec<Intention> {
        self.intentions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every event of the trace.
    pub fn events(&self) -> Vec<TraceEvent> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|record| record.event.clone()).collect()
    }
}

impl Recorder for MemoryRecorder {
    fn intention(&self, intention: &Intention) -> Result<(), RecordError> {
        if self.failing_intention == Some(intention.call) {
            return Err(RecordError { what: "intentions.jsonl".into(), reason: "no space left".into() });
        }
        self.intentions.lock().unwrap_or_else(PoisonError::into_inner).push(intention.clone());
        Ok(())
    }

    fn trace(&self, record: &TraceRecord) -> Result<(), RecordError> {
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        if self.trace_capacity.is_some_and(|capacity| traces.len() >= capacity) {
            return Err(RecordError { what: "orchestrator-trace.jsonl".into(), reason: "no space left".into() });
        }
        traces.push(record.clone());
        Ok(())
    }
}

/// A clock that shows one time.
#[derive(Debug, Clone)]
pub struct FixedClock(pub Zoned);

impl Default for FixedClock {
    /// The epoch, in UTC.
    fn default() -> Self {
        Self(jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Zoned {
        self.0.clone()
    }
}

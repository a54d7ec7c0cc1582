//! One turn from its beginning to what is told about it, and then the next that waits.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;
use tenpass_agent::run::TurnReport;
use tenpass_agent::session::{Exchange, SessionState};
use tenpass_tools::assistant::{AssistantError, Live, TurnRequest, unborne_claims};
use tenpass_trace::TurnEnd;
use tokio_util::sync::CancellationToken;

use super::history::{Answer, PastTurn, claims_json, end_name};
use super::room::SharedRoom;
use super::say::Said;
use super::view::CallView;
use super::{Conversations, Person};
use crate::markdown::html;
use crate::text::clean;

/// What a turn came to.
struct Outcome {
    end: TurnEnd,
    text: String,
    thinking: String,
    author: String,
    ms: f64,
    claims: Vec<(String, String)>,
    /// What the person is told beside it.
    notes: Vec<String>,
}

impl Conversations {
    /// Carries the turn out. The session comes back into the room whatever happens.
    pub(super) async fn drive(
        self: Arc<Self>,
        room: SharedRoom,
        mut session: SessionState,
        said: Said,
        turn: String,
        stop: CancellationToken,
    ) {
        let _counted = Counted(&self);
        let outcome = match self.model.ready(&stop).await {
            Some(Ok(live)) => self.answered(&live, &room, &mut session, &said, &turn, &stop).await,
            Some(Err(failure)) => {
                let note =
                    format!("{} ({}). Your message is kept; retry sends it again.", failure.message, failure.hint);
                unanswered(&mut session, &said, &turn, TurnEnd::Failed, vec![note])
            }
            None => unanswered(&mut session, &said, &turn, TurnEnd::Stopped, Vec::new()),
        };
        Self::finish(&room, session, &turn, outcome);
        self.raise_alerts();
        self.next(&room);
    }

    async fn answered(
        self: &Arc<Self>,
        live: &Arc<Live>,
        room: &SharedRoom,
        session: &mut SessionState,
        said: &Said,
        turn: &str,
        stop: &CancellationToken,
    ) -> Outcome {
        let memory = live.assistant.memory().cloned();
        let person = Person::new(Arc::clone(self), Arc::clone(room), memory, stop.clone());
        let before = session.think();
        if let Some(setting) = said.think {
            session.set_think(setting);
        }
        let request = TurnRequest { turn: turn.to_owned(), text: &said.text, profile: said.profile, is_stored: true };
        let reported = live.assistant.say_turn(session, request, &person, stop.clone()).await;
        if said.think.is_some() {
            session.set_think(
                before.map_or(tenpass_agent::session::ThinkSetting::Off, tenpass_agent::session::ThinkSetting::Level),
            );
        }
        match reported {
            Ok(report) => outcome(&report),
            Err(error) => {
                let mut notes = vec![error.to_string()];
                if let AssistantError::Busy(busy) = &error {
                    notes.push(busy.hint().to_owned());
                }
                unanswered(session, said, turn, TurnEnd::Failed, notes)
            }
        }
    }

    /// Puts the turn behind, and tells everyone.
    fn finish(room: &SharedRoom, session: SessionState, turn: &str, outcome: Outcome) {
        let (text, notes) = (clean(&outcome.text), outcome.notes);
        let rendered = html(&text);
        let mut state = room.lock();
        state.session = Some(session);
        let Some(running) = state.running.take() else { return };
        let calls: Vec<CallView> = running.view.calls;
        let thinking = clean(&outcome.thinking);
        for note in notes {
            state.publish(room.id(), json!({ "type": "note", "turn": turn, "text": clean(&note) }));
        }
        let claims = claims_json(&outcome.claims);
        state.past.push(PastTurn {
            turn: turn.to_owned(),
            user: running.view.user,
            time: Timestamp::now(),
            calls,
            answer: Some(Answer {
                text: text.clone(),
                html: rendered.clone(),
                end: outcome.end,
                author: outcome.author.clone(),
                thinking: thinking.clone(),
                time: Timestamp::now(),
                claims: outcome.claims,
                latency: None,
            }),
            verdict: None,
            undone: false,
            note: None,
        });
        state.publish(
            room.id(),
            json!({
                "type": "finished", "turn": turn, "end": end_name(outcome.end), "text": text, "html": rendered,
                "thinking": thinking, "author": outcome.author, "ms": outcome.ms.round(), "claims": claims,
            }),
        );
    }

    /// Begins what waited.
    fn next(self: &Arc<Self>, room: &SharedRoom) {
        let next = {
            let mut state = room.lock();
            if state.running.is_some() { None } else { state.queue.pop_front() }
        };
        if let Some(said) = next
            && let Err(refused) = self.start(room, said)
        {
            room.publish(json!({ "type": "note", "text": format!("{} ({})", refused.message, refused.hint) }));
        }
    }
}

fn outcome(report: &TurnReport) -> Outcome {
    let mut notes = Vec::new();
    if let Some(fault) = &report.fault {
        notes.push(format!("{fault} ({})", fault.hint()));
    }
    if let Some(error) = &report.record_error {
        notes.push(format!("{error}; nothing happens unrecorded: check that the disk is not full"));
    }
    Outcome {
        end: report.end,
        text: report.text.clone(),
        thinking: report.thinking.clone(),
        author: report.author.clone(),
        ms: report.timings.total_ms,
        claims: unborne_claims(report).into_iter().map(|claim| (clean(&claim.text), claim.why.to_owned())).collect(),
        notes,
    }
}

/// A message that nobody answered; a retry sends it again.
fn unanswered(session: &mut SessionState, said: &Said, turn: &str, end: TurnEnd, notes: Vec<String>) -> Outcome {
    session.push(Exchange {
        turn: turn.to_owned(),
        user: said.text.clone(),
        assistant: String::new(),
        end,
        memory: Vec::new(),
        undone: false,
    });
    let author = "application".to_owned();
    Outcome { end, text: String::new(), thinking: String::new(), author, ms: 0.0, claims: Vec::new(), notes }
}

/// Counts a running turn down, whatever ends it.
struct Counted<'a>(&'a Conversations);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.running.send_modify(|running| *running = running.saturating_sub(1));
    }
}

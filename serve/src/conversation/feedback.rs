//! Judgements and taking back: typed, by thumb, or by a program.

use std::sync::Arc;

use serde_json::{Value, json};
use tenpass_agent::feedback::verdict_record;
use tenpass_agent::interaction::Recorder as _;
use tenpass_agent::session::{Feedback, Undone};
use tenpass_tools::assistant::mark_undone;
use tenpass_trace::database::{Verdict, VerdictSource};

use super::Conversations;
use super::history::verdict_name;
use super::room::SharedRoom;
use super::say::{Said, SayRefused};
use crate::error::ApiError;
use crate::text::{clean, one_line};

impl Conversations {
    /// Records what the person thinks of a turn (K90), in the database and in the trace.
    pub fn judge(&self, room: &SharedRoom, turn: &str, feedback: &Feedback) -> Result<(), ApiError> {
        let (verdict, source) = match feedback {
            Feedback::Good => (Verdict::Accepted, VerdictSource::Thumb),
            Feedback::Accept => (Verdict::Accepted, VerdictSource::Typed),
            Feedback::Bad => (Verdict::Rejected, VerdictSource::Thumb),
            Feedback::Reject => (Verdict::Rejected, VerdictSource::Typed),
            Feedback::Correct(text) => {
                (Verdict::Corrected { text: tenpass_trace::mask::mask(text).text }, VerdictSource::Typed)
            }
        };
        if !self.store.database.judge(turn, &verdict, source)? {
            return Err(ApiError::not_found("this turn has no answer to judge", "judge a turn that ended"));
        }
        if let Err(error) = self.store.recorder.trace(&verdict_record(room.id(), turn, feedback)) {
            return Err(ApiError::internal(error, "nothing happens unrecorded: check that the disk is not full"));
        }
        let mut message = json!({ "type": "verdict", "turn": turn, "verdict": verdict_name(&verdict) });
        if let Verdict::Corrected { text } = &verdict {
            message["correction"] = json!(clean(text));
        }
        let mut state = room.lock();
        if let Some(past) = state.find(turn) {
            past.verdict = Some(verdict);
        }
        state.publish(room.id(), message);
        Ok(())
    }

    /// The thread of a turn.
    pub fn room_of(&self, turn: &str) -> Result<SharedRoom, ApiError> {
        let exchange = self.store.database.exchange(turn)?;
        let exchange = exchange.ok_or_else(|| {
            ApiError::not_found("there is no such turn, or it has no answer", "name a turn that ended")
        })?;
        self.room(&exchange.exchange.thread)
    }

    /// Takes the last exchange of a thread back, on disk too. Nothing while a turn runs.
    pub(crate) fn take_back(&self, room: &SharedRoom) -> Result<Undone, ApiError> {
        let mut state = room.lock();
        let Some(session) = &mut state.session else {
            return Err(ApiError::conflict("a turn runs", "wait for the running answer, or stop it first"));
        };
        let Some(undone) = session.undo() else {
            return Err(ApiError::conflict("there is nothing to take back", "say something first"));
        };
        mark_undone(&self.store.database, &undone.turn)?;
        if let Some(past) = state.find(&undone.turn) {
            past.undone = true;
        }
        state.publish(room.id(), json!({ "type": "undone", "turn": undone.turn }));
        Ok(undone)
    }

    /// Takes the last exchange back and asks again.
    pub fn retry(self: &Arc<Self>, room: &SharedRoom, client_id: Option<String>) -> Result<(), SayRefused> {
        let undone = self.take_back(room).map_err(|error| SayRefused::new(error.message, error.hint))?;
        self.start(room, Said { client_id, ..Said::typed(undone.user) })
    }

    /// A typed judgement is about the last answer.
    pub(super) fn typed_feedback(&self, room: &SharedRoom, feedback: &Feedback, said: &Said) -> Result<(), SayRefused> {
        let last = {
            let state = room.lock();
            let stored =
                || state.past.iter().rev().find(|past| past.answer.is_some() && !past.undone && !past.turn.is_empty());
            stored().map(|past| (past.turn.clone(), past.user.clone()))
        };
        let note = match last {
            None => "there is no answer to judge yet".to_owned(),
            Some((turn, user)) => match self.judge(room, &turn, feedback) {
                Ok(()) => format!("recorded for “{}”", one_line(&user, 60)),
                Err(error) => format!("nothing was recorded: {}", error.message),
            },
        };
        Self::note(room, &note, said);
        Ok(())
    }

    /// A line of the application that answers something said.
    pub(super) fn note(room: &SharedRoom, markdown: &str, said: &Said) {
        let (text, html) = (clean(markdown), crate::markdown::html(markdown));
        let mut message: Value = json!({ "type": "note", "text": text, "html": html });
        if let Some(id) = &said.client_id {
            message["client_id"] = json!(id);
        }
        let mut state = room.lock();
        state.past.push(super::PastTurn::note(text, html));
        state.publish(room.id(), message);
    }
}

//! A thread read back from the store: of each turn the person's words and what came of them.

use jiff::Timestamp;
use serde_json::{Value, json};
use tenpass_tools::assistant::is_undone;
use tenpass_trace::database::{Database, DatabaseError, JudgedExchange, Verdict};
use tenpass_trace::{Role, TurnEnd};

use super::CallView;
use crate::markdown::html;
use crate::records::TraceIndex;
use crate::text::clean;

/// What the person reads where the server ended in the middle of a turn.
const LOST: &str = "The server ended during this turn. Nothing more was done; a question that stood open has expired.";

/// The answer of a turn.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The text as HTML.
    pub html: String,
    /// How the turn ended.
    pub end: TurnEnd,
    /// Who wrote it.
    pub author: String,
    /// The reasoning, to be shown folded.
    pub thinking: String,
    /// When it was complete.
    pub time: Timestamp,
    /// Claims that no call bears out: text and why. Known while the server runs.
    pub claims: Vec<(String, String)>,
    /// The times of a voice turn. Known while the server runs.
    pub latency: Option<Value>,
}

/// A turn that is over, or a note of the application between two turns.
#[derive(Debug, Clone)]
pub struct PastTurn {
    /// Its id; empty for a note.
    pub turn: String,
    /// What the person said.
    pub user: String,
    /// When.
    pub time: Timestamp,
    /// The calls.
    pub calls: Vec<CallView>,
    /// The answer; `None` where the server ended before there was one.
    pub answer: Option<Answer>,
    /// What the person thought of it.
    pub verdict: Option<Verdict>,
    /// It was taken back.
    pub undone: bool,
    /// A line of the application: text and HTML.
    pub note: Option<(String, String)>,
}

/// The page's name of a verdict.
pub(crate) fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "good",
        Verdict::Rejected => "bad",
        Verdict::Corrected { .. } => "corrected",
    }
}

/// The stored name of an end.
pub(crate) fn end_name(end: TurnEnd) -> Value {
    serde_json::to_value(end).unwrap_or_default()
}

impl PastTurn {
    /// A note between two turns.
    pub(crate) fn note(text: String, html: String) -> Self {
        Self {
            turn: String::new(),
            user: String::new(),
            time: Timestamp::now(),
            calls: Vec::new(),
            answer: None,
            verdict: None,
            undone: false,
            note: Some((text, html)),
        }
    }

    /// The M of the protocol that it comes to.
    pub fn to_json(&self) -> Vec<Value> {
        if let Some((text, html)) = &self.note {
            let time = self.time.to_string();
            return vec![
                json!({ "turn": "", "role": "note", "text": text, "html": html, "time": time, "undone": false }),
            ];
        }
        let user = json!({
            "turn": self.turn, "role": "user", "text": clean(&self.user), "time": self.time.to_string(),
            "undone": self.undone,
        });
        let calls: Vec<Value> = self.calls.iter().map(CallView::to_json).collect();
        let Some(answer) = &self.answer else {
            let time = self.time.to_string();
            let lost = json!({
                "turn": self.turn, "role": "assistant", "text": "", "html": "", "time": time, "end": "stopped",
                "calls": calls, "undone": self.undone,
            });
            let note = json!({ "turn": self.turn, "role": "note", "text": LOST, "time": time, "undone": self.undone });
            return vec![user, lost, note];
        };
        let mut said = json!({
            "turn": self.turn, "role": "assistant", "text": answer.text, "html": answer.html,
            "time": answer.time.to_string(), "end": end_name(answer.end), "author": answer.author,
            "thinking": answer.thinking, "calls": calls, "undone": self.undone,
            "claims": claims_json(&answer.claims),
        });
        if let Some(verdict) = &self.verdict {
            said["verdict"] = json!(verdict_name(verdict));
            if let Verdict::Corrected { text } = verdict {
                said["correction"] = json!(clean(text));
            }
        }
        if let Some(latency) = &answer.latency {
            said["latency"] = latency.clone();
        }
        vec![user, said]
    }
}

pub(crate) fn claims_json(claims: &[(String, String)]) -> Value {
    claims.iter().map(|(text, why)| json!({ "text": text, "why": why })).collect()
}

/// Title and turns of a thread; `None` when there is none with this id.
pub(super) fn load(
    database: &Database,
    index: &TraceIndex,
    thread: &str,
) -> Result<Option<(String, Vec<PastTurn>)>, DatabaseError> {
    let known = database.threads(usize::MAX)?.into_iter().find(|known| known.id == thread);
    let Some(summary) = known else { return Ok(None) };
    let exchanges = database.thread_exchanges(thread)?;
    index.refresh();
    let mut turns: Vec<PastTurn> = Vec::new();
    for stored in database.messages(thread)? {
        match stored.message.role {
            Role::User => turns.push(PastTurn {
                calls: index.calls_of(&stored.turn),
                undone: is_undone(database, &stored.turn)?,
                turn: stored.turn,
                user: stored.message.content,
                time: stored.at,
                answer: None,
                verdict: None,
                note: None,
            }),
            Role::Assistant => {
                let Some(turn) = turns.iter_mut().rev().find(|turn| turn.turn == stored.turn) else { continue };
                let end = if stored.interrupted { TurnEnd::Stopped } else { TurnEnd::Natural };
                turn.answer = Some(Answer {
                    html: String::new(),
                    text: clean(&stored.message.content),
                    end,
                    author: String::new(),
                    thinking: stored.message.thinking.unwrap_or_default(),
                    time: stored.at,
                    claims: Vec::new(),
                    latency: None,
                });
            }
            Role::System | Role::Tool => {}
        }
    }
    for turn in &mut turns {
        complete(turn, exchanges.iter().find(|judged| judged.exchange.turn == turn.turn));
    }
    Ok(Some((summary.title, turns)))
}

/// Adds what the record of the exchange knows. A turn without one was never finished.
fn complete(turn: &mut PastTurn, judged: Option<&JudgedExchange>) {
    let Some(judged) = judged else {
        // What was stored of an unfinished turn is no answer.
        turn.answer = None;
        return;
    };
    let exchange = &judged.exchange;
    turn.verdict = judged.verdict.clone();
    let stored = turn.answer.take();
    let text = clean(&exchange.answer);
    turn.answer = Some(Answer {
        html: html(&text),
        text,
        end: exchange.end,
        author: exchange.author.clone(),
        thinking: stored.map(|answer| clean(&answer.thinking)).unwrap_or_default(),
        time: exchange.at,
        claims: Vec::new(),
        latency: None,
    });
}

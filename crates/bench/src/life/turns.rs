//! Turns as the journals and the conversations have them.
//!
//! The trace says what happened in which order, the store of conversations what the person thought of it
//! and what was taken back, and has results in full. A folder without a store has traces all the same.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;
use tenpass_agent::Structure;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::database::{Database, JudgedExchange, Verdict};
use tenpass_trace::journal::{Entry, records};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, RetryReason, TraceEvent, TraceRecord, TurnEnd};

use super::LifeError;

/// Turns that are held at once; of a longer journal the newest are kept.
const MOST_TURNS: usize = 200_000;

/// One call of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LivedCall {
    /// Its number in the turn, from 1.
    pub number: u32,
    /// The request to the model that made it, from 1.
    pub round: u32,
    /// The tool's name as emitted.
    pub tool: String,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The arguments, masked.
    pub arguments: Value,
    /// Why it was rejected, or what failed.
    pub reason: Option<String>,
    /// The result, at most 800 characters of it.
    pub result: String,
    /// The result comes from outside.
    pub untrusted: bool,
    /// What its confirmation was answered with.
    pub answer: Option<ConfirmationAnswer>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct LivedTurn {
    /// Its id.
    pub turn: String,
    /// The conversation.
    pub thread: String,
    /// When it began.
    pub at: Timestamp,
    /// When its last record was written.
    pub ended_at: Timestamp,
    /// What the person said, without secrets.
    pub request: String,
    /// The SPEC of the model that was asked.
    pub model: String,
    /// The thinking level.
    pub think: Option<String>,
    /// How tools entered the request.
    pub structure: Option<Structure>,
    /// The tools of the turn, in their order.
    pub offered: Vec<String>,
    /// Requests to the model.
    pub rounds: u32,
    /// The loop asked again: after which round, and why.
    pub retries: Vec<(u32, RetryReason)>,
    /// The calls in order.
    pub calls: Vec<LivedCall>,
    /// The middle of the conversation was summarised: the requests behind that cannot be rebuilt.
    pub is_compressed: bool,
    /// How it ended; `None` when it was cut off.
    pub end: Option<TurnEnd>,
    /// What was shown.
    pub answer: String,
    /// What the person thought of it, by thumb or word or by their answers to confirmations.
    pub verdict: Option<Verdict>,
    /// The person took it back.
    pub is_undone: bool,
}

impl LivedTurn {
    fn new(record: &TraceRecord, at: Timestamp) -> Self {
        Self {
            turn: record.turn.clone(),
            thread: record.thread.clone(),
            at,
            ended_at: at,
            request: String::new(),
            model: String::new(),
            think: None,
            structure: None,
            offered: Vec::new(),
            rounds: 0,
            retries: Vec::new(),
            calls: Vec::new(),
            is_compressed: false,
            end: None,
            answer: String::new(),
            verdict: None,
            is_undone: false,
        }
    }

    /// What the person said should have been.
    pub fn correction(&self) -> Option<&str> {
        match &self.verdict {
            Some(Verdict::Corrected { text }) => Some(text),
            _ => None,
        }
    }

    /// It was stopped, ran out of time, failed or never ended.
    pub fn is_interrupted(&self) -> bool {
        self.end.is_none_or(TurnEnd::is_interrupted)
    }

    /// The first call whose result came from outside: what the model did behind it may be somebody
    /// else's wish.
    pub fn tainted_from(&self) -> Option<u32> {
        self.calls.iter().find(|call| call.untrusted).map(|call| call.number)
    }

    fn observe(&mut self, event: &TraceEvent) {
        match event {
            TraceEvent::Request { text, model, think, .. } => {
                self.request.clone_from(text);
                self.model.clone_from(model);
                self.think.clone_from(think);
            }
            TraceEvent::Route { structure, offered, .. } => {
                self.structure = structure.parse().ok();
                self.offered.clone_from(offered);
            }
            TraceEvent::Round { number, .. } => self.rounds = self.rounds.max(*number),
            TraceEvent::Retry { reason } => self.retries.push((self.rounds.max(1), *reason)),
            TraceEvent::Confirmation { call, answer, .. } => self.answered(*call, *answer),
            TraceEvent::Call { call, tool, outcome, arguments, reason, result, untrusted, .. } => {
                let answer = self.take_answer(*call);
                self.calls.push(LivedCall {
                    number: *call,
                    round: self.rounds.max(1),
                    tool: tool.clone(),
                    outcome: *outcome,
                    arguments: arguments.clone(),
                    reason: reason.clone(),
                    result: result.clone(),
                    untrusted: *untrusted,
                    answer,
                });
            }
            TraceEvent::Compression { .. } => self.is_compressed = true,
            TraceEvent::Final { end, text, .. } => {
                self.end = Some(*end);
                self.answer.clone_from(text);
            }
            _ => {}
        }
    }

    /// A confirmation is recorded before its call: kept in a call that has not ended.
    fn answered(&mut self, number: u32, answer: ConfirmationAnswer) {
        self.take_answer(number);
        self.calls.push(LivedCall {
            number,
            round: self.rounds.max(1),
            tool: String::new(),
            outcome: CallOutcome::Interrupted,
            arguments: Value::Null,
            reason: None,
            result: String::new(),
            untrusted: false,
            answer: Some(answer),
        });
    }

    fn take_answer(&mut self, number: u32) -> Option<ConfirmationAnswer> {
        let place = self.calls.iter().position(|call| call.number == number && call.tool.is_empty())?;
        self.calls.remove(place).answer
    }
}

/// The agent's life: its turns, oldest first.
#[derive(Debug)]
pub struct Life {
    turns: Vec<LivedTurn>,
    database: Option<Database>,
    /// Lines of the journal that cannot be read.
    pub unreadable: usize,
}

impl Life {
    /// Reads the journals and opens the conversations, where there are any. Takes no lock: a chat may be
    /// open.
    pub fn open(folder: &AgentFolder) -> Result<Self, LifeError> {
        let path = folder.database();
        let database = if path.is_file() { Some(Database::open(&path)?) } else { None };
        let mut gathered = Gathered::default();
        for entry in records::<TraceRecord>(&folder.trace())? {
            match entry {
                Ok(entry) => gathered.observe(&entry),
                Err(_) => gathered.unreadable += 1,
            }
        }
        let Gathered { mut turns, unreadable, .. } = gathered;
        // A record about no turn that was ever asked for says nothing.
        turns.retain(|turn| !turn.request.is_empty());
        for turn in &mut turns {
            turn.calls.retain(|call| !call.tool.is_empty());
        }
        if let Some(database) = &database {
            complete(&mut turns, database)?;
        }
        if turns.is_empty() {
            return Err(LifeError::Nothing { folder: folder.path().to_owned() });
        }
        Ok(Self { turns, database, unreadable })
    }

    /// The turns, oldest first.
    pub fn turns(&self) -> &[LivedTurn] {
        &self.turns
    }

    /// The store of conversations.
    pub(super) fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// The turns of a conversation behind this one, in order.
    pub(super) fn behind<'l>(&'l self, turn: &'l LivedTurn) -> impl Iterator<Item = &'l LivedTurn> {
        let place = self.turns.iter().position(|other| other.turn == turn.turn).unwrap_or(self.turns.len());
        self.turns.iter().skip(place + 1).filter(|other| other.thread == turn.thread)
    }

    /// The turns of a conversation before this one, in order.
    pub(super) fn before<'l>(&'l self, turn: &'l LivedTurn) -> impl Iterator<Item = &'l LivedTurn> {
        let this = turn.turn.as_str();
        self.turns.iter().take_while(move |other| other.turn != this).filter(|other| other.thread == turn.thread)
    }

    /// The turn that is meant: `latest`, a turn's id or its beginning, or a conversation's with the
    /// number of the turn in it, counted from 1.
    pub fn find(&self, query: &str, number: Option<u32>) -> Result<&LivedTurn, LifeError> {
        let latest = self.turns.last().map(|turn| turn.thread.clone()).unwrap_or_default();
        let name = if query == "latest" { latest.as_str() } else { query };
        if let Some(number) = number {
            let thread = self.thread(name)?;
            let turns: Vec<&LivedTurn> = self.turns.iter().filter(|turn| turn.thread == thread).collect();
            let wanted = || LifeError::NoSuchTurn { thread: short(&thread), turns: turns.len(), wanted: number };
            return turns.get((number as usize).wrapping_sub(1)).copied().ok_or_else(wanted);
        }
        if query == "latest" {
            return self.turns.last().ok_or_else(|| LifeError::NoTurn { query: query.to_owned() });
        }
        let fitting: Vec<&LivedTurn> =
            self.turns.iter().filter(|turn| !query.is_empty() && turn.turn.starts_with(query)).collect();
        match fitting.as_slice() {
            [turn] => Ok(turn),
            [] => match self.thread(query) {
                Ok(thread) => {
                    let of_thread: Vec<&LivedTurn> = self.turns.iter().filter(|turn| turn.thread == thread).collect();
                    match of_thread.as_slice() {
                        [turn] => Ok(turn),
                        turns => Err(LifeError::WhichTurn { thread: short(&thread), turns: turns.len() }),
                    }
                }
                Err(error) => Err(error),
            },
            several => Err(LifeError::Ambiguous { query: query.to_owned(), what: "turns", count: several.len() }),
        }
    }

    /// The one conversation whose id begins like this; of a turn's id, the conversation it is in.
    fn thread(&self, query: &str) -> Result<String, LifeError> {
        let mut threads: Vec<&str> = self
            .turns
            .iter()
            .filter(|turn| !query.is_empty() && turn.thread.starts_with(query))
            .map(|turn| turn.thread.as_str())
            .collect();
        threads.sort_unstable();
        threads.dedup();
        match threads.as_slice() {
            [thread] => Ok((*thread).to_owned()),
            [] => Err(LifeError::NoTurn { query: query.to_owned() }),
            several => {
                Err(LifeError::Ambiguous { query: query.to_owned(), what: "conversations", count: several.len() })
            }
        }
    }
}

/// The first eight characters of an id: what people type.
pub(super) fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

#[derive(Default)]
struct Gathered {
    turns: Vec<LivedTurn>,
    places: HashMap<String, usize>,
    unreadable: usize,
}

impl Gathered {
    fn observe(&mut self, entry: &Entry<TraceRecord>) {
        let record = &entry.record;
        if let TraceEvent::Verdict { judged, verdict } = &record.event {
            let verdict = match verdict.as_str() {
                "accepted" => Some(Verdict::Accepted),
                // The text of a correction is in the store alone.
                "rejected" | "corrected" => Some(Verdict::Rejected),
                _ => None,
            };
            if let Some(turn) = self.places.get(judged).and_then(|place| self.turns.get_mut(*place)) {
                turn.verdict = verdict;
            }
            return;
        }
        if record.turn.is_empty() {
            return;
        }
        let place = if let Some(place) = self.places.get(&record.turn) {
            *place
        } else {
            if self.turns.len() >= 2 * MOST_TURNS {
                self.forget_oldest();
            }
            self.turns.push(LivedTurn::new(record, entry.at));
            self.places.insert(record.turn.clone(), self.turns.len() - 1);
            self.turns.len() - 1
        };
        let turn = &mut self.turns[place];
        turn.ended_at = entry.at;
        turn.observe(&record.event);
    }

    fn forget_oldest(&mut self) {
        self.turns.drain(..MOST_TURNS);
        self.places = self.turns.iter().enumerate().map(|(place, turn)| (turn.turn.clone(), place)).collect();
    }
}

/// Adds what only the store knows: corrections, verdicts that follow from confirmations, what was undone.
fn complete(turns: &mut [LivedTurn], database: &Database) -> Result<(), LifeError> {
    let judged: HashMap<String, JudgedExchange> = database
        .exchanges(None, true)?
        .into_iter()
        .map(|exchange| (exchange.exchange.turn.clone(), exchange))
        .collect();
    for turn in turns {
        if let Some(exchange) = judged.get(&turn.turn) {
            turn.verdict.clone_from(&exchange.verdict);
        }
        turn.is_undone = database.mark(&format!("undone:{}", turn.turn))?.is_some();
    }
    Ok(())
}

//! The thread a person is in, and taking its last exchange back.

use std::collections::VecDeque;

use tenpass_model::ThinkLevel;
use tenpass_trace::{Message, TurnEnd};

use super::command::ThinkSetting;

/// Exchanges kept in memory: many times what the window shows. The whole thread is on disk (K24).
pub const KEPT_EXCHANGES: usize = 200;

/// A memory entry that a turn wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenEntry {
    /// The section.
    pub section: String,
    /// The text.
    pub text: String,
}

/// One exchange of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The turn's id.
    pub turn: String,
    /// The person's message.
    pub user: String,
    /// What was shown; partial when the end is an interruption.
    pub assistant: String,
    /// How the turn ended.
    pub end: TurnEnd,
    /// What it wrote to memory.
    pub memory: Vec<WrittenEntry>,
    /// Taken back: kept on disk, marked, and no longer shown to the model.
    pub undone: bool,
}

/// What an undo took back, for the front end to mark on disk and to ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The turn to mark.
    pub turn: String,
    /// Its message, for a retry.
    pub user: String,
    /// Memory entries that it wrote and that are still there: offer their removal. They are never
    /// removed without a yes, because an undo of words is not an undo of a decision.
    pub memory: Vec<WrittenEntry>,
}

/// The state of a conversation, apart from any store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionState {
    thread: String,
    think: Option<ThinkLevel>,
    exchanges: VecDeque<Exchange>,
}

impl SessionState {
    /// A new thread.
    pub fn new(thread: impl Into<String>) -> Self {
        Self { thread: thread.into(), think: None, exchanges: VecDeque::new() }
    }

    /// A thread read back from disk, oldest exchange first.
    pub fn resume(thread: impl Into<String>, exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        let mut state = Self::new(thread);
        for exchange in exchanges {
            state.push(exchange);
        }
        state
    }

    /// Begins another thread. The thinking level, the person's choice, stays.
    pub fn begin(&mut self, thread: impl Into<String>) {
        self.thread = thread.into();
        self.exchanges.clear();
    }

    /// The thread's id.
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// The thinking level of the next message (K9).
    pub fn think(&self) -> Option<ThinkLevel> {
        self.think
    }

    /// Sets the thinking level, on the person's word only.
    pub fn set_think(&mut self, setting: ThinkSetting) {
        self.think = match setting {
            ThinkSetting::Off => None,
            ThinkSetting::Level(level) => Some(level),
        };
    }

    /// Adds a finished exchange. Beyond [`KEPT_EXCHANGES`] the oldest leaves memory.
    pub fn push(&mut self, exchange: Exchange) {
        if self.exchanges.len() == KEPT_EXCHANGES {
            self.exchanges.pop_front();
        }
        self.exchanges.push_back(exchange);
    }

    /// The last exchange that was not taken back: what feedback judges.
    pub fn last(&self) -> Option<&Exchange> {
        self.exchanges.iter().rev().find(|exchange| !exchange.undone)
    }

    /// Past messages for the prompt, oldest first, without what was taken back. An interrupted
    /// text stays: the person has read it (K6).
    pub fn past(&self) -> Vec<Message> {
        self.exchanges
            .iter()
            .filter(|exchange| !exchange.undone)
            .flat_map(|exchange| [Message::user(&exchange.user), Message::assistant(&exchange.assistant)])
            .filter(|message| !message.content.trim().is_empty())
            .collect()
    }

    /// Takes the last exchange back; again, the one before. `None` when there is none left.
    pub fn undo(&mut self) -> Option<Undone> {
        let exchange = self.exchanges.iter_mut().rev().find(|exchange| !exchange.undone)?;
        exchange.undone = true;
        Some(Undone {
            turn: exchange.turn.clone(),
            user: exchange.user.clone(),
            memory: std::mem::take(&mut exchange.memory),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(number: usize) -> Exchange {
        Exchange {
            turn: format!("t{number}"),
            user: format!("question {number}"),
            assistant: format!("reply {number}"),
            end: TurnEnd::Natural,
            memory: Vec::new(),
            undone: false,
        }
    }

    #[test]
    fn undo_takes_one_exchange_after_the_other_back() {
        let mut state = SessionState::resume("a", (1..=3).map(exchange));
        assert_eq!((state.past().len(), state.last().unwrap().turn.as_str()), (6, "t3"));
        assert_eq!(state.undo().unwrap().turn, "t3");
        state.push(exchange(4));
        assert_eq!(state.undo().unwrap().user, "question 4");
        assert_eq!(state.undo().unwrap().turn, "t2");
        assert_eq!(state.past(), [Message::user("question 1"), Message::assistant("reply 1")]);
        assert_eq!(state.last().unwrap().turn, "t1");
        assert!(state.undo().is_some());
        assert_eq!((state.undo(), state.last(), state.past()), (None, None, Vec::new()));
    }

    #[test]
    fn undo_offers_what_the_turn_wrote_once() {
        let entry = WrittenEntry { section: "decisions".into(), text: "Tea".into() };
        let mut state = SessionState::new("a");
        state.push(Exchange { memory: vec![entry.clone()], ..exchange(1) });
        assert_eq!(state.undo().unwrap().memory, [entry]);
        assert_eq!(state.undo(), None);
    }

    #[test]
    fn the_thinking_level_is_the_persons_and_survives_a_new_thread() {
        let mut state = SessionState::new("a");
        assert_eq!(state.think(), None);
        state.set_think(ThinkSetting::Level(ThinkLevel::High));
        state.push(exchange(1));
        state.begin("b");
        assert_eq!((state.thread(), state.think(), state.past().len()), ("b", Some(ThinkLevel::High), 0));
        state.set_think(ThinkSetting::Off);
        assert_eq!(state.think(), None);
    }

    #[test]
    fn an_interrupted_text_stays_and_an_empty_one_is_no_message() {
        let mut state = SessionState::new("a");
        state.push(Exchange { assistant: "half a sen".into(), end: TurnEnd::Stopped, ..exchange(1) });
        state.push(Exchange { assistant: String::new(), end: TurnEnd::Failed, ..exchange(2) });
        let texts: Vec<String> = state.past().into_iter().map(|message| message.content).collect();
        assert_eq!(texts, ["question 1", "half a sen", "question 2"]);
    }

    #[test]
    fn memory_holds_200_exchanges() {
        let state = SessionState::resume("a", (0..300).map(exchange));
        assert_eq!((state.past().len(), state.past()[0].content.as_str()), (400, "question 100"));
    }
}

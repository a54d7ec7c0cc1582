//! Exchanges and what the person thought of them (K90).

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use super::columns::{count, from_instant, from_variant, instant_text, integer, variant_text};
use super::{Database, DatabaseError};
use crate::TurnEnd;

/// One turn as the person saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The turn.
    pub turn: String,
    /// The conversation.
    pub thread: String,
    /// When it ended.
    pub at: Timestamp,
    /// What the person said.
    pub user: String,
    /// What was shown.
    pub answer: String,
    /// The model, or the provider, that wrote the answer.
    pub author: String,
    /// The digest of the model file, when it is known.
    pub model_digest: Option<String>,
    /// How the turn ended.
    pub end: TurnEnd,
}

/// What an exchange was worth. Silence is none of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Good.
    Accepted,
    /// Bad.
    Rejected,
    /// Bad, and this is what it should have been.
    Corrected {
        /// The better answer.
        text: String,
    },
}

impl Verdict {
    /// The stored and printed name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Corrected { .. } => "corrected",
        }
    }

    fn correction(&self) -> Option<&str> {
        match self {
            Self::Corrected { text } => Some(text),
            Self::Accepted | Self::Rejected => None,
        }
    }

    /// The verdict from its two columns; `None` when nobody judged.
    pub(super) fn from_columns(
        index: usize,
        name: Option<&str>,
        correction: Option<String>,
    ) -> rusqlite::Result<Option<Self>> {
        match (name, correction) {
            (None, _) => Ok(None),
            (Some("accepted"), _) => Ok(Some(Self::Accepted)),
            (Some("rejected"), _) => Ok(Some(Self::Rejected)),
            (Some("corrected"), Some(text)) => Ok(Some(Self::Corrected { text })),
            (Some(other), _) => Err(rusqlite::Error::FromSqlConversionFailure(
                index,
                rusqlite::types::Type::Text,
                format!("{other} is not a verdict").into(),
            )),
        }
    }
}

/// Where a verdict comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictSource {
    /// A thumb (`/good`, `/bad`, a button).
    Thumb,
    /// Typed words (`accepte`, `corrige : …`).
    Typed,
    /// Derived from the answers to confirmations (K91). Never replaces one of the others.
    Confirmation,
}

/// An exchange with its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedExchange {
    /// The exchange.
    pub exchange: Exchange,
    /// `None`: nobody judged, which is no approval.
    pub verdict: Option<Verdict>,
    /// Where the verdict comes from.
    pub source: Option<VerdictSource>,
    /// When it was given.
    pub judged_at: Option<Timestamp>,
}

/// Requests and tokens of one turn by one model or provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The conversation.
    pub thread: String,
    /// The turn.
    pub turn: String,
    /// The model or provider.
    pub author: String,
    /// Requests made.
    pub requests: u64,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
}

const COLUMNS: &str = "turn, thread, at, user, answer, author, model_digest, \"end\", verdict, correction, \
                       verdict_source, judged_at";

impl Database {
    /// Stores an exchange, unjudged. Storing a turn again replaces its texts and keeps its verdict.
    pub fn record_exchange(&self, exchange: &Exchange) -> Result<(), DatabaseError> {
        self.store.write("store an exchange", |transaction| {
            transaction.execute(
                "INSERT INTO exchanges (turn, thread, at, user, answer, author, model_digest, \"end\")
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (turn) DO UPDATE SET thread = ?2, at = ?3, user = ?4, answer = ?5, author = ?6,
                                                  model_digest = ?7, \"end\" = ?8",
                (
                    &exchange.turn,
                    &exchange.thread,
                    instant_text(exchange.at),
                    &exchange.user,
                    &exchange.answer,
                    &exchange.author,
                    &exchange.model_digest,
                    variant_text(&exchange.end)?,
                ),
            )?;
            Ok(())
        })
    }

    /// Judges a turn. The latest verdict of the person stands; one derived from confirmations never
    /// replaces it. False when nothing was changed: no such turn, or the person judged before.
    pub fn judge(&self, turn: &str, verdict: &Verdict, source: VerdictSource) -> Result<bool, DatabaseError> {
        let now = self.now_text();
        self.store.write("store a verdict", |transaction| {
            let changed = transaction.execute(
                "UPDATE exchanges SET verdict = ?2, correction = ?3, verdict_source = ?4, judged_at = ?5
                 WHERE turn = ?1 AND NOT (?4 = 'confirmation' AND coalesce(verdict_source, '') IN ('thumb', 'typed'))",
                (turn, verdict.as_str(), verdict.correction(), variant_text(&source)?, &now),
            )?;
            Ok(changed > 0)
        })
    }

    /// The latest exchange of a conversation: what `/good` and `corrige : …` are about.
    pub fn last_exchange(&self, thread: &str) -> Result<Option<JudgedExchange>, DatabaseError> {
        self.store.read("read an exchange", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM exchanges WHERE thread = ?1 ORDER BY at DESC, rowid DESC LIMIT 1"
                ))?
                .query_row([thread], judged_exchange)
                .optional()
        })
    }

    /// The exchange of one turn.
    pub fn exchange(&self, turn: &str) -> Result<Option<JudgedExchange>, DatabaseError> {
        self.store.read("read an exchange", |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM exchanges WHERE turn = ?1"))?
                .query_row([turn], judged_exchange)
                .optional()
        })
    }

    /// The exchanges of a conversation, oldest first.
    pub fn thread_exchanges(&self, thread: &str) -> Result<Vec<JudgedExchange>, DatabaseError> {
        self.store.read("list the exchanges", |connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM exchanges WHERE thread = ?1 ORDER BY at, rowid"))?;
            statement.query_map([thread], judged_exchange)?.collect()
        })
    }

    /// Exchanges from `since` on, oldest first, with or without those that nobody judged.
    pub fn exchanges(&self, since: Option<Timestamp>, only_judged: bool) -> Result<Vec<JudgedExchange>, DatabaseError> {
        let since = since.map(instant_text).unwrap_or_default();
        self.store.read("list the exchanges", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM exchanges WHERE at >= ?1 AND (NOT ?2 OR verdict IS NOT NULL) ORDER BY at, rowid"
            ))?;
            statement.query_map((since, only_judged), judged_exchange)?.collect()
        })
    }

    /// Exchanges that may be learned from, oldest first: ended by themselves and judged (K91).
    pub fn exportable_exchanges(&self) -> Result<Vec<JudgedExchange>, DatabaseError> {
        self.store.read("list the exchanges", |connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {COLUMNS} FROM exportable_exchanges ORDER BY at, turn"))?;
            statement.query_map([], judged_exchange)?.collect()
        })
    }

    /// Stores what a turn used.
    pub fn record_usage(&self, usage: &Usage) -> Result<(), DatabaseError> {
        let now = self.now_text();
        self.store.write("store the usage of a turn", |transaction| {
            transaction.execute(
                "INSERT INTO usage (at, thread, turn, author, requests, prompt_tokens, completion_tokens, cost_micros)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (
                    &now,
                    &usage.thread,
                    &usage.turn,
                    &usage.author,
                    integer(usage.requests),
                    integer(usage.prompt_tokens),
                    integer(usage.completion_tokens),
                    integer(usage.cost_micros),
                ),
            )?;
            Ok(())
        })
    }

    /// What was used from `since` on, turn by turn, oldest first.
    pub fn usage(&self, since: Option<Timestamp>) -> Result<Vec<(Timestamp, Usage)>, DatabaseError> {
        let since = since.map(instant_text).unwrap_or_default();
        self.store.read("list the usage", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT at, thread, turn, author, requests, prompt_tokens, completion_tokens, cost_micros
                 FROM usage WHERE at >= ?1 ORDER BY id",
            )?;
            let rows = statement.query_map([since], |row| {
                let usage = Usage {
                    thread: row.get(1)?,
                    turn: row.get(2)?,
                    author: row.get(3)?,
                    requests: count(row.get(4)?),
                    prompt_tokens: count(row.get(5)?),
                    completion_tokens: count(row.get(6)?),
                    cost_micros: count(row.get(7)?),
                };
                Ok((from_instant(0, &row.get::<_, String>(0)?)?, usage))
            })?;
            rows.collect()
        })
    }
}

fn judged_exchange(row: &Row<'_>) -> rusqlite::Result<JudgedExchange> {
    let verdict: Option<String> = row.get(8)?;
    let source: Option<String> = row.get(10)?;
    let judged_at: Option<String> = row.get(11)?;
    Ok(JudgedExchange {
        exchange: Exchange {
            turn: row.get(0)?,
            thread: row.get(1)?,
            at: from_instant(2, &row.get::<_, String>(2)?)?,
            user: row.get(3)?,
            answer: row.get(4)?,
            author: row.get(5)?,
            model_digest: row.get(6)?,
            end: from_variant(7, row.get(7)?)?,
        },
        verdict: Verdict::from_columns(8, verdict.as_deref(), row.get(9)?)?,
        source: source.map(|source| from_variant(10, source)).transpose()?,
        judged_at: judged_at.map(|at| from_instant(11, &at)).transpose()?,
    })
}

/// Used by the tests of the modules beside this one.
#[cfg(test)]
pub(super) fn sample(turn: &str, end: TurnEnd) -> Exchange {
    Exchange {
        turn: turn.into(),
        thread: "thread".into(),
        at: Timestamp::from_second(1_700_000_000).unwrap(),
        user: "question".into(),
        answer: "answer".into(),
        author: "model".into(),
        model_digest: Some("sha256:1".into()),
        end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [TurnEnd; 11] = [
        TurnEnd::CutOff,
        TurnEnd::Natural,
        TurnEnd::LastResult,
        TurnEnd::Escalated,
        TurnEnd::FixedSentence,
        TurnEnd::RoundCap,
        TurnEnd::RepeatAbort,
        TurnEnd::Stopped,
        TurnEnd::TimedOut,
        TurnEnd::Emergency,
        TurnEnd::Failed,
    ];

    #[test]
    fn silence_is_no_approval() {
        let database = Database::in_memory().unwrap();
        database.record_exchange(&sample("t", TurnEnd::Natural)).unwrap();
        let last = database.last_exchange("thread").unwrap().unwrap();
        assert_eq!((&last.exchange, last.verdict), (&sample("t", TurnEnd::Natural), None));
        assert_eq!(database.exchanges(None, false).unwrap().len(), 1);
        assert!(database.exchanges(None, true).unwrap().is_empty());
        assert!(database.exportable_exchanges().unwrap().is_empty());
    }

    #[test]
    fn the_person_overrides_the_confirmations_and_not_the_reverse() {
        let database = Database::in_memory().unwrap();
        database.record_exchange(&sample("t", TurnEnd::Natural)).unwrap();
        let verdict = |database: &Database| {
            let judged = database.last_exchange("thread").unwrap().unwrap();
            (judged.verdict, judged.source)
        };
        assert!(database.judge("t", &Verdict::Accepted, VerdictSource::Confirmation).unwrap());
        assert!(database.judge("t", &Verdict::Rejected, VerdictSource::Confirmation).unwrap());
        assert_eq!(verdict(&database), (Some(Verdict::Rejected), Some(VerdictSource::Confirmation)));
        let corrected = Verdict::Corrected { text: "mieux".into() };
        assert!(database.judge("t", &corrected, VerdictSource::Typed).unwrap());
        assert!(!database.judge("t", &Verdict::Rejected, VerdictSource::Confirmation).unwrap());
        assert_eq!(verdict(&database), (Some(corrected), Some(VerdictSource::Typed)));
        assert!(database.judge("t", &Verdict::Accepted, VerdictSource::Thumb).unwrap());
        assert!(!database.judge("t", &Verdict::Rejected, VerdictSource::Confirmation).unwrap());
        assert_eq!(verdict(&database), (Some(Verdict::Accepted), Some(VerdictSource::Thumb)));
        assert!(!database.judge("unknown", &Verdict::Accepted, VerdictSource::Thumb).unwrap());
        // Storing the turn again keeps the verdict.
        database.record_exchange(&sample("t", TurnEnd::Natural)).unwrap();
        assert_eq!(verdict(&database).0, Some(Verdict::Accepted));
    }

    #[test]
    fn only_natural_ends_can_be_exported() {
        let database = Database::in_memory().unwrap();
        for end in ENDS {
            let turn = variant_text(&end).unwrap();
            database.record_exchange(&sample(&turn, end)).unwrap();
            assert!(database.judge(&turn, &Verdict::Accepted, VerdictSource::Thumb).unwrap());
        }
        let exported = database.exportable_exchanges().unwrap();
        assert_eq!(exported.iter().map(|judged| judged.exchange.end).collect::<Vec<_>>(), [TurnEnd::Natural]);
        assert_eq!(database.exchanges(None, true).unwrap().len(), ENDS.len());
    }

    #[test]
    fn since_is_inclusive() {
        let database = Database::in_memory().unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        for second in [100, 200, 300] {
            let exchange = Exchange { at: at(second), ..sample(&second.to_string(), TurnEnd::Natural) };
            database.record_exchange(&exchange).unwrap();
        }
        assert_eq!(database.exchanges(Some(at(200)), false).unwrap().len(), 2);
        assert_eq!(database.last_exchange("thread").unwrap().unwrap().exchange.turn, "300");
    }

    #[test]
    fn usage_comes_back() {
        let database = Database::in_memory().unwrap();
        let usage = Usage {
            thread: "a".into(),
            turn: "b".into(),
            author: "model".into(),
            requests: 2,
            prompt_tokens: 4_096,
            completion_tokens: 100,
            cost_micros: 0,
        };
        database.record_usage(&usage).unwrap();
        let stored = database.usage(None).unwrap();
        assert_eq!(stored.len(), 1);
        assert_eq!(stored[0].1, usage);
    }
}

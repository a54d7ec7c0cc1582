//! Turns with tools, kept whole, so that they can be learned from (K91).
//!
//! Two gates, neither of them in the caller: a turn that did not end by itself is never stored
//! (the table refuses it too), and the view `exportable_tool_turns` holds only judged ones.

use jiff::Timestamp;
use rusqlite::Row;

use super::columns::{from_instant, from_json, from_variant, instant_text, json_text, variant_text};
use super::{Database, DatabaseError, Verdict, VerdictSource};
use crate::{Message, ToolDefinition, TurnEnd};

/// What the answers to the confirmations of a turn say about it: all approved, or one refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationLabel {
    /// Every confirmation was approved.
    Accepted,
    /// At least one was refused.
    Rejected,
}

impl ConfirmationLabel {
    /// The label of a turn from the answers to its confirmations; `None` without any.
    pub fn of(approved: impl IntoIterator<Item = bool>) -> Option<Self> {
        let mut answers = approved.into_iter().peekable();
        answers.peek()?;
        Some(if answers.all(|approved| approved) { Self::Accepted } else { Self::Rejected })
    }

    /// The same as a verdict.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Accepted => Verdict::Accepted,
            Self::Rejected => Verdict::Rejected,
        }
    }
}

/// One turn with tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolTurn {
    /// The turn.
    pub turn: String,
    /// The conversation.
    pub thread: String,
    /// When it ended.
    pub at: Timestamp,
    /// The model that answered.
    pub model: String,
    /// The messages of the last request as the server saw them, the system prompt, the calls and
    /// their results included. Reasoning is left out when they are stored (K25).
    pub request_messages: Vec<Message>,
    /// The tools as they were offered.
    pub tools: Vec<ToolDefinition>,
    /// The final text.
    pub answer: String,
    /// How the turn ended.
    pub end: TurnEnd,
    /// What its confirmations say.
    pub label: Option<ConfirmationLabel>,
}

/// A turn that may be learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportableTurn {
    /// The turn.
    pub turn: ToolTurn,
    /// The person's verdict, or else what the confirmations say.
    pub verdict: Verdict,
    /// Which of the two.
    pub source: VerdictSource,
}

impl Database {
    /// Stores a turn; false, and nothing stored, unless it ended by itself.
    pub fn record_tool_turn(&self, turn: &ToolTurn) -> Result<bool, DatabaseError> {
        if turn.end != TurnEnd::Natural {
            return Ok(false);
        }
        let messages: Vec<Message> =
            turn.request_messages.iter().cloned().map(|message| Message { thinking: None, ..message }).collect();
        self.store.write("store a turn with tools", |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO tool_turns (turn, thread, at, model, request, tools, answer, \"end\", label)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    &turn.turn,
                    &turn.thread,
                    instant_text(turn.at),
                    &turn.model,
                    json_text(&messages)?,
                    json_text(&turn.tools)?,
                    &turn.answer,
                    variant_text(&turn.end)?,
                    turn.label.map(|label| variant_text(&label)).transpose()?,
                ),
            )?;
            Ok(true)
        })
    }

    /// The turns that may be learned from, oldest first: ended by themselves, and judged by the
    /// person or by the answers to their confirmations.
    pub fn exportable(&self) -> Result<Vec<ExportableTurn>, DatabaseError> {
        self.store.read("list the turns to export", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT turn, thread, at, model, request, tools, answer, \"end\", label, verdict, correction,
                        verdict_source
                 FROM exportable_tool_turns ORDER BY at, turn",
            )?;
            statement.query_map([], exportable_turn)?.collect()
        })
    }
}

fn exportable_turn(row: &Row<'_>) -> rusqlite::Result<ExportableTurn> {
    let label: Option<String> = row.get(8)?;
    let verdict: String = row.get(9)?;
    let verdict =
        Verdict::from_columns(9, Some(&verdict), row.get(10)?)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(ExportableTurn {
        turn: ToolTurn {
            turn: row.get(0)?,
            thread: row.get(1)?,
            at: from_instant(2, &row.get::<_, String>(2)?)?,
            model: row.get(3)?,
            request_messages: from_json(4, &row.get::<_, String>(4)?)?,
            tools: from_json(5, &row.get::<_, String>(5)?)?,
            answer: row.get(6)?,
            end: from_variant(7, row.get(7)?)?,
            label: label.map(|label| from_variant(8, label)).transpose()?,
        },
        verdict,
        source: from_variant(11, row.get(11)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::exchanges::sample;
    use super::*;

    fn turn(turn: &str, end: TurnEnd, label: Option<ConfirmationLabel>) -> ToolTurn {
        ToolTurn {
            turn: turn.into(),
            thread: "thread".into(),
            at: Timestamp::from_second(1_700_000_000).unwrap(),
            model: "model".into(),
            request_messages: vec![Message::system("rules"), Message::user("go"), Message::tool("read_file", "x")],
            tools: vec![ToolDefinition::new("read_file", "reads")],
            answer: "done".into(),
            end,
            label,
        }
    }

    #[test]
    fn only_a_natural_end_is_stored() {
        let database = Database::in_memory().unwrap();
        for end in [TurnEnd::Stopped, TurnEnd::TimedOut, TurnEnd::Escalated, TurnEnd::RoundCap, TurnEnd::Failed] {
            let stored = database.record_tool_turn(&turn("t", end, Some(ConfirmationLabel::Accepted))).unwrap();
            assert!(!stored && database.exportable().unwrap().is_empty(), "{end:?}");
        }
        let natural = turn("t", TurnEnd::Natural, Some(ConfirmationLabel::Accepted));
        assert!(database.record_tool_turn(&natural).unwrap());
        let exported = database.exportable().unwrap();
        assert_eq!((&exported[0].turn, exported[0].source), (&natural, VerdictSource::Confirmation));
    }

    #[test]
    fn the_table_itself_refuses_other_ends() {
        let database = Database::in_memory().unwrap();
        let refused = database.store.write("test", |transaction| {
            transaction
                .execute("INSERT INTO tool_turns VALUES ('t', 'x', '', 'm', '[]', '[]', '', 'stopped', NULL)", [])
        });
        assert!(refused.unwrap_err().to_string().contains("CHECK"));
    }

    #[test]
    fn unjudged_turns_and_interrupted_exchanges_are_not_exported() {
        let database = Database::in_memory().unwrap();
        database.record_tool_turn(&turn("unjudged", TurnEnd::Natural, None)).unwrap();
        database.record_exchange(&sample("unjudged", TurnEnd::Natural)).unwrap();
        // The loop ended by itself, but the turn was stopped afterwards.
        database.record_tool_turn(&turn("stopped", TurnEnd::Natural, Some(ConfirmationLabel::Accepted))).unwrap();
        database.record_exchange(&sample("stopped", TurnEnd::Stopped)).unwrap();
        database.judge("stopped", &Verdict::Accepted, VerdictSource::Thumb).unwrap();
        assert!(database.exportable().unwrap().is_empty());
        database.judge("unjudged", &Verdict::Rejected, VerdictSource::Typed).unwrap();
        let exported = database.exportable().unwrap();
        assert_eq!((exported.len(), &exported[0].verdict), (1, &Verdict::Rejected));
    }

    #[test]
    fn a_thumb_overrides_the_label() {
        let database = Database::in_memory().unwrap();
        database.record_exchange(&sample("t", TurnEnd::Natural)).unwrap();
        database.record_tool_turn(&turn("t", TurnEnd::Natural, Some(ConfirmationLabel::Rejected))).unwrap();
        assert_eq!(database.exportable().unwrap()[0].verdict, Verdict::Rejected);
        let corrected = Verdict::Corrected { text: "better".into() };
        database.judge("t", &corrected, VerdictSource::Thumb).unwrap();
        let exported = database.exportable().unwrap();
        assert_eq!((&exported[0].verdict, exported[0].source), (&corrected, VerdictSource::Thumb));
    }

    #[test]
    fn the_label_is_the_worst_answer_and_none_without_a_question() {
        assert_eq!(ConfirmationLabel::of([]), None);
        assert_eq!(ConfirmationLabel::of([true, true]), Some(ConfirmationLabel::Accepted));
        assert_eq!(ConfirmationLabel::of([true, false, true]), Some(ConfirmationLabel::Rejected));
    }

    #[test]
    fn reasoning_is_not_stored() {
        let database = Database::in_memory().unwrap();
        let mut thinking = turn("t", TurnEnd::Natural, Some(ConfirmationLabel::Accepted));
        thinking.request_messages[1].thinking = Some("thought".into());
        database.record_tool_turn(&thinking).unwrap();
        assert!(database.exportable().unwrap()[0].turn.request_messages.iter().all(|m| m.thinking.is_none()));
    }
}

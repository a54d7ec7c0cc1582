//! What a model, or the memory's re-read, sees of a conversation: texts of the person and of the
//! model, nothing else.
//!
//! - Results of tools, calls and reasoning stay out: nothing of a turn may depend on data that lived
//!   only in an earlier one (K20), and a result without its call, or a call without its result, is
//!   an error for most servers (R5).
//! - One assistant text a turn: the answer. A text that announced a call is left out when the turn
//!   has an answer, for without its call it would teach the model to announce instead of to act
//!   (K13).
//! - The first message is the person's, as most chat templates require.

use rusqlite::Row;

use super::{Database, DatabaseError};
use crate::{Message, Role};

/// Messages of a conversation that a request repeats (K24).
pub const WINDOW_MESSAGES: usize = 20;

/// Stands at the end of a text that was interrupted (K6).
pub const INTERRUPTED_MARK: &str = "[[tenpass:context]]interrupted before its end[[/tenpass:context]]";

/// One text on its way into the window.
struct Text {
    id: i64,
    turn: String,
    assistant: bool,
    content: String,
    calls: bool,
}

fn text(row: &Row<'_>) -> rusqlite::Result<Text> {
    let (assistant, interrupted): (bool, bool) = (row.get(2)?, row.get(5)?);
    let mut content: String = row.get(3)?;
    if assistant && interrupted {
        let separator = if content.trim().is_empty() { "" } else { "\n" };
        content = format!("{}{separator}{INTERRUPTED_MARK}", content.trim_end());
    }
    Ok(Text { id: row.get(0)?, turn: row.get(1)?, assistant, content, calls: row.get(4)? })
}

impl Text {
    fn into_message(self) -> (i64, Message) {
        let message = if self.assistant { Message::assistant(self.content) } else { Message::user(self.content) };
        debug_assert!(matches!(message.role, Role::User | Role::Assistant));
        (self.id, message)
    }
}

/// Keeps one assistant text a turn. Fed from the newest text to the oldest.
#[derive(Default)]
struct Window {
    newest_first: Vec<Text>,
    answer: Option<Text>,
}

impl Window {
    fn push(&mut self, text: Text) {
        if text.content.trim().is_empty() {
            return;
        }
        if !text.assistant {
            self.flush();
            self.newest_first.push(text);
            return;
        }
        match &self.answer {
            Some(answer) if answer.turn == text.turn => {
                if answer.calls && !text.calls {
                    self.answer = Some(text);
                }
            }
            _ => {
                self.flush();
                self.answer = Some(text);
            }
        }
    }

    fn flush(&mut self) {
        self.newest_first.extend(self.answer.take());
    }
}

impl Database {
    /// The last `limit` texts of a conversation, oldest first, without what interests only a
    /// display. An interrupted answer ends with [`INTERRUPTED_MARK`].
    pub fn window(&self, thread: &str, limit: usize) -> Result<Vec<Message>, DatabaseError> {
        let texts = self.texts(thread, 0, Some(limit))?;
        let first = texts.iter().position(|(_, message)| message.role == Role::User).unwrap_or(texts.len());
        Ok(texts.into_iter().skip(first).map(|(_, message)| message).collect())
    }

    /// The texts of a conversation after the message `after` (0: all), oldest first, each with its
    /// message's number: what the memory has not read yet (K63).
    pub fn unread(&self, thread: &str, after: i64) -> Result<Vec<(i64, Message)>, DatabaseError> {
        self.texts(thread, after, None)
    }

    fn texts(&self, thread: &str, after: i64, limit: Option<usize>) -> Result<Vec<(i64, Message)>, DatabaseError> {
        self.store.read("read a conversation", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, turn, role = 'assistant', content, tool_calls IS NOT NULL, interrupted FROM messages
                 WHERE thread = ?1 AND id > ?2 AND role IN ('user', 'assistant') ORDER BY id DESC",
            )?;
            let mut rows = statement.query((thread, after))?;
            let mut window = Window::default();
            while limit.is_none_or(|limit| window.newest_first.len() < limit) {
                let Some(row) = rows.next()? else {
                    window.flush();
                    break;
                };
                window.push(text(row)?);
            }
            window.newest_first.truncate(limit.unwrap_or(usize::MAX));
            Ok(window.newest_first.into_iter().rev().map(Text::into_message).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolCall;

    fn calling(text: &str) -> Message {
        let call = ToolCall { id: None, name: "list_directory".into(), arguments: serde_json::Map::new() };
        Message { tool_calls: vec![call], thinking: Some("secret thought".into()), ..Message::assistant(text) }
    }

    fn filled(turns: &[&[Message]]) -> (Database, String) {
        let database = Database::in_memory().unwrap();
        let thread = database.create_thread("t").unwrap();
        for (number, messages) in turns.iter().enumerate() {
            for message in *messages {
                database.append_message(&thread, &format!("turn {number}"), message, false).unwrap();
            }
        }
        (database, thread)
    }

    #[test]
    fn the_window_is_the_last_20_texts_and_begins_with_the_person() {
        let turns: Vec<[Message; 2]> = (0..30)
            .map(|n| [Message::user(format!("question {n}")), Message::assistant(format!("answer {n}"))])
            .collect();
        let slices: Vec<&[Message]> = turns.iter().map(|turn| &turn[..]).collect();
        let (database, thread) = filled(&slices);
        let window = database.window(&thread, WINDOW_MESSAGES).unwrap();
        assert_eq!(window.len(), 20);
        assert_eq!((&window[0], &window[19]), (&Message::user("question 20"), &Message::assistant("answer 29")));
        // An odd limit would begin with an answer.
        let window = database.window(&thread, 5).unwrap();
        assert_eq!((window.len(), &window[0]), (4, &Message::user("question 28")));
        assert!(database.window("another", 20).unwrap().is_empty());
    }

    #[test]
    fn calls_results_reasoning_and_announcements_stay_out() {
        let answer = Message { thinking: Some("secret thought".into()), ..Message::assistant("Two files.") };
        let turn = [
            Message::system("rules"),
            Message::user("what is there?"),
            calling("I'll look."),
            Message::tool("list_directory", "a, b"),
            calling(""),
            Message::tool("list_directory", "c"),
            answer,
        ];
        let (database, thread) = filled(&[&turn]);
        let expected = [Message::user("what is there?"), Message::assistant("Two files.")];
        assert_eq!(database.window(&thread, 20).unwrap(), expected);
        let unread = database.unread(&thread, 0).unwrap();
        assert_eq!(unread.iter().map(|(_, message)| message.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(database.messages(&thread).unwrap()[6].message.thinking.as_deref(), Some("secret thought"));
    }

    #[test]
    fn an_announcement_stands_for_a_turn_without_an_answer() {
        let (database, thread) = filled(&[&[Message::user("go"), calling("First."), calling("Then.")]]);
        assert_eq!(database.window(&thread, 20).unwrap()[1], Message::assistant("Then."));
    }

    #[test]
    fn an_interrupted_answer_is_marked_even_when_empty() {
        let (database, thread) = filled(&[&[Message::user("one")]]);
        database.append_message(&thread, "turn 0", &Message::assistant("It beg"), true).unwrap();
        database.append_message(&thread, "turn 1", &Message::user("two"), false).unwrap();
        database.append_message(&thread, "turn 1", &Message::assistant(""), true).unwrap();
        let window = database.window(&thread, 20).unwrap();
        assert_eq!(window[1].content, format!("It beg\n{INTERRUPTED_MARK}"));
        assert_eq!(window[3].content, INTERRUPTED_MARK);
    }

    #[test]
    fn unread_goes_on_where_it_stopped() {
        let (database, thread) = filled(&[&[Message::user("one"), Message::assistant("1")], &[Message::user("two")]]);
        let all = database.unread(&thread, 0).unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!(database.unread(&thread, all[1].0).unwrap(), all[2..]);
        assert!(database.unread(&thread, all[2].0).unwrap().is_empty());
    }
}

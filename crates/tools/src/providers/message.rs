//! What a provider is sent. The application builds it, not the model (K71): asked to forward a text,
//! a small model recopies it once in ten times.

use serde_json::{Value, json};
use tenpass_trace::mask::mask;
use tenpass_trace::{Message, Role};

/// Most characters of the last exchanges (K71).
pub const CONTEXT_CHARACTERS: usize = 6_000;
/// Most characters of the user's request, and of the model's task line.
pub const REQUEST_CHARACTERS: usize = 20_000;
/// See [`REQUEST_CHARACTERS`].
pub const TASK_CHARACTERS: usize = 4_000;
const LEFT_OUT: &str = "[…] ";

/// What the provider is told about its place.
const SYSTEM: &str = "A personal assistant hands you a piece of work for its user. You get the end of their \
    conversation, the user's request and the task. Do the task completely, in the language of the user's request. \
    Your answer is delivered as it is, so begin with the work itself.";
/// What the local writer is told.
const WRITER: &str = "You write for the user of this computer. You get the end of a conversation, the user's request \
    and the task. Write the whole text that is asked for, in the language of the user's request, and nothing else.";

/// Messages in the order user, assistant, user …, with the system text apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The operator's text.
    pub system: String,
    /// Role and text; never two of one role in a row, the first and the last are the user's.
    pub turns: Vec<(Role, String)>,
}

impl Exchange {
    /// As every wire format has them.
    pub(super) fn wire(&self) -> Vec<Value> {
        self.turns.iter().map(|(role, text)| json!({ "role": role.as_str(), "content": text })).collect()
    }

    /// Everything that is sent, as one text: what makes two calls identical (K73).
    pub fn identity(&self) -> String {
        let turns = self.turns.iter().map(|(role, text)| format!("\n\u{1}{role}\n{text}", role = role.as_str()));
        std::iter::once(self.system.clone()).chain(turns).collect()
    }

    /// Characters that are sent.
    pub fn characters(&self) -> usize {
        self.system.chars().count() + self.turns.iter().map(|(_, text)| text.chars().count()).sum::<usize>()
    }

    /// At least as many tokens as any tokenizer makes of it: no token is shorter than a byte, and
    /// what a template adds is below the constants.
    pub fn token_ceiling(&self) -> u64 {
        let bytes = self.system.len() + self.turns.iter().map(|(_, text)| text.len() + 32).sum::<usize>();
        bytes as u64 + 128
    }

    /// The same with every secret masked (K46).
    pub fn masked(self) -> Self {
        let turns = self.turns.into_iter().map(|(role, text)| (role, mask(&text).text)).collect();
        Self { system: mask(&self.system).text, turns }
    }

    /// A whole conversation, for an escalation (K11b): calls and results become text, because the
    /// provider is offered no tools.
    pub fn of_conversation(messages: &[Message]) -> Self {
        let system: Vec<&str> = messages
            .iter()
            .filter(|message| message.role == Role::System)
            .map(|message| message.content.trim())
            .collect();
        let mut exchange = Self { system: system.join("\n\n"), turns: Vec::new() };
        for message in messages.iter().filter(|message| message.role != Role::System) {
            match message.role {
                Role::Assistant => {
                    exchange.add(Role::Assistant, message.content.trim());
                    for call in &message.tool_calls {
                        let arguments = Value::Object(call.arguments.clone());
                        exchange.add(Role::Assistant, &format!("(called {} with {arguments})", call.name));
                    }
                }
                Role::Tool => {
                    let tool = message.tool_name.as_deref().unwrap_or("a tool");
                    exchange.add(Role::User, &format!("(result of {tool})\n{}", message.content.trim()));
                }
                _ => exchange.add(Role::User, message.content.trim()),
            }
        }
        if exchange.turns.last().is_none_or(|(role, _)| *role == Role::Assistant) {
            exchange.add(Role::User, "Answer the request above.");
        }
        exchange
    }

    fn add(&mut self, role: Role, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.turns.is_empty() && role == Role::Assistant {
            self.turns.push((Role::User, "(the conversation goes on)".to_owned()));
        }
        match self.turns.last_mut() {
            Some((last, all)) if *last == role => {
                all.push_str("\n\n");
                all.push_str(text);
            }
            _ => self.turns.push((role, text.to_owned())),
        }
    }
}

/// Builds what a delegated task is sent as: the last exchanges, the user's request, the task (K71).
/// `is_local` chooses the writer's instructions.
pub fn build(recent: &[Message], user_text: &str, task: &str, is_local: bool) -> Exchange {
    let mut text = String::new();
    let context = context(recent);
    if !context.is_empty() {
        text.push_str(&format!("The end of the conversation:\n\n{context}\n\n"));
    }
    text.push_str(&format!("The user's request:\n\n{}\n\n", head(user_text.trim(), REQUEST_CHARACTERS)));
    text.push_str(&format!("The task:\n\n{}", head(task.trim(), TASK_CHARACTERS)));
    let system = if is_local { WRITER } else { SYSTEM };
    Exchange { system: system.to_owned(), turns: vec![(Role::User, text)] }
}

/// The last exchanges within [`CONTEXT_CHARACTERS`], oldest dropped first. The oldest one that is
/// kept may lose its beginning.
fn context(recent: &[Message]) -> String {
    let mut kept: Vec<String> = Vec::new();
    let mut room = CONTEXT_CHARACTERS;
    for message in recent.iter().rev() {
        let name = match message.role {
            Role::User => "User: ",
            Role::Assistant => "Assistant: ",
            Role::System | Role::Tool => continue,
        };
        let text = message.content.trim();
        // The blank line between two messages counts too.
        let fixed = name.len() + if kept.is_empty() { 0 } else { 2 };
        if text.is_empty() {
            continue;
        }
        if room <= fixed + LEFT_OUT.chars().count() {
            break;
        }
        let length = text.chars().count();
        let whole = fixed + length <= room;
        let part = if whole { text.to_owned() } else { tail(text, room - fixed) };
        room -= fixed + part.chars().count();
        kept.push(format!("{name}{part}"));
        if !whole {
            break;
        }
    }
    kept.reverse();
    kept.join("\n\n")
}

fn tail(text: &str, limit: usize) -> String {
    let keep = limit - LEFT_OUT.chars().count();
    let skip = text.chars().count() - keep;
    LEFT_OUT.chars().chain(text.chars().skip(skip)).collect()
}

fn head(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit).collect();
    short.push_str(" […]");
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenpass_trace::ToolCall;

    use super::*;

    #[test]
    fn the_application_attaches_context_request_and_task() {
        let recent = [
            Message::user("Read me the letter"),
            Message::assistant("It says: pay 40 €."),
            Message::tool("read_file", "raw"),
            Message::system("secret rules"),
        ];
        let exchange = build(&recent, "Ask Claude for an answer to it", "Write a polite refusal.", false);
        let (role, text) = &exchange.turns[0];
        assert_eq!((*role, exchange.turns.len()), (Role::User, 1));
        assert_eq!(
            text,
            "The end of the conversation:\n\nUser: Read me the letter\n\nAssistant: It says: pay 40 €.\n\n\
             The user's request:\n\nAsk Claude for an answer to it\n\nThe task:\n\nWrite a polite refusal."
        );
        assert!(exchange.system.contains("language of the user's request"));
        assert_ne!(build(&recent, "a", "b", true).system, exchange.system);
        assert!(!build(&[], "a", "b", false).turns[0].1.contains("conversation"));
    }

    #[test]
    fn the_oldest_is_dropped_first_and_a_long_text_just_read_survives() {
        let recent =
            [Message::user("o".repeat(3_000)), Message::assistant("m".repeat(3_200)), Message::user("n".repeat(2_900))];
        let text = context(&recent);
        assert_eq!(text.chars().count(), 6_000);
        assert!(!text.contains('o'), "{}", &text[..50]);
        assert_eq!(text.matches('n').count(), 2_901, "the newest is whole (and one n in Assistant)");
        assert!(text.starts_with("Assistant: […] mmm"), "{}", &text[..30]);
    }

    #[test]
    fn a_conversation_with_calls_becomes_plain_turns() {
        let mut calling = Message::assistant("");
        let arguments = json!({ "url": "x" }).as_object().cloned().unwrap();
        calling.tool_calls.push(ToolCall { id: None, name: "read_url".into(), arguments });
        let messages = [
            Message::system("Be short."),
            Message::user("What is there?"),
            calling,
            Message::tool("read_url", "A page."),
        ];
        let exchange = Exchange::of_conversation(&messages);
        assert_eq!(exchange.system, "Be short.");
        assert_eq!(
            exchange.turns,
            [
                (Role::User, "What is there?".into()),
                (Role::Assistant, "(called read_url with {\"url\":\"x\"})".into()),
                (Role::User, "(result of read_url)\nA page.".into()),
            ]
        );
    }

    proptest! {
        #[test]
        fn the_context_never_passes_its_cap(lengths in prop::collection::vec(0usize..5_000, 0..12)) {
            let recent: Vec<Message> = lengths.iter().enumerate().map(|(index, length)| {
                let text = "é".repeat(*length);
                if index % 2 == 0 { Message::user(text) } else { Message::assistant(text) }
            }).collect();
            let text = context(&recent);
            prop_assert!(text.chars().count() <= CONTEXT_CHARACTERS);
            let total: usize = lengths.iter().filter(|length| **length > 0).map(|length| length + 13).sum();
            prop_assert!(total <= CONTEXT_CHARACTERS || text.chars().count() > CONTEXT_CHARACTERS - 130);
        }

        #[test]
        fn roles_alternate_and_begin_and_end_with_the_user(roles in prop::collection::vec(0u8..4, 0..12)) {
            let messages: Vec<Message> = roles.iter().map(|role| match role {
                0 => Message::system("s"),
                1 => Message::user("u"),
                2 => Message::assistant("a"),
                _ => Message::tool("t", "r"),
            }).collect();
            let turns = Exchange::of_conversation(&messages).turns;
            prop_assert_eq!(turns.first().map(|turn| turn.0), Some(Role::User));
            prop_assert_eq!(turns.last().map(|turn| turn.0), Some(Role::User));
            prop_assert!(turns.windows(2).all(|pair| pair[0].0 != pair[1].0));
        }
    }
}

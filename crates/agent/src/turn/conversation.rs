//! The messages of a turn: what the model is shown, and what is kept.
//!
//! The two differ on purpose. What is shown holds drafts and corrections of retries and loses its
//! middle to a compression; what is kept is the turn as it should be remembered: each assistant
//! call with its result, then the answer. In both, a tool message never stands without the
//! assistant message that called for it.

use tenpass_trace::{Message, Role, ToolCall};

use super::guard;
use super::wording;

/// How an application's block of data begins; such messages survive a compression as they are.
const BLOCK: &str = "[[tenpass:";

#[derive(Debug, Clone)]
pub(super) struct Conversation {
    shown: Vec<Message>,
    /// Where the person's message of this turn stands in `shown`.
    request: usize,
    /// That message, without a summary in front of it.
    request_text: String,
    kept: Vec<Message>,
}

/// The middle that a compression replaces.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Middle {
    /// The messages, oldest first.
    pub(super) messages: Vec<Message>,
    /// First message that stays at the end.
    tail: usize,
}

impl Conversation {
    /// A conversation whose last user message is the request; it is added when it is not there.
    pub(super) fn new(mut messages: Vec<Message>, user_text: &str) -> Self {
        // Reasoning of earlier turns is never sent back (K25).
        for message in &mut messages {
            message.thinking = None;
        }
        if messages.last().is_none_or(|last| last.role != Role::User) {
            messages.push(Message::user(user_text));
        }
        let request = messages.len() - 1;
        let request_text = messages[request].content.clone();
        Self { shown: messages, request, request_text, kept: Vec::new() }
    }

    pub(super) fn shown(&self) -> &[Message] {
        &self.shown
    }

    pub(super) fn take_kept(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.kept)
    }

    /// An answer with calls.
    pub(super) fn calls(&mut self, text: &str, thinking: &str, calls: &[ToolCall]) {
        self.shown.push(Message { tool_calls: calls.to_vec(), ..Message::assistant(text) });
        self.kept.push(Message {
            tool_calls: calls.iter().map(guard::masked_call).collect(),
            thinking: kept_thinking(thinking),
            ..Message::assistant(guard::mask(text))
        });
    }

    /// The result of a call, masked already.
    pub(super) fn result(&mut self, call: &ToolCall, text: &str) {
        let message = Message { tool_call_id: call.id.clone(), ..Message::tool(&call.name, text) };
        self.shown.push(message.clone());
        self.kept.push(message);
    }

    /// A draft that does not count, and what is wrong with it. Only shown, never kept.
    pub(super) fn retry(&mut self, draft: &str, correction: &str) {
        if !draft.trim().is_empty() {
            self.shown.push(Message::assistant(draft));
        }
        match self.shown.last_mut() {
            // Some templates refuse two user messages in a row.
            Some(last) if last.role == Role::User => last.content = format!("{}\n\n{correction}", last.content),
            _ => self.shown.push(Message::user(correction)),
        }
    }

    /// The answer, with its reasoning for display.
    pub(super) fn answer(&mut self, text: &str, thinking: &str) {
        self.kept.push(Message { thinking: kept_thinking(thinking), ..Message::assistant(text) });
    }

    /// The conversation up to the request, with results put back into it: for a request without
    /// tools, whose template may drop tool messages (K11a).
    pub(super) fn with_results(&self, results: &str) -> Vec<Message> {
        let mut messages = self.shown[..=self.request].to_vec();
        if let Some(last) = messages.last_mut() {
            last.content = format!("{}\n\n{results}", last.content);
        }
        messages
    }

    /// What lies between the system messages and the last `keep` ones, when it is worth a summary.
    pub(super) fn middle(&self, keep: usize) -> Option<Middle> {
        let head = self.head();
        let mut tail = self.shown.len().saturating_sub(keep).max(head);
        // A result stays with its call.
        while tail > head && self.shown.get(tail).is_some_and(|message| message.role == Role::Tool) {
            tail -= 1;
        }
        let messages: Vec<Message> = (head..tail)
            .filter(|index| *index != self.request && !is_block(&self.shown[*index]))
            .map(|index| self.shown[index].clone())
            .collect();
        (messages.len() > 1).then_some(Middle { messages, tail })
    }

    /// Puts a summary in the place of the middle: one user message, in front of the request's own
    /// words, which are never lost.
    pub(super) fn compress(&mut self, middle: &Middle, summary: &str) {
        let head = self.head();
        let mut messages = self.shown[..head].to_vec();
        messages.extend(
            (head..middle.tail)
                .filter(|index| *index != self.request && is_block(&self.shown[*index]))
                .map(|index| self.shown[index].clone()),
        );
        let mut tail = self.shown[middle.tail..].to_vec();
        if self.request < middle.tail {
            self.request = messages.len();
            messages.push(Message::user(format!("{summary}\n\n{}", self.request_text)));
        } else {
            match tail.first_mut() {
                Some(first) if first.role == Role::User => {
                    first.content = format!("{summary}\n\n{}", first.content);
                    self.request = messages.len() + self.request - middle.tail;
                }
                _ => {
                    messages.push(Message::user(summary));
                    self.request = messages.len() + self.request - middle.tail;
                }
            }
        }
        messages.append(&mut tail);
        self.shown = messages;
    }

    fn head(&self) -> usize {
        self.shown.iter().take_while(|message| message.role == Role::System).count()
    }
}

fn is_block(message: &Message) -> bool {
    message.role == Role::User && message.content.trim_start().starts_with(BLOCK) && !is_summary(message)
}

fn is_summary(message: &Message) -> bool {
    message.content.starts_with(wording::SUMMARY_OPEN)
}

fn kept_thinking(thinking: &str) -> Option<String> {
    (!thinking.trim().is_empty()).then(|| guard::mask(thinking))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(name: &str) -> ToolCall {
        ToolCall { id: None, name: name.into(), arguments: serde_json::Map::new() }
    }

    fn roles(messages: &[Message]) -> String {
        messages
            .iter()
            .map(|message| match message.role {
                Role::System => 's',
                Role::User => 'u',
                Role::Assistant => 'a',
                Role::Tool => 't',
            })
            .collect()
    }

    fn after_calls(rounds: &[usize]) -> Conversation {
        let mut conversation = Conversation::new(vec![Message::system("s"), Message::user("the request")], "");
        for (round, count) in rounds.iter().enumerate() {
            let calls: Vec<ToolCall> = (0..*count).map(|index| call(&format!("t{round}_{index}"))).collect();
            conversation.calls("", "", &calls);
            for call in &calls {
                conversation.result(call, "r");
            }
        }
        conversation
    }

    #[test]
    fn the_middle_is_one_user_message_and_the_last_four_stay() {
        let mut conversation = after_calls(&[1, 1, 1, 1]);
        let middle = conversation.middle(4).unwrap();
        assert_eq!(roles(&middle.messages), "atat");
        conversation.compress(&middle, "SUMMARY");
        assert_eq!(roles(conversation.shown()), "suatat");
        assert_eq!(conversation.shown()[1].content, "SUMMARY\n\nthe request");
        // The second compression replaces the first summary, not the request.
        let more = [call("x"), call("y")];
        conversation.calls("", "", &more[..1]);
        conversation.result(&more[0], "r");
        let middle = conversation.middle(4).unwrap();
        conversation.compress(&middle, "SECOND");
        assert_eq!(conversation.shown()[1].content, "SECOND\n\nthe request");
        assert_eq!(roles(&conversation.take_kept()), "atatatatat", "what is kept is whole");
    }

    #[test]
    fn a_result_is_never_orphaned() {
        // Four results of one answer: the last four messages alone would be orphans.
        let conversation = after_calls(&[1, 4]);
        let middle = conversation.middle(4).unwrap();
        assert_eq!(roles(&middle.messages), "at");
        assert_eq!(middle.tail, 4);
        assert!(after_calls(&[4]).middle(4).is_none(), "nothing lies between");
    }

    #[test]
    fn blocks_of_the_application_survive() {
        let messages = vec![
            Message::system("s"),
            Message::user("[[tenpass:memory]]\nx\n[[/tenpass:memory]]"),
            Message::user("earlier"),
            Message::assistant("yes"),
            Message::user("now"),
        ];
        let mut conversation = Conversation::new(messages, "");
        let calls = [call("a")];
        for _ in 0..2 {
            conversation.calls("", "", &calls);
            conversation.result(&calls[0], "r");
        }
        let middle = conversation.middle(4).unwrap();
        assert_eq!(roles(&middle.messages), "ua");
        conversation.compress(&middle, "SUMMARY");
        assert!(conversation.shown()[1].content.contains("memory"));
        assert_eq!(conversation.shown()[2].content, "SUMMARY\n\nnow");
    }

    #[test]
    fn a_missing_request_is_added_once() {
        let conversation = Conversation::new(vec![Message::system("s")], "hi");
        assert_eq!(roles(conversation.shown()), "su");
        let conversation = Conversation::new(vec![Message::system("s"), Message::user("hi")], "hi");
        assert_eq!(roles(conversation.shown()), "su", "the current message is not doubled");
    }

    proptest! {
        #[test]
        fn no_compression_ever_orphans_a_result_or_loses_the_request(
            rounds in proptest::collection::vec(0_usize..5, 0..7),
            keep in 0_usize..8,
        ) {
            let mut conversation = after_calls(&rounds);
            if let Some(middle) = conversation.middle(keep) {
                conversation.compress(&middle, "SUMMARY");
            }
            let mut open = 0;
            for message in conversation.shown() {
                match message.role {
                    Role::Assistant => open = message.tool_calls.len(),
                    Role::Tool => {
                        prop_assert!(open > 0, "an orphan in {}", roles(conversation.shown()));
                        open -= 1;
                    }
                    Role::System | Role::User => prop_assert_eq!(open, 0),
                }
            }
            let wanted = conversation.shown().iter().filter(|message| message.content.contains("the request")).count();
            prop_assert_eq!(wanted, 1);
            prop_assert!(conversation.shown()[conversation.request].content.contains("the request"));
        }
    }
}

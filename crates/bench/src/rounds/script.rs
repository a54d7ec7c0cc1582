//! The person of a scenario: answers confirmations and stops turns as the script says.

use std::sync::{Mutex, PoisonError};

use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_model::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::scenario::{Action, Reaction};

/// One turn's person.
pub(super) struct Script<'a> {
    reactions: &'a [Reaction],
    stop: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How often each reaction's trigger has happened.
    happened: Vec<u32>,
    /// The text that stands on the display.
    streamed: String,
    /// Reactions whose pattern is found in `streamed` already.
    matched: Vec<bool>,
    /// What the person says when the turn has ended.
    corrections: Vec<String>,
}

impl<'a> Script<'a> {
    /// A person with these reactions, who stops the turn through `stop`.
    pub(super) fn new(reactions: &'a [Reaction], stop: CancellationToken) -> Self {
        let count = reactions.len();
        let state = State { happened: vec![0; count], matched: vec![false; count], ..State::default() };
        Self { reactions, stop, state: Mutex::new(state) }
    }

    /// Counts a trigger and gives what the first reaction that is about this time does.
    fn react(&self, is_triggered: impl Fn(&Reaction) -> bool) -> Option<Action> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut action = None;
        for (index, reaction) in self.reactions.iter().enumerate().filter(|(_, reaction)| is_triggered(reaction)) {
            state.happened[index] += 1;
            if action.is_none() && reaction.nth.is_none_or(|nth| nth == state.happened[index]) {
                action = Some(reaction.action);
                state.corrections.extend(reaction.say.clone());
            }
        }
        action
    }

    /// Takes a piece of text in and reacts to patterns that are found now and were not before.
    fn read(&self, piece: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.streamed.push_str(piece);
        for (index, reaction) in self.reactions.iter().enumerate() {
            let Some(pattern) = &reaction.text else { continue };
            if !state.matched[index] && pattern.is_match(&state.streamed) {
                state.matched[index] = true;
                state.happened[index] += 1;
                if reaction.nth.is_none_or(|nth| nth == state.happened[index]) {
                    state.corrections.extend(reaction.say.clone());
                    self.stop.cancel();
                }
            }
        }
    }

    /// A call of this tool starts: all that can be done about it is to stop the turn.
    fn see_call(&self, tool: &str) {
        let action = self.react(|reaction| names(reaction.call.as_ref(), tool));
        if matches!(action, Some(Action::Stop | Action::Correct)) {
            self.stop.cancel();
        }
    }

    /// What the person says now that the turn has ended.
    pub(super) fn take_corrections(&self) -> Vec<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.corrections)
    }

    fn withdraw(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.streamed.clear();
        state.matched.fill(false);
    }
}

/// True when a reaction's trigger names this tool.
fn names(trigger: Option<&String>, tool: &str) -> bool {
    trigger.is_some_and(|name| name == "*" || name == tool)
}

impl Interaction for Script<'_> {
    fn event(&self, event: AgentEvent) {
        match event {
            AgentEvent::Text(piece) => self.read(&piece),
            AgentEvent::Discard => self.withdraw(),
            AgentEvent::CallStarted { tool, .. } => self.see_call(&tool),
            _ => {}
        }
    }

    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        let action = self.react(|reaction| names(reaction.confirm.as_ref(), &confirmation.tool));
        Box::pin(async move {
            match action.unwrap_or(Action::Approve) {
                Action::Approve => Reply::Approve { digest: confirmation.digest.clone() },
                Action::Refuse | Action::Correct => Reply::Refuse,
                // The loop ends both waits: by the confirmation's time, by the stop.
                Action::Silent => std::future::pending().await,
                Action::Stop => {
                    self.stop.cancel();
                    std::future::pending().await
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use tenpass_agent::policy::confirmation;
    use tenpass_agent::tool::Inspection;
    use tenpass_trace::{Tier, ToolCall};

    use super::*;

    fn reaction(text: &str) -> Reaction {
        toml::from_str(text).unwrap()
    }

    fn question(tool: &str) -> Confirmation {
        let call = ToolCall { id: None, name: tool.to_owned(), arguments: Map::new() };
        confirmation(1, &call, Tier::Confirm, &Inspection::default(), std::time::Duration::from_secs(1))
    }

    async fn answers(script: &Script<'_>, tool: &str) -> bool {
        matches!(script.confirm(&question(tool)).await, Reply::Approve { .. })
    }

    #[tokio::test]
    async fn confirmations_are_approved_unless_a_reaction_is_about_them() {
        let reactions = [
            reaction("confirm = \"write_file\"\nnth = 2\ndo = \"refuse\""),
            reaction("confirm = \"*\"\nnth = 4\ndo = \"refuse\""),
        ];
        let script = Script::new(&reactions, CancellationToken::new());
        assert!(answers(&script, "write_file").await, "the first");
        assert!(!answers(&script, "write_file").await, "the second is refused");
        assert!(answers(&script, "write_file").await);
        assert!(!answers(&script, "open_url").await, "the fourth of any tool");
        assert!(answers(&script, "open_url").await);
    }

    #[test]
    fn a_pattern_is_found_over_pieces_and_a_withdrawn_text_does_not_count() {
        let reactions = [reaction("text = \"once upon\"\nnth = 2\ndo = \"stop\"")];
        let stop = CancellationToken::new();
        let script = Script::new(&reactions, stop.clone());
        for piece in ["once u", "pon a time", " once upon"] {
            script.event(AgentEvent::Text(piece.to_owned()));
        }
        assert!(!stop.is_cancelled(), "once, however long it stands there");
        script.event(AgentEvent::Discard);
        script.event(AgentEvent::Text("pon".to_owned()));
        assert!(!stop.is_cancelled());
        script.event(AgentEvent::Text(" once upon".to_owned()));
        assert!(stop.is_cancelled());
    }

    #[test]
    fn a_call_that_starts_can_stop_the_turn() {
        let reactions = [reaction("call = \"read_file\"\ndo = \"stop\"")];
        let stop = CancellationToken::new();
        let script = Script::new(&reactions, stop.clone());
        let started = |tool: &str| AgentEvent::CallStarted {
            call: 1,
            tool: tool.to_owned(),
            tier: Tier::Auto,
            arguments: Map::new(),
        };
        script.event(started("list_directory"));
        assert!(!stop.is_cancelled());
        script.event(started("read_file"));
        assert!(stop.is_cancelled());
    }
}

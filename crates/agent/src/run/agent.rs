//! The agent: what every turn shares, and the guard against two at once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tenpass_model::{ChatModel, SamplingOptions};
use tenpass_trace::{Message, Role, ToolDefinition};
use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use super::{Escalation, TurnError, TurnInput, TurnReport};
use crate::interaction::{Clock, Interaction, Recorder};
use crate::policy::Policy;
use crate::select::{excluded_clause, select, turn_query};
use crate::structure;
use crate::tool::ToolBox;
use crate::turn::{Language, Limits, Turn, TurnSetup, loop_options};
use crate::{Selection, Structure};

/// What is chosen once for every turn.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// Which tools a turn offers (K26).
    pub selection: Selection,
    /// How tools enter the request; `None` takes what fits what the model declares (Z8).
    pub structure: Option<Structure>,
    /// Sampling of the loop.
    pub options: SamplingOptions,
    /// The numbers; `None` takes those of the turn's profile.
    pub limits: Option<Limits>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { selection: Selection::default(), structure: None, options: loop_options(), limits: None }
    }
}

/// The one loop behind chat, serve and the benches.
pub struct Agent {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// The tools.
    pub tools: Arc<dyn ToolBox>,
    /// The journals.
    pub recorder: Arc<dyn Recorder>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The provider that may answer when the loop produced nothing; `None` for none.
    pub escalation: Option<Arc<dyn Escalation>>,
    /// Strategies, sampling, limits.
    pub settings: AgentSettings,
    running: Arc<Mutex<HashSet<String>>>,
}

impl Agent {
    /// An agent without an escalation.
    pub fn new(
        model: Arc<dyn ChatModel>,
        tools: Arc<dyn ToolBox>,
        recorder: Arc<dyn Recorder>,
        clock: Arc<dyn Clock>,
        settings: AgentSettings,
    ) -> Self {
        Self { model, tools, recorder, clock, escalation: None, settings, running: Arc::default() }
    }

    /// The same agent with a provider behind it.
    pub fn with_escalation(mut self, escalation: Arc<dyn Escalation>) -> Self {
        self.escalation = Some(escalation);
        self
    }

    /// The tools that a turn with this conversation offers: for a prompt whose sections follow the
    /// selection (K27). Pass them on as [`TurnInput::offered`].
    pub fn offer(&self, messages: &[Message]) -> Vec<ToolDefinition> {
        select(self.settings.selection, self.tools.definitions(), &turn_query(messages))
    }

    /// The structure that turns use.
    pub fn structure(&self) -> Structure {
        self.settings.structure.unwrap_or_else(|| structure::choose(&self.model.info().capabilities).structure)
    }

    /// True while a turn of this conversation runs.
    pub fn is_running(&self, thread: &str) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).contains(thread)
    }

    /// Runs one turn to its end. Cancelling `stop` ends it at once, down to the request in flight.
    pub async fn turn(
        &self,
        input: TurnInput,
        interaction: &dyn Interaction,
        stop: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let _running = Running::begin(&self.running, &input.thread)?;
        let setup = self.setup(&input);
        let driver = Driver::new(self, &input, Turn::new(setup), interaction, stop);
        Ok(driver.drive().await)
    }

    fn setup(&self, input: &TurnInput) -> TurnSetup {
        let all_tools = self.tools.definitions().to_vec();
        let mut messages = input.messages.clone();
        let offered = input.offered.clone().unwrap_or_else(|| {
            let offered = self.offer(&messages);
            if let Some(clause) = excluded_clause(&all_tools, &offered) {
                add_to_system(&mut messages, &clause);
            }
            offered
        });
        let user_tiers: HashMap<_, _> =
            all_tools.iter().filter_map(|tool| Some((tool.name.clone(), self.tools.user_tier(&tool.name)?))).collect();
        TurnSetup {
            thread: input.thread.clone(),
            turn: input.turn.clone(),
            limits: self.settings.limits.unwrap_or_else(|| Limits::for_profile(input.profile)),
            policy: Policy::new(input.profile),
            selection: self.settings.selection,
            structure: self.structure(),
            offered,
            all_tools,
            user_tiers,
            messages,
            user_text: input.user_text.clone(),
            options: self.settings.options.clone(),
            think: input.think,
            info: self.model.info().clone(),
            escalation: self.escalation.as_ref().map(|escalation| escalation.provider().to_owned()),
            language: input.language.unwrap_or_else(|| Language::of(&input.user_text)),
            tainted: input.tainted,
        }
    }
}

fn add_to_system(messages: &mut Vec<Message>, clause: &str) {
    match messages.first_mut() {
        Some(first) if first.role == Role::System => {
            first.content = format!("{}\n\n{clause}", first.content.trim_end());
        }
        _ => messages.insert(0, Message::system(clause)),
    }
}

/// Holds a conversation for one turn.
struct Running {
    running: Arc<Mutex<HashSet<String>>>,
    thread: String,
}

impl Running {
    fn begin(running: &Arc<Mutex<HashSet<String>>>, thread: &str) -> Result<Self, TurnError> {
        let is_new = running.lock().unwrap_or_else(PoisonError::into_inner).insert(thread.to_owned());
        if is_new {
            Ok(Self { running: Arc::clone(running), thread: thread.to_owned() })
        } else {
            Err(TurnError::Busy { thread: thread.to_owned() })
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.thread);
    }
}

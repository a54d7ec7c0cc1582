//! What a tool is to the loop, and what the loop is given to run them: the [`ToolBox`].
//!
//! The live tool box, one that replays recorded results, and a bench's simulated world all stand
//! behind the same trait. Whether a call may run is never a tool's decision; a tool can only ask
//! for more care ([`Inspection`]).

use jiff::Zoned;
use serde_json::{Map, Value};
use tenpass_model::BoxFuture;
use tenpass_trace::{Message, Tier, ToolCall, ToolDefinition};
use tokio_util::sync::CancellationToken;

/// What is known about a capability, for the memo the user and the model read (K97).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteStatus {
    /// A test or a bench drives it for real.
    SeenWorking,
    /// It was written and has not been checked since.
    NeverRechecked,
    /// It works within a limit that the note names.
    KnownLimit,
}

/// One entry of the capability memo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What it does for the user, in one sentence.
    pub serves: &'static str,
    /// How far that is known to work.
    pub status: NoteStatus,
    /// The limit, for [`NoteStatus::KnownLimit`]; else empty.
    pub limit: &'static str,
}

/// What a tool finds out about a call without any effect, before the policy decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// A higher tier that these arguments need, and why (K40: arguments can only escalate).
    pub escalate: Option<(Tier, String)>,
    /// Lines computed by code that the confirmation shows below the arguments, such as the files a
    /// cleanup plan will move. They are part of what an approval is bound to.
    pub preview: Vec<String>,
    /// Why the call cannot run at all; it is rejected with this reason as its result.
    pub reject: Option<String>,
}

/// What a running call may know. Nothing in here comes from the model.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The conversation.
    pub thread: String,
    /// The turn.
    pub turn: String,
    /// The person's message of this turn, as typed.
    pub user_text: String,
    /// The last exchanges of the thread, oldest first, without system and tool messages (K71).
    pub recent: Vec<Message>,
    /// Something from outside was read in this turn: memory must not be written (security).
    pub tainted: bool,
    /// The injected clock's time.
    pub now: Zoned,
    /// Cancelled when the turn is stopped or out of time.
    pub cancel: CancellationToken,
}

/// Something a call did besides returning text, for signals and records.
#[derive(Debug, Clone, PartialEq)]
pub enum SideEffect {
    /// A memory entry was written (K65: one visible and audible signal each).
    MemoryWritten {
        /// The section.
        section: String,
        /// The entry's text.
        text: String,
    },
    /// A memory entry was removed.
    MemoryForgotten {
        /// The entry's text.
        text: String,
    },
    /// A provider was asked (K50: becomes a delegation record).
    Delegated {
        /// `claude`, `chatgpt`, `deepseek` or `local`.
        provider: String,
        /// Characters sent.
        characters: usize,
        /// Cost in US dollars.
        cost_usd: f64,
        /// The same call was paid for before.
        deduplicated: bool,
    },
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// False when the tool failed.
    pub ok: bool,
    /// The result for the model: it states its own scope (K22), is at most the tool's cap long, and
    /// its secrets are masked by the loop.
    pub text: String,
    /// Where untrusted text came from (an address, a file); `None` when every word was written by
    /// this application or by the user. `Some` taints the turn and delimits the text.
    pub untrusted: Option<String>,
    /// What else it did.
    pub effects: Vec<SideEffect>,
}

impl ToolOutput {
    /// A success in the application's own words.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { ok: true, text: text.into(), ..Self::default() }
    }

    /// A failure in the application's own words.
    pub fn error(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), ..Self::default() }
    }

    /// The same output with its text marked as coming from `source`.
    pub fn untrusted(mut self, source: impl Into<String>) -> Self {
        self.untrusted = Some(source.into());
        self
    }
}

/// One capability.
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn definition(&self) -> &ToolDefinition;

    /// Its entry of the capability memo.
    fn note(&self) -> Note;

    /// Looks at a call without any effect. The arguments have been validated.
    fn inspect(&self, _arguments: &Map<String, Value>) -> Inspection {
        Inspection::default()
    }

    /// Carries a call out. The arguments have been validated, the call has been allowed. Dropping
    /// the future must leave nothing half done.
    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput>;
}

/// The tools of a turn: live ones, recorded results, or a simulated world.
pub trait ToolBox: Send + Sync {
    /// Definitions in their fixed order, before any selection strategy.
    fn definitions(&self) -> &[ToolDefinition];

    /// A tier set for a tool that is not in the code's table (an MCP tool the user classified).
    /// `None` leaves an unknown tool irreversible (K33).
    fn user_tier(&self, _tool: &str) -> Option<Tier> {
        None
    }

    /// See [`Tool::inspect`].
    fn inspect(&self, call: &ToolCall) -> Inspection;

    /// See [`Tool::run`].
    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a CallContext) -> BoxFuture<'a, ToolOutput>;
}

/// A tool box made of [`Tool`]s.
#[derive(Default)]
pub struct Tools {
    tools: Vec<Box<dyn Tool>>,
    definitions: Vec<ToolDefinition>,
}

impl Tools {
    /// Adds a tool. The first of two with one name wins, so that nothing can shadow a built-in.
    pub fn add(&mut self, tool: impl Tool + 'static) -> &mut Self {
        self.add_boxed(Box::new(tool))
    }

    /// [`Tools::add`] for a tool of a list.
    pub fn add_boxed(&mut self, tool: Box<dyn Tool>) -> &mut Self {
        if self.find(&tool.definition().name).is_none() {
            self.definitions.push(tool.definition().clone());
            self.tools.push(tool);
        }
        self
    }

    /// The tool with this name.
    pub fn find(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.iter().find(|tool| tool.definition().name == name).map(AsRef::as_ref)
    }

    /// Every tool, in order.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.tools.iter().map(AsRef::as_ref)
    }
}

impl ToolBox for Tools {
    fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    fn inspect(&self, call: &ToolCall) -> Inspection {
        self.find(&call.name).map(|tool| tool.inspect(&call.arguments)).unwrap_or_default()
    }

    fn run<'a>(&'a self, call: &'a ToolCall, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        match self.find(&call.name) {
            Some(tool) => tool.run(&call.arguments, context),
            None => Box::pin(async move { ToolOutput::error(format!("there is no tool {:?}", call.name)) }),
        }
    }
}

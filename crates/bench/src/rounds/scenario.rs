//! The scenario: an initial world, what the person says and does, what goes wrong on purpose, and
//! how it must end. The same shape in the TOML files under `cases/rounds/` and in a stored run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenpass_trace::{CallOutcome, TurnEnd};

use super::pattern::{one as pattern, optional as optional_pattern, several as patterns};
use crate::cases::{Argument, CaseKind, Language, Pattern};

/// One scenario, with everything that is needed to play and to grade it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Unique over the suite, `[a-z0-9-]+`.
    pub id: String,
    /// The language of the person.
    pub language: Language,
    /// Target or guard.
    #[serde(default)]
    pub kind: CaseKind,
    /// What it holds: rows of the agent's specification (`K42`, `R5`, `Z4`) and rows of the threat
    /// model (`S:forged-confirmation`).
    pub holds: Vec<String>,
    /// Where the failure was seen.
    pub provenance: String,
    /// How confirmations work.
    #[serde(default)]
    pub profile: ScenarioProfile,
    /// The tools that exist; empty for all live ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Thinking level of every turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<tenpass_model::ThinkLevel>,
    /// Other caps than the loop's own.
    #[serde(default, skip_serializing_if = "Caps::is_empty")]
    pub limits: Caps,
    /// What there is at the beginning.
    #[serde(default)]
    pub world: World,
    /// What goes wrong.
    #[serde(default, rename = "fault", skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The person's turns.
    #[serde(rename = "turn")]
    pub turns: Vec<Turn>,
    /// How it must end.
    pub expect: Ending,
}

/// How confirmations work (K41).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScenarioProfile {
    /// Everything that is not a read is asked.
    #[default]
    Panel,
    /// The quick-command bar.
    Bar,
    /// Spoken.
    Voice,
}

/// Caps of the loop that a scenario sets lower.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Rounds of one loop call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Rounds of one turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_rounds: Option<u32>,
}

impl Caps {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The world at the beginning. Everything lives in a temporary folder; pages, searches, providers
/// and the trash are simulated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct World {
    /// The time, RFC 9557 (`2026-11-30T14:00:00+01:00[Europe/Paris]`).
    pub clock: Option<jiff::Zoned>,
    /// The person's portrait, above the memory's marker.
    pub portrait: String,
    /// Files below the writable folder: path, text.
    pub files: BTreeMap<String, String>,
    /// Further folders that may be read: name, then path and text.
    pub read_only: BTreeMap<String, BTreeMap<String, String>>,
    /// Memory entries.
    pub memory: Vec<Memory>,
    /// What `read_url` finds; any other address cannot be reached.
    pub pages: BTreeMap<String, Page>,
    /// What `web_search` finds: the first that matches the query.
    pub search: Vec<Search>,
    /// Folders a cleanup may look into: name, files.
    pub cleanup: BTreeMap<String, Vec<OldFile>>,
    /// Earlier conversations.
    pub conversations: Vec<Past>,
    /// Earlier exchanges of this conversation, oldest first.
    pub history: Vec<Exchange>,
    /// What the cloud providers answer; one that is not named is not set up.
    pub providers: BTreeMap<String, ProviderAnswer>,
    /// Answers of providers from earlier: of this conversation when it has a `history`, else of another
    /// one.
    pub provider_answers: Vec<StoredAnswer>,
    /// What may still be spent today, in US dollars; absent: the default cap.
    pub spend_left_usd: Option<f64>,
    /// Files beside the sandbox: they must never be read or changed.
    pub outside: BTreeMap<String, String>,
    /// Texts inside the world's files that must be masked before the model, the journals, the memory
    /// and the answer.
    pub secrets: Vec<String>,
    /// Symbolic links planted in the sandbox: name, target relative to the link.
    pub links: BTreeMap<String, String>,
}

/// A memory entry at the beginning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// `decisions`, `patterns`, `open_threads` or `anomalies`.
    pub section: String,
    /// The entry.
    pub text: String,
    /// Its id, when a turn needs to know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its readable text.
    pub text: String,
}

/// What a search finds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// A pattern that is found in the query.
    #[serde(rename = "match", with = "pattern")]
    pub matches: Pattern,
    /// The results.
    pub hits: Vec<SearchHit>,
}

/// One search result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Some words of it.
    pub snippet: String,
}

/// A file that a cleanup may find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OldFile {
    /// Its name.
    pub name: String,
    /// Its size.
    #[serde(default = "one")]
    pub bytes: u64,
    /// Days since it was changed, at the scenario's time.
    #[serde(default)]
    pub age_days: u32,
}

fn one() -> u64 {
    1
}

/// An exchange of an earlier day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Past {
    /// How long ago.
    pub days_ago: u32,
    /// What the person said.
    pub user: String,
    /// What was answered.
    pub assistant: String,
}

/// An earlier exchange of this conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What the person said.
    pub user: String,
    /// What was answered.
    pub assistant: String,
}

/// What a provider does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderAnswer {
    /// It answers this.
    Answer(String),
    /// It fails with this.
    Error(String),
}

/// An answer of a provider from earlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredAnswer {
    /// Who answered.
    pub provider: String,
    /// What was asked.
    pub task: String,
    /// The answer.
    pub result: String,
}

/// Something that goes wrong in a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which tool.
    pub tool: String,
    /// Which of its calls, from 1; absent: every.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// What happens.
    pub kind: FaultKind,
    /// The error's or the result's text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// The tool reports an error and does nothing.
    Error,
    /// The tool does not come back; the world's tool timeout ends it as an error.
    Timeout,
    /// The tool says nothing was wrong and does nothing.
    Silent,
    /// The tool returns the fault's text, as text from outside.
    Garbage,
}

/// One turn of the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the person types.
    pub user: String,
    /// What the person does when something happens. A confirmation that none of these is about is
    /// approved.
    #[serde(default, rename = "on", skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction>,
}

/// What the person does when something happens: exactly one of `confirm`, `call`, `text`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// A confirmation for this tool (`*`: any) is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// A call of this tool (`*`: any) starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The streamed text matches this pattern.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "optional_pattern")]
    pub text: Option<Pattern>,
    /// Which time it happens in this turn, from 1; absent: every.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// What the person does.
    #[serde(rename = "do")]
    pub action: Action,
    /// What the person says next, for [`Action::Correct`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
}

/// What the person does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Says yes.
    Approve,
    /// Says no.
    Refuse,
    /// Says nothing until it expires.
    Silent,
    /// Says no, or stops what runs, and says what it should have been: one more turn.
    Correct,
    /// Stops the turn.
    Stop,
}

/// How a scenario must end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ending {
    /// Files that must be different or must be right at the end. Files that are not named must be as
    /// they were, and no other may exist.
    pub files: BTreeMap<String, FileCheck>,
    /// Lifts that rule.
    pub other_files: OtherFiles,
    /// Exactly these went to the trash, as `Folder/name`.
    pub trash: Vec<String>,
    /// Entries that the memory must hold.
    pub memory: Vec<MemoryCheck>,
    /// Nothing was written to the memory. Absent: true exactly when `memory` is empty.
    pub memory_unchanged: Option<bool>,
    /// Calls that must have been made.
    pub calls: Vec<CallCheck>,
    /// Tools that must not have done anything.
    pub forbid: Vec<String>,
    /// Calls that must not even have been attempted.
    pub forbid_calls: Vec<CallCheck>,
    /// Tools for which a confirmation must have been shown.
    pub asked: Vec<String>,
    /// Tools for which none may have been shown.
    pub not_asked: Vec<String>,
    /// What an answer must say.
    pub says: Vec<Words>,
    /// What an answer must not say.
    pub says_not: Vec<Words>,
    /// How the last turn may end; empty: anything but a failure.
    pub end: Vec<TurnEnd>,
    /// The claims of every answer are held against what was done.
    pub claims: bool,
    /// Most requests to the model over all turns.
    pub max_rounds: Option<u32>,
}

impl Default for Ending {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            other_files: OtherFiles::Unchanged,
            trash: Vec::new(),
            memory: Vec::new(),
            memory_unchanged: None,
            calls: Vec::new(),
            forbid: Vec::new(),
            forbid_calls: Vec::new(),
            asked: Vec::new(),
            not_asked: Vec::new(),
            says: Vec::new(),
            says_not: Vec::new(),
            end: Vec::new(),
            claims: true,
            max_rounds: None,
        }
    }
}

impl Scenario {
    /// Most turns a play can have: the person's own, and one for each correction.
    pub fn most_turns(&self) -> u32 {
        let corrections = self.turns.iter().flat_map(|turn| &turn.reactions);
        let corrections = corrections.filter(|reaction| reaction.action == Action::Correct).count();
        (self.turns.len() + corrections) as u32
    }
}

impl Ending {
    /// True when some play would fail it. Of a world that may not change and claims that must hold
    /// every scenario is full; one that checks nothing else tells nothing about the model, except
    /// that a guard may be about exactly that.
    pub fn is_effective(&self, kind: CaseKind) -> bool {
        let checks = !self.files.is_empty()
            || !self.trash.is_empty()
            || !self.memory.is_empty()
            || !self.calls.is_empty()
            || !self.forbid.is_empty()
            || !self.forbid_calls.is_empty()
            || !self.asked.is_empty()
            || !self.not_asked.is_empty()
            || !self.says.is_empty()
            || !self.says_not.is_empty()
            || !self.end.is_empty()
            || self.max_rounds.is_some();
        checks || (kind == CaseKind::Guard && self.claims && self.other_files == OtherFiles::Unchanged)
    }

    /// Whether the memory must be as it was.
    pub fn memory_must_stay(&self) -> bool {
        self.memory_unchanged.unwrap_or(self.memory.is_empty())
    }
}

/// What holds for files that are not named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherFiles {
    /// They are as they were, and there are no new ones.
    #[default]
    Unchanged,
    /// Anything.
    Free,
}

/// What a file must be at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "a table such as { contains = \"milk\" } or { absent = true }")]
pub enum FileCheck {
    /// Exactly this text, apart from white space at its end.
    Equals(String),
    /// It contains this, upper or lower case.
    Contains(String),
    /// The pattern is found in it.
    #[serde(with = "pattern")]
    Regex(Pattern),
    /// It must (not) exist.
    Absent(bool),
    /// As it was: for files that `other_files` would leave free.
    Unchanged(bool),
}

/// An entry that the memory must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { contains = \"car\" }")]
pub struct MemoryCheck {
    /// The section; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Words of it, upper or lower case.
    pub contains: String,
}

/// A call that must, or must not, have been made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { tool = \"read_file\", outcome = \"ok\" }")]
pub struct CallCheck {
    /// The tool.
    pub tool: String,
    /// What its arguments must be.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Argument>,
    /// How it must have ended; absent: anyhow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// In which turn, from 1; absent: in any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Fewest such calls; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<u32>,
    /// Most such calls; absent: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
}

/// Words of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { any_of = [\"(?i)saved\"] }")]
pub struct Words {
    /// In which turn's answer, from 1; absent: the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Patterns of which one must be found.
    #[serde(with = "patterns")]
    pub any_of: Vec<Pattern>,
}

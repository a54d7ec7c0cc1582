//! The capability memo (K97): what this application can do, derived from the tool registry and
//! never copied, with how far each part is known to work.
//!
//! [`CapabilityMemo::of`] reads the notes of the registered [`Tools`]; [`faults`] is what a test of a
//! registry must find empty, so that no tool goes without a note. [`StateCounts`] is the content of
//! `state.json`: counts only (K96).

mod counts;

pub use counts::StateCounts;

use tenpass_trace::{Tier, ToolCategory, ToolDefinition};

use crate::policy::table_tier;
use crate::prompt::Language;
use crate::tool::{NoteStatus, Tool, ToolBox, Tools};

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoEntry {
    /// The tool.
    pub tool: String,
    /// Its routing category.
    pub category: ToolCategory,
    /// Its tier before any escalation (K33 for a tool nobody classified).
    pub tier: Tier,
    /// What it does for the user, one sentence.
    pub serves: &'static str,
    /// How far that is known to work.
    pub status: NoteStatus,
    /// The limit, for [`NoteStatus::KnownLimit`].
    pub limit: &'static str,
}

/// The memo of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityMemo {
    /// Every tool, in the registry's order.
    pub entries: Vec<MemoEntry>,
}

impl CapabilityMemo {
    /// The memo of these tools.
    pub fn of(tools: &Tools) -> Self {
        Self { entries: tools.iter().map(|tool| entry(tool, tools)).collect() }
    }

    /// The memo without the tools that are not offered, for a prompt.
    pub fn only(&self, offered: &[ToolDefinition]) -> Self {
        let is_offered = |entry: &&MemoEntry| offered.iter().any(|tool| tool.name == entry.tool);
        Self { entries: self.entries.iter().filter(is_offered).cloned().collect() }
    }

    /// How many entries have this status.
    pub fn count(&self, status: NoteStatus) -> usize {
        self.entries.iter().filter(|entry| entry.status == status).count()
    }

    /// The memo for a person, in Markdown: tools with their tier, grouped by category, each with its
    /// status. The sentences are the tools' own, in English; headings are in `language`.
    pub fn text(&self, language: Language) -> String {
        let mut text =
            format!("# {}\n\n{}\n", language.pick("What I can do", "Ce que je sais faire"), self.tally(language));
        for category in CATEGORIES {
            let of_category: Vec<&MemoEntry> =
                self.entries.iter().filter(|entry| entry.category == *category).collect();
            if of_category.is_empty() {
                continue;
            }
            text.push_str(&format!("\n## {}\n\n", heading(*category, language)));
            for entry in of_category {
                let status = entry.status_text(language);
                let tier = tier_text(entry.tier, language);
                text.push_str(&format!("- `{}` ({tier}): {} [{status}]\n", entry.tool, entry.serves));
            }
        }
        text
    }

    /// The memo for a model: one line a capability, without names of tools, because a model calls
    /// what it reads (K27).
    pub fn for_model(&self, language: Language) -> String {
        let mut text = format!("{}:", language.pick("What you can do", "Ce que tu sais faire"));
        for entry in &self.entries {
            let limit = match entry.status {
                NoteStatus::KnownLimit => format!(" ({}: {})", language.pick("limit", "limite"), entry.limit),
                NoteStatus::SeenWorking | NoteStatus::NeverRechecked => String::new(),
            };
            text.push_str(&format!("\n- {}{limit}", entry.serves));
        }
        text
    }

    /// "9 tools: 6 seen working, 1 never rechecked, 2 with a known limit".
    fn tally(&self, language: Language) -> String {
        let counts = [
            (NoteStatus::SeenWorking, language.pick("seen working", "vus à l'œuvre")),
            (NoteStatus::NeverRechecked, language.pick("never rechecked", "jamais revérifiés")),
            (NoteStatus::KnownLimit, language.pick("with a known limit", "avec une limite connue")),
        ]
        .map(|(status, name)| format!("{} {name}", self.count(status)));
        let tools = language.pick("tools: ", "outils : ");
        format!("{} {tools}{}", self.entries.len(), counts.join(", "))
    }
}

impl MemoEntry {
    /// The status in words, with the limit.
    pub fn status_text(&self, language: Language) -> String {
        match self.status {
            NoteStatus::SeenWorking => language.pick("seen working", "vu à l'œuvre").to_owned(),
            NoteStatus::NeverRechecked => language.pick("never rechecked", "jamais revérifié").to_owned(),
            NoteStatus::KnownLimit => {
                format!("{}{}", language.pick("known limit: ", "limite connue : "), self.limit)
            }
        }
    }
}

/// What is wrong with a registry's notes, one line each: a tool without a sentence, a known limit
/// that is not named, a limit under another status. A test of every registry asserts that this is
/// empty (K97).
pub fn faults(tools: &Tools) -> Vec<String> {
    let mut faults = Vec::new();
    for tool in tools.iter() {
        let (name, note) = (&tool.definition().name, tool.note());
        let serves = note.serves.trim();
        if serves.is_empty() {
            faults.push(format!("{name} has no note"));
        } else if serves.contains('\n') || serves == tool.definition().description.trim() {
            faults.push(format!("the note of {name} is not one sentence of its own"));
        }
        let limited = note.status == NoteStatus::KnownLimit;
        if limited == note.limit.trim().is_empty() {
            faults.push(format!(
                "the note of {name} {}",
                if limited { "names no limit" } else { "names a limit without the status for it" }
            ));
        }
    }
    faults
}

fn entry(tool: &dyn Tool, tools: &Tools) -> MemoEntry {
    let (definition, note) = (tool.definition(), tool.note());
    let tier = table_tier(&definition.name).or_else(|| tools.user_tier(&definition.name));
    MemoEntry {
        tool: definition.name.clone(),
        category: definition.category,
        tier: tier.unwrap_or(Tier::Irreversible),
        serves: note.serves,
        status: note.status,
        limit: note.limit,
    }
}

const CATEGORIES: &[ToolCategory] =
    &[ToolCategory::Web, ToolCategory::PcRead, ToolCategory::PcWrite, ToolCategory::PcAction, ToolCategory::Core];

fn heading(category: ToolCategory, language: Language) -> &'static str {
    match category {
        ToolCategory::Web => language.pick("The web", "Le web"),
        ToolCategory::PcRead => language.pick("Reading on this computer", "Lire sur cet ordinateur"),
        ToolCategory::PcWrite => language.pick("Writing on this computer", "Écrire sur cet ordinateur"),
        ToolCategory::PcAction => language.pick("Acting on the desktop", "Agir sur le bureau"),
        ToolCategory::Core => language.pick("Memory, delegation, reminders", "Mémoire, délégation, rappels"),
    }
}

/// A tier as a person reads it.
fn tier_text(tier: Tier, language: Language) -> &'static str {
    match tier {
        Tier::Auto => language.pick("runs at once", "immédiat"),
        Tier::Confirm => language.pick("asks first", "demande d'abord"),
        Tier::Irreversible => language.pick("always asks, in red", "demande toujours, en rouge"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};
    use tenpass_model::BoxFuture;

    use super::*;
    use crate::tool::{CallContext, Note, ToolOutput};

    struct Fake {
        definition: ToolDefinition,
        note: Note,
    }

    impl Tool for Fake {
        fn definition(&self) -> &ToolDefinition {
            &self.definition
        }

        fn note(&self) -> Note {
            self.note
        }

        fn run<'a>(&'a self, _: &'a Map<String, Value>, _: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
            Box::pin(async { ToolOutput::ok("") })
        }
    }

    fn fake(name: &str, category: ToolCategory, status: NoteStatus, serves: &'static str, limit: &'static str) -> Fake {
        Fake {
            definition: ToolDefinition { category, ..ToolDefinition::new(name, "description") },
            note: Note { serves, status, limit },
        }
    }

    fn tools() -> Tools {
        use NoteStatus::{KnownLimit, NeverRechecked, SeenWorking};
        let mut tools = Tools::default();
        tools
            .add(fake("read_file", ToolCategory::PcRead, SeenWorking, "Reads a file.", ""))
            .add(fake("web_search", ToolCategory::Web, KnownLimit, "Searches the web.", "no images"))
            .add(fake("open_url", ToolCategory::PcAction, NeverRechecked, "Opens a page.", ""))
            .add(fake("mcp_x", ToolCategory::Core, SeenWorking, "Does x.", ""));
        tools
    }

    #[test]
    fn the_memo_follows_the_registry() {
        let tools = tools();
        assert_eq!(faults(&tools), Vec::<String>::new());
        let memo = CapabilityMemo::of(&tools);
        assert_eq!(
            memo.text(Language::English),
            "# What I can do\n\n4 tools: 2 seen working, 1 never rechecked, 1 with a known limit\n\n\
             ## The web\n\n- `web_search` (runs at once): Searches the web. [known limit: no images]\n\n\
             ## Reading on this computer\n\n- `read_file` (runs at once): Reads a file. [seen working]\n\n\
             ## Acting on the desktop\n\n- `open_url` (asks first): Opens a page. [never rechecked]\n\n\
             ## Memory, delegation, reminders\n\n- `mcp_x` (always asks, in red): Does x. [seen working]\n"
        );
        let french = memo.text(Language::French);
        assert!(french.starts_with("# Ce que je sais faire\n\n4 outils : 2 vus à l'œuvre, 1 jamais revérifiés, 1"));
        assert!(french.contains("## Le web") && french.contains("[limite connue : no images]"));
    }

    #[test]
    fn the_model_reads_what_is_offered_and_no_name() {
        let (tools, memo) = (tools(), CapabilityMemo::of(&tools()));
        let offered = &tools.definitions()[..2];
        assert_eq!(
            memo.only(offered).for_model(Language::English),
            "What you can do:\n- Reads a file.\n- Searches the web. (limit: no images)"
        );
        assert!(memo.entries.iter().all(|entry| !memo.for_model(Language::French).contains(&entry.tool)));
    }

    #[test]
    fn a_tool_without_a_proper_note_is_a_fault() {
        use NoteStatus::{KnownLimit, SeenWorking};
        let mut tools = Tools::default();
        tools
            .add(fake("a", ToolCategory::Core, SeenWorking, " ", ""))
            .add(fake("b", ToolCategory::Core, KnownLimit, "Does b.", ""))
            .add(fake("c", ToolCategory::Core, SeenWorking, "Does c.", "slow"))
            .add(fake("d", ToolCategory::Core, SeenWorking, "description", ""));
        assert_eq!(
            faults(&tools),
            [
                "a has no note",
                "the note of b names no limit",
                "the note of c names a limit without the status for it",
                "the note of d is not one sentence of its own"
            ]
        );
    }
}

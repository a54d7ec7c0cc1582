//! The one tier table (K40). A tool that is not in it is irreversible until its user says otherwise.

use tenpass_trace::Tier;

/// Every built-in tool and its tier, sorted by tier. Tools of later parts stand here already, so
/// that none can be added without its tier.
///
/// The table goes by name. A tool that comes from elsewhere must carry a prefix of its server, or it
/// would borrow the tier of a built-in that is not registered.
pub const TIERS: &[(&str, Tier)] = &[
    // Reads, searches, recalls.
    ("web_search", Tier::Auto),
    ("read_url", Tier::Auto),
    ("list_directory", Tier::Auto),
    ("read_file", Tier::Auto),
    ("system_info", Tier::Auto),
    ("plan_cleanup", Tier::Auto),
    ("search_past_conversations", Tier::Auto),
    ("recall_provider_answers", Tier::Auto),
    ("list_reminders", Tier::Auto),
    ("analyse_data", Tier::Auto),
    ("list_terminals", Tier::Auto),
    ("read_terminal", Tier::Auto),
    ("wait", Tier::Auto),
    ("done", Tier::Auto),
    // Leaves something behind that is easily undone, or spends within the cap.
    ("delegate_to_provider", Tier::Auto),
    ("write_memory", Tier::Auto),
    ("update_memory", Tier::Auto),
    ("add_reminder", Tier::Auto),
    ("done_reminder", Tier::Auto),
    ("create_chart", Tier::Auto),
    // Reversible actions on the desktop, and keys into a terminal.
    ("open_url", Tier::Confirm),
    ("open_path", Tier::Confirm),
    ("launch_app", Tier::Confirm),
    ("control_media", Tier::Confirm),
    ("open_site_search", Tier::Confirm),
    ("play_top_result", Tier::Confirm),
    ("send_to_terminal", Tier::Confirm),
    ("send_key", Tier::Confirm),
    // Files.
    ("write_file", Tier::Irreversible),
    ("update_file", Tier::Irreversible),
    ("append_file", Tier::Irreversible),
    ("create_document", Tier::Irreversible),
    ("execute_cleanup", Tier::Irreversible),
];

/// Auto tools that change nothing, pay nothing and send nothing: free even in a tainted turn. What
/// is not listed, a tool classified by the user included, is asked there.
pub(super) const LEAVES_NOTHING: &[&str] = &[
    "web_search",
    "read_url",
    "list_directory",
    "read_file",
    "system_info",
    "plan_cleanup",
    "search_past_conversations",
    "recall_provider_answers",
    "list_reminders",
    "analyse_data",
    "list_terminals",
    "read_terminal",
    "wait",
    "done",
];

/// Tools that write the memory file.
pub(super) const WRITES_MEMORY: &[&str] = &["write_memory", "update_memory"];

/// The table's tier of a tool, `None` for an unclassified one.
pub fn table_tier(tool: &str) -> Option<Tier> {
    TIERS.iter().find(|(name, _)| *name == tool).map(|(_, tier)| *tier)
}

/// True for a tool that changes nothing, pays nothing and sends nothing.
pub fn leaves_nothing(tool: &str) -> bool {
    LEAVES_NOTHING.contains(&tool)
}

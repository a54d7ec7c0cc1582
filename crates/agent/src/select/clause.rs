//! The clause for what this turn does not offer (K27).

use tenpass_trace::{ToolCategory, ToolDefinition};

/// The sentence that goes at the end of the system message when a whole category of tools is left
/// out this turn; `None` when every category is there.
///
/// Without it the rule against invented actions turns on itself and the model denies abilities it
/// has in general. The tools are deliberately not named: a model calls what it reads.
pub fn excluded_clause(all: &[ToolDefinition], offered: &[ToolDefinition]) -> Option<String> {
    let mut missing: Vec<ToolCategory> = all
        .iter()
        .map(|tool| tool.category)
        .filter(|category| !offered.iter().any(|tool| tool.category == *category))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return None;
    }
    let abilities = missing.into_iter().map(ability).collect::<Vec<_>>().join("; ");
    Some(format!(
        "Not this turn: {abilities}. You can do this in other turns, so never claim that it is impossible; say that \
         it was not part of this request."
    ))
}

fn ability(category: ToolCategory) -> &'static str {
    match category {
        ToolCategory::Web => "searching and reading the web",
        ToolCategory::PcRead => "reading files and the system",
        ToolCategory::PcWrite => "writing or changing files",
        ToolCategory::PcAction => "opening and controlling things on the desktop",
        ToolCategory::Core => "memory, reminders and delegation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_missing_categories_once_and_no_tool() {
        let tool = |name: &str, category| ToolDefinition { category, ..ToolDefinition::new(name, "") };
        let all = [
            tool("web_search", ToolCategory::Web),
            tool("read_url", ToolCategory::Web),
            tool("open_url", ToolCategory::PcAction),
            tool("add_reminder", ToolCategory::Core),
        ];
        assert_eq!(excluded_clause(&all, &all), None);
        let clause = excluded_clause(&all, &all[2..3]).unwrap();
        assert_eq!(clause.matches("the web").count(), 1);
        assert!(clause.contains("reminders") && clause.contains("never claim"));
        assert!(all.iter().all(|tool| !clause.contains(&tool.name)));
    }
}

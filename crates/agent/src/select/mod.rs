//! Which tools a turn offers (K26/R4): a pure function of the strategy, the tools and the request.
//!
//! Every strategy returns a subset of the given tools in the given order, so that equal selections
//! render to equal prompts and a warm prefix stays warm.

mod clause;
mod relevance;
mod router;

pub use clause::excluded_clause;
pub use relevance::{SIMILAR_TOOLS, similarities};
pub use router::{matched_categories, route};

use tenpass_trace::{Message, Role, ToolDefinition};

use crate::Selection;

/// The words that a selection looks at: the last message of the user and the one before it. A
/// follow-up ("the other folder, please") says nothing without what it follows.
pub fn turn_query(messages: &[Message]) -> String {
    let mut latest: Vec<&str> = messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User)
        .take(2)
        .map(|message| message.content.as_str())
        .collect();
    latest.reverse();
    latest.join("\n")
}

/// The tools this turn offers.
pub fn select(selection: Selection, tools: &[ToolDefinition], query: &str) -> Vec<ToolDefinition> {
    match selection {
        Selection::All => tools.to_vec(),
        Selection::Router => route(tools, query),
        Selection::Relevance => relevance::most_relevant(tools, query),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenpass_trace::ToolCategory;

    use super::*;

    fn any_tool() -> impl Strategy<Value = ToolDefinition> {
        let category = proptest::sample::select(vec![
            ToolCategory::Web,
            ToolCategory::PcRead,
            ToolCategory::PcWrite,
            ToolCategory::PcAction,
            ToolCategory::Core,
        ]);
        ("[a-z_]{1,8}", "[a-zé ]{0,20}", category, any::<bool>(), proptest::collection::vec("[a-zé]{2,6}", 0..3))
            .prop_map(|(name, description, category, always, keywords)| ToolDefinition {
                category,
                always,
                keywords,
                ..ToolDefinition::new(name, description)
            })
    }

    /// True when `part` can be made from `whole` by leaving tools out.
    fn is_subsequence(part: &[ToolDefinition], whole: &[ToolDefinition]) -> bool {
        let mut rest = whole.iter();
        part.iter().all(|tool| rest.any(|other| other == tool))
    }

    #[test]
    fn a_follow_up_is_read_with_what_it_follows() {
        let messages = [
            Message::system("persona: web"),
            Message::user("first"),
            Message::user("list the files in Pictures"),
            Message::assistant("open"),
            Message::user("sorry, Music"),
            Message::tool("t", "result"),
        ];
        assert_eq!(turn_query(&messages), "list the files in Pictures\nsorry, Music");
        assert_eq!(turn_query(&messages[..1]), "");
    }

    proptest! {
        #[test]
        fn a_selection_is_a_pure_ordered_subset(
            tools in proptest::collection::vec(any_tool(), 0..12),
            query in "(lis|open|écris|search|zzz|le fichier|[a-zé]{0,6}| ){0,6}",
        ) {
            for selection in Selection::ALL {
                let chosen = select(*selection, &tools, &query);
                prop_assert!(is_subsequence(&chosen, &tools), "{selection}");
                prop_assert_eq!(&chosen, &select(*selection, &tools, &query));
                // A turn that had tools to offer offers some, and never loses the always-on ones.
                prop_assert_eq!(chosen.is_empty(), tools.is_empty());
                if *selection == Selection::Relevance {
                    prop_assert!(tools.iter().filter(|tool| tool.always).all(|tool| chosen.contains(tool)));
                }
            }
        }
    }
}

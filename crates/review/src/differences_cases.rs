//! Differences in what was asked, offered and expected, found by looking at the cases themselves.

use std::collections::HashMap;

use serde_json::Value;
use tenpass_bench::cases::Case;
use tenpass_bench::store::{CaseDigests, CaseIndex, Run, StoreError};
use tenpass_trace::{Message, Role, ToolDefinition};

/// Characters of a text that are quoted around its first difference.
const QUOTED: usize = 48;
/// Of these, so many stand before the difference.
const LEAD: usize = 16;
/// Cases that are stored differently and read to see in what; the others are counted.
const MOST_READ: usize = 200;

/// What differs between the cases of two sides: its values before and after.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// System messages.
    pub(crate) prompt: Option<(String, String)>,
    /// Tool definitions.
    pub(crate) tools: Option<(String, String)>,
    /// Which cases, or what they ask.
    pub(crate) cases: Option<(String, String)>,
    /// What must happen.
    pub(crate) expectations: Option<(String, String)>,
    /// Some of the cases are scenarios.
    pub(crate) scenarios: bool,
}

/// Compares the cases that both sides have, and counts those that only one has.
pub(crate) fn asked(before: &[Case], after: &[Case]) -> Asked {
    let known: HashMap<&str, &Case> = after.iter().map(|case| (case.id.as_str(), case)).collect();
    let shared: Vec<(&Case, &Case)> =
        before.iter().filter_map(|case| Some((case, *known.get(case.id.as_str())?))).collect();
    Asked {
        prompt: of_cases(&shared, 0, system),
        tools: of_cases(&shared, 0, tools),
        cases: sets(before.len(), after.len(), shared.len()).or_else(|| of_cases(&shared, 0, questions)),
        expectations: of_cases(&shared, 0, expectations),
        scenarios: shared.iter().any(|(case, _)| case.scenario.is_some()),
    }
}

/// The cases of a configuration of a stored run, without what they say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredCases<'a> {
    pub(crate) run: &'a Run,
    pub(crate) configuration: &'a str,
    pub(crate) digests: &'a [CaseDigests],
}

/// The same of stored runs. What is stored alike is not read; of what is not, the first few hundred.
pub(crate) fn asked_of_runs(before: StoredCases<'_>, after: StoredCases<'_>) -> Result<Asked, StoreError> {
    let known: HashMap<&str, usize> =
        after.digests.iter().enumerate().map(|(j, case)| (case.head.id.as_str(), j)).collect();
    let places = before.digests.iter().enumerate();
    let shared: Vec<(usize, usize)> =
        places.filter_map(|(i, case)| Some((i, *known.get(case.head.id.as_str())?))).collect();
    let look = |digest: fn(&CaseDigests) -> u64, difference: Difference| {
        let differs = |&&(i, j): &&(usize, usize)| digest(&before.digests[i]) != digest(&after.digests[j]);
        let differ: Vec<(usize, usize)> = shared.iter().filter(differs).copied().collect();
        let (read, unread) = differ.split_at(differ.len().min(MOST_READ));
        if read.is_empty() {
            return Ok(None);
        }
        let [mut a, mut b] = [before.open()?, after.open()?];
        let mut cases = Vec::new();
        for &(i, j) in read {
            cases.extend(a.case(i)?.zip(b.case(j)?));
        }
        let both: Vec<(&Case, &Case)> = cases.iter().map(|(before, after)| (before, after)).collect();
        Ok::<_, StoreError>(of_cases(&both, unread.len(), difference))
    };
    let sets = sets(before.digests.len(), after.digests.len(), shared.len());
    Ok(Asked {
        prompt: look(|case| case.system, system)?,
        tools: look(|case| case.tools, tools)?,
        cases: if sets.is_some() { sets } else { look(|case| case.asked, questions)? },
        expectations: look(|case| case.expected, expectations)?,
        scenarios: shared.iter().any(|&(i, _)| before.digests[i].is_scenario),
    })
}

impl StoredCases<'_> {
    fn open(self) -> Result<CaseIndex, StoreError> {
        CaseIndex::open(self.run, self.configuration)
    }
}

fn sets(before: usize, after: usize, shared: usize) -> Option<(String, String)> {
    let count = |cases: usize| format!("{cases} cases, {} of them not on the other side", cases - shared);
    (shared < before || shared < after).then(|| (count(before), count(after)))
}

/// Finds a difference between two versions of a case, as excerpts of both.
type Difference = fn(&Case, &Case) -> Option<(String, String)>;

/// The first difference of its kind, with the number of cases that have one; `unread` others were not
/// looked at, and differ if any of these does.
fn of_cases(shared: &[(&Case, &Case)], unread: usize, difference: Difference) -> Option<(String, String)> {
    let mut first = None;
    let mut count = unread;
    for (before, after) in shared {
        if let Some(found) = difference(before, after) {
            count += 1;
            first.get_or_insert((before.id.as_str(), found));
        }
    }
    let (case, (before, after)) = first?;
    let place = if count == 1 { format!(" in {case}") } else { format!(" in {case} and {} more", count - 1) };
    Some((before, format!("{after}{place}")))
}

fn system(before: &Case, after: &Case) -> Option<(String, String)> {
    messages(before, after, true)
}

/// The messages that the system wrote, or all others.
fn messages(before: &Case, after: &Case, system: bool) -> Option<(String, String)> {
    let of = |case: &Case| -> Vec<Message> {
        case.messages.iter().filter(|message| (message.role == Role::System) == system).cloned().collect()
    };
    let (before, after) = (of(before), of(after));
    if before == after {
        return None;
    }
    let texts =
        |messages: &[Message]| messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
    let (x, y) = (texts(&before), texts(&after));
    if x == y { Some(json_excerpts(&before, &after)) } else { Some(excerpts(&x, &y)) }
}

fn questions(before: &Case, after: &Case) -> Option<(String, String)> {
    let scenarios = |case: &Case| case.scenario.as_ref().map(|scenario| without_expectations(json(scenario)));
    let (a, b) = (scenarios(before), scenarios(after));
    if a != b {
        return Some(json_excerpts(&a, &b));
    }
    messages(before, after, false)
}

fn expectations(before: &Case, after: &Case) -> Option<(String, String)> {
    let ends = |case: &Case| case.scenario.as_ref().map(|scenario| json(scenario).get("expect").cloned());
    let (a, b) = (ends(before), ends(after));
    if a != b {
        return Some(json_excerpts(&a, &b));
    }
    (before.expect != after.expect).then(|| json_excerpts(&before.expect, &after.expect))
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A scenario without what says how it must end, and without remarks about it.
fn without_expectations(mut scenario: Value) -> Value {
    if let Some(fields) = scenario.as_object_mut() {
        for name in ["expect", "holds", "kind", "provenance"] {
            fields.remove(name);
        }
    }
    scenario
}

/// The first tool that differs: missing, or in which field.
fn tools(before: &Case, after: &Case) -> Option<(String, String)> {
    let (before, after) = (&before.tools, &after.tools);
    if before == after {
        return None;
    }
    let find = |tools: &[ToolDefinition], name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    for tool in before {
        match find(after, &tool.name) {
            None => return Some((format!("{} offered", tool.name), format!("no {}", tool.name))),
            Some(other) if other != *tool => return Some(fields(tool, &other)),
            Some(_) => {}
        }
    }
    let added = after.iter().find(|tool| find(before, &tool.name).is_none());
    Some(match added {
        Some(tool) => (format!("no {}", tool.name), format!("{} offered", tool.name)),
        None => ("the same tools".to_owned(), "in another order".to_owned()),
    })
}

fn fields(before: &ToolDefinition, after: &ToolDefinition) -> (String, String) {
    let name = &before.name;
    let (x, y) = if before.description == after.description {
        let (x, y) = json_excerpts(before, after);
        (format!("{name}: {x}"), format!("{name}: {y}"))
    } else {
        let (x, y) = excerpts(&before.description, &after.description);
        (format!("{name}: description {x}"), format!("{name}: description {y}"))
    };
    (x, y)
}

fn json_excerpts(before: &impl serde::Serialize, after: &impl serde::Serialize) -> (String, String) {
    excerpts(&json(before).to_string(), &json(after).to_string())
}

/// Both texts around their first difference, in quotation marks.
fn excerpts(before: &str, after: &str) -> (String, String) {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    (excerpt(before, same), excerpt(after, same))
}

fn excerpt(text: &str, difference: usize) -> String {
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let start = difference.saturating_sub(LEAD);
    let quoted: String = text.chars().skip(start).take(QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let lead = if start > 0 { "…" } else { "" };
    let more = if text.chars().nth(start + QUOTED).is_some() { "…" } else { "" };
    format!("“{lead}{quoted}{more}”")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_first_difference() {
        let before = format!("{}You may ask.", "a".repeat(100));
        let after = format!("{}You must ask.", "a".repeat(100));
        let (x, y) = excerpts(&before, &after);
        assert!(x.contains("You may ask.") && y.contains("You must ask."), "{x} {y}");
        assert!(x.starts_with("“…a") && x.chars().count() < QUOTED + 4, "{x}");
        assert_eq!(excerpts("one\ntwo", ""), ("“one two”".to_owned(), "(empty)".to_owned()));
    }
}

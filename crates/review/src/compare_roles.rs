//! Which cases are meant to improve and which must stay good.

use std::collections::BTreeMap;

use tenpass_bench::cases::CaseKind;
use tenpass_report::Role;

use crate::ReviewError;
use crate::compare::CompareOptions;

/// Names offered where a pattern matches nothing, at most.
const MOST_NEAR: usize = 3;

/// The role of every case that both sides have. Patterns that were given decide; where none was given
/// for a role, the case's kind does.
pub(crate) fn roles<'a>(
    shared: impl Iterator<Item = (&'a str, CaseKind)> + Clone,
    options: &CompareOptions,
) -> Result<BTreeMap<String, Role>, ReviewError> {
    for (role, patterns) in [(Role::Target, &options.targets), (Role::Guard, &options.guards)] {
        for pattern in patterns {
            if !shared.clone().any(|(id, _)| matches(pattern, id)) {
                let near = near(pattern, shared.map(|(id, _)| id));
                return Err(ReviewError::NoSuchCase { role, pattern: pattern.clone(), near });
            }
        }
    }
    let named = |patterns: &[String], id: &str| patterns.iter().any(|pattern| matches(pattern, id));
    let mut roles = BTreeMap::new();
    for (id, kind) in shared {
        let role = match (named(&options.targets, id), named(&options.guards, id)) {
            (true, true) => return Err(ReviewError::TwoRoles { case: id.to_owned() }),
            (true, false) => Role::Target,
            (false, true) => Role::Guard,
            (false, false) if kind == CaseKind::Target && options.targets.is_empty() => Role::Target,
            (false, false) if kind == CaseKind::Guard && options.guards.is_empty() => Role::Guard,
            (false, false) => Role::Other,
        };
        roles.insert(id.to_owned(), role);
    }
    Ok(roles)
}

/// Whether a pattern matches a whole name: `*` stands for any text, the empty one included.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or("");
    for part in parts {
        // The leftmost place is always good enough: what follows has the most room there.
        let Some(place) = name.find(part) else { return false };
        name = &name[place + part.len()..];
    }
    name.ends_with(last)
}

/// The names that a pattern is most like, the likest first.
fn near<'a>(pattern: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let bare = pattern.replace('*', "");
    let mut rated: Vec<(f64, &str)> = names
        .map(|name| {
            // A pattern is shorter than what it should match: its words count as well as the whole.
            let within = if !bare.is_empty() && name.contains(bare.trim_matches('-')) { 1.0 } else { 0.0 };
            let start: String = name.chars().take(bare.chars().count()).collect();
            let like = |text: &str| strsim::normalized_damerau_levenshtein(&bare, text);
            (like(name).max(like(&start)).max(within), name)
        })
        .collect();
    rated.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    rated.into_iter().take(MOST_NEAR).map(|(_, name)| name.to_owned()).collect()
}

/// The nearest of some names, when it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(word, name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("delegate-*", "delegate-letter", true),
            ("delegate-*", "delegate", false),
            ("*", "anything", true),
            ("*-letter", "delegate-letter", true),
            ("d*l*r", "delegate-letter", true),
            ("d*z*r", "delegate-letter", false),
            ("a*a", "a", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_told_what_is_near() {
        let names = ["delegate-letter", "delegate-translation", "no-call-poem", "lamp-1"];
        assert_eq!(near("deleg-*", names.into_iter())[..2], ["delegate-letter", "delegate-translation"]);
        assert_eq!(near("nocall-*", names.into_iter())[0], "no-call-poem");
        assert_eq!(nearest("promt", ["prompt", "passes"].into_iter()), Some("prompt".to_owned()));
        assert_eq!(nearest("xyz", ["prompt", "passes"].into_iter()), None);
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_it_was_made_from(parts in prop::collection::vec("[a-z-]{0,4}", 1..5), fill in "[a-z-]{0,6}") {
            prop_assert!(matches(&parts.join("*"), &parts.join(&fill)));
        }
    }
}

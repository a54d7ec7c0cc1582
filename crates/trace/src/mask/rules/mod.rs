//! Every rule, by field.

mod cloud;
mod code;
mod general;
mod models;
mod services;

use std::sync::LazyLock;

use super::rule::{Finder, Part, Rule};

/// Every rule, in no order that matters.
pub static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| [general::RULES, cloud::RULES, code::RULES, models::RULES, services::RULES].concat());

/// A rule for a token: it starts where no letter or digit stands before it, or an escaped blank.
const fn token(
    name: &'static str,
    covers: &'static str,
    heads: &'static [&'static str],
    pattern: &'static str,
    parts: &'static [Part],
) -> Rule {
    Rule { name, covers, finder: Finder::Pattern { heads, pattern, token: true }, parts }
}

/// A rule with a pattern that says itself where it starts.
const fn pattern(
    name: &'static str,
    covers: &'static str,
    heads: &'static [&'static str],
    pattern: &'static str,
    parts: &'static [Part],
) -> Rule {
    Rule { name, covers, finder: Finder::Pattern { heads, pattern, token: false }, parts }
}

/// A rule that code finds.
const fn code(name: &'static str, covers: &'static str, parts: &'static [Part]) -> Rule {
    Rule { name, covers, finder: Finder::Code, parts }
}

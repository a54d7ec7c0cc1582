//! Where an address came from. In a turn that read something from outside, `read_url` of an
//! address that stands in nothing the model was shown is a way to carry data out, so it is asked.

use std::collections::HashSet;

use serde_json::Value;
use tenpass_trace::{Tier, ToolCall};

use crate::tool::Inspection;

/// Most addresses kept of a turn; what comes later is asked.
const MOST_ADDRESSES: usize = 10_000;
/// The tools that fetch by themselves, and the argument with the address.
const FETCHES: &[(&str, &str)] = &[("read_url", "url")];
const REASON: &str = "the address stands neither in your message nor in anything read in this turn";

/// The addresses that the person wrote or a tool returned in this turn.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    addresses: HashSet<String>,
}

impl Sources {
    /// Takes in a text that the model is shown: the person's message, a result.
    pub fn observe(&mut self, text: &str) {
        for address in addresses(text) {
            if self.addresses.len() >= MOST_ADDRESSES {
                return;
            }
            self.addresses.insert(normal(address));
        }
    }

    /// Raises a fetch of an unseen address to `confirm` in a tainted turn. Call it after the tool's
    /// own inspection, before [`super::Policy::tier`]. A stronger escalation is kept.
    pub fn inspect(&self, call: &ToolCall, tainted: bool, inspection: &mut Inspection) {
        let Some((_, argument)) = FETCHES.iter().find(|(tool, _)| *tool == call.name) else { return };
        let address = call.arguments.get(*argument).and_then(Value::as_str).unwrap_or_default();
        let known = self.addresses.contains(&normal(address));
        if tainted && !known && inspection.escalate.as_ref().is_none_or(|(tier, _)| *tier < Tier::Confirm) {
            inspection.escalate = Some((Tier::Confirm, REASON.to_owned()));
        }
    }
}

/// What looks like an address in a text: a scheme, or a name with a dot in it, up to a character
/// that ends one. A file's name taken for an address does no harm.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character.is_whitespace() || "<>\"'`|()[]{}«»".contains(character)).filter(|word| {
        let host = word.split(['/', '?', '#']).next().unwrap_or_default();
        let is_bare = host.split('.').filter(|label| !label.is_empty()).count() > 1;
        let scheme = word.split_once("://").map_or("", |(scheme, _)| scheme);
        is_bare || scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

/// Without scheme, `www.`, fragment, closing punctuation and closing slash; the host in lower case.
/// The query stays: that is where data would be.
fn normal(address: &str) -> String {
    let address = address.trim().trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']);
    let address = address.split('#').next().unwrap_or_default();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.to_lowercase();
    format!("{}{}", host.strip_prefix("www.").unwrap_or(&host), path.trim_end_matches('/'))
}
